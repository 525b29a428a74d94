"""Names and texts as DuckDB's SQL writes them, and texts read as values of declared types;
one that is none is NULL.

Texts are read for CSV, SQLite and names of folders. Numbers but doubles, dates and moments are
never rounded or cut. Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

import re
import string
from typing import Final

from dpsql.engines.source import RFC_4180, CsvText


def quoted(text: str) -> str:
    """The text as a constant.

    >>> print(quoted("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """The name of a table or a column, whatever letters it has.

    >>> print(identifier('the "best" one'))
    "the ""best"" one"
    """
    return '"' + name.replace('"', '""') + '"'


_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def folded(name: str) -> str:
    """The name as DuckDB compares names: ASCII letters in lower case, all others untouched."""
    return name.translate(_LOWER)


_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
#: A moment without a zone, or with that of UTC: another zone would be passed over.
_MOMENT = (
    "[0-9]{1,6}-[0-9]{1,2}-[0-9]{1,2}"
    "([ T][0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{1,6}0*)?)?)?( ?(Z|[+-]00(:?00)?))?"
)


def value_of_text(text: str, engine_type: str, csv: CsvText = RFC_4180) -> str:
    """The SQL of the value that the SQL of a text writes, in one of the engine's types;
    NULL if it writes none.

    >>> print(value_of_text('"c"', "bigint"))
    CASE WHEN regexp_full_match("c", '\\s*[+-]?[0-9]+([.]0*)?\\s*') THEN TRY_CAST("c" AS bigint) END
    """
    digits = _DECIMAL.fullmatch(engine_type)
    point = "[.]" if csv.decimal == "." else "[,]"
    number = text if csv.decimal == "." else f"replace({text}, ',', '.')"
    if engine_type == "bigint":
        return _value_if_matches(text, f"[+-]?[0-9]+({point}0*)?", f"TRY_CAST({number} AS bigint)")
    if digits is not None:
        return _value_if_matches(
            text,
            f"[+-]?[0-9]*({point}[0-9]{{0,{digits[2]}}}0*)?",
            f"TRY_CAST({number} AS {engine_type})",
        )
    if engine_type == "double":
        return f"TRY_CAST({number} AS double)"
    if engine_type == "date":
        if csv.date_format is not None:
            return f"CAST(try_strptime({text}, {quoted(csv.date_format)}) AS date)"
        return _value_if_matches(
            text, "[0-9]{1,6}-[0-9]{1,2}-[0-9]{1,2}", f"TRY_CAST({text} AS date)"
        )
    if engine_type == "timestamp":
        if csv.timestamp_format is not None:
            return f"CAST(try_strptime({text}, {quoted(csv.timestamp_format)}) AS timestamp)"
        return _value_if_matches(text, _MOMENT, f"TRY_CAST({text} AS timestamp)")
    return text if engine_type == "varchar" else f"TRY_CAST({text} AS {engine_type})"


#: The type of the numbers among which NaN is.
WITH_NAN: Final = "double"


def without_nan(value: str, engine_type: str) -> str:
    """The SQL of the value, NULL if it is NaN: no DOUBLE that is read is NaN,
    and no analysis need think of it.

    >>> print(without_nan('"c"', "double"), without_nan('"c"', "bigint"))
    CASE WHEN NOT isnan("c") THEN "c" END "c"
    """
    return f"CASE WHEN NOT isnan({value}) THEN {value} END" if engine_type == WITH_NAN else value


def _value_if_matches(text: str, pattern: str, value: str) -> str:
    full_pattern = quoted(rf"\s*{pattern}\s*")
    return f"CASE WHEN regexp_full_match({text}, {full_pattern}) THEN {value} END"
