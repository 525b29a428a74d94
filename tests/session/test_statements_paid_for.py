"""How many statements a budget is said to pay for is how many it admits."""

from __future__ import annotations

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
    "laplace": Laplace.priced(l1=1, epsilon=EPSILON).cost,
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
        assert said <= admitted <= said + 2  # the rho of one Laplace cell is a little below the price's


def test_the_owner_is_told_what_the_default_noise_pays_for_and_what_another_would(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    file.write_text(SCHEMA.format("epsilon = 1\ndelta = 1e-6", 1))
    said = [str(each) for each in check(file, paid_for=statements_paid_for)]
    assert said[0].startswith("note: privacy: epsilon pays for at least 4 statements at the default query_epsilon; ")
    assert said[0].endswith('with mechanism = "laplace", whose noise is wider, for 10')
    file.write_text(SCHEMA.format("epsilon = 3\ndelta = 1e-6", 1))
    assert str(check(file, paid_for=statements_paid_for)[0]).endswith(
        "at least 36 statements at the default query_epsilon"
    )


def test_laplace_noise_pays_for_more_in_tpch() -> None:
    assert statements_paid_for(load("schemas/tpch.toml")) == {"gaussian": 12, "laplace": 20}


@pytest.mark.parametrize(("epsilon", "price"), [(1, "0.05"), (3, "0.13"), (10, "0.31")])
def test_laplace_noise_pays_for_more_from_the_price_on_that_the_docs_name(epsilon: int, price: str) -> None:
    def paid(at: Fraction) -> Mapping[str, int]:
        text = SCHEMA.format(f"epsilon = {epsilon}\ndelta = 1e-6", 1)
        return statements_paid_for(loads(text.replace("query_epsilon = 0.1", f"query_epsilon = {float(at)}")))

    above, below = paid(Fraction(price)), paid(Fraction(price) * 9 / 10)
    assert above["laplace"] > above["gaussian"] and below["laplace"] <= below["gaussian"]


def test_statements_that_are_fixed_and_do_not_fit_are_an_error_of_the_check(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    named = 'epsilon = 2\ndelta = 1e-6\naccountant = { name = "advanced", statements = 30, epsilon = 0.1 }'
    file.write_text(SCHEMA.format(named, 1))
    with pytest.raises(SchemaError, match="it holds 20"):
        statements_paid_for(_schema(named))
    (finding,) = check(file, paid_for=statements_paid_for)
    assert finding.level == "error" and "it holds 20" in finding.message


def test_a_limit_above_the_one_row_that_a_key_allows_is_told(tmp_path: Path) -> None:
    file = tmp_path / "clinic.toml"
    for limit, told in ((1, False), (10, True)):
        file.write_text(SCHEMA.format("epsilon = 1\ndelta = 0", limit))
        found = [str(each) for each in check(file)]
        assert any(each.startswith("loose: table patients, max_rows_per_unit: is 10,") for each in found) is told
