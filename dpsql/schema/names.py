"""How the names of tables and columns are written and compared, and plain names for others."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Collection

NAME = r"[a-z_][a-z0-9_]*"
_ANALYST = r"[A-Za-z0-9_.@-]{1,128}"

_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "o", "å": "a", "ł": "l"}
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """The name for look-ups of tables and columns: ASCII letters in lower case, others untouched.

    DuckDB ignores the case of ASCII letters only;
    Python's ``lower`` would also merge the Kelvin sign with ``k``.

    >>> fold("Patient_ID"), fold("\\u212aey") == "key"
    ('patient_id', False)
    """
    return name.translate(_LOWER)


def checked_name(name: str, kind: str) -> str:
    """The name itself; raises ValueError, with the mend, if it is not a plain lower-case name."""
    if re.fullmatch(NAME, name):
        return name
    if re.fullmatch(NAME, fold(name)):
        raise ValueError(
            f"{kind} `{name}` has upper-case letters; write `{fold(name)}` (the engine ignores case)"
        )
    raise ValueError(
        f"{kind} `{name}` is not a plain name; use a to z, 0 to 9 and _, not starting with a digit"
    )


def is_analyst(name: str) -> bool:
    """Whether a schema can name the analyst.

    >>> is_analyst("ada@clinic.org"), is_analyst("Zoë O'Hara")
    (True, False)
    """
    return re.fullmatch(_ANALYST, name) is not None


def split_reference(text: str, kind: str) -> tuple[str, str]:
    """The table and the column of ``table.column``, or ValueError with the mend.

    >>> split_reference("patients.patient_id", "unit")
    ('patients', 'patient_id')
    """
    table, dot, column = text.partition(".")
    if not dot:
        raise ValueError(f"{kind} `{text}` must be written as `table.column`")
    return checked_name(table, f"{kind}: table"), checked_name(column, f"{kind}: column")


def plain_name(name: str, taken: Collection[str] = ()) -> str:
    """A plain name like that of the source, and none of those that are taken.

    >>> plain_name("Loyalty Level"), plain_name("Größe (cm)"), plain_name("2020.total"), plain_name("a b", ["a_b"])
    ('loyalty_level', 'groesse_cm', 'n2020_total', 'a_b_2')
    """
    lower = unicodedata.normalize("NFC", name).lower()
    spelled = "".join(_SPELLED.get(letter, letter) for letter in lower)
    ascii_only = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^a-z0-9_]+", "_", ascii_only).strip("_") if not is_plain(name) else fold(name)
    plain = plain or "unnamed"
    plain = f"n{plain}" if plain[0].isdigit() else plain
    number = 2
    result = plain
    while result in taken:
        result = f"{plain}_{number}"
        number = number + 1
    return result


def is_plain(name: str) -> bool:
    """Whether a schema can call it what the source does, apart from capital letters of ASCII."""
    return re.fullmatch(NAME, fold(name)) is not None
