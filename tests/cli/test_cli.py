"""The command line: what goes to which stream, in which form, with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from command_runs import BY_SEX, NAFLD, Dpsql, Run

from dpsql.schema import json_schema
from dpsql.session import Session, request


def test_settings_are_made_before_the_statement_and_what_they_tell_goes_beside_the_rows(
    dpsql: Dpsql,
) -> None:
    count = "SELECT SUM(bmi) AS s FROM patients"
    found = dpsql(
        "query", NAFLD, count, "--set", "dpsql.clipping=report", "--set", "dpsql.epsilon = 0.25"
    )
    assert (found.code, found.out.splitlines()[0].strip()) == (0, "s")
    assert (
        found.err.startswith("this one took 1/5; 4 of 5 answers like this left\n")
        and "bmi outside of" in found.err
    )
    assert "outside of" not in dpsql("query", NAFLD, count).err
    settings = ("--set", "dpsql.mechanism=laplace", "--set", "dpsql.target_error=± 9000")
    laplace = dpsql("explain", NAFLD, count, "--verbose", *settings)
    assert laplace.code == 0 and "Laplace" in laplace.out
    assert (
        wrong := dpsql("query", NAFLD, count, "--set", "dpsql.clipping")
    ).code == 2 and "NAME=VALUE" in wrong.err
    assert (
        wrong := dpsql("query", NAFLD, count, "--set", "work_mem=1")
    ).code == 1 and "dpsql.mechanism" in wrong.err


def test_a_setting_and_a_statement_are_two(dpsql: Dpsql) -> None:
    for first in ("SET dpsql.epsilon = 0.5", "RESET dpsql.epsilon"):
        found = dpsql("query", NAFLD, f"{first}; SELECT COUNT(*) FROM patients")
        assert (found.code, found.out) == (
            1,
            "",
        ) and "E_MULTI send one statement at a time" in found.err


def test_the_price_can_be_chosen(dpsql: Dpsql) -> None:
    assert dpsql("query", NAFLD, BY_SEX, "--epsilon", "0.025").err.startswith(
        "this one took 1/587; 586 of 587 "
    )
    detailed = dpsql(
        "query", NAFLD, BY_SEX.replace("male", "died"), "--epsilon", "0.03", "--details"
    ).err
    assert "price ε = 0.03, charged ρ = 0.00045, δ = 0; alone (0.1" in detailed
    assert "price: ε = 0.3" in dpsql("explain", NAFLD, BY_SEX, "--epsilon", "0.3").out
    for wrong in ("0", "-1", "abc", "nan", "inf", "1e99", "1e-30"):
        assert dpsql("query", NAFLD, BY_SEX, "--epsilon", wrong).code == 2
    assert (
        "free: no private row was read; 3"
        in dpsql("query", NAFLD, "SELECT name FROM conditions").err
    )


def test_settings_have_no_price(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, "SHOW dpsql.budget", "--format", "csv")
    assert found.out.splitlines()[0] == (
        "answers_left,answers_total,share_left,lifetime_epsilon,lifetime_delta,renewed_on"
    )
    assert found.err == ""
    assert dpsql("query", NAFLD, "BEGIN") == Run(0, "", "")


def test_each_kind_of_failure_has_its_code(dpsql: Dpsql, checkout: Path) -> None:
    refused = dpsql("query", NAFLD, "SELECT AVG(bmy) FROM patients")
    assert (refused.code, refused.out) == (1, "") and "Write instead: SELECT" in refused.err
    assert dpsql("query", NAFLD, "SELEC").code == 1
    assert dpsql("query", "nowhere.toml", "SELECT 1").code == 2
    assert dpsql("nonsense").code == 2
    (checkout / "wrong.toml").write_text("name = 5")
    assert dpsql("query", "wrong.toml", "SELECT 1").code == 2
    (checkout / "wrong.toml").write_text(
        (checkout / NAFLD).read_text().replace("dpsql/data/nafld", "nowhere")
    )
    assert dpsql("query", "wrong.toml", "SELECT 1").code == 2
    assert dpsql("query", NAFLD, BY_SEX, "--epsilon", "2").code == 0
    spent = dpsql("query", NAFLD, BY_SEX.replace("male", "died"), "--epsilon", "3")
    assert (spent.code, spent.out) == (4, "") and "the statement costs ε = 3" in spent.err
    (checkout / "dpsql" / "data" / "nafld" / "dpsql.ledger").write_text("damaged")
    assert dpsql("query", NAFLD, BY_SEX).code == 2


def test_what_was_not_foreseen_has_no_traceback(
    dpsql: Dpsql, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CANARY_7f3a")

    monkeypatch.setattr(request, "parse_request", fail)
    found = dpsql("query", NAFLD, BY_SEX)
    assert (
        found.code == 1
        and found.out == ""
        and "E_INTERNAL" in found.err
        and "CANARY" not in found.err
    )


def test_explain_reads_nothing(dpsql: Dpsql, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("explain answered")

    monkeypatch.setattr(Session, "answer", fail)
    assert "one unit changes it by at most" in dpsql("explain", NAFLD, BY_SEX, "--verbose").out
    brief = dpsql("explain", NAFLD, BY_SEX).out.splitlines()
    assert len(brief) <= 12 and "error of n, with 95 %: ± 3" in "\n".join(brief)
    report = json.loads(dpsql("explain", NAFLD, BY_SEX, "--json").out)
    assert report["price"]["epsilon"] == 0.1 and len(report["cells"]) >= 2
    assert [column["name"] for column in report["columns"]] == ["male", "bmi", "n"]
    assert json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][0]["statements"] == 0


def test_an_answer_without_groups_says_why(dpsql: Dpsql) -> None:
    found = dpsql(
        "query",
        NAFLD,
        "SELECT patient_id % 9000 AS p, COUNT(*) AS n FROM patients WHERE age = 200 GROUP BY p",
    )
    assert found.code == 0 and "groups of fewer than about " in found.err
    for empty in (
        "SELECT diagnosis FROM conditions WHERE FALSE",
        f"{BY_SEX} HAVING COUNT(*) < -9999",
    ):
        assert "no row is shown" not in dpsql("query", NAFLD, empty).err


def test_an_analyst_has_a_name(dpsql: Dpsql) -> None:
    assert (
        dpsql("query", NAFLD, BY_SEX, "--analyst", "").err
        == "dpsql: an analyst has a name; the budget is spent in it\n"
    )


def test_a_database_is_not_taken_for_its_schema(dpsql: Dpsql, checkout: Path) -> None:
    duckdb.connect("shop.duckdb").close()
    assert "a schema file is TOML" in dpsql("query", "shop.duckdb", "SELECT 1").err


def test_schema_commands(dpsql: Dpsql, checkout: Path) -> None:
    drafted = dpsql("schema", "init", "dpsql/data/nafld")
    assert drafted.code == 0 and "[tables.patients]" in drafted.out
    checked = dpsql("schema", "check", NAFLD)
    assert checked.code == 0 and "note: privacy, epsilon: 3 pays for 36 answers" in checked.out
    (checkout / "wrong.toml").write_text("name = 5")
    wrong = dpsql("schema", "check", "wrong.toml")
    assert wrong.code == 2 and wrong.out.startswith("error: ")
    assert json.loads(dpsql("schema", "json-schema").out) == json_schema()
    with duckdb.connect("shop.duckdb") as owner:
        owner.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, age INTEGER)")
    assert 'key = "id"' in dpsql("schema", "init", "shop.duckdb").out


def test_help_and_version(dpsql: Dpsql) -> None:
    assert dpsql("--version").out.startswith("dpsql 0.1")
    assert dpsql("--help").code == 0
    for command in ("demo", "query", "explain", "budget", "schema"):
        assert dpsql(command, "--help").out.startswith(f"Usage: dpsql {command}")


def test_python_runs_the_package_as_the_command() -> None:
    for arguments, code, said in (
        (["--version"], 0, "dpsql "),
        (["bugdet"], 2, "Did you mean budget?"),
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "dpsql", *arguments], capture_output=True, text=True, check=False
        )
        assert ended.returncode == code and said in ended.stdout + ended.stderr
        assert "__main__" not in ended.stdout + ended.stderr
