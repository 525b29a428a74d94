"""The bins of a column, the SQL that tells them apart, and what is drawn of one."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpsql.errors import Refused
from dpsql.planning.synthetic.model_columns import MOST_BINS, MOST_VALUES, ModelColumn
from dpsql.planning.synthetic.plan import _rounds
from dpsql.schema import Column


def column(**declared: Any) -> ModelColumn:
    return ModelColumn("c", "c", Column(**declared))


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ({"type": "text", "values": ["f", "m"]}, '"c"'),
        ({"type": "boolean"}, '"c"'),
        ({"type": "integer", "bounds": [5, 5]}, 'CASE WHEN "c" < 5 THEN 0 ELSE 0 END'),
        (
            {"type": "integer", "bounds": [-1, 1]},
            'CASE WHEN "c" < 0 THEN 0 WHEN "c" < 1 THEN 1 ELSE 2 END',
        ),
        (
            {"type": "integer", "bounds": [0, 1], "nullable": True},
            'CASE WHEN "c" IS NULL THEN 2 WHEN "c" < 1 THEN 0 ELSE 1 END',
        ),
        (
            {"type": "decimal(5,2)", "bounds": [Decimal("-0.01"), Decimal("0.01")]},
            'CASE WHEN "c" < 0.00 THEN 0 WHEN "c" < 0.01 THEN 1 ELSE 2 END',
        ),
        (
            {"type": "date", "bounds": [date(2020, 2, 28), date(2020, 3, 1)]},
            "CASE WHEN \"c\" < DATE '2020-02-29' THEN 0 WHEN \"c\" < DATE '2020-03-01' THEN 1 ELSE 2 END",
        ),
        (
            {
                "type": "timestamp",
                "bounds": [datetime(2020, 1, 1, 23, 59, 59), datetime(2020, 1, 2)],
            },
            "CASE WHEN \"c\" < TIMESTAMP '2020-01-02 00:00:00' THEN 0 ELSE 1 END",
        ),
        ({"type": "double", "bounds": [2.5, 2.5]}, 'CASE WHEN "c" < 2.5 THEN 0 ELSE 0 END'),
    ],
)
def test_the_place_of_a_row_is_told_by_sql(declared: dict[str, Any], key: str) -> None:
    assert column(**declared).key == key


def test_a_column_of_doubles_has_equal_bins_and_one_of_steps_whole_steps() -> None:
    cuts = column(type="double", bounds=[-3, 61]).cuts
    assert cuts == tuple(Fraction(2 * place - 3) for place in range(MOST_BINS + 1))
    whole = column(type="integer", bounds=[1, 100]).cuts  # the last cut lies behind the last value
    assert (whole[0], whole[-1], len(whole)) == (1, 101, MOST_BINS + 1)
    assert {high - low for low, high in pairwise(whole)} == {3, 4}
    assert column(type="integer", bounds=[1, 32]).cuts == tuple(range(1, 34))


def test_all_values_of_a_bin_are_drawn_as_often_as_each_other() -> None:
    """Bins of three and four whole numbers, hundredths and days:
    with fixed seeds every value comes, and no other.
    """
    random = np.random.default_rng(5)
    numbers = column(type="integer", bounds=[1, 100])
    assert set(numbers.drawn(np.zeros(200, dtype=np.int64), random)) == {1, 2, 3}
    last = numbers.drawn(np.full(400, 31), random)
    assert set(last) == {97, 98, 99, 100} and max(map(last.count, last)) < 150
    cents = column(type="decimal(4,2)", bounds=[Decimal("-0.02"), Decimal("0.29")]).drawn(
        np.array([0, 2, 31]), random
    )
    assert list(map(str, cents)) == ["-0.02", "0.00", "0.29"]
    days = column(type="date", bounds=[date(2020, 1, 1), date(2020, 1, 2)], nullable=True)
    assert days.drawn(np.array([2, 1, 0]), random) == [None, date(2020, 1, 2), date(2020, 1, 1)]
    assert (days.bins, days.size, days.index_of(None if days.values else 2)) == (2, 3, 2)
    doubles = column(type="double", bounds=[0, 64]).drawn(np.full(100, 3), random)
    assert all(isinstance(each, float) and 6 <= each < 8 for each in doubles)


def test_keys_have_the_places_in_which_they_are_declared() -> None:
    texts = column(type="text", values=["m", "f"], nullable=True)
    assert [texts.index_of(each) for each in ("m", "f", None)] == [0, 1, 2] and texts.size == 3
    truth = column(type="boolean")
    assert [truth.index_of(each) for each in (False, True)] == [0, 1] and truth.size == 2
    assert column(type="boolean", values=[True]).size == 1
    with pytest.raises(KeyError):
        truth.index_of(None)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (
            {"type": "integer", "values": list(range(MOST_VALUES + 1))},
            "has 101 declared values; a model has at most 100",
        ),
        ({"type": "text"}, "declare `values` for it, or leave the column out"),
        ({"type": "date"}, "declare `bounds` or `values` for it, or leave the column out"),
    ],
)
def test_a_column_of_which_too_much_or_nothing_is_public_is_refused(
    declared: dict[str, Any], said: str
) -> None:
    assert column(type="integer", values=list(range(MOST_VALUES))).size == MOST_VALUES
    with pytest.raises(Refused, match=said) as refused:
        column(**declared)
    assert refused.value.code == "E_KEY"


@pytest.mark.parametrize(
    ("wanted", "chooses", "rounds"),
    [
        (0, False, ()),
        (3, False, (3,)),
        (6, True, (2, 2, 2)),
        (7, True, (3, 3, 1)),
        (8, True, (3, 3, 2)),
        (16, True, (6, 6, 4)),
    ],
)
def test_pairs_are_chosen_in_three_rounds_at_most(
    wanted: int, chooses: bool, rounds: tuple[int, ...]
) -> None:
    assert _rounds(wanted, chooses) == rounds
