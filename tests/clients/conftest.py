"""Each client's script runs twice: against a real PostgreSQL, which proves the script,
and against dpsql.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from reference import postgresql
from servers import POOR, Certificates, Server, certificates, dpsql_server

from dpsql.schema import load

_SCHEMA = Path(__file__).parents[2] / "schemas" / "nafld.toml"


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def clients_schema(tmp_path_factory: pytest.TempPathFactory, nafld_folder: Path) -> Path:
    """NAFLD with a budget that all clients' statements fit into,
    and an analyst who can pay for none.
    """
    text = _SCHEMA.read_text("utf-8")
    for name, value in (
        ("source", f'"{nafld_folder}"'),
        ("epsilon", "5000"),
        ("query_epsilon", "1"),
    ):
        text, found = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        assert found == 1, f"{name} is not in the schema"
    schema = tmp_path_factory.mktemp("served") / "nafld.toml"
    schema.write_text(f"{text}\n[analysts.{POOR}]\nepsilon = 0.25\n", "utf-8")
    text = schema.read_text("utf-8").replace(
        "\n[privacy]", '\nledger = "nafld.ledger"\n[privacy]', 1
    )
    schema.write_text(text, "utf-8")
    return schema


@pytest.fixture(scope="session")
def private(clients_schema: Path, tls: Certificates) -> Iterator[Server]:
    """dpsql alone, for what PostgreSQL has not: prices, refusals, the budget."""
    with dpsql_server(clients_schema, tls) as server:
        yield server


@pytest.fixture(scope="session")
def reference(clients_schema: Path, nafld_folder: Path) -> Iterator[Server]:
    """PostgreSQL alone; the one that pip brings is built without TLS."""
    with postgresql(load(clients_schema), nafld_folder) as server:
        yield server


@pytest.fixture(params=["reference", "private"], ids=["postgresql", "dpsql"])
def server(request: pytest.FixtureRequest) -> Server:
    """Each of the two."""
    return request.getfixturevalue(str(request.param))
