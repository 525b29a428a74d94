"""The grid on which a bounded expression's values are added, and the bins that count them.

Proved in ``docs/proofs/quantise.md``, ``docs/proofs/moments.md`` and ``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import Literal as OneOf
from typing import assert_never

from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.ir.expression import Expression

#: A double is cut to this many bits below its largest value;
#: whole numbers and decimals may have more.
DOUBLE_BITS = 24
MOST_BITS = 32
#: What is added up over one unit's rows alone has steps that doubles still tell apart.
MOST_BITS_OF_UNIT = 50
#: A double is cut to this many bits below its largest value where it is counted in bins.
BIN_BITS = 30
#: Products of two values on their grids are cut to this many bits.
PRODUCT_BITS = 28
#: Where no bounds are declared: the steps of a double, and how many of them a value has at most.
UNBOUNDED_STEP = Fraction(1, 2**40)
MOST_STEPS = 2**96
#: Each size that is looked at for clipping is this many times the one before.
RATIO = Fraction(11, 10)
#: Sizes beyond the engine's BIGINT are doubles.
LARGEST_INTEGER = 2**63
#: No grid is finer than 2 to this: its inverse must be a double.
LEAST_EXPONENT = -1000


@dataclass(frozen=True, slots=True)
class Quantum:
    """Steps of ``size`` from ``low`` to ``high``; ``factor`` turns a value into steps."""

    size: Fraction
    factor: float
    low: int
    high: int

    @property
    def middle(self) -> int:
        """The middle of the range, in steps."""
        return (self.low + self.high) // 2

    @property
    def largest(self) -> int:
        """The largest absolute number of steps."""
        return max(abs(self.low), abs(self.high))

    @property
    def reach(self) -> int:
        """The largest distance from the middle, in steps."""
        return max(self.high - self.middle, self.middle - self.low)


def quantum(
    expression: Expression, most_bits: int = MOST_BITS, double_bits: int = DOUBLE_BITS
) -> Quantum:
    """The grid of an expression with finite bounds.

    Its step is 1 for integers, a power of ten for decimals and a power of two for doubles.

    Whole numbers and decimals have at most 2 to the ``most_bits`` steps on either side of 0,
    doubles ``double_bits``.
    """
    interval = bounds(expression)
    assert interval.low is not None and interval.high is not None
    size = _size(expression, max(abs(interval.low), abs(interval.high)), most_bits, double_bits)
    factor = float(1 / size)
    if size == 1 and expression.type.kind == "integer":
        return Quantum(size, 1.0, round(interval.low), round(interval.high))
    return Quantum(
        size, factor, round(float(interval.low) * factor), round(float(interval.high) * factor)
    )


def sizes(step: Fraction, largest: int) -> tuple[int | float, ...]:
    """The sizes from one step to so many, each by `RATIO` larger than the one before."""
    exact_sizes = list[Fraction]()
    size = Fraction(1)
    while size < largest:
        exact_sizes.append(floor(size) * step)
        size *= RATIO
    exact_sizes.append(max(largest, 1) * step)
    are_integers = (
        all(exact_size.denominator == 1 for exact_size in exact_sizes)
        and exact_sizes[-1] < LARGEST_INTEGER
    )
    return tuple(
        int(exact_size) if are_integers else float(exact_size) for exact_size in exact_sizes
    )


def norm_grid(expression: Expression) -> tuple[Fraction, int]:
    """The step of a unit's norm of sums of the expression, and the largest norm in steps.

    They depend on the expression's type alone.
    """
    step = expression.type.step
    return (UNBOUNDED_STEP, MOST_STEPS) if step is None else (step, LARGEST_INTEGER // 2)


@dataclass(frozen=True, slots=True)
class ProductQuantum:
    """Steps of ``size`` for products of two values on their grids, each from its middle.

    The product of the steps of both, plus ``added``, is divided by ``divisor`` and rounded down,
    then ``taken`` is taken away: the result is the product in steps, rounded to the nearest, from
    its own ``middle``, and at most ``reach`` in size.
    """

    left: Quantum
    right: Quantum
    divisor: int
    added: int
    taken: int
    middle: int
    reach: int

    @property
    def size(self) -> Fraction:
        return self.left.size * self.right.size * self.divisor


def product_quantum(one: Expression, other: Expression) -> ProductQuantum:
    """The grid of products of two expressions with finite bounds.

    Squares are never negative, and so have a middle.
    """
    first = quantum(one)
    second = quantum(other)
    most = first.reach * second.reach
    divisor = 2 ** max(0, most.bit_length() - PRODUCT_BITS)
    half = divisor // 2
    if one == other:
        high = (most + half) // divisor
        middle = high // 2
        return ProductQuantum(
            first,
            second,
            divisor=divisor,
            added=half,
            taken=middle,
            middle=middle,
            reach=high - middle,
        )
    reach = -(-most // divisor)
    # Division rounds towards 0: what is divided is lifted above it.
    lifted = reach if divisor > 1 else 0
    return ProductQuantum(
        first,
        second,
        divisor=divisor,
        added=lifted * divisor + half,
        taken=lifted,
        middle=0,
        reach=reach,
    )


def bin_grid(expression: Expression) -> Quantum:
    """The grid on which values are counted in bins."""
    return quantum(expression, double_bits=BIN_BITS)


def _size(
    expression: Expression, magnitude: Fraction, most_bits: int, double_bits: int
) -> Fraction:
    size = expression.type.step
    if size is None:
        return _power_of_two(magnitude, double_bits)
    while magnitude / size > 2**most_bits:
        size *= 10
    return size


def _power_of_two(magnitude: Fraction, bits: int) -> Fraction:
    """2^(⌈log2 magnitude⌉ − bits), exactly; not below 2^LEAST_EXPONENT."""
    if magnitude == 0:
        return Fraction(1)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent < magnitude:
        exponent += 1
    while Fraction(2) ** (exponent - 1) >= magnitude:
        exponent -= 1
    return Fraction(2) ** max(exponent - bits, LEAST_EXPONENT)


#: The most bins of one expression; a range of more steps has several of them in each bin.
MOST_BINS = 2**32
#: The most bins where noise hides more than finer ones would tell.
COARSE_BINS = 2**16
SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Bins:
    """``count`` bins of ``width`` steps each from the step ``low`` on; a step is ``size``.

    Steps are whole numbers of days (since the year 1) for dates, of seconds for timestamps, and of
    the expression's grid for numbers.
    """

    axis: OneOf["number", "day", "second"]
    low: int
    high: int
    width: int
    count: int
    size: Fraction

    @property
    def are_whole_steps(self) -> bool:
        """Whether values are whole numbers, days or seconds."""
        return self.size.denominator == 1

    @property
    def coarse(self) -> Bins:
        """At most `COARSE_BINS` bins of the same range; several of these make one if needed."""
        return self.merged(-(-self.count // COARSE_BINS))

    def merged(self, bins: int) -> Bins:
        """The bins of so many of these each, fewer in the last."""
        return replace(self, width=self.width * bins, count=-(-self.count // bins))

    @property
    def are_values(self) -> bool:
        """Whether each bin is one value, so that nothing is lost by counting in bins."""
        return self.width == 1

    def value(self, index: int) -> Fraction:
        """The value of a bin that is one."""
        return (self.low + index) * self.size

    def position(self, index: int, share: Fraction) -> Fraction:
        """The point that lies ``share`` of the way through a bin, kept within the bounds."""
        start = self.low + index * self.width - Fraction(1, 2)
        return (
            min(max(start + share * self.width, Fraction(self.low)), Fraction(self.high))
            * self.size
        )


def bins(expression: Expression) -> Bins:
    """The bins of an expression with finite bounds, whatever the data hold."""
    interval = bounds(expression)
    assert interval.low is not None and interval.high is not None
    axis = expression.type.facts.axis
    match axis:
        case "day":
            return _bins(
                "day",
                _clamp_to_calendar(floor(interval.low)),
                _clamp_to_calendar(ceil(interval.high)),
                Fraction(1),
            )
        case "second":
            low = floor(interval.low * SECONDS)
            high = ceil(interval.high * SECONDS)
            return _bins(
                "second",
                _clamp_to_calendar(low, SECONDS),
                _clamp_to_calendar(high, SECONDS),
                Fraction(1),
            )
        case "number":
            grid = bin_grid(expression)
            return _bins("number", grid.low, grid.high, grid.size)
        case None:
            raise LookupError(f"values of type {expression.type} have no quantiles")
        case _:
            assert_never(axis)


def _clamp_to_calendar(step: int, steps: int = 1) -> int:
    """The step, or the nearest within the years 1 to 9999; a day has so many ``steps``."""
    return min(max(step, date.min.toordinal() * steps), date.max.toordinal() * steps)


def _bins(axis: OneOf["number", "day", "second"], low: int, high: int, size: Fraction) -> Bins:
    steps = high - low + 1
    width = -(-steps // MOST_BINS)
    return Bins(axis, low, high, width, count=-(-steps // width), size=size)
