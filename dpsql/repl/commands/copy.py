"""``\\copy``: one result as a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dpsql.errors import DataError, Refused
from dpsql.output import reserved, write
from dpsql.repl.conversation import Conversation
from dpsql.repl.input import Command
from dpsql.repl.screen import said_of

#: The style of a file, by what its name ends in.
_STYLES: Final = {
    ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "markdown",
    ".parquet": "parquet", ".txt": "table",
}  # fmt: skip
#: Words of COPY that change nothing here.
_IDLE: Final = frozenset({"with", "format", "header", "true"})
_COPY = re.compile(
    r"(?P<what>\(.*\)|[\w.\"]*)\s*\b(?P<way>to|from)\b\s*(?P<file>'[^']+'|[^\s']+)(?P<options>.*)",
    re.IGNORECASE | re.DOTALL,
)


def copy(talk: Conversation, command: Command) -> None:
    """Write one result to the file that the command names, and say so; the file is opened before anything is paid."""
    found = _COPY.fullmatch(command.argument)
    if found is None:
        raise DataError("write \\copy (SELECT …) TO 'file.csv', or \\copy TO 'file.csv' for the last result")
    if found["way"].lower() == "from":
        raise Refused("E_STMT", "dpsql never changes data: \\copy only writes TO a file")
    file = Path(found["file"].strip("'")).expanduser()
    style, rows = _style_of(found["options"], file), talk.rows
    with reserved(None if talk.rules.dry else file):
        if found["what"]:
            what = found["what"].strip()
            query = what[1:-1] if what.startswith("(") and what.endswith(")") else f"SELECT * FROM {what}"
            if talk.rules.dry:
                return talk.ask(query)
            answer = talk.answer(query)
            talk.last, rows = query, answer.rows
            talk.rows = rows
            talk.say_price(answer)
        with said_of(file):
            write(rows, style, talk.display.intervals, file)
    talk.screen.says(f"{len(rows.rows)} {'row' if len(rows.rows) == 1 else 'rows'} written to {file}")


def _style_of(options: str, file: Path) -> str:
    words = [word for word in re.findall(r"[a-z]+", options.lower()) if word not in _IDLE]
    known = set(_STYLES.values())
    if any(word not in known for word in words) or len(words) > 1:
        raise DataError(f"\\copy writes {', '.join(sorted(known))}: WITH (FORMAT csv)")
    return words[0] if words else _STYLES.get(file.suffix.lower(), "csv")
