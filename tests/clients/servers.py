"""The two servers that each client meets: dpsql,
and a real PostgreSQL with the same tables as the reference.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import trustme

from dpsql.privacy.accountant import Accountant
from dpsql.schema import load
from dpsql.session import open_accountant

#: Seconds within which a server is up, and within which it ends.
_PATIENCE = 60
#: The command line, as a process.
_DPSQL = (sys.executable, "-c", "from dpsql.cli import main; main()")
#: An analyst of the tests with all of the budget,
#: and one with too small a part of it for any #: statement.
ANALYST, POOR = "ada", "poor"


@dataclass(frozen=True)
class Server:
    """A running server: where it is, who may come in and, where it speaks TLS,
    whose signature to trust.
    """

    kind: str
    host: str
    port: int
    database: str
    password: str
    authority: Path | None = None
    accountant: Accountant | None = None
    user: str = ANALYST
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def private(self) -> bool:
        """Whether it is dpsql."""
        return self.accountant is not None

    def url(self, driver: str = "postgresql", user: str | None = None) -> str:
        """Where SQLAlchemy, libpq and others find it."""
        return f"{driver}://{user or self.user}:{self.password}@{self.host}:{self.port}/{self.database}"

    def libpq(self, user: str | None = None) -> str:
        """A connection string of libpq, with its word for each part."""
        where = f"host={self.host} port={self.port} dbname={self.database}"
        return f"{where} user={user or self.user} password={self.password}"

    @property
    def environment(self) -> dict[str, str]:
        """What programs that use libpq read from their environment."""
        return {
            **os.environ,
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGDATABASE": self.database,
            "PGUSER": self.user,
            "PGPASSWORD": self.password,
            "PGAPPNAME": "test",
            "LC_ALL": "C.UTF-8",
        }

    def fresh(self) -> int:
        """A number that no statement had before,
        so that no statement is answered from an earlier one's answer.
        """
        return next(self._numbers)

    @contextlib.contextmanager
    def charges(self, number: int) -> Iterator[None]:
        """What happens inside is charged so many times exactly; a PostgreSQL charges nothing."""
        before = self.charged()
        yield
        if self.private:
            assert self.charged() - before == number, (
                f"{self.charged() - before} charges where {number} were due"
            )

    def charged(self) -> int:
        """The number of statements in the ledger."""
        return 0 if self.accountant is None else sum(1 for _ in self.accountant.ledger.history())


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Certificates:
    """A certificate for this machine, its key, and the authority that signed it, as PEM files."""

    certificate: Path
    key: Path
    authority: Path


def certificates(folder: Path) -> Certificates:
    """Made anew in the folder."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    made = Certificates(folder / "server.crt", folder / "server.key", folder / "authority.crt")
    for number, blob in enumerate(issued.cert_chain_pems):
        blob.write_to_path(str(made.certificate), append=number > 0)
    issued.private_key_pem.write_to_path(str(made.key))
    authority.cert_pem.write_to_path(str(made.authority))
    made.key.chmod(0o600)
    return made


@contextlib.contextmanager
def dpsql_server(schema: Path, made: Certificates) -> Iterator[Server]:
    """``dpsql serve`` as a process of its own, with TLS and passwords;
    its log is beside the schema.
    """
    password, port = secrets.token_hex(8), free_port()
    users = schema.with_name("users.json")
    for name in (ANALYST, POOR):
        _dpsql("user", "add", name, "--users", str(users), "--password-stdin", given=password)
    command = [
        *_DPSQL,
        "serve",
        str(schema),
        "--port",
        str(port),
        "--users",
        str(users),
        "--tls-cert",
        str(made.certificate),
        "--tls-key",
        str(made.key),
    ]
    declared = load(schema)
    with schema.with_name("server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            server = Server(
                "dpsql",
                "127.0.0.1",
                port,
                declared.name,
                password,
                made.authority,
                open_accountant(declared),
            )
            _wait(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0, f"dpsql serve ended with {process.returncode}"


def _dpsql(*arguments: str, given: str) -> None:
    subprocess.run(
        [*_DPSQL, *arguments], input=given + "\n", text=True, check=True, capture_output=True
    )


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Until the server lets the analyst in."""
    for _ in range(_PATIENCE * 10):
        assert process.poll() is None, "the server ended at its start; see its log"
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(server.libpq(), connect_timeout=5).close()
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    raise AssertionError("the server is not up; see its log")
