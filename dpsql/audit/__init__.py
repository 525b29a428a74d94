"""The audit: what an owner can see of the promise on their own data, at no cost to anybody's budget.

It reads private rows without a charge. So only the command line reaches it, never what serves analysts, and what it
says without being asked for details holds no figure of the data. Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dpsql.audit.advice import advice
from dpsql.audit.clock import REST, AuditClock, Expected, TimeIsUp
from dpsql.audit.empirical.lower_bound import check_epsilon, seconds_of_releases
from dpsql.audit.engine_process import process_checks
from dpsql.audit.ledger_chain import journal
from dpsql.audit.lockdown import lock_down
from dpsql.audit.report import (
    FOR_THE_OWNER,
    WITH_FIGURES,
    Check,
    Figure,
    Report,
    Room,
    as_data,
    in_tested_range,
    versions,
)
from dpsql.audit.samplers import CHOICES, DRAWS, check_samplers, seconds_of_samplers
from dpsql.audit.sensitivity.neighbours import Neighbours
from dpsql.audit.sensitivity.plans import Planner, planner, require_answered
from dpsql.audit.sensitivity.statements import check_sensitivity, seconds_of_statements
from dpsql.engines.opening import catalog_of
from dpsql.schema import Schema, load

__all__ = [
    "FOR_THE_OWNER", "WITH_FIGURES", "Asked", "Check", "Expected", "Figure", "Report", "Room", "as_data", "audit",
    "completed_schema",
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What an audit is to look at: statements beside those of the journal, and how much of it in how many minutes."""

    statements: Sequence[str] = ()
    epsilon_of: Sequence[str] = ()
    units: int = 24
    minutes: float = 10.0
    seed: int = 0
    draws: int = DRAWS
    choices: int = CHOICES
    releases: int = 10_000


def audit(
    path: Path, asked: Asked, tell: Callable[[str], None] = lambda line: None,
    foretell: Callable[[Expected], None] | None = None,
) -> Report:  # fmt: skip
    """The report on the database that a schema file describes; it charges nothing and answers nobody.

    While it looks, it tells the names that the report has for what is looked at, and the numbers of statements. Before
    that it foretells how long it will take, where somebody is to be told.
    ProgrammingError where a statement that was asked for is not answered: it would not be checked.
    """
    schema, clock = completed_schema(path), AuditClock(asked.minutes, tell)
    clock.tell("ledger")
    written = journal(schema)
    named = list(dict.fromkeys([*asked.statements, *asked.epsilon_of]))
    texts = list(dict.fromkeys([*named, *written.statements]))
    clock.tell("sensitivity: rows of each unit")
    neighbours = Neighbours(schema)
    try:
        with planner(schema, neighbours) as plans:
            require_answered(plans, named)
            if foretell is not None:
                _foretell(foretell, schema, neighbours, plans, texts, asked, clock)
            clock.tell("lock-down")
            locked = lock_down(schema, plans)
            rooms = [
                check_sensitivity(schema, neighbours, plans, texts, asked.units, asked.seed, clock),
                check_samplers(clock, asked.draws, asked.choices),
            ]
            if asked.epsilon_of:
                units = neighbours.choose(asked.units, asked.seed)
                rooms.append(check_epsilon(schema, neighbours, plans, asked.epsilon_of, units, clock, asked.releases))
    finally:
        neighbours.close()
    clock.tell("lock-down: the engine's process")
    locked = replace(locked, checks=(*in_tested_range(), *process_checks(schema), *locked.checks))
    clock.tell("schema")
    rooms += [locked, written.room, advice(path, schema)]
    return Report(schema.name, _promise(schema), datetime.now(UTC), versions(), tuple(rooms))


def _foretell(
    foretell: Callable[[Expected], None], schema: Schema, neighbours: Neighbours, plans: Planner, texts: Sequence[str],
    asked: Asked, clock: AuditClock,
) -> None:  # fmt: skip
    """Time a small part of the work, and say how long all of it will take; nothing where even the part is too long."""
    clock.tell("how long it will take")
    with suppress(TimeIsUp):
        seconds = seconds_of_statements(neighbours, plans, texts, asked.units, asked.seed, clock)
        seconds += seconds_of_releases(schema, plans, asked.epsilon_of, clock, asked.releases)
        seconds += seconds_of_samplers(asked.draws, asked.choices) + REST
        foretell(Expected(seconds, len(texts), asked.units, asked.minutes))


def completed_schema(path: Path) -> Schema:
    """The schema that a file declares, with what the catalogue of its data adds to it."""
    declared = load(path)
    return declared.with_catalog(catalog_of(declared))


def _promise(schema: Schema) -> str:
    privacy = schema.privacy
    relation = "with and without" if privacy.neighbours == "add-remove" else "replaced by"
    said = f"ε = {float(privacy.epsilon):.10g}, δ = {float(privacy.delta):.10g}"
    return f"{said} for one {privacy.unit}, {relation} {'it' if privacy.neighbours == 'add-remove' else 'another'}"
