"""What a session needs of an engine.

Proved in ``docs/proofs/execution.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.sql.emit import Dialect

#: The rows of a table that the sandbox has made.
DerivedRows: TypeAlias = Sequence[tuple[Any, ...]]


class PlanReading(Protocol):
    """A charged plan while it is run: each of its stages once, in their order; to be closed."""

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        """The exact rows of the next stage's cores,
        which read these rows as the stage's derived tables.
        """
        ...

    def interrupt(self) -> None:
        """End what is being read; from any thread."""
        ...

    def __enter__(self) -> PlanReading: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class EngineVersion(Protocol):
    """One version of the data, for all that is charged together; to be left."""

    @property
    def version(self) -> str | None:
        """Which one it is; None if that is not known."""
        ...

    def run(self, charge: Charge[Plan]) -> PlanReading: ...

    def __enter__(self) -> EngineVersion: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Engine(Protocol):
    """Runs charged plans."""

    @property
    def dialect(self) -> Dialect:
        """The SQL that it reads: plans are written in it."""
        ...

    def hold(self, opening: Callable[[], None] = ...) -> EngineVersion:
        """The version of the data as they are now;
        ``opening`` is called where that takes the time of an opening.

        OperationalError if it cannot be opened.
        """
        ...

    def dry_run(self, plan: Plan) -> None:
        """Before the charge, and without a row:
        StatementError (E_LIMITS) if the plan's SQL would not be run.
        """
        ...

    def run(self, charge: Charge[Plan]) -> PlanReading:
        """The reading of one plan, of a version that is held for it alone."""
        ...

    def version(self) -> str | None:
        """The version of the data that would be held now, from public metadata;
        None if it is not known.
        """
        ...

    def public_rows(
        self, table: str, opening: Callable[[], None] = ...
    ) -> Sequence[tuple[object, ...]]:
        """The rows of a public table; for ``opening`` and the error of it see `hold`."""
        ...

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = ...
    ) -> int:
        """The number that SQL of dpsql's own gives,
        which reads these public tables and nothing else.
        """
        ...

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = ...
    ) -> list[object]:
        """The one column that SQL of dpsql's own gives,
        which reads these public tables and nothing else.
        """
        ...

    def close(self) -> None: ...
