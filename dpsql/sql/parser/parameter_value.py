"""Values of parameters that arrive as text, read by the parameter's type as PostgreSQL reads them."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from dpsql.errors import InvalidText

_BOOLEANS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}
_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?", re.ASCII)
_ZONE = re.compile(r"(?:Z|[+-]00(?::?00)?)$")


def read_value(value: object, kind: str | None) -> object:
    """The value in the Python type that belongs to DuckDB's ``kind``; InvalidText where the text is none of them.

    >>> read_value("2020-02-29", "DATE"), read_value(" 7 ", "BIGINT"), read_value("x", "VARCHAR")
    (datetime.date(2020, 2, 29), 7, 'x')
    """
    if isinstance(value, list) and kind is not None and kind.endswith("[]"):
        return [read_value(each, kind.removesuffix("[]")) for each in value]
    if not isinstance(value, str) or kind is None or kind == "VARCHAR":
        return value
    text = value.strip()
    try:
        match kind.partition("(")[0]:
            case "BOOLEAN":
                return _BOOLEANS[text.lower()]
            case "BIGINT" if _WHOLE.fullmatch(text):
                return int(text)
            case "DOUBLE" if _NUMBER.fullmatch(text):
                return float(text)
            case "DECIMAL" if _NUMBER.fullmatch(text):
                return Decimal(text)
            case "DATE":
                return date.fromisoformat(text)
            case "TIMESTAMP":
                return datetime.fromisoformat(_ZONE.sub("", text))
    except (KeyError, ValueError, InvalidOperation):
        pass
    raise InvalidText(kind, value)
