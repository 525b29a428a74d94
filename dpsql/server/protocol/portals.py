"""Portals and cursors: a statement runs once, at the first fetch, and is read in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dpsql.server.commands.command import Command, CopyOptions, Fetch
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.postgres_types import WireColumn

Row: TypeAlias = Sequence[object]


@dataclass(frozen=True)
class PortalRows:
    """The rows of a statement, all of them;
    ``tag`` is the word before their number in CommandComplete.
    """

    rows: Sequence[Row]
    tag: str = "SELECT"


@dataclass(frozen=True)
class StatementDone:
    """The end of a statement without rows; ``tag`` is that of CommandComplete."""

    tag: str


@dataclass(frozen=True)
class CopyOut:
    """Rows to send to the client in COPY format."""

    options: CopyOptions
    rows: Sequence[Row]
    columns: Sequence[WireColumn]


Outcome: TypeAlias = PortalRows | StatementDone | CopyOut


class Portal:
    """The result of ``run``, which is called once, at the first fetch; cursors move over its rows.

    ``hold`` outlives the transaction; ``opened`` counts the cursors of the transaction before this
    one.
    """

    def __init__(
        self,
        columns: tuple[WireColumn, ...] | None,
        run: Callable[[], Outcome],
        formats: Sequence[int],
        *,
        command: Command | None = None,
        scroll: bool = True,
        hold: bool = False,
        opened: int = 0,
    ) -> None:
        self.columns = columns
        self.formats = formats
        self.command = command
        self.hold = hold
        self.opened = opened
        self._run = run
        self._scroll = scroll
        self._outcome: Outcome | None = None
        self._place = 0

    @property
    def ran(self) -> bool:
        return self._outcome is not None

    @property
    def size(self) -> int:
        """The number of values that it holds."""
        outcome = self._outcome
        rows = () if outcome is None or isinstance(outcome, StatementDone) else outcome.rows
        return len(rows) * len(rows[0]) if rows else 0

    def outcome(self) -> Outcome:
        """The outcome of the statement, which runs on the first call."""
        if self._outcome is None:
            self._outcome = self._run()
        return self._outcome

    def forward(self, count: int | None) -> Sequence[Row]:
        """The next rows, all of them for None."""
        rows = self._rows()
        start = self._place
        first = max(start, 0)
        if count is None:
            self._place = len(rows) + 1
            return rows[first:]
        self._place = min(start + count, len(rows) + 1)
        return rows[first : first + count]

    def fetch(self, statement: Fetch) -> Sequence[Row]:
        """The rows that FETCH asks for; the cursor moves to the last of them, or past the end."""
        direction = statement.direction
        count = statement.count
        if count is not None and count < 0 and direction in ("FORWARD", "BACKWARD"):
            direction = "BACKWARD" if direction == "FORWARD" else "FORWARD"
            count = -count
        if count == 0 and direction in ("FORWARD", "BACKWARD"):
            direction = "RELATIVE"
        total = len(self._rows())
        match direction:
            case "FORWARD":
                return self.forward(count)
            case "BACKWARD":
                return self._backward(count)
            case "ABSOLUTE":
                assert count is not None
                return self._jump(count if count >= 0 else total + 1 + count)
            case "RELATIVE":
                assert count is not None
                return self._jump(self._place + count)

    def _rows(self) -> Sequence[Row]:
        outcome = self.outcome()
        if not isinstance(outcome, PortalRows):
            raise WireError("55000", "the statement of this portal gives no rows to fetch")
        return outcome.rows

    def _backward(self, count: int | None) -> Sequence[Row]:
        self._require_scroll()
        end = self._place - 1
        start = 0 if count is None else max(end - count, 0)
        result = list(reversed(self._rows()[start : max(end, 0)]))
        self._place = 0 if count is None or end < count else start + 1
        return result

    def _jump(self, target: int) -> Sequence[Row]:
        rows = self._rows()
        row_number = min(max(target, 0), len(rows) + 1)
        if row_number < self._place:
            self._require_scroll()
        self._place = row_number
        return rows[row_number - 1 : row_number] if row_number else []

    def _require_scroll(self) -> None:
        if not self._scroll:
            raise WireError(
                "55000",
                "cursor can only scan forward",
                "Declare it with SCROLL option to enable backward scan.",
            )
