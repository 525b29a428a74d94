"""Notices about the assumptions of an answer.

They name groups that are shown, joins that multiply rows, and missing intervals. Numbers that a
later core makes of released rows have no interval (``docs/intervals.md``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dpsql.planning.group_notices import listed
from dpsql.planning.plan import Plan
from dpsql.planning.rows_beyond import joined_relations
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.schema import ITS_UNIT
from dpsql.sql.analysis.grouping_levels import noise_known, shapes
from dpsql.sql.analysis.released_rows import known_after
from dpsql.sql.analysis.stability import conditions_of, joined_partners, limits
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Core, UnitNorms
from dpsql.sql.ir.expression import Call, columns
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import Constants, Leaf, Relation, Scan, groups_in


def norms_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each norm that is found.

    It tells the norm's part of the price, and how many units are above it.
    """
    sentences = list[str]()
    first_cell = 0
    for core in plan.cores:
        first_cell += len(core.cells)
        for number, histogram in enumerate(core.histograms, first_cell):
            if isinstance(histogram.contribution.cell, UnitNorms) and isinstance(
                histogram.mechanism, ClippingBoundSearch
            ):
                scan = histogram.mechanism
                share = scan.price / (plan.price**2 / 2 if scan.concentrated else plan.price)
                sentences.append(
                    f"norm: {float(100 * share):.3g} % of the price finds the norm to which units are clipped "
                    f"(cell {number}); about {scan.left} ± {scan.half_width(plan.confidence)} of them are above it"
                )
        first_cell += len(core.histograms)
    return tuple(sentences)


def joins_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each join in which a private row meets several public ones.

    It tells how many they are, and what a unit counts.
    """
    relations = [
        relation for core in plan.cores for relation in joined_relations(core.core.relation)
    ]
    return tuple(dict.fromkeys(chain.from_iterable(map(_join_said, relations))))


def _join_said(relation: Relation) -> Iterator[str]:
    met = [
        f"{partners.most:,} rows of {_named(source)}"
        for source, partners in joined_partners(relation)
        if partners.most > 1
    ]
    if met:
        rows = limits(relation).rows
        counts = "" if rows is None else f"; a unit counts with up to {rows:,} rows of the join"
        yield f"join: each row meets up to {listed(met)}, and counts as often{counts}"


def _named(source: Leaf) -> str:
    """What a public source of a join is called."""
    match source:
        case Scan(table=table, derived=False):
            return table
        case Constants():
            return "VALUES"
        case _:
            return "a subquery"


def taken_as_given(plan: Plan) -> tuple[str, ...]:
    """Sentences about cores that read what earlier cores released.

    They name numbers without an interval, and clipped sums.
    """
    tables = shapes([core.core for core in plan.cores], plan.cubes)
    unknown = [name for name, shape in tables.items() if noise_known(shape) is KnownNoise.NOTHING]
    sentences = list[str]()
    if unknown:
        names = [
            column.name
            for column in plan.columns
            if column.table in unknown and (column.aggregate, column.computed) != (None, None)
        ]
        sentences.append(
            f"no interval{f' of {listed(names)}' if names else ''}: a private part reads the released rows of a "
            "subquery, with noise and without small groups, and SQL reads the exact ones; a subquery that is one value "
            "may be asked by itself, and its value written as a constant"
        )
    released = {table.name for table in plan.derived if table.cores}
    clipped = {
        f"core{number}"
        for number, core in enumerate(plan.cores)
        if not released.isdisjoint(core.derived) and known_after(core.core) is KnownNoise.FORM
    }
    clipped |= {
        f"cube{number}"
        for number, cube in enumerate(plan.cubes)
        if any(f"core{level.core}" in clipped for level in cube.levels)
    }
    if clipped:
        names = [column.name for column in plan.columns if column.table in clipped and column.exact]
        if plan.resampling is not None and not clipped.isdisjoint(plan.resampling.tables):
            names += [plan.columns[index].name for index in plan.resampling.wanted]
        whose = f"the interval of {listed(names)}" if names else "an interval"
        sentences.append(
            f"{whose} takes the bound or norm that was found as given: it holds the clipped sum, and neither what is "
            "clipped away nor the noise by which the bound was found"
        )
    return tuple(sentences)


def rows_of_nobody(plan: Plan) -> tuple[str, ...]:
    """One sentence for each column by which rows of a core may have no unit; they are left out."""
    link_names = dict.fromkeys(name for core in plan.cores for name in _nullable_links(core.core))
    return tuple(
        f'left out: rows whose {name} is NULL, which belong to no unit; the owner may count them: orphans = "each"'
        for name in link_names
    )


def nan_left_out(plan: Plan) -> tuple[str, ...]:
    """One sentence that names the columns of tables in which NaN is read as NULL."""
    names = dict.fromkeys(name for core in plan.cores for name in _may_hold_nan(core.core))
    return (f"left out: NaN in {listed([*names])}, which is read as NULL",) if names else ()


def _may_hold_nan(core: Core) -> Iterator[str]:
    relations, expressions = everything_in(core)
    tables = {scan.alias for scan in relations if isinstance(scan, Scan) and not scan.derived}
    for expression in expressions:
        for column in columns(expression):
            if column.relation in tables and column.type.kind == "double" and column.nullable:
                yield column.name


def changed_groups(plan: Plan) -> tuple[str, ...]:
    """One sentence for each subquery whose groups have rows of several units.

    It tells how many of these groups one unit changes.
    """
    subqueries = [
        subquery
        for subquery in (groups_in(core.core.relation) for core in plan.cores)
        if subquery is not None
    ]
    return tuple(
        dict.fromkeys(
            f"groups of {', '.join(subquery.names)} are not released: one unit counts in, and can change, up to "
            f"{subquery.touched:,} of them"
            for subquery in subqueries
        )
    )


def _nullable_links(core: Core) -> Iterator[str]:
    """Columns on the way from a table to its unit that may be NULL.

    Only those that may be NULL in rows which the statement itself keeps.
    """
    relations, _ = everything_in(core)
    required = {
        column
        for relation in relations
        for condition in conditions_of(relation)
        if isinstance(condition, Call) and condition.function == "="
        for column in condition.arguments
    }
    for scan in relations:
        if not isinstance(scan, Scan) or scan.path is None:
            continue
        tables = [scan.table, *(hop.table for hop in scan.path.hops)]
        links = [*(hop.child for hop in scan.path.hops), scan.path.unit]
        for table, link in zip(tables, links, strict=True):
            if link.nullable and link.name != ITS_UNIT and link not in required:
                yield f"{table}.{link.name}"
