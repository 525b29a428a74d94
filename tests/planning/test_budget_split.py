"""Which cores of a statement pay for a choice of keys, and from what."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hand_world import hand_world
from neighbours import planned


@pytest.mark.parametrize(
    "text",
    ["SELECT COUNT(*) FROM people", "SELECT grade, COUNT(*) FROM people GROUP BY grade"],
    ids=["none", "listed"],
)
def test_keys_that_are_known_cost_nothing(text: str) -> None:
    (core,) = planned(hand_world(), text)
    assert core.selection is None and not core.cost.delta


def test_keys_that_are_not_declared_are_chosen_within_the_price() -> None:
    (core,) = planned(hand_world(), "SELECT word, COUNT(*) FROM people GROUP BY word")
    assert core.selection is not None and core.cost.delta > 0


def test_cores_share_the_price_by_their_weights() -> None:
    cores = planned(
        hand_world(), "SELECT COUNT(*) FROM people WHERE above > (SELECT AVG(above) FROM people)"
    )
    assert len(cores) == 2
    assert sum((core.cost.rho for core in cores), Fraction(0)) <= Fraction(1, 2)
