"""What leaves after the charge beside the answer: a time that the plan fixed, and one constant error message.

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
    incident,
    owners_log,
)
from dpsql.planning.plan import Plan

#: What the sandbox says of rows that are released already, and what the analyst did.
_PUBLIC: Final = (QueryCancelled, PostProcessingFailed, PostProcessingStopped, StatementError)

T = TypeVar("T")


def masked(work: Callable[[], T]) -> T:
    """What the work gives; ExecutionFailed for trouble of whatever kind, but for what speaks of released rows alone.

    The error has neither a cause nor a trace that leads to where it came from, where exact rows are. The owner's log
    has the kind of trouble, under the number that the error was given before the work began.
    """
    with incident.statement():
        said: DatabaseError = ExecutionFailed()
        try:
            return work()
        except _PUBLIC as error:
            said = error.with_traceback(None)
            said.__cause__ = said.__context__ = None
        except Exception as error:
            owners_log.record("after its charge, which stays", error)
    raise said


class Clock(Protocol):
    """A clock that never goes back, in seconds, and a way to wait on it."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class _Monotonic:
    """The machine's own clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


MONOTONIC: Final[Clock] = _Monotonic()


def bucket(plan: Plan | None, time_bucket: Fraction) -> float:
    """The seconds between the moments at which the plan's answer may leave: ``time_bucket`` for each of its cores.

    It is one for what has no plan: the opening of a version of the data for public rows.
    """
    return float(time_bucket * max(1, 0 if plan is None else len(plan.cores)))


class ResponseTiming:
    """One charged statement's way out: whatever it ends in, it leaves at a whole number of buckets after `begin`.

    An interrupt does not shorten the wait, since how long it then took would tell whether the engine was still reading.
    What ends the process (KeyboardInterrupt, SystemExit) waits for nothing, and nor does what was never begun. The
    opening of a version of the data leaves as a charged statement does.
    """

    def __init__(self, plan: Plan | None, time_bucket: Fraction, clock: Clock = MONOTONIC) -> None:
        self._bucket, self._clock = bucket(plan, time_bucket), clock
        self._begun: float | None = None

    def begin(self) -> None:
        """The charge is durable, and the time runs."""
        self._begun = self._clock.now()

    def __enter__(self) -> ResponseTiming:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self._wait()

    def _wait(self) -> None:
        if self._begun is None or not self._bucket:
            return
        passed = self._clock.now() - self._begun
        leaves = self._begun + self._bucket * max(1, math.ceil(passed / self._bucket))
        while (left := leaves - self._clock.now()) > 0:
            self._clock.sleep(left)
