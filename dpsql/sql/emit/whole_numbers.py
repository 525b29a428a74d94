"""Arithmetic and choices of whole numbers, computed in whole numbers of 64 or 128 bits.

Which of the two follows from the types of what is computed: from how large its value may be
whatever the rows hold. What may be beyond 127 bits is computed of operands of 64 bits, NULL where
they have more. Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.functions.whole_numbers import (
    BIGINT,
    LEAST,
    MOST,
    WIDE,
    common_decimal,
    is_arithmetic,
    is_own_integer,
    leaf_reach,
    operands,
    result_reach,
)
from dpsql.sql.ir.expression import (
    INTEGER,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
)
from dpsql.sql.ir.interval import Interval

#: Emits an expression in the engine's own type.
Emit: TypeAlias = Callable[[Expression], exp.Expr]


@dataclass(frozen=True)
class Whole:
    """An emitted whole number and the interval in which it lies on every row;
    of 64 bits if that lies within these.
    """

    tree: exp.Expr
    reach: Interval

    @property
    def is_wide(self) -> bool:
        """Whether the engine has it as a number of 128 bits."""
        return not _within(self.reach, BIGINT)


def whole_number(dialect: Dialect, expression: Expression, emit: Emit) -> Whole:
    """The expression as a whole number, whether or not it would be exact as a DOUBLE."""
    match expression:
        case Call() if is_arithmetic(expression):
            values = [whole_number(dialect, operand, emit) for operand in operands(expression)]
            return _computed(dialect, expression, values)
        case Case() if is_arithmetic(expression):
            conditions = [emit(condition) for condition, _ in expression.branches]
            values = [whole_number(dialect, operand, emit) for operand in operands(expression)]
            reach = result_reach(expression, *(value.reach for value in values))
            trees = _alike(dialect, reach, values)
            default = None if expression.default is None else trees[-1]
            chosen = node.case(*zip(conditions, trees, strict=False), default=default)
            return Whole(_shortened(dialect, chosen, reach, values), reach)
        case Literal():
            return Whole(dialect.cast(emit(expression), INTEGER), leaf_reach(expression))
        case ColumnRef() | Subquery() | Call() | Case():
            tree = emit(expression)
            is_engine_integer = is_own_integer(expression)
            convert = (
                dialect.cast
                if is_engine_integer and isinstance(expression, Call)
                else dialect.try_cast
            )
            return Whole(convert(tree, INTEGER), leaf_reach(expression))
        case Cast():
            return Whole(emit(expression), leaf_reach(expression))


def compared_as_decimals(dialect: Dialect, comparison: Call, emit: Emit) -> exp.Expr | None:
    """A comparison of columns and constants as decimals of one type,
    if some are decimals and DOUBLEs are not exact.

    No value of a column is cut: the type has as many digits before and after the point as any of
    them.
    """
    common = common_decimal(comparison)
    if common is None:
        return None
    parts = [
        dialect.cast(exp.Literal.string(f"{Decimal(argument.value):f}"), common)
        if isinstance(argument, Literal) and isinstance(argument.value, int | Decimal)
        else dialect.try_cast(emit(argument), common)
        for argument in comparison.arguments
    ]
    return dialect.total_form(comparison.function, *parts)


def narrow(dialect: Dialect, value: Whole) -> Whole:
    """The number in 64 bits; NULL if it has more."""
    if not value.is_wide:
        return value
    low, high = (dialect.cast(node.integer(end), "wide") for end in (LEAST, MOST))
    fits = exp.Between(this=node.operand(value.tree), low=low, high=high)
    return Whole(
        node.case((fits, dialect.try_cast(value.tree.copy(), INTEGER))),
        value.reach.within(BIGINT.low, BIGINT.high),
    )


def _computed(dialect: Dialect, call: Call, values: list[Whole]) -> Whole:
    if call.function not in dialect.total_forms:
        dialect.lacks(call.function.upper())
    if call.function in ("//", "%", "round decimal", "trunc decimal"):
        values = [narrow(dialect, value) for value in values]
    reach = result_reach(call, *(value.reach for value in values))
    if not _within(reach, WIDE):
        values = [narrow(dialect, value) for value in values]
        reach = result_reach(call, *(value.reach for value in values))
    match call.function:
        case "//" | "%":
            return Whole(_divided(dialect, call, *_operand_trees(dialect, call, values)), reach)
        case "round decimal" | "trunc decimal":
            value = Whole(_operand_trees(dialect, call, values)[0], values[0].reach)
            return Whole(_rounded(dialect, call, value, reach), reach)
        case _:
            wide = _alike(dialect, reach, values)
            trees = _operand_trees(dialect, call, [Whole(tree, reach) for tree in wide])
            result = dialect.total_form(call.function, *trees)
            return Whole(_shortened(dialect, result, reach, values), reach)


def _operand_trees(dialect: Dialect, call: Call, values: list[Whole]) -> list[exp.Expr]:
    """The operands as the function reads them: flat if it is slow, or one of many."""
    trees = [value.tree for value in values]
    if call.function == "coalesce" or not dialect.reads_flat(call.function):
        return trees
    return [
        dialect.flat(tree, operand) for tree, operand in zip(trees, operands(call), strict=True)
    ]


def _alike(dialect: Dialect, reach: Interval, values: list[Whole]) -> list[exp.Expr]:
    """The numbers in one width, in which the result fits too."""
    if _within(reach, BIGINT) and not any(value.is_wide for value in values):
        return [value.tree for value in values]
    return [value.tree if value.is_wide else dialect.cast(value.tree, "wide") for value in values]


def _shortened(
    dialect: Dialect, result: exp.Expr, reach: Interval, values: list[Whole]
) -> exp.Expr:
    """The result of operands of 128 bits as a number of 64 bits, if it always is one:
    -(-x), say.
    """
    if _within(reach, BIGINT) and any(value.is_wide for value in values):
        return dialect.cast(result, INTEGER)
    return result


def _divided(dialect: Dialect, call: Call, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    """The quotient or the remainder in 64 bits; NULL if the divisor is 0,
    or the quotient has more.
    """
    known = exp.Nullif(this=divisor, expression=node.integer(0))
    if not isinstance(call.arguments[1], Literal) or call.arguments[1].value == -1:
        usual = node.compare(exp.NEQ, divisor.copy(), node.integer(-1))
        copies = [node.operand(dividend.copy()) for _ in range(2)]
        if (
            call.function == "%"
        ):  # 0, or NULL: DuckDB 1 fails on the remainder of the least number, too
            instead: exp.Expr = exp.Sub(this=copies[0], expression=copies[1])
        else:
            instead = exp.Nullif(
                this=dividend.copy(), expression=dialect.cast(node.integer(LEAST), INTEGER)
            )
        dividend = node.case((usual, dividend), default=instead)
    if call.function == "%":
        return exp.Mod(this=node.operand(dividend), expression=known)
    return dialect.quotient(node.operand(dividend), known)


def _rounded(dialect: Dialect, call: Call, value: Whole, reach: Interval) -> exp.Expr:
    """A multiple of a power of ten: the number less its rest,
    and a step further off if that is a half or more.
    """
    digits = call.arguments[2]
    assert isinstance(digits, Literal) and isinstance(digits.value, int)
    power = 10**-digits.value
    half = 10**-digits.value // 2
    rest = exp.Mod(
        this=node.operand(value.tree), expression=dialect.cast(node.integer(power), INTEGER)
    )
    cut: exp.Expr = exp.Sub(this=node.operand(value.tree.copy()), expression=node.paren(rest))
    if call.function == "trunc decimal" or power == 1:
        return cut
    up = node.compare(exp.GTE, rest.copy(), node.integer(half))
    down = node.compare(exp.LTE, rest.copy(), node.integer(-half))
    step = node.case(
        (up, node.integer(power)), (down, node.integer(-power)), default=node.integer(0)
    )
    if _within(reach, BIGINT):
        return node.plus(cut, dialect.cast(step, INTEGER))
    return node.plus(dialect.cast(cut, "wide"), dialect.cast(step, "wide"))


def _within(inner: Interval, outer: Interval) -> bool:
    if inner.low is None or inner.high is None or outer.low is None or outer.high is None:
        return False
    return outer.low <= inner.low and inner.high <= outer.high
