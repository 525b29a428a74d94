"""What DuckDB's optimizer believes of sums does not undo what holds a unit to its limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import duckdb
import pytest
from built_worlds import world
from databases import clinic
from neighbours import Tally, compare, faults, report
from world_session import FrozenNoise
from worlds import World

from dpsql.audit import completed_schema
from dpsql.engines.data import Data
from dpsql.engines.duckdb.attached_source import OpenedSource
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.engines.engine import DerivedRows
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.engines.source import DataSource
from dpsql.planning.plan import CorePlan
from dpsql.session import Session, open_accountant

Opens: TypeAlias = Callable[[DataSource], Data]

#: The passes of DuckDB's optimizer that no engine may use,
#: told here once more so that none of them #: is lost.
UNUSED = {
    "statistics_propagation",
    "join_order",
    "build_side_probe_side",
    "join_filter_pushdown",
    "top_n_window_elimination",
}

#: On world 19, where a unit has more rows than may count:
#: DuckDB 2.0 takes the sum of its counts #: for at most the limit.
COUNT_BY_KEY = (
    "SELECT r1.signed, COUNT(*) FROM visits r1 WHERE r1.signed <> (SELECT COUNT(*) FROM "
    "notes r3) GROUP BY r1.signed"
)
#: The same of a join, whose rows are held to the limits before they meet.
COUNT_OF_A_JOIN = (
    "SELECT r1.signed AS k0, REGEXP_FULL_MATCH(r2.word, '(x|y)+') AS k1, AVG(CAST(EXP(r2.signed / 1e3) AS INTEGER)) "
    "AS a0 FROM notes r1 JOIN visits r2 ON r1.pid = r2.pid AND r1.signed = r2.signed "
    "WHERE r2.signed <> (SELECT COUNT(*) FROM notes r3) GROUP BY r1.signed, REGEXP_FULL_MATCH(r2.word, '(x|y)+')"
)


@pytest.mark.parametrize("statement", [COUNT_BY_KEY, COUNT_OF_A_JOIN])
def test_a_unit_is_held_to_its_limits_where_the_optimizer_thinks_that_it_has_few_rows(
    statement: str,
) -> None:
    here, tally = world(19), Tally()
    for text, problem in faults(here, [statement], tally):
        raise AssertionError(report(here, text, problem))
    assert tally.trials > 0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[CoreRows]:
    """The exact rows that the engine gives, core after core;
    scalars are released as the same on neighbours.
    """
    found: list[CoreRows] = []
    stage = DuckDBReading.stage

    def noted(reading: DuckDBReading, derived: Sequence[DerivedRows]) -> ExactRows:
        rows = stage(reading, derived)
        found.extend(rows.reveal())
        return rows

    monkeypatch.setattr(DuckDBReading, "stage", noted)
    FrozenNoise(monkeypatch)
    return found


def cores_asked(here: World, folder: Path, opens: Opens) -> tuple[CorePlan, ...]:
    """The cores of the statement, once a session has answered it from a file that holds the
    world.
    """
    folder.mkdir()
    with duckdb.connect(str(folder / "world.duckdb")) as connection:
        connection.execute(here.script(""))
    schema = here.schema.model_copy(update={"source": str(folder / "world.duckdb")})
    session = Session(
        schema, DuckDBEngine(schema, opens), open_accountant(schema, folder / "ledger"), "ada"
    )
    plan = session.plan(COUNT_BY_KEY)
    session.answer(plan)
    session.close()
    return plan.cores


@pytest.mark.parametrize("opens", [LocalData, ProcessData])
def test_the_engine_of_a_session_holds_it_to_them(
    tmp_path: Path, opens: Opens, read: list[CoreRows]
) -> None:
    """The very engine, in this process and in one of its own,
    on the database and without each of its units.
    """
    here, tally = world(19), Tally()
    cores = cores_asked(here, tmp_path / "whole", opens)
    whole = read.copy()
    assert len(whole) == len(cores) > 1
    for place, unit in enumerate(here.units):
        read.clear()
        assert cores_asked(here.without(unit), tmp_path / str(place), opens) == cores
        for core, one, other in zip(cores, whole, read, strict=True):
            assert not compare(core, one, other, tally), unit


def test_every_engine_is_as_careful(tmp_path: Path) -> None:
    opened = OpenedSource(data_source_of(completed_schema(clinic(tmp_path))), open_instance)
    assert opened.connection is not None
    try:
        cursor: duckdb.DuckDBPyConnection = opened.connection.cursor()
        ((found,),) = cursor.execute("SELECT current_setting('disabled_optimizers')").fetchall()
        assert set(found.split(",")) == UNUSED
    finally:
        close_instance(opened.connection)
