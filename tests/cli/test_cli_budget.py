"""``dpsql budget``: what was spent by whom on what, drawn and in words,
and what a renewed budget promises.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from command_runs import BY_SEX, NAFLD, Dpsql

from dpsql.cli.budget_report import standing_after
from dpsql.dbapi import connect
from dpsql.errors import BudgetExhausted
from dpsql.privacy.ledger.stores.sqlite import LedgerFile
from dpsql.privacy.measure import Cost
from dpsql.schema import load
from dpsql.session import open_accountant
from dpsql.session.pricing.noise_choice import count_cost


def test_what_nobody_paid_for_is_said(dpsql: Dpsql) -> None:
    assert dpsql("budget", NAFLD, "--history").out.endswith("nothing was paid for\n")
    assert dpsql("budget", NAFLD, "--by-statement", "--analyst", "eve").out.endswith(
        "nothing was paid for by eve\n"
    )


def test_the_budget_says_who_and_what(dpsql: Dpsql, checkout: Path) -> None:
    with (checkout / NAFLD).open("a") as schema:
        schema.write("\n[analysts.ada]\nepsilon = 1\n")
    for analyst, text in (("ada", BY_SEX), ("bob", f"{BY_SEX} HAVING COUNT(*) > AVG(age)")):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(text)
    found = dpsql("budget", NAFLD, "--history", "--group", "3").out.splitlines()
    assert found[0] == "nafld: unit patients.patient_id, ε = 3, δ = 0.000001"
    assert [line.split()[0] for line in found[1:4]] == ["all", "ada", "bob"]
    assert found[1].endswith(
        " 35 of 36 answers left; 2 statements"
    )  # Laplace noise of several cells has less ρ
    assert found[2].endswith(" 9 of 10 answers left; 1 statement")
    assert found[3].endswith(" 35 of 36 answers left, no cap of its own; 1 statement")
    assert found[4] == "lifetime         ε = 3, δ = 0.000001; 2 statements"
    assert found[5].startswith("a group of 3: ε = 9")
    takes = "takes 1/36 of the budget, 1/10 of the cap of ada"
    assert found[6] == f"one answer       such as a count of units, {takes}"
    assert [BY_SEX in line and " 1/" in line for line in found[7:]] == [True, True]
    details = dpsql("budget", NAFLD, "--details", "--history").out
    assert (
        "ρ = 0.005, δ = 0" in details
        and "it takes " in details
        and "of ε = 3 (ρ = 0.1836)" in details
    )
    assert not any("ρ" in line for line in found)
    report = json.loads(dpsql("budget", NAFLD, "--json", "--history", "--group", "2").out)
    assert [holder["cap"] for holder in report["holders"]] == [3.0, 1.0, None]
    assert report["group"]["epsilon"] == 6.0 and [
        entry["analyst"] for entry in report["history"]
    ] == ["ada", "bob"]


def test_the_budget_says_what_it_was_spent_on(dpsql: Dpsql, checkout: Path) -> None:
    for analyst, text in (
        ("ada", BY_SEX),
        ("bob", "SELECT COUNT(*) FROM labs"),
        ("bob", "SELECT COUNT(*) FROM patients"),
    ):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(
                "SET dpsql.epsilon = 0.05" if analyst == "ada" else "SET dpsql.epsilon = 0.1"
            )
            connection.execute("SET dpsql.reuse = off")
            connection.execute(text)
    with connect(NAFLD, analyst="ada") as connection:
        connection.execute("SET dpsql.epsilon = 0.2")
        connection.execute("SET dpsql.reuse = off")
        connection.execute(BY_SEX.replace("FROM", " FROM\n"))
    found = dpsql("budget", NAFLD, "--by-statement").out.splitlines()[6:]
    assert [(line.split()[0], BY_SEX in line) for line in found] == [
        ("2", True),
        ("1", False),
        ("1", False),
    ]
    report = json.loads(
        dpsql("budget", NAFLD, "--by-statement", "--history", "--analyst", "bob", "--json").out
    )
    assert [each["analysts"] for each in report["statements"]] == [["bob"], ["bob"]]
    assert [each["analyst"] for each in report["history"]] == ["bob", "bob"]


@pytest.mark.parametrize("accountant", ['"hybrid"', '"basic"', '"zcdp"', '"rdp"'])
def test_the_budget_says_what_one_more_statement_takes_and_how_many_are_admitted(
    dpsql: Dpsql, checkout: Path, accountant: str
) -> None:
    """What is said beforehand is what is gone afterwards, of the cap and of the total,
    until none is admitted.
    """
    schema = checkout / NAFLD
    named = f"accountant = {accountant}\nquery_epsilon"
    schema.write_text(
        schema.read_text().replace("query_epsilon", named) + "\n[analysts.ada]\nepsilon = 0.75\n"
    )
    with connect(NAFLD, analyst="bob") as connection:
        connection.execute("SELECT COUNT(*) FROM patients")

    def ada() -> dict[str, Any]:
        return dict(json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][1])

    before = ada()
    assert before["name"] == "ada" and before["next"]["statements"] > 1
    for asked in range(before["next"]["statements"]):
        expected = ada()
        assert expected["next"]["statements"] == before["next"]["statements"] - asked
        with connect(NAFLD, analyst="ada") as connection:
            connection.execute(f"SELECT COUNT(*) FROM patients WHERE age > {asked + 20}")
        found = ada()
        assert expected["share_left"] - found["share_left"] == pytest.approx(
            expected["next"]["share"]
        )
        if accountant == '"basic"' or accountant == '"rdp"':
            assert expected["rho"] is None
        elif found["rho"]["left"]:
            assert expected["rho"]["left"] - found["rho"]["left"] == pytest.approx(
                expected["next"]["cost"]["rho"]
            )
    assert ada()["next"]["statements"] == 0
    assert " 0 of " in dpsql("budget", NAFLD).out.splitlines()[2]
    with connect(NAFLD, analyst="ada") as connection, pytest.raises(BudgetExhausted):
        connection.execute("SELECT COUNT(*) FROM patients WHERE age > 70")


def test_query_says_how_many_more_such_statements_are_admitted(
    dpsql: Dpsql, checkout: Path
) -> None:
    """As many as the budget says, until none is; a stored answer takes none of them,
    and public data need none.
    """
    with (checkout / NAFLD).open("a") as schema:
        schema.write("\n[analysts.ada]\nepsilon = 1\n")

    def said(text: str) -> str:
        (line,) = dpsql("query", NAFLD, text, "--analyst", "ada").err.splitlines()
        return line.rpartition("; ")[2]

    def admitted() -> int:
        return int(
            json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][1]["next"]["statements"]
        )

    assert admitted() == 10
    for left in range(9, -1, -1):
        text = f"SELECT COUNT(*) FROM patients WHERE age > {left + 20}"
        assert said(text) == f"{left} of 10 answers like this left" and admitted() == left
        assert said(text) == f"{left} of 10 answers left"
    assert said("SELECT COUNT(*) FROM conditions") == "0 of 10 answers left"
    assert dpsql("query", NAFLD, "SELECT COUNT(*) FROM labs", "--analyst", "ada").code == 4


def test_such_statements_are_those_of_the_price_that_was_paid(dpsql: Dpsql) -> None:
    dpsql(
        "query",
        NAFLD,
        "SELECT COUNT(*) FROM patients",
        "--epsilon",
        "0.4",
        "--set",
        "dpsql.mechanism=gaussian",
    )
    said = dpsql("query", NAFLD, "SELECT COUNT(*) FROM labs", "--epsilon", "0.01").err
    with connect(NAFLD) as connection:
        assert connection.explain("SELECT COUNT(*) FROM labs").affordable == 20
        left = connection.remaining.affordable(Cost(None, Fraction(1, 20_000)))
        assert said == f"this one took 1/3,671; {left:,} of 3,671 answers like this left\n"
    said = dpsql(
        "query", NAFLD, "SELECT AVG(bmi) AS b FROM patients", "--target-error", "0.04", "--details"
    ).err
    assert (
        not said.startswith("this one took 1/36") and "price ε = 0.1," not in said
    )  # a pilot, and a better answer


def test_a_cap_without_delta_admits_counts_with_laplace_noise(dpsql: Dpsql, checkout: Path) -> None:
    with (checkout / NAFLD).open("a") as schema:
        schema.write("\n[analysts.ada]\nepsilon = 1\ndelta = 0\n")
    ada = json.loads(dpsql("budget", NAFLD, "--json").out)["holders"][1]
    assert (
        ada["next"]["noise"],
        ada["next"]["statements"],
        ada["next"]["statements_by_laplace"],
    ) == (
        "laplace",
        10,
        None,
    )
    assert " 10 of 10 answers left; 0 statements" in dpsql("budget", NAFLD).out


@pytest.mark.parametrize(
    ("kind", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
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
        assert b"1/36 of" in picture and b"answers used" in picture
    other = dpsql("budget", NAFLD, "--chart", "spent.txt")
    assert other.code == 1 and ".svg, .png, .pdf" in other.err


@pytest.mark.parametrize(
    "accountant",
    [
        '"hybrid"',
        '"basic"',
        '"zcdp"',
        '"rdp"',
        '{ name = "advanced", statements = 30, epsilon = 0.1 }',
    ],
)
def test_a_picture_draws_what_the_accountant_adds_up(
    dpsql: Dpsql, checkout: Path, accountant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step of each stair is what is left for its holder, in answers of the accountant,
    and none is flat.
    """
    from dpsql.output import spending_plot

    schema = checkout / NAFLD
    named = f'accountant = {accountant}\nmechanism = "laplace"\nquery_epsilon'
    schema.write_text(
        schema.read_text().replace("query_epsilon", named) + "\n[analysts.ada]\nepsilon = 2\n"
    )
    for analyst, age in (("ada", 20), ("bob", 21), ("ada", 22)):
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(f"SELECT COUNT(*) FROM patients WHERE age > {age}")
    drawn: list[spending_plot.SpendingCurve] = []
    monkeypatch.setattr(
        spending_plot,
        "draw_spending",
        lambda _, total, each, path, caption: drawn.extend([total, *each]),
    )
    assert dpsql("budget", NAFLD, "--chart", "spent.svg").code == 0
    left = open_accountant(load(NAFLD))
    for stair, holder in zip(drawn, (None, "ada", "bob"), strict=True):
        steps = [used for _, used in stair.used]
        assert steps[0] > 0 and steps == sorted(set(steps))
        if (
            holder != "bob"
        ):  # who has no cap is shown against the total, of which others have used a part
            asked = 3 if holder is None else 2
            assert steps == list(range(1, asked + 1))
            cost = count_cost(load(NAFLD).privacy, "laplace", Fraction(1, 10))
            own = left.remaining(holder).standings[-1].answers_left(cost)
            assert (stair.most, stair.most - steps[-1]) == (own.total, own.left)


def test_a_renewed_budget_says_what_its_whole_life_promises(
    dpsql: Dpsql, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = checkout / NAFLD
    schema.write_text(
        schema.read_text().replace("query_epsilon", 'refresh = "weekly"\nquery_epsilon')
    )
    with schema.open("a") as text:
        text.write("\n[analysts.ada]\nepsilon = 1\n")
    for day, analyst, sql in (
        (10, "ada", BY_SEX),
        (16, "bob", BY_SEX + " HAVING COUNT(*) > AVG(age)"),
    ):
        shown = datetime(2026, 3, day, 12, tzinfo=UTC)
        monkeypatch.setattr(LedgerFile, "now", lambda self, tables, shown=shown: shown)
        with connect(NAFLD, analyst=analyst) as connection:
            connection.execute(sql)
    found = dpsql("budget", NAFLD, "--group", "2", "--chart", "spent.svg").out.splitlines()
    assert found[0].endswith("ε = 3, δ = 0.000001, weekly: 2026-03-16 to 2026-03-22 (UTC)")
    assert ["0 statements" in line for line in found[1:4]] == [
        False,
        True,
        False,
    ] and " 10 of 10 answers left;" in found[2]
    assert found[4].startswith("lifetime         ε = 6, δ = 0.000002 over 2 windows; 2 statements")
    assert found[5].startswith("a group of 2: ε = 6, ") and "in each window, ε = 12, " in found[5]
    assert "weekly; lifetime: ε = 6" in Path("spent.svg").read_text("utf-8")
    entries = list(open_accountant(load(NAFLD)).ledger.history())
    budget = open_accountant(load(NAFLD)).budget
    first, second = (float(entry.cost.rho) for entry in entries)
    after = [
        (at.isoformat()[:10], float(now.spent.rho))
        for at, now in standing_after(entries, budget, "weekly")
    ]
    assert (
        after == [("2026-03-10", first), ("2026-03-16", 0.0), ("2026-03-16", second)]
        and second == 0.005
    )
    assert [float(now.spent.rho) for _, now in standing_after(entries, budget, None)] == [
        first,
        first + second,
    ]
    report = json.loads(dpsql("budget", NAFLD, "--json").out)
    assert report["refresh"] == "weekly" and report["window"] == {
        "start": "2026-03-16",
        "renewed_on": "2026-03-23",
    }
    assert {
        name: report["lifetime"][name] for name in ("windows", "epsilon", "delta", "statements")
    } == {
        "windows": 2,
        "epsilon": 6.0,
        "delta": 2e-6,
        "statements": 2,
    }
    assert [each["statements"] for each in report["holders"]] == [1, 0, 1]
    assert [each["lifetime"]["statements"] for each in report["holders"]] == [2, 1, 1]
    lifetime = "renewed on 2026-03-23 (lifetime: ε = 6, δ = 0.000002 over 2 windows)"
    assert (
        lifetime in dpsql("explain", NAFLD, BY_SEX).out
        and lifetime in dpsql("query", NAFLD, BY_SEX).err
    )
    assert json.loads(dpsql("explain", NAFLD, BY_SEX, "--json").out)["lifetime"]["epsilon"] == 6
    said = dpsql(NAFLD, "-c", "\\budget").err
    assert (
        "this window          2026-03-16 to 2026-03-22" in said
        and "the whole life       ε = 6" in said
    )
