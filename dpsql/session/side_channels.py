"""Closes the side channels of a charged statement: its response time is quantised,
and its errors are one message.

Proved in ``docs/proofs/timing.md``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from types import TracebackType
from typing import Final, Protocol, TypeVar

from dpsql.errors import (
    DatabaseError,
    ExecutionFailed,
    PostProcessingFailed,
    PostProcessingStopped,
    QueryCancelled,
    StatementError,
    owners_log,
    statement_incident,
)
from dpsql.planning.plan import Plan

#: What the sandbox says of rows that are released already, and what the analyst did.
_PUBLIC: Final = (QueryCancelled, PostProcessingFailed, PostProcessingStopped, StatementError)

T = TypeVar("T")


def masked(work: Callable[[], T]) -> T:
    """The value of ``work``; raises ExecutionFailed for any error except one about released rows
    alone.

    The error has no cause and no traceback, since these could lead to exact rows. The owner's log
    has the kind of the error under the incident number, which is drawn before the work begins.
    """
    with statement_incident():
        failure: DatabaseError = ExecutionFailed()
        try:
            return work()
        except _PUBLIC as error:
            failure = error.with_traceback(None)
            failure.__cause__ = failure.__context__ = None
        except Exception as error:
            owners_log.record("after its charge, which stays", error)
    raise failure


class Clock(Protocol):
    """A monotonic clock in seconds, and a way to sleep."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class _Monotonic:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


MONOTONIC: Final[Clock] = _Monotonic()


def bucket(plan: Plan | None, time_bucket: Fraction) -> float:
    """The unit of a plan's response time in seconds: ``time_bucket`` times the number of its cores.

    It is one bucket without a plan, as when a version of the data is opened for public rows.
    """
    return float(time_bucket * max(1, 0 if plan is None else len(plan.cores)))


class ResponseTiming:
    """Delays the end of a charged statement, by answer or error,
    to a whole number of buckets after `begin`.

    An interrupt does not shorten the delay, since the time would tell whether the engine was still
    reading. KeyboardInterrupt and SystemExit, which end the process, are not delayed, and neither
    is a statement that did not `begin`. Opening a version of the data is delayed in the same way.
    """

    def __init__(self, plan: Plan | None, time_bucket: Fraction, clock: Clock = MONOTONIC) -> None:
        self._bucket = bucket(plan, time_bucket)
        self._clock = clock
        self._begun: float | None = None

    def begin(self) -> None:
        """Start the time, unless it runs: the charge is durable,
        or the opening of a version is begun.
        """
        if self._begun is None:
            self._begun = self._clock.now()

    def __enter__(self) -> ResponseTiming:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self._wait()

    def _wait(self) -> None:
        if self._begun is None or not self._bucket:
            return
        passed = self._clock.now() - self._begun
        leaves = self._begun + self._bucket * max(1, math.ceil(passed / self._bucket))
        while (remaining := leaves - self._clock.now()) > 0:
            self._clock.sleep(remaining)
