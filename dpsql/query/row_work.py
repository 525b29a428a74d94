"""How much an engine does with one row: a step for each value that it makes, more where that is slow to make.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.query.bounds import bounds
from dpsql.query.expression import Call, Cast, Column, Expression, parts
from dpsql.query.functions import FUNCTIONS

#: Characters of a text that are as much work as a number.
CHARACTERS = 16
#: A text of the data whose length nobody declares is counted as one of so many characters.
UNDECLARED = 1_000
#: So long is it where it is of a public table, which no person's data make longer.
_PUBLIC = 100
#: Functions that look at each character several times.
_PATTERNS = frozenset({"regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace", "like", "ilike"})
_LOOKS = 8
#: A function that may be NULL of what is not, and a conversion.
_DOUBTFUL = 100
#: Functions that are NULL where they would fail, by a comparison.
_COMPARED = frozenset({"nullif", "/", "//", "%", "fdiv", "fmod"})


def steps(expressions: Iterable[Expression]) -> int:
    """The steps that it takes to compute the expressions, each once."""
    waiting, seen, whole = list(expressions), set[Expression](), 0
    while waiting:
        expression = waiting.pop()
        if expression not in seen:
            seen.add(expression)
            waiting += parts(expression)
            whole += _own(expression)
    return whole


def _own(expression: Expression) -> int:
    looks = _LOOKS if getattr(expression, "function", None) in _PATTERNS else 1
    texts = [each for each in (expression, *parts(expression)) if each.type.kind == "text"]
    return 1 + _slow(expression) + looks * sum(_length(each) // CHARACTERS for each in texts)


def _slow(expression: Expression) -> int:
    """What it takes beside that where the value may be one that the engine cannot make."""
    match expression:
        case Call(function=function, arguments=arguments) if function not in _COMPARED:
            return _DOUBTFUL if FUNCTIONS[function].may_fail(*map(bounds, arguments)) else 0
        case Cast(argument=argument, type=sql_type) if not (argument.type.is_numeric and sql_type.kind == "double"):
            return _DOUBTFUL
        case _:
            return 0


def _length(text: Expression) -> int:
    """The most characters that it has, as far as that is told."""
    most = bounds(text).high
    if most is not None:
        return int(most)
    return _PUBLIC if isinstance(text, Column) and text.public else UNDECLARED
