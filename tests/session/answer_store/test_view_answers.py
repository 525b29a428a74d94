"""What people are told of an answer that is made of earlier ones."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Gaussian
from dpsql.release.linear_estimates import LinearEstimate, NoiseColumn, Part
from dpsql.release.released_tables import NOTHING
from dpsql.session.answer_store.view_answers import ViewAnswer, ratio


def answer(
    ratio: float,
    *,
    may_clip: bool = False,
    left_out: frozenset[str] = frozenset(),
    bought: str = "",
) -> ViewAnswer:
    return ViewAnswer(
        NOTHING,
        ("entry 1 of the ledger (by town)", "entry 3 of the ledger (by day)"),
        ratio,
        may_clip,
        bought=(bought,) if bought else (),
        left_out=left_out,
    )


MADE = "made of earlier answers: entry 1 of the ledger (by town); entry 3 of the ledger (by day)"


@pytest.mark.parametrize(
    ("ratio", "missing"),
    [
        (0.5, 0),
        (1.0, 0),
        (1.05, 0),
        (1.25, Fraction(3, 5)),
        (5 / 3, Fraction(4, 5)),
        (2.0, Fraction(867, 1000)),
    ],
)
def test_the_price_of_what_is_missing(ratio: float, missing: Fraction) -> None:
    """Of a noise 5/4 times as large 1 - 16/25 of the precision is missing, for 3/5 of the price."""
    assert answer(ratio).missing == missing


def test_an_answer_that_is_nearly_as_exact_buys_nothing() -> None:
    exact, rough = answer(1.0), answer(1.25)
    free = f"free, as it is {MADE}"
    errors = "errors below are those of a new answer; its own are up to {} times as large"
    assert exact.said_before(refine=True) == (free, errors.format("1"))
    assert exact.said_before(refine=False) == (free, errors.format("1"))
    assert rough.said_before(refine=False) == (free, errors.format("1.2"))
    assert rough.said_before(refine=True) == (
        f"what is missing is bought and combined with what is {MADE}",
    )


def test_notices_say_of_which_answers_it_is_made_and_what_was_bought() -> None:
    assert answer(1.0).notices == (MADE,)
    assert answer(1.0, bought="COUNT(*)").notices == (f"{MADE}; bought: COUNT(*)",)


def test_notices_say_what_is_clipped_and_what_is_left_out() -> None:
    clipped = "units above the limits of the schema are clipped as in these answers"
    assert answer(1.0, may_clip=True).notices == (MADE, clipped)
    made, absent = answer(1.0, left_out=frozenset({"town", "day"})).notices
    assert made == MADE
    assert absent.startswith(
        "rows with values of day and town that the schema does not give, if there are any, "
        "are in no group"
    )


@pytest.mark.parametrize(
    ("left_out", "bought"), [(frozenset(), "the difference"), (frozenset({"day"}), "a new answer")]
)
def test_a_better_answer_is_offered_if_the_noise_is_more_than_twice_as_large(
    left_out: frozenset[str], bought: str
) -> None:
    assert not any("REFINE" in notice for notice in answer(2.0, left_out=left_out).notices)
    assert answer(2.5, left_out=left_out).notices[-1] == (
        "its noise is 2.5 times what the price of a new answer buys; "
        f"REFINE before the statement buys {bought}"
    )


@pytest.mark.parametrize(
    ("ratio", "what"),
    [
        (1.05, "gives it for nothing"),
        (1.5, "buys what is missing to it"),
        (2.5, "buys what is missing to it"),
    ],
)
def test_a_more_exact_answer_of_later_ones_is_offered(ratio: float, what: str) -> None:
    """REFINE gives it for nothing if it is nearly as exact as what its price buys."""
    before = answer(3.0)
    again = before.given_before(answer(ratio))
    share = f"{ratio / 3:.2g}"
    offer = (
        "this is the answer that was given before; by later ones it is told with "
        f"{share} times its noise: REFINE before the statement {what}"
    )
    assert again.was_given and again.offer == (offer,)
    assert again.notices[-1] == again.said_before(refine=False)[-1] == offer
    assert (again.released, again.ratio, again.said) == (NOTHING, 3.0, before.said)


@pytest.mark.parametrize(("ratio", "left_out"), [(3.0, ""), (2.9, ""), (4.0, ""), (1.0, "town")])
def test_nothing_is_offered_that_is_hardly_more_exact_or_may_lack_rows(
    ratio: float, left_out: str
) -> None:
    present = answer(ratio, left_out=frozenset({left_out} - {""}))
    again = answer(3.0).given_before(present)
    assert again.was_given and again.offer == ()


def test_nothing_is_offered_up_to_a_twentieth_more_noise() -> None:
    assert answer(1.05).given_before(answer(1.0)).offer == ()
    assert answer(1.06).given_before(answer(1.0)).offer != ()


def estimate(variance: float) -> LinearEstimate:
    """An estimate whose noise has this variance."""
    column = NoiseColumn("answer", 0, 0, Gaussian(1, Fraction(variance)), Fraction(1))
    return LinearEstimate(Fraction(7), (Part(column, Fraction(1), (0,)),))


def core_with(mechanism: Any, step: Fraction) -> CorePlan:
    """A plan of two cells, of which the second has this noise."""
    contribution = SimpleNamespace(step=step)
    cell = SimpleNamespace(mechanism=mechanism, contribution=contribution)
    core = SimpleNamespace(cells=(None, cell))
    return cast(CorePlan, core)


def test_the_ratio_is_of_standard_deviations_of_the_noisiest_cell() -> None:
    """The plan's own noise has a deviation of 4 steps of a half; the cell's is 6 at most."""
    core = core_with(Gaussian(1, Fraction(16)), Fraction(1, 2))
    noisy = [estimate(9.0), estimate(36.0), estimate(25.0)]
    assert ratio(core, 1, noisy) == pytest.approx(3, rel=1e-3)
    assert ratio(core, 1, []) == 0


def test_no_noise_is_infinitely_more_exact_than_any() -> None:
    core = core_with(SimpleNamespace(standard_deviation=0.0), Fraction(1, 2))
    assert ratio(core, 1, [estimate(9.0)]) == math.inf
    assert ratio(core, 1, []) == 0
