"""Where the ledger of some data lies. ``docs/proofs/ledger.md``."""

from __future__ import annotations

from pathlib import Path

from dpsql.errors import LedgerError


def is_address(place: str | Path) -> bool:
    """Whether a ledger is named by the address of a server and not by a path."""
    return isinstance(place, str) and "://" in place


def ledger_path(source: str | Path) -> Path:
    """The default ledger of a file or a folder of data: it depends on the data's real place and on nothing else.

    ``x.duckdb`` has ``x.duckdb.ledger`` beside it, a folder has ``dpsql.ledger`` in it; symbolic links are followed.
    """
    if is_address(str(source)):
        raise LedgerError('data on a server has no default ledger; name one with `ledger = "…"` in the schema')
    try:
        real = Path(source).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise LedgerError("the data that the ledger belongs to cannot be found") from error
    if real.is_dir():
        return real / "dpsql.ledger"
    if real.stat().st_nlink > 1:
        raise LedgerError("the database has a second name (a hard link), and one budget all the same; name its ledger "
                          'with `ledger = "…"` in the schema')  # fmt: skip
    return real.with_name(f"{real.name}.ledger")


def names_of(dataset: str, source: Path, schema: Path | None) -> list[str]:
    """The names by which a database is known again, whatever ledger its schema names.

    Those of its data as written and with links followed, of a data file that has hard links, and of its schema file;
    each together with the dataset's own.
    """
    try:
        real = source.resolve(strict=True)
        found = real.stat()
        files = [f"data {source.absolute()}", f"data {real}"]
        files += [f"data {found.st_dev}:{found.st_ino}"] if real.is_file() and found.st_nlink > 1 else []
        files += [] if schema is None else [f"schema {schema.resolve()}"]
    except (OSError, RuntimeError) as error:
        raise LedgerError("the data that the ledger belongs to cannot be found") from error
    return [f"{file} {dataset}" for file in dict.fromkeys(files)]
