"""The sandboxes of a database, lent to one statement at a time, and the queues for its work.

Analysts share the work by these queues. Proved in ``docs/proofs/execution.md`` and
``docs/proofs/timing.md``.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field

from dpsql.errors import QueryCancelled
from dpsql.errors.deadline import taken
from dpsql.postprocessing.answer import PostProcessor
from dpsql.postprocessing.sandbox import PublicRows
from dpsql.schema import Schema

#: Seconds between looks at whether a statement that waits is still wanted.
PATIENCE = 0.05


@dataclass(eq=False)
class QueueTicket:
    """A statement that wants a place, and whether it has one."""

    analyst: str
    given: threading.Event = field(default_factory=threading.Event)


class Slots:
    """``most`` places; one analyst holds half of them at most, the rest of theirs wait.

    A place that gets free goes to the analyst who holds fewest, and of these to who came first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._each = max(1, most // 2)
        self._lock = threading.Lock()
        self._held = Counter[str]()
        self._waiting = list[QueueTicket]()

    @contextmanager
    def slot(self, analyst: str, check: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold a place while the context lasts.

        ``check`` raises if the statement was ended while it waits for its turn.
        """
        ticket = QueueTicket(analyst)
        with self._lock:
            self._waiting.append(ticket)
            self._give()
        try:
            while not ticket.given.wait(PATIENCE):
                check()
            yield
        finally:
            with self._lock:
                if ticket.given.is_set():
                    self._held[analyst] -= 1
                    self._held += Counter()  # forget who holds none
                else:
                    self._waiting.remove(ticket)
                self._give()

    def held(self) -> dict[str, int]:
        """How many places each analyst has now."""
        with self._lock:
            return dict(self._held)

    def _give(self) -> None:
        """Give free places to those whose turn it is."""
        while self._held.total() < self._most:
            able = [ticket for ticket in self._waiting if self._held[ticket.analyst] < self._each]
            if not able:
                return
            ticket = min(able, key=lambda ticket: self._held[ticket.analyst])
            self._waiting.remove(ticket)
            self._held[ticket.analyst] += 1
            ticket.given.set()


#: How many statements may use a sandbox at the same time, and how many may read private rows.
MOST = 8


@dataclass(frozen=True, eq=False)
class _Seen:
    """The tables and the version of the data that sandboxes were made for."""

    schema: Schema
    version: str | None

    def is_now(self, schema: Schema, version: str | None) -> bool:
        return schema is self.schema and version == self.version


class PostProcessors:
    """Makes a sandbox when one is wanted and none is free, and keeps it for the next statement.

    ``schema`` tells the tables of now, the same object while none changes, and ``version`` the
    version of the data: sandboxes that hold public rows of another are not lent again.
    """

    def __init__(
        self,
        schema: Callable[[], Schema],
        public_rows: PublicRows,
        version: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._schema = schema
        self._rows = public_rows
        self._version = version
        self._seen: _Seen | None = None
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._slots = Slots(MOST)
        self._readings = Slots(MOST)
        self._deriving = Slots(1)
        self._free: list[PostProcessor] = []
        self._public: dict[str, Sequence[tuple[object, ...]]] = {}
        self._closed = False

    @contextmanager
    def lease(
        self, analyst: str, check: Callable[[], None] = lambda: None
    ) -> Iterator[PostProcessor]:
        """A sandbox for one statement of the analyst.

        What it released is taken out of it afterwards. ``check`` raises if the statement was ended
        while it waits for its turn.
        """
        with self._slots.slot(analyst, check):
            seen = self._renew()
            with self._lock:
                postprocessor = self._free.pop() if self._free else None
            postprocessor = postprocessor or PostProcessor(seen.schema, self._public_rows)
            try:
                yield postprocessor
            finally:
                self._take_back(postprocessor, seen)

    @contextmanager
    def reading(
        self, analyst: str, check: Callable[[], None] = lambda: None, *, derives: bool = False
    ) -> Iterator[PostProcessor | None]:
        """A place among the statements that read private rows, for the length of the block.

        A statement that ``derives`` tables between its stages gets a sandbox that nobody else is
        lent, and is the only such one. No lease waits for any of this: when it gets free may depend
        on private rows.
        """
        alone = self._deriving.slot(analyst, check) if derives else nullcontext()
        with alone, self._readings.slot(analyst, check):
            postprocessor = PostProcessor(self._schema(), self._public_rows) if derives else None
            try:
                yield postprocessor
            finally:
                if postprocessor is not None:
                    postprocessor.close()

    def close(self) -> None:
        """Close the sandboxes, those that are lent when they come back."""
        with self._lock:
            self._closed = True
            free = self._free
            self._free = []
        for postprocessor in free:
            postprocessor.close()

    def _renew(self) -> _Seen:
        """Drop what was read of other tables or another version; return the current ones."""
        schema = self._schema()
        version = self._version()
        seen = self._seen
        if seen is not None and seen.is_now(schema, version):
            return seen
        with self._alone_reading(), self._lock:
            if self._seen is not None and self._seen.is_now(schema, version):
                return self._seen
            old = self._free
            self._seen = _Seen(schema, version)
            self._free = []
            seen = self._seen
            self._public.clear()
        for postprocessor in old:
            postprocessor.close()
        return seen

    @contextmanager
    def _alone_reading(self) -> Iterator[None]:
        """Admit one thread at a time.

        Raises QueryCancelled if the statement is ended before its turn.
        """
        if not taken(self._reading):
            raise QueryCancelled
        try:
            yield
        finally:
            self._reading.release()

    def _take_back(self, postprocessor: PostProcessor, seen: _Seen) -> None:
        with suppress(Exception):  # a sandbox that cannot be emptied is not lent again
            postprocessor.clear()
            with self._lock:
                if not self._closed and seen is self._seen:
                    self._free.append(postprocessor)
                    return
        postprocessor.close()

    def _public_rows(self, table: str) -> Sequence[tuple[object, ...]]:
        """The rows of a public table, read from the engine once for all sandboxes."""
        with self._alone_reading():
            if table not in self._public:
                self._public[table] = self._rows(table)
            return self._public[table]
