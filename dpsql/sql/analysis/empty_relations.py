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
        case Join(left=left_side, right=right, kind="inner", condition=condition):
            never = condition is not None and is_never_true(condition)
            return never or has_no_rows(left_side) or has_no_rows(right)
        case Join(left=left_side, kind="left"):
            return has_no_rows(left_side)
        case Join(left=left_side, right=right):
            return has_no_rows(left_side) and has_no_rows(right)
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
        case Call(function=function, arguments=(first, second)):
            return _is_never(function, first, second)
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
        case Call(function=function, arguments=(Literal() as first, Literal() as second)) if (
            function in _COMPARISONS
        ):
            return None in (first.value, second.value) or _holds(function, first, second) is True
        case _:
            return False


def _is_never(function: str, first: Expression, second: Expression) -> bool:
    """Whether a comparison is never true: of constants, with NULL, or of one value with itself."""
    if function in _COMPARISONS and any(
        isinstance(side, Literal) and side.value is None for side in (first, second)
    ):
        return True
    if isinstance(first, Literal) and isinstance(second, Literal):
        return _holds(function, first, second) is False
    same = first == second and not any(subqueries(first))
    return same and function in _NEVER_OF_ITSELF


def _holds(function: str, first: Literal, second: Literal) -> bool | None:
    """Whether a comparison of constants is true;
    None if the function is no comparison that is known here.
    """
    kinds = {first.type.kind, second.type.kind}
    if function not in _COMPARISONS or not (len(kinds) == 1 or kinds <= _EXACT):
        return None  # the engine makes one type of two
    if first.type.kind == "text" and function not in ("=", "<>"):
        return None  # texts have an order of the engine's
    return bool(_COMPARISONS[function](first.value, second.value))
