"""A price of statements that is next to nothing of the budget is a fault of the schema file,
before anybody asks.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_runs import Dpsql
from databases import clinic

from dpsql import cli, connect
from dpsql.errors import SchemaError


@pytest.mark.parametrize(
    ("epsilon", "delta", "query_epsilon"),
    [
        ("1", "1e-6", "9e-13"),
        ("1", "0", "1e-300"),
        ("3", "1e-6", "2.7e-12"),
        ("1e12", "1e-6", "0.1"),
    ],
)
def test_the_least_price_is_told_with_its_place_and_a_mend(
    tmp_path: Path, dpsql: Dpsql, epsilon: str, delta: str, query_epsilon: str
) -> None:
    schema = clinic(tmp_path, epsilon, delta, query_epsilon)
    checked = dpsql("schema", "check", str(schema))
    assert checked.code == 2 and checked.err == ""
    (line,) = checked.out.splitlines()
    assert (
        line.startswith(f"error: {schema}: privacy, query_epsilon: ")
        and "2**-40 of epsilon" in line
    )
    with pytest.raises(SchemaError, match=r"privacy, query_epsilon: .* is below"):
        connect(schema, "ada")
    suggested = re.search(r"such as (\S+)$", line)
    assert suggested is not None
    mended = clinic(_fresh(tmp_path), epsilon, delta, suggested[1])
    assert dpsql("schema", "check", str(mended)).code == 0


def _fresh(folder: Path) -> Path:
    (folder / "mended").mkdir()
    return folder / "mended"


@pytest.mark.parametrize("mechanism", ["auto", "laplace", "gaussian"])
def test_a_statement_at_the_least_price_is_admitted(tmp_path: Path, mechanism: str) -> None:
    schema = clinic(tmp_path, query_epsilon="0.1", epsilon=str(2**40 // 10))
    schema.write_text(
        schema.read_text().replace(
            "[tables.patients]", f'mechanism = "{mechanism}"\n[tables.patients]'
        )
    )
    assert CliRunner().invoke(cli.commands, ["schema", "check", str(schema)]).exit_code == 0
    with connect(schema, "ada") as connection:
        assert len(connection.execute("SELECT COUNT(*) FROM patients").fetchall()) == 1
