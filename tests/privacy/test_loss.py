"""Dominating pairs dominate, their composition is from above, and an exact computation and known figures agree."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.errors import DataError
from dpsql.privacy import loss as losses_of
from dpsql.privacy.loss import (
    FINEST,
    GaussianLoss,
    GaussianVectorLoss,
    LaplaceLoss,
    Leak,
    Loss,
    PureLoss,
    epsilon_of_losses,
    smoothing,
)
from dpsql.privacy.measure import epsilon_of_rho
from dpsql.privacy.mechanism.laplace import Laplace

MICRO, NANO = Fraction("1e-6"), Fraction("1e-9")

#: A pair of laws, as ratio and mass: the mass under P of each value of Q/P.
Pair = list[tuple[Fraction, Fraction]]


def shifted(q: Fraction, distance: int) -> Pair:
    """Discrete Laplace noise with e^(−rate) = q around 0 and around a distance."""
    inside = [(q ** (distance - 2 * z), (1 - q) / (1 + q) * q**z) for z in range(1, distance)]
    ends = [(q**distance, 1 / (1 + q)), (q**-distance, q**distance / (1 + q))]
    return [*inside, *ends] if distance else [(Fraction(1), Fraction(1))]


def together(pairs: list[Pair]) -> Pair:
    def whole(parts: tuple[tuple[Fraction, Fraction], ...], place: int) -> Fraction:
        return math.prod((part[place] for part in parts), start=Fraction(1))

    return [(whole(each, 0), whole(each, 1)) for each in product(*pairs)]


def profile(pair: Pair, factor: Fraction) -> Fraction:
    """E under P of (1 − factor·Q/P)₊: the hockey-stick divergence at e^ε = factor."""
    return sum((mass * max(1 - factor * ratio, Fraction(0)) for ratio, mass in pair), Fraction(0))


def is_dominated(small: Pair, large: Pair) -> bool:
    """Whether the profile of ``large`` is nowhere below: both are piecewise linear, so their corners decide."""
    corners = {1 / ratio for ratio, _ in [*small, *large]}
    return all(profile(small, each) <= profile(large, each) for each in corners)


@settings(max_examples=80, deadline=None)
@given(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40), st.lists(st.integers(0, 4), max_size=4))
def test_a_distance_that_is_spread_over_cells_is_dominated_by_one_cell_with_all_of_it(
    q: Fraction, parts: list[int]
) -> None:
    spread = together([shifted(q, part) for part in parts])
    assert is_dominated(spread, shifted(q, sum(parts)))
    assert is_dominated(shifted(q, sum(parts)), shifted(q, sum(parts) + 1))


@settings(max_examples=40, deadline=None)
@given(st.fractions(Fraction(1, 2), Fraction(99, 100), max_denominator=100), st.integers(1, 4), st.integers(1, 4))
def test_fewer_and_wider_steps_dominate(q: Fraction, each: int, steps: int) -> None:
    assert is_dominated(shifted(q, each * steps), shifted(q**each, steps))
    assert is_dominated(shifted(q, each * steps), shifted(q ** (each * steps), 1))


def test_the_check_of_dominance_can_fail() -> None:
    q = Fraction(9, 10)
    assert not is_dominated(shifted(q, 3), shifted(q, 2))
    assert not is_dominated(shifted(q**2, 2), shifted(q, 4))
    assert not is_dominated(shifted(q, 4), together([shifted(q, 2), shifted(q, 2)]))


def test_a_large_distance_is_rounded_up_and_stretched() -> None:
    loss = LaplaceLoss(Fraction(1, 10_000), 1_000_001)
    coarse = loss.coarse()
    assert coarse.distance == FINEST and coarse.rate * FINEST >= loss.rate * loss.distance
    assert coarse.rate * FINEST <= loss.rate * loss.distance * (1 + Fraction(1, 1000))
    assert LaplaceLoss(Fraction(1), 7).coarse() == LaplaceLoss(Fraction(1), 7)


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_a_longer_way_dominates_under_gaussian_noise(distance: int) -> None:
    """By thresholds, where the likelihood ratio is monotone: P(Z ≥ t − d) − e^ε P(Z ≥ t) grows with d."""
    weights = {z: math.exp(-z * z / 18) for z in range(-80, 81)}
    whole = math.fsum(weights.values())

    def above(t: int) -> float:
        return math.fsum(weight for z, weight in weights.items() if z >= t) / whole

    for factor in (0.5, 1.0, 1.7, 4.0):
        one, more = (max(above(t - d) - factor * above(t) for t in range(-40, 41)) for d in (distance, distance + 1))
        assert one <= more + 1e-15


#: The mass of each loss ln P(z)/P(z − v), of noise on a lattice that is moved by a vector.
Losses = list[tuple[float, float]]


def lattice(variance: float, moved: tuple[int, ...]) -> Losses:
    """Summed term by term, on a line for each coordinate."""
    reach = math.ceil(11 * math.sqrt(variance))
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1)}
    whole = math.fsum(weights.values())
    found: Losses = [(0.0, 1.0)]
    for d in moved:
        line = [((d * d - 2 * z * d) / (2 * variance), weight / whole) for z, weight in weights.items()]
        found = [(a + b, p * q) for a, p in found for b, q in line if p * q > 1e-18]
    return found


def lost(pair: Losses, epsilon: float) -> float:
    """The hockey-stick divergence at ε."""
    return math.fsum(mass * -math.expm1(epsilon - loss) for loss, mass in pair if loss > epsilon)


def on_the_line(epsilon: float, ratio: float) -> float:
    """The same of continuous Gaussian noise that is moved by so many standard deviations."""

    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(ratio / 2 - epsilon / ratio) - math.exp(epsilon) * below(-ratio / 2 - epsilon / ratio)


MOVED = [(1,), (2,), (3,), (1, 1), (1, 2), (2, 2), (1, 1, 1)]


@pytest.mark.parametrize("variance", [2.7, 3.0, 5.0])
@pytest.mark.parametrize("moved", MOVED)
def test_noise_on_a_lattice_is_dominated_by_slightly_narrower_noise_on_the_line(
    variance: float, moved: tuple[int, ...]
) -> None:
    """And not by noise of its own width: the check can fail."""
    pair, square = lattice(variance, moved), sum(d * d for d in moved)
    narrow, own = (math.sqrt(square / each) for each in (variance - float(smoothing(square)), variance))
    grid = [place / 20 for place in range(-60, 61)]
    assert all(lost(pair, epsilon) <= on_the_line(epsilon, narrow) + 1e-14 for epsilon in grid)
    assert any(lost(pair, epsilon) > on_the_line(epsilon, own) + 1e-6 for epsilon in grid)


@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("other", [(), (1,), (2,)])
def test_the_epsilon_of_vectors_is_not_below_that_of_their_lattice(
    moved: tuple[int, ...], other: tuple[int, ...]
) -> None:
    """Alone, and beside another release: a product of lattices is a lattice."""
    variance, delta = Fraction(27, 10), Fraction(1, 20)
    both = [GaussianVectorLoss(variance, sum(d * d for d in each)) for each in (moved, other) if each]
    found = float(epsilon_of_losses(both, delta))
    assert lost(lattice(float(variance), (*moved, *other)), found) <= float(delta)


@pytest.mark.parametrize("square", [1, 2, 3, 1000, 2**22, 2**100])
def test_what_is_rounded_to_integers_is_not_seen(square: int) -> None:
    """The bound of the docstring, and that half of the variance would not do."""
    with mpmath.workdps(60):
        r = smoothing(square)

        def seen(variance: Fraction) -> mpmath.mpf:
            exponent = 2 * mpmath.pi**2 * variance.numerator / variance.denominator
            return square * 2 * mpmath.fsum(mpmath.exp(-exponent * k * k) for k in range(1, 6))

        assert seen(r) <= mpmath.mpf(2) ** -60 < seen(r / 2)


@pytest.mark.parametrize("step", [2**11, 10**12])
def test_the_wider_the_noise_the_nearer_is_the_lattice_to_the_line(step: int) -> None:
    """So that counts and sums, of thousands of steps a row and more, lose nothing by it."""
    wide = float(epsilon_of_losses([GaussianVectorLoss(Fraction(200) * step**2, step**2)] * 100, MICRO))
    assert on_the_line(wide, math.sqrt(0.5)) <= 1e-6 <= on_the_line(wide * 0.999, math.sqrt(0.5))


def test_narrow_noise_on_vectors_has_no_pair() -> None:
    with pytest.raises(DataError, match="as narrow as this"):
        GaussianVectorLoss(smoothing(5), 5)


def test_dear_blocks_are_composed_on_a_wider_grid() -> None:
    """From above, and without work that grows with the price."""
    dear = [GaussianVectorLoss(Fraction(10**6), 1000 * 10**6)]
    found = float(epsilon_of_losses(dear, MICRO))
    assert on_the_line(found, math.sqrt(1000)) <= 1e-6 <= on_the_line(found * 0.999, math.sqrt(1000))


# composition


def responses(epsilon: str, count: int, delta: Fraction) -> mpmath.mpf:
    """ε at δ of so many randomized responses, from their binomial law."""
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        p = 1 / (1 + mpmath.exp(-e))
        masses = [mpmath.binomial(count, j) * p**j * (1 - p) ** (count - j) for j in range(count + 1)]

        def at(target: mpmath.mpf) -> mpmath.mpf:
            return mpmath.fsum(
                mass * max(0, 1 - mpmath.exp(target - (2 * j - count) * e)) for j, mass in enumerate(masses)
            )

        low, high, wanted = mpmath.mpf(0), count * e, mpmath.mpf(delta.numerator) / delta.denominator
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if at(middle) > wanted else (low, middle)
        return high


@pytest.mark.parametrize("count", [1, 10, 37, 100, 300])
@pytest.mark.parametrize("delta", [MICRO, NANO * 2, Fraction(1, 100)])
@pytest.mark.parametrize("epsilon", ["0.1", "0.03333", "0.77"])
def test_composition_is_from_above_and_tight(epsilon: str, count: int, delta: Fraction) -> None:
    exact = responses(epsilon, count, delta)
    for loss in (PureLoss(Fraction(epsilon)), LaplaceLoss(Fraction(epsilon), 1)):
        found = epsilon_of_losses([loss] * count, delta)
        assert exact <= float(found) * (1 + 1e-12) and float(found) <= exact * 1.03 + 1e-3


@pytest.mark.parametrize(
    ("loss", "delta", "known"),
    [
        (LaplaceLoss(Fraction(1, 10), 1), MICRO, 4.7746),
        (LaplaceLoss(Fraction(1, 10), 1), NANO, 5.9596),
        (LaplaceLoss(Fraction(1, 20480), 2048), MICRO, 4.69267),
        (LaplaceLoss(Fraction(1, 20480), 2048), NANO, 5.85325),
        (GaussianLoss(Fraction(200), 1), MICRO, 3.3107),
        (GaussianLoss(Fraction(200), 1), NANO, 4.2286),
    ],
)
def test_a_hundred_have_the_known_values(loss: Loss, delta: Fraction, known: float) -> None:
    assert known <= float(epsilon_of_losses([loss] * 100, delta)) <= known * 1.003


def test_the_loss_is_that_of_discrete_noise() -> None:
    """The continuous Laplace law would say less of a count: 4.6927 instead of 4.7746."""
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    continuous = from_laplace_mechanism(10, value_discretization_interval=1e-4).self_compose(100)
    assert continuous.get_epsilon_for_delta(1e-6) < 4.70 < 4.77 < epsilon_of_losses(
        [LaplaceLoss(Fraction(1, 10), 1)] * 100, MICRO
    )  # fmt: skip


def test_losses_are_ordered_before_the_other_accountants() -> None:
    cost = Laplace.priced(1, Fraction(1, 10)).cost
    assert epsilon_of_losses([PureLoss(Fraction(1, 10))] * 100, MICRO) < epsilon_of_rho(100 * cost.rho, MICRO)


def test_a_leak_is_taken_from_delta() -> None:
    plain = epsilon_of_losses([PureLoss(Fraction(1, 2))] * 8, MICRO / 2)
    assert epsilon_of_losses([PureLoss(Fraction(1, 2))] * 8 + [Leak(MICRO / 4)] * 2, MICRO) == plain
    assert epsilon_of_losses([Leak(MICRO / 4)], MICRO) == 0 == epsilon_of_losses([], MICRO)
    with pytest.raises(DataError, match="beside what thresholds use"):
        epsilon_of_losses([PureLoss(Fraction(1)), Leak(MICRO)], MICRO)


def test_a_delta_below_the_rounding_of_floats_is_refused() -> None:
    with pytest.raises(DataError, match="needs a δ of at least 1e-09"):
        epsilon_of_losses([PureLoss(Fraction(1))], NANO / 2)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses_of, "is_installed", lambda: False)
    with pytest.raises(DataError, match=r'pip install "dpsql\[pld\]"'):
        epsilon_of_losses([PureLoss(Fraction(987, 1000))], MICRO)


def test_the_extra_is_imported_when_it_is_used_and_not_before() -> None:
    import subprocess

    code = "import sys, dpsql, dpsql.session, dpsql.workload; sys.exit('dp_accounting' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# what is (ε, δ)-DP, as the ledger holds it


def test_an_approximate_pair_is_pure_but_for_its_delta() -> None:
    """The construction of docs/proofs/loss.md, on laws over six outcomes."""
    import random

    draw = random.Random(7).random
    for _ in range(300):
        p, q = ([x / sum(each) for x in each] for each in ([draw() ** 3 for _ in range(6)] for _ in range(2)))
        epsilon = 2 * draw()
        e = math.exp(epsilon)
        delta = max(sum(max(a - e * b, 0) for a, b in pairs) for pairs in (zip(p, q), zip(q, p)))  # noqa: B905
        one, other = approximated(p, q, e, delta)
        assert math.isclose(sum(one), 1) and math.isclose(sum(other), 1)
        for a, b, a0, b0 in zip(one, other, p, q, strict=True):
            assert a <= e * b * (1 + 1e-9) and b <= e * a * (1 + 1e-9)
            assert (1 - delta) * a <= a0 * (1 + 1e-9) and (1 - delta) * b <= b0 * (1 + 1e-9)


def approximated(p: list[float], q: list[float], e: float, delta: float) -> tuple[list[float], list[float]]:
    """P′ and Q′ of the proof."""
    one = [min(a, e * b) for a, b in zip(p, q, strict=True)]
    other = [min(b, e * a) for a, b in zip(p, q, strict=True)]
    if sum(one) < sum(other):
        found = approximated(q, p, e, delta)
        return found[1], found[0]
    low = [b / e for b in other]
    part = (sum(other) - sum(low)) / (sum(one) - sum(low)) if sum(one) > sum(low) else 1.0
    mixed = [part * a + (1 - part) * b for a, b in zip(one, low, strict=True)]
    return [a / sum(mixed) for a in mixed], [b / sum(other) for b in other]


def test_the_counterexample_to_a_filter_of_realised_losses() -> None:
    """Each path is (1, 10⁻⁶)-DP with parameters fixed, and the whole that chooses between them is not."""
    first, second, delta, e = 0.1, 0.9000026792880332, 1e-6, math.exp(1)

    def response(epsilon: float) -> list[tuple[float, float]]:
        up = math.exp(epsilon) / (1 + math.exp(epsilon))
        return [(up, 1 - up), (1 - up, up)]

    leak = [(delta, 0.0), (1 - delta, 1.0)] if delta else []

    def excess(pairs: list[tuple[float, float]]) -> float:
        return math.fsum(max(a - e * b, 0) for a, b in pairs)

    def then(path: Callable[[int], list[tuple[float, float]]]) -> float:
        found = [
            (a * c, b * d) for place, (a, b) in enumerate(response(first)) for c, d in path(place)
        ]  # fmt: skip
        return excess(found)

    assert then(lambda _: response(second)) <= 1.0000001e-6 and then(lambda _: leak) <= 1.0000001e-6
    assert then(lambda place: leak if place else response(second)) == pytest.approx(1.4750208e-6, rel=1e-4)


def test_pairs_next_to_each_other_are_in_order() -> None:
    found = [float(epsilon_of_losses([LaplaceLoss(Fraction(1, 10) / d, d)] * 50, MICRO)) for d in (1, 2, 4, 256, 512)]
    assert all(after <= before * 1.001 for before, after in pairwise(found))
