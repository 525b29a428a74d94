"""Which version of the data lies at a source: told by its files' places, sizes and times, and never by a row.

Proved in ``docs/proofs/answers.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dpsql.engines.source import Source


class State(NamedTuple):
    """What a file system tells of a file that holds the same bytes as long as it tells the same; times are in ns."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def state_of(facts: os.stat_result) -> State:
    """The state that the facts tell."""
    return State(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def states(files: Sequence[Path]) -> tuple[State, ...] | None:
    """The state of each file as it is now; None where one of them cannot be looked at."""
    try:
        return tuple(state_of(file.stat()) for file in files)
    except OSError:
        return None


def files_version(files: Sequence[Path]) -> str | None:
    """Place, size and time (in ns) of each file that is there; None where one of them cannot be looked at.

    It says which data an answer that is kept was made of, also on another day and after the machine began anew.
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


def source_files(source: Source) -> list[Path]:
    """The Parquet files of the declared tables, or the DuckDB file with its journal, where they are now."""
    if source.files is not None:
        return [Path(file) for file in source.files.values()]
    try:
        return with_journal(Path(source.path).resolve())
    except (OSError, RuntimeError):
        return [Path(source.path)]


def with_journal(file: Path) -> list[Path]:
    """A DuckDB file and, where it has one, its journal of writes."""
    journal = file.with_name(f"{file.name}.wal")
    return [file, journal] if journal.exists() else [file]
