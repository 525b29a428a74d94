"""What an aggregate function states of itself: its arguments, cells,
result and exact form over the rows of one unit.

The functions themselves are in `dpsql.sql.ir.aggregate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum, auto
from typing import Literal as OneOf
from typing import TypeAlias, assert_never

from dpsql.sql.ir.interval import Interval


class Arguments(Enum):
    """What an aggregate function is called with."""

    ROWS = auto()  #: ``*``, or one value of any type
    NUMBER = auto()  #: one number with bounds
    PAIR = auto()  #: two numbers with bounds, y and x
    CONDITION = auto()  #: one condition
    RANKED = auto()  #: a number or a date with bounds, and perhaps which quantiles
    LISTED = auto()  #: a value that the schema lists, and perhaps how many of them
    SIZE = auto()  #: one number with bounds, whose sizes are looked at


class Measure(Enum):
    """The cells that an aggregate is made of, and how; `MomentSums` says which centred sums."""

    ROWS = auto()  #: a count of rows
    UNITS = auto()  #: a count of units
    DISTINCT = auto()  #: a count of different values
    SUM = auto()  #: a sum
    MEAN = auto()  #: a sum over a count
    PAIRS = auto()  #: a count of the rows that have both values
    MEAN_OF_X = auto()  #: the same two, of x where y has a value
    MEAN_OF_Y = auto()  #: the same two, of y where x has a value
    EVIDENCE_FOR = auto()  #: whether a count of the rows that hold is clearly above 0
    EVIDENCE_AGAINST = auto()  #: whether a count of the rows that do not hold is not
    QUANTILES = auto()  #: values at ranks
    FREQUENCIES = auto()  #: a count for each value
    MOST_FREQUENT = auto()  #: the values with the largest counts
    PRESENT_VALUES = auto()  #: the values whose counts are clearly above 0
    SIZE = auto()  #: a size that few rows exceed
    NORM = auto()  #: a size that few units' norms exceed
    NORM_CLIPPED_SUM = auto()  #: a sum in parts of a norm that was released before


class Statistic(StrEnum):
    """What is computed of a count and of centred sums."""

    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    COVAR_POP = "covar_pop"
    COVAR_SAMP = "covar_samp"
    CORR = "corr"
    REGR_SLOPE = "regr_slope"
    REGR_INTERCEPT = "regr_intercept"
    REGR_R2 = "regr_r2"
    REGR_SXX = "regr_sxx"
    REGR_SYY = "regr_syy"
    REGR_SXY = "regr_sxy"


#: The highest power of a value that is added up; 0 where there is no such value.
Power: TypeAlias = OneOf[0, 1, 2]


@dataclass(frozen=True, slots=True)
class MomentSums:
    """A statistic, and the sums that it is computed of beside the count of rows.

    ``x`` and ``y`` are the powers of both values, ``products`` tells that x · y is added up, too.
    """

    statistic: Statistic
    x: Power
    y: Power
    products: bool


def is_average(measure: Measure | MomentSums) -> bool:
    """Whether an aggregate is made of ratios of sums,
    in which a unit above its limit only weighs less.
    """
    if isinstance(measure, MomentSums):
        return measure.statistic not in (Statistic.REGR_SXX, Statistic.REGR_SYY, Statistic.REGR_SXY)
    return measure in (Measure.MEAN, Measure.MEAN_OF_X, Measure.MEAN_OF_Y)


class ResultRule(Enum):
    """The type of a released aggregate, by that of its argument."""

    WHOLE_NUMBER = auto()
    DOUBLE = auto()
    TRUTH = auto()
    SUM = auto()
    QUANTILES = auto()
    VALUE = auto()
    LIST_OF_VALUES = auto()
    COUNT_BY_VALUE = auto()
    TEXT = auto()
    SIZE = auto()


class Range(Enum):
    """The range of an aggregate by what is known of its argument."""

    OF_ARGUMENT = auto()  #: between the bounds of the argument
    OF_SUM = auto()  #: on the side of 0 on which all values are
    OF_DIFFERENT_VALUES = auto()  #: from 0 to the number of values that the argument can have


class KnownNoise(IntEnum):
    """What is known of how noise moves an aggregate, each with all that stands before it."""

    NOTHING = auto()
    ENDS = auto()  #: its own interval
    DRAWS = auto()  #: what it would be on fresh draws of its noise
    FORM = auto()  #: the linear form in noisy cells that it is


@dataclass(frozen=True, eq=False, kw_only=True)
class AggregateFunction:
    """One aggregate function over private rows.

    Each function states every property; none has a default.
    """

    #: The name in plans and in the answer store.
    name: str
    #: The names by which a statement calls it.
    spellings: tuple[str, ...]
    #: Calls as front ends list them: x and y are columns with bounds, c is a condition.
    examples: tuple[str, ...]
    arguments: Arguments
    measure: Measure | MomentSums
    result: ResultRule
    #: Where its value lies whatever the data hold, as long as they keep what the schema declares.
    possible: Interval | Range | Dispersion
    #: Whether what is released lies between the bounds of its argument,
    #: so that a core may read it #: with these bounds.
    is_within_bounds: bool
    #: Whether it is read off sums of row values,
    #: so that the cells of a group are the sums of its #: subgroups' cells.
    is_additive: bool
    #: Whether its value over some of the rows is known to be at most that over all,
    #: where no value #: is below 0.
    bounds_its_parts: bool
    #: Whether values beyond the bounds of its arguments are clamped,
    #: as the report of what was left #: out counts them.
    clamps: bool
    #: Whether its cells are the same however often each row of a unit stands there.
    ignores_repeated_rows: bool
    #: What is known of how noise moves it, for intervals of what is computed of it.
    known_noise: KnownNoise
    #: Its exact form over the rows of one unit; None where it is not answered there.
    per_unit: UnitForm | None

    def __repr__(self) -> str:
        return repr(self.name)


@dataclass(frozen=True, slots=True)
class Dispersion:
    """A variance, or its root; ``of_sample`` divides by one row less."""

    is_deviation: bool
    of_sample: bool


class UnitFunction(StrEnum):
    """An exact aggregate over the rows of one unit; a `Dispersion` is one, too."""

    COUNT = "count"
    COUNT_DISTINCT = "count distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    EVERY = "every"
    SOME = "some"


UnitForm: TypeAlias = UnitFunction | Dispersion


def unit_ignores_repeated_rows(form: UnitForm) -> bool:
    """Whether the aggregate is the same however often each row stands there."""
    match form:
        case (
            UnitFunction.COUNT_DISTINCT
            | UnitFunction.MIN
            | UnitFunction.MAX
            | UnitFunction.EVERY
            | UnitFunction.SOME
        ):
            return True
        case UnitFunction.COUNT | UnitFunction.SUM | UnitFunction.AVG | Dispersion():
            return False
        case _:
            assert_never(form)


def unit_counts(form: UnitForm) -> bool:
    """Whether the aggregate is 0 over no rows; any other is NULL there."""
    match form:
        case UnitFunction.COUNT | UnitFunction.COUNT_DISTINCT:
            return True
        case (
            UnitFunction.SUM
            | UnitFunction.AVG
            | UnitFunction.MIN
            | UnitFunction.MAX
            | UnitFunction.EVERY
            | UnitFunction.SOME
            | Dispersion()
        ):
            return False
        case _:
            assert_never(form)
