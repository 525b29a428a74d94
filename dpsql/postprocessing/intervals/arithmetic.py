"""Arithmetic over the aggregates of one released row: linear forms, ratios, and intervals of sums of averages.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sqlglot import exp

from dpsql.planning.estimators.estimate import Average, Interval
from dpsql.planning.estimators.linear_forms import Form, ratio
from dpsql.sql.emit.sandbox import SANDBOX

#: Stands for the arithmetic in what is around it.
INSIDE = "inside"
_NUMBERS = {exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT}
_ROUNDED = _NUMBERS | {
    exp.DataType.Type.DECIMAL, exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT, exp.DataType.Type.INT128,
}  # fmt: skip


@dataclass(frozen=True)
class Linear:
    """A sum of aggregates, by their places, each with its factor, and of a constant."""

    factors: tuple[tuple[int, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    @property
    def is_constant(self) -> bool:
        return not self.factors

    def plus(self, other: Linear, sign: int = 1) -> Linear:
        """The sum, or with ``sign`` −1 the difference."""
        mine: Mapping[int, Fraction] = dict(self.factors)
        theirs = dict(other.factors)
        factors = {place: mine.get(place, Fraction(0)) + sign * theirs.get(place, Fraction(0))
                   for place in dict.fromkeys([*mine, *theirs])}  # fmt: skip
        kept = tuple((place, factor) for place, factor in factors.items() if factor)
        return Linear(kept, self.constant + sign * other.constant)

    def times(self, factor: Fraction) -> Linear:
        return Linear(tuple((place, each * factor) for place, each in self.factors if factor), self.constant * factor)


@dataclass(frozen=True)
class Quotient:
    """``above`` over ``below``."""

    above: Linear
    below: Linear = Linear((), Fraction(1))


@dataclass(frozen=True)
class Arithmetic:
    """A quotient, and what stands around it as SQL over `INSIDE`: a function that nowhere falls or nowhere rises."""

    inner: Quotient
    around: str | None


@lru_cache(maxsize=1024)
def arithmetic(sql: str) -> Arithmetic | None:
    """The expression of a released row's columns as arithmetic; None where it is more than that.

    >>> arithmetic('ROUND(100.0 * "a0" / NULLIF("a1", 0), 1)').around
    'ROUND("inside", 1)'
    >>> arithmetic('"a0" * "a1"') is None
    True
    """
    node = SANDBOX.parse(sql)
    holder = exp.Paren(this=node)
    inner = _quotient(node)
    while inner is None:
        part = _part(node)
        if part is None:
            return None
        node, inner = part, _quotient(part)
    if inner.above.is_constant and inner.below.is_constant:
        return None
    if node is holder.this:
        return Arithmetic(inner, None)
    node.replace(exp.column(exp.to_identifier(INSIDE, quoted=True)))
    return Arithmetic(inner, SANDBOX.write(holder.this))


@lru_cache(maxsize=1024)
def aggregates_read(sql: str) -> frozenset[int]:
    """The places of the aggregates that the expression reads.

    >>> sorted(aggregates_read('"a0" / NULLIF("a2", 0) + LENGTH("k0")'))
    [0, 2]
    """
    read = {column.name for column in SANDBOX.parse(sql).find_all(exp.Column)}
    return frozenset(int(name[1:]) for name in read if name.startswith("a"))


@lru_cache(maxsize=1024)
def divided_by(sql: str) -> tuple[str, ...]:
    """What an expression over aggregates divides by, where that is no constant.

    >>> divided_by('"a0" * "a1" / NULLIF("a2", 0) + "a1" / 2')
    ('NULLIF("a2", 0)',)
    """
    divisors = [node.expression for node in SANDBOX.parse(sql).find_all(exp.Div)]
    read = [each for each in divisors if any(column.name.startswith("a") for column in each.find_all(exp.Column))]
    return tuple(SANDBOX.write(each.unnest()) for each in read)


def _part(node: exp.Expr) -> exp.Expr | None:
    """The one argument that the node only rises with, or only falls with."""
    part: exp.Expr | None = None
    match node:
        case exp.Paren() | exp.Neg():
            part = node.this
        case exp.Round() | exp.Trunc() | exp.Floor() | exp.Ceil():
            decimals = node.args.get("decimals")
            part = node.this if decimals is None or _constant(decimals) is not None else None
        case exp.Cast(to=exp.DataType(this=kind)) if kind in _ROUNDED:
            part = node.this
        case exp.Coalesce() if all(_constant(each) is not None for each in node.expressions):
            part = node.this
        case exp.Add() | exp.Sub() | exp.Mul():
            if _constant(node.expression) is not None:
                part = node.this
            else:
                part = node.expression if _constant(node.this) is not None else None
        case exp.Div() if _constant(node.expression):
            part = node.this
    return part


def _quotient(node: exp.Expr) -> Quotient | None:
    """The node as a quotient of linear forms, None where it is none."""
    constant = _constant(node)
    if constant is not None:
        return Quotient(Linear((), constant))
    match node:
        case exp.Paren():
            return _quotient(node.this)
        case exp.Column():
            return Quotient(Linear(((int(node.name[1:]), Fraction(1)),))) if node.name[0] == "a" else None
        case exp.Cast(to=exp.DataType(this=kind)) if kind in _NUMBERS:
            return _quotient(node.this)
        case exp.Nullif() if _constant(node.expression) == 0:
            return _quotient(node.this)
        case exp.Neg():
            return _scaled(_quotient(node.this), Fraction(-1))
        case exp.Mul():
            left, right = _constant(node.this), _constant(node.expression)
            if left is not None:
                return _scaled(_quotient(node.expression), left)
            return None if right is None else _scaled(_quotient(node.this), right)
        case exp.Add() | exp.Sub():
            return _sum(_quotient(node.this), _quotient(node.expression), -1 if isinstance(node, exp.Sub) else 1)
        case exp.Div():
            return _over(_quotient(node.this), _quotient(node.expression))
        case _:
            return None


def _scaled(quotient: Quotient | None, factor: Fraction) -> Quotient | None:
    return None if quotient is None else Quotient(quotient.above.times(factor), quotient.below)


def _sum(left: Quotient | None, right: Quotient | None, sign: int) -> Quotient | None:
    if left is None or right is None:
        return None
    if left.below == right.below:
        return Quotient(left.above.plus(right.above, sign), left.below)
    if right.below.is_constant and right.above.is_constant:
        return Quotient(left.above.plus(left.below.times(right.above.constant), sign), left.below)
    if left.below.is_constant and left.above.is_constant:
        return Quotient(right.below.times(left.above.constant).plus(right.above, sign), right.below)
    return None


def _over(above: Quotient | None, below: Quotient | None) -> Quotient | None:
    if above is None or below is None or below.above == Linear():
        return None
    if below.below.is_constant and above.below.is_constant:
        return Quotient(above.above.times(below.below.constant), below.above.times(above.below.constant))
    if below.above.is_constant and below.below.is_constant:
        return _scaled(above, below.below.constant / below.above.constant)
    return None


def _constant(node: exp.Expr) -> Fraction | None:
    match node:
        case exp.Paren() | exp.Cast(to=exp.DataType(this=exp.DataType.Type.DOUBLE)):
            return _constant(node.this)
        case exp.Neg():
            inner = _constant(node.this)
            return None if inner is None else -inner
        case exp.Literal() if not node.is_string:
            return Fraction(node.this)
        case _:
            return None


#: How near to the end of what is possible an interval's end is taken to be cut there.
CUT = 1e-9


@dataclass(frozen=True)
class _Part:
    """Averages over one count, each times its factor: their value, where it may lie, and how far it can be from 0."""

    value: float
    interval: Interval
    reach: float


def sum_interval(averages: Sequence[tuple[float, Average]], constant: float) -> Interval:
    """Where the sum of averages lies, each times its factor, and of a constant.

    Averages over the same rows are one ratio. What noise leaves open to one side is added as it is, the rest as what
    is independent.
    """
    parts, law = _parts(averages), averages[0][1].total.law
    middle = constant + sum(factor * each.middle for factor, each in averages) + sum(part.value for part in parts)
    reached = []
    for side in (0, 1):
        far = [abs(part.interval[side] - part.value) for part in parts]
        opened = [abs(part.interval[side]) >= part.reach * (1 - CUT) for part in parts]
        whole = sum(each for each, is_open in zip(far, opened, strict=True) if is_open)
        reached.append(whole + law.together(*(each for each, is_open in zip(far, opened, strict=True) if not is_open)))
    return middle - reached[0], middle + reached[1]


def _parts(averages: Sequence[tuple[float, Average]]) -> list[_Part]:
    parts = []
    for count in {tuple(each.count.moved.items()): each.count for _, each in averages}.values():
        same = [(factor, each) for factor, each in averages if each.count.moved == count.moved]
        above, reach, value = Form(0.0, {}, count.law), 0.0, 0.0
        for factor, each in same:
            above = above + each.total * factor
            reach += abs(factor) * each.reach
            value += factor * min(max(each.total.value / max(count.value, 1.0), -each.reach), each.reach)
        low, high = ratio(above, count, (-reach, reach))
        parts.append(_Part(value, (min(low, value), max(high, value)), reach))
    return parts
