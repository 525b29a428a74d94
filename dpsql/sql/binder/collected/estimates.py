"""Which debiased sums an aggregate over collected columns is made of, and its interval.

Arithmetic with constants, and a part of all rows,
have intervals too. Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from dpsql.schema.reports import NumberReports
from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.binder.collected.classes import Place, ReportClasses
from dpsql.sql.binder.collected.sources import Sources
from dpsql.sql.binder.collected.weights import (
    Estimate,
    choice,
    number,
    ratio_ends,
    squared,
    sum_ends,
    times,
    total,
)
from dpsql.sql.ir.refusal import called, refuse


@dataclass(frozen=True)
class Conditions:
    """The conditions on the rows of an aggregate.

    ``own`` reads no collected column; ``lifted`` is over classes and values. ``relevant`` are the
    collected columns that the aggregate, the keys and the WHERE clause read.
    """

    own: tuple[exp.Expr, ...]
    lifted: tuple[exp.Expr, ...]
    relevant: frozenset[Place]


@dataclass(frozen=True)
class Estimates:
    """Reads the aggregates of one SELECT.

    ``relevant`` are the collected columns of its keys and its WHERE clause.
    """

    classes: ReportClasses
    sources: Sources
    relevant: frozenset[Place]

    def replacement(self, node: exp.Expr) -> exp.Expr:
        """The replacement of an aggregate: a count is made whole, a sum or average is not."""
        above, below = self._of(node)
        if below is not None:
            divisor = exp.Nullif(this=below.value, expression=exp.Literal.number(0))
            return exp.paren(exp.Div(this=exp.paren(above.value), expression=divisor))
        if isinstance(_call(node), exp.Sum):
            return above.value
        rounded = exp.Round(
            this=exp.Coalesce(this=above.value, expressions=[exp.Literal.number(0)])
        )
        return exp.cast(rounded, "bigint")

    def ends(self, node: exp.Expr, z: float) -> tuple[exp.Expr, exp.Expr] | None:
        """The ends of an aggregate's interval; None if it has none.

        The interval has z standard deviations of the collection.
        """
        above, below = self._of(node)
        return sum_ends(above, z) if below is None else ratio_ends(above, below, z)

    def quotient_ends(
        self, above: exp.Expr, count: exp.Expr, z: float
    ) -> tuple[exp.Expr, exp.Expr] | None:
        """The ends of the interval of an aggregate over the number of all rows."""
        over = self._of(above)
        under = self._of(count)
        return None if over[1] is not None else ratio_ends(over[0], under[0], z)

    def _of(self, node: exp.Expr) -> tuple[Estimate, Estimate | None]:
        """The sum that an aggregate is; for an average also the count of its rows."""
        call = _call(node)
        filtered = conjuncts(node.expression if isinstance(node, exp.Filter) else None)
        argument = call.this
        if isinstance(argument, exp.Distinct) or not isinstance(
            call, exp.Count | exp.Sum | exp.Avg | exp.CountIf
        ):
            description = (
                f"{called(call)}(DISTINCT …)"
                if isinstance(argument, exp.Distinct)
                else called(call)
            )
            refuse(
                "E_AGG",
                f"{description} of reports says nothing of the values: counts, sums and averages are debiased; "
                "ask for the others in a statement without collected columns",
                node,
            )
        if call.expressions:
            refuse("E_AGG", f"{called(call)} takes one argument", node)
        if isinstance(call, exp.CountIf):
            filtered = [*filtered, *conjuncts(argument)]
            argument = exp.Star()
        exact = tuple(condition for condition in filtered if not self.sources.reads(condition))
        lifted = tuple(
            self.classes.lifted(condition)
            for condition in filtered
            if self.sources.reads(condition)
        )
        relevant = self.relevant | self.classes.places(*filtered, argument)
        return self._over(call, argument, Conditions(exact, lifted, relevant))

    def _over(
        self, call: exp.Expr, argument: exp.Expr, rows: Conditions
    ) -> tuple[Estimate, Estimate | None]:
        if isinstance(argument, exp.Star):
            return self._counted(exp.Star(), rows), None
        collected = self.sources.collected(argument)
        reports = None if collected is None else collected.reports
        if isinstance(reports, NumberReports) or not self.sources.reads(argument):
            counted = self._counted(argument, rows)
            if isinstance(call, exp.Count):
                return counted, None
            above = self._added(
                argument, reports if isinstance(reports, NumberReports) else None, rows
            )
            return above, counted if isinstance(call, exp.Avg) else None
        value = self.classes.lifted(argument)
        present = exp.Not(this=exp.Is(this=value, expression=exp.Null()))
        counted = self._counted(
            exp.Star(), Conditions(rows.own, (*rows.lifted, present), rows.relevant)
        )
        if isinstance(call, exp.Count):
            return counted, None
        worth = exp.Coalesce(this=exp.cast(value.copy(), "double"), expressions=[number(0.0)])
        mass = self.classes.mass(_filtered(exp.Count(this=exp.Star()), rows.own))
        above = Estimate(mass, mass, mass, *self._summed(worth, rows))
        return above, counted if isinstance(call, exp.Avg) else None

    def _counted(self, argument: exp.Expr, rows: Conditions) -> Estimate:
        """A count of all rows, or of those whose argument is not NULL."""
        mass = self.classes.mass(_filtered(exp.Count(this=argument.copy()), rows.own))
        return Estimate(mass, mass, mass, *self._summed(number(1.0), rows))

    def _summed(self, worth: exp.Expr, rows: Conditions) -> tuple[exp.Expr, exp.Expr]:
        of = choice((exp.and_(*rows.lifted), worth), default=number(0.0)) if rows.lifted else worth
        return self.classes.summed(of, rows.relevant)

    def _added(
        self, argument: exp.Expr, reports: NumberReports | None, rows: Conditions
    ) -> Estimate:
        """A sum of numbers that are exact or reports.

        If there are also private columns, the squares are bounded, not bought.
        """
        mass = self.classes.mass(_filtered(exp.Sum(this=argument.copy()), rows.own))
        summed = self._summed(number(1.0), rows)
        if not self.sources.is_private:
            double = exp.cast(argument.copy(), "double")
            square = self.classes.mass(_filtered(total(times(double, double)), rows.own))
            if reports is None:
                return Estimate(mass, square, square, *summed)
            true = self.classes.mass(_filtered(total(squared(reports, argument)), rows.own))
            return Estimate(mass, square, true, *summed)
        bound = self._bound(argument, reports)
        if bound is None:
            return Estimate(mass, None, None, *summed)
        count = self.classes.mass(_filtered(exp.Count(this=argument.copy()), rows.own))
        noise = 0.0 if reports is None else reports.variance
        return Estimate(
            mass, times(number(bound**2 + noise), count), times(number(bound**2), count), *summed
        )

    def _bound(self, argument: exp.Expr, reports: NumberReports | None) -> float | None:
        """The largest size of a value; None if the schema does not declare it."""
        if reports is not None:
            return float(max(abs(reports.low), abs(reports.high)))
        source_column = self.sources.column(argument)
        bounds = None if source_column is None else source_column[1].bounds
        sizes = [abs(float(end)) for end in bounds or () if isinstance(end, int | float | Fraction)]
        return max(sizes) if len(sizes) == 2 else None


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that are joined by AND."""
    match node:
        case None:
            return []
        case exp.Where() | exp.Paren():
            return conjuncts(node.this)
        case exp.And():
            return conjuncts(node.this) + conjuncts(node.expression)
        case _:
            return [node]


def _call(node: exp.Expr) -> exp.Expr:
    """The call of an aggregate, without its FILTER."""
    return node.this if isinstance(node, exp.Filter) else node


def _filtered(aggregate: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The aggregate over the rows that fulfil the conditions."""
    if not conditions:
        return aggregate
    where = exp.Where(this=exp.and_(*(condition.copy() for condition in conditions)))
    return exp.Filter(this=aggregate, expression=where)


#: The ends of an interval, as SQL.
Ends = tuple[exp.Expr, exp.Expr]


def ends_of(node: exp.Expr, estimates: Estimates, z: float) -> Ends | None:
    """The ends of the interval of an aggregate, or of an expression of it; else None.

    The expression combines the aggregate with constants, or divides it by COUNT(*).
    """
    if is_aggregate(node):
        return estimates.ends(node, z)
    match node:
        case exp.Paren():
            return ends_of(node.this, estimates, z)
        case exp.Neg() | exp.Cast() | exp.Round() if _alone(node):
            return _around(node, node.this, ends_of(node.this, estimates, z))
        case exp.Div() if _is_count(node.expression):
            return _quotient(node.this, node.expression, estimates, z)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            for inner, other in ((node.this, node.expression), (node.expression, node.this)):
                if _is_constant(other) and not (
                    isinstance(node, exp.Div) and inner is node.expression
                ):
                    return _around(node, inner, ends_of(inner, estimates, z))
    return None


def _quotient(above: exp.Expr, below: exp.Expr, estimates: Estimates, z: float) -> Ends | None:
    """The ends of a part of all rows, perhaps times a constant."""
    if isinstance(above, exp.Paren):
        return _quotient(above.this, below, estimates, z)
    if isinstance(above, exp.Mul):
        for inner, other in ((above.this, above.expression), (above.expression, above.this)):
            if _is_constant(other):
                return _around(above, inner, _quotient(inner, below, estimates, z))
    count = below.find(exp.Count)
    return (
        estimates.quotient_ends(above, count, z)
        if count is not None and is_aggregate(above)
        else None
    )


def _around(node: exp.Expr, inner: exp.Expr, ends: Ends | None) -> Ends | None:
    """Both ends with what is around the inner part, which nowhere turns: the lesser one first."""
    if ends is None:
        return None
    one, other = (_with(node, inner, end) for end in ends)
    return (
        exp.Least(this=one, expressions=[other], ignore_nulls=True),
        exp.Greatest(this=one.copy(), expressions=[other.copy()], ignore_nulls=True),
    )


def _with(node: exp.Expr, inner: exp.Expr, end: exp.Expr) -> exp.Expr:
    """The node with the end in the place of its inner part."""

    def replaced(value: object) -> object:
        if value is inner:
            return exp.paren(end.copy())
        return value.copy() if isinstance(value, exp.Expr) else value

    result = type(node)(**{name: replaced(value) for name, value in node.args.items()})
    return exp.paren(result)


def _alone(node: exp.Expr) -> bool:
    """Whether all that a function reads beside its first argument are constants."""
    return all(
        _is_constant(argument)
        for name, argument in node.args.items()
        if name != "this" and isinstance(argument, exp.Expr)
    )


def _is_constant(node: exp.Expr) -> bool:
    return node.find(exp.Column, exp.Query, exp.AggFunc, exp.Window, exp.Placeholder) is None


def _is_count(node: exp.Expr) -> bool:
    """Whether the node is COUNT(*), perhaps as another type, or with NULL for 0."""
    while isinstance(node, exp.Paren | exp.Nullif | exp.Cast):
        node = node.this
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)
