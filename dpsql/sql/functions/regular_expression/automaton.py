"""The states of the automata by which RE2 follows a regular expression:
how many it may need, whatever the texts are.

RE2 makes of a pattern those states of a deterministic automaton over bytes that the texts ask for.
Here they are made as it makes them, for all texts. Proved in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from dpsql.sql.functions.regular_expression.program import (
    ByteRange,
    EmptyWidth,
    NoOperation,
    Program,
    Search,
    Split,
    UnanchoredStart,
    program,
    searches,
)
from dpsql.sql.functions.regular_expression.syntax import with_its_options
from dpsql.sql.functions.regular_expression.tree import RegularExpression, positions, simplified

#: So many states an automaton may have, and so many bytes for them:
#: RE2 has 2.6 MB for those of #: one, or a little less.
MOST_STATES = 1_000
MOST_BYTES = 1_500_000
#: So many characters a pattern may have, written out.
_MOST_POSITIONS = 1_000
#: What a state takes, each byte that may follow it, and each thread in it.
_STATE = 64
_FOLLOWING = 8
_THREAD = 4
#: So many pairs of searches are followed.
_MOST_PAIRS = 20_000
#: What separates the threads of one begin from those of the next in a search for the longest match.
_MARK = -1
#: The end of the text, where a byte would be.
END = -1
#: What is known of the place before a byte: the text begins, a word or a line ends.
_BEGIN = 1
_WORD = 2
_LINE = 4
_PLACES = {"begin": 1, "end": 2, "edge": 4, "no edge": 8}
_OF_WORDS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True, slots=True)
class DfaState:
    """What RE2 knows of a text up to a byte: the threads that read on,
    and whether the byte before ended a match.
    """

    threads: tuple[int, ...]
    matched: bool
    before: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """All states of a search, and those that follow each by a byte of each kind,
    or by the end of the text.

    ``starts`` are those at the begin of a text, and after a line, a word, and another character;
    ``kinds`` is for each byte the first that the pattern does not tell apart from it.
    """

    starts: tuple[DfaState, ...]
    after: Mapping[DfaState, Mapping[int, DfaState]]
    kinds: tuple[int, ...]


class TooLargeError(Exception):
    """The automaton has more states than are followed."""


@lru_cache(4_096)
def most_states(function: str, pattern: str) -> int | None:
    """The most states of an automaton of the pattern;
    None where these may be too many for RE2 to keep.
    """
    tree = simplified(with_its_options(pattern))
    try:
        return max(len(automaton(tree, search).after) for search in searches(function, tree))
    except TooLargeError:
        return None


# -- states ----------------------------------------------------------------------------------------


def automaton(tree: RegularExpression, search: Search) -> Automaton:
    """All states that a search may come to; TooLargeError if there are too many."""
    if positions(tree) > _MOST_POSITIONS:
        raise TooLargeError
    making = _Making(program(tree, backward=search.backward, anchored=search.anchored), search)
    waiting = list(making.starts)
    transitions = dict[DfaState, Mapping[int, DfaState]]()
    size = 0
    while waiting:
        state = waiting.pop()
        if state in transitions:
            continue
        size += making.size(state)
        if len(transitions) >= MOST_STATES or size > MOST_BYTES:
            raise TooLargeError
        transitions[state] = {} if search.earliest and state.matched else dict(making.after(state))
        waiting += transitions[state].values()
    return Automaton(making.starts, transitions, making.kinds)


class _Making:
    """The states of one search while they are made, as ``dfa.cc`` of RE2 makes them."""

    def __init__(self, full_match: Program, search: Search) -> None:
        self._program = full_match
        self._search = search
        self._checks = any(isinstance(step, EmptyWidth) for step in full_match.steps)
        self.kinds, self._intervals = _kinds(full_match, self._checks)
        self._classes = sorted(set(self.kinds))
        self._accepts = [
            frozenset(
                byte
                for byte in self._classes
                if any(low <= byte <= high for low, high in step.ranges)
            )
            if isinstance(step, ByteRange)
            else frozenset()
            for step in full_match.steps
        ]
        self._known: dict[tuple[int, int], tuple[int, ...]] = {}

    @property
    def starts(self) -> tuple[DfaState, ...]:
        """The states in which a search begins.

        There is one each for the begin of a text, and after a line, a word, and another character.
        """
        states = [
            self._state(
                self._threads(self._program.start, _PLACES["begin"] if before == _BEGIN else 0),
                False,
                before,
            )
            for before in (_BEGIN, _LINE, _WORD, 0)
        ]
        return tuple(state for state in states if state is not None)

    def size(self, state: DfaState) -> int:
        """The bytes that RE2 takes for the state, or a few more."""
        return _STATE + _FOLLOWING * (self._intervals + 1) + _THREAD * len(state.threads)

    def after(self, state: DfaState) -> Iterator[tuple[int, DfaState]]:
        """The states that follow, by one byte of each kind, and by the end of the text."""
        known = dict[object, DfaState | None]()
        for byte in (*self._classes, END):
            threads = self._threads_past_assertions(state, byte)
            alike = (byte == END, byte in _OF_WORDS, byte == 10) if self._checks else byte == END
            advancing = tuple(
                thread for thread in threads if thread >= 0 and byte in self._accepts[thread]
            )
            if (key := (threads, advancing, alike)) not in known:
                known[key] = self._state_after(threads, frozenset(advancing), byte)
            if (state_after := known[key]) is not None:
                yield byte, state_after

    def _threads_past_assertions(self, state: DfaState, byte: int) -> tuple[int, ...]:
        """The threads of a state, and those past an assertion that the next byte decides."""
        if not self._checks:
            return state.threads
        begins = _PLACES["begin"] if state.before & _BEGIN else 0
        edge = (byte in _OF_WORDS) != bool(state.before & _WORD)
        places = (
            begins | _PLACES["edge" if edge else "no edge"] | (_PLACES["end"] if byte == END else 0)
        )
        if not places & ~begins & self._needed(state.threads):
            return state.threads
        return _merged(
            ((thread,) if thread == _MARK else self._threads(thread, places))
            for thread in state.threads
        )

    def _state_after(
        self, threads: tuple[int, ...], reading: frozenset[int], byte: int
    ) -> DfaState | None:
        """The state after a byte that some of the threads read."""
        more = list[tuple[int, ...]]()
        matched = False
        for thread in threads:
            if thread == _MARK:
                if matched:
                    break
                more.append((_MARK,))
            elif thread in reading:
                step = self._program.steps[thread]
                assert isinstance(step, ByteRange)
                more.append(self._threads(step.out, 0))
            elif thread == 0 and (byte == END or not self._program.at_end):
                matched = True
                if self._search.matching == "first":
                    break
        before = (_WORD if byte in _OF_WORDS else 0) | (_LINE if byte == 10 else 0)
        return self._state(_merged(more), matched, before)

    def _state(self, threads: Iterable[int], matched: bool, before: int) -> DfaState | None:
        threads_by_priority: list[list[int]] = [[]]
        ends = False
        for thread in threads:
            if ends and (self._search.matching == "first" or thread == _MARK):
                break
            if thread == _MARK:
                threads_by_priority += [[]] if threads_by_priority[-1] else []
                continue
            threads_by_priority[-1].append(thread)
            ends = ends or (thread == 0 and not self._program.at_end)
        groups = [group for group in threads_by_priority if group]
        if not groups and not matched:
            return None
        if self._search.matching == "longest":
            groups = [sorted(group) for group in groups]
        flat = [thread for group in groups for thread in (_MARK, *group)][1:]
        return DfaState(tuple(flat), matched, before if self._needed(flat) else 0)

    def _needed(self, threads: Iterable[int]) -> int:
        """The places that the threads ask for."""
        if not self._checks:
            return 0
        steps = self._program.steps
        needed = 0
        for thread in threads:
            step = steps[thread]
            if isinstance(step, EmptyWidth) and thread != _MARK:
                needed |= _PLACES[step.place]
        return needed

    def _threads(self, start: int, places: int) -> tuple[int, ...]:
        """The waiting steps of a thread that goes on at ``start``.

        They wait for a byte, a place or the end of the pattern.
        """
        if (start, places) not in self._known:
            self._known[start, places] = tuple(self._followed(start, places))
        return self._known[start, places]

    def _followed(self, start: int, places: int) -> Iterator[int]:
        waiting = [start]
        seen = set[int]()
        while waiting:
            step = waiting.pop()
            if step in seen:
                continue
            seen.add(step)
            yield step
            if step == _MARK:
                continue
            match self._program.steps[step]:
                case UnanchoredStart(pattern=pattern, later=later):
                    waiting += (
                        (later, _MARK, pattern)
                        if self._search.matching == "longest"
                        else (later, pattern)
                    )
                case Split(first=first, second=second):
                    waiting += (second, first)
                case EmptyWidth(place=asked, out=out) if _PLACES[asked] & places:
                    waiting.append(out)
                case NoOperation(out=out):
                    waiting.append(out)


def _merged(threads: Iterable[Iterable[int]]) -> tuple[int, ...]:
    """The threads in their order, each once, with marks between."""
    seen = set[int]()
    merged = list[int]()
    for other in (one for group in threads for one in group):
        if other == _MARK:
            if merged and merged[-1] != _MARK:
                merged.append(_MARK)
        elif other not in seen:
            seen.add(other)
            merged.append(other)
    return tuple(merged)


def _kinds(full_match: Program, checks: bool) -> tuple[tuple[int, ...], int]:
    """For each byte the first that the program does not tell apart from it,
    and into how many ranges it cuts them.
    """
    reads = [step for step in full_match.steps if isinstance(step, ByteRange)]
    cuts = {0} | {
        end for step in reads for low, high in step.ranges for end in (low, high + 1) if end <= 0xFF
    }
    if checks:
        cuts |= {byte + more for byte in (*_OF_WORDS, 10) for more in (0, 1)}
    first = dict[object, int]()
    kinds = list[int]()
    for byte in range(0x100):
        if byte in cuts:
            readers = tuple(any(low <= byte <= high for low, high in step.ranges) for step in reads)
            kind = first.setdefault(
                (readers, checks and byte in _OF_WORDS, checks and byte == 10), byte
            )
        kinds.append(kind)
    return tuple(kinds), len(cuts)
