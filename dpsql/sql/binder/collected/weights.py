"""The SQL of a debiased statement: weights of reports, estimates of sums, variances and intervals.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from sqlglot import exp

from dpsql.schema.reports import NumberReports

#: The parts of a rewritten SELECT: rows that report alike, the values they may stand for,
#: and both #: together.
CLASSES = "dpsql reports"
WEIGHTED = "dpsql weighted"


def column(name: str, table: str) -> exp.Column:
    """A column of a part."""
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))


def number(value: Fraction | float) -> exp.Expr:
    """A DOUBLE, whatever its size."""
    text = exp.Literal.number(f"{abs(float(value)):.17e}")
    return exp.Neg(this=text) if value < 0 else text


def constant(value: Hashable) -> exp.Expr:
    """A declared value."""
    match value:
        case bool():
            return exp.Boolean(this=value)
        case str():
            return exp.Literal.string(value)
        case datetime():
            return exp.cast(exp.Literal.string(value.isoformat(" ")), "timestamp")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case int() | Decimal():
            return (
                exp.Neg(this=exp.Literal.number(str(-value)))
                if value < 0
                else exp.Literal.number(str(value))
            )
        case _:
            raise AssertionError(value)


def times(*factors: exp.Expr) -> exp.Expr:
    """A product."""
    return reduce(
        lambda product, right: exp.Mul(
            this=exp.paren(product.copy()), expression=exp.paren(right.copy())
        ),
        factors,
    )


def minus(minuend: exp.Expr, right: exp.Expr) -> exp.Expr:
    """A difference."""
    return exp.Sub(this=exp.paren(minuend.copy()), expression=exp.paren(right.copy()))


def plus(first: exp.Expr, right: exp.Expr) -> exp.Expr:
    """A sum of two."""
    return exp.Add(this=exp.paren(first.copy()), expression=exp.paren(right.copy()))


def total(of: exp.Expr) -> exp.Expr:
    """SUM of an expression."""
    return exp.Sum(this=of.copy())


def choice(*cases: tuple[exp.Expr, exp.Expr], default: exp.Expr) -> exp.Case:
    """CASE WHEN … THEN … ELSE … END."""
    return exp.Case(
        ifs=[exp.If(this=test.copy(), true=value.copy()) for test, value in cases],
        default=default.copy(),
    )


@dataclass(frozen=True)
class Domain:
    """The values that a report may stand for, as a table ``name`` with indices; NULL is last.

    ``report`` is the column of the class's report. A report that is NULL, or that the mechanism
    never gives, stands for NULL alone.
    """

    name: str
    report: exp.Column
    values: tuple[Hashable, ...]
    truth: Fraction
    other: Fraction
    unary: bool

    @property
    def value(self) -> exp.Column:
        """The column of the values."""
        return column("v", self.name)

    @property
    def table(self) -> exp.Expr:
        """The table of the values."""
        rows = [
            exp.Tuple(expressions=[constant(value), exp.Literal.number(index)])
            for index, value in enumerate(self.values, 1)
        ]
        rows.append(exp.Tuple(expressions=[exp.Null(), exp.Literal.number(0)]))
        columns = [exp.to_identifier(name, quoted=True) for name in ("v", "place")]
        return exp.Values(
            expressions=rows,
            alias=exp.TableAlias(this=exp.to_identifier(self.name, quoted=True), columns=columns),
        )

    @property
    def possible(self) -> exp.Expr:
        """Whether the report may stand for the value: always, if it is a report at all."""
        known = exp.Not(this=exp.Is(this=self.value, expression=exp.Null()))
        if self.unary:
            width = exp.Literal.number(len(self.values))
            is_report: exp.Expr = exp.EQ(this=exp.Length(this=self.report.copy()), expression=width)
        else:
            is_report = exp.In(
                this=self.report.copy(), expressions=[constant(value) for value in self.values]
            )
        return choice((is_report, known), default=exp.Is(this=self.value, expression=exp.Null()))

    @property
    def once(self) -> exp.Expr:
        """1 for one of the values that the report may stand for, and 0 for the others."""
        first = exp.LTE(this=column("place", self.name), expression=exp.Literal.number(1))
        return choice((first, number(1.0)), default=number(0.0))

    @property
    def weight(self) -> exp.Expr:
        """The weight of a report for a value.

        It is (1 − other)/(truth − other) if the report speaks for the value,
        else −other/(truth − other).
        """
        gain = self.truth - self.other
        if self.unary:
            bit = exp.Substring(
                this=self.report.copy(),
                start=column("place", self.name),
                length=exp.Literal.number(1),
            )
            speaks: exp.Expr = exp.EQ(this=bit, expression=exp.Literal.string("1"))
        else:
            speaks = exp.EQ(this=self.report.copy(), expression=self.value)
        missing = exp.Is(this=self.value, expression=exp.Null())
        return choice(
            (missing, number(1.0)),
            (speaks, number((1 - self.other) / gain)),
            default=number(-self.other / gain),
        )


def squared(reports: NumberReports, report: exp.Expr) -> exp.Expr:
    """An unbiased estimate of the square of the number that is reported."""
    a, b, c = reports.square
    return plus(plus(times(number(a), report, report), times(number(b), report)), number(c))


@dataclass(frozen=True)
class Estimate:
    """One debiased sum: Σ mass·w over classes, with w the weight of all values that count.

    ``square`` is the sum of squares of what a class's rows report (or a bound of it),
    ``true_square`` an estimate of the sum of squares of what they hold (or the same bound); None
    where no bound is known. ``weight`` and ``again`` are Σ w·f and Σ w·f² over the values, f being
    what a value counts for.
    """

    mass: exp.Expr
    square: exp.Expr | None
    true_square: exp.Expr | None
    weight: exp.Expr
    again: exp.Expr

    @property
    def value(self) -> exp.Expr:
        """The sum, without bias."""
        return total(times(self.mass, self.weight))

    @property
    def variance(self) -> exp.Expr | None:
        """Σ (square·w² − true_square·Σ w f²): the variance without bias.

        If squares are bounds, it is at least the variance.
        """
        if self.square is None or self.true_square is None:
            return None
        return total(
            minus(times(self.square, self.weight, self.weight), times(self.true_square, self.again))
        )


def covariance(above: Estimate, below: Estimate) -> exp.Expr:
    """The covariance of a sum and the count of its rows, without bias: Σ mass·(w·w' − Σ w f f')."""
    together = above.weight if above.mass == below.mass else above.again
    return total(times(above.mass, minus(times(above.weight, below.weight), together)))


def sum_ends(estimate: Estimate, z: float) -> tuple[exp.Expr, exp.Expr] | None:
    """The ends of the interval of a debiased sum: z standard deviations to each side."""
    variance = estimate.variance
    if variance is None:
        return None
    half = times(number(z), exp.Sqrt(this=_not_negative(variance)))
    return minus(estimate.value, half), plus(estimate.value, half)


def ratio_ends(above: Estimate, below: Estimate, z: float) -> tuple[exp.Expr, exp.Expr] | None:
    """The ends of the interval of a ratio of two debiased sums, by Fieller.

    They are ±∞ if the divisor may be 0.
    """
    over = above.variance
    under = below.variance
    if over is None or under is None:
        return None
    square = number(z * z)
    a = minus(times(below.value, below.value), times(square, under))
    b = minus(times(above.value, below.value), times(square, covariance(above, below)))
    c = minus(times(above.value, above.value), times(square, over))
    root = exp.Sqrt(this=_not_negative(minus(times(b, b), times(a, c))))
    zero = exp.Literal.number(0)
    ends = []
    for infinite, end in (("-inf", minus(b, root)), ("inf", plus(b, root))):
        quotient = exp.Div(this=exp.paren(end), expression=exp.paren(a.copy()))
        infinity = exp.cast(exp.Literal.string(infinite), "double")
        ends.append(choice((exp.GT(this=a.copy(), expression=zero), quotient), default=infinity))
    return ends[0], ends[1]


def _not_negative(node: exp.Expr) -> exp.Expr:
    return exp.Greatest(this=node.copy(), expressions=[number(0.0)], ignore_nulls=True)
