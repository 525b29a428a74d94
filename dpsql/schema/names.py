"""How the names of tables and columns are written and compared."""

from __future__ import annotations

import re
import string

NAME = r"[a-z_][a-z0-9_]*"
_ANALYST = r"[A-Za-z0-9_.@-]{1,128}"

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """The name as tables and columns are looked up: ASCII letters in lower case, all others untouched.

    DuckDB ignores the case of ASCII letters only; Python's ``lower`` would also merge the Kelvin sign with ``k``.

    >>> fold("Patient_ID"), fold("\\u212aey") == "key"
    ('patient_id', False)
    """
    return name.translate(_LOWER)


def checked_name(name: str, what: str) -> str:
    """The name itself, or ValueError with the mend where it is not a plain lower-case name."""
    if re.fullmatch(NAME, name):
        return name
    if re.fullmatch(NAME, fold(name)):
        raise ValueError(f"{what} `{name}` has upper-case letters; write `{fold(name)}` (the engine ignores case)")
    raise ValueError(f"{what} `{name}` is not a plain name; use a to z, 0 to 9 and _, not starting with a digit")


def is_analyst(name: str) -> bool:
    """Whether a schema can name the analyst.

    >>> is_analyst("ada@clinic.org"), is_analyst("Zoë O'Hara")
    (True, False)
    """
    return re.fullmatch(_ANALYST, name) is not None


def split_reference(text: str, what: str) -> tuple[str, str]:
    """The table and the column of ``table.column``, or ValueError with the mend.

    >>> split_reference("patients.patient_id", "unit")
    ('patients', 'patient_id')
    """
    table, dot, column = text.partition(".")
    if not dot:
        raise ValueError(f"{what} `{text}` must be written as `table.column`")
    return checked_name(table, f"{what}: table"), checked_name(column, f"{what}: column")
