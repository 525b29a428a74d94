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
        case ("=" | "<>" as function, (left, right)):
            return negated(_equal(left, right)) if function == "<>" else _equal(left, right)
        case ">", (left, right):
            return Call("<", (right, left), BOOLEAN)
        case ">=", (left, right):
            return negated(Call("<", (left, right), BOOLEAN))
        case "<=", (left, right):
            return negated(Call("<", (right, left), BOOLEAN))
        case "is not distinct from", (left, right) if not is_nullable(left) and not is_nullable(
            right
        ):
            return _equal(left, right)
        case "is distinct from", (left, right) if not is_nullable(left) and not is_nullable(right):
            return negated(_equal(left, right))
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
    """What holds wherever the conditions do, and is none of them:
    that the columns they compare have values.
    """
    found: set[Expression] = set()
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
        found |= {
            negated(Call("is null", (each,), BOOLEAN))
            for each in first
            if isinstance(each, ColumnRef)
        }
    return frozenset(found)


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


def _equal(left: Expression, right: Expression) -> Expression:
    """Two values that are equal: of a truth value and a constant the truth value,
    or its negation.
    """
    for one, other in ((left, right), (right, left)):
        if one.type == BOOLEAN and isinstance(other, Literal) and isinstance(other.value, bool):
            return one if other.value else negated(one)
    return Call("=", tuple(sorted((left, right), key=repr)), BOOLEAN)


def _in(asked: Expression, options: list[Expression]) -> Expression:
    different = sorted(set(options), key=repr)
    return (
        _equal(asked, different[0])
        if len(different) == 1
        else Call("in", (asked, *different), BOOLEAN)
    )


def _operands(function: str, expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Call) and expression.function == function:
        for each in parts(expression):
            yield from _operands(function, each)
    else:
        yield expression


def _connected(function: str, operands: list[Expression]) -> Expression:
    """AND or OR of the operands, each once; equalities of one value with constants are one list."""
    whole, nothing = (TRUE, FALSE) if function == "and" else (FALSE, TRUE)
    different = set(operands) - {whole}
    if nothing in different:
        return nothing
    if function == "or":
        different = set(_listed(different))
    if not different:
        return whole
    first, *others = sorted(different, key=repr)
    for other in others:
        first = Call(function, (first, other), BOOLEAN)
    return first


def _listed(operands: set[Expression]) -> Iterator[Expression]:
    """The operands of an OR, in which the constants that one value may equal are one list."""
    options: dict[Expression, set[Expression]] = {}
    for operand in operands:
        asked, own = _options(operand)
        if asked is None:
            yield operand
        else:
            options.setdefault(asked, set()).update(own)
    for value, constants in options.items():
        yield _in(value, list(constants))


def _options(condition: Expression) -> tuple[Expression | None, list[Expression]]:
    """The value and the constants it may equal; None where the condition says no such thing."""
    match condition:
        case Call(function="in", arguments=(asked, *options)) if all(
            isinstance(option, Literal) for option in options
        ):
            return asked, options
        case Call(function="=", arguments=(left, right)):
            for one, other in ((left, right), (right, left)):
                if isinstance(other, Literal) and not isinstance(one, Literal):
                    return one, [other]
    return None, []
