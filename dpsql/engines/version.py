"""Which version of the data lies at a source: told by its files' places, sizes and times, and never by a row.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def files_version(files: Sequence[Path]) -> str | None:
    """Place, size and time (in ns) of each file that is there; None where one of them cannot be looked at.

    A DuckDB file counts with the journal of writes that are not in it yet.
    """
    found: list[tuple[str, int, int]] = []
    try:
        for file in files:
            real = file.resolve(strict=True)
            facts = real.stat()
            found.append((str(real), facts.st_size, facts.st_mtime_ns))
    except (OSError, RuntimeError):
        return None
    return json.dumps(found)


def with_journal(file: Path) -> list[Path]:
    """A DuckDB file and, where it has one, its journal of writes."""
    journal = file.with_name(f"{file.name}.wal")
    return [file, journal] if journal.exists() else [file]
