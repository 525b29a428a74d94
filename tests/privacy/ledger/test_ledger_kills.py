"""Kill −9 at the steps of an answer: what the engine was asked for was paid for,
and the ledger is whole.
"""

from __future__ import annotations

import os
import signal
import sys
from ast import literal_eval
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FrameType

import duckdb
import pytest
from forks import begin_fork
from places import Place

import dpsql
from dpsql.privacy.ledger import Ledger, LedgerIdentity
from dpsql.session.database import open_database

SQL = "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients WHERE bmi > {} GROUP BY male"

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "patients.id"
epsilon = 3
delta = 1e-6
[tables.patients]
max_rows_per_unit = 1
[tables.patients.columns]
id = { type = "integer" }
male = { type = "boolean" }
bmi = { type = "integer", bounds = [0, 1000] }
"""

#: The rooms between a plan and its answer. A step in them is the first call of a function.
ROOMS = (
    "session/session.py",
    "session/answering.py",
    "session/execution.py",
    "session/side_channels.py",
    "session/side_channels.py",
    "privacy/accountant.py",
    "privacy/ledger/journal.py",
    "engines/duckdb/engine.py",
    "release/noise_addition.py",
    "session/answer_store/store.py",
)

#: Where the ledger's store is spoken to. A step in them is that a statement is sent,
#: and that it is #: done.
STORES = tuple(
    f"privacy/ledger/{name}.py"
    for name in ("stores/sqlite", "journal", "stored_answers", "stores/pages")
)
HOME = f"{Path(dpsql.__file__).parent}/"

Step = tuple[str, str, str, int]


@dataclass
class Steps:
    """Writes the steps down, and ends the process without a word at one of them."""

    report: int
    last: Step | None
    taken: list[Step] = field(default_factory=list)
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        room = code.co_filename.removeprefix(HOME)
        name = getattr(argument, "__name__", "") if event.startswith("c_") else code.co_name
        if (room, code.co_qualname, event) == (
            "engines/duckdb/engine.py",
            "DuckDBEngine.run",
            "call",
        ):
            os.write(self.report, b"asked;")
        sent = name == "execute" and (
            (room in STORES and event.startswith("c_")) or (room.endswith("psycopg/connection.py"))
        )
        step = (f"{room}:{code.co_qualname}", name, event)
        if not sent and (room not in ROOMS or event != "call" or self.times[step]):
            return
        self.times[step] += 1
        self.taken.append((*step, self.times[step]))
        if self.taken[-1] == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def executed(place: Place, number: int, last: Step | None) -> str:
    """What a child said that executed a statement up to a step:
    whether it asked the engine and whether it answered.
    """
    reading, report = os.pipe()

    def answer() -> None:
        session = open_database("clinic.toml", place.name).session("ada")
        session.epsilon = Fraction(1, 1000)
        session.set("dpsql.reuse", "off")  # what others were told is not read before the charge
        steps = Steps(report, last)
        plan = session.plan(SQL.format(number))  # knows neither the ledger nor the engine's rows
        sys.setprofile(steps)
        session.answer(plan)
        sys.setprofile(None)
        os.write(report, f"answered;{steps.taken!r}".encode())

    child = begin_fork(answer)
    os.close(report)
    with os.fdopen(reading) as said:
        words = said.read()
    status = os.waitpid(child, 0)[1]
    assert last is None or os.waitstatus_to_exitcode(status) == -signal.SIGKILL, (last, words)
    return words


def tried(steps: list[Step]) -> list[Step]:
    """All steps at which the ledger's store is spoken to, and of those between them,
    where it stays, every third.
    """
    return [step for place, step in enumerate(steps) if step[1] == "execute" or place % 3 == 0]


def test_a_process_that_is_killed_anywhere_has_paid_for_what_it_read(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clinic.toml").write_text(SCHEMA, encoding="utf-8")
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT i AS id, i % 2 = 0 AS male, 20 + i % 20 AS bmi FROM range(100) r(i)"
        )
    with closing(
        open_database("clinic.toml", "warm.ledger")
    ) as warm:  # what a child need not load, and plan, again
        warm.session("ada").execute(SQL.format(0))
    assert executed(place, 0, None).startswith("asked;answered;")
    said = executed(
        place, 1, None
    )  # the first finds no entry before it, and takes a few steps less
    steps = tried(literal_eval(said.removeprefix("asked;answered;")))
    ledger, paid = (
        Ledger.open(place.name, LedgerIdentity("clinic", "patients.id", "add-remove")),
        [],
    )
    for number, step in enumerate(steps, 2):
        before = ledger.verify()
        said = executed(place, number, step)
        with ledger._store.transaction(write=True):
            # a server that was sent COMMIT holds its lock until it is done, whoever died meanwhile
            pass
        paid.append(ledger.verify() - before)
        assert paid[-1] == 1 if said == "asked;" else said == "", (step, said)
    charged = paid.index(1)
    assert 10 < charged < len(steps) - 20
    assert paid == [0] * charged + [1] * (len(steps) - charged)
    before = ledger.verify()
    assert executed(place, 0, None).startswith("answered;")  # paid for by the first
    assert executed(place, len(steps) + 2, None).startswith("asked;answered;")
    assert ledger.verify() == before + 1
