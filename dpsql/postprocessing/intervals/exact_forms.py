"""Expressions over one released row as functions of a quotient of sums of its aggregates.

Also their exact intervals. Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp

from dpsql.planning.estimators.linear_forms import EVERYTHING, ConfidenceInterval, LinearForm, ratio
from dpsql.planning.estimators.quantiles import is_date
from dpsql.postprocessing.sandbox import Sandbox, column_types
from dpsql.release.grouping_sets import CubeTable
from dpsql.release.released_tables import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube, noise_known
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate import UNITS
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Core

AnyReleasedTable: TypeAlias = ReleasedTable | CubeTable

#: The name of the column that stands for the quotient in what is around it.
INNER = "inner"
_POINTS = "dpsql points"
_NUMBERS = {exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT}
_ROUNDED = _NUMBERS | {
    exp.DataType.Type.DECIMAL,
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
    exp.DataType.Type.INT128,
}
#: What nowhere falls or nowhere rises where one argument changes: any of them, or the first.
_MONOTONE = (
    exp.Paren,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Greatest,
    exp.Least,
    exp.Sqrt,
    exp.Ln,
    exp.Exp,
)
_MONOTONE_IN_FIRST = (exp.Div, exp.Round, exp.Trunc, exp.Floor, exp.Ceil, exp.Coalesce)


def known_noises(shape: Core | Cube) -> list[KnownNoise]:
    """What is known of the noise of each aggregate of a released table.

    No draw reaches the declared bound at which the intervals of MIN and MAX end, and draws of dates
    are no dates. The number of units by which a group is shown is a number with a noise that was
    chosen. What reads released rows is known no further than these let it be.
    """
    before = noise_known(shape)
    thresholded = bool(shape.keys) and (isinstance(shape, Cube) or shape.domain is None)
    result = list[KnownNoise]()
    for index, aggregate in enumerate(shape.aggregates):
        ranks = aggregate.ranks
        is_threshold_count = thresholded and aggregate.function is UNITS
        ends_only = ranks is not None and (
            ranks.listed or ranks.edge or is_date(column_types(shape)[f"a{index}"])
        )
        most = KnownNoise.DRAWS if is_threshold_count else KnownNoise.FORM
        if ends_only:
            most = KnownNoise.ENDS
        result.append(min(aggregate.function.known_noise, most, before))
    return result


#: A sum of aggregates, by their places, each with its factor; None stands for the constant in it.
LinearSum: TypeAlias = Mapping[int | None, Fraction]
ONE: LinearSum = {None: Fraction(1)}


@dataclass(frozen=True)
class ExactForm:
    """``above`` over ``below``, and the function around it as SQL over `INNER`.

    The function nowhere falls or nowhere rises.
    """

    above: LinearSum
    below: LinearSum
    around: str | None = None


def exact_form(sql: str, shape: Core | Cube) -> ExactForm | None:
    """The form of an expression over a released row's columns whose interval is exact, else None.

    It is exact if the expression reads one aggregate, or sums alone.
    """
    form = arithmetic(sql)
    if form is None:
        return None
    places = {index for index in {**form.above, **form.below} if index is not None}
    alone = len(places) == 1 and form.below == ONE
    least = KnownNoise.ENDS if alone else KnownNoise.FORM
    known = known_noises(shape)
    return form if all(known[index] >= least for index in places) else None


@lru_cache(maxsize=1024)
def arithmetic(sql: str) -> ExactForm | None:
    """The expression as a monotone function of a sum or a quotient of sums; None if it is none.

    Monotone: it nowhere falls or nowhere rises.

    >>> arithmetic('ROUND(100.0 * "a0" / NULLIF("a1", 0), 1)').around
    'ROUND("inner", 1)'
    >>> arithmetic('SQRT(GREATEST("a0" - "a1", 0))').around
    'SQRT(GREATEST("inner", 0))'
    >>> arithmetic('"a0" * "a1"') is arithmetic('ABS("a0")') is None
    True
    """
    holder = exp.Paren(this=SANDBOX.parse(sql))
    node: exp.Expr | None = holder.this
    while node is not None and (result := _quotient(node)) is None:
        node = _monotone_part(node)
    if node is None or result is None or not {*result.above, *result.below} - {None}:
        return None
    if node is holder.this:
        return result
    node.replace(exp.column(INNER, quoted=True))
    return replace(result, around=SANDBOX.write(holder.this))


@lru_cache(maxsize=1024)
def divisors(sql: str) -> tuple[str, ...]:
    """The divisors of an expression over a released row that have noise.

    Keys and constants have none.

    >>> divisors('"a0" * "a1" / NULLIF("a2", 0) + "a1" / "k0"')
    ('NULLIF("a2", 0)',)
    """
    denominators = [
        node.expression.unnest() for node in SANDBOX.parse(sql).find_all(exp.Div, exp.IntDiv)
    ]
    return tuple(
        SANDBOX.write(denominator) for denominator in denominators if not _is_public(denominator)
    )


def _is_public(node: exp.Expr) -> bool:
    """Whether the node reads only keys of a released row, and which of them it is a total over."""
    elsewhere = node.find(exp.Query, exp.Window, exp.Lambda)
    return elsewhere is None and all(column.name[0] in "kg" for column in node.find_all(exp.Column))


def _monotone_part(node: exp.Expr) -> exp.Expr | None:
    """The one argument that the node only rises with, or only falls with.

    All others are constants.
    """
    if isinstance(node, exp.Cast):
        return node.this if node.to.this in _ROUNDED else None
    parts = [child for child in node.iter_expressions() if _constant(child) is None]
    known = isinstance(node, _MONOTONE) or (
        isinstance(node, _MONOTONE_IN_FIRST) and _constant(node.this) is None
    )
    return parts[0] if known and len(parts) == 1 else None


def _quotient(node: exp.Expr) -> ExactForm | None:
    """The node as a sum of aggregates or as a quotient of two such sums."""
    total = _sum(node)
    if total is not None or not isinstance(node, exp.Div):
        return None if total is None else ExactForm(total, ONE)
    above = _sum(node.this)
    below = _sum(node.expression)
    return (
        None
        if above is None or below is None or not set(below) - {None}
        else ExactForm(above, below)
    )


def _sum(node: exp.Expr) -> LinearSum | None:
    """The node as a sum of aggregates with constant factors; ``NULLIF(x, 0)`` is read as x."""
    match node:
        case exp.Literal() if not node.is_string:
            return {None: Fraction(node.this)}
        case exp.Column():
            return {int(node.name[1:]): Fraction(1)} if node.name[0] == "a" else None
        case exp.Paren():
            return _sum(node.this)
        case exp.Cast(to=exp.DataType(this=kind)) if kind in _NUMBERS:
            return _sum(node.this)
        case exp.Nullif() if _constant(node.expression) == 0:
            return _sum(node.this)
        case exp.Neg():
            return _added({}, _sum(node.this), Fraction(-1))
        case exp.Add() | exp.Sub():
            return _added(
                _sum(node.this),
                _sum(node.expression),
                Fraction(-1 if isinstance(node, exp.Sub) else 1),
            )
        case exp.Mul() if (factor := _constant(node.expression)) is not None:
            return _added({}, _sum(node.this), factor)
        case exp.Mul() if (factor := _constant(node.this)) is not None:
            return _added({}, _sum(node.expression), factor)
        case exp.Div() if factor := _constant(node.expression):
            return _added({}, _sum(node.this), 1 / factor)
        case _:
            return None


def _added(first: LinearSum | None, right: LinearSum | None, factor: Fraction) -> LinearSum | None:
    """One sum and the other times the factor."""
    if first is None or right is None:
        return None
    places = {**first, **right}
    added = {
        index: first.get(index, Fraction(0)) + factor * right.get(index, Fraction(0))
        for index in places
    }
    return {index: factor_ for index, factor_ in added.items() if factor_}


def _constant(node: exp.Expr) -> Fraction | None:
    """The number that the node is; None if it reads an aggregate."""
    terms = _sum(node)
    return None if terms is None or set(terms) - {None} else terms.get(None, Fraction(0))


def exact_intervals(
    sandbox: Sandbox, table: AnyReleasedTable, sql: str, rows: Sequence[object], confidence: float
) -> list[ConfidenceInterval | None]:
    """The interval of an expression over the columns of each of these released rows.

    None for rows without one, and for an expression without an exact form.
    """
    form = exact_form(sql, table.shape)
    if form is None:
        return [None] * len(rows)
    numbers = sorted({row for row in rows if isinstance(row, int)})
    intervals_by_row = {row: _interval(table, row, form, confidence) for row in numbers}
    ends = {row: interval for row, interval in intervals_by_row.items() if interval is not None}
    if form.around is not None and ends:
        ends = _through_function(sandbox, form.around, ends)
    return [ends.get(row) if isinstance(row, int) else None for row in rows]


def _interval(
    table: AnyReleasedTable, row: int, form: ExactForm, confidence: float
) -> ConfidenceInterval | None:
    """That of one aggregate moved and scaled, of a sum, or Fieller's set of a quotient of sums."""
    factors = [(at, factor) for at, factor in form.above.items() if at is not None]
    if form.below == ONE and len(factors) == 1:
        (index, factor) = factors[0]
        constant = float(form.above.get(None, 0))
        known = table.intervals[row][index]
        low, high = (
            sorted(float(factor) * end for end in known) if known is not None else (None, None)
        )
        return None if low is None or high is None else (low + constant, high + constant)
    over = _form(table, row, form.above, confidence)
    under = _form(table, row, form.below, confidence)
    if over is None or under is None:
        return None
    if form.below == ONE:
        half = table.coarse_half_width(row, factors, confidence)
        return over.interval if half is None else (over.value - half, over.value + half)
    sign = -1.0 if under.value < 0 else 1.0
    return ratio(over * sign, under * sign, EVERYTHING)


def _form(
    table: AnyReleasedTable, row: int, total: LinearSum, confidence: float
) -> LinearForm | None:
    forms = {index: table.form(row, index, confidence) for index in total if index is not None}
    parts = [form * float(total[index]) for index, form in forms.items() if form is not None]
    combined = sum(parts[1:], parts[0] if parts else LinearForm(0.0)).plus(
        float(total.get(None, 0))
    )
    return combined if len(parts) == len(forms) else None


def _through_function(
    sandbox: Sandbox, around: str, inner: Mapping[int, ConfidenceInterval]
) -> dict[int, ConfidenceInterval]:
    """The interval from the lesser to the greater value of a function at both ends.

    Everything if the function has no value at one of them.
    """
    types = {"row": "BIGINT", INNER: "DOUBLE"}
    sandbox.create(_POINTS, types)
    ends = [(row, end) for row, interval in inner.items() for end in interval]
    sandbox.insert(_POINTS, [[row for row, _ in ends], [end for _, end in ends]], types)
    value = f"TRY(TRY_CAST({around} AS DOUBLE))"
    number = f"FILTER (WHERE NOT isnan({value}))"
    images = sandbox.execute(
        f'SELECT "row", min({value}) {number}, max({value}) {number}, count({value}) {number} '
        f'FROM released."{_POINTS}" GROUP BY "row"'
    )
    return {row: (low, high) if known == 2 else EVERYTHING for row, low, high, known in images}
