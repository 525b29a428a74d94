"""The forms in which the command gives rows, and the files it writes them to."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
from command_runs import BY_SEX, NAFLD, Dpsql


def test_a_table_shows_what_noise_leaves(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, BY_SEX, "--intervals")
    lines = found.out.splitlines()
    assert (found.code, lines[0].split(), len(lines)) == (0, ["male", "bmi", "n"], 4)
    assert set(lines[1]) == {"-", " "} and all(" ± " in line for line in lines[2:])
    assert found.err.splitlines() == [
        "this one took 1/36; 35 of 36 answers like this left",
        "clamped: bmi to 10 … 80; SET dpsql.clipping = report counts the values beyond",
    ]
    assert " ± " not in dpsql("query", NAFLD, BY_SEX).out


def test_csv_and_json_give_every_digit(dpsql: Dpsql) -> None:
    rows = list(
        csv.reader(io.StringIO(dpsql("query", NAFLD, BY_SEX, "--format", "csv", "--intervals").out))
    )
    assert rows[0] == ["male", "bmi", "bmi_low", "bmi_high", "n", "n_low", "n_high"]
    assert [len(row) for row in rows] == [7, 7, 7]
    assert all(float(row[2]) <= float(row[1]) <= float(row[3]) for row in rows[1:])
    records = json.loads(dpsql("query", NAFLD, BY_SEX, "--format", "json").out)
    assert [set(record) for record in records] == [{"male", "bmi", "n"}] * 2
    assert {type(value) for record in records for value in record.values()} == {bool, float, int}


def test_parquet_goes_to_a_file(dpsql: Dpsql, checkout: Path) -> None:
    assert dpsql("query", NAFLD, BY_SEX, "--format", "parquet").code == 2
    found = dpsql(
        "query", NAFLD, BY_SEX, "--format", "parquet", "--intervals", "-o", "it's.parquet"
    )
    assert (found.code, found.out) == (0, "")
    with duckdb.connect(":memory:") as plain:
        described = plain.execute("DESCRIBE FROM 'it''s.parquet'").fetchall()
    assert [(name, kind) for name, kind, *_ in described][:3] == [
        ("male", "BOOLEAN"),
        ("bmi", "DOUBLE"),
        ("bmi_low", "DOUBLE"),
    ]


def test_a_file_that_cannot_be_written_costs_nothing(dpsql: Dpsql, checkout: Path) -> None:
    for style, file in (
        ("parquet", "no/such/folder.parquet"),
        ("csv", "no/such/folder.csv"),
        ("csv", "schemas"),
    ):
        found = dpsql("query", NAFLD, BY_SEX, "--format", style, "-o", file)
        assert found.code == 2 and found.out == "" and file in found.err
    assert json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][0]["statements"] == 0


def test_a_file_for_which_nothing_came_is_as_before(dpsql: Dpsql, checkout: Path) -> None:
    (checkout / "wrong.toml").write_text("name = 5")
    (checkout / "kept.csv").write_text("what was there")
    for arguments, code in (
        (("query", NAFLD, "SELECT bmi FROM patients", "--format", "csv", "-o"), 1),
        (("query", "wrong.toml", BY_SEX, "-o"), 2),
        (("audit", "wrong.toml", "--page"), 2),
    ):
        assert dpsql(*arguments, "new").code == code and not (checkout / "new").exists()
        assert dpsql(*arguments, "kept.csv").code == code
        assert (checkout / "kept.csv").read_text() == "what was there"
    assert (
        dpsql(
            "query", NAFLD, "SELECT 1 AS one WHERE FALSE", "--format", "jsonl", "-o", "none.jsonl"
        ).code
        == 0
    )
    assert (checkout / "none.jsonl").read_text() == ""


def test_columns_of_one_name_stay_apart(dpsql: Dpsql) -> None:
    sql = "SELECT name, name, 1.5 AS x, CAST(NULL AS DOUBLE) AS y FROM conditions WHERE diagnosis = 'MI'"
    assert json.loads(dpsql("query", NAFLD, sql, "--format", "json").out) == [
        {"name": "Myocardial infarction", "name_1": "Myocardial infarction", "x": 1.5, "y": None}
    ]


def test_a_terminal_is_not_obeyed_by_text(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, "SELECT chr(27) || '[2J' AS x FROM conditions LIMIT 1")
    assert found.out.splitlines() == ["x", "----", "?[2J"]
