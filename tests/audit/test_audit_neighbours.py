"""The audit's neighbours are the databases without a unit,
and its comparison finds what breaks a claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from built_worlds import world
from hand_world import hand_world
from statements import statement
from worlds import World

from dpsql.audit.clock import AuditClock
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import planner
from dpsql.audit.sensitivity.statements import check_sensitivity
from dpsql.errors import DatabaseError
from dpsql.schema import Schema


@contextmanager
def audited(here: World, folder: Path) -> Iterator[tuple[Schema, NeighbourDatabases]]:
    """The world as a DuckDB file, opened by the audit."""
    source = folder / "world.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(here.script(""))
    schema = here.schema.model_copy(update={"source": str(source)})
    neighbours = NeighbourDatabases(schema)
    try:
        yield schema, neighbours
    finally:
        neighbours.close()


def tables(connection: duckdb.DuckDBPyConnection, here: World) -> dict[str, list[str]]:
    """The rows of each table as emitted SQL sees them, with NULL for NaN.

    A file of DuckDB 1 and its memory differ in the sign of 0.0.
    """
    read = connection.execute
    columns = {
        table.name: ", ".join(f'"{column.name}"' for column in table.columns)
        for table in here.tables
    }
    rows = {
        name: read(f'SELECT {listed} FROM source.main."{name}"').fetchall()
        for name, listed in columns.items()
    }
    return {
        name: sorted(repr(row).replace("-0.0", "0.0").replace("nan", "None") for row in found)
        for name, found in rows.items()
    }


@pytest.mark.parametrize("orphans", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_neighbour_lacks_the_rows_of_one_unit_and_no_others(
    seed: int, orphans: bool, tmp_path: Path
) -> None:
    here = world(seed).with_orphans() if orphans else world(seed)
    with audited(here, tmp_path) as (_, neighbours):
        whole = tables(neighbours._connection, here)
        numbers = neighbours.choose(1000, seed)
        assert len(numbers) == len(here.units), "every unit that has a row anywhere"
        found = []
        for number in numbers:
            with neighbours.without(number):
                found.append(tables(neighbours._connection, here))
        assert tables(neighbours._connection, here) == whole
    expected = []
    for unit in here.units:
        with here.without(unit).connect() as connection:
            expected.append(tables(connection, here))
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_the_heaviest_unit_of_each_table_is_always_left_out(tmp_path: Path) -> None:
    here = hand_world()
    with audited(here, tmp_path) as (_, neighbours):
        numbers = neighbours.choose(1, 0)
        read = neighbours._connection.execute
        chosen = {
            unit
            for unit, number in read("SELECT unit, number FROM audit.main.chosen").fetchall()
            if number in numbers
        }
    assert 1 in chosen, "unit 1 has 24 visits, and most items"
    assert len(chosen) < len(here.units)


@pytest.mark.parametrize("promise", ["L1", "L2", "L1 with delta", "replace"])
def test_statements_that_keep_their_claims_pass(promise: str, tmp_path: Path) -> None:
    here = hand_world("all", promise)
    texts = [statement(here, seed) for seed in range(16)]
    with audited(here, tmp_path) as (schema, neighbours), planner(schema, neighbours) as plans:
        room = check_sensitivity(schema, neighbours, plans, texts, 1000, 0, AuditClock(10))
        refused = 0
        for text in texts:
            try:
                assert all(core.sql for core in plans.plan(text).cores)
            except DatabaseError:
                refused += 1
    assert room.count("failed") == 0, room
    assert room.count("skipped") == refused < 10
    assert all(figure.value <= 1 for check in room.checks for figure in check.figures)
    assert sum(bool(check.figures) for check in room.checks) >= 5


def test_a_key_that_is_not_unique_is_found(tmp_path: Path) -> None:
    here = hand_world()
    with audited(here, tmp_path) as (schema, neighbours), planner(schema, neighbours) as plans:
        room = check_sensitivity(schema, neighbours, plans, [], 1, 0, AuditClock(10))
        assert room.checks[0].verdict == "passed"
    with duckdb.connect(str(tmp_path / "world.duckdb")) as connection:
        connection.execute("INSERT INTO visits SELECT * FROM visits WHERE id = 3")
    neighbours = NeighbourDatabases(schema)
    with planner(schema, neighbours) as plans:
        room = check_sensitivity(schema, neighbours, plans, [], 1, 0, AuditClock(10))
    neighbours.close()
    assert (room.checks[0].verdict, room.checks[0].said) == ("failed", "not unique: visits.id")


def test_what_cannot_be_read_in_time_is_not_said_to_pass(tmp_path: Path) -> None:
    here = hand_world()
    with audited(here, tmp_path) as (schema, neighbours), planner(schema, neighbours) as plans:
        room = check_sensitivity(
            schema, neighbours, plans, ["SELECT COUNT(*) FROM visits"], 5, 0, AuditClock(0)
        )
    assert [(check.verdict, check.said) for check in room.checks[1:]] == [
        ("skipped", "the time was up")
    ]


def test_the_audit_spills_where_nobody_else_looks_and_enciphered(tmp_path: Path) -> None:
    with audited(hand_world(), tmp_path) as (_, neighbours):
        asked = "SELECT current_setting('temp_directory'), current_setting('temp_file_encryption')"
        ((folder, enciphered),) = neighbours._connection.execute(asked).fetchall()
        assert Path(folder).parent.stat().st_mode & 0o077 == 0 and str(enciphered).lower() == "true"
    assert not Path(folder).exists()
