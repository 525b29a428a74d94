"""Whether the private sources of a join have one unit in every row,
by the columns that the conditions equate.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/subquery.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from sqlglot import exp

from dpsql.sql.analysis.stability import conditions_of, sources, sources_of_every_row
from dpsql.sql.ir.expression import Call, ColumnRef, Expression
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    Groups,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    unit_of,
)

#: The row around a subquery, as a source among the others.
_OUTSIDE = ""


def require_one_unit(
    parts: list[Leaf],
    conditions: list[Expression],
    node: exp.Expr,
    outside: frozenset[str] = frozenset(),
    partners: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse the joined sources unless the conditions tie all private ones to one unit,
    with the paths printed.

    ``outside`` are relations of rows around a subquery, each of one unit. ``partners`` are sources
    that rows may lack, each with the source whose unit it has where it is there.
    """
    private = [part for part in parts if unit_of(part) is not None]
    home = {part.alias: part.alias for part in private}
    home[_OUTSIDE] = _OUTSIDE
    owners = dict.fromkeys(outside, _OUTSIDE)
    owners |= {alias: part.alias for part in private for alias in _aliases(part)}
    owners = {**partners, **owners}

    def root(alias: str) -> str:
        while (above := home.get(alias, owners.get(alias, alias))) != alias:
            alias = above
        return alias

    for left, right in _ties(conditions):
        if {left.relation, right.relation} <= home.keys() | owners.keys():
            home[root(left.relation)] = root(right.relation)
    if len({root(part.alias) for part in private}) > 1:
        paths = "; ".join(sorted({_path(part) for part in private}))
        refuse(
            "E_JOIN",
            f"these private tables are not joined on their unit, so a row could have two ({paths})",
            node,
        )


def tied_source(lacking: Relation, kept: list[Leaf], conditions: list[Expression]) -> str | None:
    """The source on the kept side of an outer join whose unit the other side has;
    None where no condition ties them.

    The other side is one source. A row that has it fulfils the condition,
    so it has the unit of that kept source.
    """
    own = {alias for source in sources(lacking) for alias in _aliases(source)}
    others = {
        alias: part.alias for part in kept if unit_of(part) is not None for alias in _aliases(part)
    }
    for left, right in _ties(conditions):
        for mine, other in ((left, right), (right, left)):
            if mine.relation in own and other.relation in others:
                return others[other.relation]
    return None


def _ties(conditions: list[Expression]) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """The pairs of columns that identify the same thing and that the conditions equate."""
    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(ColumnRef() as left, ColumnRef() as right)) if (
                left.identifies is not None
                and left.identifies == right.identifies
                and left.type == right.type
            ):  # columns of one type are compared exactly, others as doubles
                yield left, right


def is_tied(relation: Relation, outside: frozenset[str]) -> bool:
    """Whether each row of the relation has the unit of the row outside that it is read for."""
    there = sources_of_every_row(relation)
    own = {alias for part in there for alias in _aliases(part)}
    for left, right in _ties(conditions_of(relation)):
        if (left.relation in own and right.relation in outside) or (
            right.relation in own and left.relation in outside
        ):
            return True
    return any(_is_tied_inside(part, outside) for part in there)


def _is_tied_inside(part: Leaf, outside: frozenset[str]) -> bool:
    match part:
        case PerUnit(child=child):
            return is_tied(child, outside)
        case Compound(branches=branches):
            return all(is_tied(branch.relation, outside) for branch in branches)
        case Scan() | Groups() | Constants():
            return False
        case _:
            assert_never(part)


def _aliases(part: Leaf) -> list[str]:
    """The names under which the columns of the source and of its parents are known."""
    return (
        [part.alias, *(hop.alias for hop in part.hops)] if isinstance(part, Scan) else [part.alias]
    )


def _path(part: Relation) -> str:
    if not isinstance(part, Scan):
        return "subquery → unit"
    steps = [f"{hop.child.name} → {hop.table}.{hop.parent.name}" for hop in part.hops]
    assert part.unit is not None
    return f"{part.table}: {', '.join([*steps, f'{part.unit.name} is the unit'])}"
