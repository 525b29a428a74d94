"""Targets at the command line and in the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsql import cli
from dpsql.repl.display import DisplaySettings
from dpsql.repl.repl_session import ReplSession
from dpsql.repl.screen import Screen
from dpsql.session import open_session

NAFLD = "schemas/nafld.toml"
COUNT = "SELECT COUNT(*) AS n FROM patients WHERE age < 50"

Dpsql = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dpsql(checkout: Path, capsys: pytest.CaptureFixture[str]) -> Dpsql:
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.commands(list(arguments), prog_name="dpsql")
        streams = capsys.readouterr()
        return int(ended.value.code or 0), streams.out, streams.err

    return run


def test_explain_tells_what_reaches_a_target(dpsql: Dpsql) -> None:
    for arguments in ((COUNT, "--to-reach", "± 20"), (f"{COUNT} TO REACH 20",)):
        code, out, _ = dpsql("explain", NAFLD, *arguments)
        assert code == 0 and "to reach ± 20: ε = " in out and "of what is left" in out
    code, _, err = dpsql("explain", NAFLD, COUNT, "--to-reach", "soon")
    assert code == 1 and "'soon' is no target; write ± 200, 5 % or 5 % OF 4000" in err
    code, _, err = dpsql("query", NAFLD, f"{COUNT} TO REACH 5%;")
    assert (
        code == 1
        and "SET dpsql.target_error" in err
        and f"EXPLAIN PRIVACY {COUNT} TO REACH 5 %\n" in err
    )
    code, _, err = dpsql("query", NAFLD, COUNT, "--target-error", "n 20 AT 30 ROWS")
    assert code == 1 and "one target is for all columns; write ± 200" in err


def test_explain_for_programs_has_numbers(dpsql: Dpsql) -> None:
    _, out, _ = dpsql("explain", NAFLD, COUNT, "--json", "--to-reach", "5 % OF 400")
    found = json.loads(out)
    (column,) = found["columns"]
    assert column["half_width"].startswith("± ") and 0 < column["expected"] <= 20
    assert found["reached"]["epsilon"] == found["price"]["epsilon"]
    assert found["reached"]["half_widths"] == {"n": column["expected"]}
    assert 0 < found["reached"]["share_of_left"] < 1
    _, out, _ = dpsql("explain", NAFLD, COUNT, "--json")
    assert json.loads(out)["reached"] is None


def test_query_buys_a_target(dpsql: Dpsql) -> None:
    code, _, err = dpsql("query", NAFLD, COUNT, "--target-error", "20")
    assert code == 0 and "to reach ± 20: n ± " in err
    took = next(line for line in err.splitlines() if line.startswith("this one took 1/"))
    assert "1/36;" not in took
    code, _, err = dpsql("query", NAFLD, COUNT, "--target-error", "0.001")
    assert code == 4 and "the budget does not admit it; it admits ε = " in err


def test_the_terminal_says_it(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = open_session(NAFLD, "ada")
    talk = ReplSession(lambda: session, Screen(interactive=True), DisplaySettings(pager=False))
    talk.feed(f"\\cost {COUNT} TO REACH ± 20\n")
    assert "to reach ± 20: ε = " in capsys.readouterr().out
    talk.feed(f"SET dpsql.target_error = '± 20'; {COUNT};\n\\budget\n")
    said = capsys.readouterr().out
    assert "priced ε = " in said and "a statement costs what reaches ± 20" in said
    talk.feed(f"EXPLAIN PRIVACY {COUNT} TO REACH 5 %;")
    assert "to reach 5 %: " in capsys.readouterr().out
    session.close()
