"""Which of its groups, and which of its distinct values, a unit may bring: decided by its own rows alone.

Proved in ``docs/proofs/contribution.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.emit import node

#: Mixed into the hash that orders a unit's groups, so that the order is no property of the data alone.
HASH_KEY = "dpsql"


def crowded(groups: int) -> exp.Select:
    """The units that stand in more groups than they may."""
    unit = node.column("contributions", "u")
    many = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(groups))
    return node.select([unit], node.table("contributions"), group=[unit.copy()], having=many)


def kept(keys: list[str], values: list[str], groups: int) -> exp.SetOperation:
    """Each unit's first groups in a total order by keyed hash over unit and keys; no other unit has a say."""
    names = ["u", *keys, *values]
    free = node.select(
        [node.column("contributions", name) for name in names],
        node.table("contributions"),
        [node.join(node.table("crowded"), node.equal("contributions", "crowded", "u"), "LEFT")],
        exp.Is(this=node.column("crowded", "u"), expression=exp.null()),
    )
    ranked = node.select(
        [*(node.column("contributions", name) for name in names),
         node.aliased(_rank("contributions", ["u", *keys]), "place")],
        node.table("contributions"),
        [node.join(node.table("crowded"), node.equal("contributions", "crowded", "u"), "LEFT")],
        node.found(node.column("crowded", "u"), node.column("contributions", "u")),
    )  # fmt: skip
    first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(groups))
    cut = node.select([node.column("ranked", name) for name in names], node.subquery(ranked, "ranked"), where=first)
    return exp.Union(this=free, expression=cut, distinct=False)


def pairs(keys: list[str], name: str, most: int, *, thresholded: bool) -> exp.Select:
    """The distinct values that each unit brings to its groups, at most so many, in an order by keyed hash."""
    parts = ["u", *keys, name]
    joins = []
    if thresholded:
        on = node.conjoined([node.equal("rows", "kept", part) for part in ["u", *keys]])
        joins = [node.join(node.table("kept"), on)]
    different = node.select(
        [node.column("rows", part) for part in parts],
        node.table("rows"),
        joins,
        node.not_null(node.column("rows", name)),
        distinct=True,
    )
    ranked = node.select(
        [*(node.column("different", part) for part in parts), node.aliased(_rank("different", parts), "place")],
        node.subquery(different, "different"),
    )
    first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(most))
    return node.select([node.column("ranked", part) for part in parts[1:]], node.subquery(ranked, "ranked"),
                       where=first)  # fmt: skip


def _rank(relation: str, parts: list[str]) -> exp.Expr:
    """The place of a row among those of its unit: by keyed hash over unit and keys, then by the keys themselves."""
    hashed = node.function("HASH", exp.Literal.string(HASH_KEY), *(node.column(relation, part) for part in parts))
    order = [
        exp.Ordered(this=each, nulls_first=True)
        for each in (hashed, *(node.column(relation, part) for part in parts[1:]))
    ]
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[node.column(relation, "u")],
        order=exp.Order(expressions=order),
    )
