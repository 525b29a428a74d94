"""What the conditions of a CASE say of the numbers in its branches.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import Call, Expression, Literal
from dpsql.sql.ir.interval import EVERYTHING, Interval, on_the_line

#: Where expressions lie at one place of a statement, beyond what their columns declare.
Known: TypeAlias = Mapping[Expression, Interval]

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def narrowed(known: Known, condition: Expression, holds: bool) -> Known:
    """What is known where the condition holds, or where it does not (and then may be NULL).

    A NULL condition says no less: what it compares is NULL then and has no number.
    """
    if not isinstance(condition, Call):
        return known
    match condition.function, condition.arguments:
        case ("and", (left, right)) if holds:
            return narrowed(narrowed(known, left, True), right, True)
        case ("or", (left, right)) if not holds:
            return narrowed(narrowed(known, left, False), right, False)
        case "not", (inner,):
            return narrowed(known, inner, not holds)
        case ("in", (compared, *options)) if holds:
            points = [_point(option) for option in options]
            found = [point for point in points if point is not None]
            return _with(known, compared, Interval(min(found), max(found))) if len(found) == len(points) else known
        case "<" | "<=" | ">" | ">=" | "=", (left, right):
            return _compared(known, condition.function, left, right, holds)
        case _:
            return known


def _compared(known: Known, operator: str, left: Expression, right: Expression, holds: bool) -> Known:
    if isinstance(left, Literal):
        left, right, operator = right, left, _TURNED[operator]
    point = _point(right)
    if point is None or (operator == "=" and not holds):
        return known
    operator = operator if holds else _NEGATED[operator]
    return _with(known, left, Interval(None if "<" in operator else point, None if ">" in operator else point))


def _with(known: Known, expression: Expression, interval: Interval) -> Known:
    before = known.get(expression, EVERYTHING)
    return {**known, expression: before.within(interval.low, interval.high)}


def _point(expression: Expression) -> Fraction | None:
    """Where a constant number or moment lies; None for anything else."""
    if not isinstance(expression, Literal) or not (expression.type.is_numeric or expression.type.is_temporal):
        return None
    value = expression.value
    return on_the_line(value) if isinstance(value, date) else literal.exact(expression)
