"""The audit: checks of the privacy promise on the owner's own data, at no cost to the budget.

It reads private rows without a charge. So only its command can import it, never code that serves
analysts, and a report without details holds no figure of the data. Proved in
``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dpsql.audit.advice import advice
from dpsql.audit.clock import REST, AuditClock, AuditTimeout, ExpectedDuration
from dpsql.audit.empirical.lower_bound import check_epsilon, seconds_of_releases
from dpsql.audit.engine_process import process_checks
from dpsql.audit.ledger_chain import check_ledger
from dpsql.audit.lockdown import lock_down
from dpsql.audit.report import (
    FOR_THE_OWNER,
    WITH_FIGURES,
    AuditCheck,
    AuditReport,
    CheckGroup,
    PrivateFigure,
    as_data,
    in_tested_range,
    versions,
)
from dpsql.audit.samplers import CHOICES, DRAWS, check_samplers, seconds_of_samplers
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import Planner, planner, require_answered
from dpsql.audit.sensitivity.statements import check_sensitivity, seconds_of_statements
from dpsql.engines.opening import catalog_of
from dpsql.engines.public_bounds import with_public_bounds
from dpsql.engines.remote.copies import copied_schema
from dpsql.schema import Schema, load

__all__ = [
    "FOR_THE_OWNER",
    "WITH_FIGURES",
    "AuditCheck",
    "AuditReport",
    "AuditRequest",
    "CheckGroup",
    "ExpectedDuration",
    "PrivateFigure",
    "as_data",
    "audit",
    "completed_schema",
]


@dataclass(frozen=True)
class AuditRequest:
    """What an audit checks, and how thoroughly.

    Attributes:
        statements: Statements to check besides those of the ledger.
        epsilon_of: Statements whose ε is bounded from below by many releases.
        units: How many units are left out, one by one.
        minutes: The most that the audit takes.
        seed: Chooses units at random.
        draws: Samples of each noise sampler.
        choices: Samples of each mechanism that chooses.
        releases: Releases of each statement of ``epsilon_of`` on each neighbour."""

    statements: Sequence[str] = ()
    epsilon_of: Sequence[str] = ()
    units: int = 24
    minutes: float = 10.0
    seed: int = 0
    draws: int = DRAWS
    choices: int = CHOICES
    releases: int = 10_000


def audit(
    path: Path,
    asked: AuditRequest,
    tell: Callable[[str], None] = lambda line: None,
    foretell: Callable[[ExpectedDuration], None] | None = None,
) -> AuditReport:
    """Audit the database of a schema file; nothing is charged, and no analyst gets an answer.

    Args:
        path: The schema file.
        asked: What to check, and how thoroughly.
        tell: Called with a line of progress at each step.
        foretell: Called once, at the start, with the expected duration.

    Raises:
        ProgrammingError: A statement that was asked for is refused under the schema,
            so it cannot be checked.
    """
    with copied_schema(load(path)) as declared:
        return _audited(path, declared, asked, AuditClock(asked.minutes, tell), foretell=foretell)


def _audited(
    path: Path,
    declared: Schema,
    asked: AuditRequest,
    clock: AuditClock,
    foretell: Callable[[ExpectedDuration], None] | None,
) -> AuditReport:
    schema = declared.with_catalog(catalog_of(declared))
    clock.tell("ledger")
    written = check_ledger(schema)
    named = list(dict.fromkeys([*asked.statements, *asked.epsilon_of]))
    texts = list(dict.fromkeys([*named, *written.statements]))
    clock.tell("sensitivity: rows of each unit")
    neighbours = NeighbourDatabases(schema)
    schema = with_public_bounds(schema, neighbours.public_row)
    try:
        with planner(schema, neighbours) as plans:
            require_answered(plans, named)
            if foretell is not None:
                _foretell(
                    foretell,
                    schema,
                    neighbours=neighbours,
                    plans=plans,
                    texts=texts,
                    asked=asked,
                    clock=clock,
                )
            clock.tell("lock-down")
            locked = lock_down(schema, plans)
            groups = [
                check_sensitivity(
                    schema,
                    neighbours,
                    planner=plans,
                    texts=texts,
                    most=asked.units,
                    seed=asked.seed,
                    clock=clock,
                ),
                check_samplers(clock, asked.draws, asked.choices),
            ]
            if asked.epsilon_of:
                units = neighbours.choose(asked.units, asked.seed)
                groups.append(
                    check_epsilon(
                        schema,
                        neighbours,
                        planner=plans,
                        texts=asked.epsilon_of,
                        units=units,
                        clock=clock,
                        draws=asked.releases,
                    )
                )
    finally:
        neighbours.close()
    clock.tell("lock-down: the engine's process")
    locked = replace(locked, checks=(*in_tested_range(), *process_checks(schema), *locked.checks))
    clock.tell("schema")
    groups += [locked, written.group, advice(path, schema)]
    return AuditReport(
        schema.name, _promise(schema), datetime.now(UTC), versions(), groups=tuple(groups)
    )


def _foretell(
    foretell: Callable[[ExpectedDuration], None],
    schema: Schema,
    neighbours: NeighbourDatabases,
    plans: Planner,
    texts: Sequence[str],
    asked: AuditRequest,
    clock: AuditClock,
) -> None:
    """Time a small part of the work and estimate the whole; say nothing if even that is too long."""
    clock.tell("how long it will take")
    with suppress(AuditTimeout):
        seconds = seconds_of_statements(
            neighbours, plans, texts, asked.units, seed=asked.seed, clock=clock
        )
        seconds += seconds_of_releases(schema, plans, asked.epsilon_of, clock, draws=asked.releases)
        seconds += seconds_of_samplers(asked.draws, asked.choices) + REST
        foretell(ExpectedDuration(seconds, len(texts), asked.units, asked.minutes))


def completed_schema(path: Path) -> Schema:
    """The schema of a file, completed by the catalogue of its data."""
    declared = load(path)
    return declared.with_catalog(catalog_of(declared))


def _promise(schema: Schema) -> str:
    privacy = schema.privacy
    relation = "with and without" if privacy.neighbours == "add-remove" else "replaced by"
    loss = f"ε = {float(privacy.epsilon):.10g}, δ = {float(privacy.delta):.10g}"
    return f"{loss} for one {privacy.unit}, {relation} {'it' if privacy.neighbours == 'add-remove' else 'another'}"
