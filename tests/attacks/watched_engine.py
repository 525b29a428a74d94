"""Engines that watch what a session asks of them,
and one that answers with the same frozen rows on every database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpsql.engines.duckdb.engine import DuckDBEngine, DuckDBVersion
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import Schema


class WatchedEngine(DuckDBEngine):
    """The engine, with a count of the readings of private and of public tables."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.private_readings = self.public_readings = 0

    def run(self, charge: Charge[Plan], held: DuckDBVersion | None = None) -> DuckDBReading:
        self.private_readings += 1
        return super().run(charge, held)

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> list[tuple[object, ...]]:
        self.public_readings += 1
        return super().public_rows(table, opening)


class FrozenEngine(WatchedEngine):
    """Runs the statement and then answers what was handed to it, whatever the data hold.

    With the same noise, two sessions on two databases must then give the same bytes: what differs
    has come from the data by a way around the engine's one answer.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.frozen: dict[str, CoreRows] = {}

    def run(self, charge: Charge[Plan], held: DuckDBVersion | None = None) -> FrozenReading:  # type: ignore[override]
        return FrozenReading(super().run(charge, held), charge.plan, self.frozen)


class FrozenReading:
    """The reading of a statement whose rows are frozen;
    what is derived of them is the same on every database.
    """

    def __init__(self, reading: DuckDBReading, plan: Plan, frozen: dict[str, CoreRows]) -> None:
        self._reading, self._stages, self._frozen = reading, iter(plan.stages), frozen
        self._derived = ""

    def __enter__(self) -> FrozenReading:
        self._reading.__enter__()
        return self

    def __exit__(self, *trouble: Any) -> None:
        self._reading.__exit__(*trouble)

    def interrupt(self) -> None:
        self._reading.interrupt()

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        exact = self._reading.stage(derived).reveal()
        stage = next(self._stages)
        self._derived += repr(derived) if stage.derived else ""
        pairs = zip(stage.cores, exact, strict=True)
        return ExactRows([self._freeze(core, rows) for core, rows in pairs])

    def _freeze(self, core: CorePlan, rows: CoreRows) -> CoreRows:
        name = core.sql + self._derived if core.derived else core.sql
        if name not in self._frozen:
            self._frozen[name] = _frozen(core, rows)
        elif core.selection is None:
            assert keys_of(core, self._frozen[name]) == keys_of(core, rows), (
                "public keys depend on the data"
            )
        return self._frozen[name]


def _frozen(core: CorePlan, rows: CoreRows) -> CoreRows:
    """The keys of the rows with cells that are numbers of their own,
    large enough for every threshold.
    """
    width = len(core.core.keys)
    cells = len(core.cells) + (core.selection is not None)
    return [
        (
            *row[:width],
            *[10**9 * (place + 1)] * cells,
            *[[[0], [10**9 * (place + 1)]]] * len(core.histograms),
        )
        for place, row in enumerate(rows)
    ]


def keys_of(core: CorePlan, rows: Sequence[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """The keys of a core's rows."""
    return {row[: len(core.core.keys)] for row in rows}
