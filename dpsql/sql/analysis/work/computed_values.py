"""Which expressions an engine computes of a row, and how often.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dpsql.sql.ir.expression import ColumnRef, Expression, Literal, parts


def within(expressions: Iterable[Expression]) -> set[Expression]:
    """The expressions and all that is inside of them."""
    waiting = list(expressions)
    seen = set[Expression]()
    while waiting:
        expression = waiting.pop()
        if expression not in seen:
            seen.add(expression)
            waiting += parts(expression)
    return seen


def computed(expressions: Iterable[Expression]) -> Counter[Expression]:
    """How often each is computed, with all that is inside of them: what stands in several values
    once, what stands in several places of a condition in each.
    """
    every = list(dict.fromkeys(expressions))
    result = Counter(
        dict.fromkeys(
            within(expression for expression in every if expression.type.kind != "boolean"), 1
        )
    )
    for condition in every:
        if condition.type.kind == "boolean":
            for occurring, times in _occurrences(condition).items():
                result[occurring] = (
                    1 if isinstance(occurring, ColumnRef | Literal) else result[occurring] + times
                )
    return result


def _occurrences(condition: Expression) -> Counter[Expression]:
    """How often each part of a condition stands in it."""
    postorder = list[Expression]()
    seen = set[Expression]()
    waiting = [(condition, False)]
    while waiting:
        expression, is_done = waiting.pop()
        if is_done:
            postorder.append(expression)
        elif expression not in seen:
            seen.add(expression)
            waiting += [(expression, True), *((operand, False) for operand in parts(expression))]
    result = Counter({condition: 1})
    for expression in reversed(postorder):
        for operand in parts(expression):
            result[operand] = (
                1
                if isinstance(operand, ColumnRef | Literal)
                else result[operand] + result[expression]
            )
    return result
