"""A private database that is opened once and shared by sessions of many threads: schema, engine and accountant."""

from __future__ import annotations

from pathlib import Path

from dpsql.engines.engine import Engine
from dpsql.engines.opening import open_engine
from dpsql.postprocessing import PostProcessors
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.filter import AnswersLeft
from dpsql.schema import Schema
from dpsql.session import Session, open_accountant
from dpsql.session.execution import timed_rows
from dpsql.session.named_releases import NamedReleases
from dpsql.session.opening import declared_schema, open_answers
from dpsql.session.plan_cache import PlanCache
from dpsql.session.pricing.noise_choice import ordinary_answers
from dpsql.sql.ir.frontend_options import PEOPLE, TOOLS, FrontendOptions

__all__ = ["PEOPLE", "TOOLS", "Database", "FrontendOptions", "open_database"]


class Database:
    """A private database. Sessions on it are cheap; each thread needs its own."""

    def __init__(self, schema: Schema, engine: Engine, accountant: Accountant) -> None:
        self._schema, self._engine, self._accountant = schema, engine, accountant
        self._named = NamedReleases(schema, accountant.ledger, engine.version)
        rows = self._named.rows(timed_rows(engine, schema.privacy.time_bucket))
        self._postprocessors = PostProcessors(lambda: self._named.schema, rows, engine.version)
        self._answers, self._plans = (
            open_answers(schema, engine, accountant, self._named, keeps_results=True),
            PlanCache(),
        )

    @property
    def schema(self) -> Schema:
        """What the owner declares, with the synthetic tables among the public ones."""
        return self._named.schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    def session(self, analyst: str = "analyst", frontend_options: FrontendOptions = PEOPLE) -> Session:
        """A session in the name of an analyst; closing it leaves the database open.

        Args:
            analyst: The name whose budget is charged.
            frontend_options: The choices of a front end where SQL dialects differ; `TOOLS` is for PostgreSQL clients.
        """
        return Session(
            self._schema, self._engine, self._accountant, analyst, postprocessors=self._postprocessors,
            answers=self._answers, frontend_options=frontend_options, plans=self._plans, named=self._named,
        )  # fmt: skip

    def answers_left(self) -> AnswersLeft:
        """How many ordinary answers the whole budget has left, of how many where nothing is spent."""
        privacy = self._schema.privacy
        return ordinary_answers(privacy, privacy.query_epsilon, self._accountant.remaining())

    def close(self) -> None:
        """Close the engine, the sandboxes and the ledger; charges stay."""
        self._postprocessors.close()
        self._engine.close()
        self._accountant.ledger.close()


def open_database(schema: Schema | str | Path, ledger: str | Path | None = None) -> Database:
    """Open the database that a schema file or a loaded schema describes; ``ledger`` replaces the schema's ledger."""
    completed, engine = open_engine(declared_schema(schema))
    return Database(completed, engine, open_accountant(completed, ledger))
