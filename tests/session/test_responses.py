"""What leaves dpsql on neighbouring databases, with the noise frozen: outcome, words, names,
types, charge and time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from neighbouring_clinics import (
    ANSWERED,
    FAILING,
    LACKING,
    REFUSED,
    STAGED,
    THRESHOLDED,
    FrozenMechanisms,
    neighbour,
)
from timed_engine import Clock, TimedEngine, completed

from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.errors import Error, ExecutionFailed
from dpsql.schema import load
from dpsql.session import Session, open_accountant
from dpsql.session.database import Database

EVERY = (*ANSWERED, *STAGED, *THRESHOLDED, *FAILING, *REFUSED)
#: Seconds on the test's clock for each exact row, so that the data make up how long a stage takes.
A_ROW = 0.011


@dataclass(frozen=True)
class Response:
    """All that a statement gives away but its released values; ``rows`` are these,
    with their intervals.
    """

    outcome: str
    charge: str
    asked: tuple[str, ...]
    leaves: float
    rows: str


@contextmanager
def database(folder: Path, lacking: str, settings: str = "") -> Iterator[tuple[Database, Clock]]:
    """A neighbour of the clinic, whose engine takes time by the rows that it finds."""
    clock, schema = Clock(), completed(load(neighbour(folder / lacking, lacking, settings)))
    engine = TimedEngine(DuckDBEngine(schema), lambda rows: clock.work(A_ROW * (rows + 1)))
    opened = Database(schema, engine, open_accountant(schema))
    try:
        yield opened, clock
    finally:
        opened.close()


def response(session: Session, clock: Clock, mechanisms: FrozenMechanisms, text: str) -> Response:
    """What comes of the statement."""
    before, begun = session.remaining.spent, clock.time
    mechanisms.asked.clear()
    rows = ""
    try:
        result = session.execute(text)
        outcome = repr((result.columns, result.price, result.notices))
        rows = repr((result.rows, result.intervals))
    except Error as error:
        outcome = repr(
            (type(error), str(error), error.sqlstate, error.__cause__, error.__context__)
        )
    asked = mechanisms.asked
    if (
        text in THRESHOLDED
    ):  # each group that is shown, which is released, has a choice and counts around it
        chosen = [each.startswith(("Concentrated", "Exponential")) for each in asked]
        asked = [
            each
            for each, is_one, was_one in zip(asked, chosen, [False, *chosen], strict=False)
            if not is_one and not was_one
        ]
    spent = session.remaining.spent
    charge = f"{spent.rho - before.rho} {spent.epsilon} {spent.delta - before.delta}"
    return Response(outcome, charge, tuple(asked), round(clock.time - begun, 6), rows)


def responses(
    folder: Path, lacking: str, mechanisms: FrozenMechanisms, settings: str = ""
) -> dict[str, Response]:
    """What comes of all of the statements, by turns."""
    with database(folder, lacking, settings) as (opened, clock):
        session = opened.session("ada")
        session._execution.clock = clock
        session.set("dpsql.reuse", "off")
        return {text: response(session, clock, mechanisms, text) for text in EVERY}


@pytest.fixture
def mechanisms(monkeypatch: pytest.MonkeyPatch) -> FrozenMechanisms:
    return FrozenMechanisms(monkeypatch)


def test_neighbours_answer_alike(tmp_path: Path, mechanisms: FrozenMechanisms) -> None:
    respond = partial(responses, mechanisms=mechanisms, settings="time_bucket = 60\n")
    whole = respond(tmp_path, LACKING[0])
    kinds = {text: each.outcome.startswith("(<class") for text, each in whole.items()}
    assert all(kinds[text] for text in FAILING) and not any(
        kinds[text] for text in (*ANSWERED, *STAGED, *THRESHOLDED)
    )
    assert {whole[text].leaves for text in (*THRESHOLDED, *FAILING)} == {60.0}
    assert {whole[text].leaves for text in STAGED} == {120.0} and not any(
        whole[text].leaves for text in REFUSED
    )
    for lacking in LACKING[1:]:
        for text, here in respond(tmp_path, lacking).items():
            there = whole[text]
            assert (here.outcome, here.charge, here.asked, here.leaves) == (
                there.outcome,
                there.charge,
                there.asked,
                there.leaves,
            ), (lacking, text)
            assert text in THRESHOLDED or here.rows == there.rows, (lacking, text)


def test_without_buckets_time_tells_them_apart(
    tmp_path: Path, mechanisms: FrozenMechanisms
) -> None:
    """So the test above would see it."""
    whole = responses(tmp_path, LACKING[0], mechanisms)
    nobody = responses(tmp_path, LACKING[-1], mechanisms)
    told = [text for text in EVERY if whole[text].leaves != nobody[text].leaves]
    assert set(told) & set(THRESHOLDED)


def test_an_engine_that_fails_fails_alike(
    tmp_path: Path, mechanisms: FrozenMechanisms, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words hold what it found; none of them is in the response,
    on the neighbours least and most alike.
    """
    read = DuckDBReading._rows

    def fail(reading: DuckDBReading, *stage: object) -> None:
        raise RuntimeError(f"CANARY_7f3a {read(reading, *stage)}")  # type: ignore[arg-type]

    monkeypatch.setattr(DuckDBReading, "_rows", fail)
    respond = partial(responses, mechanisms=mechanisms, settings="time_bucket = 60\n")
    whole = respond(tmp_path, LACKING[0])
    failed = [text for text in EVERY if ExecutionFailed.__name__ in whole[text].outcome]
    assert set(failed) == {*ANSWERED, *STAGED, *THRESHOLDED, *FAILING} - {
        "SELECT region FROM places ORDER BY region"
    }
    assert len({whole[text].outcome for text in failed}) == 1 and not any(
        whole[text].rows for text in failed
    )
    for lacking in LACKING[1::4]:
        assert respond(tmp_path, lacking) == whole, lacking
