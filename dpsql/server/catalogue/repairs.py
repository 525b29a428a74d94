"""Known statements of tools that sqlglot cannot read, with the one phrase that stops it written another way."""

from __future__ import annotations

import re

#: The phrase, and what is read in its place. Each keeps the meaning, with other words.
REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = (
    # pgcli lists the types of a function's arguments
    (
        re.compile(r"COALESCE\(proallargtypes::regtype\[\],\s*proargtypes::regtype\[\]\)::text\[\]", re.IGNORECASE),
        "COALESCE(pg_proc_argument_types(p.oid))",
    ),
)


def repair(text: str) -> str:
    """The statement as it can be read."""
    for phrase, instead in REPAIRS:
        text = phrase.sub(instead, text)
    return text
