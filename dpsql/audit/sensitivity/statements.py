"""Sensitivity: the SQL of each statement is run with and without real units, and the change compared with the claim.

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

from dpsql.audit.clock import AuditClock, TimeIsUp
from dpsql.audit.report import Check, Figure, Room
from dpsql.audit.sensitivity.claim_use import ClaimUsage, Compared
from dpsql.audit.sensitivity.claims import compare, malformed
from dpsql.audit.sensitivity.neighbours import Neighbours
from dpsql.audit.sensitivity.plans import Planner
from dpsql.engines.exact import CoreRows, ExactRows
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
class Looked:
    """A plan's exact rows on the whole database, and on those without one unit each. They are private."""

    plan: Plan
    whole: Exact
    lacking: tuple[Exact, ...]

    def pairs(self, replaced: bool) -> Iterator[tuple[Exact, Exact]]:
        """The pairs of neighbours: the whole beside one without a unit; where units are replaced, two of these."""
        if replaced:
            yield from combinations(self.lacking, 2)
        else:
            yield from ((self.whole, other) for other in self.lacking)


def check_sensitivity(
    schema: Schema,
    neighbours: Neighbours,
    planner: Planner,
    texts: Sequence[str],
    most: int,
    seed: int,
    clock: AuditClock,
) -> Room:
    """One check for each statement, and one for the keys by which rows find their unit."""
    clock.tell("sensitivity: keys on the way to the unit")
    checks = [_ways(schema, neighbours)]
    clock.tell("sensitivity: units to leave out")
    units = neighbours.choose(most, seed)
    for place, text in enumerate(texts, 1):
        clock.tell(f"sensitivity: statement {place} of {len(texts)}")
        checks.append(_statement(schema, neighbours, planner, text, units, clock))
    return Room(
        "sensitivity",
        "left out one by one, the heaviest units of each table and others change no cell by more than the plan claims",
        tuple(checks),
    )


def seconds_of_statements(
    neighbours: Neighbours, planner: Planner, texts: Sequence[str], most: int, seed: int, clock: AuditClock
) -> float:
    """How long the statements will take with and without so many units, from what a few of them take with two left out.

    TimeIsUp where the few do not end in time.
    """
    plans = []
    for text in texts[:: max(len(texts) // _TIMED, 1)][:_TIMED]:
        with suppress(DatabaseError):  # one of the journal that is answered no more is not run
            plans.append(planner.plan(text).written())
    units = neighbours.choose(2, seed)[:2]
    started = time.perf_counter()
    for plan in plans:
        look(neighbours, planner, plan, units, clock)
    each = (time.perf_counter() - started) / max(len(plans), 1) / (1 + len(units))
    return each * (1 + most) * len(texts)


def _statement(
    schema: Schema, neighbours: Neighbours, planner: Planner, text: str, units: Sequence[int], clock: AuditClock
) -> Check:
    shown = " ".join(text.split())
    try:
        plan = planner.plan(text).written()
    except DatabaseError as error:
        return Check(shown, "skipped", f"not answered under this schema: {str(error).splitlines()[0]}")
    if not plan.cores:
        return Check(shown, "passed", "reads no private table")
    try:
        looked = look(neighbours, planner, plan, units, clock)
    except TimeIsUp:
        return Check(shown, "skipped", "the time was up")
    found = compared(looked, schema.privacy.neighbours == "replace")
    unplanned = [core for core in plan.cores if not neighbours.is_planned(core)]
    faults = dict.fromkeys((*found.faults, *(["the engine sees something that was not planned"] if unplanned else [])))
    if faults:
        return Check(shown, "failed", "; ".join(faults), figures(found))
    return Check(shown, "passed", _said(plan), figures(found))


def look(neighbours: Neighbours, planner: Planner, plan: Plan, units: Iterable[int], clock: AuditClock) -> Looked:
    """The exact rows of the plan with all units and without each; its derived tables hold the same rows throughout.

    TimeIsUp where they cannot all be read in time.
    """
    try:
        with clock.ending(neighbours.interrupt):
            whole = _freeze(neighbours, planner, plan, clock)
            lacking = []
            for unit in units:
                with neighbours.without(unit):
                    lacking.append(tuple(_row(neighbours, core, clock) for core in plan.cores))
    except duckdb.InterruptException:
        raise TimeIsUp from None
    return Looked(plan, whole, tuple(lacking))


def _freeze(neighbours: Neighbours, planner: Planner, plan: Plan, clock: AuditClock) -> Exact:
    """The exact rows on the whole database; where a later stage reads a release, one is made and put in its place."""
    if not plan.derived:
        return tuple(_row(neighbours, core, clock) for core in plan.cores)
    whole: list[CoreRows | None] = []
    postprocessor, released = planner.postprocessor(), NOTHING
    try:
        for stage in plan.stages:
            for table, rows in zip(stage.derived, postprocessor.derive(plan, stage, released), strict=True):
                neighbours.put(table, rows)
            exact = [_row(neighbours, core, clock) for core in stage.cores]
            whole += exact
            released += release(ExactRows([rows or [] for rows in exact]), stage.cores, plan.confidence)
    finally:
        postprocessor.close()
    return tuple(whole)


def _row(neighbours: Neighbours, core: CorePlan, clock: AuditClock) -> CoreRows | None:
    clock.check()
    return neighbours.rows(core)


def compared(looked: Looked, replaced: bool) -> Compared:
    """What all pairs of neighbours use of the claims, the most of each kind, and what is wrong."""
    most: dict[str, ClaimUsage] = {}
    wrong: dict[str, None] = {}
    if None in looked.whole:
        wrong["the engine fails on the whole database"] = None
    for exact in (looked.whole, *looked.lacking):
        for core, rows in zip(looked.plan.cores, exact, strict=True):
            wrong |= dict.fromkeys(() if rows is None else malformed(core, rows))
    for one, other in () if wrong else looked.pairs(replaced):
        for core, left, right in zip(looked.plan.cores, one, other, strict=True):
            if left is None or right is None:
                wrong |= {} if left is right else {"the engine fails on one of two neighbours": None}
                continue
            found = compare(core, left, right)
            wrong |= dict.fromkeys(found.wrong)
            for use in found.uses:
                if use.kind not in most or use.ratio > most[use.kind].ratio:
                    most[use.kind] = use
    return Compared(tuple(most.values()), tuple(wrong))


def figures(found: Compared) -> tuple[Figure, ...]:
    """How much of each claim was used at most, as a part of it."""
    return tuple(Figure(use.kind, sqrt(use.ratio) if use.squared else float(use.ratio), 1.0) for use in found.uses)


def _said(plan: Plan) -> str:
    claims = sum(len(core.cells) + len(core.histograms) + (core.selection is not None) for core in plan.cores)
    return f"{claims} {'claim' if claims == 1 else 'claims'} held"


def _ways(schema: Schema, neighbours: Neighbours) -> Check:
    """The keys on the way to the unit are unique, so that no row has two units."""
    private = (name for name, table in schema.tables.items() if not table.public)
    keys = sorted({(step.parent, step.parent_column) for name in private for step in schema.owner(name).steps})
    twice = [f"{table}.{column}" for table, column in keys if not neighbours.is_unique(table, column)]
    if twice:
        return Check("keys on the way to the unit", "failed", f"not unique: {', '.join(twice)}")
    said = (
        f"unique: {', '.join(map('.'.join, keys))}" if keys else "none: each private table holds the unit's own column"
    )
    return Check("keys on the way to the unit", "passed", said)
