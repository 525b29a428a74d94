"""How far a search for the next match reads beyond it.

The text is searched again and again, from the end of each match.

Proved in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from dpsql.sql.functions.regular_expression.automaton import (
    END,
    Automaton,
    DfaState,
    TooLargeError,
    automaton,
)
from dpsql.sql.functions.regular_expression.program import searches
from dpsql.sql.functions.regular_expression.syntax import with_its_options
from dpsql.sql.functions.regular_expression.tree import simplified

#: So many pairs of searches are followed.
_MOST_PAIRS = 50_000
#: The states that follow each state by a byte, without those that nothing follows.
_Steps = Mapping[DfaState, Mapping[int, DfaState]]


@lru_cache(4_096)
def most_bytes_behind(pattern: str) -> int | None:
    """The number of bytes after each match that are read again for the next one.

    None if it has no bound.
    """
    tree = simplified(with_its_options(pattern))
    (search, *_) = searches("regexp_replace", tree)
    if search.anchored:
        return 0
    try:
        return _most_bytes_behind(automaton(tree, search))
    except TooLargeError:
        return None


def _most_bytes_behind(states: Automaton) -> int | None:
    steps = {
        state: {byte: one for byte, one in successors.items() if byte != END}
        for state, successors in states.after.items()
    }
    open_, longest = _open_states(steps)
    if open_ and _meets_a_match(states, steps, open_):
        return None
    return longest


def _open_states(steps: _Steps) -> tuple[set[DfaState], int]:
    """The states in which a search that has matched reads on for ever without another match, and
    how many bytes it reads at most in the others."""
    after_a_match = _reached(
        [after for state in steps if state.matched for after in steps[state].values()], steps
    )
    lengths = dict[DfaState, int]()
    waiting = True
    while waiting:
        waiting = False
        for state in after_a_match - set(lengths):
            after = [next_state for next_state in steps[state].values() if not next_state.matched]
            if all(next_state in lengths for next_state in after):
                lengths[state] = 1 + max((lengths[next_state] for next_state in after), default=0)
                waiting = True
    return after_a_match - set(lengths), 1 + max(lengths.values(), default=0)


def _reached(begin: Iterable[DfaState], steps: _Steps) -> set[DfaState]:
    """The states without a match that are reached from these by others without one."""
    waiting = [next_state for next_state in begin if not next_state.matched]
    result = set[DfaState]()
    while waiting:
        state = waiting.pop()
        if state not in result:
            result.add(state)
            waiting += (
                next_state for next_state in steps[state].values() if not next_state.matched
            )
    return result


def _meets_a_match(states: Automaton, steps: _Steps, open_: set[DfaState]) -> bool:
    """Whether a search may match after the match of an earlier one that would read on for ever.
    The earlier search is followed from its last match, the later one from any later place.
    """
    waiting = [(state, start) for state in open_ for start in states.starts]
    waiting += [
        (after, later)
        for state in steps
        for byte, after in steps[state].items()
        if after.matched
        for start in states.starts
        if (later := steps[start].get(byte)) is not None
    ]
    seen = set(waiting)
    while waiting:
        earlier, later = waiting.pop()
        if earlier in open_ and later.matched:
            return True
        for byte, one in steps[earlier].items():
            other = steps[later].get(byte)
            if one.matched or other is None or (one, other) in seen:
                continue
            if len(seen) >= _MOST_PAIRS:
                return True
            seen.add((one, other))
            waiting.append((one, other))
    return False
