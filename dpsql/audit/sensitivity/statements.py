"""Runs each statement's SQL with and without real units, and compares the change with the claim.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import duckdb

from dpsql.audit.clock import AuditClock, AuditTimeout
from dpsql.audit.report import AuditCheck, CheckGroup, PrivateFigure
from dpsql.audit.sensitivity.claim_use import ClaimComparison, ClaimUsage
from dpsql.audit.sensitivity.claims import compare, malformed
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import Planner
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.errors import DatabaseError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.release.noise_addition import release
from dpsql.release.released_tables import NOTHING
from dpsql.schema import Schema

#: The exact rows of all cores of a plan; None for one on which the engine failed.
Exact = tuple[CoreRows | None, ...]
#: Statements that are run beforehand, to tell how long all will take.
_TIMED = 3


@dataclass(frozen=True)
class RunOnNeighbours:
    """The exact rows of a plan on the database and on those without one unit; private."""

    plan: Plan
    whole: Exact
    lacking: tuple[Exact, ...]

    def pairs(self, replaced: bool) -> Iterator[tuple[Exact, Exact]]:
        """The pairs of neighbours: the whole and one without a unit.

        If units are replaced, two without one.
        """
        if replaced:
            yield from combinations(self.lacking, 2)
        else:
            yield from ((self.whole, other) for other in self.lacking)


def check_sensitivity(
    schema: Schema,
    neighbours: NeighbourDatabases,
    planner: Planner,
    texts: Sequence[str],
    most: int,
    seed: int,
    clock: AuditClock,
) -> CheckGroup:
    """Check each statement, and the keys by which rows lead to their unit."""
    clock.tell("sensitivity: keys on the way to the unit")
    checks = [_check_unit_keys(schema, neighbours)]
    clock.tell("sensitivity: units to leave out")
    units = neighbours.choose(most, seed)
    for index, text in enumerate(texts, 1):
        clock.tell(f"sensitivity: statement {index} of {len(texts)}")
        checks.append(_statement(schema, neighbours, planner, text, units=units, clock=clock))
    return CheckGroup(
        "sensitivity",
        "left out one by one, the heaviest units of each table and others change no cell by more than the plan claims",
        tuple(checks),
    )


def seconds_of_statements(
    neighbours: NeighbourDatabases,
    planner: Planner,
    texts: Sequence[str],
    most: int,
    seed: int,
    clock: AuditClock,
) -> float:
    """The expected seconds for all statements and ``most`` units, from a few statements.

    Raises AuditTimeout if these do not end in time.
    """
    plans = []
    for text in texts[:: max(len(texts) // _TIMED, 1)][:_TIMED]:
        with suppress(DatabaseError):  # one of the journal that is answered no more is not run
            plans.append(planner.plan(text).written())
    units = neighbours.choose(2, seed)[:2]
    started = time.perf_counter()
    for plan in plans:
        look(neighbours, planner, plan, units, clock=clock)
    seconds_of_run = (time.perf_counter() - started) / max(len(plans), 1) / (1 + len(units))
    return seconds_of_run * (1 + most) * len(texts)


def _statement(
    schema: Schema,
    neighbours: NeighbourDatabases,
    planner: Planner,
    text: str,
    units: Sequence[int],
    clock: AuditClock,
) -> AuditCheck:
    title = " ".join(text.split())
    try:
        plan = planner.plan(text).written()
    except DatabaseError as error:
        return AuditCheck(
            title, "skipped", f"not answered under this schema: {str(error).splitlines()[0]}"
        )
    if not plan.cores:
        return AuditCheck(title, "passed", "reads no private table")
    try:
        looked = look(neighbours, planner, plan, units, clock=clock)
    except AuditTimeout:
        return AuditCheck(title, "skipped", "the time was up")
    comparison = compared(looked, schema.privacy.neighbours == "replace")
    unplanned = [core for core in plan.cores if not neighbours.is_planned(core)]
    faults = dict.fromkeys(
        (
            *comparison.faults,
            *(["the engine sees something that was not planned"] if unplanned else []),
        )
    )
    if faults:
        return AuditCheck(title, "failed", "; ".join(faults), figures(comparison))
    return AuditCheck(title, "passed", _describe_plan(plan), figures(comparison))


def look(
    neighbours: NeighbourDatabases,
    planner: Planner,
    plan: Plan,
    units: Iterable[int],
    clock: AuditClock,
) -> RunOnNeighbours:
    """The exact rows of a plan with all units and without each.

    Derived tables hold the same rows throughout.

    Raises AuditTimeout if they cannot be read in time.
    """
    try:
        with clock.ending(neighbours.interrupt):
            frozen = _freeze(neighbours, planner, plan, clock)
            lacking = []
            for unit in units:
                with neighbours.without(unit):
                    lacking.append(tuple(_row(neighbours, core, clock) for core in plan.cores))
    except duckdb.InterruptException:
        raise AuditTimeout from None
    return RunOnNeighbours(plan, frozen, tuple(lacking))


def _freeze(
    neighbours: NeighbourDatabases, planner: Planner, plan: Plan, clock: AuditClock
) -> Exact:
    """The exact rows on the whole database.

    For stages that read a release, one is made and used for all neighbours.
    """
    if not plan.derived:
        return tuple(_row(neighbours, core, clock) for core in plan.cores)
    frozen: list[CoreRows | None] = []
    postprocessor = planner.postprocessor()
    released = NOTHING
    try:
        for stage in plan.stages:
            for table, rows in zip(
                stage.derived, postprocessor.derive(plan, stage, released), strict=True
            ):
                neighbours.put(table, rows)
            exact = [_row(neighbours, core, clock) for core in stage.cores]
            frozen += exact
            released += release(
                ExactRows([rows or [] for rows in exact]), stage.cores, plan.confidence
            )
    finally:
        postprocessor.close()
    return tuple(frozen)


def _row(neighbours: NeighbourDatabases, core: CorePlan, clock: AuditClock) -> CoreRows | None:
    clock.check()
    return neighbours.rows(core)


def compared(looked: RunOnNeighbours, replaced: bool) -> ClaimComparison:
    """The largest use of each kind of claim over all pairs of neighbours, and all faults."""
    most: dict[str, ClaimUsage] = {}
    wrong: dict[str, None] = {}
    if None in looked.whole:
        wrong["the engine fails on the whole database"] = None
    for exact in (looked.whole, *looked.lacking):
        for core, rows in zip(looked.plan.cores, exact, strict=True):
            wrong |= dict.fromkeys(() if rows is None else malformed(core, rows))
    for one, other in () if wrong else looked.pairs(replaced):
        for core, first, second in zip(looked.plan.cores, one, other, strict=True):
            if first is None or second is None:
                wrong |= (
                    {} if first is second else {"the engine fails on one of two neighbours": None}
                )
                continue
            comparison = compare(core, first, second)
            wrong |= dict.fromkeys(comparison.wrong)
            for use in comparison.uses:
                if use.kind not in most or use.ratio > most[use.kind].ratio:
                    most[use.kind] = use
    return ClaimComparison(tuple(most.values()), tuple(wrong))


def figures(comparison: ClaimComparison) -> tuple[PrivateFigure, ...]:
    """The largest use of each claim, as a part of it."""
    return tuple(
        PrivateFigure(use.kind, sqrt(use.ratio) if use.squared else float(use.ratio), 1.0)
        for use in comparison.uses
    )


def _describe_plan(plan: Plan) -> str:
    claims = sum(
        len(core.cells) + len(core.histograms) + (core.selection is not None) for core in plan.cores
    )
    return f"{claims} {'claim' if claims == 1 else 'claims'} held"


def _check_unit_keys(schema: Schema, neighbours: NeighbourDatabases) -> AuditCheck:
    """Check that keys on the way to the unit are unique, so that no row has two units."""
    private = (name for name, table in schema.tables.items() if not table.public)
    keys = sorted(
        {(step.parent, step.parent_column) for name in private for step in schema.owner(name).steps}
    )
    twice = [
        f"{table}.{column}" for table, column in keys if not neighbours.is_unique(table, column)
    ]
    if twice:
        return AuditCheck(
            "keys on the way to the unit", "failed", f"not unique: {', '.join(twice)}"
        )
    message = (
        f"unique: {', '.join(map('.'.join, keys))}"
        if keys
        else "none: each private table holds the unit's own column"
    )
    return AuditCheck("keys on the way to the unit", "passed", message)
