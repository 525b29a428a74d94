"""Keys that are chosen by weight: what a unit moves, when its own keys are shown,
and the weights of the engine.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dpsql.planning.calibration import key_threshold
from dpsql.privacy.measure import NeighbourRelation
from dpsql.privacy.mechanism import Gaussian
from dpsql.privacy.partition_selection import (
    WHOLE,
    KeyThreshold,
    KeyWeights,
    allowance,
    gaussian_tail,
    laplace_tail,
)
from dpsql.sql.analysis.contribution import Norm
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.measurement.contribution_bounding import weight

MILLIONTH = Fraction(1, 10**6)


def made(
    norm: Norm, most: int, epsilon: Fraction, neighbours: NeighbourRelation = "add-remove"
) -> KeyThreshold:
    """A threshold over weights."""
    weights = KeyWeights(most, norm == "l2")
    return key_threshold(7, norm, neighbours, epsilon, Fraction(1), MILLIONTH, weights)


@pytest.mark.parametrize("squared", [True, False])
def test_a_unit_moves_all_sums_together_by_one_whatever_the_number_of_its_groups(squared):
    weights = KeyWeights(WHOLE, squared)
    for groups in range(1, WHOLE + 1):
        each = weights.weight(groups)
        assert 1 <= each <= (WHOLE / sqrt(groups) if squared else WHOLE / groups)
        norm = groups * each**2 if squared else groups * each
        assert norm <= weights.sensitivity
        least = (WHOLE / sqrt(groups) if squared else WHOLE / groups) - 1
        assert each > least, "no more is lost than by rounding"


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@settings(max_examples=8)
@given(most=st.integers(2, 200), epsilon=st.fractions(Fraction(1, 20), 20))
def test_no_unit_shows_a_key_of_its_own_but_for_delta(norm, neighbours, most, epsilon):
    """For each number of its groups, with the weight that it then has;
    for one of them the bound is nearly reached.
    """
    found = made(norm, most, epsilon, neighbours)
    units = 2 if neighbours == "replace" else 1  # one that goes, and one that comes
    assert found.weights is not None and found.groups == most * units
    parts = []
    for groups in {*range(1, 5), *range(1, most, 13), most} & {*range(1, most + 1)}:
        away = found.threshold - found.weights.weight(groups)
        assert away >= 1
        if isinstance(found.noise, Gaussian):
            tail = gaussian_tail(found.noise.variance, away, 200)
        else:
            tail = laplace_tail(found.noise.scale, away, 200)
        parts.append(tail / allowance(units * groups, found.delta))
    assert max(parts) <= 1
    assert max(parts) > Fraction(1, 200) or float(epsilon) > 2


def test_a_price_buys_more_than_counts_of_as_many_groups():
    counts = key_threshold(50, "l2", "add-remove", Fraction(1, 10), Fraction(1), MILLIONTH)
    weighed = made("l2", 128, Fraction(1, 10))
    assert weighed.units_needed() < counts.units_needed() / 5
    assert weighed.cost == counts.cost
    assert weighed.units_needed(0.9) > weighed.units_needed()


def test_a_threshold_knows_for_what_it_is_made():
    for most in (0, WHOLE + 1):
        with pytest.raises(ValueError, match="a unit may weigh"):
            KeyWeights(most, True)
    with pytest.raises(AssertionError):
        made("l1", 3, Fraction(1)).interval(10**6, 0.95)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_engine_gives_these_weights(norm):
    """All numbers of groups up to 200, and some up to the most there may be."""
    weights = KeyWeights(WHOLE, norm == "l2")
    sizes = [*range(1, 201), 225, 1023, 1024, 1025, WHOLE - 1, WHOLE]
    rows = exp.select("u", exp.alias_(weight(DUCKDB, WHOLE, norm), "w")).from_(exp.to_table("kept"))
    with duckdb.connect() as connection:
        values = ", ".join(f"({size})" for size in sizes)
        connection.execute(
            f"CREATE TABLE kept AS SELECT size AS u FROM (VALUES {values}) s(size), range(size)"
        )
        found = connection.execute(f"SELECT DISTINCT u, w FROM ({DUCKDB.write(rows)})").fetchall()
    assert dict(found) == {size: weights.weight(size) for size in sizes} and len(found) == len(
        sizes
    )
