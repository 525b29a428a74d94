"""A private database: schema, engine, accountant and ledger,
opened once for one session or those of many threads.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpsql.engines.engine import Engine
from dpsql.engines.opening import open_engine
from dpsql.errors import Error, InternalError, incident_note, statement_incident
from dpsql.errors.owners_log import record
from dpsql.postprocessing import PostProcessors
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import SMALLEST_SHARE, Budget
from dpsql.privacy.filter import AnswersLeft, FilterState
from dpsql.privacy.ledger import (
    NAMELESS,
    DatabaseNames,
    Ledger,
    LedgerIdentity,
    ledger_path,
    names_of,
)
from dpsql.privacy.measure import FREE, shown
from dpsql.schema import Privacy, Schema, load
from dpsql.schema.privacy import Analyst, Noise
from dpsql.session.answer_store import AnswerStore
from dpsql.session.named_releases import NamedReleases
from dpsql.session.named_releases.synopses import SynopsisViews
from dpsql.session.plan_cache import PlanCache
from dpsql.session.pricing.noise_choice import ordinary_answers, usual_costs
from dpsql.session.public_tables import PublicTables
from dpsql.session.session import Session
from dpsql.sql.binder.binding_state import PEOPLE, TOOLS, FrontendOptions

__all__ = [
    "PEOPLE",
    "TOOLS",
    "Database",
    "DatabaseLedger",
    "FrontendOptions",
    "capped",
    "ledger_of",
    "open_accountant",
    "open_database",
    "open_session",
    "statements_paid_for",
    "total_budget",
]


class Database:
    """A private database. Sessions on it are cheap; each thread needs its own."""

    def __init__(self, schema: Schema, engine: Engine, accountant: Accountant) -> None:
        self._schema = schema
        self._engine = engine
        self._accountant = accountant
        self._named = NamedReleases(schema, accountant.ledger, engine.version)
        rows = self._named.rows(PublicTables(engine, schema.privacy.time_bucket).rows)
        self._postprocessors = PostProcessors(lambda: self._named.schema, rows, engine.version)
        self._answers = _open_answers(schema, engine, accountant, self._named, keeps_results=True)
        self._plans = PlanCache()

    @property
    def schema(self) -> Schema:
        """What the owner declares, with the synthetic tables among the public ones."""
        return self._named.schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    def session(
        self, analyst: str = "analyst", frontend_options: FrontendOptions = PEOPLE
    ) -> Session:
        """A session in the name of an analyst; closing it leaves the database open.

        Args:
            analyst: The name whose budget is charged.
            frontend_options: The choices of a front end where SQL dialects differ;
                `TOOLS` is for PostgreSQL clients.
        """
        return Session(
            self._schema,
            self._engine,
            self._accountant,
            analyst,
            postprocessors=self._postprocessors,
            answers=self._answers,
            frontend_options=frontend_options,
            plans=self._plans,
            named=self._named,
        )

    def answers_left(self) -> AnswersLeft:
        """How many ordinary answers the whole budget has left,
        of how many where nothing is spent.
        """
        privacy = self._schema.privacy
        return ordinary_answers(privacy, privacy.query_epsilon, self._accountant.remaining())

    def close(self) -> None:
        """Close the engine, the sandboxes and the ledger; charges stay."""
        self._postprocessors.close()
        self._engine.close()
        self._accountant.ledger.close()


def open_database(schema: Schema | str | Path, ledger: str | Path | None = None) -> Database:
    """Open the database that a schema file or a loaded schema describes;
    ``ledger`` replaces the schema's ledger.
    """
    with _opening():
        completed, engine = open_engine(_declared_schema(schema))
        return Database(completed, engine, open_accountant(completed, ledger))


def open_session(
    schema: Schema | str | Path, analyst: str = "analyst", ledger: str | Path | None = None
) -> Session:
    """Open a session; closing it closes the engine and the ledger.

    Args:
        schema: The schema file of the database, or a loaded schema.
        analyst: The name whose budget is charged.
        ledger: A ledger for the owner's tools; by default the schema's, or the one beside the data.

    Raises:
        SchemaError: The schema file is not valid, or its budget admits nothing.
        LedgerError: The ledger cannot be opened, or is not that of this database.
    """
    with _opening():
        completed, engine = open_engine(_declared_schema(schema))
        accountant = open_accountant(completed, ledger)
        named = NamedReleases(completed, accountant.ledger, engine.version)
        answers = _open_answers(completed, engine, accountant, named)
        return Session(completed, engine, accountant, analyst, answers=answers, named=named)


@contextmanager
def _opening() -> Iterator[None]:
    """Open a database inside; a fault of dpsql becomes an InternalError that says that nothing was
    charged.
    """
    with statement_incident() as number:
        try:
            yield
            return
        except (Error, OSError):
            raise
        except Exception as error:
            record("opening the database", error)
    fault = InternalError(
        "E_INTERNAL the opening of the data met a fault of dpsql; nothing was charged"
    )
    fault.add_note(incident_note(number))
    raise fault


def _open_answers(
    schema: Schema,
    engine: Engine,
    accountant: Accountant,
    named: NamedReleases,
    *,
    keeps_results: bool = False,
) -> AnswerStore | None:
    """The store of the database's released answers, synopses among them;
    None if its owner keeps none.
    """
    if not schema.privacy.keep_answers:
        return None
    return AnswerStore(
        accountant.ledger, engine.version, SynopsisViews(named), keeps_results=keeps_results
    )


def _declared_schema(schema: Schema | str | Path) -> Schema:
    """Load the schema, if it is given as a file."""
    return schema if isinstance(schema, Schema) else load(schema)


def open_accountant(schema: Schema, ledger: str | Path | None = None) -> Accountant:
    """Open the accountant of a database on the ledger that all sessions share."""
    at = ledger_of(schema, ledger)
    journal = Ledger.open(at.place, at.belongs, at.names)
    return Accountant(journal, total_budget(schema), _caps(schema), schema.privacy.refresh)


@dataclass(frozen=True)
class DatabaseLedger:
    """The place of a ledger, the database that it belongs to,
    and the names by which the machine remembers it.
    """

    place: str | Path
    belongs: LedgerIdentity
    names: DatabaseNames


def ledger_of(schema: Schema, ledger: str | Path | None = None) -> DatabaseLedger:
    """The location of a database's ledger; one that the owner names is remembered by its path alone."""
    belongs = LedgerIdentity(schema.name, schema.privacy.unit, schema.privacy.neighbours)
    if ledger is not None:
        return DatabaseLedger(ledger, belongs, NAMELESS)
    names = names_of(schema.name, schema.data_place, schema.path)
    return DatabaseLedger(schema.ledger_place or ledger_path(schema.data_place), belongs, names)


def statements_paid_for(schema: Schema) -> Mapping[Noise, int]:
    """For each noise that the schema allows,
    how many statements at its price and with declared keys the budget admits.

    The numbers are lower bounds. Raises SchemaError where `open_accountant` does.
    """
    unspent = FilterState(None, total_budget(schema), FREE)
    privacy = schema.privacy
    costs = usual_costs(privacy, privacy.query_epsilon)
    return {noise: unspent.affordable(cost) for noise, cost in costs.items()}


def total_budget(schema: Schema) -> Budget:
    """The budget of the whole database.

    Raises SchemaError if it does not hold the statements that the owner fixed beforehand, or if the
    price of a statement is so small a part of it that every statement would be refused."""
    total = Budget(schema.privacy.epsilon, schema.privacy.delta, rule=schema.privacy.accountant)
    _require_price(schema, total)
    _require_fixed_statements_fit(schema, total)
    return total


def _caps(schema: Schema) -> Mapping[str, Budget]:
    return {name: capped(analyst, schema.privacy) for name, analyst in schema.analysts.items()}


def capped(analyst: Analyst, privacy: Privacy) -> Budget:
    """The cap of an analyst as a budget. Raises DataError if the accountant needs a missing δ."""
    delta = privacy.delta if analyst.delta is None else analyst.delta
    return Budget(analyst.epsilon or privacy.epsilon, delta, rule=privacy.accountant)


def _require_price(schema: Schema, total: Budget) -> None:
    """Raise SchemaError if the price of a statement is below 2**-40 of the budget."""
    price = schema.privacy.query_epsilon
    least = total.epsilon * SMALLEST_SHARE
    if price < least:
        fault = f"{shown(price)} is below {shown(least)}, 2**-40 of epsilon, so that every statement at it is refused"
        mend = f"set query_epsilon to a small part of epsilon, such as {shown(total.epsilon / 100)}"
        raise schema.error([f"privacy, query_epsilon: {fault}; {mend}"])


def _require_fixed_statements_fit(schema: Schema, total: Budget) -> None:
    """Raise SchemaError if the budget does not hold the statements that the owner fixed
    beforehand.
    """
    unfit = total.rule.unfit(total.promise)
    if unfit is not None:
        raise schema.error([f"accountant: {unfit}"])
