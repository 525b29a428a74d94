"""What is told of an answer beside its cells: groups that are shown, joins that multiply rows, what intervals take as
given.

Intervals take released rows that later cores read as given (``docs/intervals.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.planning.group_notices import listed
from dpsql.planning.plan import Plan
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.schema import ITS_UNIT
from dpsql.sql.analysis.stability import conditions_of, joined_partners, limits, sources
from dpsql.sql.ir.aggregate import NORM_CLIPPED_SUM
from dpsql.sql.ir.core import Core, UnitNorms
from dpsql.sql.ir.expression import Call, ColumnRef
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import Compound, Constants, Leaf, PerUnit, Relation, Scan, groups_in


def norms_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each norm that is found: its part of the price, and how many units are above it."""
    found, place = list[str](), 0
    for core in plan.cores:
        place += len(core.cells)
        for number, each in enumerate(core.histograms, place):
            if isinstance(each.contribution.cell, UnitNorms) and isinstance(each.mechanism, ClippingBoundSearch):
                scan = each.mechanism
                part = scan.price / (plan.price**2 / 2 if scan.concentrated else plan.price)
                found.append(
                    f"norm: {float(100 * part):.3g} % of the price finds the norm to which units are clipped "
                    f"(cell {number}); about {scan.left} ± {scan.half_width(plan.confidence)} of them are above it"
                )
        place += len(core.histograms)
    return tuple(found)


def joins_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each join in which a private row meets several public ones: how many, and what a unit counts."""
    return tuple(dict.fromkeys(said for core in plan.cores for said in _joins_of(core.core.relation)))


def _joins_of(relation: Relation) -> Iterator[str]:
    met = [f"{partners.most:,} rows of {_named(source)}" for source, partners in joined_partners(relation)
           if partners.most > 1]  # fmt: skip
    if met:
        rows = limits(relation).rows
        counts = "" if rows is None else f"; a unit counts with up to {rows:,} rows of the join"
        yield f"join: each row meets up to {listed(met)}, and counts as often{counts}"
    for source in sources(relation):
        match source:
            case PerUnit(child=child):
                yield from _joins_of(child)
            case Compound(branches=branches):
                for branch in branches:
                    yield from _joins_of(branch.relation)
            case _:
                pass


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
    """One sentence where a core reads what an earlier core released: which intervals know nothing of its noise."""
    later = _later(plan)
    if not later:
        return ()
    norms_alone = _reads_norms_alone(plan)
    names = [
        column.name
        for column in plan.columns
        if column.table in later
        if column.exact or (column.aggregate is not None and not norms_alone)  # the norm is a factor
    ]
    perhaps = list[str]()
    if plan.resampling is not None and not later.isdisjoint(plan.resampling.tables):
        found = names if later.issuperset(plan.resampling.tables) else perhaps
        found += [plan.columns[place].name for place in plan.resampling.wanted]
    if norms_alone:
        given = (
            "the norm to which units are clipped as given: it holds the clipped sum, and neither what units above the "
            "norm lose nor the noise by which it was found"
        )
    else:
        given = (
            "what a subquery released as given: it holds what the statement would give with these very rows and values "
            "in the place of the subquery, whose own noise is not in it"
        )
    return (f"{_whose(names, perhaps)} {given}",)


def rows_of_nobody(plan: Plan) -> tuple[str, ...]:
    """One sentence for each column by which rows of a core may have no unit, so that they are left out."""
    found = dict.fromkeys(name for core in plan.cores for name in _nullable_links(core.core))
    return tuple(
        f'left out: rows whose {name} is NULL, which belong to no unit; the owner may count them: orphans = "each"'
        for name in found
    )


def changed_groups(plan: Plan) -> tuple[str, ...]:
    """One sentence for each subquery whose groups have rows of several units: how many of them one unit changes."""
    found = [each for each in (groups_in(core.core.relation) for core in plan.cores) if each is not None]
    return tuple(
        dict.fromkeys(
            f"groups of {', '.join(each.names)} are not released: one unit counts in, and can change, up to "
            f"{each.touched:,} of them"
            for each in found
        )
    )


def _nullable_links(core: Core) -> Iterator[str]:
    """The columns on the way from a table to its unit that may be NULL in rows which the statement itself keeps."""
    relations, _ = everything_in(core)
    required = {
        column
        for each in relations
        for condition in conditions_of(each)
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


def _reads_norms_alone(plan: Plan) -> bool:
    """Whether all that later cores read of earlier ones are norms that were found."""
    read = frozenset[str]().union(*(core.derived for core in plan.cores))
    norms = set()
    for core in (each.core for each in plan.cores):
        named = {each.other.relation for each in core.aggregates
                 if each.function is NORM_CLIPPED_SUM and isinstance(each.other, ColumnRef)}  # fmt: skip
        norms |= {each.table for each in sources(core.relation) if isinstance(each, Scan) and each.alias in named}
    return read <= norms


def _later(plan: Plan) -> frozenset[str]:
    """The released tables whose cores read rows that are made of what earlier cores released."""
    released = {table.name for table in plan.derived if table.cores}
    cores = {place for place, core in enumerate(plan.cores) if not released.isdisjoint(core.derived)}
    cubes = (
        number for number, cube in enumerate(plan.cubes) if not cores.isdisjoint(level.core for level in cube.levels)
    )
    return frozenset([*(f"core{place}" for place in cores), *(f"cube{number}" for number in cubes)])


def _whose(names: Sequence[str], perhaps: Sequence[str]) -> str:
    """Subject and verb of the sentence; columns of which several tables are a part ``perhaps`` belong to it.

    >>> _whose(["n", "total"], []), _whose([], ["share"]), _whose([], [])
    ('the interval of n and total takes', 'the interval of share may take', 'an interval takes')
    >>> _whose(["n"], ["share"])
    'the interval of n takes, and that of share may take,'
    """
    if not names and not perhaps:
        return "an interval takes"
    sure, may = (f"the interval of {listed(each)}" for each in (names, perhaps))
    if not perhaps:
        return f"{sure} takes"
    return f"{sure} takes, and that of {listed(perhaps)} may take," if names else f"{may} may take"
