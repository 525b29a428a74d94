"""Whether the private sources of a join have one unit in every row, by the columns that the conditions equate.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.expression import Call, Column, Expression
from dpsql.query.refusal import refuse
from dpsql.query.relation import Leaf, Relation, Scan, unit_of


def require_one_unit(parts: list[Leaf], conditions: list[Expression], node: exp.Expr) -> None:
    """Refuse the joined sources unless the conditions tie all private ones to one unit, with the paths printed."""
    private = [part for part in parts if unit_of(part) is not None]
    home = {part.alias: part.alias for part in private}
    owners = {hop.alias: part.alias for part in private if isinstance(part, Scan) for hop in part.hops}

    def root(alias: str) -> str:
        alias = owners.get(alias, alias)
        while home[alias] != alias:
            alias = home[alias]
        return alias

    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(Column() as left, Column() as right)) if (
                left.identifies is not None and left.identifies == right.identifies and left.type == right.type
            ):  # columns of one type are compared exactly, others as doubles
                if {left.relation, right.relation} <= home.keys() | owners.keys():
                    home[root(left.relation)] = root(right.relation)
    if len({root(part.alias) for part in private}) > 1:
        paths = "; ".join(sorted({_path(part) for part in private}))
        refuse("E_JOIN", f"these private tables are not joined on their unit, so a row could have two ({paths})",
               node)  # fmt: skip


def _path(part: Relation) -> str:
    if not isinstance(part, Scan):
        return "subquery → unit"
    steps = [f"{hop.child.name} → {hop.table}.{hop.parent.name}" for hop in part.hops]
    assert part.unit is not None
    return f"{part.table}: {', '.join([*steps, f'{part.unit.name} is the unit'])}"
