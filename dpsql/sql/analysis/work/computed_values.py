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
        dict.fromkeys(within(each for each in every if each.type.kind != "boolean"), 1)
    )
    for condition in every:
        if condition.type.kind == "boolean":
            for each, times in _occurrences(condition).items():
                result[each] = 1 if isinstance(each, ColumnRef | Literal) else result[each] + times
    return result


def _occurrences(condition: Expression) -> Counter[Expression]:
    """How often each part of a condition stands in it."""
    behind = list[Expression]()
    seen = set[Expression]()
    waiting = [(condition, False)]
    while waiting:
        expression, is_done = waiting.pop()
        if is_done:
            behind.append(expression)
        elif expression not in seen:
            seen.add(expression)
            waiting += [(expression, True), *((part, False) for part in parts(expression))]
    result = Counter({condition: 1})
    for expression in reversed(behind):
        for part in parts(expression):
            result[part] = (
                1 if isinstance(part, ColumnRef | Literal) else result[part] + result[expression]
            )
    return result
