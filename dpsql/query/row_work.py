"""How much an engine does with one row: a step for each value that it makes, more where that is slow to make.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpsql.query.bounds import bounds
from dpsql.query.expression import Call, Cast, Column, Expression, Literal, parts
from dpsql.query.functions import FUNCTIONS

#: Characters of a text that are as much work as a number.
CHARACTERS = 16
#: A text of the data whose length nobody declares is counted as one of so many characters.
UNDECLARED = 1_000
#: So long is it where it is of a public table, which no person's data make longer.
_PUBLIC = 100
#: LIKE looks at each character several times, and a regular expression once for each of its own, written out.
_LIKES, _PATTERNS = frozenset({"like", "ilike"}), frozenset({
    "regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace"
})  # fmt: skip
_LOOKS = 8
_COUNTED, _OPEN = re.compile(r"(.)\{(\d+)(?:,(\d+))?\}"), re.compile(r"[.\[{\\(?]")
#: A function that may be NULL of what is not, and a conversion.
_DOUBTFUL = 100
#: Functions that are NULL where they would fail, by a comparison.
_COMPARED = frozenset({"nullif", "/", "//", "%", "fdiv", "fmod"})


def steps(expressions: Iterable[Expression]) -> int:
    """The steps that it takes to compute the expressions, each once."""
    return sum(map(_own, _within(expressions)))


def looks(expressions: Iterable[Expression]) -> int:
    """How often the regular expressions and LIKEs in the expressions look at a character."""
    return sum(times for each in _within(expressions) if (times := _looks(each)) > 1)


def _within(expressions: Iterable[Expression]) -> set[Expression]:
    """The expressions and all that is inside of them."""
    waiting, seen = list(expressions), set[Expression]()
    while waiting:
        expression = waiting.pop()
        if expression not in seen:
            seen.add(expression)
            waiting += parts(expression)
    return seen


def _own(expression: Expression) -> int:
    times = _looks(expression)
    texts = [each for each in (expression, *parts(expression)) if each.type.kind == "text"]
    return 1 + _slow(expression) + times * sum(_length(each) // CHARACTERS for each in texts)


def _looks(expression: Expression) -> int:
    """How often the expression looks at a character of a text: an engine may follow each part of a pattern at each."""
    if not isinstance(expression, Call):
        return 1
    if expression.function in _LIKES:
        return _LOOKS
    if expression.function not in _PATTERNS:
        return 1
    pattern = expression.arguments[1]
    return _of_pattern(pattern.value if isinstance(pattern, Literal) and isinstance(pattern.value, str) else "")


def _of_pattern(text: str) -> int:
    """That of a pattern: one that is made of words alone, side by side, is followed in one place."""
    if _OPEN.search(text) is None:
        return _LOOKS
    copies = sum(int(found[3] or found[2]) * (len(text) if found[1] == ")" else 1) for found in _COUNTED.finditer(text))
    return 4 * _LOOKS * (len(text) + copies)


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


def copies(expressions: Iterable[Expression]) -> int:
    """How many texts of the data, of whatever length, stand together in what is computed, each as often as it does."""
    known: dict[Expression, int] = {}
    return sum(_copies(each, known) for each in expressions)


def _copies(expression: Expression, known: dict[Expression, int]) -> int:
    """Those in one expression, or the most of those inside of it: what is not a text holds none."""
    if expression in known:
        return known[expression]
    inside = [_copies(part, known) for part in parts(expression)]
    if isinstance(expression, Column):
        whole = int(expression.type.kind == "text" and not expression.public and bounds(expression).high is None)
    elif isinstance(expression, Call) and expression.type.kind == "text":
        whole = sum(inside)
    else:
        whole = max(inside, default=0)
    known[expression] = whole
    return whole
