"""The normal form of expressions: equal conditions are spelled in one way.

What is changed has the same value on every row, NULL for NULL. Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.ir.expression import BOOLEAN, Call, ColumnRef, Expression, Literal, parts, rebuilt

TRUE = Literal(True, BOOLEAN)
FALSE = Literal(False, BOOLEAN)
#: Functions whose arguments may change places.
_SYMMETRIC = frozenset({"is not distinct from", "is distinct from"})


def normal(expression: Expression) -> Expression:
    """The expression with equal conditions spelled in one way.

    >>> from dpsql.sql.ir.expression import ColumnRef
    >>> male = ColumnRef("p", "male", BOOLEAN)
    >>> normal(Call("not", (Call("<>", (male, TRUE), BOOLEAN),), BOOLEAN)) == male
    True
    """
    expression = rebuilt(expression, normal)
    if not isinstance(expression, Call) or expression.type != BOOLEAN:
        return expression
    match expression.function, expression.arguments:
        case "not", (inner,):
            return negated(inner)
        case ("=" | "<>" as function, (first, second)):
            return negated(_equal(first, second)) if function == "<>" else _equal(first, second)
        case ">", (first, second):
            return Call("<", (second, first), BOOLEAN)
        case ">=", (first, second):
            return negated(Call("<", (first, second), BOOLEAN))
        case "<=", (first, second):
            return negated(Call("<", (second, first), BOOLEAN))
        case "is not distinct from", (first, second) if not is_nullable(first) and not is_nullable(
            second
        ):
            return _equal(first, second)
        case "is distinct from", (first, second) if not is_nullable(first) and not is_nullable(
            second
        ):
            return negated(_equal(first, second))
        case ("in", (asked, *options)):
            return _in(asked, options)
        case "is null", (asked,) if not is_nullable(asked):
            return FALSE
        case ("and" | "or" as function, _):
            return _connected(function, list(_operands(function, expression)))
        case (function, arguments) if function in _SYMMETRIC:
            return Call(function, tuple(sorted(arguments, key=repr)), BOOLEAN)
    return expression


#: Functions that are NULL where an argument is, and so is their negation.
_STRICT = frozenset({"=", "<", "in", "like", "ilike"})


def implied(conditions: frozenset[Expression]) -> frozenset[Expression]:
    """What the conditions imply beyond themselves: the columns that they compare are not NULL."""
    present: set[Expression] = set()
    for condition in conditions:
        inner = (
            condition.arguments[0]
            if isinstance(condition, Call) and condition.function == "not"
            else condition
        )
        compared = (
            inner.arguments if isinstance(inner, Call) and inner.function in _STRICT else (inner,)
        )
        first = compared[:1] if isinstance(inner, Call) and inner.function == "in" else compared
        present |= {
            negated(Call("is null", (column,), BOOLEAN))
            for column in first
            if isinstance(column, ColumnRef)
        }
    return frozenset(present)


def negated(inner: Expression) -> Expression:
    """The negation; that of a disjunction is a conjunction, and two of them cancel."""
    match inner:
        case Literal(value=bool() as value):
            return Literal(not value, BOOLEAN)
        case Call(function="not", arguments=(twice,)):
            return twice
        case Call(function="or" | "and" as function):
            other = "and" if function == "or" else "or"
            return _connected(other, [negated(operand) for operand in _operands(function, inner)])
    return Call("not", (inner,), BOOLEAN)


def _equal(first: Expression, second: Expression) -> Expression:
    """The equality of two values; of a truth value and a constant, the value or its negation."""
    for one, other in ((first, second), (second, first)):
        if one.type == BOOLEAN and isinstance(other, Literal) and isinstance(other.value, bool):
            return one if other.value else negated(one)
    return Call("=", tuple(sorted((first, second), key=repr)), BOOLEAN)


def _in(asked: Expression, options: list[Expression]) -> Expression:
    different = sorted(set(options), key=repr)
    return (
        _equal(asked, different[0])
        if len(different) == 1
        else Call("in", (asked, *different), BOOLEAN)
    )


def _operands(function: str, expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == function:
        for operand in parts(expression):
            yield from _operands(function, operand)
    else:
        yield expression


def _connected(function: str, operands: list[Expression]) -> Expression:
    """AND or OR of the operands, each once; equalities of one value with constants are one list."""
    neutral, absorbing = (TRUE, FALSE) if function == "and" else (FALSE, TRUE)
    different = set(operands) - {neutral}
    if absorbing in different:
        return absorbing
    if function == "or":
        different = set(_listed(different))
    if not different:
        return neutral
    first, *others = sorted(different, key=repr)
    for other in others:
        first = Call(function, (first, other), BOOLEAN)
    return first


def _listed(operands: set[Expression]) -> Iterator[Expression]:
    """The operands of an OR, in which the constants that one value may equal are one list."""
    options: dict[Expression, set[Expression]] = {}
    for operand in operands:
        asked, constants_of_operand = _options(operand)
        if asked is None:
            yield operand
        else:
            options.setdefault(asked, set()).update(constants_of_operand)
    for value, constants in options.items():
        yield _in(value, list(constants))


def _options(condition: Expression) -> tuple[Expression | None, list[Expression]]:
    """The value and the constants it may equal; None if the condition is no such list."""
    match condition:
        case Call(function="in", arguments=(asked, *options)) if all(
            isinstance(option, Literal) for option in options
        ):
            return asked, options
        case Call(function="=", arguments=(first, second)):
            for one, other in ((first, second), (second, first)):
                if isinstance(other, Literal) and not isinstance(one, Literal):
                    return one, [other]
    return None, []
