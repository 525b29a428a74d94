"""Searches for a pattern by its automata, as RE2 makes them: what they find,
and how many bytes they read for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.sql.functions.regular_expression.automaton import END, Automaton, DfaState, automaton
from dpsql.sql.functions.regular_expression.program import searches
from dpsql.sql.functions.regular_expression.syntax import with_its_options
from dpsql.sql.functions.regular_expression.tree import simplified

_OF_WORDS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass
class Searched:
    """A pattern's automata for one function; ``read`` counts the bytes that were read,
    ``seen`` are their states.
    """

    function: str
    pattern: str
    read: int = 0
    seen: list[set[DfaState]] = field(default_factory=list)

    def __post_init__(self) -> None:
        tree = simplified(with_its_options(self.pattern))
        self.searches = searches(self.function, tree)
        self.automata = [automaton(tree, each) for each in self.searches]
        self.seen = [set() for _ in self.automata]

    def matches(self, text: str) -> bool:
        """Whether the text has a match."""
        return self._place(text.encode(), 0) is not None

    def replaced(self, text: str) -> str:
        """The text without its matches, each found behind the one before."""
        whole, place, last, kept = text.encode(), 0, -1, bytearray()
        while place <= len(whole) and (found := self._place(whole, place)) is not None:
            begin, end = found
            kept += whole[place:begin]
            if begin == end == last:
                after = place + 1
                while after < len(whole) and whole[place] >= 0xC0 and whole[after] & 0xC0 == 0x80:
                    after += 1
                kept += whole[place:after]
                place = after
            else:
                place = last = end
        return (kept + whole[place:]).decode()

    def _place(self, text: bytes, start: int) -> tuple[int, int] | None:
        """Where the first match behind ``start`` begins and ends."""
        first = self.searches[0]
        if first.backward:
            begin = self._run(0, text, len(text), start, -1)
            return None if begin is None else (begin, len(text))
        if first.anchored and self.function != "regexp_full_match" and start:
            return None
        end = self._run(0, text, start, len(text), 1)
        if end is None or (self.function == "regexp_full_match" and end != len(text)):
            return None
        if len(self.searches) == 1 or first.earliest:
            return start, end
        begin = self._run(1, text, end, start, -1)
        assert begin is not None, "what is found forward is found backward"
        return begin, end

    def _run(self, place: int, text: bytes, begin: int, end: int, step: int) -> int | None:
        """Where the last match ends that the automaton tells on its way."""
        states = self.automata[place]
        state: DfaState | None = states.starts[_context(text, begin, step)]
        found, here = None, begin
        while state is not None:
            self.seen[place].add(state)
            byte = (
                text[here if step > 0 else here - 1]
                if 0 <= (here if step > 0 else here - 1) < len(text)
                else END
            )
            state = _after(states, state, byte)
            self.read += 1
            if state is not None and state.matched:
                found = here
                if self.searches[place].earliest:
                    return found
            if here == end:
                break
            here += step
        return found


def _context(text: bytes, begin: int, step: int) -> int:
    before = begin - 1 if step > 0 else begin
    if not 0 <= before < len(text):
        return 0
    return 1 if text[before] == 10 else 2 if text[before] in _OF_WORDS else 3


def _after(states: Automaton, state: DfaState, byte: int) -> DfaState | None:
    return states.after[state].get(byte if byte == END else states.kinds[byte])
