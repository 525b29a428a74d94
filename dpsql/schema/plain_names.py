"""Plain names for what a source calls its tables and columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from dpsql.schema.names import NAME, fold

_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "o", "å": "a", "ł": "l"}


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
    number, found = 2, plain
    while found in taken:
        found, number = f"{plain}_{number}", number + 1
    return found


def is_plain(name: str) -> bool:
    """Whether a schema can call it what the source does, apart from capital letters of ASCII."""
    return re.fullmatch(NAME, fold(name)) is not None
