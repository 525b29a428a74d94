"""Whether the private sources of a join have one unit in every row, by the equated columns.

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
    joined: list[Leaf],
    conditions: list[Expression],
    node: exp.Expr,
    outside: frozenset[str] = frozenset(),
    partners: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse the joined sources unless the conditions tie all private ones to one unit.

    The refusal prints the paths. ``outside`` are relations of rows around a subquery, each of one
    unit. ``partners`` are sources that rows may lack, each with the source whose unit it has if
    present.
    """
    private = [source for source in joined if unit_of(source) is not None]
    home = {source.alias: source.alias for source in private}
    home[_OUTSIDE] = _OUTSIDE
    owners = dict.fromkeys(outside, _OUTSIDE)
    owners |= {alias: source.alias for source in private for alias in _aliases(source)}
    owners = {**partners, **owners}

    def root(alias: str) -> str:
        while (above := home.get(alias, owners.get(alias, alias))) != alias:
            alias = above
        return alias

    for first, second in _ties(conditions):
        if {first.relation, second.relation} <= home.keys() | owners.keys():
            home[root(first.relation)] = root(second.relation)
    if len({root(source.alias) for source in private}) > 1:
        paths = "; ".join(sorted({_path(source) for source in private}))
        refuse(
            "E_JOIN",
            f"these private tables are not joined on their unit, so a row could have two ({paths})",
            node,
        )


def tied_source(
    lacking: Relation, kept_side: list[Leaf], conditions: list[Expression]
) -> str | None:
    """The source on an outer join's kept side whose unit the other side has; None if untied.

    The other side is one source. A row that has it fulfils the condition,
    so it has the unit of that kept source.
    """
    own_aliases = {alias for source in sources(lacking) for alias in _aliases(source)}
    others = {
        alias: kept_source.alias
        for kept_source in kept_side
        if unit_of(kept_source) is not None
        for alias in _aliases(kept_source)
    }
    for first, second in _ties(conditions):
        for mine, other in ((first, second), (second, first)):
            if mine.relation in own_aliases and other.relation in others:
                return others[other.relation]
    return None


def _ties(conditions: list[Expression]) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """The pairs of columns that identify the same thing and that the conditions equate."""
    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(ColumnRef() as first, ColumnRef() as second)) if (
                first.identifies is not None
                and first.identifies == second.identifies
                and first.type == second.type
            ):  # columns of one type are compared exactly, others as doubles
                yield first, second


def is_tied(relation: Relation, outside: frozenset[str]) -> bool:
    """Whether each row of the relation has the unit of the row outside that it is read for."""
    inner_sources = sources_of_every_row(relation)
    own_aliases = {alias for source in inner_sources for alias in _aliases(source)}
    for first, second in _ties(conditions_of(relation)):
        if (first.relation in own_aliases and second.relation in outside) or (
            second.relation in own_aliases and first.relation in outside
        ):
            return True
    return any(_is_tied_inside(source, outside) for source in inner_sources)


def _is_tied_inside(source: Leaf, outside: frozenset[str]) -> bool:
    match source:
        case PerUnit(child=child):
            return is_tied(child, outside)
        case Compound(branches=branches):
            return all(is_tied(branch.relation, outside) for branch in branches)
        case Scan() | Groups() | Constants():
            return False
        case _:
            assert_never(source)


def _aliases(source: Leaf) -> list[str]:
    """The names under which the columns of the source and of its parents are known."""
    return (
        [source.alias, *(hop.alias for hop in source.hops)]
        if isinstance(source, Scan)
        else [source.alias]
    )


def _path(source: Relation) -> str:
    if not isinstance(source, Scan):
        return "subquery → unit"
    steps = [f"{hop.child.name} → {hop.table}.{hop.parent.name}" for hop in source.hops]
    assert source.unit is not None
    return f"{source.table}: {', '.join([*steps, f'{source.unit.name} is the unit'])}"
