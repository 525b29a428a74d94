"""The exact cells of a plan on a database and on its neighbours, compared with what the plan claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

import duckdb
import pytest
from choices import NOTHING_LISTED, Tally, frequencies, ranks, sizes
from databases import without_noise
from worlds import World

from dpsql.engines.cross_check import require_planned
from dpsql.engines.duckdb import derived_table
from dpsql.engines.exact import ExactRows
from dpsql.engines.opened import put_derived
from dpsql.errors import ExecutionFailed
from dpsql.plan import CorePlan, Plan, plan_cores
from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import Gaussian
from dpsql.privacy.mechanism.peeling import Peeling
from dpsql.privacy.mechanism.ranking import Ranking
from dpsql.privacy.mechanism.scan import Scan
from dpsql.privacy.mechanism.tree import Tree, exact_levels
from dpsql.query.bind import bind
from dpsql.query.derived import Derived
from dpsql.query.parse import parse
from dpsql.query.relation import Cell, Distinct, Product, Rows, Total, Units
from dpsql.release import NOTHING, release

Rowset = list[tuple[Any, ...]]

#: What is set aside for thresholds where the schema promises a delta.
DELTA_SELECTION = Fraction(1, 2_000_000)


def plan_of(world: World, text: str) -> Plan:
    """The statement as the session would plan it, with no engine anywhere near."""
    schema = world.schema
    delta = DELTA_SELECTION if schema.privacy.delta else Fraction(0)
    query = bind(parse(text), schema, (), world.shell.types)
    price = schema.privacy.query_epsilon
    cores = plan_cores(query, schema.privacy, price, delta)
    return Plan(text, cores, query.derived, query.shell.sql(dialect="duckdb"), query.public, (), price, 0.95)


def planned(world: World, text: str) -> tuple[CorePlan, ...]:
    """The statement's cores as the session would plan them."""
    return plan_of(world, text).cores


#: The derived tables that a statement's cores read, with rows for them.
Given: TypeAlias = dict[str, tuple[Derived, Rowset]]


def given(world: World, connection: duckdb.DuckDBPyConnection, plan: Plan) -> Given:
    """Rows for the derived tables of a plan: what the sandbox makes where the cores are released without noise.

    A claim must hold for any rows in them, as long as both neighbours are given the same.
    """
    found: Given = {}
    released = NOTHING
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        for stage in plan.stages if plan.derived else ():
            for table, rows in zip(stage.derived, world.shell.derive(plan, stage, released), strict=True):
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
            lost = [] if table.public else [
                str(place) for place, row in enumerate(table.rows) if world.owner(table, row) == unit
            ]  # fmt: skip
            if lost:
                connection.execute(f'DELETE FROM source.main."{table.name}" WHERE rowid IN ({", ".join(lost)})')
        yield
    finally:
        connection.execute("ROLLBACK")


def faults(world: World, texts: list[str], tally: Tally | None = None) -> list[tuple[str, str]]:
    """Every claim that does not hold on the world and its neighbours: the statement and what is wrong."""
    plans = {text: plan_of(world, text) for text in texts}
    tally = tally or Tally()
    found = _faults(world, {text: plan for text, plan in plans.items() if not plan.derived}, tally)
    for text, plan in plans.items():
        found += _faults(world, {text: plan}, tally) if plan.derived else []
    return found


def _faults(world: World, plans: dict[str, Plan], tally: Tally) -> list[tuple[str, str]]:
    """The faults of plans together; one that has derived tables comes alone, for theirs have the same names."""
    cores = [(text, core) for text, plan in plans.items() for core in plan.cores]
    found: list[tuple[str, str]] = []
    with world.connect() as connection:
        for plan in plans.values():
            given(world, connection, plan)
        whole: list[Rowset | None] = []
        for text, core in cores:
            rows = run(connection, core)
            whole.append(rows)
            problems = ["the engine failed on the whole database"] if rows is None else _malformed(core, rows)
            problems += _unplanned(connection, core)
            found += [(text, problem) for problem in problems]
        lacking: list[list[Rowset | None]] = []
        for unit in world.units:
            with without(connection, world, unit):
                tried = zip(cores, whole, strict=True)  # what has failed once would end the transaction
                lacking.append([None if rows is None else run(connection, core) for (_, core), rows in tried])
    replaced = world.schema.privacy.neighbours == "replace"
    for place, (text, core) in enumerate(cores):
        rest = [rows[place] for rows in lacking]
        pairs = [(whole[place], other) for other in rest]
        if replaced:
            pairs = [(one, other) for index, one in enumerate(rest) for other in rest[index + 1 :]]
        for one, other in pairs:
            tally.trials += 1
            problems = compare(core, one, other, tally, replaced)
            found += [(text, problem) for problem in problems]
    return found


def run(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> Rowset | None:
    """The exact rows of a core; None where the engine fails."""
    try:
        return connection.execute(core.sql).fetchall()
    except duckdb.Error:
        return None


def _unplanned(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> list[str]:
    try:
        require_planned(connection.cursor(), core.sql, core.tables, core.derived)
    except ExecutionFailed:
        return ["the engine's parser sees something that was not planned"]
    return []


def _malformed(core: CorePlan, rows: Rowset) -> list[str]:
    width, problems = len(core.core.keys), []
    counts = width + len(core.cells) + (core.selection is not None)
    for row in rows:
        if not all(type(cell) is int for cell in row[width:counts]):
            problems.append(f"a cell is no integer: {row}")
        if not all(_is_histogram(listed) for listed in row[counts:]):
            problems.append(f"a histogram is no list of bins with one of counts: {row}")
    if len({_spelt(row[:width]) for row in rows}) < len(rows):
        problems.append("a key stands twice")
    return problems


def _is_histogram(listed: Any) -> bool:
    """Whether it is None or a list of bins, each once and in order, and one of their counts, none below 0."""
    if listed is None:
        return True
    places, counts = listed
    whole = all(type(number) is int and number >= 0 for number in [*places, *counts])
    return whole and len(places) == len(counts) and places == sorted(set(places))


def compare(
    core: CorePlan, one: Rowset | None, other: Rowset | None, tally: Tally, replaced: bool = False
) -> list[str]:
    """What is wrong between two neighbours' rows of a core."""
    if one is None or other is None:
        return [] if one is other else ["the engine failed on one of two neighbours"]
    width = len(core.core.keys)
    left = {_spelt(row[:width]): row[width:] for row in one}
    right = {_spelt(row[:width]): row[width:] for row in other}
    if core.selection is None and left.keys() != right.keys():
        return ["public keys differ between neighbours"]
    if not core.core.keys and (len(one), len(other)) != (1, 1):
        return ["a statement without keys gives other than one row"]
    count = len(core.cells) + (core.selection is not None)
    nothing = (0,) * count
    keys = left.keys() | right.keys()
    changes = [[left.get(key, nothing)[place] - right.get(key, nothing)[place] for key in keys]
               for place in range(count)]  # fmt: skip
    problems = []
    for cell, change in zip(core.cells, changes, strict=False):
        observed, claimed = _distance(cell.mechanism, change)
        kind = _kind(cell.contribution.cell, isinstance(cell.mechanism, Gaussian))
        tally.note(kind, observed / claimed)
        if observed > claimed:
            problems.append(f"{kind}: a unit moves the cell by {observed}, claimed is {claimed}")
    if core.selection is not None:
        counted = ({key: row[:count] for key, row in side.items()} for side in (left, right))
        problems += _selection(core, *counted, changes[-1], tally, replaced)
    for place, histogram in enumerate(core.histograms):
        lists = [{key: row[count + place] for key, row in side.items()} for side in (left, right)]
        match histogram.mechanism:
            case Tree() as tree:
                problems += _levels(tree, *lists, tally)
            case Ranking() as ranking:
                problems += ranks(ranking, histogram.contribution.fine, *lists, tally)
            case Peeling() as peeling:
                problems += frequencies(peeling, *lists, tally)
            case Scan() as scan:
                problems += sizes(scan, *lists, tally)
            case _:
                assert_never(histogram.mechanism)
    return problems


def _levels(tree: Tree, left: dict[str, Any], right: dict[str, Any], tally: Tally) -> list[str]:
    """Each level of a tree changes by no more than its noise is made for, and so does each group as a whole."""
    nothing: list[dict[int, int]] = [{}] * tree.levels
    one, other = (
        {key: exact_levels(tree, *(listed or NOTHING_LISTED)) for key, listed in side.items()} for side in (left, right)
    )
    problems, kind = [], f"histogram {'L2' if isinstance(tree.node, Gaussian) else 'L1'}"
    for level in range(tree.levels):
        change, sums = [], []
        for key in one.keys() | other.keys():
            before, after = one.get(key, nothing)[level], other.get(key, nothing)[level]
            changed = [before.get(start, 0) - after.get(start, 0) for start in before.keys() | after.keys()]
            change += changed
            sums.append(sum(map(abs, changed)))
        for what, vector in (("a level", change), ("the sums over a level", sums)):
            observed, claimed = _distance(tree.node, vector)
            tally.note(kind, observed / claimed)
            if observed > claimed:
                problems.append(f"{kind}: a unit moves {what} by {observed}, claimed is {claimed}")
    if tree.cost != sum([tree.node.cost] * tree.levels, FREE):
        problems.append("the levels of a tree are not all paid for")
    return problems


def _selection(core: CorePlan, left: dict[str, Any], right: dict[str, Any], change: list[int], tally: Tally,
               replaced: bool) -> list[str]:  # fmt: skip
    assert core.selection is not None
    observed, claimed = _distance(core.selection.noise, change)
    tally.note("threshold", observed / claimed)
    problems = []
    if observed > claimed or sum(each != 0 for each in change) > core.selection.groups:
        problems.append(f"a unit stands in {observed} groups, claimed is {claimed}")
    if any(abs(each) > 1 for each in change):
        problems.append("a unit counts more than once in a group")
    for one, other in ((left, right), (right, left)):
        lonely = [one[key][-1] for key in one.keys() - other.keys()]
        if any(units != 1 for units in lonely):
            problems.append(f"a group that only one database has holds {max(lonely)} units")
        if any(cells[-1] < 1 for cells in one.values()):
            problems.append("a group without units is a candidate")
    return problems


def _distance(mechanism: Any, change: list[int]) -> tuple[int, int]:
    """How far the vectors are apart in the mechanism's own norm, and how far it claims they may be."""
    if isinstance(mechanism, Gaussian):
        return sum(each * each for each in change), mechanism.l2_squared
    return sum(abs(each) for each in change), mechanism.l1


def _kind(cell: Cell, gaussian: bool) -> str:
    names = {Rows: "count", Total: "sum", Units: "units", Distinct: "distinct", Product: "product"}
    return f"{names[type(cell)]} {'L2' if gaussian else 'L1'}"


def _spelt(key: tuple[Any, ...]) -> str:
    """A key so that NaN equals itself and 0.0 does not equal −0.0."""
    return repr(key)


def shrunk(world: World, text: str, broken: Callable[[World], bool]) -> World:
    """A smaller world on which the statement still breaks its claim: units go first, then single rows."""
    for unit in world.units:
        smaller = world.without(unit)
        if broken(smaller):
            world = smaller
    for table in world.tables:
        if table.public:
            continue
        for place in reversed(range(len(table.rows))):
            smaller = world.without_row(table.name, place)
            if broken(smaller):
                world = smaller
    return world


def report(world: World, text: str, problem: str) -> str:
    """Everything needed to see the fault again."""

    def broken(smaller: World) -> bool:
        return bool(faults(smaller, [text]))

    small = shrunk(world, text, broken)
    claims = [(core.sql, core.cells, core.selection) for core in planned(small, text)]
    return "\n".join([f"seed {world.seed}: {problem}", text, json.dumps(small.document, default=str), small.script(),
                      *map(str, claims)])  # fmt: skip
