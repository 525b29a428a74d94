"""How many statements a budget is said to pay for is how many it admits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import BudgetExhausted, SchemaError
from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.schema import Schema, check, load, loads
from dpsql.session import open_accountant, statements_paid_for
from dpsql.session.pricing.budget_findings import budget_findings

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "patients.id"
query_epsilon = 0.1
{}
[tables.patients]
key = "id"
max_rows_per_unit = {}
[tables.patients.columns]
id = {{ type = "integer" }}
"""
EPSILON = Fraction(1, 10)
NOISES = {
    "laplace": Laplace.for_epsilon(l1=1, epsilon=EPSILON).cost,
    "gaussian": Gaussian.for_rho(1, EPSILON**2 / 2).cost,
}


@dataclass(frozen=True)
class Priced:
    cost: Cost


def _schema(privacy: str, limit: int = 1) -> Schema:
    return loads(SCHEMA.format(privacy, limit))


def _admitted(schema: Schema, cost: Cost, ledger: Path) -> int:
    accountant, found = open_accountant(schema, ledger), 0
    while True:
        try:
            accountant.spend(Priced(cost), analyst="ada", statement="")
        except BudgetExhausted:
            return found
        found += 1


@pytest.mark.parametrize(
    ("privacy", "expected"),
    [
        ("epsilon = 1\ndelta = 1e-6", {"laplace": 10, "gaussian": 4}),
        ("epsilon = 3\ndelta = 1e-6", {"laplace": 36, "gaussian": 36}),
        ("epsilon = 1\ndelta = 0", {"laplace": 10}),
        ('epsilon = 1\ndelta = 1e-6\nmechanism = "gaussian"', {"gaussian": 4}),
        ('epsilon = 1\ndelta = 1e-6\nmechanism = "laplace"', {"laplace": 10}),
        ('epsilon = 2\ndelta = 1e-6\naccountant = "basic"', {"laplace": 20}),
        ('epsilon = 2\ndelta = 1e-6\naccountant = "zcdp"', {"laplace": 17, "gaussian": 17}),
        (
            'epsilon = 2\ndelta = 1e-6\naccountant = { name = "advanced", statements = 8, epsilon = 0.1 }',
            {"laplace": 8},
        ),
    ],
)
def test_what_is_said_is_admitted(privacy: str, expected: dict[str, int], tmp_path: Path) -> None:
    schema = _schema(privacy)
    assert statements_paid_for(schema) == expected
    for noise, said in expected.items():
        admitted = _admitted(schema, NOISES[noise], tmp_path / f"{noise}.ledger")
        assert (
            said <= admitted <= said + 2
        )  # the rho of one Laplace cell is a little below the price's


def _told(file: Path, privacy: str, caps: str = "") -> list[str]:
    file.write_text(
        SCHEMA.format(privacy, 1).replace("[tables.patients]\n", f"{caps}\n[tables.patients]\n", 1)
    )
    return [
        str(each)
        for each in check(file, paid_for=budget_findings)
        if "query_epsilon = " in each.message
    ]


def test_the_owner_is_told_how_many_answers_are_paid_for(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    assert _told(file, "epsilon = 3\ndelta = 1e-6") == [
        "note: privacy, epsilon: 3 pays for 36 answers at query_epsilon = 0.1, with Gaussian noise"
    ]
    assert _told(file, "epsilon = 1\ndelta = 1e-6") == [
        "note: privacy, epsilon: 1 pays for 10 answers at query_epsilon = 0.1, with Laplace noise"
    ]


def test_a_budget_or_a_cap_that_pays_for_nothing_is_an_error_and_few_answers_a_warning_with_what_would_help(
    tmp_path: Path,
) -> None:
    file, three = tmp_path / "clinic.toml", "epsilon = 3\ndelta = 1e-6"
    (nothing,) = _told(file, 'epsilon = 0.4\ndelta = 1e-6\nmechanism = "gaussian"')
    assert nothing.startswith(
        "error: privacy, epsilon: 0.4 pays for no answer at query_epsilon = 0.1; query_epsilon"
    )
    _, cap = _told(file, three, "[analysts.ada]\nepsilon = 0.05")
    assert cap == (
        "error: analysts, ada, epsilon: 0.05 pays for no answer at query_epsilon = 0.1; "
        "query_epsilon = 0.005 or epsilon = 1 pays for 10"
    )
    _, cap = _told(file, three, "[analysts.ada]\nepsilon = 0.5")
    assert cap == (
        "loose: analysts, ada, epsilon: 0.5 pays for 5 answers at query_epsilon = 0.1, with Laplace noise; "
        "query_epsilon = 0.05 or epsilon = 1 pays for 10"
    )
    (few,) = _told(file, "epsilon = 0.9\ndelta = 0")
    assert few.endswith("query_epsilon = 0.09 or epsilon = 1 pays for 10")


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_who_says_how_many_answers_is_told_how_many_help(delta: str, tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    text = SCHEMA.format(f"epsilon = 3\ndelta = {delta}", 1)
    text = text.replace(
        "[tables.patients]\n", "[analysts.ada]\nepsilon = 0.5\n[tables.patients]\n", 1
    )

    def told(answers: int) -> list[str]:
        file.write_text(text.replace("query_epsilon = 0.1", f"answers = {answers}"))
        return [
            str(each)
            for each in check(file, paid_for=budget_findings)
            if "query_epsilon = " in each.message
        ]

    few, _ = told(4)
    assert few.startswith("loose: privacy, epsilon: 3 pays for 4 answers") and few.endswith(
        "; answers = 10 pays for 10"
    )
    _, cap = told(20)
    found = re.search(r"; answers = (\d+) or epsilon = [0-9.]+ pays for 10$", cap)
    assert found is not None and cap.startswith("loose: analysts, ada, epsilon: 0.5 pays for ")
    assert " pays for 1" in told(int(found[1]))[1] and " pays for 9 " in told(int(found[1]) - 2)[1]


@pytest.mark.parametrize("accountant", ["hybrid", "basic", "zcdp", "rdp"])
@pytest.mark.parametrize("epsilon", ["0.4", "1.3"])
def test_the_figure_that_would_help_helps(accountant: str, epsilon: str, tmp_path: Path) -> None:
    """What is advised pays for ten answers, and a little less does not."""
    file, rule = tmp_path / "clinic.toml", f'delta = 1e-6\naccountant = "{accountant}"'
    said = _told(file, f"epsilon = 2\n{rule}", f"[analysts.ada]\nepsilon = {epsilon}")[-1]
    if "10 answers" in said or said.startswith("note"):
        return
    price, cap = (
        Fraction(found) for found in re.findall(r"epsilon = ([0-9.]+)(?= or| pays for 10)", said)
    )
    for larger, fewer in ((price, False), (price * Fraction(103, 100), True)):
        text = SCHEMA.replace("query_epsilon = 0.1", f"query_epsilon = {float(larger)}")
        schema = loads(text.format(f"epsilon = {epsilon}\n{rule}", 1))
        assert (max(statements_paid_for(schema).values()) < 10) is fewer
    for larger, fewer in ((cap, False), (cap * Fraction(97, 100), True)):
        schema = _schema(f"epsilon = {float(larger)}\n{rule}")
        assert (max(statements_paid_for(schema).values()) < 10) is fewer


def test_laplace_noise_pays_for_more_in_tpch() -> None:
    declared = load("schemas/tpch.toml")
    free = declared.model_copy(
        update={"privacy": declared.privacy.model_copy(update={"mechanism": "auto"})}
    )
    assert statements_paid_for(declared) == {"gaussian": 12}
    assert statements_paid_for(free) == {"gaussian": 12, "laplace": 20}


@pytest.mark.parametrize(("epsilon", "price"), [(1, "0.05"), (3, "0.13"), (10, "0.31")])
def test_laplace_noise_pays_for_more_from_the_price_on_that_the_docs_name(
    epsilon: int, price: str
) -> None:
    def paid(at: Fraction) -> Mapping[str, int]:
        text = SCHEMA.format(f"epsilon = {epsilon}\ndelta = 1e-6", 1)
        return statements_paid_for(
            loads(text.replace("query_epsilon = 0.1", f"query_epsilon = {float(at)}"))
        )

    above, below = paid(Fraction(price)), paid(Fraction(price) * 9 / 10)
    assert above["laplace"] > above["gaussian"] and below["laplace"] <= below["gaussian"]


def test_statements_that_are_fixed_and_do_not_fit_are_an_error_of_the_check(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    named = 'epsilon = 2\ndelta = 1e-6\naccountant = { name = "advanced", statements = 30, epsilon = 0.1 }'
    file.write_text(SCHEMA.format(named, 1))
    with pytest.raises(SchemaError, match="it holds 20"):
        statements_paid_for(_schema(named))
    (finding,) = check(file, paid_for=budget_findings)
    assert finding.level == "error" and "it holds 20" in finding.message


def test_a_limit_above_the_one_row_that_a_key_allows_is_told(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    for limit, told in ((1, False), (10, True)):
        file.write_text(SCHEMA.format("epsilon = 1\ndelta = 0", limit))
        found = [str(each) for each in check(file)]
        assert (
            any(
                each.startswith("loose: table patients, max_rows_per_unit: is 10,")
                for each in found
            )
            is told
        )
