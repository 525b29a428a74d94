"""The aggregate functions over private rows: each is one object that states all that is particular to it.

`AGGREGATE_FUNCTIONS` is the only list of them. A new one is one more object here. Where it measures or shows something
new, it is a new member of one of the closed types below, and the type checker names each `match` that lacks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from dpsql.sql.ir.interval import EVERYTHING, FROM_ZERO, UNIT_INTERVAL, Interval
from dpsql.sql.ir.unit_function import Dispersion, UnitForm, UnitFunction


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
    """The cells behind an aggregate and how it is read off them; of centred sums `MomentSums` says which."""

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
    SIZE = auto()  #: a size that few rows exceed


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


class ResultType(Enum):
    """The type of a released aggregate, by that of its argument."""

    WHOLE_NUMBER = auto()
    DOUBLE = auto()
    TRUTH = auto()
    SUM = auto()
    QUANTILES = auto()
    VALUE = auto()
    LIST_OF_VALUES = auto()
    COUNT_BY_VALUE = auto()
    SIZE = auto()


class Range(Enum):
    """Where an aggregate lies by what is known of its argument."""

    OF_ARGUMENT = auto()  #: between the bounds of the argument
    OF_SUM = auto()  #: on the side of 0 on which all values are
    OF_DIFFERENT_VALUES = auto()  #: from 0 to the number of values that the argument can have


@dataclass(frozen=True, eq=False, kw_only=True)
class AggregateFunction:
    """One aggregate function over private rows.

    Every property is stated by each function; none has a value that is taken where it is not stated.
    """

    #: The name in plans and in the answer store.
    name: str
    #: The names by which a statement calls it.
    spellings: tuple[str, ...]
    #: Calls as front ends list them: x and y are columns with bounds, c is a condition.
    examples: tuple[str, ...]
    arguments: Arguments
    measure: Measure | MomentSums
    result: ResultType
    #: Where its value lies whatever the data hold, as long as they keep what the schema declares.
    possible: Interval | Range | Dispersion
    #: Whether what is released lies between the bounds of its argument, so that a core may read it with these bounds.
    is_within_bounds: bool
    #: Whether it is read off sums of row values, so that the cells of a group are the sums of its subgroups' cells.
    is_additive: bool
    #: Whether its value over some of the rows is known to be at most that over all, where no value is below 0.
    bounds_its_parts: bool
    #: Whether values beyond the bounds of its arguments are clamped, as the report of what was left out counts them.
    clamps: bool
    #: Whether its cells are the same however often each row of a unit stands there.
    ignores_repeated_rows: bool
    #: Whether its noise may be drawn again, for intervals by resampling.
    is_resampled: bool
    #: Its exact form over the rows of one unit; None where it is not answered there.
    per_unit: UnitForm | None

    def __repr__(self) -> str:
        return repr(self.name)


COUNT = AggregateFunction(
    name="count", spellings=("count", "count_if", "countif"), examples=("COUNT(*)", "COUNT_IF(c)"),
    arguments=Arguments.ROWS, measure=Measure.ROWS, result=ResultType.WHOLE_NUMBER, possible=FROM_ZERO,
    is_within_bounds=False, is_additive=True, bounds_its_parts=True, clamps=False, ignores_repeated_rows=False,
    is_resampled=True, per_unit=UnitFunction.COUNT,
)  # fmt: skip
#: COUNT(DISTINCT x) where x is the unit.
UNITS = AggregateFunction(
    name="units", spellings=(), examples=(), arguments=Arguments.ROWS, measure=Measure.UNITS,
    result=ResultType.WHOLE_NUMBER, possible=FROM_ZERO, is_within_bounds=False, is_additive=False,
    bounds_its_parts=True, clamps=False, ignores_repeated_rows=True, is_resampled=True, per_unit=None,
)  # fmt: skip
#: COUNT(DISTINCT x) of anything else.
COUNT_DISTINCT = AggregateFunction(
    name="count distinct", spellings=(), examples=(), arguments=Arguments.ROWS, measure=Measure.DISTINCT,
    result=ResultType.WHOLE_NUMBER, possible=Range.OF_DIFFERENT_VALUES, is_within_bounds=False, is_additive=False,
    bounds_its_parts=False, clamps=False, ignores_repeated_rows=True, is_resampled=True,
    per_unit=UnitFunction.COUNT_DISTINCT,
)  # fmt: skip
SUM = AggregateFunction(
    name="sum", spellings=("sum", "fsum", "sumkahan", "kahan_sum"), examples=("SUM(x)",),
    arguments=Arguments.NUMBER, measure=Measure.SUM, result=ResultType.SUM, possible=Range.OF_SUM,
    is_within_bounds=False, is_additive=True, bounds_its_parts=True, clamps=True, ignores_repeated_rows=False,
    is_resampled=True, per_unit=UnitFunction.SUM,
)  # fmt: skip
AVG = AggregateFunction(
    name="avg", spellings=("avg", "mean", "favg"), examples=("AVG(x)",), arguments=Arguments.NUMBER,
    measure=Measure.MEAN, result=ResultType.DOUBLE, possible=Range.OF_ARGUMENT, is_within_bounds=True,
    is_additive=True, bounds_its_parts=False, clamps=True, ignores_repeated_rows=False, is_resampled=True,
    per_unit=UnitFunction.AVG,
)  # fmt: skip


def _ranked(
    name: str, spellings: tuple[str, ...], examples: tuple[str, ...], per_unit: UnitFunction | None
) -> AggregateFunction:
    """Values at ranks."""
    return AggregateFunction(
        name=name, spellings=spellings, examples=examples, arguments=Arguments.RANKED, measure=Measure.QUANTILES,
        result=ResultType.QUANTILES, possible=EVERYTHING, is_within_bounds=True, is_additive=False,
        bounds_its_parts=False, clamps=True, ignores_repeated_rows=False, is_resampled=True, per_unit=per_unit,
    )  # fmt: skip


MIN = _ranked("min", ("min",), ("MIN(x)",), UnitFunction.MIN)
MAX = _ranked("max", ("max",), ("MAX(x)",), UnitFunction.MAX)
#: Quantiles that lie between two values.
QUANTILE_CONT = _ranked(
    "quantile_cont", ("median", "quantile_cont", "percentile_cont"),
    ("MEDIAN(x)", "QUANTILE_CONT(x, 0.9)", "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"), None,
)  # fmt: skip
#: Quantiles that are values.
QUANTILE_DISC = _ranked(
    "quantile_disc", ("quantile", "quantile_disc", "percentile_disc", "approx_quantile"),
    ("QUANTILE(x, 0.9)", "QUANTILE_DISC(x, 0.9)", "APPROX_QUANTILE(x, 0.9)",
     "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)"), None,
)  # fmt: skip


def _frequent(
    name: str, spelling: str, example: str, measure: Measure, result: ResultType, possible: Interval
) -> AggregateFunction:
    """What is read off how often each of the public values occurs."""
    return AggregateFunction(
        name=name, spellings=(spelling,), examples=(example,), arguments=Arguments.LISTED, measure=measure,
        result=result, possible=possible, is_within_bounds=False, is_additive=False, bounds_its_parts=False,
        clamps=False, ignores_repeated_rows=False, is_resampled=False, per_unit=None,
    )  # fmt: skip


MODE = _frequent("mode", "mode", "MODE(x)", Measure.MOST_FREQUENT, ResultType.VALUE, EVERYTHING)
HISTOGRAM = _frequent(
    "histogram", "histogram", "HISTOGRAM(x)", Measure.FREQUENCIES, ResultType.COUNT_BY_VALUE, FROM_ZERO
)
TOP_K = _frequent(
    "top k", "approx_top_k", "APPROX_TOP_K(x, 3)", Measure.MOST_FREQUENT, ResultType.LIST_OF_VALUES, EVERYTHING
)


def _dispersion(
    statistic: Statistic, spellings: tuple[str, ...], examples: tuple[str, ...], form: Dispersion
) -> AggregateFunction:
    """How far the values of one number spread."""
    return AggregateFunction(
        name=statistic.value, spellings=spellings, examples=examples, arguments=Arguments.NUMBER,
        measure=MomentSums(statistic, x=2, y=0, products=False), result=ResultType.DOUBLE, possible=form,
        is_within_bounds=False, is_additive=True, bounds_its_parts=False, clamps=True, ignores_repeated_rows=False,
        is_resampled=True, per_unit=form,
    )  # fmt: skip


STDDEV_SAMP = _dispersion(
    Statistic.STDDEV_SAMP, ("stddev", "stddev_samp"), ("STDDEV(x)", "STDDEV_SAMP(x)"),
    Dispersion(is_deviation=True, of_sample=True),
)  # fmt: skip
STDDEV_POP = _dispersion(
    Statistic.STDDEV_POP, ("stddev_pop",), ("STDDEV_POP(x)",), Dispersion(is_deviation=True, of_sample=False)
)
VAR_SAMP = _dispersion(
    Statistic.VAR_SAMP, ("variance", "var_samp", "variance_samp"), ("VARIANCE(x)", "VAR_SAMP(x)"),
    Dispersion(is_deviation=False, of_sample=True),
)  # fmt: skip
VAR_POP = _dispersion(
    Statistic.VAR_POP, ("var_pop", "variance_pop"), ("VAR_POP(x)",), Dispersion(is_deviation=False, of_sample=False)
)


def _paired(
    name: str, measure: Measure | MomentSums, result: ResultType, possible: Interval, *, clamps: bool
) -> AggregateFunction:
    """A statistic of the rows in which two numbers, y and x, both have a value."""
    return AggregateFunction(
        name=name, spellings=(name,), examples=(f"{name.upper()}(y, x)",), arguments=Arguments.PAIR, measure=measure,
        result=result, possible=possible, is_within_bounds=False, is_additive=True, bounds_its_parts=False,
        clamps=clamps, ignores_repeated_rows=False, is_resampled=True, per_unit=None,
    )  # fmt: skip


def _joint(statistic: Statistic, possible: Interval, x: Power, y: Power, products: bool) -> AggregateFunction:
    """How two numbers vary together."""
    sums = MomentSums(statistic, x, y, products)
    return _paired(statistic.value, sums, ResultType.DOUBLE, possible, clamps=True)


CORR = _joint(Statistic.CORR, Interval(Fraction(-1), Fraction(1)), x=2, y=2, products=True)
COVAR_SAMP = _joint(Statistic.COVAR_SAMP, EVERYTHING, x=1, y=1, products=True)
COVAR_POP = _joint(Statistic.COVAR_POP, EVERYTHING, x=1, y=1, products=True)
REGR_SLOPE = _joint(Statistic.REGR_SLOPE, EVERYTHING, x=2, y=1, products=True)
REGR_INTERCEPT = _joint(Statistic.REGR_INTERCEPT, EVERYTHING, x=2, y=1, products=True)
REGR_R2 = _joint(Statistic.REGR_R2, UNIT_INTERVAL, x=2, y=2, products=True)
REGR_COUNT = _paired("regr_count", Measure.PAIRS, ResultType.WHOLE_NUMBER, FROM_ZERO, clamps=False)
REGR_AVGX = _paired("regr_avgx", Measure.MEAN_OF_X, ResultType.DOUBLE, EVERYTHING, clamps=True)
REGR_AVGY = _paired("regr_avgy", Measure.MEAN_OF_Y, ResultType.DOUBLE, EVERYTHING, clamps=True)
REGR_SXX = _joint(Statistic.REGR_SXX, FROM_ZERO, x=2, y=1, products=False)
REGR_SYY = _joint(Statistic.REGR_SYY, FROM_ZERO, x=1, y=2, products=False)
REGR_SXY = _joint(Statistic.REGR_SXY, EVERYTHING, x=1, y=1, products=True)


def _truth(
    name: str, spellings: tuple[str, ...], examples: tuple[str, ...], measure: Measure, per_unit: UnitFunction
) -> AggregateFunction:
    """Whether a condition holds for all rows, or for one."""
    return AggregateFunction(
        name=name, spellings=spellings, examples=examples, arguments=Arguments.CONDITION, measure=measure,
        result=ResultType.TRUTH, possible=EVERYTHING, is_within_bounds=False, is_additive=True,
        bounds_its_parts=False, clamps=False, ignores_repeated_rows=False, is_resampled=False, per_unit=per_unit,
    )  # fmt: skip


EVERY = _truth(
    "every", ("bool_and", "logical_and", "every"), ("BOOL_AND(c)", "EVERY(c)"), Measure.EVIDENCE_AGAINST,
    UnitFunction.EVERY,
)  # fmt: skip
SOME = _truth("some", ("bool_or", "logical_or"), ("BOOL_OR(c)",), Measure.EVIDENCE_FOR, UnitFunction.SOME)
CLIP = AggregateFunction(
    name="clip", spellings=("dp_clip",), examples=("DP_CLIP(x)",), arguments=Arguments.SIZE, measure=Measure.SIZE,
    result=ResultType.SIZE, possible=EVERYTHING, is_within_bounds=False, is_additive=False, bounds_its_parts=False,
    clamps=False, ignores_repeated_rows=False, is_resampled=False, per_unit=None,
)  # fmt: skip

AGGREGATE_FUNCTIONS = (
    COUNT, UNITS, COUNT_DISTINCT, SUM, AVG, MIN, MAX, QUANTILE_CONT, QUANTILE_DISC, MODE, HISTOGRAM, TOP_K,
    STDDEV_SAMP, STDDEV_POP, VAR_SAMP, VAR_POP, CORR, COVAR_SAMP, COVAR_POP, REGR_SLOPE, REGR_INTERCEPT, REGR_R2,
    REGR_COUNT, REGR_AVGX, REGR_AVGY, REGR_SXX, REGR_SYY, REGR_SXY, EVERY, SOME, CLIP,
)  # fmt: skip
