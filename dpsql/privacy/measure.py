"""What a release costs, how costs add up, and how zCDP converts to (ε, δ).

Proved in ``docs/proofs/measure.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Literal, TypeAlias

from dpsql.errors import DataError, InternalError
from dpsql.privacy.rounding import exp_bounds, rounded_up

#: Which databases may not be told apart: with and without a unit,
#: or with one unit in the place of #: another.
NeighbourRelation: TypeAlias = Literal["add-remove", "replace"]

#: Charged costs are multiples of 1 / GRID, so that no total ever needs a larger denominator. Every
#: decimal of up to thirty places, every dyadic of up to 192 and every fraction with a small
#: denominator lies on the grid exactly.
GRID = 2**192 * 3**10 * 5**30 * 7**4 * 11**2 * 13**2

#: Converted figures are given to this many decimal places,
#: rounded in the direction that the #: function names.
PLACES = 30

#: The half-even context of the conversions; libmpdec's ``ln`` is correctly rounded in it.
_CONTEXT = Context(prec=60, traps=[InvalidOperation, DivisionByZero, Overflow])

#: More than the rounding error of the few operations of a conversion,
#: relative to the sum of its #: terms' sizes.
_SLACK = Decimal("1e-50")


@dataclass(frozen=True)
class Cost:
    """The privacy loss of one release, in every measure that the accountant keeps.

    ``epsilon`` is the pure-DP loss, or None if the mechanism has none (Gaussian noise); ``rho`` the
    zCDP loss; ``delta`` the probability mass on which neither is promised. All three are exact and
    compose by addition.
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("rho", self.rho), ("delta", self.delta)):
            if value is None and name == "epsilon":
                continue
            if not isinstance(value, Fraction) or value.numerator < 0:
                raise InternalError(f"the {name} of a cost must be a Fraction of at least 0")
        if self.rho == 0 and self.epsilon != 0:
            raise InternalError("a cost without rho has no epsilon either")

    def __add__(self, other: Cost) -> Cost:
        pure = (
            None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        )
        return Cost(pure, self.rho + other.rho, self.delta + other.delta)

    def rounded_up(self) -> Cost:
        """The smallest cost on the ledger's grid that is at least this one.

        >>> Cost(Fraction(1, 3), Fraction(1, 18)).rounded_up() == Cost(Fraction(1, 3), Fraction(1, 18))
        True
        """
        pure = None if self.epsilon is None else _up(self.epsilon, GRID)
        return Cost(pure, _up(self.rho, GRID), _up(self.delta, GRID))


#: The cost of releasing nothing.
FREE = Cost(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Guarantee:
    """An (ε, δ) guarantee."""

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        pair = (
            shown(self.epsilon)
            if not self.delta
            else f"({shown(self.epsilon)}, {shown(self.delta)})"
        )
        return f"{pair}-DP"


def standalone_guarantee(cost: Cost, delta: Fraction) -> Guarantee | None:
    """The (ε, δ) that a release of this cost promises by itself; None if δ is 0 and it is not pure.

    A price is no guarantee, although a reader may take it for one: Gaussian noise at a price of 1
    has ρ = 1/2.

    >>> found = standalone_guarantee(Cost(None, Fraction(1, 2)), Fraction(1, 10**6))
    >>> round(float(found.epsilon), 1), float(found.delta)
    (5.2, 1e-06)
    """
    if cost.epsilon is not None:
        return Guarantee(cost.epsilon, cost.delta)
    if not delta:
        return None
    converted = delta - cost.delta if cost.delta < delta else delta
    return Guarantee(epsilon_of_rho(cost.rho, converted), cost.delta + converted)


def exact(value: object, name: str = "epsilon") -> Fraction:
    """The positive number that a person wrote, as the fraction that they meant.

    >>> exact(0.1), exact("1e-6"), exact(Decimal("0.30"))
    (Fraction(1, 10), Fraction(1, 1000000), Fraction(3, 10))
    """
    refusal = DataError(f"{name} must be a finite number above 0")
    if isinstance(value, bool):
        raise refusal
    if isinstance(value, Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, float | str | Decimal):
        text = repr(float(value)) if isinstance(value, float) else str(value)
        try:
            decimal = Decimal(text)
        except InvalidOperation:
            raise refusal from None
        if not decimal.is_finite() or len(text) > 100 or abs(decimal.adjusted()) > 300:
            raise refusal
        number = Fraction(decimal)
    else:
        raise refusal
    if number <= 0:
        raise refusal
    return number


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The least ε known for which ρ-zCDP implies (ε, δ)-DP, rounded up.

    ε = inf over α > 1 of αρ + ln((α − 1)/α) − (ln δ + ln α)/(α − 1), of Canonne, Kamath and Steinke
    (2020). ``docs/proofs/measure.md``.
    """
    _require_probability(delta)
    if rho == 0:
        return Fraction(0)
    size = _decimal(rho)
    bound, slack = _without_rho(_order(_float(rho), _log_inverse(delta)), delta)
    alpha = bound.alpha
    linear = _CONTEXT.multiply(alpha, size)
    epsilon = (
        Fraction(linear)
        + Fraction(bound.rest)
        + Fraction(slack)
        + Fraction(linear) * Fraction(_SLACK)
    )
    return _up(max(epsilon, Fraction(0)), 10**PLACES)


@lru_cache(maxsize=256)
def rho_total(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ known for which ρ-zCDP implies (ε, δ)-DP, rounded down.

    ``docs/proofs/measure.md``.
    """
    _require_probability(delta)
    inverse = _log_inverse(delta)
    target = _float(epsilon)
    low = math.log(1e-60)
    high = math.log(1e12)
    for _ in range(90):
        middle = (low + high) / 2
        order = _order(math.exp(middle), inverse)
        low, high = (
            (middle, high)
            if _epsilon_at(order, math.exp(middle), inverse) <= target
            else (low, middle)
        )
    bound, slack = _without_rho(_order(math.exp(low), inverse), delta)
    rho = (epsilon - Fraction(bound.rest) - Fraction(slack)) / Fraction(bound.alpha)
    return _down(max(rho, Fraction(0)), 10**PLACES)


def epsilon_of_rho_standard(rho: Fraction, delta: Fraction) -> Fraction:
    """ε = ρ + 2√(ρ ln(1/δ)) of Bun and Steinke (2016), rounded up:
    simpler and never less than `epsilon_of_rho`.
    """
    _require_probability(delta)
    log = _CONTEXT.minus(_CONTEXT.ln(_decimal(delta)))
    root = _CONTEXT.sqrt(_CONTEXT.multiply(_decimal(rho), log))
    return _up(rho + 2 * Fraction(root) * (1 + Fraction(_SLACK)), 10**PLACES)


def pure_rho(epsilon: Fraction) -> Fraction:
    """ρ of any ε-DP mechanism: ε·tanh(ε/2), rounded up.

    >>> round(float(pure_rho(Fraction(1))), 6)
    0.462117
    """
    one = 1 << 512
    x, _ = exp_bounds(epsilon, 512)
    return rounded_up(epsilon * Fraction(one - x, one + x))


def shown(value: Fraction) -> str:
    """Four significant digits of a figure, for messages.

    >>> shown(Fraction(1, 3)), shown(Fraction(5000)), shown(Fraction(10)**400)
    ('0.3333', '5000', '1e+400')
    """
    text = format(_decimal(value).normalize(_CONTEXT), ".4g")
    return format(Decimal(text), "f") if 0 < Decimal(text).adjusted() < 9 else text


@dataclass(frozen=True)
class _Bound:
    """ε ≤ alpha·ρ + rest, at one order alpha of the conversion."""

    alpha: Decimal
    rest: Decimal


def _without_rho(b: float, delta: Fraction) -> tuple[_Bound, Decimal]:
    """The conversion at order α = 1 + b apart from its ρ,
    and more than the rounding error made here.
    """
    step = Decimal(b)
    c = _CONTEXT
    # Rounded; the step is then taken again from what alpha became, without rounding.
    alpha = c.add(step, 1)
    step = c.subtract(alpha, 1)
    log_inverse_delta = c.minus(c.ln(_decimal(delta)))
    log_alpha = c.ln(alpha)
    log_ratio = c.ln(c.divide(alpha, step))
    rest = c.subtract(c.divide(c.subtract(log_inverse_delta, log_alpha), step), log_ratio)
    size = c.add(
        c.divide(c.add(c.add(log_inverse_delta, log_alpha), 1), step), c.add(abs(log_ratio), 1)
    )
    return _Bound(alpha, rest), c.multiply(_SLACK, size)


def _order(rho: float, log_inverse_delta: float) -> float:
    """b = α − 1 at the minimum of the conversion, where ρb² + ln(1 + b) = ln(1/δ);
    any other b is merely looser.
    """
    low = -40.0
    high = 35.0
    for _ in range(60):
        middle = (low + high) / 2
        b = math.exp(middle)
        low, high = (
            (middle, high) if rho * b * b + math.log1p(b) < log_inverse_delta else (low, middle)
        )
    return math.exp(low)


def _epsilon_at(b: float, rho: float, log_inverse_delta: float) -> float:
    return (1 + b) * rho - math.log1p(1 / b) + (log_inverse_delta - math.log1p(b)) / b


def _require_probability(delta: Fraction) -> None:
    if not 0 < delta < 1:
        raise DataError("delta must be above 0 and below 1")


def _log_inverse(delta: Fraction) -> float:
    return -float(_CONTEXT.ln(_decimal(delta)))


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _float(value: Fraction) -> float:
    return float(min(value, Fraction(10) ** 290))


def _up(value: Fraction, grid: int) -> Fraction:
    return Fraction(-(-value.numerator * grid // value.denominator), grid)


def _down(value: Fraction, grid: int) -> Fraction:
    return Fraction(value.numerator * grid // value.denominator, grid)
