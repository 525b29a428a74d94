"""A column that was collected under local differential privacy says so,
and what it says is checked.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dpsql import local
from dpsql.errors import SchemaError
from dpsql.schema import Column, check, loads

PIECEWISE = {"mechanism": "piecewise", "epsilon": 1}
YES_NO = {"type": "text", "values": ["yes", "no"]}


def test_each_mechanism_is_that_of_the_client() -> None:
    def reports(collected: object, **column: object) -> object:
        return Column.model_validate({**column, "collected": collected}).reports

    answer = {"mechanism": "randomized_response", "epsilon": 1.5}
    assert reports(answer, **YES_NO) == local.RandomizedCategories.for_epsilon(("yes", "no"), 1.5)
    assert reports(answer, type="boolean") == local.RandomizedCategories.for_epsilon(
        (False, True), 1.5
    )
    coin = {"mechanism": "randomized_response", "truth": 0.75}
    assert reports(coin, type="boolean") == local.RandomizedCategories(
        (False, True), Fraction(3, 4)
    )
    rappor = {"mechanism": "symmetric_unary_encoding", "truth": 0.75}
    assert reports(rappor, **YES_NO) == local.UnaryEncoding(
        ("yes", "no"), Fraction(3, 4), Fraction(1, 4)
    )
    bits = {"mechanism": "optimized_unary_encoding", "epsilon": 2}
    assert reports(bits, **YES_NO) == local.UnaryEncoding.optimal(("yes", "no"), 2)
    assert reports(PIECEWISE, type="double", bounds=[0, 24]) == local.Piecewise.for_epsilon(
        (0, 24), 1
    )
    noise = {"mechanism": "laplace", "epsilon": 1}
    assert reports(noise, type="double", bounds=[0, 24]) == local.LocalLaplace.for_epsilon(
        (0, 24), 1
    )
    assert Column.model_validate(YES_NO).reports is None


@pytest.mark.parametrize(
    ("column", "mend"),
    [
        ({**YES_NO, "collected": {"mechanism": "randomized_response"}}, "either epsilon or truth"),
        (
            {
                **YES_NO,
                "collected": {"mechanism": "randomized_response", "epsilon": 1, "truth": 0.75},
            },
            "either epsilon",
        ),
        (
            {**YES_NO, "collected": {"mechanism": "randomized_response", "truth": 0.25}},
            "above that of a guess",
        ),
        (
            {**YES_NO, "collected": {"mechanism": "randomized_response", "epsilon": 33}},
            "hides nothing",
        ),
        (
            {**YES_NO, "collected": {"mechanism": "optimized_unary_encoding", "truth": 0.75}},
            "say epsilon",
        ),
        ({**YES_NO, "collected": {"mechanism": "coin", "epsilon": 1}}, "randomized_response"),
        (
            {"type": "text", "collected": {"mechanism": "randomized_response", "epsilon": 1}},
            "add values",
        ),
        (
            {
                "type": "integer",
                "values": [1, 2],
                "collected": {"mechanism": "optimized_unary_encoding", "epsilon": 1},
            },
            'type = "text"',
        ),
        ({"type": "integer", "bounds": [0, 9], "collected": PIECEWISE}, 'type = "double"'),
        ({"type": "double", "collected": PIECEWISE}, "add bounds"),
    ],
)
def test_what_no_mechanism_can_have_reported_is_refused(
    column: dict[str, object], mend: str
) -> None:
    with pytest.raises(ValueError, match=mend):
        Column.model_validate(column)


def test_the_owner_is_told_what_is_not_protected(tmp_path: Path) -> None:
    column = 'columns.answer = { type = "double", bounds = [0, 1], collected = { mechanism = "laplace", epsilon = 1 } }'
    (tmp_path / "s.toml").write_text(f"""
    name = "s"
    source = "s.duckdb"
    [privacy]
    unit = "people.id"
    epsilon = 1
    delta = 0
    [tables.survey]
    public = true
    {column}
    [tables.people]
    max_rows_per_unit = 1
    columns.id = {{ type = "integer" }}
    {column}
    """)
    found = {(each.level, each.where): each.message for each in check(tmp_path / "s.toml")}
    assert "nothing protects the other columns" in found["note", "table survey"]
    assert "piecewise reports have bounds" in found["loose", "table people, column answer"]


def test_what_tells_units_apart_is_not_perturbed() -> None:
    text = """
    name = "s"
    source = "s.duckdb"
    [privacy]
    unit = "people.id"
    epsilon = 1
    delta = 0
    [tables.people]
    max_rows_per_unit = 1
    columns.id = { type = "integer", values = [1, 2], collected = { mechanism = "randomized_response", epsilon = 1 } }
    """
    with pytest.raises(
        SchemaError, match="column id: tells units or rows apart, and a perturbed value does not"
    ):
        loads(text)
