"""The exact cells of a plan on a database and on its neighbours,
compared with what the plan claims.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, TypeAlias

import duckdb
import pytest
from databases import without_noise
from exact_rows import exact_rows
from tally import Tally
from worlds import World

from dpsql.audit.sensitivity import claims
from dpsql.engines.duckdb.attached_source import put_derived
from dpsql.engines.duckdb.emitted_sql_check import require_planned
from dpsql.engines.duckdb.reading import derived_table
from dpsql.engines.exact_rows import ExactRows
from dpsql.errors import DatabaseError, ExecutionFailed
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.plan import CorePlan, Plan
from dpsql.release.noise_addition import release
from dpsql.release.released_tables import NOTHING
from dpsql.sql.binder.bind import bind
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.parser.parse import parse

Rowset = list[tuple[Any, ...]]

#: What is set aside for thresholds where the schema promises a delta.
DELTA_SELECTION = Fraction(1, 2_000_000)


def plan_of(world: World, text: str, price: Fraction | None = None) -> Plan:
    """The statement as the session would plan it at a price, with no engine anywhere near."""
    schema = world.schema
    delta = DELTA_SELECTION if schema.privacy.delta else Fraction(0)
    query = bind(parse(text), schema, (), world.shell.types, fanout=world.public_fanout)
    price = schema.privacy.query_epsilon if price is None else price
    cores = plan_cores(query, DUCKDB, schema.privacy, price, delta)
    assert all(core.sql for core in cores)  # what cannot be written is refused
    return Plan(
        text,
        cores,
        query.derived,
        query.postprocessing.sql(dialect="duckdb"),
        query.public,
        (),
        price,
        0.95,
    )


def planned(world: World, text: str) -> tuple[CorePlan, ...]:
    """The statement's cores as the session would plan them."""
    return plan_of(world, text).cores


#: The derived tables that a statement's cores read, with rows for them.
Given: TypeAlias = dict[str, tuple[DerivedQuery, Rowset]]


def given(world: World, connection: duckdb.DuckDBPyConnection, plan: Plan) -> Given:
    """Rows for the derived tables of a plan:
    what the sandbox makes where the cores are released without noise.

    A claim must hold for any rows in them, as long as both neighbours are given the same.
    """
    found: Given = {}
    released = NOTHING
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        for stage in plan.stages if plan.derived else ():
            for table, rows in zip(
                stage.derived, world.shell.derive(plan, stage, released), strict=True
            ):
                found[table.name] = table, rows
                put_derived(connection, derived_table(table), rows)
            exact = [run(connection, core) or [] for core in stage.cores]
            released += release(ExactRows(exact), stage.cores, 0.95)
    return found


@contextmanager
def without(connection: duckdb.DuckDBPyConnection, world: World, unit: str) -> Iterator[None]:
    """The database without one unit, until the end of the block."""
    connection.execute("BEGIN")
    try:
        for table in world.tables:
            lost = (
                []
                if table.public
                else [
                    str(place)
                    for place, row in enumerate(table.rows)
                    if world.owner(table, row) == unit
                ]
            )
            if lost:
                connection.execute(
                    f"DELETE FROM {world.place_of(table)} WHERE rowid IN ({', '.join(lost)})"
                )
        yield
    finally:
        connection.execute("ROLLBACK")


def accepted(world: World, texts: Iterable[str], tally: Tally) -> list[Plan]:
    """The plans of the statements that dpsql plans; what it refuses it refuses in its own words."""
    plans = []
    for text in texts:
        tally.statements += 1
        with suppress(DatabaseError):
            plans.append(plan_of(world, text))
    tally.answered += len(plans)
    return plans


def faults(world: World, texts: list[str], tally: Tally | None = None) -> list[tuple[str, str]]:
    """Every claim that does not hold on the world and its neighbours:
    the statement and what is wrong.
    """
    return broken(world, [plan_of(world, text) for text in texts], tally or Tally())


def broken(world: World, plans: Sequence[Plan], tally: Tally) -> list[tuple[str, str]]:
    """Every claim of the plans that does not hold on the world and its neighbours:
    the statement and what is wrong.
    """
    by_text = {plan.text: plan for plan in plans}
    found = _faults(
        world, {text: plan for text, plan in by_text.items() if not plan.derived}, tally
    )
    for text, plan in by_text.items():
        found += _faults(world, {text: plan}, tally) if plan.derived else []
    return found


def _faults(world: World, plans: dict[str, Plan], tally: Tally) -> list[tuple[str, str]]:
    """The faults of plans together; one that has derived tables comes alone,
    for theirs have the same names.
    """
    cores = [(text, core) for text, plan in plans.items() for core in plan.cores]
    found: list[tuple[str, str]] = []
    with world.connect() as connection:
        for plan in plans.values():
            given(world, connection, plan)
        whole: list[Rowset | None] = []
        for text, core in cores:
            rows = run(connection, core)
            whole.append(rows)
            problems = (
                ["the engine failed on the whole database"]
                if rows is None
                else list(claims.malformed(core, rows))
            )
            problems += _unplanned(connection, core)
            found += [(text, problem) for problem in problems]
        lacking: list[list[Rowset | None]] = []
        for unit in world.units:
            with without(connection, world, unit):
                tried = zip(
                    cores, whole, strict=True
                )  # what has failed once would end the transaction
                lacking.append(
                    [None if rows is None else run(connection, core) for (_, core), rows in tried]
                )
    replaced = world.schema.privacy.neighbours == "replace"
    for place, (text, core) in enumerate(cores):
        rest = [rows[place] for rows in lacking]
        pairs = [(whole[place], other) for other in rest]
        if replaced:
            pairs = [(one, other) for index, one in enumerate(rest) for other in rest[index + 1 :]]
        for one, other in pairs:
            tally.trials += 1
            problems = compare(core, one, other, tally)
            found += [(text, problem) for problem in problems]
    return found


def run(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> Rowset | None:
    """The exact rows of a core; None where the engine fails."""
    try:
        return exact_rows(connection, core)
    except duckdb.Error:
        return None


def _unplanned(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> list[str]:
    try:
        require_planned(connection.cursor(), core.sql, core.tables, core.derived)
    except ExecutionFailed:
        return ["the engine's parser sees something that was not planned"]
    return []


def compare(core: CorePlan, one: Rowset | None, other: Rowset | None, tally: Tally) -> list[str]:
    """What is wrong between two neighbours' rows of a core."""
    if one is None or other is None:
        return [] if one is other else ["the engine failed on one of two neighbours"]
    compared = claims.compare(core, one, other)
    for use in compared.uses:
        tally.note(use.kind, float(use.ratio))
    broken = [use for use in compared.uses if use.broken]
    return [
        *compared.wrong,
        *(
            f"{use.kind}: a unit moves it by {use.observed}, claimed is {use.claimed}"
            for use in broken
        ),
    ]


def shrunk(world: World, text: str, is_broken: Callable[[World], bool]) -> World:
    """A smaller world on which the statement still breaks its claim: units go first,
    then single rows.
    """
    for unit in world.units:
        smaller = world.without(unit)
        if is_broken(smaller):
            world = smaller
    for table in world.tables:
        if table.public:
            continue
        for place in reversed(range(len(table.rows))):
            smaller = world.without_row(table.name, place)
            if is_broken(smaller):
                world = smaller
    return world


def report(world: World, text: str, problem: str) -> str:
    """Everything needed to see the fault again; DPSQL_SHRINK=no leaves the world as it is,
    which is quicker.
    """

    def is_broken(smaller: World) -> bool:
        return bool(faults(smaller, [text]))

    small = world if os.environ.get("DPSQL_SHRINK") == "no" else shrunk(world, text, is_broken)
    claims = [(core.sql, core.cells, core.selection) for core in planned(small, text)]
    return "\n".join(
        [
            f"seed {world.seed}: {problem}",
            text,
            json.dumps(small.document, default=str),
            small.script(),
            *map(str, claims),
        ]
    )
