"""The files of one version of the data: how a version is told by their sizes and times,
and how they are held.

The engine reads the same bytes of held files in every scan, or it is seen.

Proved in ``docs/proofs/answers.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from dpsql.engines.files.table_files import files_of, folder_of, partition_of, with_journal
from dpsql.engines.source import RFC_4180, DataSource, StoredTable, TableFile


class FileState(NamedTuple):
    """What a file system tells of a file that holds the same bytes as long as it tells the same;
    times are in ns.
    """

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def state_of(facts: os.stat_result) -> FileState:
    """The state that the facts tell."""
    return FileState(
        facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, changed=facts.st_ctime_ns
    )


def states(files: Sequence[Path]) -> tuple[FileState, ...] | None:
    """The state of each file as it is now; None if one of them cannot be looked at."""
    try:
        return tuple(state_of(file.stat()) for file in files)
    except OSError:
        return None


def files_version(files: Sequence[Path]) -> str | None:
    """Place, size and time (in ns) of each file that is there;
    None if one of them cannot be looked at.

    It says which data an answer that is kept was made of,
    also on another day and after the machine began anew.
    """
    file_states: list[tuple[str, int, int]] = []
    try:
        for file in files:
            real = file.resolve(strict=True)
            facts = real.stat()
            file_states.append((str(real), facts.st_size, facts.st_mtime_ns))
    except (OSError, RuntimeError):
        return None
    return json.dumps(file_states)


def read_options(source: DataSource) -> str:
    """What the schema says of how the files are read, if it says more than names and types;
    else nothing.

    Answers that are kept under one reading are not those of another one.
    """
    mapped = {
        name: [
            table.place if table.kind == "database" else "",
            [column.path for column in table.columns],
            asdict(table.csv),
            *([column.nulls for column in table.columns] if _has_nulls(table) else []),
        ]
        for name, table in sorted(source.tables.items())
        if table.csv != RFC_4180
        or (table.kind == "database" and table.place != name)
        or any(column.path != (column.name,) for column in table.columns)
        or _has_nulls(table)
    }
    return sha256(json.dumps(mapped).encode()).hexdigest() if mapped else ""


def _has_nulls(table: StoredTable) -> bool:
    return any(column.nulls is not None for column in table.columns)


def source_files(source: DataSource) -> list[Path]:
    """The files of the declared tables, or the database file with its journals,
    where they are now.
    """
    if source.kind == "files":
        files = (file for table in source.tables.values() for file in files_of(Path(table.place)))
        return list(dict.fromkeys(files))
    try:
        return with_journal(Path(source.path).resolve())
    except (OSError, RuntimeError):
        return [Path(source.path)]


def located(source: DataSource, path_of: Callable[[Path], str] = str) -> DataSource:
    """The source with the files that its tables have now,
    each opened at the ``path_of`` that is given for it.
    """

    def files(table: StoredTable) -> tuple[TableFile, ...]:
        path = Path(table.place)
        return tuple(
            TableFile(
                path_of(file),
                file.name.lower().endswith(".gz"),
                tuple(partition_of(path, file).items()),
            )
            for file in files_of(path)
        )

    if source.kind != "files":
        return source
    tables = {name: replace(table, files=files(table)) for name, table in source.tables.items()}
    return replace(source, tables=tables)


#: Where the first and the last bytes of a kind of files stand, and what they are.
_MARKS: Final = {".parquet": ((0, b"PAR1"), (-4, b"PAR1")), ".duckdb": ((8, b"DUCK"),)}


def faults_of(files: Sequence[Path]) -> list[str]:
    """For the owner's log: the files that are missing, that may not be read, or that do not begin
    and end as their kind does; what is wrong inside of a file is not seen here.
    """
    result = []
    for file in files:
        try:
            with file.open("rb") as opened:
                for offset, mark in _MARKS.get(file.suffix, ()):
                    opened.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
                    if opened.read(len(mark)) != mark:
                        result.append(f"{file} is no whole {file.suffix[1:]} file")
                        break
        except OSError as error:
            result.append(f"{file}: {error.strerror}")
    return result


#: Where Linux has a name for each descriptor of a process, by which the very file is opened again.
DESCRIPTORS = "/proc/self/fd"
#: Seconds after which a file system that tells parts of a second, or whole ones alone,
#: gives a #: write another time.
TICK = 0.02
WHOLE_TICK = 2.0
#: A file that was written longer ago than so many seconds is not being written now,
#: whatever its #: clock.
LONG_AGO = 60.0


@dataclass(frozen=True)
class HeldFile:
    """A file as it was when it was held;
    ``descriptor`` is None if this system cannot hold it.
    """

    real: Path
    descriptor: int | None
    state: FileState
    links: int

    @property
    def opened_path(self) -> str:
        """What the engine opens: the very file, whatever its path leads to by then,
        or else the path.
        """
        return str(self.real) if self.descriptor is None else f"{DESCRIPTORS}/{self.descriptor}"

    def unchanged(self) -> bool:
        """Whether nothing was written to it since it was held.

        If only its path is known, the path must still lead to it.

        The time of its last change alone may differ if the number of its names does,
        as in what was replaced.
        """
        try:
            facts = self.real.stat() if self.descriptor is None else os.fstat(self.descriptor)
        except OSError:
            return False
        now = state_of(facts)
        if self.descriptor is None or facts.st_nlink == self.links:
            return now == self.state
        return now._replace(changed=self.state.changed) == self.state


class HeldFiles:
    """Files that are held from when they are first named until `close` or its end;
    OSError if one is not there.

    One thread opens; any thread may ask whether they are unchanged.
    """

    def __init__(self) -> None:
        self._files: dict[str, HeldFile] = {}
        self._finalizer: Final = weakref.finalize(self, _let_all_go, self._files)
        self._since = time.monotonic()
        self._closed = False

    def hold(self, path: str) -> str:
        """What the engine opens for the path, whose file is held from now on."""
        return self._file(path).opened_path

    def source(self, source: DataSource) -> DataSource:
        """The source with all its files held, and nothing else,
        at the paths by which the engine opens them.

        A database file stays at its path, next to its journals.
        """
        files: dict[str, HeldFile] = {}

        def hold(file: Path) -> str:
            held_file = files[str(file.absolute())] = self._file(file)
            return held_file.opened_path

        result = located(_below_one_folder(source), hold)
        if source.kind != "files":
            for file in source_files(source):
                hold(file)
            result = replace(source, path=str(next(iter(files.values())).real))
        elif not all(table.files for table in result.tables.values()):
            raise FileNotFoundError
        for name in self._files.keys() - files.keys():
            _let_go(self._files[name])
        self._files.clear()
        self._files.update(files)
        return result

    @property
    def paths(self) -> list[str]:
        """The paths of the files at the time they were held."""
        return [str(file.real) for file in self._files.values()]

    @property
    def states(self) -> tuple[FileState, ...]:
        """What each file was when it was held, in the order of `source_files`."""
        return tuple(file.state for file in self._files.values())

    @property
    def version(self) -> str:
        """The version of what is held, as `files_version` writes it."""
        return json.dumps(
            [
                (str(file.real), file.state.size, file.state.modified)
                for file in self._files.values()
            ]
        )

    def settled(self, source: DataSource) -> bool:
        """Whether what the engine has opened since they were held is what is held,
        once a write would show.

        It waits until the file system would give a write another time than the last one that it
        tells.
        """
        last = max(max(state.changed, state.modified) for state in self.states)
        if time.time() - last / 10**9 < LONG_AGO:
            tick = TICK if any(state.changed % 10**9 for state in self.states) else WHOLE_TICK
            time.sleep(max(0.0, self._since + tick - time.monotonic()))
        by_path = source.kind != "files" or any(
            file.descriptor is None for file in self._files.values()
        )
        return self.unchanged() and (not by_path or states(source_files(source)) == self.states)

    def unchanged(self) -> bool:
        """Whether all that is held is what it was; never after `close`,
        when a descriptor may be another file's.
        """
        return not self._closed and all(file.unchanged() for file in self._files.values())

    def close(self) -> None:
        """Let go of the files."""
        self._closed = True
        self._finalizer()

    def _file(self, path: str | Path) -> HeldFile:
        name = str(Path(path).absolute())
        if name not in self._files:
            self._files[name] = _held(Path(name))
            self._since = time.monotonic()
        return self._files[name]


def _below_one_folder(source: DataSource) -> DataSource:
    """The source with all its tables below the folder to which its links lead now,
    whatever takes their place.
    """
    if source.kind != "files":
        return source
    folder = folder_of(Path(source.path))
    real = _real(folder)
    below = {
        name: str(real / Path(table.place).relative_to(folder))
        for name, table in source.tables.items()
    }
    return replace(
        source,
        tables={name: replace(source.tables[name], place=path) for name, path in below.items()},
    )


def _real(path: Path) -> Path:
    """The path with its links followed. Raises OSError if nothing is there."""
    try:
        return path.resolve(strict=True)
    except RuntimeError:  # a ring of links
        raise FileNotFoundError from None


def _held(path: Path) -> HeldFile:
    """The file that the path leads to, links followed. Raises OSError if there is none."""
    real = _real(path)
    if hasattr(os, "O_PATH"):
        # closing such a descriptor leaves DuckDB's locks on the file;
        # closing one that reads would # end them
        descriptor = os.open(real, os.O_PATH | os.O_CLOEXEC)
        facts = os.fstat(descriptor)
        result = HeldFile(real, descriptor, state_of(facts), facts.st_nlink)
        with suppress(OSError):
            if state_of(Path(result.opened_path).stat())[:2] == result.state[:2]:
                return result
        os.close(descriptor)
    facts = real.stat()
    return HeldFile(real, None, state_of(facts), facts.st_nlink)


def _let_all_go(files: dict[str, HeldFile]) -> None:
    for file in files.values():
        _let_go(file)


def _let_go(file: HeldFile) -> None:
    if file.descriptor is not None:
        with suppress(OSError):
            os.close(file.descriptor)
