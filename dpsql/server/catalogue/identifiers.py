"""Names as they are written inside texts: ``public."Orders"``, ``double precision[]``."""

from __future__ import annotations

import re

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


def name_parts(written: str) -> list[str]:
    """The parts of a qualified name, folded where they stand without quotes.

    >>> name_parts('public."My T"'), name_parts("Pg_Class")
    (['public', 'My T'], ['pg_class'])
    """
    found = _PART.findall(written.strip())
    return [plain.strip().lower() if plain else quoted.replace('""', '"') for quoted, plain in found]


def type_words(written: str) -> str:
    """The name of a type without its schema, its modifier and its quotes.

    >>> type_words("pg_catalog.int4"), type_words("character varying(10)[]"), type_words('"char"')
    ('int4', 'character varying[]', 'char')
    """
    plain = re.sub(r"\s*\([0-9, ]*\)", "", written.strip().lower())
    plain = re.sub(r'^"?(?:pg_catalog|public)"?\.', "", plain).replace('"', "")
    return re.sub(r"\s+", " ", plain)
