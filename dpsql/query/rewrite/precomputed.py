"""What the condition of a join computes is computed before it, whether or not there is anything to be joined.

An engine that finds no row on the right side of a join computes nothing of its condition for the rows on the left.
Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.query.rewrite import node
from dpsql.query.rewrite.flat import PUBLIC, is_beside, is_slow_node, may_be_missing, own_parts, with_columns

#: What is slow where it reads something slow, and what only hands it on.
_COMPUTED = (exp.Func, exp.Like, exp.DPipe)
_BY_ROWS = (exp.Case, exp.If, exp.Coalesce, exp.Cast, exp.TryCast, exp.Connector)


def precompute(select: exp.Select) -> None:
    """Make each slow part of a join's condition that reads one table before it a column of that table.

    StatementError (E_JOIN) for a part that reads several of them, or one whose rows may be missing.
    """
    joins: list[exp.Join] = select.args.get("joins") or []
    if joins and is_beside(select) and any(map(_computes, own_parts(select))):
        raise StatementError(
            "E_JOIN",
            "a subquery that reads columns of the row beside it joins tables, and computes something of them; do "
            "that in a subquery in FROM, and join it",
        )
    if not any(_is_slow(join.args.get("on")) for join in joins):
        return
    before, computed = [select.args["from_"].this.alias], dict[str, list[exp.Expr]]()
    for join in joins:
        alias, on = join.this.alias, join.args.get("on")
        if on is not None:
            whole = frozenset(before) - may_be_missing(select, join) | {alias}
            refusing = bool(join.side) and not join.meta.get(PUBLIC)
            join.set("on", _hoisted(on, frozenset(before), whole, refusing, computed))
        before.append(alias)
    for holder in (select.args["from_"], *joins):
        if found := computed.get(holder.this.alias):
            more = {_name(place): each for place, each in enumerate(found)}
            holder.set("this", with_columns(holder.this, select, more))


def _hoisted(
    part: exp.Expr, before: frozenset[str], whole: frozenset[str], refusing: bool, computed: dict[str, list[exp.Expr]]
) -> exp.Expr:
    """The part with what is slow in it, and reads one of the ``whole`` sources, read from a column that is computed.

    ``before`` are the sources before the join; what reads that which is joined too is computed of its pairs alone.
    """
    if not _is_slow(part):
        return part
    tables = {column.table for column in part.find_all(exp.Column) if column.table}
    if not isinstance(part, exp.Connector | exp.Paren):
        if len(tables) == 1 and tables <= whole:
            (alias,) = tables
            known = computed.setdefault(alias, [])
            if part not in known:
                known.append(part.copy())
            return node.column(alias, _name(known.index(part)))
        if refusing and tables <= before and _is_computed(part):
            raise StatementError(
                "E_JOIN",
                "a condition of the join computes something of several tables, or of one whose rows may be missing; "
                "compare columns, or what is made of one table, or write the condition in WHERE",
            )
    for name, value in list(part.args.items()):
        if isinstance(value, list):
            part.set(name, [_hoisted(each, before, whole, refusing, computed) if isinstance(each, exp.Expr) else each
                            for each in value])  # fmt: skip
        elif isinstance(value, exp.Expr):
            part.set(name, _hoisted(value, before, whole, refusing, computed))
    return part


def _is_computed(part: exp.Expr) -> bool:
    """Whether the part is slow itself, and not only what it hands on or compares."""
    if not isinstance(part, _COMPUTED) or isinstance(part, _BY_ROWS):
        return False
    return not is_slow_node(part) and part.name not in ("LIST_VALUE", "LEFT") and _is_slow(part)


def _computes(part: exp.Expr) -> bool:
    return any(map(_is_computed, part.walk()))


def _name(place: int) -> str:
    return f"its key {place}"


def _is_slow(part: exp.Expr | None) -> bool:
    return part is not None and any(map(is_slow_node, part.find_all(exp.Anonymous)))
