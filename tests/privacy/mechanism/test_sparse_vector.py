"""The sparse vector technique: its exact law keeps its epsilon on all small neighbours,
and draws have that law.
"""

import itertools
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from seeded_entropy import FALSE_ALARM, Seeded, chi_square, laplace_cdf

from dpsql.privacy.measure import pure_rho
from dpsql.privacy.mechanism import AboveThreshold

REACH = 400


def law(answers, threshold, border_scale, query_scale):
    """The exact probability of each place, and of none at the end,
    from the two scales of discrete Laplace noise.
    """
    r = np.arange(-REACH, REACH + 1)
    weights = np.exp(-np.abs(r) / border_scale)
    below = [laplace_cdf(threshold + r - answer - 1, query_scale) for answer in answers]
    passed = weights / weights.sum()
    found = []
    for chance in below:
        found.append((passed * (1 - chance)).sum())
        passed = passed * chance
    return np.array([*found, passed.sum()])


def of(mechanism, answers, threshold=2):
    return law(
        answers,
        threshold,
        float(mechanism.threshold_noise.scale),
        float(mechanism.query_noise.scale),
    )


def changes(monotone, length, size):
    """What a unit may do to the queries: anything within its sensitivity, or all of it one way."""
    if not monotone:
        yield from itertools.product(range(-size, size + 1), repeat=length)
        return
    for change in itertools.product(range(size + 1), repeat=length):
        yield change
        yield tuple(-each for each in change)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)], ids=str)
def test_every_outcome_keeps_its_epsilon_on_all_small_neighbours(monotone, epsilon):
    mechanism = AboveThreshold(1, epsilon, monotone)
    worst = 0.0
    for answers in itertools.product(range(0, 5, 2), repeat=3):
        here = of(mechanism, answers)
        for change in changes(monotone, 3, 1):
            there = of(mechanism, np.add(answers, change))
            worst = max(worst, float((here / there).max()))
    assert worst <= exp(mechanism.cost.epsilon) * (1 + 1e-9)
    assert worst > exp(0.6 * float(epsilon))  # a claim of half the price would be found wrong


@pytest.mark.parametrize("monotone", [False, True])
def test_the_price_is_reached_by_queries_far_from_the_threshold(monotone):
    """Queries above the threshold that are passed all the same,
    then one far below that is found.
    """
    mechanism = AboveThreshold(1, Fraction(1), monotone)
    answers, change = [20] * 30 + [-40], [1] * 30 + [0 if monotone else -1]
    ratio = of(mechanism, answers)[30] / of(mechanism, np.add(answers, change))[30]
    assert exp(0.98) < ratio <= exp(1) * (1 + 1e-6)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("share", [Fraction(7, 10), Fraction(1, 5)], ids=str)
def test_any_split_of_the_price_keeps_it(monotone, share):
    mechanism = AboveThreshold(1, Fraction(2), monotone, share)
    worst = 0.0
    for answers in ((0, 2, 4), (4, 0, 0), (2, 2, 2), (6, 6, -6), (-6, -6, 6)):
        for change in changes(monotone, 3, 1):
            worst = max(
                worst,
                float((of(mechanism, answers) / of(mechanism, np.add(answers, change))).max()),
            )
    assert worst <= exp(2) * (1 + 1e-9)
    mechanism = AboveThreshold(1, Fraction(1), monotone, share)
    answers, change = [12] * 30 + [-8], [1] * 30 + [0 if monotone else -1]
    ratio = of(mechanism, answers)[30] / of(mechanism, np.add(answers, change))[30]
    assert ratio == pytest.approx(exp(1), rel=1e-6)
    with pytest.raises(ValueError, match="share"):
        AboveThreshold(1, Fraction(1), share=Fraction(1))


def test_a_larger_sensitivity_is_hidden_too():
    mechanism = AboveThreshold(3, Fraction(1))
    for answers in itertools.product((0, 4), repeat=2):
        for change in changes(False, 2, 3):
            ratios = of(mechanism, answers) / of(mechanism, np.add(answers, change))
            assert ratios.max() <= exp(1) * (1 + 1e-9)


def test_general_queries_need_the_noise_that_monotone_ones_do_not():
    """The check can fail: noise for monotone queries does not hide a unit that moves queries both
    ways.
    """
    monotone = AboveThreshold(1, Fraction(1), monotone=True)
    answers, change = [20] * 30 + [-40], [1] * 30 + [-1]
    assert of(monotone, answers)[30] / of(monotone, np.add(answers, change))[30] > exp(1.4)


@pytest.mark.parametrize("monotone, scales", [(True, (4.0, 4.0)), (False, (5.0, 20 / 3))])
def test_draws_have_the_law_of_the_published_algorithm(monotone, scales):
    """Scales from the formula, not from the mechanism: Δ/ε₁ for the threshold,
    Δ/ε₂ or 2Δ/ε₂ for a query.
    """
    answers, threshold, n = [-3, 0, 5], 2, 20_000
    mechanism, entropy = AboveThreshold(2, Fraction(1), monotone), Seeded(11)
    found = [mechanism.draw(answers, threshold, _entropy=entropy) for _ in range(n)]
    observed = np.bincount([3 if place is None else place for place in found], minlength=4)
    assert chi_square(observed, law(answers, threshold, *scales) * n) > FALSE_ALARM
    for factor in (0.7, 1.3):
        wrong = law(answers, threshold, *(scale * factor for scale in scales)) * n
        assert chi_square(observed, wrong) < FALSE_ALARM


def test_the_threshold_has_one_noise_for_all_queries():
    """Drawn anew for each query, or left out, it would give another law:
    many equal queries show it.
    """
    answers, n = [0] * 12, 6_000
    mechanism, entropy = AboveThreshold(1, Fraction(1, 2)), Seeded(12)
    border, query = float(mechanism.threshold_noise.scale), float(mechanism.query_noise.scale)
    found = [mechanism.draw(answers, 15, _entropy=entropy) for _ in range(n)]
    observed = np.bincount([12 if place is None else place for place in found], minlength=13)
    assert chi_square(observed, law(answers, 15, border, query) * n) > FALSE_ALARM
    once = law([0], 15, border, query)[0]
    anew = np.array([once * (1 - once) ** place for place in range(12)] + [(1 - once) ** 12])
    assert chi_square(observed, anew * n) < FALSE_ALARM
    assert chi_square(observed, law(answers, 15, 1e-3, query) * n) < FALSE_ALARM
    assert chi_square(observed, law(answers, 15, border, 1e-3) * n) < FALSE_ALARM


def test_it_stops_at_the_first_and_says_nothing_but_its_place():
    read = []

    def answers():
        for answer in [-(10**9), 10**9, 10**9]:
            read.append(answer)
            yield answer

    place = AboveThreshold(1, Fraction(1)).draw(answers(), 0)
    assert place == 1 and type(place) is int and len(read) == 2
    assert AboveThreshold(1, Fraction(1)).draw([-(10**9)] * 3, 0) is None
    assert AboveThreshold(1, Fraction(1)).draw([], 0) is None
    assert AboveThreshold(1, Fraction(1)).draw([10**40], 10**39) == 0


def test_a_sequence_costs_its_price_once_whatever_its_length():
    mechanism = AboveThreshold(5, Fraction(3, 10))
    assert mechanism.cost.epsilon == Fraction(3, 10) and mechanism.cost.rho == pure_rho(
        Fraction(3, 10)
    )
    assert mechanism.threshold_noise.cost.epsilon + mechanism.query_noise.cost.epsilon == Fraction(
        3, 10
    )
    for build in (
        lambda: AboveThreshold(0, Fraction(1)),
        lambda: AboveThreshold(1, Fraction(0)),
        lambda: AboveThreshold(1 << 51, Fraction(1)),
    ):
        with pytest.raises(ValueError):
            build()


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_margin_holds_by_the_exact_law(confidence):
    """With the answers at the edge of the margin: passing the high one, or finding a low one,
    is rarer than said.
    """
    mechanism, queries = AboveThreshold(1, Fraction(1)), 20
    m = mechanism.margin(queries, confidence)
    assert of(mechanism, [2 - m - 1] * queries)[:-1].sum() <= 1 - confidence
    assert of(mechanism, [2 + m])[1] <= 1 - confidence
    assert of(mechanism, [2 + m // 3])[1] > (1 - confidence) / 10
    with pytest.raises(ValueError):
        mechanism.margin(0, 0.95)
