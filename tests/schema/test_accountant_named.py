"""An accountant that is named is one that holds,
or the schema is refused with the reason and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.errors import BudgetExhausted, SchemaError
from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.schema import loads
from dpsql.session import open_accountant

SCHEMA = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 3
delta = 1e-6
query_epsilon = 0.1
{}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
city = {{ type = "text" }}
member = {{ type = "boolean" }}
"""


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., dpsql.Connection]:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as data:
        data.execute(
            "CREATE TABLE people AS SELECT i AS id, 'a' AS city, i % 2 = 0 AS member FROM range(9000) t(i)"
        )

    def connect(lines: str) -> dpsql.Connection:
        (tmp_path / "shop.toml").write_text(SCHEMA.format(lines), "utf-8")
        return dpsql.connect(tmp_path / "shop.toml")

    return connect


ADVANCED = '{{ name = "advanced", statements = {}, epsilon = {} }}'


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('accountant = "pld"', "connection.workload"),
        ('accountant = "parallel"', "connection.workload"),
        ('accountant = "advanced"', "accountant = { name"),
        ('accountant = "moments"', 'called "rdp" here'),
        ('accountant = "Hybrid"', "known are"),
        ("accountant = 3", "known are"),
        ("accountant = true", "known are"),
        ('accountant = { name = "rdp", order = 12 }', "has no parameters"),
        ('accountant = { name = "other" }', "known are"),
        ('accountant = { name = "advanced" }', "missing: statements, epsilon"),
        ('accountant = { name = "advanced", statements = 10 }', "missing: epsilon"),
        ("accountant = " + ADVANCED.format(0, 0.1), "greater than or equal to 1"),
        ("accountant = " + ADVANCED.format(2.5, 0.1), "valid integer"),
        ("accountant = " + ADVANCED.format(10, 0), "greater than 0"),
        ("accountant = " + ADVANCED.format(10, 0.2), "set query_epsilon = 0.2"),
        ("query_delta = 1e-9\naccountant = " + ADVANCED.format(10, 0.1), "leave query_delta out"),
        ('mechanism = "gaussian"\naccountant = "basic"', 'mechanism = "laplace"'),
        (
            'mechanism = "gaussian"\naccountant = ' + ADVANCED.format(10, 0.1),
            'mechanism = "laplace"',
        ),
    ],
)
def test_an_accountant_that_does_not_hold_is_refused(lines: str, said: str) -> None:
    with pytest.raises(SchemaError) as refused:
        loads(SCHEMA.format(lines))
    assert said in str(refused.value)


@pytest.mark.parametrize("accountant", ['"zcdp"', '"rdp"', ADVANCED.format(10, 0.1)])
def test_what_converts_needs_a_delta(accountant: str) -> None:
    with pytest.raises(SchemaError, match="needs delta > 0"):
        loads(SCHEMA.format(f"accountant = {accountant}").replace("delta = 1e-6", "delta = 0"))
    with pytest.raises(SchemaError, match=r"analyst ada: .* needs a delta above 0"):
        loads(SCHEMA.format(f"accountant = {accountant}") + "[analysts.ada]\ndelta = 0\n")


def test_more_statements_than_fit_are_refused_before_the_first(
    opened: Callable[..., dpsql.Connection],
) -> None:
    with pytest.raises(
        SchemaError, match=r"31 statements of ε = 0\.1 pass the budget .*; it holds 30"
    ):
        opened("accountant = " + ADVANCED.format(31, 0.1))


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("", Hybrid()),
        ('accountant = "hybrid"', Hybrid()),
        ('accountant = "basic"', Basic()),
        ('accountant = "zcdp"', Concentrated()),
        ('accountant = "rdp"', Renyi()),
        ("accountant = " + ADVANCED.format(20, 0.1), AdvancedComposition(20, Fraction(1, 10))),
    ],
)
def test_the_accountant_that_is_named_is_the_one_that_counts(
    opened: Callable[..., dpsql.Connection], tmp_path: Path, lines: str, rule: CompositionRule
) -> None:
    with opened(lines) as connection:
        total = open_accountant(connection.schema, tmp_path / "l").budget
        assert total.rule == rule == connection.remaining.budget.rule
        noise = connection.explain("SELECT COUNT(*) FROM people").cells[0].noise
        assert ("Laplace" in noise) == isinstance(rule, Basic | AdvancedComposition)
        if isinstance(rule, Basic | AdvancedComposition):
            with pytest.raises(dpsql.Error, match="pure epsilon, which Gaussian noise has not"):
                connection.execute("SET dpsql.mechanism = gaussian")
        before = connection.explain("SELECT COUNT(*) FROM people").affordable
        connection.execute("SELECT COUNT(*) FROM people")
        assert before is not None
        assert (
            connection.explain("SELECT COUNT(*) FROM people WHERE member").affordable == before - 1
        )
        assert connection.remaining.share < 1


def test_under_advanced_composition_other_prices_and_thresholds_are_refused(
    opened: Callable[..., dpsql.Connection],
) -> None:
    with opened("accountant = " + ADVANCED.format(2, 0.1)) as connection:
        connection.epsilon = Fraction(1, 20)
        with pytest.raises(BudgetExhausted, match=r"costs exactly ε = 0\.1"):
            connection.execute("SELECT COUNT(*) FROM people")
        connection.epsilon = None
        with pytest.raises(dpsql.Error, match="advanced composition leaves none"):
            connection.execute("SELECT city, COUNT(*) FROM people GROUP BY city")
        connection.execute("SELECT COUNT(*) FROM people")
        connection.execute("SELECT COUNT(*) FROM people WHERE member")
        connection.execute("SET dpsql.reuse = off")  # the rest is all less the part
        with pytest.raises(BudgetExhausted, match="all of the 2 statements"):
            connection.execute("SELECT COUNT(*) FROM people WHERE NOT member")


def test_under_basic_composition_all_of_delta_is_for_thresholds(
    opened: Callable[..., dpsql.Connection],
) -> None:
    with opened('accountant = "basic"') as connection:
        assert connection.remaining.delta == Fraction("1e-6")
        assert connection.execute("SELECT city, COUNT(*) FROM people GROUP BY city").fetchall()
        assert connection.remaining.delta == Fraction("0.99e-6")
