"""Sessions over generated worlds, with the noise taken out or frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pytest
from databases import without_noise
from exact_rows import exact_rows
from numpy.typing import NDArray
from worlds import World

from dpsql.engines.duckdb.attached_source import put_derived
from dpsql.engines.duckdb.dry_run import DryRun
from dpsql.engines.duckdb.engine import tables_of
from dpsql.engines.duckdb.reading import core_sqls, derived_table
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism
from dpsql.privacy.partition_selection import KeyThreshold
from dpsql.session import Session, open_accountant
from dpsql.sql.emit.duckdb import DUCKDB

__all__ = ["FrozenNoise", "WorldEngine", "session_on", "without_noise"]


class WorldReading:
    """A charged plan while it is run on a generated world."""

    def __init__(self, plan: Plan, connection: duckdb.DuckDBPyConnection) -> None:
        self._stages, self._connection = iter(plan.stages), connection

    def __enter__(self) -> WorldReading:
        return self

    def __exit__(self, *trouble: object) -> None:
        pass

    def interrupt(self) -> None:
        self._connection.interrupt()

    def stage(self, derived: Sequence[DerivedRows]) -> ExactRows:
        stage = next(self._stages)
        for table, rows in zip(stage.derived, derived, strict=True):
            put_derived(self._connection, derived_table(table), rows)
        return ExactRows([exact_rows(self._connection, core) for core in stage.cores])


class WorldEngine:
    """A generated world as the engine that runs charged plans."""

    dialect = DUCKDB

    def __init__(self, world: World) -> None:
        self._world, self._connection = world, world.connect()
        self._dry = DryRun(tables_of(world.schema))

    def dry_run(self, plan: Plan) -> None:
        self._dry.require(
            (list(map(derived_table, stage.derived)), core_sqls(stage)) for stage in plan.stages
        )

    def run(self, charge: Charge[Plan]) -> WorldReading:
        return WorldReading(charge.redeem(), self._connection)

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> Sequence[tuple[object, ...]]:
        columns = ", ".join(f'"{column}"' for column in self._world.schema.tables[table].columns)
        return self._connection.execute(f'SELECT {columns} FROM source.main."{table}"').fetchall()

    def hold(self, opening: object = None) -> WorldEngine:
        return self

    def __enter__(self) -> WorldEngine:
        return self

    def __exit__(self, *trouble: object) -> None:
        """The world stays open until it is closed."""

    def version(self) -> None:
        """Not known: nothing is kept for later."""

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        ((number,),) = self._connection.cursor().execute(sql).fetchall()
        return int(number)

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return [value for (value,) in self._connection.cursor().execute(sql).fetchall()]

    def plain(self, text: str) -> list[tuple[object, ...]]:
        """The statement as plain DuckDB answers it."""
        cursor = self._connection.cursor()
        cursor.execute("USE source")
        return cursor.execute(text).fetchall()

    def close(self) -> None:
        self._connection.close()
        self._dry.close()


@contextmanager
def session_on(world: World, ledger: Path) -> Iterator[tuple[Session, WorldEngine]]:
    """A session on the world, with a ledger of its own."""
    engine = WorldEngine(world)
    session = Session(world.schema, engine, open_accountant(world.schema, ledger), "ada")
    try:
        yield session, engine
    finally:
        session.close()


class FrozenNoise:
    """Mechanisms whose outputs depend on nothing but their place:
    what is left of the data is a leak.

    Where keys are thresholded the rows differ between neighbours, so that there every row gets the
    same output. Else every fifth one is taken for that of a group without rows.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.same_for_all_rows = False
        self._calls = 0
        for mechanism in (Laplace, Gaussian):
            patch.setattr(
                mechanism, "perturb", lambda _, values, *, _entropy=None: self._frozen(len(values))
            )
            patch.setattr(
                mechanism, "sample", lambda _, size, *, _entropy=None: self._sampled(size)
            )
        for choice in (ExponentialMechanism, ConcentratedExponential, PermuteAndFlip):
            patch.setattr(
                choice,
                "draw",
                lambda _, utilities, widths=None, *, _entropy=None: self._place(
                    len(utilities) if widths is None else int(sum(widths))
                ),
            )
        grow = TreeMechanism.grow

        def grown(
            tree: TreeMechanism,
            places: Sequence[int],
            counts: Sequence[int],
            *,
            _entropy: object = None,
        ) -> NoisyTree:
            self._calls = 0 if self.same_for_all_rows else self._calls  # of every row alike
            return grow(tree, places, counts)

        patch.setattr(TreeMechanism, "grow", grown)
        patch.setattr(
            ClippingBoundSearch,
            "choose",
            lambda scan, places, counts, *, _entropy=None: self._place(scan.sizes),
        )
        patch.setattr(
            KeyThreshold, "select", lambda _, counts, *, _entropy=None: [10**6] * len(counts)
        )

    def start(self, plan: Plan) -> None:
        """Begin one release of the plan."""
        self._calls = 0
        self.same_for_all_rows = any(core.selection is not None for core in plan.cores)

    def _sampled(self, size: int) -> NDArray[np.int64]:
        """The noise alone, as of the counts of a tree, which are drawn for all rows at once."""
        return (
            np.zeros(size, np.int64) if self.same_for_all_rows else np.arange(size, dtype=np.int64)
        )

    def _place(self, candidates: int) -> int:
        self._calls += 1
        return 0 if self.same_for_all_rows else (7 * self._calls) % candidates

    def _frozen(self, size: int) -> list[int]:
        self._calls += 1
        if self.same_for_all_rows:
            return [10_000 + 37 * self._calls] * size
        return [
            (-1 if place % 5 == 3 else 1) * (10_000_000 + 37 * self._calls + 13 * place)
            for place in range(size)
        ]
