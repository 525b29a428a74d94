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
    return real / "dpsql.ledger" if real.is_dir() else real.with_name(f"{real.name}.ledger")
