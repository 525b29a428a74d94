"""``dpsql explain SCHEMA --workload FILE`` prints what each accountant would charge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from shops import shop

from dpsql.cli import commands


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, Path]:
    statements = tmp_path / "dashboard.sql"
    one, two = (f"SELECT COUNT(*) FROM people WHERE {each}" for each in ("member", "NOT member"))
    statements.write_text(f"-- two tiles\n{one}; {two}\n", "utf-8")
    return str(shop(tmp_path, 'mechanism = "laplace"')), statements


def test_the_table_is_printed(files: tuple[str, Path]) -> None:
    schema, statements = files
    done = CliRunner().invoke(commands, ["explain", schema, "--workload", str(statements)])
    assert done.exit_code == 0 and done.output.startswith("a workload of 2 statements\naccountant")
    assert "parallel *" in done.output


def test_programs_get_json(files: tuple[str, Path]) -> None:
    schema, statements = files
    asked = ["explain", schema, "--workload", str(statements), "--json", "--epsilon", "0.2"]
    done = CliRunner().invoke(commands, asked)
    told = json.loads(done.output)
    assert told["best"] == "parallel" and told["statements"] == ["bought", "bought"]
    assert told["accountants"][0] | {"charged_rho": 0, "left": 0} == {
        "accountant": "hybrid",
        "epsilon": 0.4,
        "charged_epsilon": 0.4,
        "charged_rho": 0,
        "charged_delta": 0.0,
        "left": 0,
        "why": "",
    }


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("", ["--workload", "{}"], "has no statement in it"),
        ("\\d people\nSELECT 1;", ["--workload", "{}"], "line 1: a workload is made of statements"),
        ("SELECT 1", [], "Give one statement"),
        ("SELECT 1", ["SELECT 1", "--workload", "{}"], "Give one statement"),
        ("SELECT 1", ["--workload", "{}", "--to-reach", "5%"], "not about a workload"),
    ],
)
def test_wrong_use_says_what_is_right(
    files: tuple[str, Path], text: str, arguments: list[str], said: str
) -> None:
    schema, statements = files
    statements.write_text(text, "utf-8")
    done = CliRunner().invoke(
        commands, ["explain", schema, *(each.format(statements) for each in arguments)]
    )
    assert done.exit_code == 2 and said in done.output
