"""``answers`` in the place of ``query_epsilon``: the budget pays for so many plain counts,
by whatever accountant.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.errors import SchemaError
from dpsql.schema import Privacy, loads
from dpsql.session import count_costs, statements_paid_for
from dpsql.session.pricing.expected_errors import count_error

SCHEMA = """
name = "shop"
source = "x.duckdb"
[privacy]
unit = "t.id"
{}
[tables.t]
max_rows_per_unit = 1
[tables.t.columns]
id = {{ type = "integer" }}
"""


@pytest.mark.parametrize("answers", [1, 4, 40, 1000])
@pytest.mark.parametrize(
    "promise",
    [
        "epsilon = 1\ndelta = 1e-6",
        "epsilon = 3\ndelta = 0",
        'epsilon = 0.1\ndelta = 1e-9\nneighbours = "replace"',
        'epsilon = 1\ndelta = 1e-6\nmechanism = "laplace"',
        'epsilon = 1\ndelta = 1e-6\naccountant = "basic"',
        'epsilon = 1\ndelta = 1e-6\naccountant = "zcdp"',
        'epsilon = 1\ndelta = 1e-6\naccountant = "rdp"',
    ],
)
def test_the_budget_pays_for_as_many_answers_as_are_wanted_and_hardly_more(
    promise: str, answers: int
) -> None:
    schema = loads(SCHEMA.format(f"{promise}\nanswers = {answers}"))
    paid = statements_paid_for(schema)
    noise = next(iter(count_costs(schema)))
    assert paid[noise] >= answers
    dearer = schema.privacy.model_copy(
        update={"query_epsilon": schema.privacy.query_epsilon * Fraction(103, 100)}
    )
    if dearer.query_epsilon <= dearer.epsilon:
        assert statements_paid_for(schema.model_copy(update={"privacy": dearer}))[noise] <= answers


def test_answers_and_a_price_exclude_each_other() -> None:
    for wrong, message in (
        ("answers = 40\nquery_epsilon = 0.1", "keep one of them"),
        ("answers = 0", "greater than or equal to 1"),
        (
            'answers = 4\naccountant = { name = "advanced", statements = 4, epsilon = 0.1 }',
            "answers: the budget cannot",
        ),
    ):
        with pytest.raises(SchemaError, match=message):
            loads(SCHEMA.format(f"epsilon = 1\ndelta = 1e-6\n{wrong}"))


def test_the_error_of_a_count_grows_with_the_limit() -> None:
    privacy = Privacy.model_validate(
        {"unit": "t.id", "epsilon": 3, "delta": 1e-6, "query_epsilon": 0.1}
    )
    assert [round(count_error(privacy, rows)) for rows in (1, 5, 20)] == [20, 98, 392]
    pure = Privacy.model_validate({"unit": "t.id", "epsilon": 3, "delta": 0, "query_epsilon": 0.1})
    assert [round(count_error(pure, rows)) for rows in (1, 10)] == [30, 300]
