"""What a session reads of public tables: rows for the sandbox,
sizes and values for the planner; nothing is charged.

Proved in ``docs/proofs/timing.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpsql.engines.engine import Engine
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.errors.owners_log import record
from dpsql.session.side_channels import MONOTONIC, Clock, ResponseTiming
from dpsql.sql.emit import Dialect


class PublicTables:
    """The public tables of an engine.

    What opens a version of the data ends after whole multiples of the time bucket.

    How long an opening takes depends on private rows,
    and nothing is charged for it. ``clock`` gives the clock of the delay.
    """

    def __init__(
        self, engine: Engine, time_bucket: Fraction, clock: Callable[[], Clock] = lambda: MONOTONIC
    ) -> None:
        self._engine = engine
        self._time_bucket = time_bucket
        self._clock = clock

    @property
    def dialect(self) -> Dialect:
        return self._engine.dialect

    def version(self) -> str | None:
        """The version of the data as they are now."""
        return self._engine.version()

    def rows(self, table: str) -> Sequence[tuple[object, ...]]:
        """The rows of a table. Raises ExecutionFailed if the data cannot be opened."""
        with self._timing() as timing:
            try:
                return self._engine.public_rows(table, timing.begin)
            except OperationalError as error:
                record("reading a public table", error)
            raise ExecutionFailed

    def public_count(self, sql: str, tables: frozenset[str]) -> int:
        """The number that SQL over public tables gives. Raises OperationalError if it cannot run."""
        with self._timing() as timing:
            return self._engine.public_count(sql, tables, timing.begin)

    def public_column(self, sql: str, tables: frozenset[str]) -> list[object]:
        """The one column that SQL over public tables gives. Raises OperationalError if it cannot run."""
        with self._timing() as timing:
            return self._engine.public_column(sql, tables, timing.begin)

    def _timing(self) -> ResponseTiming:
        return ResponseTiming(None, self._time_bucket, self._clock())
