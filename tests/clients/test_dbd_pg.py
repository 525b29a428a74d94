"""Perl's DBD::Pg: its metadata, parameters and transactions are those of a real PostgreSQL."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from programs import program
from servers import Server

pytestmark = pytest.mark.clients


def told(server: Server) -> dict[str, str]:
    """What the Perl program tells."""
    source = f"dbi:Pg:dbname={server.database};host={server.host};port={server.port}"
    command = [
        program("perl", "perl"),
        "Client.pl",
        source,
        server.user,
        server.password,
        str(server.fresh()),
    ]
    done = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=120, check=False
    )
    assert "DBD/Pg.pm" not in done.stderr, (
        "DBD::Pg is not on this machine; apt-get install libdbd-pg-perl"
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def test_metadata_and_statements(private: Server, reference: Server) -> None:
    with private.charges(5):
        found = told(private)
    wanted = told(reference)
    assert found == wanted
    assert len(found) >= 20 and not any(value.startswith("ERR") for value in found.values())
