"""How RE2 searches for a pattern: which programs it runs over a text, from where, and up to which match.

Proved in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpsql.sql.functions.regular_expression.program import (
    anchors,
)
from dpsql.sql.functions.regular_expression.tree import (
    Alternation,
    Assertion,
    CapturingGroup,
    Concatenation,
    RegularExpression,
    Repetition,
)

#: Whether threads are kept in their order, up to the first match, or as sets, one for each begin of the match.
Matching: TypeAlias = Literal["first", "longest"]


@dataclass(frozen=True, slots=True)
class Search:
    """A way to run a pattern's program: from the begin or from the end of a text, at that place or at any.

    ``earliest`` searches end with any match.
    """

    matching: Matching
    backward: bool = False
    anchored: bool = True
    earliest: bool = False


def searches(function: str, tree: RegularExpression) -> tuple[Search, ...]:
    """How RE2 searches for the pattern where DuckDB computes the function."""
    _, begins, ends = anchors(tree)
    back = Search("longest", backward=True)
    if function == "regexp_full_match" or (begins and ends):
        return (Search("longest"),)
    if begins:
        return (Search("first"),)
    if ends:
        return (back,)
    if function == "regexp_matches":
        forward = Search("longest", anchored=False, earliest=True)
        return (forward, back) if _asks_for_the_end(tree) else (forward,)
    return (Search("first", anchored=False), back)


def _asks_for_the_end(tree: RegularExpression) -> bool:
    match tree:
        case Assertion(place=place):
            return place == "end"
        case Concatenation(parts=parts) | Alternation(parts=parts):
            return any(map(_asks_for_the_end, parts))
        case Repetition(part=part) | CapturingGroup(part=part):
            return _asks_for_the_end(part)
        case _:
            return False
