"""The threshold keeps its delta, loses little to its bounds, and shows what it says."""

from fractions import Fraction
from math import exp

import mpmath
import numpy as np
import pytest
from scipy import stats
from seeded_entropy import FALSE_ALARM, Seeded

from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.partition_selection import (
    KeyThreshold,
    allowance,
    gaussian_tail,
    laplace_tail,
    mills_above,
)

MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)


def optimal_probability(n, epsilon, delta):
    """How often the best possible rule shows a key of n units, one group per unit."""
    shown = 0.0
    for _ in range(n):
        shown = min(exp(epsilon) * shown + delta, 1 - exp(-epsilon) * (1 - shown - delta), 1.0)
    return shown


def shown(threshold, n):
    """The exact probability that a group of n units is shown."""
    m = threshold.threshold - n
    noise = threshold.noise
    with mpmath.workdps(50):
        if isinstance(noise, Laplace):
            q = mpmath.exp(-mpmath.mpf(noise.scale.denominator) / noise.scale.numerator)
            return q**m / (1 + q) if m >= 0 else 1 - q ** (1 - m) / (1 + q)
        return gaussian_upper_tail(noise.variance, m)


def gaussian_upper_tail(variance, m):
    with mpmath.workdps(50):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        reach = int(30 * mpmath.sqrt(v)) + 30
        total = 1 + 2 * sum(mpmath.exp(-k * k / (2 * v)) for k in range(1, reach))
        return sum(mpmath.exp(-k * k / (2 * v)) for k in range(m, max(m, 0) + reach)) / total


def test_the_oracle_of_the_best_rule_gives_the_known_figures():
    known = {
        1: 1e-6,
        2: 3.7182818e-6,
        3: 1.1107338e-5,
        10: 0.012818308,
        14: 0.6998871,
        16: 0.9593846,
    }
    for n, probability in known.items():
        assert optimal_probability(n, 1.0, 1e-6) == pytest.approx(probability, rel=1e-5)


@pytest.mark.parametrize(
    "groups, delta, threshold",
    [(1, MILLIONTH, 15), (5, MILLIONTH, 76), (1, BILLIONTH, 22), (5, BILLIONTH, 110)],
)
def test_laplace_thresholds(groups, delta, threshold):
    made = KeyThreshold.for_epsilon(groups, Fraction(1), delta, gaussian=False)
    assert made.threshold == threshold
    assert made.cost.epsilon == 1 and made.cost.delta == delta and made.groups == groups


@pytest.mark.parametrize("groups, continuous", [(1, 40.683), (10, 135.115)])
def test_gaussian_thresholds(groups, continuous):
    made = KeyThreshold(Gaussian.for_rho(groups, Fraction(1, 100)), Fraction(1, 10**8))
    assert continuous < made.threshold <= continuous + 2
    assert made.cost.rho == Fraction(1, 100) and made.cost.epsilon is None


@pytest.mark.parametrize("groups", [1, 2, 20, 300])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("delta", [Fraction(1, 20), MILLIONTH, Fraction(1, 10**15)])
@pytest.mark.parametrize("gaussian", [False, True])
def test_a_unit_shows_its_lonely_keys_with_at_most_delta_and_one_less_would_be_too_many(
    groups, epsilon, delta, gaussian
):
    made = KeyThreshold.for_epsilon(groups, epsilon, delta, gaussian)
    with mpmath.workdps(50):
        allowed = 1 - (1 - mpmath.mpf(delta.numerator) / delta.denominator) ** (
            mpmath.mpf(1) / groups
        )
        assert shown(made, 1) <= allowed
        slack = 2 if gaussian else 1
        assert (
            shown(made, 1 + slack) > allowed
            or made.threshold <= 1 + float(made.noise.standard_deviation) + slack
        )


@pytest.mark.parametrize(
    "variance", [Fraction(1, 9), Fraction(1), Fraction(8), Fraction(900)], ids=str
)
def test_the_gaussian_bound_is_above_the_tail_and_at_most_one_unit_off(variance):
    sigma = float(variance) ** 0.5
    for m in sorted({max(1, round(k * sigma)) for k in (1.5, 2, 3, 4.5, 6, 9)}):
        bound = gaussian_tail(variance, m, 400)
        bound = mpmath.mpf(bound.numerator) / bound.denominator
        assert gaussian_upper_tail(variance, m) <= bound
        if m > sigma + 1:
            assert bound <= gaussian_upper_tail(variance, m - 1)


def test_the_laplace_bound_is_the_tail_rounded_up():
    for scale, m in (
        (Fraction(3), 0),
        (Fraction(3), 40),
        (Fraction(1, 9), 2),
        (Fraction(10**9), 10**10),
    ):
        with mpmath.workdps(80):
            q = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
            bound = laplace_tail(scale, m, 200)
            excess = mpmath.mpf(bound.numerator) / bound.denominator - q**m / (1 + q)
            assert 0 <= excess < mpmath.mpf(2) ** -195


def test_mills_ratio_is_bounded_closely():
    for x in (1.0, 2.5, 6.0, 20.0):
        with mpmath.workdps(40):
            true = mpmath.quad(
                lambda t, x=x: mpmath.exp((x * x - t * t) / 2), [x, x + 1, x + 5, x + 40]
            )
            bound = mills_above(Fraction(x))
            bound = mpmath.mpf(bound.numerator) / bound.denominator
            assert true <= bound <= true * 1.001


def test_the_allowance_of_one_key_is_rounded_down_and_no_worse_than_an_equal_share():
    for groups, delta in ((1, MILLIONTH), (7, Fraction(1, 3)), (1000, Fraction(1, 10**40))):
        allowed = allowance(groups, delta)
        with mpmath.workdps(200):
            true = 1 - (1 - mpmath.mpf(delta.numerator) / delta.denominator) ** (
                mpmath.mpf(1) / groups
            )
            mine = mpmath.mpf(allowed.numerator) / allowed.denominator
            assert true * (1 - mpmath.mpf(10) ** -60) <= mine <= true
        assert allowed >= delta / groups * (1 - Fraction(1, 10**30))


@pytest.mark.parametrize("groups", [1, 5, 20])
def test_no_rule_beats_the_best_possible_one(groups):
    made = KeyThreshold.for_epsilon(groups, Fraction(1), MILLIONTH, gaussian=False)
    share = float(allowance(groups, MILLIONTH))
    for n in range(1, made.threshold + 5):
        assert shown(made, n) <= optimal_probability(n, 1 / groups, share) * (1 + 1e-9)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 1000)])
def test_lonely_keys_appear_as_seldom_as_the_formula_says(gaussian, delta):
    groups, n = 3, 100_000
    made = KeyThreshold.for_epsilon(groups, Fraction(1), delta, gaussian)
    selected = made.select([1] * (groups * n), _entropy=Seeded(1))
    appeared = (
        np.array([value is not None for value in selected]).reshape(n, groups).any(axis=1).sum()
    )
    claimed = 1 - (1 - float(shown(made, 1))) ** groups
    assert claimed <= float(delta)
    assert stats.binomtest(int(appeared), n, claimed).pvalue > FALSE_ALARM
    for factor in (0.7, 1.3):  # a threshold of the wrong size is seen
        shift = round((made.threshold - 1) * (factor - 1)) or (-1 if factor < 1 else 1)
        moved = 1 - (1 - float(shown(made, 1 + shift))) ** groups
        assert stats.binomtest(int(appeared), n, moved).pvalue < FALSE_ALARM


@pytest.mark.parametrize("gaussian", [False, True])
def test_units_needed_is_the_least_number_that_is_shown_so_often(gaussian):
    for groups, probability in ((1, 0.5), (1, 0.95), (4, 0.8), (20, 0.999)):
        made = KeyThreshold.for_epsilon(groups, Fraction(1, 2), MILLIONTH, gaussian)
        needed = made.units_needed(probability)
        assert shown(made, needed) >= probability > shown(made, needed - 1)
    with pytest.raises(ValueError):
        made.units_needed(0.3)


def test_empty_groups_are_never_shown_whatever_the_noise():
    made = KeyThreshold.for_epsilon(1, Fraction(1, 100), Fraction(2, 5), gaussian=False)
    assert made.select([0, -3] * 500, _entropy=Seeded(2)) == [None] * 1000
    assert any(value is not None for value in made.select([1] * 500, _entropy=Seeded(2)))


def test_large_groups_come_with_noise_of_their_own():
    made = KeyThreshold.for_epsilon(2, Fraction(1), MILLIONTH, gaussian=True)
    released = made.select([10**6] * 2000, _entropy=Seeded(3))
    noise = np.array(released) - 10**6
    assert noise.std() == pytest.approx(2**0.5, rel=0.15) and len(set(released)) > 5
    covered = np.mean(np.abs(noise) <= made.half_width(0.95))
    assert covered > 0.93


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2)])
def test_selection_without_delta_is_refused(delta):
    with pytest.raises(ValueError, match="delta"):
        KeyThreshold.for_epsilon(1, Fraction(1), delta, gaussian=False)


def law_of(noise):
    """All numbers that the noise may well be, and their probabilities."""
    reach = int(45 * noise.standard_deviation) + 10
    numbers = np.arange(-reach, reach + 1)
    narrow = isinstance(noise, Laplace)
    parts = np.exp(
        -np.abs(numbers) / float(noise.scale)
        if narrow
        else -(numbers**2) / (2 * float(noise.variance))
    )
    return numbers, parts / parts.sum()


def conditional_coverage(threshold, interval, units, confidence):
    """How often the interval of a shown group holds its number of units, by the exact law."""
    numbers, parts = law_of(threshold.noise)
    seen = (units + numbers >= threshold.threshold) & (parts > 0)
    counts, parts = units + numbers[seen], parts[seen] / parts[seen].sum()
    likely = parts > 1e-14
    held = [
        low <= units <= high
        for low, high in (interval(int(count), confidence) for count in counts[likely])
    ]
    return float(parts[likely] @ np.array(held))


SHOWN = [
    KeyThreshold.for_epsilon(1, Fraction(1, 10), MILLIONTH, gaussian=False),
    KeyThreshold.for_epsilon(1, Fraction(1), BILLIONTH, gaussian=False),
    KeyThreshold.for_epsilon(3, Fraction(1, 10), MILLIONTH, gaussian=True),
    KeyThreshold.for_epsilon(2, Fraction(2, 3), MILLIONTH, gaussian=True),
]


@pytest.mark.parametrize(
    "made", SHOWN, ids=lambda made: f"{type(made.noise).__name__} {made.threshold}"
)
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_the_interval_of_a_shown_count_holds_among_shown_groups_of_every_size(made, confidence):
    deviation = made.noise.standard_deviation
    around = [
        made.threshold + round(part * deviation)
        for part in (-3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 5)
    ]
    for units in {1, 2, made.threshold // 2, *(each for each in around if each > 0)}:
        assert conditional_coverage(made, made.interval, units, confidence) >= confidence - 1e-9
        if deviation > 10:
            assert conditional_coverage(made, made.interval, units, confidence) <= confidence + 0.02


def test_without_the_condition_the_interval_of_a_shown_count_fails():
    made = SHOWN[0]

    def plain(shown, confidence):
        return shown - made.half_width(confidence), shown + made.half_width(confidence)

    assert conditional_coverage(made, plain, made.threshold // 2, 0.95) < 0.2
    assert (
        conditional_coverage(
            made, plain, made.threshold - round(made.noise.standard_deviation), 0.95
        )
        < 0.85
    )


def test_the_interval_of_a_shown_count_is_what_all_sizes_say_that_explain_it():
    """By trying every size, without the bisection:
    what is shown is among the most likely 95 % of that size.
    """
    made = SHOWN[3]
    numbers, parts = law_of(made.noise)
    order = np.argsort(np.abs(numbers), kind="stable")

    def explains(units, shown):
        counts = units + numbers[order]
        seen = counts >= made.threshold
        nearer = np.abs(counts - units) < abs(shown - units)
        return parts[order][seen & nearer].sum() < 0.95 * parts[order][seen].sum()

    for shown in range(made.threshold, made.threshold + 60, 3):
        sizes = [units for units in range(1, shown + 40) if explains(units, shown)]
        assert made.interval(shown, 0.95) == (min(sizes), max(sizes))


@pytest.mark.parametrize(
    "made", SHOWN, ids=lambda made: f"{type(made.noise).__name__} {made.threshold}"
)
def test_tails_of_noise_are_those_of_its_law(made):
    numbers, parts = law_of(made.noise)
    for m in (-30, -1, 0, 1, 2, 7, made.threshold // 2, made.threshold):
        assert made.noise.above(m) == pytest.approx(parts[numbers >= m].sum(), rel=1e-3, abs=1e-12)
