"""A charge pays for one release: if the engine dies before it has given its rows,
they are read once more, and once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

import duckdb
import pytest
from own_process import ONE, answer_while, limited, process_of, until

from dpsql.engines.duckdb.process import client
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.engines.exact_rows import ExactRows
from dpsql.engines.source import EngineDied
from dpsql.errors import ExecutionFailed
from dpsql.errors.deadline import Deadline, within
from dpsql.release.noise_addition import release
from dpsql.session import Session
from dpsql.session.public_tables import PublicTables

#: Three stages: the third reads what is derived of the first and of the second.
MEAN = "(SELECT AVG(cost) FROM visits)"
STAGES = (
    f"SELECT COUNT(*) FROM visits WHERE cost > {MEAN} AND cost < 9 * (SELECT AVG(cost) "
    f"FROM visits WHERE cost > {MEAN})"
)
BY_PLACE = "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY place"


def kill(process: client.EngineProcess) -> None:
    process.kill()


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each stage that is released."""
    made: list[int] = []

    def counted(*values: object, **named: object) -> object:
        made.append(1)
        return release(*values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("dpsql.session.execution.release", counted)
    return made


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The exact rows that stages give."""
    given, stage = list[object](), DuckDBReading.stage

    def noted(reading: DuckDBReading, *derived: object) -> ExactRows:
        exact = stage(reading, *derived)  # type: ignore[arg-type]
        given.append([sorted(core, key=repr) for core in exact.reveal()])
        return exact

    monkeypatch.setattr(DuckDBReading, "stage", noted)
    return given


def test_after_one_death_the_statement_is_answered_at_one_price(
    session: Session, releases: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    plan, before = session.plan(ONE), session.remaining.spent.rho
    with caplog.at_level(logging.WARNING, "dpsql"):
        assert answer_while(session, plan, lambda process: os.kill(process.pid, 9), 1) == []
    assert session.remaining.spent.rho == before + plan.cost.rho
    assert releases == [1] and session.is_paid(plan)
    assert "once more under the same charge: ProcessDied: SIGKILL" in caplog.text


def test_what_is_read_again_is_what_would_have_been_read(
    session: Session, rows: list[object]
) -> None:
    plan = session.plan(BY_PLACE)
    assert answer_while(session, plan, kill, 1) == []
    session.execute("SET dpsql.epsilon = 2")
    session.execute(BY_PLACE)
    assert len(rows) == 2 and rows[0] == rows[1] and rows[0]


def dying_stages(session: Session, deaths: Collection[int]) -> Callable[..., ExactRows]:
    """What reads the stages if the engine is dead when these are asked for."""
    read, stage = list[int](), DuckDBReading.stage

    def dying(reading: DuckDBReading, derived: object) -> ExactRows:
        if len(read) in deaths:
            process = process_of(session).newest.process
            process.kill()
            until(lambda: not process.alive)
        read.append(1)
        return stage(reading, derived)  # type: ignore[arg-type]

    return dying


@pytest.mark.parametrize("stages_before", [0, 1, 2])
def test_a_later_stage_has_the_derived_tables_of_those_before(
    session: Session, releases: list[int], stages_before: int
) -> None:
    """The engine that dies has them, and the other one is given them again."""
    plan = session.plan(STAGES)
    assert [len(core.derived) for stage in plan.stages for core in stage.cores] == [0, 1, 2]
    before = session.remaining.spent.rho
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBReading, "stage", dying_stages(session, [stages_before]))
        assert session.answer(plan).rows
    assert (
        len(releases) == len(plan.stages) and session.remaining.spent.rho == before + plan.cost.rho
    )


def test_a_death_in_each_of_two_stages_is_the_end(session: Session, releases: list[int]) -> None:
    """One release is paid for, and one more reading."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckDBReading, "stage", dying_stages(session, [0, 2]))
        with pytest.raises(ExecutionFailed):
            session.answer(session.plan(STAGES))
    assert releases == [1, 1]


def test_other_data_are_not_read_under_the_charge(
    session: Session, tmp_path: Path, releases: list[int]
) -> None:
    plan, before = session.plan(ONE), session.remaining.spent.rho

    def changes(process: client.EngineProcess) -> None:
        process.kill()
        until(lambda: not process.alive)
        with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
            connection.execute("INSERT INTO patients SELECT 900, 'n', 'f', 1, 1")

    (error,) = answer_while(session, plan, changes, 1)
    assert type(error) is ExecutionFailed and releases == []
    assert session.remaining.spent.rho == before + plan.cost.rho and not session.is_paid(plan)


def test_a_second_death_is_the_end(session: Session, releases: list[int]) -> None:
    plan, before, killed = session.plan(ONE), session.remaining.spent.rho, list[int]()

    def dies(process: client.EngineProcess) -> None:
        killed.append(process.pid)
        process.kill()

    (error,) = answer_while(session, plan, dies, 3)
    assert type(error) is ExecutionFailed and len(set(killed)) == 2 and releases == []
    assert session.remaining.spent.rho == before + plan.cost.rho


def test_trouble_that_is_no_death_is_not_read_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def fails(*_: object) -> None:
        read.append(1)
        raise ValueError

    monkeypatch.setattr(DuckDBReading, "_rows", fails)
    with pytest.raises(ExecutionFailed):
        session.answer(session.plan(ONE))
    assert read == [1]


@pytest.mark.parametrize(
    "read",
    [
        lambda tables: tables.rows("places"),
        lambda tables: tables.public_column(COLUMN, frozenset({"places"})),
    ],
)
def test_public_rows_are_read_again(
    session: Session, read: Callable[[PublicTables], list[object]]
) -> None:
    """They are read after the charge as well, for what is made of the release."""
    tables, rows = session._execution.public, client.EngineProcess.asked
    died: list[int] = []

    def dies(process: client.EngineProcess, word: str, *values: object) -> object:
        if word in ("public", "stage") and not died:
            died.append(process.pid)
            process.kill()
        return rows(process, word, *values)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client.EngineProcess, "asked", dies)
        assert len(read(tables)) == 2
    assert died


COLUMN = 'SELECT "t0"."region" FROM "source"."main"."places" AS "t0"'


def test_what_was_ended_for_its_time_is_not_read_again(
    session: Session, releases: list[int]
) -> None:
    """Both readings have the time of one stage together."""
    limited(session, 1)
    began, read = time.monotonic(), list[int]()

    def dies(process: client.EngineProcess) -> None:
        read.append(process.pid)
        time.sleep(max(0.0, began + 1.5 - time.monotonic()))
        process.kill()

    (error,) = answer_while(session, session.plan(ONE), dies)
    assert type(error) is ExecutionFailed and len(read) == 1 and releases == []


def test_what_was_ended_by_its_analyst_is_not_read_again(session: Session) -> None:
    """Also if the data are open again already."""
    plan, deadline = session.plan(ONE), Deadline()
    deadline.end()
    with process_of(session).hold() as held, within(deadline):
        reading = DuckDBReading(plan, held, 60.0)
        with pytest.raises(EngineDied):
            reading._begin_again(EngineDied(), time.monotonic() + 60.0)
