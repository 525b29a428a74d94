"""What people bring along from psql and duckdb does at the prompt what they expect."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from command_runs import BY_SEX, NAFLD, Dpsql

from dpsql.errors import BudgetExhausted
from dpsql.repl.repl_session import ReplSession

Capture = pytest.CaptureFixture[str]


def test_a_setting_in_the_middle_leaves_the_statement_to_be_gone_on_with(
    repl: ReplSession, capsys: Capture
) -> None:
    repl.feed("SELECT 41 + 1\n\\timing on\n")
    assert repl.draft == "SELECT 41 + 1" and "timing is on" in capsys.readouterr().out
    repl.draft = ""
    repl.feed("SELECT 41 + 1\n\\timing off\nAS sum;")
    assert "sum" in capsys.readouterr().out and repl.draft == ""
    repl.feed("SELECT 41\n\\x\n+ 1\n\\x off\n\\g")
    assert "42" in capsys.readouterr().out and repl.draft == ""
    repl.feed("SELECT 43\n\\timming")
    assert "try \\timing" in capsys.readouterr().out and repl.draft == "SELECT 43"
    repl.draft = ""
    repl.feed("SELECT 44\n\\r")
    assert repl.draft == ""


def test_in_a_script_too(dpsql: Dpsql) -> None:
    ran = dpsql(
        NAFLD,
        "--format",
        "csv",
        stdin="SELECT 1\n\\echo between\nAS a;\nSELECT 2 AS b\n\\timing on\n",
    )
    assert (ran.code, ran.out.split()) == (0, ["between", "a", "1", "b", "2"])


def test_tables_are_listed_and_described_as_duckdb_has_it(
    repl: ReplSession, capsys: Capture
) -> None:
    repl.feed(
        "SHOW TABLES; describe labs; DESC public.patients; SHOW ALL TABLES; DESCRIBE nowhere;"
    )
    out = capsys.readouterr().out
    assert (
        out.count("the unit itself") == 2
        and "age" in out
        and "E_TABLE" in out
        and repl.statements == 0
    )


def test_a_pattern_describes_all_that_fit(repl: ReplSession, capsys: Capture) -> None:
    repl.feed("\\d *ti*s\n\\d nothing*\n")
    out = capsys.readouterr().out
    assert "table patients\n" in out and "table conditions\n" in out and "table labs" not in out
    assert 'no relation fits "nothing*"' in out


def test_copy_says_what_it_wrote_and_points_into_its_query(
    repl: ReplSession, capsys: Capture, checkout: Path
) -> None:
    repl.feed("\\copy conditions TO c.csv\n\\copy (SELECT 1 AS a) TO a.csv\n")
    out = capsys.readouterr().out
    assert "10 rows written to c.csv" in out and "1 row written to a.csv" in out
    repl.feed("\\copy patients TO p.csv\n\\copy (SELECT nope FROM labs) TO n.csv\n")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "LINE 1: SELECT * FROM patients" and lines[2].index("^") == lines[1].index(
        "*"
    )
    assert not (checkout / "p.csv").exists() and not (checkout / "n.csv").exists()
    (named,) = [number for number, line in enumerate(lines) if "SELECT nope" in line]
    assert lines[named + 1].index("^") == lines[named].index("nope")


def test_nobody_is_asked_to_pay_what_the_budget_does_not_admit(
    repl: ReplSession, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(repl.screen, "confirms", no)
    repl.feed("\\pset ask 0.5\n" + BY_SEX + ";\nSET dpsql.epsilon = 3;\nSELECT COUNT(*) FROM labs;")
    assert (
        not asked
        and isinstance(repl.failure, BudgetExhausted)
        and "53400" in capsys.readouterr().out
    )
    repl.feed("SET dpsql.epsilon = 0.55;\nSELECT COUNT(*) FROM labs;")
    assert len(asked) == 1
    assert capsys.readouterr().out.endswith("\nnot run, and nothing was charged\n")


def test_truth_values_are_words_of_sql_in_files_for_programs(dpsql: Dpsql) -> None:
    for style, delimiter in (("csv", ","), ("tsv", "\t")):
        ran = dpsql(
            NAFLD,
            "-c",
            "SELECT TRUE AS t, FALSE AS f, NULL AS n, [TRUE, NULL] AS l",
            "--format",
            style,
        )
        assert list(csv.reader(ran.out.splitlines(), delimiter=delimiter))[1] == [
            "true",
            "false",
            "",
            "[true, null]",
        ]
