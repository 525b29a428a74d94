"""The exact parts: thresholds, error bounds, and what happens when 64 bits do not decide."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats
from seeded_entropy import FALSE_ALARM, Scripted, Seeded, chi_square

from dpsql.privacy.rounding import exp_bounds, floor_exp, log_bounds
from dpsql.privacy.sampling import bernoulli_exp, discrete_gaussian, discrete_noise
from dpsql.privacy.sampling.categorical import coins
from dpsql.privacy.sampling.discrete_noise import _levels, _many_digits, cumulative, geometric
from dpsql.privacy.sampling.entropy import signs, uniform_below

pytestmark = pytest.mark.slow

RATES = [
    Fraction(1, 10**6),
    Fraction(1, 1000),
    Fraction(3, 70),
    Fraction(1, 3),
    Fraction(1),
    Fraction(19, 2),
]
ONE = 1 << 64


def exact(rate, v, top, bits=64):
    with mpmath.workdps(1300):
        x = mpmath.mpf(rate.numerator) / rate.denominator
        return (
            (1 - mpmath.exp(-x * (v + 1)))
            / (1 if top else 1 - mpmath.exp(-256 * x))
            * mpmath.mpf(2) ** bits
        )


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("top", [False, True])
def test_all_thresholds_equal_those_of_another_library(rate, top):
    mine = cumulative(rate, 255, 64, top)
    with mpmath.workdps(1300):
        theirs = [int(mpmath.floor(exact(rate, v, top))) for v in range(255)]
    assert mine == theirs


@pytest.mark.parametrize(
    "scale, levels", [(Fraction(5), 1), (Fraction(1400), 2), (Fraction(370_000), 3)]
)
def test_levels_end_where_the_top_digit_almost_never_overflows_a_byte(scale, levels):
    made = _levels(scale)
    assert len(made) == levels and [level.top for level in made] == [False] * (levels - 1) + [True]
    assert all(made[j].rate == 256**j / scale for j in range(levels))


def test_enclosures_hold_and_are_narrow():
    with mpmath.workdps(400):
        for x in (
            Fraction(1, 10**40),
            Fraction(1, 3),
            Fraction(7),
            Fraction(12345, 7),
            Fraction(10**30),
        ):
            low, high = exp_bounds(x, 300)
            value = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** 300
            assert low <= value <= high <= low + 3
        for x in (Fraction(999_999, 10**6), Fraction(3), Fraction(10**50, 7)):
            low, high = log_bounds(x, 80)
            value = mpmath.log(mpmath.mpf(x.numerator) / x.denominator)
            assert (
                mpmath.mpf(low.numerator) / low.denominator
                <= value
                <= mpmath.mpf(high.numerator) / high.denominator
            )
            assert high - low < abs(low) * Fraction(1, 10**78)


def test_sixteen_bits_decide_a_digit_only_where_all_their_continuations_agree():
    prefixes = np.arange(1 << 16, dtype=np.uint64)
    for level in _levels(Fraction(1000)) + _levels(Fraction(1, 20)):
        digits = _many_digits(level, 0, 1 << 16, Scripted(prefixes.astype("<u2").tobytes(), 1))
        least = np.searchsorted(level.thresholds, prefixes << np.uint64(48), "right")
        most = np.searchsorted(
            level.thresholds, (prefixes + np.uint64(1) << np.uint64(48)) - np.uint64(1), "right"
        )
        assert ((least <= digits) & (digits <= most)).all()
        unclear = np.isin(prefixes, level.thresholds >> np.uint64(48))
        assert (least == most)[~unclear].all() and unclear.any()


def test_unclear_prefixes_are_continued_not_redrawn():
    level = _levels(Fraction(1000))[0]
    word = int(level.thresholds[100])
    prefixes = np.full(1 << 14, word >> 48, "<u2").tobytes()
    for change, digit in ((1 << 16, 101), (-(1 << 16), 100)):
        rest = (((word + change) << 16) % ONE).to_bytes(8, "little") * (1 << 14)
        assert set(_many_digits(level, 0, 1 << 14, Scripted(prefixes + rest, 1))) == {digit}


def test_a_word_on_a_threshold_is_settled_with_the_right_probability():
    rate, n = Fraction(1, 3), 500
    thresholds = cumulative(rate, 40, 64, True)
    parts = [float(exact(rate, v, True) - thresholds[v]) for v in range(40)]
    for v in (int(np.argmin(parts)), int(np.argmax(parts))):
        entropy = Seeded(v, [thresholds[v]] * n)
        digits = geometric(1 / rate, n, entropy)
        assert set(digits) <= {v, v + 1}
        lower = int((digits == v).sum())
        assert stats.binomtest(lower, n, parts[v]).pvalue > FALSE_ALARM
        assert stats.binomtest(lower, n, 1 - parts[v]).pvalue < FALSE_ALARM


def test_settling_reads_on_exactly_as_long_as_it_must():
    rate = Fraction(1, 3)
    (long,) = (t for v, t in enumerate(cumulative(rate, 40, 192, True)) if v == 5)
    words = [long >> 128, (long >> 64) % ONE, long % ONE]
    for last, digit in ((words[2] - 1, 5), (words[2] + 1, 6)):
        entropy = Seeded(0, [*words[:2], last])
        assert geometric(1 / rate, 1, entropy)[0] == digit
        assert entropy.calls == 3
    for second, digit in ((words[1] - 1, 5), (words[1] + 1, 6)):
        entropy = Seeded(0, [words[0], second])
        assert geometric(1 / rate, 1, entropy)[0] == digit
        assert entropy.calls == 2


def test_a_run_of_ones_reaches_digits_beyond_a_byte():
    rate = Fraction(1, 3)
    assert (
        geometric(1 / rate, 1, Seeded(0, [ONE - 1, 0]))[0] == 133
    )  # exp(−133/3) > 2^-64 > exp(−134/3)
    assert geometric(1 / rate, 1, Seeded(0, [ONE - 1, ONE - 1, ONE - 1, 1]))[0] > 255


def test_coins_on_the_threshold_are_settled_with_the_right_probability():
    gamma, n = Fraction(5, 7), 4000
    with mpmath.workdps(60):
        value = mpmath.exp(-mpmath.mpf(5) / 7) * 2**53
        part = float(value - mpmath.floor(value))
    heads = bernoulli_exp([gamma] * n, _entropy=Seeded(1, [floor_exp(gamma, 53) << 11] * n))
    observed = np.array([heads.sum(), n - heads.sum()])
    assert chi_square(observed, np.array([part, 1 - part]) * n) > FALSE_ALARM
    assert chi_square(observed, np.array([1 - part, part]) * n) < FALSE_ALARM


def test_what_floats_decide_is_what_exact_arithmetic_decides():
    gammas = [Fraction(k * k, 977) for k in range(1, 260)]
    words = np.frombuffer(Seeded(2).read(8 * len(gammas)), "<u8")
    edge = [max(floor_exp(gamma, 53) + k % 7 - 3, 0) << 11 for k, gamma in enumerate(gammas)]
    for prefixes in (words.tolist(), edge):
        heads = bernoulli_exp(gammas, _entropy=Seeded(3, prefixes))
        for gamma, word, head in zip(gammas, prefixes, heads, strict=True):
            threshold = floor_exp(gamma, 53)
            assert word >> 11 == threshold or head == (word >> 11 < threshold)


def test_all_coins_can_be_settled_exactly():
    gamma = np.full(3000, 0.9)
    slow = coins(gamma, np.full(3000, 0.3), lambda _: Fraction(9, 10), Seeded(4))
    fast = coins(gamma, np.full(3000, 2.0**-50), lambda _: Fraction(9, 10), Seeded(4))
    assert (slow == fast).all()


@pytest.mark.parametrize(
    "gamma", [Fraction(0), Fraction(1, 10**30), Fraction(1, 9), Fraction(2), Fraction(10**40)]
)
def test_coins_fall_as_often_as_they_should(gamma):
    n = 20_000
    heads = int(bernoulli_exp([gamma] * n, _entropy=Seeded(5)).sum())
    chance = float(mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator))
    assert abs(heads - n * chance) <= 6.5 * (n * chance * (1 - chance)) ** 0.5 + 1e-9


def test_a_zero_word_against_an_unimaginably_small_chance_is_read_on():
    for words, heads in (
        ([0, 1 << 63], False),
        ([0, 0, 1 << 40], False),
        ([0, 0, 0], True),
    ):  # exp(−100) > 2^-145
        entropy = Seeded(6, words)
        assert bernoulli_exp([Fraction(100)], _entropy=entropy)[0] == heads
        assert entropy.calls == len(words)


def test_numpy_exp_is_within_the_margin_that_is_allowed_for():
    gamma = np.frombuffer(Seeded(7).read(8 * 4000), "<u8").astype(float) * 65 * 2.0**-64
    for x, y in zip(gamma, np.exp(-gamma), strict=True):
        low, high = exp_bounds(Fraction(x), 220)
        claimed = Fraction(y) * (1 << 220)
        assert low * (1 - Fraction(1, 1 << 46)) <= claimed <= high * (1 + Fraction(1, 1 << 46))


@pytest.mark.parametrize(
    "variance",
    [Fraction(1, 2**90), Fraction(1, 4), Fraction(31, 7), Fraction(10**9), Fraction(2**100)],
)
def test_the_error_bound_of_the_gaussian_coin_holds(variance, monkeypatch):
    seen = []

    def spy(gamma, error, exactly, entropy):
        seen.extend((gamma[i], error[i], exactly(i)) for i in range(len(gamma)))
        return coins(gamma, error, exactly, entropy)

    monkeypatch.setattr(discrete_noise, "coins", spy)
    discrete_gaussian(variance, 300, _entropy=Seeded(8))
    assert all(abs(Fraction(near) - true) <= Fraction(error) for near, error, true in seen)
    assert all(error <= 2.0**-40 for near, error, _ in seen if near <= 65)
    assert all(true >= 64 for near, _, true in seen if near > 65)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 1000])
def test_uniform_integers_are_uniform(bound):
    draws = uniform_below(bound, 50_000, Seeded(9))
    assert (
        chi_square(np.bincount(draws, minlength=bound), np.full(bound, 50_000 / bound))
        > FALSE_ALARM
    )
    with pytest.raises(ValueError):
        uniform_below(0, 1, Seeded(9))


def test_half_of_all_bytes_are_each_sign():
    assert signs(Scripted(bytes(range(256)), 1), 256).sum() == 128
