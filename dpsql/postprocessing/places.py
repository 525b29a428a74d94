"""Places for statements that run at the same time, shared so that nobody keeps others from working."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

#: Seconds between looks at whether a statement that waits is still wanted.
PATIENCE = 0.05


@dataclass(eq=False)
class _Turn:
    """A statement that wants a place, and whether it has one."""

    analyst: str
    given: threading.Event = field(default_factory=threading.Event)


class Places:
    """``most`` places, of which one analyst has half at most; the rest of theirs wait.

    A place that gets free goes to the analyst who holds fewest, and of these to who came first.
    """

    def __init__(self, most: int) -> None:
        self._most, self._each = most, max(1, most // 2)
        self._lock = threading.Lock()
        self._held, self._waiting = Counter[str](), list[_Turn]()

    @contextmanager
    def place(self, analyst: str, check: Callable[[], None] = lambda: None) -> Iterator[None]:
        """A place while this lasts; ``check`` raises where the statement was ended while it waits for its turn."""
        turn = _Turn(analyst)
        with self._lock:
            self._waiting.append(turn)
            self._give()
        try:
            while not turn.given.wait(PATIENCE):
                check()
            yield
        finally:
            with self._lock:
                if turn.given.is_set():
                    self._held[analyst] -= 1
                    self._held += Counter()  # forget who holds none
                else:
                    self._waiting.remove(turn)
                self._give()

    def held(self) -> dict[str, int]:
        """How many places each analyst has now."""
        with self._lock:
            return dict(self._held)

    def _give(self) -> None:
        """Give free places to those whose turn it is."""
        while self._held.total() < self._most:
            able = [turn for turn in self._waiting if self._held[turn.analyst] < self._each]
            if not able:
                return
            turn = min(able, key=lambda turn: self._held[turn.analyst])
            self._waiting.remove(turn)
            self._held[turn.analyst] += 1
            turn.given.set()
