"""How many rows and groups one unit may contribute to a relation, operator by operator.

The claim (`docs/proofs/stability.md`; of groups, `docs/proofs/groups.md`): every row of an admitted
relation has one unit, and a unit's rows are a function of its own rows and of public tables.
Clipping enforces the limits on top of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import assert_never

from dpsql.sql.analysis.limit_arithmetic import (
    larger_of,
    least,
    most_groups,
    most_in_group,
    product_of,
    sum_of,
    times,
    total,
)
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, columns, conjuncts
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    ContributionLimits,
    Filter,
    Groups,
    Join,
    Leaf,
    Partners,
    PerUnit,
    Relation,
    Scan,
    unit_of,
)


def limits(relation: Relation, averaged: bool = False) -> ContributionLimits:
    """What one unit may contribute to the relation; if ``averaged``, by the limits of averages.

    A private row counts as often as it meets public rows.
    """
    partners = most_partners(relation)
    private = _private_limits(relation, averaged)
    return (
        private
        if partners == 1
        else product_of(private, ContributionLimits(partners, partners, partners))
    )


def most_partners(relation: Relation) -> int:
    """The most combinations of public rows that one private row meets in the relation's joins."""
    return prod(partners.most for _, partners in joined_partners(relation))


def joined_partners(relation: Relation) -> list[tuple[Leaf, Partners]]:
    """The public sources of the relation's own joins with several rows for one private row."""
    return [
        (source, source.partners) for source in sources(relation) if source.partners is not None
    ]


def is_multiplied(relation: Relation) -> bool:
    """Whether a private row may meet several public rows, here or in a subquery that lists rows."""
    return most_partners(relation) > 1 or any(
        is_multiplied(branch.relation)
        for source in sources(relation)
        if isinstance(source, Compound)
        for branch in source.branches
    )


def _private_limits(relation: Relation, averaged: bool) -> ContributionLimits:
    """What one unit may contribute if each row meets one public row at most."""

    def of(side: Relation) -> ContributionLimits:
        return _private_limits(side, averaged)

    match relation:
        case Scan(limits=declared):
            return declared.of_averages if averaged else declared
        case Join(left=left_side, right=right_side, kind="full"):
            return larger_of(
                product_of(of(left_side), of(right_side)), sum_of(of(left_side), of(right_side))
            )
        case Join(left=left_side, right=right_side, kind="left") if _partner_is_one(relation):
            return of(left_side)
        case Join(left=left_side, right=right_side, kind="left") if _is_partner_once(relation):
            return sum_of(of(left_side), of(right_side))
        case Join(left=left_side, right=right_side):
            if not _multiplies(left_side):
                return of(right_side)
            return (
                product_of(of(left_side), of(right_side))
                if _multiplies(right_side)
                else of(left_side)
            )
        case Filter(child=child):
            return of(child)
        case PerUnit(child=child):
            return ContributionLimits(groups_by(child, [key for _, key in relation.further_keys]))
        case Groups(touched=touched):
            return ContributionLimits(2 * touched, 2, touched)
        case Compound(
            operator="intersect" | "intersect all" | "except" | "except all", branches=(first, *_)
        ):
            return limits(first.relation, averaged)
        case Compound(branches=(first, *others)):
            sum_of_branches = limits(first.relation, averaged)
            for other in others:
                sum_of_branches = sum_of(sum_of_branches, limits(other.relation, averaged))
            return sum_of_branches
        case Compound() | Constants():
            return ContributionLimits(1, 1, 1)
        case _:
            assert_never(relation)


def groups_by(relation: Relation, keys: list[Expression]) -> int | None:
    """How many groups one unit may touch when the relation is grouped by ``keys``.

    Keys that are read from private tables alone give no more groups than those tables allow; any
    other key counts with the whole relation, as often as a row meets public rows of the key's
    sources. Without keys there is one group.
    """
    if not keys:
        return 1
    named = {column.relation for key in keys for column in columns(key)}
    private: int | None = 1
    public: list[Leaf] = []
    for source in sources(relation):
        if source.alias not in named:
            continue
        if unit_of(source) is None:
            public.append(source)
        else:
            private = times(private, _groups_of_source(source, keys))
            named.discard(source.alias)
    if not named:
        return private
    multiplied = {source.alias: partners for source, partners in joined_partners(relation)}
    most = times(
        most_groups(_private_limits(relation, averaged=False)), _partners_read(multiplied, named)
    )
    if any(alias not in multiplied for alias in named):
        return most
    values = prod(_values(multiplied[source.alias], _read_of(source, keys)) for source in public)
    return least(most, times(private, values))


def _groups_of_source(source: Leaf, keys: list[Expression]) -> int | None:
    """How many groups of a private source one unit may touch."""
    if isinstance(source, Compound) and is_multiplied(source):
        listed = _listed_keys(source, keys)
        if listed is not None:
            return total([groups_by(relation, branch_keys) for relation, branch_keys in listed])
    return most_groups(limits(source))


def _listed_keys(
    compound: Compound, keys: list[Expression]
) -> list[tuple[Relation, list[Expression]]] | None:
    """Each branch that gives rows, with the keys' columns in it; None if keys are computed."""
    keys_of_compound = [
        key for key in keys if any(column.relation == compound.alias for column in columns(key))
    ]
    places = [
        int(key.name[1:])
        for key in keys_of_compound
        if isinstance(key, ColumnRef) and key.name[1:].isdigit()
    ]
    if len(places) < len(keys_of_compound):
        return None
    branches = (
        compound.branches if compound.operator in ("union all", "union") else compound.branches[:1]
    )
    return [(branch.relation, [branch.columns[index] for index in places]) for branch in branches]


def _partners_read(multiplied: Mapping[str, Partners], named: Iterable[str]) -> int:
    """The most combinations of rows of these sources, and of those leading to them, for one row."""
    reached = set[str]()
    waiting = [alias for alias in named if alias in multiplied]
    while waiting:
        alias = waiting.pop()
        if alias not in reached:
            reached.add(alias)
            waiting += multiplied[alias].through
    return prod(multiplied[alias].most for alias in reached)


def _read_of(source: Leaf, keys: list[Expression]) -> set[str]:
    return {
        column.name for key in keys for column in columns(key) if column.relation == source.alias
    }


def _values(partners: Partners, names: set[str]) -> int:
    """How many different values these columns of a public source have together at most."""
    return min(
        [partners.rows, *(group.values for group in partners.groups if names <= set(group.columns))]
    )


def rows_per_group(
    relation: Relation, keys: list[Expression], averaged: bool = False
) -> int | None:
    """How many rows one unit may have in one group, when the relation is grouped by ``keys``.

    A subquery per unit and further keys has one row in a group of these keys, and any number in a
    coarser one. A row that meets several public rows stands in a group as often as these have its
    keys.
    """
    match relation:
        case Filter(child=child):
            return rows_per_group(child, keys, averaged)
        case PerUnit(alias=alias):
            key_names = {
                key.name for key in keys if isinstance(key, ColumnRef) and key.relation == alias
            }
            return 1 if {name for name, _ in relation.further_keys} <= key_names else None
        case Compound() if is_multiplied(relation):
            listed = _listed_keys(relation, keys)
            if listed is None:
                return limits(relation, averaged).rows_per_group
            return total(
                [rows_per_group(inner, branch_keys, averaged) for inner, branch_keys in listed]
            )
        case Join() if most_partners(relation) > 1:
            private = _private_limits(relation, averaged)
            return times(most_in_group(private), partners_in_group(relation, keys))
        case _:
            return limits(relation, averaged).rows_per_group


def partners_in_group(relation: Relation, keys: list[Expression]) -> int:
    """The most combinations of public rows that one private row meets in one group."""
    fixed = {(key.relation, key.name) for key in keys if isinstance(key, ColumnRef)}
    return prod(
        min(
            [
                partners.most,
                *(
                    group.most
                    for group in partners.groups
                    if all((source.alias, name) in fixed for name in group.columns)
                ),
            ]
        )
        for source, partners in joined_partners(relation)
    )


def _partner_is_one(join: Join) -> bool:
    """Whether a left row has one partner at most: the right side's group keys are all equated."""
    match join.right:
        case PerUnit(alias=alias, keys=keys):
            equal = {
                column.name
                for column, other in _equal(join.condition)
                if column.relation == alias != other.relation
            }
            return bool(keys) and {name for name, _ in keys} <= equal
        case _:
            return False


def _is_partner_once(join: Join) -> bool:
    """Whether a right row has at most one left row as partner: the one whose key it references."""
    scans = {source.alias: source for source in sources(join.left) if isinstance(source, Scan)}
    return any(
        key.relation in scans
        and column.relation not in scans
        and column.identifies == f"{scans[key.relation].table}.{key.name}"
        and column.type == key.type
        and _stands_once(join.left, key.relation)
        for key, column in _equal(join.condition)
    )


def _stands_once(relation: Relation, alias: str) -> bool:
    """Whether each row of the source is in one row of the relation at most; False if not known."""
    match relation:
        case Filter(child=child):
            return _stands_once(child, alias)
        case Join(left=left_side, kind="left"):
            if alias in {source.alias for source in sources(left_side)}:
                return _partner_is_one(relation) and _stands_once(left_side, alias)
            return _private_limits(left_side, averaged=False).rows == 1 or _is_partner_once(
                relation
            )
        case Scan(alias=scan_alias):
            return scan_alias == alias
        case _:
            return False


def _equal(condition: Expression | None) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """The pairs of columns that the condition equates, either way round."""
    for conjunct in conjuncts(condition):
        match conjunct:
            case Call(function="=", arguments=(ColumnRef() as first, ColumnRef() as second)):
                yield first, second
                yield second, first
            case _:
                pass


def _multiplies(relation: Relation) -> bool:
    """Whether a row of the rest of a join may meet several rows of its own unit here."""
    return any(
        unit_of(source) is not None and getattr(source, "multiplies", True)
        for source in sources(relation)
    )


def sources(relation: Relation) -> list[Leaf]:
    """The tables and grouped subqueries that the relation joins."""
    match relation:
        case Scan() | PerUnit() | Groups() | Compound() | Constants():
            return [relation]
        case Join(left=left_side, right=right_side):
            return sources(left_side) + sources(right_side)
        case Filter(child=child):
            return sources(child)
        case _:
            assert_never(relation)


def sources_of_every_row(relation: Relation) -> list[Leaf]:
    """The tables and grouped subqueries that no row lacks, so no optional side of outer joins."""
    match relation:
        case Scan() | PerUnit() | Groups() | Compound() | Constants():
            return [relation]
        case Filter(child=child) | Join(left=child, kind="left"):
            return sources_of_every_row(child)
        case Join(left=left_side, right=right_side, kind="inner"):
            return sources_of_every_row(left_side) + sources_of_every_row(right_side)
        case Join():
            return []
        case _:
            assert_never(relation)


def conditions_of(relation: Relation) -> list[Expression]:
    """The conditions that every row fulfils: of filters and inner joins, not of outer joins."""
    match relation:
        case Filter(child=child, condition=condition):
            return [*conjuncts(condition), *conditions_of(child)]
        case Join(left=left_side, right=right_side, kind="inner", condition=condition):
            return [*conjuncts(condition), *conditions_of(left_side), *conditions_of(right_side)]
        case Join(left=left_side, kind="left"):
            return conditions_of(left_side)
        case _:
            return []
