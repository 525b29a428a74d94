"""What is computed of one released row, read as a function of one number: a quotient of sums of its aggregates.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sqlglot import exp

from dpsql.sql.emit.syntax import SANDBOX

#: The name of the column that stands for the quotient in what is around it.
INNER = "inner"
_NUMBERS = {exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT}
_ROUNDED = _NUMBERS | {
    exp.DataType.Type.DECIMAL, exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT, exp.DataType.Type.INT128,
}  # fmt: skip


@dataclass(frozen=True)
class LinearSum:
    """A sum of aggregates, by their places, each with its factor, and of a constant."""

    factors: tuple[tuple[int, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    @property
    def is_constant(self) -> bool:
        return not self.factors

    def __add__(self, other: LinearSum) -> LinearSum:
        mine, theirs, zero = dict(self.factors), dict(other.factors), Fraction(0)
        factors = ((place, mine.get(place, zero) + theirs.get(place, zero)) for place in {**mine, **theirs})
        return LinearSum(tuple(each for each in factors if each[1]), self.constant + other.constant)

    def times(self, factor: Fraction) -> LinearSum:
        """The sum, each of its parts times the factor."""
        factors = tuple((place, each * factor) for place, each in self.factors if factor)
        return LinearSum(factors, self.constant * factor)


@dataclass(frozen=True)
class Quotient:
    """``above`` over ``below``."""

    above: LinearSum
    below: LinearSum = LinearSum((), Fraction(1))

    @property
    def constant(self) -> Fraction | None:
        """The number that the quotient is; None where it reads an aggregate."""
        if self.above.is_constant and self.below.is_constant:
            return self.above.constant / self.below.constant
        return None

    def times(self, factor: Fraction) -> Quotient:
        """The quotient times the factor."""
        return Quotient(self.above.times(factor), self.below)

    def over(self, below: LinearSum) -> Quotient:
        """The same quotient over another sum, where it is a constant."""
        return self if self.constant is None else Quotient(below.times(self.constant), below)


@dataclass(frozen=True)
class Arithmetic:
    """A quotient, and what is around it as SQL over `INNER` and keys.

    ``monotone`` tells that what is around it nowhere falls or nowhere rises.
    """

    inner: Quotient
    around: str | None = None
    monotone: bool = True


@lru_cache(maxsize=1024)
def arithmetic(sql: str) -> Arithmetic | None:
    """The expression over a released row's columns as a function of one quotient; None where it is none.

    >>> arithmetic('ROUND(100.0 * "a0" / NULLIF("a1", 0), 1)').around
    'ROUND("inner", 1)'
    >>> found = arithmetic('SQRT(GREATEST("a0" - "a1", 0)) * LENGTH("k0")')
    >>> found.around, found.monotone
    ('SQRT(GREATEST("inner", 0)) * LENGTH("k0")', False)
    >>> arithmetic('"a0" * "a1"') is None
    True
    """
    holder = exp.Paren(this=SANDBOX.parse(sql))
    node, monotone = holder.this, True
    while (inner := _quotient(node)) is None:
        part = _monotone_part(node)
        if part is None:
            part, monotone = _only_part(node), False
        if part is None:
            return None
        node = part
    if inner.constant is not None:
        return None
    if node is holder.this:
        return Arithmetic(inner)
    node.replace(_inner_column())
    return Arithmetic(inner, SANDBOX.write(holder.this), monotone)


@lru_cache(maxsize=1024)
def function_of_one(sql: str) -> Arithmetic | None:
    """The expression as a function of the one aggregate that it reads, however often; None where it reads others.

    >>> function_of_one('"a0" / ("a0" + 1)').around
    '"inner" / ("inner" + 1)'
    """
    node = SANDBOX.parse(sql)
    names = _read(node)
    if len(names) != 1:
        return None
    around = node.transform(lambda part: _inner_column() if isinstance(part, exp.Column) and _read(part) else part)
    return Arithmetic(Quotient(LinearSum(((int(names.pop()[1:]), Fraction(1)),))), SANDBOX.write(around), False)


def _inner_column() -> exp.Column:
    return exp.column(exp.to_identifier(INNER, quoted=True))


@lru_cache(maxsize=1024)
def aggregates_read(sql: str) -> frozenset[int]:
    """The places of the aggregates that the expression reads.

    >>> sorted(aggregates_read('"a0" / NULLIF("a2", 0) + LENGTH("k0")'))
    [0, 2]
    """
    return frozenset(int(name[1:]) for name in _read(SANDBOX.parse(sql)))


@lru_cache(maxsize=1024)
def divisors(sql: str) -> tuple[str, ...]:
    """What an expression over aggregates divides by, where that is no constant.

    >>> divisors('"a0" * "a1" / NULLIF("a2", 0) + "a1" / 2')
    ('NULLIF("a2", 0)',)
    """
    found = [node.expression for node in SANDBOX.parse(sql).find_all(exp.Div)]
    return tuple(SANDBOX.write(each.unnest()) for each in found if _read(each))


def _read(node: exp.Expr) -> set[str]:
    return {column.name for column in node.find_all(exp.Column) if column.name.startswith("a")}


def _monotone_part(node: exp.Expr) -> exp.Expr | None:
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


def _only_part(node: exp.Expr) -> exp.Expr | None:
    """The one part of the node that reads aggregates."""
    parts = [each for each in node.iter_expressions() if _read(each)]
    return parts[0] if len(parts) == 1 else None


def _quotient(node: exp.Expr) -> Quotient | None:
    """The node as a quotient of linear forms, None where it is none."""
    match node:
        case exp.Literal() if not node.is_string:
            return Quotient(LinearSum((), Fraction(node.this)))
        case exp.Column():
            return Quotient(LinearSum(((int(node.name[1:]), Fraction(1)),))) if node.name[0] == "a" else None
        case exp.Paren():
            return _quotient(node.this)
        case exp.Cast(to=exp.DataType(this=kind)) if kind in _NUMBERS:
            return _quotient(node.this)
        case exp.Nullif() if _constant(node.expression) == 0:
            return _quotient(node.this)
        case exp.Neg():
            inner = _quotient(node.this)
            return None if inner is None else inner.times(Fraction(-1))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            left, right = _quotient(node.this), _quotient(node.expression)
            return None if left is None or right is None else _combined(node, left, right)
        case _:
            return None


def _combined(node: exp.Binary, left: Quotient, right: Quotient) -> Quotient | None:
    """The sum, difference, product or quotient of two quotients, None where it is no quotient of linear forms."""
    match node:
        case exp.Add() | exp.Sub():
            left, right = left.over(right.below), right.over(left.below)
            more = right.above.times(Fraction(-1 if isinstance(node, exp.Sub) else 1))
            return Quotient(left.above + more, left.below) if left.below == right.below else None
        case exp.Mul() if right.constant is not None:
            return left.times(right.constant)
        case exp.Mul() if left.constant is not None:
            return right.times(left.constant)
        case exp.Div() if right.constant:
            return left.times(1 / right.constant)
        case exp.Div() if right.constant is None and left.below.is_constant and right.below.is_constant:
            return Quotient(left.above.times(right.below.constant), right.above.times(left.below.constant))
        case _:
            return None


def _constant(node: exp.Expr) -> Fraction | None:
    found = _quotient(node)
    return None if found is None else found.constant
