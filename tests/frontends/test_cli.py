"""The command line: what goes to which stream, in which form, with which exit code."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from dpsql import cli, statement
from dpsql.cli.spending import standing_after
from dpsql.dbapi import connect
from dpsql.privacy.ledger.file import LedgerFile
from dpsql.schema import json_schema, load
from dpsql.session import Session, open_accountant

BY_SEX = "SELECT male, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients GROUP BY male"
NAFLD = "schemas/nafld.toml"


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


Dpsql = Callable[..., Run]


@pytest.fixture
def dpsql(checkout: Path, capsys: pytest.CaptureFixture[str]) -> Dpsql:
    """The command as a terminal runs it, in a checkout of its own."""

    def run(*arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            cli.commands(list(arguments), prog_name="dpsql")
        streams = capsys.readouterr()
        assert "Traceback" not in streams.out + streams.err
        return Run(int(ended.value.code or 0), streams.out, streams.err)

    return run


def test_settings_are_made_before_the_statement_and_what_they_tell_goes_beside_the_rows(dpsql: Dpsql) -> None:
    count = "SELECT SUM(bmi) AS s FROM patients"
    found = dpsql("query", NAFLD, count, "--set", "dpsql.clipping=report", "--set", "dpsql.epsilon = 0.25")
    assert (found.code, found.out.splitlines()[0].strip()) == (0, "s")
    assert found.err.startswith("price ε = 0.25 ") and "bmi outside of" in found.err
    assert "outside of" not in dpsql("query", NAFLD, count).err
    laplace = dpsql("explain", NAFLD, count, "--set", "dpsql.mechanism=laplace", "--set", "dpsql.target_error=± 9000")
    assert laplace.code == 0 and "Laplace" in laplace.out
    assert (wrong := dpsql("query", NAFLD, count, "--set", "dpsql.clipping")).code == 2 and "NAME=VALUE" in wrong.err
    assert (wrong := dpsql("query", NAFLD, count, "--set", "work_mem=1")).code == 1 and "dpsql.mechanism" in wrong.err


def test_a_setting_and_a_statement_are_two(dpsql: Dpsql) -> None:
    for first in ("SET dpsql.epsilon = 0.5", "RESET dpsql.epsilon"):
        found = dpsql("query", NAFLD, f"{first}; SELECT COUNT(*) FROM patients")
        assert (found.code, found.out) == (1, "") and "E_MULTI send one statement at a time" in found.err


def test_a_table_shows_what_noise_leaves(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, BY_SEX, "--intervals")
    lines = found.out.splitlines()
    assert (found.code, lines[0].split(), len(lines)) == (0, ["male", "bmi", "n"], 4)
    assert set(lines[1]) == {"-", " "} and all(" ± " in line for line in lines[2:])
    assert found.err.startswith("price ε = 0.1   left ε = 2.9")
    assert " ± " not in dpsql("query", NAFLD, BY_SEX).out


def test_csv_and_json_give_every_digit(dpsql: Dpsql) -> None:
    rows = list(csv.reader(io.StringIO(dpsql("query", NAFLD, BY_SEX, "--format", "csv", "--intervals").out)))
    assert rows[0] == ["male", "bmi", "bmi_low", "bmi_high", "n", "n_low", "n_high"]
    assert [len(row) for row in rows] == [7, 7, 7]
    assert all(float(row[2]) <= float(row[1]) <= float(row[3]) for row in rows[1:])
    records = json.loads(dpsql("query", NAFLD, BY_SEX, "--format", "json").out)
    assert [set(record) for record in records] == [{"male", "bmi", "n"}] * 2
    assert {type(value) for record in records for value in record.values()} == {bool, float, int}


def test_parquet_goes_to_a_file(dpsql: Dpsql, checkout: Path) -> None:
    assert dpsql("query", NAFLD, BY_SEX, "--format", "parquet").code == 2
    found = dpsql("query", NAFLD, BY_SEX, "--format", "parquet", "--intervals", "-o", "it's.parquet")
    assert (found.code, found.out) == (0, "")
    with duckdb.connect(":memory:") as plain:
        described = plain.execute("DESCRIBE FROM 'it''s.parquet'").fetchall()
    assert [(name, kind) for name, kind, *_ in described][:3] == [
        ("male", "BOOLEAN"),
        ("bmi", "DOUBLE"),
        ("bmi_low", "DOUBLE"),
    ]


def test_a_file_that_cannot_be_written_costs_nothing(dpsql: Dpsql, checkout: Path) -> None:
    for style, file in (("parquet", "no/such/folder.parquet"), ("csv", "no/such/folder.csv"), ("csv", "schemas")):
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
    assert dpsql("query", NAFLD, "SELECT 1 AS one WHERE FALSE", "--format", "jsonl", "-o", "none.jsonl").code == 0
    assert (checkout / "none.jsonl").read_text() == ""


def test_columns_of_one_name_stay_apart(dpsql: Dpsql) -> None:
    sql = "SELECT name, name, 1.5 AS x, CAST(NULL AS DOUBLE) AS y FROM conditions WHERE diagnosis = 'MI'"
    assert json.loads(dpsql("query", NAFLD, sql, "--format", "json").out) == [
        {"name": "Myocardial infarction", "name_1": "Myocardial infarction", "x": 1.5, "y": None}
    ]


def test_the_price_can_be_chosen(dpsql: Dpsql) -> None:
    assert "price ε = 0.025" in dpsql("query", NAFLD, BY_SEX, "--epsilon", "0.025").err
    assert "price: ε = 0.3" in dpsql("explain", NAFLD, BY_SEX, "--epsilon", "0.3").out
    for wrong in ("0", "-1", "abc", "nan", "inf", "1e99", "1e-30"):
        assert dpsql("query", NAFLD, BY_SEX, "--epsilon", wrong).code == 2
    assert "no price: public data" in dpsql("query", NAFLD, "SELECT name FROM conditions").err


def test_settings_have_no_price(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, "SHOW dpsql.budget", "--format", "csv")
    assert found.out.splitlines()[0] == (
        "epsilon_left,epsilon_total,delta_left,share_left,lifetime_epsilon,lifetime_delta,renewed_on"
    )
    assert found.err == ""
    assert dpsql("query", NAFLD, "BEGIN") == Run(0, "", "")


def test_each_kind_of_failure_has_its_code(dpsql: Dpsql, checkout: Path) -> None:
    refused = dpsql("query", NAFLD, "SELECT bmi FROM patients")
    assert (refused.code, refused.out) == (1, "") and "Write instead: SELECT" in refused.err
    assert dpsql("query", NAFLD, "SELEC").code == 1
    assert dpsql("query", "nowhere.toml", "SELECT 1").code == 2
    assert dpsql("nonsense").code == 2
    (checkout / "wrong.toml").write_text("name = 5")
    assert dpsql("query", "wrong.toml", "SELECT 1").code == 2
    (checkout / "wrong.toml").write_text((checkout / NAFLD).read_text().replace("dpsql/data/nafld", "nowhere"))
    assert dpsql("query", "wrong.toml", "SELECT 1").code == 2
    spent = dpsql("query", NAFLD, BY_SEX, "--epsilon", "3")
    assert (spent.code, spent.out) == (4, "") and "the statement costs ε = 3" in spent.err
    (checkout / "dpsql" / "data" / "nafld" / "dpsql.ledger").write_text("damaged")
    assert dpsql("query", NAFLD, BY_SEX).code == 2


def test_what_was_not_foreseen_has_no_traceback(dpsql: Dpsql, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("CANARY_7f3a")

    monkeypatch.setattr(statement, "read", fail)
    found = dpsql("query", NAFLD, BY_SEX)
    assert found.code == 1 and found.out == "" and "E_INTERNAL" in found.err and "CANARY" not in found.err


def test_a_terminal_is_not_obeyed_by_text(dpsql: Dpsql) -> None:
    found = dpsql("query", NAFLD, "SELECT chr(27) || '[2J' AS x FROM conditions LIMIT 1")
    assert found.out.splitlines() == ["x", "----", "?[2J"]


def test_explain_reads_nothing(dpsql: Dpsql, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("explain answered")

    monkeypatch.setattr(Session, "answer", fail)
    assert "one unit changes it by at most" in dpsql("explain", NAFLD, BY_SEX).out
    report = json.loads(dpsql("explain", NAFLD, BY_SEX, "--json").out)
    assert report["price"]["epsilon"] == 0.1 and len(report["cells"]) >= 2
    assert [column["name"] for column in report["columns"]] == ["male", "bmi", "n"]
    assert json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][0]["statements"] == 0


def test_an_answer_without_groups_says_why(dpsql: Dpsql) -> None:
    found = dpsql(
        "query", NAFLD, "SELECT patient_id % 9000 AS p, COUNT(*) AS n FROM patients WHERE age = 200 GROUP BY p"
    )
    assert found.code == 0 and "groups of fewer than about " in found.err
    for empty in ("SELECT diagnosis FROM conditions WHERE FALSE", f"{BY_SEX} HAVING COUNT(*) < -9999"):
        assert "no row is shown" not in dpsql("query", NAFLD, empty).err


def test_what_nobody_paid_for_is_said(dpsql: Dpsql) -> None:
    assert dpsql("budget", NAFLD, "--history").out.endswith("nothing was paid for\n")
    assert dpsql("budget", NAFLD, "--by-statement", "--analyst", "eve").out.endswith("nothing was paid for by eve\n")


def test_an_analyst_has_a_name(dpsql: Dpsql) -> None:
    assert (
        dpsql("query", NAFLD, BY_SEX, "--analyst", "").err
        == "dpsql: an analyst has a name; the budget is spent in it\n"
    )


def test_a_database_is_not_taken_for_its_schema(dpsql: Dpsql, checkout: Path) -> None:
    duckdb.connect("shop.duckdb").close()
    assert "a schema file is TOML" in dpsql("query", "shop.duckdb", "SELECT 1").err


def test_the_budget_says_who_and_what(dpsql: Dpsql, checkout: Path) -> None:
    with (checkout / NAFLD).open("a") as schema:
        schema.write("\n[analysts.ada]\nepsilon = 1\n")
    for analyst, text in (("ada", BY_SEX), ("bob", f"{BY_SEX} HAVING COUNT(*) > AVG(age)")):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(text)
    found = dpsql("budget", NAFLD, "--history", "--group", "3").out.splitlines()
    assert found[0] == "nafld: unit patients.patient_id, ε = 3, δ = 0.000001"
    assert [line.split()[0] for line in found[1:4]] == ["all", "ada", "bob"]
    assert "2 statements" in found[1] and "of 1;" in found[2] and "no cap" in found[3]
    assert found[4].startswith("lifetime         ε = 3, δ = 0.000001; 2 statements, ρ = 0.01")
    assert found[5].startswith("a group of 3: ε = 9")
    assert [BY_SEX in line for line in found[6:]] == [True, True]
    report = json.loads(dpsql("budget", NAFLD, "--json", "--history", "--group", "2").out)
    assert [holder["cap"] for holder in report["holders"]] == [3.0, 1.0, None]
    assert report["group"]["epsilon"] == 6.0 and [entry["analyst"] for entry in report["history"]] == ["ada", "bob"]


def test_the_budget_says_what_it_was_spent_on(dpsql: Dpsql, checkout: Path) -> None:
    for analyst, text in (
        ("ada", BY_SEX),
        ("bob", "SELECT COUNT(*) FROM labs"),
        ("bob", "SELECT COUNT(*) FROM patients"),
    ):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute("SET dpsql.epsilon = 0.05" if analyst == "ada" else "SET dpsql.epsilon = 0.1")
            connection.execute(text)
    with connect(NAFLD, analyst="ada") as connection:
        connection.execute("SET dpsql.epsilon = 0.2")
        connection.execute(BY_SEX.replace("FROM", " FROM\n"))
    found = dpsql("budget", NAFLD, "--by-statement").out.splitlines()[5:]
    assert [(line.split()[0], BY_SEX in line) for line in found] == [("2", True), ("1", False), ("1", False)]
    report = json.loads(dpsql("budget", NAFLD, "--by-statement", "--history", "--analyst", "bob", "--json").out)
    assert [each["analysts"] for each in report["statements"]] == [["bob"], ["bob"]]
    assert [each["analyst"] for each in report["history"]] == ["bob", "bob"]


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_spending_is_drawn(dpsql: Dpsql, checkout: Path, kind: str, begins: bytes) -> None:
    with (checkout / NAFLD).open("a") as schema:
        schema.write("\n[analysts.ada]\nepsilon = 1\n")
    nothing = dpsql("budget", NAFLD, "--chart", f"spent.{kind}")
    assert nothing.code == 1 and "nothing was spent yet" in nothing.err
    for analyst, text in (("ada", BY_SEX), ("bob$x$", "SELECT COUNT(*) FROM labs")):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(text)
    drawn = dpsql("budget", NAFLD, "--chart", f"spent.{kind}")
    assert drawn.code == 0 and f"drawn in spent.{kind}" in drawn.out
    picture = Path(f"spent.{kind}").read_bytes()
    assert picture.startswith(begins)
    if kind == "svg":
        assert all(f"<!-- {word} -->".encode() in picture for word in ("ada", "all"))
    other = dpsql("budget", NAFLD, "--chart", "spent.txt")
    assert other.code == 1 and ".svg, .png, .pdf" in other.err


@pytest.mark.parametrize(
    "accountant", ['"hybrid"', '"basic"', '"zcdp"', '"rdp"', '{ name = "advanced", statements = 30, epsilon = 0.1 }']
)
def test_a_picture_draws_what_the_accountant_adds_up(
    dpsql: Dpsql, checkout: Path, accountant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step of each stair is what is left for its holder, and none is flat."""
    from dpsql.output import spending

    schema = checkout / NAFLD
    named = f'accountant = {accountant}\nmechanism = "laplace"\nquery_epsilon'
    schema.write_text(schema.read_text().replace("query_epsilon", named) + "\n[analysts.ada]\nepsilon = 2\n")
    for analyst, age in (("ada", 20), ("bob", 21), ("ada", 22)):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
    drawn: list[spending.Spending] = []
    monkeypatch.setattr(spending, "draw_spending", lambda _, total, each, path: drawn.extend([total, *each]))
    assert dpsql("budget", NAFLD, "--chart", "spent.svg").code == 0
    left = open_accountant(load(NAFLD))
    for stair, holder in zip(drawn, (None, "ada", "bob"), strict=True):
        steps = [used for _, used in stair.used]
        assert steps[0] > 0 and steps == sorted(set(steps))
        if holder != "bob":  # who has no cap is shown against the total, of which others have used a part
            standing = left.remaining(holder).standings[-1]
            assert steps[-1] == float(standing.budget.epsilon - standing.epsilon)


def test_a_renewed_budget_says_what_its_whole_life_promises(
    dpsql: Dpsql, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = checkout / NAFLD
    schema.write_text(schema.read_text().replace("query_epsilon", 'refresh = "weekly"\nquery_epsilon'))
    with schema.open("a") as text:
        text.write("\n[analysts.ada]\nepsilon = 1\n")
    for day, analyst, sql in ((10, "ada", BY_SEX), (16, "bob", BY_SEX + " HAVING COUNT(*) > AVG(age)")):
        shown = datetime(2026, 3, day, 12, tzinfo=UTC)
        monkeypatch.setattr(LedgerFile, "now", lambda self, tables, shown=shown: shown)
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(sql)
    found = dpsql("budget", NAFLD, "--group", "2", "--chart", "spent.svg").out.splitlines()
    assert found[0].endswith("ε = 3, δ = 0.000001, weekly: 2026-03-16 to 2026-03-22 (UTC)")
    assert ["0 statements" in line for line in found[1:4]] == [False, True, False] and "ε = 1 left, of 1;" in found[2]
    assert found[4].startswith("lifetime         ε = 6, δ = 0.000002 over 2 windows; 2 statements, ρ = 0.01")
    assert found[5].startswith("a group of 2: ε = 6, ") and "in each window, ε = 12, " in found[5]
    assert "weekly; lifetime: ε = 6" in Path("spent.svg").read_text("utf-8")
    entries = list(open_accountant(load(NAFLD)).ledger.history())
    budget = open_accountant(load(NAFLD)).budget
    after = [(at.isoformat()[:10], float(now.spent.rho)) for at, now in standing_after(entries, budget, "weekly")]
    assert after == [("2026-03-10", 0.005), ("2026-03-16", 0.0), ("2026-03-16", 0.005)]
    assert [float(now.spent.rho) for _, now in standing_after(entries, budget, None)] == [0.005, 0.01]
    report = json.loads(dpsql("budget", NAFLD, "--json").out)
    assert report["refresh"] == "weekly" and report["window"] == {"start": "2026-03-16", "renewed_on": "2026-03-23"}
    assert {name: report["lifetime"][name] for name in ("windows", "epsilon", "delta", "statements")} == {
        "windows": 2, "epsilon": 6.0, "delta": 2e-6, "statements": 2,
    }  # fmt: skip
    assert [each["statements"] for each in report["holders"]] == [1, 0, 1]
    assert [each["lifetime"]["statements"] for each in report["holders"]] == [2, 1, 1]
    lifetime = "renewed on 2026-03-23 (lifetime: ε = 6, δ = 0.000002 over 2 windows)"
    assert lifetime in dpsql("explain", NAFLD, BY_SEX).out and lifetime in dpsql("query", NAFLD, BY_SEX).err
    assert json.loads(dpsql("explain", NAFLD, BY_SEX, "--json").out)["lifetime"]["epsilon"] == 6
    said = dpsql(NAFLD, "-c", "\\budget").err
    assert "this window          2026-03-16 to 2026-03-22" in said and "the whole life       ε = 6" in said


def test_schema_commands(dpsql: Dpsql, checkout: Path) -> None:
    drafted = dpsql("schema", "init", "dpsql/data/nafld")
    assert drafted.code == 0 and "[tables.patients]" in drafted.out
    checked = dpsql("schema", "check", NAFLD)
    assert checked.code == 0 and "note: privacy: epsilon pays for" in checked.out
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
    for arguments, code, said in ((["--version"], 0, "dpsql "), (["bugdet"], 2, "Did you mean budget?")):
        ended = subprocess.run([sys.executable, "-m", "dpsql", *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == code and said in ended.stdout + ended.stderr
        assert "__main__" not in ended.stdout + ended.stderr
