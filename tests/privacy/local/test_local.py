"""What a client reports has the law and the price that are claimed,
by direct enumeration and beside OpenDP.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_entropy import FALSE_ALARM, Seeded, chi_square

from dpsql import local
from dpsql.privacy.local.numbers import HALF, _coin

EPSILONS = st.fractions(Fraction(1, 50), Fraction(8), max_denominator=100)


def natural_log(ratio: Fraction) -> mpmath.mpf:
    with mpmath.workdps(60):
        return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


def is_price(claimed: Fraction, worst: Fraction, asked: Fraction) -> bool:
    """Whether the worst ratio of two laws costs what is claimed, no more than was asked,
    and hardly less.
    """
    with mpmath.workdps(60):
        true, said = natural_log(worst), mpmath.mpf(claimed.numerator) / claimed.denominator
        return (
            bool(true <= said <= true + mpmath.mpf(10) ** -30)
            and claimed <= asked
            and float(asked - claimed) < 1e-6
        )


def bit_law(encoding: local.UnaryEncoding, true: int) -> dict[str, Fraction]:
    """The exact law of the reports of one value, by enumeration of all texts of bits."""
    width, law = len(encoding.values), {}
    for number in range(2**width):
        text, chance = f"{number:0{width}b}", Fraction(1)
        for place, bit in enumerate(text):
            one = encoding.truth if place == true else encoding.other
            chance *= one if bit == "1" else 1 - one
        law[text] = chance
    return law


@settings(max_examples=30)
@given(epsilon=EPSILONS, optimal=st.booleans(), width=st.integers(2, 5))
def test_unary_encodings_cost_what_the_worst_of_all_reports_tells(
    epsilon: Fraction, optimal: bool, width: int
) -> None:
    made = local.UnaryEncoding.optimal if optimal else local.UnaryEncoding.symmetric
    encoding = made("abcde"[:width], epsilon)
    one, other = bit_law(encoding, 0), bit_law(encoding, width - 1)
    assert sum(one.values()) == 1
    assert is_price(encoding.cost.epsilon, max(one[text] / other[text] for text in one), epsilon)
    # the estimate has no bias: over the exact law the mean of (bit − q)/(p − q) is 1 for the true
    # value and 0 elsewhere
    gain = encoding.truth - encoding.other
    for place in range(width):
        mean = sum(
            chance * ((text[place] == "1") - encoding.other) / gain for text, chance in one.items()
        )
        assert mean == (place == 0)


def law_of(mechanism: local.Piecewise, place: int) -> tuple[Fraction, Fraction, range]:
    """The probability of each report near a place and of each other one, and which are near."""
    low = (1 - mechanism.near) / (2 * mechanism.range + 1)
    return (
        low + mechanism.near / (2 * mechanism.window + 1),
        low,
        range(place - mechanism.window, place + mechanism.window + 1),
    )


@settings(max_examples=30)
@given(epsilon=EPSILONS, place=st.integers(-HALF, HALF))
def test_the_piecewise_mechanism_has_its_price_its_mean_and_its_variance(
    epsilon: Fraction, place: int
) -> None:
    mechanism = local.Piecewise.for_epsilon((-1, 1), epsilon)
    high, low, near = law_of(mechanism, place)
    assert near[0] >= -mechanism.range and near[-1] <= mechanism.range
    assert high * len(near) + low * (2 * mechanism.range + 1 - len(near)) == 1
    assert is_price(mechanism.cost.epsilon, high / low, epsilon)
    report = 1 / (mechanism.near * HALF)
    mean = (high - low) * sum(near) * report
    assert mean == Fraction(place, HALF)
    squares = low * Fraction(mechanism.range * (mechanism.range + 1) * (2 * mechanism.range + 1), 3)
    squares += (high - low) * sum(each * each for each in near)
    variance = mechanism.spread + float((1 / mechanism.near - 1) * mean**2)
    assert float(squares * report**2 - mean**2) == pytest.approx(variance, rel=1e-9)
    assert variance <= mechanism.variance * (1 + 1e-12)
    # it is the mechanism of Wang et al., but for a window of whole steps,
    # which is half of one off # at the most
    root = exp(float(epsilon) / 2)
    theirs = float(mean) ** 2 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)
    assert variance == pytest.approx(theirs, rel=1.5 / mechanism.window)


@settings(max_examples=30)
@given(epsilon=EPSILONS)
def test_laplace_reports_and_one_bit_cost_what_was_asked(epsilon: Fraction) -> None:
    assert local.LocalLaplace.for_epsilon((0, 10), epsilon).cost.epsilon == epsilon
    bit = local.OneBit.for_epsilon((0, 10), epsilon)
    assert is_price(bit.cost.epsilon, bit.truth / (1 - bit.truth), epsilon)
    assert is_price(
        local.RandomizedCategories.for_epsilon("ab", epsilon).cost.epsilon,
        bit.truth / (1 - bit.truth),
        epsilon,
    )


def test_open_dp_agrees_on_the_price_of_bits() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    encoding = local.UnaryEncoding(
        "abcd", Fraction(3, 4), Fraction(1, 4)
    )  # RAPPOR with f = 1/2 and one hash
    domain = dp.bitvector_domain(max_weight=1)
    other = dp.m.make_randomized_response_bitvec(domain, dp.discrete_distance(), f=0.5)
    assert other.map(1) == pytest.approx(float(encoding.cost.epsilon), rel=1e-9)


@pytest.mark.parametrize("value", [0.1, 4, 9.75])
def test_reports_of_a_number_have_its_mean_and_the_stated_variance(value: float) -> None:
    n, entropy = 20_000, Seeded(7)
    for mechanism in (
        local.LocalLaplace.for_epsilon((0, 10), 2),
        local.Piecewise.for_epsilon((0, 10), 2),
    ):
        reports = np.array(mechanism.perturb([value] * n, _entropy=entropy))
        deviation = abs(reports.mean() - value) / sqrt(mechanism.variance / n)
        assert deviation < 6.2
        assert reports.var() < mechanism.variance * 1.1
        if isinstance(mechanism, local.Piecewise):
            assert mechanism.reach[0] <= reports.min() and reports.max() <= mechanism.reach[1]
    bit = local.OneBit.for_epsilon((0, 10), 2)
    assert abs(bit.estimate(bit.perturb([value] * n, _entropy=entropy)) - value) < 6.2 * 10 / float(
        2 * bit.truth - 1
    ) / 2 / sqrt(n)


def test_bits_have_their_law_and_a_wrong_one_is_seen() -> None:
    encoding, n = local.UnaryEncoding.optimal("abc", 1), 30_000
    reports = encoding.perturb(["b"] * n, _entropy=Seeded(3))
    observed = np.bincount([int(each, 2) for each in reports], minlength=8)
    law = np.array([float(chance) for chance in bit_law(encoding, 1).values()])
    assert chi_square(observed, law * n) > FALSE_ALARM
    for factor in (0.7, 1.3):
        other = bit_law(local.UnaryEncoding.optimal("abc", factor), 1)
        assert (
            chi_square(observed, np.array([float(chance) for chance in other.values()]) * n)
            < FALSE_ALARM
        )


def test_the_piecewise_reports_have_their_law_and_a_wrong_one_is_seen() -> None:
    mechanism, n = local.Piecewise.for_epsilon((0, 10), 1), 30_000
    reports = np.array(mechanism.perturb([8] * n, _entropy=Seeded(4)))
    places = np.rint((reports - 5) / 5 * HALF * float(mechanism.near)).astype(int)
    true = round((8 - 5) / 5 * HALF)
    inside = int((abs(places - true) <= mechanism.window).sum())
    for factor, holds in ((1, True), (0.7, False), (1.3, False)):
        other = local.Piecewise.for_epsilon((0, 10), factor)
        high, _, near = law_of(other, true)
        chance = (
            float(high * len(near)) if factor == 1 else float(high) * (2 * mechanism.window + 1)
        )
        assert (
            chi_square(np.array([inside, n - inside]), np.array([chance, 1 - chance]) * n)
            > FALSE_ALARM
        ) is holds


@settings(max_examples=30)
@given(numerator=st.integers(0, 2**70), extra=st.integers(0, 2**70))
def test_a_coin_compares_all_bits(numerator: int, extra: int) -> None:
    """The coin is true for exactly those uniform numbers that lie below the chance."""
    chance = Fraction(numerator, numerator + extra or 1)
    first, rest = divmod(chance * 2**64, 1)
    second = int(rest * 2**64)
    if chance < 1:
        assert _coin(chance, Seeded(1, [int(first), second + 1])) is False or second == 2**64 - 1
        assert not second or _coin(chance, Seeded(1, [int(first), second - 1]))
        assert not first or _coin(chance, Seeded(1, [int(first) - 1]))
    else:
        assert _coin(chance, Seeded(1, [2**64 - 1]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: local.randomized_response("c", ["a", "b"], 1),
        lambda: local.randomized_response("a", ["a", "a"], 1),
        lambda: local.unary_encoding("a", ["a"], 1),
        lambda: local.laplace(float("nan"), (0, 1), 1),
        lambda: local.piecewise("7", (0, 1), 1),
        lambda: local.piecewise(1, (1, 1), 1),
        lambda: local.UnaryEncoding("ab", Fraction(1, 4), Fraction(3, 4)),
        lambda: local.Piecewise(Fraction(0), Fraction(1), -1, Fraction(1, 2)),
    ],
)
def test_what_no_client_can_report_is_refused(ask) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError):
        ask()
