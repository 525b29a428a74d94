"""Which files are a source: one file, a folder, a glob,
folders whose names hold a column's value, a database file.

Names of files are read here, and no file is opened. Proved in ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import unquote

#: How the files of each kind end.
SUFFIXES: Final = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
}
#: What stands for many names in a path.
GLOB: Final = re.compile(r"[*?\[\]{}]")
#: Files that one program wrote as the parts of one table.
_PART: Final = re.compile(r"part[-._]\d+.*", re.IGNORECASE)
_PARTITION: Final = re.compile(r"([^=]+)=(.*)")
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
#: What DuckDB and SQLite write beside a database file before it is in there.
_JOURNALS: Final = (".wal", "-wal", "-journal")


def kind_of(file: Path) -> str | None:
    """``parquet`` or ``csv`` by the file's name; None for other files,
    and for those that programs hide.

    >>> kind_of(Path("a/visits.csv.gz")), kind_of(Path("_SUCCESS")), kind_of(Path("shop.duckdb"))
    ('csv', None, None)
    """
    if file.name.startswith((".", "_")):
        return None
    return next(
        (kind for suffix, kind in SUFFIXES.items() if file.name.lower().endswith(suffix)), None
    )


def is_glob(path: Path) -> bool:
    """Whether the place stands for many files rather than being one file or folder."""
    return GLOB.search(str(path)) is not None and not path.exists()


def root_of(path: Path) -> Path:
    """The file or folder below which all files of the place lie.

    >>> str(root_of(Path("/nowhere/visits/20*/day.csv")))
    '/nowhere/visits'
    """
    if not is_glob(path):
        return path
    parts = path.parts
    first = next(number for number, name in enumerate(parts) if GLOB.search(name))
    return Path(*parts[:first])


def folder_of(source: Path) -> Path:
    """The folder below which all tables of a source of files lie;
    of one file the one that it stands in.
    """
    return root_of(source) if is_glob(source) or source.is_dir() else source.parent


def files_of(path: Path) -> list[Path]:
    """The data files of one table in the order of their names: a file, all below a folder,
    or all that a glob means.
    """
    if is_glob(path):
        root = root_of(path)
        matched = root.glob(str(path.relative_to(root)))
        candidates = (
            file for match in matched for file in (match.rglob("*") if match.is_dir() else [match])
        )
    elif path.is_dir():
        candidates = path.rglob("*")
    else:
        return [path]
    return sorted({file for file in candidates if kind_of(file) is not None and file.is_file()})


def partition_of(path: Path, file: Path) -> dict[str, str | None]:
    """The columns whose values stand in the names of the folders between the place and the file.

    >>> partition_of(Path("visits"), Path("visits/year=2020/town=St%20Ives/a.parquet"))
    {'year': '2020', 'town': 'St Ives'}
    """
    folders = file.relative_to(root_of(path)).parts[:-1] if path != file else ()
    result = {}
    for name, value in (match.groups() for match in map(_PARTITION.fullmatch, folders) if match):
        result[unquote(name)] = None if value == _NULL else unquote(value)
    return result


def with_journal(file: Path) -> list[Path]:
    """A database file and, if it has them, its journals of writes."""
    journals = (file.with_name(file.name + ending) for ending in _JOURNALS)
    return [file, *(journal for journal in journals if journal.exists())]


def found_tables(source: Path) -> list[tuple[str, Path]]:
    """The tables of a source of files by the names that they have there, each with its place;
    some share a name.
    """
    if is_glob(source):
        begin, *others = GLOB.split(_stem(source))
        return [((begin.rstrip("-_. ") if others else "") or root_of(source).name, source)]
    if not source.is_dir():
        return [(_stem(source), source)]
    inside = sorted(entry for entry in source.iterdir() if not entry.name.startswith((".", "_")))
    files = [entry for entry in inside if entry.is_file() and kind_of(entry) is not None]
    folders = [entry for entry in inside if entry.is_dir()]
    if any(_PARTITION.fullmatch(folder.name) for folder in folders) or (
        len(files) > 1 and all(_PART.fullmatch(file.name) for file in files)
    ):
        return [(source.resolve().name, source)]
    return [
        *((_stem(file), file) for file in files),
        *((folder.name, folder) for folder in folders if files_of(folder)),
    ]


def _stem(file: Path) -> str:
    """The file's name without the ending that tells its kind."""
    name = file.name
    ending = max(
        (suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), key=len, default=""
    )
    return name[: len(name) - len(ending)] if ending else file.stem
