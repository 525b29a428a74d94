"""Engines that watch what a session asks of them, and one that answers with the same frozen rows on every database."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engines.duckdb import DuckDBEngine
from dpsql.engines.exact import CoreRows, ExactRows
from dpsql.plan import CorePlan, Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import Schema


class WatchedEngine(DuckDBEngine):
    """The engine, with a count of the readings of private and of public tables."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.private_readings = self.public_readings = 0

    def run(self, charge: Charge[Plan]) -> ExactRows:
        self.private_readings += 1
        return super().run(charge)

    def public_rows(self, table: str) -> list[tuple[object, ...]]:
        self.public_readings += 1
        return super().public_rows(table)


class FrozenEngine(WatchedEngine):
    """Runs the statement and then answers what was handed to it, whatever the data hold.

    With the same noise, two sessions on two databases must then give the same bytes: what differs has come from the
    data by a way around the engine's one answer.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self.frozen: dict[str, CoreRows] = {}

    def run(self, charge: Charge[Plan]) -> ExactRows:
        exact = super().run(charge).reveal()
        pairs = zip(charge.plan.cores, exact, strict=True)
        return ExactRows([self._freeze(core, rows) for core, rows in pairs])

    def _freeze(self, core: CorePlan, rows: CoreRows) -> CoreRows:
        if core.sql not in self.frozen:
            self.frozen[core.sql] = _frozen(core, rows)
        elif core.selection is None:
            assert keys_of(core, self.frozen[core.sql]) == keys_of(core, rows), "public keys depend on the data"
        return self.frozen[core.sql]


def _frozen(core: CorePlan, rows: CoreRows) -> CoreRows:
    """The keys of the rows with cells that are numbers of their own, large enough for every threshold."""
    width = len(core.core.keys)
    cells = len(core.cells) + (core.selection is not None)
    return [(*row[:width], *(10**9 * (place + 1) for _ in range(cells))) for place, row in enumerate(rows)]


def keys_of(core: CorePlan, rows: Sequence[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """The keys of a core's rows."""
    return {row[: len(core.core.keys)] for row in rows}
