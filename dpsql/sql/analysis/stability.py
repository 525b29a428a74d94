"""How many rows and groups one unit may contribute to a relation, operator by operator.

The claim (`docs/proofs/stability.md`): every row of an admitted relation has exactly one unit, and the rows of a unit
are a function of that unit's own rows and of public tables. What the limits say on top of it is enforced by clipping.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from dpsql.sql.ir.expression import Call, ColumnRef, Expression, columns, conjuncts
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    ContributionLimits,
    Filter,
    Join,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    unit_of,
)


def limits(relation: Relation, averaged: bool = False) -> ContributionLimits:
    """What one unit may contribute to the relation in all; where ``averaged``, by the limits that averages have."""

    def of(part: Relation) -> ContributionLimits:
        return limits(part, averaged)

    match relation:
        case Scan(limits=declared):
            return declared.of_averages if averaged else declared
        case Join(left=left, right=right, kind="full"):
            return _most(_product(of(left), of(right)), _sum(of(left), of(right)))
        case Join(left=left, right=right, kind="left") if _partner_is_one(relation):
            return of(left)
        case Join(left=left, right=right, kind="left") if _is_partner_once(relation):
            return _sum(of(left), of(right))
        case Join(left=left, right=right):
            if not _multiplies(left):
                return of(right)
            return _product(of(left), of(right)) if _multiplies(right) else of(left)
        case Filter(child=child):
            return of(child)
        case PerUnit(child=child):
            return ContributionLimits(groups_by(child, [key for _, key in relation.further_keys]))
        case Compound(operator="intersect" | "intersect all" | "except" | "except all", branches=(first, *_)):
            return of(first.relation)
        case Compound(branches=(first, *others)):
            whole = of(first.relation)
            for other in others:
                whole = _sum(whole, of(other.relation))
            return whole
        case Compound() | Constants():
            return ContributionLimits(1, 1, 1)
        case _:
            assert_never(relation)


def row_limit(declared: ContributionLimits) -> int | None:
    """The most rows of one unit that the limits allow; None where they leave it open."""
    if declared.groups is None or declared.rows_per_group is None:
        return declared.rows
    return _least(declared.rows, declared.groups * declared.rows_per_group)


def groups_by(relation: Relation, keys: list[Expression]) -> int | None:
    """How many groups one unit may touch when the relation is grouped by ``keys``.

    Keys that are read from private tables alone give no more groups than those tables allow; any other key counts
    with the whole relation. Without keys there is one group.
    """
    if not keys:
        return 1
    named = {column.relation for key in keys for column in columns(key)}
    touched: int | None = 1
    for source in sources(relation):
        if source.alias not in named:
            continue
        if unit_of(source) is None:
            return _groups(limits(relation))
        few = _groups(limits(source))
        touched = None if touched is None or few is None else touched * few
        named.discard(source.alias)
    return touched if not named else _groups(limits(relation))


def rows_per_group(relation: Relation, keys: list[Expression], averaged: bool = False) -> int | None:
    """How many rows one unit may have in one group, when the relation is grouped by ``keys``.

    A subquery per unit and further keys has one row in a group of these keys, and any number in a coarser one.
    """
    match relation:
        case Filter(child=child):
            return rows_per_group(child, keys, averaged)
        case PerUnit(alias=alias):
            shown = {key.name for key in keys if isinstance(key, ColumnRef) and key.relation == alias}
            return 1 if {name for name, _ in relation.further_keys} <= shown else None
        case _:
            return limits(relation, averaged).rows_per_group


def _partner_is_one(join: Join) -> bool:
    """Whether a left row has one partner at most: a grouped subquery on the right, all of whose keys are equated."""
    match join.right:
        case PerUnit(alias=alias, keys=keys):
            equal = {own.name for own, other in _equal(join.condition) if own.relation == alias != other.relation}
            return bool(keys) and {name for name, _ in keys} <= equal
        case _:
            return False


def _is_partner_once(join: Join) -> bool:
    """Whether a row of the right side is the partner of one left row at most: the one whose key it references."""
    scans = {source.alias: source for source in sources(join.left) if isinstance(source, Scan)}
    return any(
        key.relation in scans and own.relation not in scans
        and own.identifies == f"{scans[key.relation].table}.{key.name}" and own.type == key.type
        and _stands_once(join.left, key.relation)
        for key, own in _equal(join.condition)
    )  # fmt: skip


def _stands_once(relation: Relation, alias: str) -> bool:
    """Whether each row of the source is in one row of the relation at most; False where that is not known."""
    match relation:
        case Filter(child=child):
            return _stands_once(child, alias)
        case Join(left=left, kind="left"):
            if alias in {source.alias for source in sources(left)}:
                return _partner_is_one(relation) and _stands_once(left, alias)
            return limits(left).rows == 1 or _is_partner_once(relation)
        case Scan(alias=own):
            return own == alias
        case _:
            return False


def _equal(condition: Expression | None) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """The pairs of columns that the condition equates, either way round."""
    for each in conjuncts(condition):
        match each:
            case Call(function="=", arguments=(ColumnRef() as left, ColumnRef() as right)):
                yield left, right
                yield right, left
            case _:
                pass


def _multiplies(relation: Relation) -> bool:
    """Whether one row of the rest of a join may meet several of this relation's rows of its own unit."""
    return any(unit_of(source) is not None and getattr(source, "multiplies", True) for source in sources(relation))


def sources(relation: Relation) -> list[Leaf]:
    """The tables and grouped subqueries that the relation joins."""
    match relation:
        case Scan() | PerUnit() | Compound() | Constants():
            return [relation]
        case Join(left=left, right=right):
            return sources(left) + sources(right)
        case Filter(child=child):
            return sources(child)
        case _:
            assert_never(relation)


def sources_of_every_row(relation: Relation) -> list[Leaf]:
    """The tables and grouped subqueries that no row lacks: none of the side that an outer join may leave out."""
    match relation:
        case Scan() | PerUnit() | Compound() | Constants():
            return [relation]
        case Filter(child=child) | Join(left=child, kind="left"):
            return sources_of_every_row(child)
        case Join(left=left, right=right, kind="inner"):
            return sources_of_every_row(left) + sources_of_every_row(right)
        case Join():
            return []
        case _:
            assert_never(relation)


def conditions_of(relation: Relation) -> list[Expression]:
    """The conditions that every row fulfils: those of filters and inner joins, not of outer joins."""
    match relation:
        case Filter(child=child, condition=condition):
            return [*conjuncts(condition), *conditions_of(child)]
        case Join(left=left, right=right, kind="inner", condition=condition):
            return [*conjuncts(condition), *conditions_of(left), *conditions_of(right)]
        case Join(left=left, kind="left"):
            return conditions_of(left)
        case _:
            return []


def _groups(declared: ContributionLimits) -> int | None:
    return _least(declared.groups, declared.rows)


def _product(left: ContributionLimits, right: ContributionLimits) -> ContributionLimits:
    def times(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a * b

    return ContributionLimits(
        times(left.rows, right.rows),
        times(_groups(left), _groups(right)),
        times(_least(left.rows_per_group, left.rows), _least(right.rows_per_group, right.rows)),
    )


def _sum(left: ContributionLimits, right: ContributionLimits) -> ContributionLimits:
    def plus(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    return ContributionLimits(
        plus(left.rows, right.rows),
        plus(_groups(left), _groups(right)),
        plus(_least(left.rows_per_group, left.rows), _least(right.rows_per_group, right.rows)),
    )


def _most(one: ContributionLimits, other: ContributionLimits) -> ContributionLimits:
    def larger(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else max(a, b)

    return ContributionLimits(
        larger(one.rows, other.rows),
        larger(one.groups, other.groups),
        larger(one.rows_per_group, other.rows_per_group),
    )


def _least(*numbers: int | None) -> int | None:
    known = [number for number in numbers if number is not None]
    return min(known) if known else None
