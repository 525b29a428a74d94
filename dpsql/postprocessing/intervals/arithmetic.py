"""What is computed of one released row, read as a function of one number: a quotient of sums of its aggregates.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sqlglot import exp

from dpsql.sql.emit.sandbox import SANDBOX

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

    def plus(self, other: LinearSum, sign: int = 1) -> LinearSum:
        """The sum, or with ``sign`` −1 the difference."""
        mine, theirs, zero = dict(self.factors), dict(other.factors), Fraction(0)
        places = dict.fromkeys([*mine, *theirs])
        factors = ((place, mine.get(place, zero) + sign * theirs.get(place, zero)) for place in places)
        return LinearSum(tuple(each for each in factors if each[1]), self.constant + sign * other.constant)

    def times(self, factor: Fraction) -> LinearSum:
        return LinearSum(
            tuple((place, each * factor) for place, each in self.factors if factor), self.constant * factor
        )


@dataclass(frozen=True)
class Quotient:
    """``above`` over ``below``."""

    above: LinearSum
    below: LinearSum = LinearSum((), Fraction(1))


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
    if inner.above.is_constant and inner.below.is_constant:
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
    constant = _constant(node)
    if constant is not None:
        return Quotient(LinearSum((), constant))
    match node:
        case exp.Paren():
            return _quotient(node.this)
        case exp.Column():
            return Quotient(LinearSum(((int(node.name[1:]), Fraction(1)),))) if node.name[0] == "a" else None
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
    if above is None or below is None or below.above == LinearSum():
        return None
    if below.above.is_constant and below.below.is_constant:
        return _scaled(above, below.below.constant / below.above.constant)
    if below.below.is_constant and above.below.is_constant:
        return Quotient(above.above.times(below.below.constant), below.above.times(above.below.constant))
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
