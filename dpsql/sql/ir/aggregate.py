"""The aggregate functions over private rows, and the function that a call names.

Each is one object that states all that is particular to it. `AGGREGATE_FUNCTIONS` is the only list
of them: a new one is one more object here. If it measures or shows something new, it is a new
member of one of the closed types in `dpsql.sql.ir.aggregate_properties`, and the type checker names
each `match` that lacks it.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.ir.aggregate_properties import (
    AggregateFunction,
    Arguments,
    KnownNoise,
    Measure,
    Range,
    ResultRule,
    UnitFunction,
)
from dpsql.sql.ir.interval import EVERYTHING, FROM_ZERO, Interval
from dpsql.sql.ir.moments import (
    CORR,
    COVAR_POP,
    COVAR_SAMP,
    REGR_AVGX,
    REGR_AVGY,
    REGR_COUNT,
    REGR_INTERCEPT,
    REGR_R2,
    REGR_SLOPE,
    REGR_SXX,
    REGR_SXY,
    REGR_SYY,
    STDDEV_POP,
    STDDEV_SAMP,
    VAR_POP,
    VAR_SAMP,
)

COUNT = AggregateFunction(
    name="count",
    spellings=("count", "count_if", "countif"),
    examples=("COUNT(*)", "COUNT_IF(c)"),
    arguments=Arguments.ROWS,
    measure=Measure.ROWS,
    result=ResultRule.WHOLE_NUMBER,
    possible=FROM_ZERO,
    is_within_bounds=False,
    is_additive=True,
    bounds_its_parts=True,
    clamps=False,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.FORM,
    per_unit=UnitFunction.COUNT,
)
#: COUNT(DISTINCT x) where x is the unit.
UNITS = AggregateFunction(
    name="units",
    spellings=(),
    examples=(),
    arguments=Arguments.ROWS,
    measure=Measure.UNITS,
    result=ResultRule.WHOLE_NUMBER,
    possible=FROM_ZERO,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=True,
    clamps=False,
    ignores_repeated_rows=True,
    known_noise=KnownNoise.FORM,
    per_unit=None,
)
#: COUNT(DISTINCT x) of anything else.
COUNT_DISTINCT = AggregateFunction(
    name="count distinct",
    spellings=(),
    examples=(),
    arguments=Arguments.ROWS,
    measure=Measure.DISTINCT,
    result=ResultRule.WHOLE_NUMBER,
    possible=Range.OF_DIFFERENT_VALUES,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=False,
    clamps=False,
    ignores_repeated_rows=True,
    known_noise=KnownNoise.FORM,
    per_unit=UnitFunction.COUNT_DISTINCT,
)
SUM = AggregateFunction(
    name="sum",
    spellings=("sum", "fsum", "sumkahan", "kahan_sum"),
    examples=("SUM(x)",),
    arguments=Arguments.NUMBER,
    measure=Measure.SUM,
    result=ResultRule.SUM,
    possible=Range.OF_SUM,
    is_within_bounds=False,
    is_additive=True,
    bounds_its_parts=True,
    clamps=True,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.FORM,
    per_unit=UnitFunction.SUM,
)
AVG = AggregateFunction(
    name="avg",
    spellings=("avg", "mean", "favg"),
    examples=("AVG(x)",),
    arguments=Arguments.NUMBER,
    measure=Measure.MEAN,
    result=ResultRule.DOUBLE,
    possible=Range.OF_ARGUMENT,
    is_within_bounds=True,
    is_additive=True,
    bounds_its_parts=False,
    clamps=True,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.DRAWS,
    per_unit=UnitFunction.AVG,
)


def _ranked(
    name: str, spellings: tuple[str, ...], examples: tuple[str, ...], per_unit: UnitFunction | None
) -> AggregateFunction:
    """Values at ranks."""
    return AggregateFunction(
        name=name,
        spellings=spellings,
        examples=examples,
        arguments=Arguments.RANKED,
        measure=Measure.QUANTILES,
        result=ResultRule.QUANTILES,
        possible=Range.OF_ARGUMENT,
        is_within_bounds=True,
        is_additive=False,
        bounds_its_parts=False,
        clamps=True,
        ignores_repeated_rows=False,
        known_noise=KnownNoise.DRAWS,
        per_unit=per_unit,
    )


MIN = _ranked("min", ("min",), ("MIN(x)",), UnitFunction.MIN)
MAX = _ranked("max", ("max",), ("MAX(x)",), UnitFunction.MAX)
#: Quantiles that lie between two values.
QUANTILE_CONT = _ranked(
    "quantile_cont",
    ("median", "quantile_cont", "percentile_cont"),
    ("MEDIAN(x)", "QUANTILE_CONT(x, 0.9)", "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)"),
    None,
)
#: Quantiles that are values.
QUANTILE_DISC = _ranked(
    "quantile_disc",
    ("quantile", "quantile_disc", "percentile_disc", "approx_quantile"),
    (
        "QUANTILE(x, 0.9)",
        "QUANTILE_DISC(x, 0.9)",
        "APPROX_QUANTILE(x, 0.9)",
        "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x)",
    ),
    None,
)


def _frequent(
    name: str, spelling: str, example: str, measure: Measure, result: ResultRule, possible: Interval
) -> AggregateFunction:
    """What is read off how often each of the public values occurs."""
    return AggregateFunction(
        name=name,
        spellings=(spelling,),
        examples=(example,),
        arguments=Arguments.LISTED,
        measure=measure,
        result=result,
        possible=possible,
        is_within_bounds=False,
        is_additive=False,
        bounds_its_parts=False,
        clamps=False,
        ignores_repeated_rows=False,
        known_noise=KnownNoise.NOTHING,
        per_unit=None,
    )


MODE = _frequent(
    "mode", "mode", "MODE(x)", Measure.MOST_FREQUENT, result=ResultRule.VALUE, possible=EVERYTHING
)
HISTOGRAM = _frequent(
    "histogram",
    "histogram",
    "HISTOGRAM(x)",
    Measure.FREQUENCIES,
    result=ResultRule.COUNT_BY_VALUE,
    possible=FROM_ZERO,
)
TOP_K = _frequent(
    "top k",
    "approx_top_k",
    "APPROX_TOP_K(x, 3)",
    Measure.MOST_FREQUENT,
    result=ResultRule.LIST_OF_VALUES,
    possible=EVERYTHING,
)

#: The values that occur, of those that are public.
STRING_AGG = AggregateFunction(
    name="string_agg",
    spellings=("string_agg", "group_concat", "listagg"),
    examples=("STRING_AGG(DISTINCT x, ', ')",),
    arguments=Arguments.LISTED,
    measure=Measure.PRESENT_VALUES,
    result=ResultRule.TEXT,
    possible=EVERYTHING,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=False,
    clamps=False,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.NOTHING,
    per_unit=None,
)


def _boolean_aggregate(
    name: str,
    spellings: tuple[str, ...],
    examples: tuple[str, ...],
    measure: Measure,
    per_unit: UnitFunction,
) -> AggregateFunction:
    """Whether a condition holds for all rows, or for one."""
    return AggregateFunction(
        name=name,
        spellings=spellings,
        examples=examples,
        arguments=Arguments.CONDITION,
        measure=measure,
        result=ResultRule.TRUTH,
        possible=EVERYTHING,
        is_within_bounds=False,
        is_additive=True,
        bounds_its_parts=False,
        clamps=False,
        ignores_repeated_rows=False,
        known_noise=KnownNoise.NOTHING,
        per_unit=per_unit,
    )


EVERY = _boolean_aggregate(
    "every",
    ("bool_and", "logical_and", "every"),
    ("BOOL_AND(c)", "EVERY(c)"),
    Measure.EVIDENCE_AGAINST,
    per_unit=UnitFunction.EVERY,
)
SOME = _boolean_aggregate(
    "some",
    ("bool_or", "logical_or"),
    ("BOOL_OR(c)",),
    Measure.EVIDENCE_FOR,
    per_unit=UnitFunction.SOME,
)
CLIP = AggregateFunction(
    name="clip",
    spellings=("dp_clip",),
    examples=("DP_CLIP(x)",),
    arguments=Arguments.SIZE,
    measure=Measure.SIZE,
    result=ResultRule.SIZE,
    possible=EVERYTHING,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=False,
    clamps=False,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.NOTHING,
    per_unit=None,
)
#: DP_CLIP around an aggregate is made of the next two, which no statement names.
NORM = AggregateFunction(
    name="norm",
    spellings=(),
    examples=(),
    arguments=Arguments.SIZE,
    measure=Measure.NORM,
    result=ResultRule.SIZE,
    possible=FROM_ZERO,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=False,
    clamps=False,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.NOTHING,
    per_unit=None,
)
NORM_CLIPPED_SUM = AggregateFunction(
    name="norm clipped sum",
    spellings=(),
    examples=(),
    arguments=Arguments.NUMBER,
    measure=Measure.NORM_CLIPPED_SUM,
    result=ResultRule.DOUBLE,
    possible=Range.OF_SUM,
    is_within_bounds=False,
    is_additive=False,
    bounds_its_parts=False,
    clamps=False,
    ignores_repeated_rows=False,
    known_noise=KnownNoise.FORM,
    per_unit=None,
)

AGGREGATE_FUNCTIONS = (
    COUNT,
    UNITS,
    COUNT_DISTINCT,
    SUM,
    AVG,
    MIN,
    MAX,
    QUANTILE_CONT,
    QUANTILE_DISC,
    MODE,
    HISTOGRAM,
    TOP_K,
    STRING_AGG,
    STDDEV_SAMP,
    STDDEV_POP,
    VAR_SAMP,
    VAR_POP,
    CORR,
    COVAR_SAMP,
    COVAR_POP,
    REGR_SLOPE,
    REGR_INTERCEPT,
    REGR_R2,
    REGR_COUNT,
    REGR_AVGX,
    REGR_AVGY,
    REGR_SXX,
    REGR_SYY,
    REGR_SXY,
    EVERY,
    SOME,
    CLIP,
)
_BY_SPELLING = {
    spelling: function for function in AGGREGATE_FUNCTIONS for spelling in function.spellings
}


def function_named(call: exp.Expr) -> AggregateFunction | None:
    """The aggregate function that a bare call names; None if it has no private form.

    The call is one without FILTER and WITHIN GROUP.

    sqlglot has nodes for some functions, and for each several names.

    >>> from dpsql.sql.emit.syntax import STATEMENT
    >>> calls = STATEMENT.parse("SELECT MEAN(x), VARIANCE(x), KURTOSIS_POP(x), LOG(x)").expressions
    >>> [function_named(call) for call in calls]
    ['avg', 'var_samp', None, None]
    """
    if isinstance(call, exp.Anonymous):
        names = [call.name]
    else:
        names = list(call.sql_names()) if isinstance(call, exp.Func) else []
    return next(
        (named for name in names if (named := _BY_SPELLING.get(name.lower())) is not None), None
    )


def is_named(spelling: str) -> bool:
    """Whether an aggregate function has this name."""
    return spelling in _BY_SPELLING
