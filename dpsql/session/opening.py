"""How a session is opened: the engine, the accountant, the shared ledger, and how many statements the budget admits.

Proved in ``docs/proofs/execution.md`` and ``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpsql.engines.engine import Engine
from dpsql.engines.opening import open_engine
from dpsql.planning.calibration import mechanism
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import SMALLEST_SHARE, Budget
from dpsql.privacy.filter import FilterState
from dpsql.privacy.ledger import NAMELESS, DatabaseNames, Ledger, LedgerIdentity, ledger_path, names_of
from dpsql.privacy.measure import FREE, Cost, shown
from dpsql.schema import Schema, load
from dpsql.schema.privacy import Noise
from dpsql.session.answer_store import AnswerStore
from dpsql.session.conversation import Session
from dpsql.sql.analysis.contribution import Norm, counted_once, norm_of


def open_session(schema: Schema | str | Path, analyst: str = "analyst", ledger: str | Path | None = None) -> Session:
    """A session on the database that a schema file (or a loaded schema) describes; closing it closes what it opened.

    ``ledger`` is for the owner's tools; by default it is the schema's, or the one that lies beside the data.
    """
    completed, engine = open_engine(declared_schema(schema))
    accountant = open_accountant(completed, ledger)
    return Session(completed, engine, accountant, analyst, answers=open_answers(completed, engine, accountant))


def open_answers(
    schema: Schema, engine: Engine, accountant: Accountant, *, keeps_results: bool = False
) -> AnswerStore | None:
    """The answers that the database has paid for; None where its owner keeps none."""
    if not schema.privacy.keep_answers:
        return None
    return AnswerStore(accountant.ledger, engine.version, keeps_results=keeps_results)


def declared_schema(schema: Schema | str | Path) -> Schema:
    """The schema that a file declares, or the one that is given."""
    return schema if isinstance(schema, Schema) else load(schema)


def open_accountant(schema: Schema, ledger: str | Path | None = None) -> Accountant:
    """The accountant of a schema's database, on the ledger that all its sessions share."""
    at = ledger_of(schema, ledger)
    journal = Ledger.open(at.place, at.belongs, at.names)
    return Accountant(journal, _total(schema), _caps(schema), schema.privacy.refresh)


@dataclass(frozen=True)
class LedgerOf:
    """Where the ledger of a database is, whose it is, and by which names the database is known again."""

    place: str | Path
    belongs: LedgerIdentity
    names: DatabaseNames


def ledger_of(schema: Schema, ledger: str | Path | None = None) -> LedgerOf:
    """The ledger of a schema's database, or another one that its owner names: that is known by its place alone."""
    belongs = LedgerIdentity(schema.name, schema.privacy.unit, schema.privacy.neighbours)
    if ledger is not None:
        return LedgerOf(ledger, belongs, NAMELESS)
    names = names_of(schema.name, schema.source_path, schema.path)
    return LedgerOf(schema.ledger_place or ledger_path(schema.source_path), belongs, names)


def statements_paid_for(schema: Schema) -> Mapping[Noise, int]:
    """How many statements of the schema's price, with one noise and declared keys, the whole budget admits at least.

    Noises that the schema does not allow are left out. SchemaError where the budget is none, as `open_accountant` says.
    """
    whole = FilterState(None, _total(schema), FREE)
    return {noise: whole.affordable(cost) for noise, cost in usual_costs(schema).items()}


def usual_costs(schema: Schema) -> Mapping[Noise, Cost]:
    """What a statement of the schema's price with declared keys costs at most, by each noise that is allowed.

    The noise that is taken where nobody asks for another comes first.
    """
    price, wanted = schema.privacy.query_epsilon, schema.privacy.mechanism
    costs: dict[Noise, Cost] = {}
    if schema.privacy.delta and not _total(schema).rule.adds_pure:
        costs["gaussian"] = Cost(None, price**2 / 2)
    costs["laplace"] = Cost(price, price**2 / 2)
    return {noise: cost for noise, cost in costs.items() if wanted in ("auto", noise)}


def _total(schema: Schema) -> Budget:
    """The budget of the whole database; SchemaError where it does not hold what the schema fixes beforehand, or where
    the price of a statement is so small a part of it that every statement would be refused."""
    total = Budget(schema.privacy.epsilon, schema.privacy.delta, rule=schema.privacy.accountant)
    _require_price(schema, total)
    _require_fixed_statements_fit(schema, total)
    return total


def _caps(schema: Schema) -> Mapping[str, Budget]:
    privacy, rule = schema.privacy, schema.privacy.accountant
    return {
        name: Budget(cap.epsilon or privacy.epsilon, privacy.delta if cap.delta is None else cap.delta, rule=rule)
        for name, cap in schema.analysts.items()
    }


def _require_price(schema: Schema, total: Budget) -> None:
    """Refuse a price of statements that is next to nothing of the budget."""
    price, least = schema.privacy.query_epsilon, total.epsilon * SMALLEST_SHARE
    if price < least:
        fault = f"{shown(price)} is below {shown(least)}, 2**-40 of epsilon, so that every statement at it is refused"
        mend = f"set query_epsilon to a small part of epsilon, such as {shown(total.epsilon / 100)}"
        raise schema.error([f"privacy, query_epsilon: {fault}; {mend}"])


def _require_fixed_statements_fit(schema: Schema, total: Budget) -> None:
    """Refuse statements that the owner fixed beforehand and the budget does not hold."""
    unfit = total.rule.unfit(total.promise)
    if unfit is not None:
        raise schema.error([f"accountant: {unfit}"])


def count_costs(schema: Schema) -> Mapping[Noise, Cost]:
    """What a count of units costs at the schema's price, by each noise that is allowed.

    The noise that it has where nobody asks for another comes first. By Gaussian noise each statement with declared keys
    costs as much, by Laplace noise another ρ.
    """
    privacy = schema.privacy
    norms: dict[Noise, Norm] = {"gaussian": "l2"} if norm_of(privacy) == "l2" else {}
    norms |= {} if privacy.mechanism == "gaussian" else {"laplace": "l1"}
    return {
        noise: mechanism(counted_once(norm), norm, privacy.neighbours, privacy.query_epsilon, Fraction(1)).cost
        for noise, norm in norms.items()
    }
