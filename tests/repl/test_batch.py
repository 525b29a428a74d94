"""Statements from options, files and pipes: what goes where, and which exit code says what."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import pytest
from command_runs import BY_SEX, NAFLD, Dpsql

from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.postprocessing import PostProcessor


def paid(dpsql: Dpsql) -> int:
    """How many statements the ledger holds."""
    return int(json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][0]["statements"])


def test_results_and_prices_go_to_streams_of_their_own(dpsql: Dpsql) -> None:
    found = dpsql(NAFLD, "-c", BY_SEX, "-c", "SELECT name FROM conditions LIMIT 1", "--intervals")
    assert found.code == 0 and found.out.count(" ± ") == 4 and "ε" not in found.out
    assert found.err.splitlines()[0].startswith("2 rows · this one took 1/36 · 35 of 36")
    assert found.err.splitlines()[1].startswith("clamped: bmi to 10 … 80")
    assert found.err.splitlines()[2].startswith("1 row · free: no private row was read")
    assert dpsql(NAFLD, "-q", "-c", "SELECT 1").err == ""


def test_statements_are_piped_in(dpsql: Dpsql) -> None:
    found = dpsql(
        NAFLD,
        "--format",
        "jsonl",
        stdin="SELECT 1 AS a;\nSELECT ';' AS b -- ;\n;\n\\echo over\nSELECT 3 AS c",
    )
    assert [json.loads(line) for line in found.out.replace("over", "0").splitlines()] == [
        {"a": 1},
        {"b": ";"},
        0,
        {"c": 3},
    ]


def test_files_are_run_and_may_run_files(dpsql: Dpsql, checkout: Path) -> None:
    (checkout / "a.sql").write_text("SELECT 1 AS a;\n\\i b.sql\n")
    (checkout / "b.sql").write_text("\ufeffSELECT 2 AS b;\nSELECT nothing;")
    found = dpsql(NAFLD, "-f", "a.sql", "-f", "-", "--format", "csv", stdin="SELECT 3 AS c")
    assert found.out.split() == ["a", "1", "b", "2", "c", "3"]
    assert found.code == 1 and "b.sql:2: " in found.err
    (checkout / "b.sql").write_text("\\i b.sql")
    assert "16 deep" in dpsql(NAFLD, "-f", "b.sql").err
    assert dpsql(NAFLD, "-f", "none.sql").err == "none.sql: No such file or directory\n"


def test_an_error_stops_only_where_it_shall(dpsql: Dpsql) -> None:
    sql = "SELECT 1 AS a; SELECT bmi FROM patients; SELECT 2 AS b"
    texts = ("-c", sql, "-c", "SELECT 3 AS c")
    going, stopping = (
        dpsql(NAFLD, "--format", "csv", *texts, *more) for more in ((), ("-v", "ON_ERROR_STOP=1"))
    )
    assert (going.code, going.out.split()) == (1, ["a", "1", "b", "2", "c", "3"])
    assert (stopping.code, stopping.out.split()) == (1, ["a", "1"])
    assert dpsql(NAFLD, "-c", sql, "-v", "ON_ERROR_STOP=0", "--format", "csv").out.split() == [
        "a",
        "1",
        "b",
        "2",
    ]


def test_an_error_shows_the_place_the_reason_and_the_way_out(dpsql: Dpsql) -> None:
    lines = dpsql(
        NAFLD, stdin="\n\nSELECT COUNT(*),\n  AVG(nonsense)\nFROM patients;"
    ).err.splitlines()
    assert lines[0].startswith("stdin:3: 42703 E_COLUMN ") and lines[1] == "LINE 2:   AVG(nonsense)"
    lines = dpsql(NAFLD, "-c", "SELECT '漢', bmi FROM patients").err.splitlines()
    assert lines[1] == "LINE 1: SELECT '漢', bmi FROM patients" and lines[2].endswith(" ^")
    assert lines[0].startswith("42501 E_RAW ") and lines[3] == "More: docs/refusals.md#e_raw"
    lines = dpsql(NAFLD, "-c", "SELECT AVG(bmy) FROM patients").err.splitlines()
    assert (
        lines[3].startswith("Write instead: SELECT AVG(bmi)")
        and lines[4] == "More: docs/refusals.md#e_column"
    )


def test_each_kind_of_failure_has_its_code(
    dpsql: Dpsql, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dpsql(NAFLD, "-c", "SELEC").code == 1
    assert dpsql(NAFLD, "-c", BY_SEX, "--epsilon", "3", "-c", "SELECT COUNT(*) FROM labs").code == 4
    assert dpsql(NAFLD, "-c", "SELECT 1; SELEC; " + BY_SEX).code == 1
    assert dpsql(NAFLD, "-c", "SELECT 1", "--format", "parquet").code == 2
    assert dpsql(NAFLD, "-c", "SELECT 1", "--format", "nonsense").code == 2
    assert dpsql(NAFLD, "-c", "SELECT 1", "-v", "AUTOCOMMIT=on").code == 2
    assert dpsql(NAFLD, "-c", "SELECT 1", "--ask-above", "much").code == 2
    assert dpsql(NAFLD, "-c", "SELECT 1", "--epsilon", "99").code == 1
    misspelt = dpsql("explian")
    assert misspelt.code == 2 and "Did you mean explain?" in misspelt.err
    assert dpsql("nowhere.toml", "-c", "SELECT 1").code == 2
    (checkout / "wrong.toml").write_text("name = 5")
    assert dpsql("wrong.toml", "-c", "SELECT 1").code == 2


@pytest.mark.parametrize(
    ("where", "said"),
    [(DuckDBReading, "E_EXEC"), (PostProcessor, "E_INTERNAL")],
    ids=["engine", "sandbox"],
)
def test_what_was_not_foreseen_has_no_words_of_the_engine(
    dpsql: Dpsql, monkeypatch: pytest.MonkeyPatch, where: type, said: str
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CANARY_7f3a")

    monkeypatch.setattr(where, "stage" if where is DuckDBReading else "run", fail)
    found = dpsql(NAFLD, "-c", BY_SEX)
    assert found.code != 0 and "CANARY" not in found.err + found.out and said in found.err


def test_a_dry_run_tells_prices_and_pays_nothing(dpsql: Dpsql, checkout: Path) -> None:
    sql = f"SELECT 1; {BY_SEX}; SET dpsql.epsilon = 0.2; {BY_SEX} \\g\n\\copy ({BY_SEX}) TO 'no.csv'\n"
    found = dpsql(NAFLD, "--dry-run", "--format", "csv", stdin=sql)
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert [row["epsilon"] for row in rows] == ["0.0", "0.1", "0.2", "0.0"] and rows[-1][
        "epsilon_so_far"
    ] == "0.3"
    assert found.code == 0 and found.err.startswith(
        "4 statements, which take 1/7 in all; nothing was run"
    )
    assert [row["takes"] for row in rows] == ["nothing", "1/36", "1/9", "nothing"]
    assert not (checkout / "no.csv").exists() and paid(dpsql) == 0
    assert (
        dpsql(
            NAFLD, "--dry-run", "--epsilon", "2", "-c", f"{BY_SEX}; SELECT COUNT(*) FROM labs"
        ).code
        == 4
    )
    assert (
        dpsql(
            NAFLD, "--dry-run", "--max-cost", "0.15", "-c", f"{BY_SEX}; SELECT COUNT(*) FROM labs"
        ).code
        == 4
    )
    assert dpsql(NAFLD, "--dry-run", "-c", "SELECT bmi FROM patients").code == 1
    assert paid(dpsql) == 0


def test_what_was_paid_for_is_free_and_said_to_be(dpsql: Dpsql) -> None:
    first, again = (
        dpsql(NAFLD, "-c", BY_SEX),
        dpsql(NAFLD, "--max-cost", "0.01", "--ask-above", "0.01", "-c", BY_SEX),
    )
    assert again.code == 0 and again.out == first.out and paid(dpsql) == 1
    assert (
        "2 rows · free: answered before, and paid for once · 35 of 36 answers left\n" in again.err
    )
    assert "0.0" in dpsql(NAFLD, "--dry-run", "--format", "csv", "-c", BY_SEX).out.split(",")
    assert "free now, for it was paid for already" in dpsql(NAFLD, "-c", f"\\cost {BY_SEX}").err


def test_no_more_is_paid_than_was_allowed(dpsql: Dpsql) -> None:
    found = dpsql(
        NAFLD, "--max-cost", "0.15", "-c", f"{BY_SEX}; SELECT COUNT(*) FROM labs; SELECT 7 AS free"
    )
    assert (
        found.code == 4
        and paid(dpsql) == 1
        and "ε = 0.05 is left" in found.err
        and "free" in found.out
    )
    asked = dpsql(NAFLD, "--ask-above", "0.05", "-c", "SELECT COUNT(*) FROM diagnoses")
    assert asked.code == 4 and paid(dpsql) == 1 and "nobody is there to be asked" in asked.err


def test_results_go_to_a_file_that_is_tried_before_anything_is_paid(
    dpsql: Dpsql, checkout: Path
) -> None:
    assert dpsql(NAFLD, "-c", BY_SEX, "-o", "no/folder.csv").code == 1 and paid(dpsql) == 0
    found = dpsql(NAFLD, "-c", "SELECT 1 AS a; SELECT 2 AS b", "-o", "out.csv", "--format", "csv")
    assert found.out == "" and (checkout / "out.csv").read_text() == "a\n1\nb\n2\n"
    found = dpsql(
        NAFLD, "-c", f"{BY_SEX}", "-o", "out.parquet", "--format", "parquet", "--intervals"
    )
    assert found.code == 0
    with duckdb.connect(":memory:") as plain:
        described = plain.execute("DESCRIBE FROM 'out.parquet'").fetchall()
    assert [row[0] for row in described] == [
        "male",
        "bmi",
        "bmi_low",
        "bmi_high",
        "n",
        "n_low",
        "n_high",
    ]
    twice = dpsql(NAFLD, "-c", "SELECT 1; SELECT 2", "-o", "twice.parquet", "--format", "parquet")
    assert twice.code == 1 and "Parquet holds one result" in twice.err


def test_commands_work_without_a_person(dpsql: Dpsql) -> None:
    typed = ("\\dt", "\\d labs", "SELECT 1; \\x on", "SELECT 5 AS five", "\\q", "SELECT 9 AS nine")
    found = dpsql(NAFLD, *(part for text in typed for part in ("-c", text)))
    assert found.code == 0 and "five | 5" in found.out and "nine" not in found.out
    assert (
        "hdl, sbp, fib4, smoke" in found.out and "At most 60 rows of one unit count." in found.err
    )
    refused = dpsql(NAFLD, "-c", BY_SEX + " \\watch 5")
    assert refused.code == 1 and "spend budget" in refused.err and paid(dpsql) == 0
    assert dpsql(NAFLD, "-c", "\\e").err == "\\e needs a terminal\n"


def test_the_tables_are_shown(dpsql: Dpsql) -> None:
    found = dpsql(NAFLD, "-c", "show tables;")
    assert found.code == 0 and all(
        name in found.out for name in ("conditions", "diagnoses", "labs", "patients")
    )


def test_colours_are_for_terminals(dpsql: Dpsql) -> None:
    found = dpsql(NAFLD, "-c", BY_SEX, "-c", "SELEC")
    assert "\x1b" not in found.out + found.err


def test_help_tells_the_terminal(dpsql: Dpsql) -> None:
    assert "dpsql SCHEMA" in dpsql("--help").out
    assert "--ask-above" in dpsql(NAFLD, "--help").out


def test_a_synthetic_table_is_priced_before_it_is_made_and_held_to_what_may_be_spent(
    dpsql: Dpsql,
) -> None:
    made = "CREATE SYNTHETIC TABLE twins AS SELECT male, age FROM patients PRICE 0.5"
    dry = dpsql(NAFLD, "--dry-run", "--format", "csv", "-c", made)
    assert dry.code == 0 and "0.5" in dry.out and "CREATE SYNTHETIC TABLE" in dry.out
    assert dpsql(NAFLD, "--dry-run", "--max-cost", "0.4", "-c", made).code == 4
    assert dpsql(NAFLD, "--max-cost", "0.4", "-c", made).code == 4
    assert "labs" in dpsql(NAFLD, "-c", "SHOW TABLES; SHOW SYNTHETIC TABLES").out
    assert paid(dpsql) == 0
