"""Variances, deviations and statistics of pairs, made of noisy sums of powers and products."""

from __future__ import annotations

from fractions import Fraction

from dpsql.sql.ir.aggregate_properties import (
    AggregateFunction,
    Arguments,
    Dispersion,
    KnownNoise,
    Measure,
    MomentSums,
    Power,
    ResultRule,
    Statistic,
)
from dpsql.sql.ir.interval import EVERYTHING, FROM_ZERO, UNIT_INTERVAL, Interval


def _dispersion(
    statistic: Statistic, spellings: tuple[str, ...], examples: tuple[str, ...], form: Dispersion
) -> AggregateFunction:
    """How far the values of one number spread."""
    return AggregateFunction(
        name=statistic.value,
        spellings=spellings,
        examples=examples,
        arguments=Arguments.NUMBER,
        measure=MomentSums(statistic, x=2, y=0, products=False),
        result=ResultRule.DOUBLE,
        possible=form,
        is_within_bounds=False,
        is_additive=True,
        bounds_its_parts=False,
        clamps=True,
        ignores_repeated_rows=False,
        known_noise=KnownNoise.ENDS,
        per_unit=form,
    )


STDDEV_SAMP = _dispersion(
    Statistic.STDDEV_SAMP,
    ("stddev", "stddev_samp"),
    ("STDDEV(x)", "STDDEV_SAMP(x)"),
    Dispersion(is_deviation=True, of_sample=True),
)
STDDEV_POP = _dispersion(
    Statistic.STDDEV_POP,
    ("stddev_pop",),
    ("STDDEV_POP(x)",),
    Dispersion(is_deviation=True, of_sample=False),
)
VAR_SAMP = _dispersion(
    Statistic.VAR_SAMP,
    ("variance", "var_samp", "variance_samp"),
    ("VARIANCE(x)", "VAR_SAMP(x)"),
    Dispersion(is_deviation=False, of_sample=True),
)
VAR_POP = _dispersion(
    Statistic.VAR_POP,
    ("var_pop", "variance_pop"),
    ("VAR_POP(x)",),
    Dispersion(is_deviation=False, of_sample=False),
)


def _paired(
    name: str,
    measure: Measure | MomentSums,
    result: ResultRule,
    possible: Interval,
    known: KnownNoise,
    *,
    clamps: bool,
) -> AggregateFunction:
    """A statistic of the rows in which two numbers, y and x, both have a value."""
    return AggregateFunction(
        name=name,
        spellings=(name,),
        examples=(f"{name.upper()}(y, x)",),
        arguments=Arguments.PAIR,
        measure=measure,
        result=result,
        possible=possible,
        is_within_bounds=False,
        is_additive=True,
        bounds_its_parts=False,
        clamps=clamps,
        ignores_repeated_rows=False,
        known_noise=known,
        per_unit=None,
    )


def _joint(
    statistic: Statistic, possible: Interval, x: Power, y: Power, products: bool
) -> AggregateFunction:
    """How two numbers vary together."""
    sums = MomentSums(statistic, x, y, products)
    return _paired(
        statistic.value, sums, ResultRule.DOUBLE, possible, known=KnownNoise.ENDS, clamps=True
    )


CORR = _joint(Statistic.CORR, Interval(Fraction(-1), Fraction(1)), x=2, y=2, products=True)
COVAR_SAMP = _joint(Statistic.COVAR_SAMP, EVERYTHING, x=1, y=1, products=True)
COVAR_POP = _joint(Statistic.COVAR_POP, EVERYTHING, x=1, y=1, products=True)
REGR_SLOPE = _joint(Statistic.REGR_SLOPE, EVERYTHING, x=2, y=1, products=True)
REGR_INTERCEPT = _joint(Statistic.REGR_INTERCEPT, EVERYTHING, x=2, y=1, products=True)
REGR_R2 = _joint(Statistic.REGR_R2, UNIT_INTERVAL, x=2, y=2, products=True)
REGR_COUNT = _paired(
    "regr_count",
    Measure.PAIRS,
    ResultRule.WHOLE_NUMBER,
    FROM_ZERO,
    known=KnownNoise.FORM,
    clamps=False,
)
REGR_AVGX = _paired(
    "regr_avgx",
    Measure.MEAN_OF_X,
    ResultRule.DOUBLE,
    EVERYTHING,
    known=KnownNoise.DRAWS,
    clamps=True,
)
REGR_AVGY = _paired(
    "regr_avgy",
    Measure.MEAN_OF_Y,
    ResultRule.DOUBLE,
    EVERYTHING,
    known=KnownNoise.DRAWS,
    clamps=True,
)
REGR_SXX = _joint(Statistic.REGR_SXX, FROM_ZERO, x=2, y=1, products=False)
REGR_SYY = _joint(Statistic.REGR_SYY, FROM_ZERO, x=1, y=2, products=False)
REGR_SXY = _joint(Statistic.REGR_SXY, EVERYTHING, x=1, y=1, products=True)
