"""What the allow-list says of a function, and how total forms and types are built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.ir.expression import DOUBLE, INTEGER, TIMESTAMP
from dpsql.sql.ir.interval import EVERYTHING, Interval

Node: TypeAlias = exp.Expr

#: How many digits behind the point a product of decimals may keep before it is treated as a double.
MAX_SCALE = 6


@dataclass(frozen=True)
class Function:
    """One function of the allow-list.

    ``parameters`` names the kind of each argument (see `dpsql.sql.functions.call`); a kind that ends in ``*`` may
    repeat, and the last ``optional`` ones may be left out. ``total`` builds the engine expression from emitted
    arguments, numbers already as DOUBLE. ``fallible`` says whether it may be NULL on non-NULL arguments, or says so of
    their intervals. ``whole`` functions give the engine's own integers and the others DOUBLE. ``jumps`` are those that
    need a decimal to be the double nearest to it, since their value changes at once. ``examples`` are calls on the
    table of `tests/engines/test_functions.py`, and ``note`` says where the value is not that of plain DuckDB.
    """

    parameters: tuple[str, ...]
    result: Callable[..., SqlType]
    total: Callable[..., Node]
    interval: Callable[..., Interval] = lambda *_: EVERYTHING
    fallible: bool | Callable[..., bool] = False
    optional: int = 0
    whole: bool = False
    jumps: bool = False
    examples: tuple[str, ...] = ()
    note: str = ""

    def kinds(self, count: int) -> tuple[str, ...]:
        """The kind of each of ``count`` arguments."""
        *first, last = self.parameters or ("",)
        if last.endswith("*"):
            return (*first, *[last[:-1]] * (count - len(first)))
        return self.parameters[:count]

    def may_fail(self, *arguments: Interval) -> bool:
        """Whether it may be NULL on arguments that are not and that lie in these intervals."""
        return self.fallible(*arguments) if callable(self.fallible) else self.fallible


def attempt(node: Node) -> Node:
    """The expression inside TRY: NULL where it would have failed.

    The engine takes no subquery inside TRY, so those of the expression are read beside it.

    >>> attempt(exp.maybe_parse("EXP((SELECT MAX(b.y) FROM b) / a.x)")).sql()
    '(SELECT TRY(EXP("beside"."s0" / a.x)) FROM (VALUES ((SELECT MAX(b.y) FROM b))) AS "beside"("s0"))'
    """
    if node.find(exp.Subquery, exp.Exists) is None:
        return exp.Try(this=node)
    found: list[Node] = []

    def beside(part: Node) -> Node:
        if not isinstance(part, exp.Subquery | exp.Exists):
            return part
        if part not in found:
            found.append(part)
        return exp.column(f"s{found.index(part)}", "beside", quoted=True)

    inside = exp.Try(this=node.transform(beside, copy=False))
    names = [exp.to_identifier(f"s{place}", quoted=True) for place in range(len(found))]
    alias = exp.TableAlias(this=exp.to_identifier("beside", quoted=True), columns=names)
    source = exp.Values(expressions=[exp.Tuple(expressions=found)], alias=alias)
    return exp.Subquery(this=exp.Select(expressions=[inside], from_=exp.From(this=source)))


def number(value: int | float) -> Node:
    """A DOUBLE literal; the cast keeps the engine from reading it as a DECIMAL."""
    size = exp.Cast(this=exp.Literal.number(repr(abs(value))), to=exp.DataType(this=exp.DType.DOUBLE))
    return exp.Neg(this=size) if value < 0 else size


def always(sql_type: SqlType) -> Callable[..., SqlType]:
    """A result type that does not depend on the arguments."""
    return lambda *_: sql_type


def sum_type(left: SqlType, right: SqlType) -> SqlType:
    """Integers stay integers, decimals keep the longer scale, everything else is a double."""
    if left.kind == right.kind == "integer":
        return INTEGER
    if "double" in (left.kind, right.kind):
        return DOUBLE
    return SqlType("decimal", 38, max(left.scale or 0, right.scale or 0))


def product_type(left: SqlType, right: SqlType) -> SqlType:
    """Integers stay integers, decimals add their scales as far as `MAX_SCALE`, everything else is a double."""
    if left.kind == right.kind == "integer":
        return INTEGER
    scale = (left.scale or 0) + (right.scale or 0)
    if "double" in (left.kind, right.kind) or scale > MAX_SCALE:
        return DOUBLE
    return SqlType("decimal", 38, scale)


def same(first: SqlType, *_: SqlType) -> SqlType:
    """The type of the first argument."""
    return first


def whole(argument: SqlType, *_: SqlType) -> SqlType:
    """A whole number of the argument's kind."""
    return DOUBLE if argument.kind == "double" else INTEGER


def floating(argument: SqlType, *_: SqlType) -> SqlType:
    """A double, whatever the argument."""
    return DOUBLE


def common_type(first: SqlType, *others: SqlType) -> SqlType:
    """The type that values of all the given types share; numbers and temporal types widen."""
    result = first
    for other in others:
        if result.is_numeric and other.is_numeric:
            result = sum_type(result, other)
        elif result.is_temporal and other.is_temporal:
            result = result if result == other else TIMESTAMP
    return result


def binary(kind: type[exp.Binary]) -> Callable[..., Node]:
    """The total form of an operator that cannot fail on what it is given."""
    return lambda left, right: kind(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def not_zero(node: Node) -> Node:
    """The divisor, NULL where it is zero."""
    return exp.Nullif(this=node, expression=number(0.0))


def call(name: str) -> Callable[..., Node]:
    """The total form of a function that the engine has under this name and that cannot fail."""
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def cast(node: Node, sql_type: str) -> Node:
    """The value as another type, where every value has a form there."""
    return exp.Cast(this=node, to=exp.DataType.build(sql_type, dialect="duckdb"))


def case(condition: Node, value: Node) -> Node:
    """The value where the condition holds, else NULL."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)])


def compare(kind: type[exp.Binary], left: Node, right: Node) -> Node:
    """A comparison in which nothing binds closer than it should."""
    return kind(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def both(left: Node, right: Node) -> Node:
    """The AND of two conditions."""
    return exp.And(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def divided(left: Node, right: Node) -> Node:
    """The quotient of two doubles, NULL where the divisor is zero."""
    return exp.Div(this=exp.Paren(this=left), expression=not_zero(right), typed=False, safe=False)


def guarded(condition: type[exp.Binary], bound: float, name: str) -> Callable[..., Node]:
    """NULL outside the function's domain, and TRY inside, on every version of the engine."""

    def build(argument: Node) -> Node:
        return case(compare(condition, argument, number(bound)), attempt(call(name)(argument.copy())))

    return build


def between(low: float, high: float, name: str) -> Callable[..., Node]:
    """NULL unless the argument lies between the two, and TRY inside, on every version of the engine."""

    def build(argument: Node) -> Node:
        inside = both(compare(exp.GTE, argument, number(low)), compare(exp.LTE, argument.copy(), number(high)))
        return case(inside, attempt(call(name)(argument.copy())))

    return build
