"""The closed union of which regular expressions are made: characters, places, repetitions, alternatives and groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    """One part behind the other."""

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
class Group:
    """What stands in parentheses and can be extracted."""

    part: RegularExpression


RegularExpression: TypeAlias = Characters | Assertion | Concatenation | Alternation | Repetition | Group


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """All characters of the ranges, in order."""
    whole: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if whole and low <= whole[-1][1] + 1:
            whole[-1] = (whole[-1][0], max(high, whole[-1][1]))
        else:
            whole.append((low, high))
    return tuple(whole)


def copies(tree: RegularExpression) -> int:
    """How often the engine writes a part out, at most."""
    match tree:
        case Characters() | Assertion():
            return 1
        case Concatenation(parts=parts) | Alternation(parts=parts):
            return max(map(copies, parts), default=1)
        case Repetition(part=part):
            return written(tree) * copies(part)
        case Group(part=part):
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
        case Group(part=part):
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
        case Group(part=part):
            return may_be_empty(part)
        case _:
            assert_never(tree)
