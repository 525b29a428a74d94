"""Planning, describing and explaining cost nothing and touch nothing:
the engine here fails when touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from databases import clinic

from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.errors import ExecutionFailed
from dpsql.schema import load
from dpsql.session import Session, open_accountant
from dpsql.sql.emit.duckdb import DUCKDB


class Touched(AssertionError):
    """Somebody asked the engine for something."""


class FailingEngine:
    """An engine that may not be touched, and remembers that it was."""

    dialect = DUCKDB
    readings = 0

    def dry_run(self, plan: object) -> None:
        pass

    def version(self) -> None:
        return None

    def run(self, charge: object) -> NoReturn:
        self.readings += 1
        raise Touched

    def hold(self, opening: object) -> FailingEngine:
        return self

    def __enter__(self) -> FailingEngine:
        return self

    def __exit__(self, *trouble: object) -> None:
        pass

    def public_rows(self, table: str, opening: Callable[[], None] = lambda: None) -> NoReturn:
        raise Touched

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        return (
            1 if "GROUP BY" in sql else 10
        )  # how large a public table is, is public: planning may ask

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return []

    def close(self) -> None:
        pass


@pytest.fixture
def engine() -> FailingEngine:
    return FailingEngine()


@pytest.fixture
def session(tmp_path: Path, engine: FailingEngine) -> Iterator[Session]:
    schema = load(clinic(tmp_path))
    schema = schema.with_catalog(read_catalog(schema.source_path))
    opened = Session(schema, engine, open_accountant(schema), "ada")
    yield opened
    assert not engine.readings
    opened.close()


STATEMENTS = (
    "SELECT sex, COUNT(*), AVG(weight) FROM patients GROUP BY sex",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT region, SUM(cost) FROM visits JOIN places USING (place) GROUP BY region HAVING SUM(cost) > 1 ORDER BY 2",
    "SELECT region FROM places",
    "SELECT COUNT(*) FROM visits WHERE cost > 3",
)


@pytest.mark.parametrize("text", STATEMENTS)
def test_plan_and_explain_touch_nothing(session: Session, text: str) -> None:
    before = session.remaining
    plan = session.plan(text)
    assert plan == session.plan(text) and plan.columns
    assert str(session.explain(text))
    assert session.execute(f"EXPLAIN PRIVACY {text}").rows
    assert session.remaining == before


@pytest.mark.parametrize(
    "text", ["SHOW dpsql.budget", "SHOW dpsql.epsilon", "SET dpsql.epsilon = 0.5", "BEGIN"]
)
def test_settings_touch_nothing(session: Session, text: str) -> None:
    before = session.remaining
    session.execute(text)
    assert session.remaining == before


@pytest.mark.parametrize(
    "text", ["SELECT name FROM patients", "SELECT 1 FROM nowhere", "DROP TABLE patients", "SELEC"]
)
def test_refusals_touch_nothing(session: Session, text: str) -> None:
    before = session.remaining
    with pytest.raises(Exception) as raised:
        session.execute(text)
    assert not isinstance(raised.value, Touched)
    assert session.remaining == before


def test_answering_touches_the_engine_after_the_charge(
    session: Session, engine: FailingEngine
) -> None:
    before = session.remaining.spent
    plan = session.plan("SELECT COUNT(*) FROM patients")
    with pytest.raises(ExecutionFailed):
        session.answer(plan)
    assert engine.readings == 1
    assert session.remaining.spent.rho == before.rho + plan.cost.rho
    engine.readings = 0
