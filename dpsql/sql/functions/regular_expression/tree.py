"""Regular expressions as trees, and as RE2 simplifies them before it compiles them.

RE2 makes ``a*aa`` an ``a{2,}`` and ``ab|ac`` an ``a[bc]``, by which its automaton has other states.
Proved in ``docs/proofs/automaton.md``.

Proved in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias, assert_never

#: The greatest code point.
LAST = 0x10FFFF
#: Characters from the first to the second of each pair.
Ranges: TypeAlias = tuple[tuple[int, int], ...]
#: The begin or the end of the text, the edge of a word, or a place that is none.
Place: TypeAlias = Literal["begin", "end", "edge", "no edge"]


@dataclass(frozen=True, slots=True)
class Characters:
    """One character that lies in one of the ranges."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Assertion:
    """A place in the text, where no character is read."""

    place: Place


@dataclass(frozen=True, slots=True)
class Concatenation:
    """One part after the other."""

    parts: tuple[RegularExpression, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """One of the parts, the first that matches."""

    parts: tuple[RegularExpression, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """The part so often; as often as it can be where ``greedy``."""

    part: RegularExpression
    least: int
    most: int | None
    greedy: bool


@dataclass(frozen=True, slots=True)
class CapturingGroup:
    """What stands in parentheses and can be extracted."""

    part: RegularExpression


RegularExpression: TypeAlias = (
    Characters | Assertion | Concatenation | Alternation | Repetition | CapturingGroup
)


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """All characters of the ranges, in order."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def copies(tree: RegularExpression) -> int:
    """How often the engine writes a part out, at most."""
    match tree:
        case Characters() | Assertion():
            return 1
        case Concatenation(parts=parts) | Alternation(parts=parts):
            return max(map(copies, parts), default=1)
        case Repetition(part=part):
            return written(tree) * copies(part)
        case CapturingGroup(part=part):
            return copies(part)
        case _:
            assert_never(tree)


def written(repetition: Repetition) -> int:
    """How often RE2 writes the part out."""
    return max(1, repetition.least if repetition.most is None else repetition.most)


def positions(tree: RegularExpression) -> int:
    """How many characters the pattern has, each repetition written out."""
    match tree:
        case Characters():
            return 1
        case Assertion():
            return 0
        case Concatenation(parts=parts) | Alternation(parts=parts):
            return sum(map(positions, parts))
        case Repetition(part=part):
            return positions(part) * written(tree)
        case CapturingGroup(part=part):
            return positions(part)
        case _:
            assert_never(tree)


def may_be_empty(tree: RegularExpression) -> bool:
    """Whether the pattern may match no character."""
    match tree:
        case Characters():
            return False
        case Assertion():
            return True
        case Concatenation(parts=parts):
            return all(map(may_be_empty, parts))
        case Alternation(parts=parts):
            return any(map(may_be_empty, parts))
        case Repetition(part=part, least=least):
            return least == 0 or may_be_empty(part)
        case CapturingGroup(part=part):
            return may_be_empty(part)
        case _:
            assert_never(tree)


#: What no character is read for.
NOTHING = Concatenation(())


def concatenation(parts: list[RegularExpression]) -> RegularExpression:
    """One part after the other, whose own parts are among these."""
    flat = [nested for expression in parts for nested in _parts(expression)]
    return flat[0] if len(flat) == 1 else Concatenation(tuple(flat))


def repetition(
    repeated: RegularExpression, least: int, most: int | None, greedy: bool
) -> RegularExpression:
    """The part so often: what is repeated again at will is repeated at will."""
    signs = ((0, None), (1, None), (0, 1))
    again = isinstance(repeated, Repetition) and repeated.greedy == greedy
    if (
        again
        and isinstance(repeated, Repetition)
        and (repeated.least, repeated.most) in signs
        and (least, most) in signs
    ):
        return (
            repeated
            if (repeated.least, repeated.most) == (least, most)
            else Repetition(repeated.part, 0, None, greedy)
        )
    return Repetition(repeated, least, most, greedy)


def alternation(branches: list[RegularExpression]) -> RegularExpression:
    """One of the branches: neighbours that begin alike do so once,
    and single characters are one class.
    """
    if len(branches) == 1:
        return branches[0]
    alternatives = list[RegularExpression]()
    for first, alike in ((key, list(group)) for key, group in groupby(branches, _first)):
        if first is None or len(alike) == 1:
            alternatives += alike
        else:
            rest = [concatenation(list(_parts(branch)[1:])) for branch in alike]
            alternatives.append(concatenation([first, alternation(rest)]))
    merged = list[RegularExpression]()
    for branch in alternatives:
        if (
            merged
            and isinstance(branch, Characters)
            and isinstance(before := merged[-1], Characters)
        ):
            merged[-1] = Characters(union((*before.ranges, *branch.ranges)))
        elif not (merged and branch == merged[-1] == NOTHING):
            merged.append(branch)
    return merged[0] if len(merged) == 1 else Alternation(tuple(merged))


def simplified(tree: RegularExpression) -> RegularExpression:
    """The pattern with a repeated character and the same ones after it put together.

    >>> [a, b] = [Characters(((ord(each), ord(each)),)) for each in "ab"]
    >>> simplified(Concatenation((Repetition(a, 0, None, True), a, b))) == Concatenation(
    ...     (Repetition(a, 1, None, True), b))
    True
    """
    match tree:
        case Characters() | Assertion():
            return tree
        case Concatenation(parts=parts):
            return _coalesced([simplified(expression) for expression in parts])
        case Alternation(parts=parts):
            return Alternation(tuple(map(simplified, parts)))
        case Repetition(part=part) | CapturingGroup(part=part):
            return replace(tree, part=simplified(part))
        case _:
            assert_never(tree)


def _coalesced(parts: list[RegularExpression]) -> RegularExpression:
    result = list[RegularExpression]()
    is_coalesced = False
    for expression in parts:
        before = result[-1] if result else None
        if isinstance(before, Repetition) and isinstance(before.part, Characters):
            as_repetition = (
                expression
                if isinstance(expression, Repetition)
                else Repetition(expression, 1, 1, before.greedy)
            )
            if as_repetition.part == before.part and as_repetition.greedy == before.greedy:
                most = (
                    None
                    if before.most is None or as_repetition.most is None
                    else before.most + as_repetition.most
                )
                result[-1] = Repetition(
                    as_repetition.part,
                    before.least + as_repetition.least,
                    most,
                    as_repetition.greedy,
                )
                is_coalesced = True
                continue
        result.append(expression)
    result = (
        [subexpression for subexpression in result if subexpression != NOTHING]
        if is_coalesced
        else result
    )
    return result[0] if len(result) == 1 else Concatenation(tuple(result))


def _parts(tree: RegularExpression) -> tuple[RegularExpression, ...]:
    return tree.parts if isinstance(tree, Concatenation) and tree.parts else (tree,)


def _first(branch: RegularExpression) -> RegularExpression | None:
    """What the branch begins with, where branches that begin so are put together."""
    first = next(iter(_parts(branch)), None)
    match first:
        case Characters() | Assertion():
            return first
        case Repetition(part=Characters(), least=least, most=most) if least == most:
            return first
        case _:
            return None
