"""Relations that have no row whatever the data are,
because a condition is never true as it is written.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any, assert_never

from dpsql.sql.ir.expression import Call, Case, Expression, Literal, Subquery, subqueries
from dpsql.sql.ir.relation import Compound, Constants, Filter, Groups, Join, PerUnit, Relation, Scan

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "<>": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
#: Numbers of these kinds compare as Python's do, also with each other.
_EXACT = frozenset({"integer", "decimal"})
#: What no value is to itself; NaN equals NaN.
_NEVER_OF_ITSELF = frozenset({"<>", "<", ">"})


def has_no_rows(relation: Relation) -> bool:
    """Whether the relation has no row, by its conditions alone; False if that is not known."""
    match relation:
        case Scan():
            return False
        case Constants(rows=rows):
            return not rows
        case Filter(child=child, condition=condition):
            return is_never_true(condition) or has_no_rows(child)
        case Join(left=left, right=right, kind="inner", condition=condition):
            never = condition is not None and is_never_true(condition)
            return never or has_no_rows(left) or has_no_rows(right)
        case Join(left=left, kind="left"):
            return has_no_rows(left)
        case Join(left=left, right=right):
            return has_no_rows(left) and has_no_rows(right)
        case PerUnit(child=child) | Groups(child=child):
            return has_no_rows(child)
        case Compound(operator=operator, branches=branches):
            empty = [has_no_rows(branch.relation) for branch in branches]
            match operator:
                case "union" | "union all":
                    return all(empty)
                case "intersect" | "intersect all":
                    return any(empty)
                case "except" | "except all":
                    return empty[0]
                case _:
                    assert_never(operator)
        case _:
            assert_never(relation)


def is_never_true(condition: Expression) -> bool:
    """Whether the condition is false or unknown of every row; False if that depends on the row."""
    match condition:
        case Literal(value=value):
            return value is None or value is False
        case Call(function="and", arguments=arguments):
            return any(map(is_never_true, arguments))
        case Call(function="or", arguments=arguments):
            return all(map(is_never_true, arguments))
        case Call(function="not", arguments=(inner,)):
            return _is_never_false(inner)
        case Call(function="in", arguments=(value, *options)):
            return all(_is_never("=", value, option) for option in options)
        case Call(function=function, arguments=(left, right)):
            return _is_never(function, left, right)
        case Case(branches=branches, default=default):
            never = all(is_never_true(when) or is_never_true(value) for when, value in branches)
            return never and (default is None or is_never_true(default))
        case Subquery(relation=relation, aggregate=None):
            return has_no_rows(relation)
        case _:
            return False


def _is_never_false(condition: Expression) -> bool:
    """Whether the condition is true or unknown of every row; False if that depends on the row."""
    match condition:
        case Literal(value=value):
            return value is None or value is True
        case Call(function="and", arguments=arguments):
            return all(map(_is_never_false, arguments))
        case Call(function="or", arguments=arguments):
            return any(map(_is_never_false, arguments))
        case Call(function="not", arguments=(inner,)):
            return is_never_true(inner)
        case Call(function=function, arguments=(Literal() as left, Literal() as right)) if (
            function in _COMPARISONS
        ):
            return None in (left.value, right.value) or _holds(function, left, right) is True
        case _:
            return False


def _is_never(function: str, left: Expression, right: Expression) -> bool:
    """Whether a comparison is never true: of constants, with NULL, or of one value with itself."""
    if function in _COMPARISONS and any(
        isinstance(each, Literal) and each.value is None for each in (left, right)
    ):
        return True
    if isinstance(left, Literal) and isinstance(right, Literal):
        return _holds(function, left, right) is False
    same = left == right and not any(subqueries(left))
    return same and function in _NEVER_OF_ITSELF


def _holds(function: str, left: Literal, right: Literal) -> bool | None:
    """Whether a comparison of constants is true;
    None if the function is no comparison that is known here.
    """
    kinds = {left.type.kind, right.type.kind}
    if function not in _COMPARISONS or not (len(kinds) == 1 or kinds <= _EXACT):
        return None  # the engine makes one type of two
    if left.type.kind == "text" and function not in ("=", "<>"):
        return None  # texts have an order of the engine's
    return bool(_COMPARISONS[function](left.value, right.value))
