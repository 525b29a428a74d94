"""A regular expression as RE2 compiles it: steps over bytes of UTF-8, forward or backward,
with its anchors taken off.

How RE2 searches: which programs it runs over a text, from where, and up to which match. Proved in
``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from dpsql.sql.functions.regular_expression.tree import (
    LAST,
    Alternation,
    Assertion,
    CapturingGroup,
    Characters,
    Concatenation,
    Place,
    Ranges,
    RegularExpression,
    Repetition,
    may_be_empty,
)

#: How deep RE2 looks for an anchor at an end.
_DEEPEST_ANCHOR = 4
_MIRRORED: dict[Place, Place] = {
    "begin": "end",
    "end": "begin",
    "edge": "edge",
    "no edge": "no edge",
}


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Reads a byte that lies in one of the ranges."""

    ranges: Ranges
    out: int


@dataclass(frozen=True, slots=True)
class Split:
    """Goes on at both, the first before the second."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class EmptyWidth:
    """Goes on if the text has such a place, and reads nothing.

    RE2 calls it an empty-width assertion.
    """

    place: Place
    out: int


@dataclass(frozen=True, slots=True)
class Match:
    """The pattern has matched."""


@dataclass(frozen=True, slots=True)
class NoOperation:
    """Goes on: a group begins or ends here, or nothing is read."""

    out: int


@dataclass(frozen=True, slots=True)
class UnanchoredStart:
    """Begins the pattern here, and again at each later byte, as an unanchored search does."""

    pattern: int
    later: int


Step: TypeAlias = ByteRange | Split | EmptyWidth | Match | NoOperation | UnanchoredStart


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of a pattern; ``at_end`` if it may match at the end of what is read only."""

    steps: tuple[Step, ...]
    start: int
    at_end: bool


def _anchors(tree: RegularExpression) -> tuple[RegularExpression, bool, bool]:
    """The pattern without ^ at its begin and $ at its end, and whether it has these."""
    without, begins = _without(tree, "begin", 0)
    without, ends = _without(without, "end", 0)
    return without, begins, ends


def _without(
    tree: RegularExpression, position: Place, depth: int
) -> tuple[RegularExpression, bool]:
    if depth >= _DEEPEST_ANCHOR:
        return tree, False
    match tree:
        case Assertion(place=asserted) if asserted == position:
            return Concatenation(()), True
        case Concatenation(parts=(*parts,)) if parts:
            at = 0 if position == "begin" else len(parts) - 1
            parts[at], removed = _without(parts[at], position, depth + 1)
            return Concatenation(tuple(parts)), removed
        case CapturingGroup(part=inner):
            inner, removed = _without(inner, position, depth + 1)
            return CapturingGroup(inner), removed
        case _:
            return tree, False


def program(tree: RegularExpression, *, backward: bool, anchored: bool) -> Program:
    """The program that reads texts from their begin, or their end;
    one that is not ``anchored`` begins anywhere.
    """
    without, begins, ends = _anchors(tree)
    compiler = _ProgramWriter(backward)
    steps = compiler.steps
    start = compiler.part(without, 0)
    if not anchored:
        steps += [UnanchoredStart(start, len(steps) + 1), ByteRange(((0, 0xFF),), len(steps))]
        start = len(steps) - 2
    return Program(tuple(steps), start, begins if backward else ends)


class _ProgramWriter:
    """The steps of a pattern while they are written, the last of them first."""

    def __init__(self, backward: bool) -> None:
        self._backward = backward
        self.steps: list[Step] = [Match()]

    def part(self, tree: RegularExpression, out: int) -> int:
        """The first step of the part, which is followed by ``out``."""
        match tree:
            case Characters(ranges=ranges):
                return self._characters(ranges, out)
            case Assertion(place=place):
                return self._add(EmptyWidth(_MIRRORED[place] if self._backward else place, out))
            case Concatenation(parts=()):
                return self._add(NoOperation(out))
            case Concatenation(parts=parts):
                for subexpression in parts if self._backward else reversed(parts):
                    out = self.part(subexpression, out)
                return out
            case Alternation(parts=parts):
                return self._either([self.part(subexpression, out) for subexpression in parts])
            case Repetition(part=part, least=0 | 1 as least, most=None, greedy=greedy):
                if least == 0 and may_be_empty(part):
                    return self.part(
                        Repetition(Repetition(part, 1, None, greedy), 0, 1, greedy), out
                    )
                return self._loop(part, out, least, greedy)
            case Repetition(part=part, least=0, most=1, greedy=greedy):
                inside = self.part(part, out)
                return self._add(Split(inside, out) if greedy else Split(out, inside))
            case Repetition():
                return self.part(_written_out(tree), out)
            case CapturingGroup(part=part):
                return self._add(NoOperation(self.part(part, self._add(NoOperation(out)))))
            case _:
                assert_never(tree)

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _either(self, starts: list[int]) -> int:
        step = starts[-1]
        for start in reversed(starts[:-1]):
            step = self._add(Split(start, step))
        return step

    def _loop(self, repeated: RegularExpression, out: int, least: int, greedy: bool) -> int:
        again = self._add(Match())  # until it is known what it repeats
        inside = self.part(repeated, again)
        self.steps[again] = Split(inside, out) if greedy else Split(out, inside)
        return inside if least else again

    def _characters(self, ranges: Ranges, out: int) -> int:
        single = tuple((low, min(high, 0x7F)) for low, high in ranges if low <= 0x7F)
        starts = [self._add(ByteRange(single, out))] if single or not ranges else []
        if ranges[-1:] and ranges[-1][0] <= 0x80 and ranges[-1][1] == LAST:
            starts += self._beyond_ascii(out)
            ranges = ranges[:-1]
        for sequence in (
            sequence for low, high in ranges for sequence in _sequences(max(low, 0x80), high)
        ):
            starts.append(self._bytes(sequence, out))
        return self._either(starts)

    def _bytes(self, sequence: Iterable[tuple[int, int]], out: int) -> int:
        for low, high in sequence if self._backward else reversed(tuple(sequence)):
            out = self._add(ByteRange(((low, high),), out))
        return out

    def _beyond_ascii(self, out: int) -> list[int]:
        """All characters of two bytes and more; common last bytes are shared."""
        heads = ((0xC2, 0xDF), (0xE0, 0xEF), (0xF0, 0xF4))
        tail = (0x80, 0xBF)
        if self._backward:
            return [
                self._bytes((head, *[tail] * (size + 1)), out) for size, head in enumerate(heads)
            ]
        starts = []
        for head in heads:
            out = self._add(ByteRange((tail,), out))
            starts.append(self._add(ByteRange((head,), out)))
        return starts


def _written_out(repetition: Repetition) -> RegularExpression:
    repeated = repetition.part
    least = repetition.least
    most = repetition.most
    greedy = repetition.greedy
    if most is None:
        return Concatenation((*[repeated] * (least - 1), Repetition(repeated, 1, None, greedy)))
    maybe: tuple[RegularExpression, ...] = ()
    for _ in range(most - least):
        maybe = (Repetition(Concatenation((repeated, *maybe)), 0, 1, greedy),)
    return Concatenation((*[repeated] * least, *maybe))


def _sequences(low: int, high: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """The characters between the two as ranges of first, second … bytes."""
    for end in (0x7FF, 0xFFFF):
        if low <= end < high:
            yield from _sequences(low, end)
            low = end + 1
    if low > high:
        return
    for position in (1, 2, 3):
        below = (1 << 6 * position) - 1
        if low | below != high | below:
            if low & below:
                yield from _sequences(low, low | below)
                yield from _sequences((low | below) + 1, high)
                return
            if high & below != below:
                yield from _sequences(low, (high & ~below) - 1)
                yield from _sequences(high & ~below, high)
                return
    first, last = (chr(end).encode("utf-8", "surrogatepass") for end in (low, high))
    yield tuple(zip(first, last, strict=True))


#: Whether threads are kept in their order, up to the first match, or as sets,
#: one for each begin of #: the match.
Matching: TypeAlias = Literal["first", "longest"]


@dataclass(frozen=True, slots=True)
class Search:
    """A way to run a pattern's program: from the begin or from the end of a text,
    at that place or at any.

    ``earliest`` searches end with any match.
    """

    matching: Matching
    backward: bool = False
    anchored: bool = True
    earliest: bool = False


def searches(function: str, tree: RegularExpression) -> tuple[Search, ...]:
    """How RE2 searches for the pattern where DuckDB computes the function."""
    _, begins, ends = _anchors(tree)
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
