"""Costs compose exactly, and each conversion is rounded in the direction that its name says."""

from __future__ import annotations

import copy
import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy
import pytest
import textbook_composition as composition
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.errors import DataError, InternalError
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import admits
from dpsql.privacy.measure import (
    FREE,
    GRID,
    Cost,
    epsilon_of_rho,
    epsilon_of_rho_standard,
    exact,
    rho_total,
    shown,
    standalone_guarantee,
)

MICRO, NANO = Fraction("1e-6"), Fraction("1e-9")

fractions = st.fractions(min_value=0, max_value=10, max_denominator=10**6)


def reference(rho: Fraction, delta: Fraction) -> mpmath.mpf:
    """The infimum of the conversion, to 60 digits, by the root of its derivative."""
    with mpmath.workdps(60):
        r, log = (
            mpmath.mpf(rho.numerator) / rho.denominator,
            -mpmath.log(mpmath.mpf(delta.numerator) / delta.denominator),
        )
        low, high = mpmath.mpf("1e-30"), mpmath.exp(log)
        for _ in range(400):
            middle = mpmath.sqrt(low * high)
            low, high = (
                (middle, high) if r * middle**2 + mpmath.log1p(middle) < log else (low, middle)
            )
        alpha = 1 + low
        return alpha * r + mpmath.log(low / alpha) + (log - mpmath.log(alpha)) / low


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [
        (Fraction(1, 2), MICRO, 5.2215344407),
        (Fraction(1, 2), NANO, 6.474070),
        (Fraction("0.005"), MICRO, 0.4299414688),
        (Fraction(5), MICRO, 20.5519488),
    ],
)
def test_the_optimal_conversion_has_the_known_values(
    rho: Fraction, delta: Fraction, epsilon: float
) -> None:
    assert float(epsilon_of_rho(rho, delta)) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"),
    [(1, MICRO, 0.02435597), (3, MICRO, 0.18506984), (3, NANO, 0.12058243)],
)
def test_the_total_rho_has_the_known_values(epsilon: int, delta: Fraction, rho: float) -> None:
    assert float(rho_total(Fraction(epsilon), delta)) == pytest.approx(rho, rel=1e-6)


@settings(max_examples=60)
@given(
    st.fractions(min_value=Fraction("1e-9"), max_value=100, max_denominator=10**9),
    st.integers(1, 30).map(lambda digits: Fraction(1, 10**digits)),
)
def test_epsilon_is_rounded_up_and_tight(rho: Fraction, delta: Fraction) -> None:
    given_epsilon, least = epsilon_of_rho(rho, delta), reference(rho, delta)
    with mpmath.workdps(60):
        above = mpmath.mpf(given_epsilon.numerator) / given_epsilon.denominator - max(least, 0)
        assert 0 <= above <= max(least, 0) * mpmath.mpf("1e-12") + mpmath.mpf("1e-20")


@settings(max_examples=40)
@given(
    st.fractions(min_value=Fraction("1e-4"), max_value=60, max_denominator=10**6),
    st.integers(2, 30).map(lambda digits: Fraction(1, 10**digits)),
)
def test_total_rho_is_rounded_down_and_tight(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_total(epsilon, delta)
    with mpmath.workdps(60):
        target = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        assert reference(rho, delta) <= target
        assert reference(rho * (1 + Fraction("1e-9")), delta) > target


def test_every_order_is_a_valid_conversion_so_a_poor_one_only_loses() -> None:
    """A search that missed the minimum would give a larger ε: the factor 1.01 on ρ is seen."""
    assert (
        epsilon_of_rho(Fraction("0.505"), MICRO)
        > epsilon_of_rho(Fraction("0.5"), MICRO)
        > Fraction("5.2215")
    )


def test_the_standard_conversion_is_the_looser_one() -> None:
    assert float(epsilon_of_rho_standard(Fraction(1, 2), MICRO)) == pytest.approx(
        5.756522, rel=1e-6
    )
    assert epsilon_of_rho(Fraction(1, 2), MICRO) < epsilon_of_rho_standard(Fraction(1, 2), MICRO)


def test_extreme_figures_do_not_fail() -> None:
    assert epsilon_of_rho(Fraction(0), MICRO) == 0
    assert epsilon_of_rho(Fraction(10) ** 200, MICRO) > Fraction(10) ** 200
    assert epsilon_of_rho(Fraction(1, 10**40), Fraction(1, 10**300)) > 0
    assert rho_total(Fraction(1, 10**6), Fraction(1, 10**300)) >= 0
    assert 0 < rho_total(Fraction(10) ** 6, MICRO) < Fraction(10) ** 6


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2)])
def test_a_conversion_needs_a_delta(delta: Fraction) -> None:
    for convert in (epsilon_of_rho, rho_total, epsilon_of_rho_standard):
        with pytest.raises(DataError):
            convert(Fraction(1), delta)


@given(
    st.lists(
        st.tuples(st.none() | fractions, fractions.map(lambda rho: rho + 1), fractions), max_size=8
    )
)
def test_costs_compose_by_exact_addition(
    parts: list[tuple[Fraction | None, Fraction, Fraction]],
) -> None:
    total = sum((Cost(*part) for part in parts), FREE)
    pure = [epsilon for epsilon, _, _ in parts]
    assert total.epsilon == (None if None in pure else sum(e for e in pure if e is not None))
    assert total.rho == sum(rho for _, rho, _ in parts)
    assert total.delta == sum(delta for _, _, delta in parts)


@given(fractions, fractions, fractions)
def test_a_cost_is_rounded_up_to_the_grid_by_less_than_one_step(
    e: Fraction, r: Fraction, d: Fraction
) -> None:
    cost = Cost(e, r + 1, d)
    charged = cost.rounded_up()
    assert charged.epsilon is not None
    for before, after in ((e, charged.epsilon), (r + 1, charged.rho), (d, charged.delta)):
        assert 0 <= after - before < Fraction(1, GRID)
        assert GRID % after.denominator == 0
    assert charged.rounded_up() == charged


@given(st.integers(-(10**30), 10**30).filter(bool), st.integers(1, 30))
def test_decimals_lie_on_the_grid(digits: int, places: int) -> None:
    value = Fraction(abs(digits), 10**places)
    assert Cost(value, value).rounded_up() == Cost(value, value)


@pytest.mark.parametrize(
    "parts",
    [
        (Fraction(-1), Fraction(1)),
        (0.1, Fraction(1)),
        (Fraction(1), 0.1),
        (True, Fraction(1)),
        (Fraction(1), Fraction(1), math.nan),
        (Fraction(1), None),
        (Fraction(1), Fraction(0)),
        (None, Fraction(0)),
    ],
)
def test_a_cost_that_cannot_be_is_refused(parts: tuple[object, ...]) -> None:
    with pytest.raises(InternalError):
        Cost(*parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (3, Fraction(3)),
        ("0.25", Fraction(1, 4)),
        (Decimal("1E-9"), Fraction(1, 10**9)),
        (Fraction(1, 3), Fraction(1, 3)),
        (numpy.float64(0.1), Fraction(1, 10)),
        (numpy.int64(2), Fraction(2)),
    ],
)
def test_a_written_number_is_taken_as_meant(written: object, meant: Fraction) -> None:
    assert exact(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        *(math.nan, math.inf, -math.inf, 0, 0.0, -1, -0.1, True, False, None, 1j, b"1", [1]),
        *("", "nan", "inf", "1e999999999", "1e-999999999", "0" * 200, "1/3", "0.1; --"),
        *(
            Decimal("NaN"),
            Decimal("Infinity"),
            Decimal("1e-999999"),
            numpy.float64("nan"),
            numpy.bool_(True),
        ),
    ],
)
def test_what_is_no_positive_number_is_refused(written: object) -> None:
    with pytest.raises(DataError):
        exact(written)


@settings(max_examples=60)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=3, max_denominator=300),
    st.sampled_from([Fraction(0), Fraction("1e-8"), Fraction("9e-7")]),
    st.booleans(),
)
def test_what_a_release_promises_alone_is_a_filter_of_its_own(
    price: Fraction, leak: Fraction, pure: bool
) -> None:
    """A budget of just that promise, split as is said, admits the release;
    one of a little less ε does not.
    """
    cost, delta = Cost(price if pure else None, price**2 / 2, leak), Fraction("1e-6")
    found = standalone_guarantee(cost, delta)
    assert found is not None and found.delta == (leak if pure else delta)
    assert not pure or found.epsilon == price
    if not pure:
        share = (delta - leak) / delta
        assert admits(
            Budget(found.epsilon * (1 + Fraction(1, 10**9)), found.delta, share), FREE, cost
        )
        assert not admits(
            Budget(found.epsilon * Fraction(999, 1000), found.delta, share), FREE, cost
        )


def test_a_price_is_no_guarantee() -> None:
    """Gaussian noise at a price of 1 is (5.2, 10⁻⁶)-DP; without a δ it promises nothing."""
    gaussian = Cost(None, Fraction(1, 2))
    assert (
        str(standalone_guarantee(gaussian, Fraction("1e-6"))) == "(5.222, 0.000001)-DP"
        and standalone_guarantee(gaussian, Fraction(0)) is None
    )
    assert str(standalone_guarantee(Cost(Fraction(1), Fraction(1, 2)), Fraction("1e-6"))) == "1-DP"


def test_figures_of_any_size_can_be_shown() -> None:
    assert [shown(Fraction(n)) for n in (0, 1, "0.1", "1e-12")] == ["0", "1", "0.1", "1e-12"]


def test_a_cost_is_a_value() -> None:
    assert copy.deepcopy(FREE) == FREE


# What the textbook's rules give, and why the filter is not one of them.


def test_the_textbook_rules_have_the_known_values() -> None:
    assert composition.advanced(100, 0.1, 1e-6) == pytest.approx(6.3082, rel=1e-4)
    assert composition.advanced(10, 0.1, 1e-6) == pytest.approx(1.7674, rel=1e-4)
    assert composition.advanced(1, 0.1, 1e-6) == pytest.approx(0.5362, rel=1e-4)
    assert composition.adaptive_advanced([0.1] * 100, 1e-6) == pytest.approx(5.7565, rel=1e-4)


def test_the_adaptive_rule_is_the_standard_conversion() -> None:
    standard = float(epsilon_of_rho_standard(Fraction(1, 2), MICRO))
    assert composition.adaptive_advanced([0.1] * 100, 1e-6) == pytest.approx(standard, rel=1e-12)


def laplace_by_renyi(count: int, epsilon: float, delta: float) -> float:
    orders = [1 + 10 ** (step / 100) for step in range(-100, 400)]
    return composition.epsilon_of_renyi(
        lambda a: count * composition.laplace_renyi(epsilon, a), delta, orders
    )


def test_rules_are_ordered_by_tightness() -> None:
    tight = float(epsilon_of_rho(Fraction(100 * composition.laplace_rho(0.1)), MICRO))
    figures = [
        laplace_by_renyi(100, 0.1, 1e-6),
        tight,
        float(epsilon_of_rho(Fraction(1, 2), MICRO)),
        composition.adaptive_advanced([0.1] * 100, 1e-6),
        composition.advanced(100, 0.1, 1e-6),
        composition.basic(100, 0.1),
    ]
    assert figures == pytest.approx([4.9842, 5.1249, 5.2215, 5.7565, 6.3082, 10.0], rel=1e-4)
    assert figures == sorted(figures)


def test_calibrations_of_gaussian_noise() -> None:
    assert composition.analytic_sigma(1, 1e-5) == pytest.approx(3.730632, rel=1e-6)
    assert composition.analytic_sigma(1, 1e-6, 2.0) == pytest.approx(2 * 4.224679, rel=1e-6)
    assert composition.analytic_sigma(0.1, 1e-6) == pytest.approx(36.304690, rel=1e-6)
    assert composition.analytic_sigma(10, 1e-5) == pytest.approx(0.499889, rel=1e-5)
    assert composition.classic_sigma(0.1, 1e-6) == pytest.approx(52.988025, rel=1e-6)
    assert composition.gaussian_delta(10, 0.4844805) == pytest.approx(2.27e-5, rel=5e-3)


@pytest.mark.parametrize("epsilon", [1.0, 10.0, 0.0, math.nan])
def test_the_classic_calibration_is_refused_where_it_does_not_hold(epsilon: float) -> None:
    with pytest.raises(DataError):
        composition.classic_sigma(epsilon, 1e-5)


def test_discrete_gaussian_noise_may_be_better_or_worse_than_continuous() -> None:
    assert composition.discrete_gaussian_delta(1, 4) == pytest.approx(0.0072488, rel=1e-4)
    assert composition.gaussian_delta(1, 2) == pytest.approx(0.0068296, rel=1e-4)
    assert composition.discrete_gaussian_delta(0.5, 1) == pytest.approx(0.203983, rel=1e-4)
    assert composition.gaussian_delta(0.5, 1) == pytest.approx(0.238422, rel=1e-4)


def test_an_independent_accountant_agrees() -> None:
    """dp-accounting's privacy loss distributions, which are exact for fixed parameters,
    lie just under our figures.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    laplace = pld.from_laplace_mechanism(10, value_discretization_interval=1e-3).self_compose(100)
    assert laplace.get_epsilon_for_delta(1e-6) == pytest.approx(4.69267, rel=1e-3)
    assert laplace.get_epsilon_for_delta(1e-9) == pytest.approx(5.85325, rel=1e-3)
    discrete = pld.from_discrete_laplace_mechanism(
        0.1, 1, value_discretization_interval=1e-3
    ).self_compose(100)
    assert discrete.get_epsilon_for_delta(1e-6) == pytest.approx(4.7746, rel=1e-3)
    assert discrete.get_epsilon_for_delta(1e-9) == pytest.approx(5.9596, rel=1e-3)
    gaussian = pld.from_gaussian_mechanism(
        math.sqrt(200), value_discretization_interval=1e-3
    ).self_compose(100)
    assert gaussian.get_epsilon_for_delta(1e-6) == pytest.approx(3.30760, rel=1e-3)
    assert gaussian.get_epsilon_for_delta(1e-9) == pytest.approx(4.22594, rel=1e-3)
    integers = pld.from_discrete_gaussian_mechanism(
        math.sqrt(200), 1, value_discretization_interval=1e-4
    )
    integers = integers.self_compose(100)
    assert integers.get_epsilon_for_delta(1e-6) == pytest.approx(3.3107, rel=1e-3)
    assert integers.get_epsilon_for_delta(1e-9) == pytest.approx(4.2286, rel=1e-3)
    ours = float(epsilon_of_rho(Fraction(100, 400), MICRO))
    assert integers.get_epsilon_for_delta(1e-6) < ours == pytest.approx(3.5423, rel=1e-4)


def test_stopping_when_the_realised_path_is_full_is_no_filter() -> None:
    """Each path is (1, 1e-6)-DP by itself, and the adaptive whole is not;
    our filter refuses both second steps.
    """
    first, second = 0.1, 0.9000026792880332
    p, r = (math.exp(e) / (1 + math.exp(e)) for e in (first, second))
    favourable = p * r - math.e * (1 - p) * (1 - r)
    assert favourable == pytest.approx(1e-6, rel=1e-4)
    assert favourable + (1 - p) * 1e-6 == pytest.approx(1.4750208e-6, rel=1e-4)

    def pure(epsilon: float) -> Cost:
        return Cost(Fraction(epsilon), Fraction(epsilon * math.tanh(epsilon / 2)))

    budget = Budget(Fraction(1), MICRO)
    assert admits(budget, FREE, pure(first))
    assert not admits(budget, pure(first), pure(second))
    assert not admits(budget, pure(first), Cost(Fraction(0), Fraction(0), MICRO))
