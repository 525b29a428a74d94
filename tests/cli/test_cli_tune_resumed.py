"""A tuning whose reading failed is not charged again for the same find:
the next run takes its charge up.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_runs import NAFLD, Dpsql

from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.errors import OperationalError
from dpsql.privacy.ledger import Entry
from dpsql.privacy.measure import FREE
from dpsql.schema.authoring.missing_limits import missing_limits
from dpsql.session import open_accountant, open_session
from dpsql.session.tuning import tuner

RUN = ("schema", "tune", NAFLD, "--only", "limits", "--table", "labs", "--yes")
FREE_NOW = "Entry 1 has paid for this, and nothing was released for it: this takes it up, and charges nothing."
NEXT = "The charge stays, as entry 1; nothing was found, and nothing is written. Another run takes it up, and charges"


def entries(file: Path) -> list[Entry]:
    return list(open_accountant(missing_limits(file).schema).ledger.history())


@pytest.fixture
def file(checkout: Path) -> Path:
    return checkout / NAFLD


@pytest.fixture
def failed(dpsql: Dpsql, file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of which a tuning was charged and could not be read."""
    text = file.read_text()
    with monkeypatch.context() as patch:
        patch.setattr(DuckDBReading, "_rows", lambda *_: [][0])
        run = dpsql(*RUN)
    assert (
        run.code == 1
        and "E_EXEC" in run.err
        and NEXT in run.err
        and "reading: IndexError" in run.err
    )
    assert file.read_text() == text and len(entries(file)) == 1
    return file


def test_the_next_run_charges_nothing_and_finds(dpsql: Dpsql, failed: Path) -> None:
    run = dpsql(*RUN)
    assert run.code == 0 and FREE_NOW in run.err and "This takes" not in run.err, run.err
    paid, line = entries(failed)
    assert line.cost == FREE and line.total == paid.total == paid.cost
    assert "max_rows_per_unit = " in run.out and "found privately on" in failed.read_text()


def test_it_is_found_once_and_the_run_after_that_charges(dpsql: Dpsql, failed: Path) -> None:
    assert dpsql(*RUN).code == 0
    again = dpsql(*RUN)
    assert again.code == 0 and FREE_NOW not in again.err and "This charges anew." in again.err
    assert [each.cost == FREE for each in entries(failed)] == [False, True, False]


def test_it_may_fail_again_and_again(
    dpsql: Dpsql, failed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(DuckDBReading, "_rows", lambda *_: [][0])
        for _ in range(2):
            run = dpsql(*RUN)
            assert run.code == 1 and FREE_NOW in run.err and NEXT in run.err
    assert dpsql(*RUN).code == 0
    assert sum(each.cost != FREE for each in entries(failed)) == 1


def test_another_find_is_charged(dpsql: Dpsql, failed: Path) -> None:
    assert dpsql(*RUN, "--share", "1/50").code == 0
    assert [each.cost == FREE for each in entries(failed)] == [False, False]


def test_other_data_are_charged(dpsql: Dpsql, failed: Path) -> None:
    data = failed.parent.parent / "dpsql" / "data" / "nafld" / "labs.parquet"
    os.utime(data, ns=(1, 1))
    run = dpsql(*RUN)
    assert run.code == 0 and FREE_NOW not in run.err
    assert [each.cost == FREE for each in entries(failed)] == [False, False]


def test_what_was_drawn_is_not_drawn_again(
    dpsql: Dpsql, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a release failed may tell of its noise: nothing else is released for its charge."""
    with monkeypatch.context() as patch:
        for name in ("scan", "count"):
            if hasattr(sys.modules["dpsql.session.execution"], name):
                patch.setattr(f"dpsql.session.execution.{name}", lambda *_, **__: [][0])
        assert "Another run charges anew" in dpsql(*RUN).err
    assert dpsql(*RUN).code == 0
    assert [each.cost == FREE for each in entries(file)] == [False, False]


def test_who_was_told_that_it_charges_nothing_is_not_charged(
    dpsql: Dpsql, failed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may have taken it up between the word and the deed."""
    find = tuner.Tuner.find

    def late(self: tuner.Tuner, plan: object, **named: object) -> object:
        data = failed.parent.parent / "dpsql" / "data" / "nafld" / "labs.parquet"
        os.utime(data, ns=(1, 1))
        return find(self, plan, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(tuner.Tuner, "find", late)
    run = dpsql(*RUN)
    assert run.code == 2 and "nothing was charged" in run.err and len(entries(failed)) == 1


def test_ctrl_c_while_it_reads_gives_it_up(
    dpsql: Dpsql, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBReading, "stage", interrupted)
        assert NEXT in dpsql(*RUN).err
    assert dpsql(*RUN).code == 0 and sum(each.cost != FREE for each in entries(file)) == 1


def test_a_statement_is_not_resumed(failed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That a reading fails may depend on the data: an analyst pays for each that is seen."""
    with closing(open_session(missing_limits(failed).schema)) as session:
        before = session.remaining.spent.rho
        plan = session.plan("SELECT COUNT(*) FROM patients")
        with monkeypatch.context() as patch:
            patch.setattr(DuckDBReading, "_rows", lambda *_: [][0])
            for _ in range(2):
                with pytest.raises(OperationalError):
                    session.answer(plan)
        assert session.remaining.spent.rho == before + 2 * plan.cost.rho
