"""A clock that tests move, and an engine that takes the time that its data need on that clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.engines.engine import DerivedRows, Engine, EngineVersion, PlanReading
from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import Schema


def completed(schema: Schema) -> Schema:
    """The schema with what the catalogue of its data adds to it."""
    return schema.with_catalog(read_catalog(schema.source_path))


class Clock:
    """A clock that stands still until somebody sleeps on it or works."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def work(self, seconds: float) -> None:
        self.time += seconds


class TimedEngine:
    """An engine around another one that does, after each stage,
    what it is told with the number of exact rows.
    """

    def __init__(self, engine: Engine, on_stage: Callable[[int], None]) -> None:
        self._engine, self._on_stage = engine, on_stage
        self.dialect = engine.dialect

    def dry_run(self, plan: Plan) -> None:
        self._engine.dry_run(plan)

    def run(self, charge: Charge[Plan]) -> TimedReading:
        return TimedReading(self._engine.run(charge), self._on_stage)

    def hold(self, opening: Callable[[], None] = lambda: None) -> TimedHeld:
        return TimedHeld(self._engine.hold(opening), self._on_stage)

    def version(self) -> str | None:
        return self._engine.version()

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> Sequence[tuple[object, ...]]:
        return self._engine.public_rows(table, opening)

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        return self._engine.public_count(sql, tables, opening)

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return self._engine.public_column(sql, tables, opening)

    def close(self) -> None:
        self._engine.close()


class TimedHeld:
    """A version that a timed engine holds."""

    def __init__(self, held: EngineVersion, on_stage: Callable[[int], None]) -> None:
        self._held, self._on_stage = held, on_stage

    @property
    def version(self) -> str | None:
        return self._held.version

    def run(self, charge: Charge[Plan]) -> TimedReading:
        return TimedReading(self._held.run(charge), self._on_stage)

    def __enter__(self) -> TimedHeld:
        return self

    def __exit__(self, *trouble: Any) -> None:
        self._held.__exit__(*trouble)


class TimedReading:
    """A reading of a timed engine; a stage that fails has found no row."""

    def __init__(self, reading: PlanReading, on_stage: Callable[[int], None]) -> None:
        self._reading, self._on_stage = reading, on_stage

    def __enter__(self) -> TimedReading:
        self._reading.__enter__()
        return self

    def __exit__(self, *trouble: Any) -> None:
        self._reading.__exit__(*trouble)

    def interrupt(self) -> None:
        self._reading.interrupt()

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        found = 0
        try:
            exact = self._reading.stage(derived)
            found = sum(len(rows) + sum(map(_size, rows)) for rows in exact.reveal())
        finally:
            self._on_stage(found)
        return exact


def _size(row: tuple[object, ...]) -> int:
    """Something that the values of a row have a say in."""
    return sum(abs(value) % 7 for value in row if isinstance(value, int))
