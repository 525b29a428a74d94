"""What is computed of one source of a join is computed before it,
whether or not there is anything to be joined.

An engine that finds no row on the right side of a join computes nothing of its condition for the
rows on the left; and of a product it hands on the rows of one side as constants, and
computes a function of them once for many pairs. Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import PUBLIC
from dpsql.sql.emit.duckdb.per_row_evaluation import (
    ONE,
    clauses,
    is_beside,
    is_flat_list,
    is_product,
    is_slow_node,
    made_flat,
    may_be_missing,
    own_parts,
    with_columns,
)

#: What is slow where it reads something slow, and what only hands it on.
_COMPUTED = (exp.Func, exp.Like, exp.DPipe)
#: What is no value of a row, or is computed for it elsewhere.
_HOLDERS = (
    exp.Alias,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Order,
    exp.AggFunc,
    exp.Filter,
    exp.Window,
    exp.Select,
)
_BY_ROWS = (exp.Case, exp.If, exp.Coalesce, exp.Cast, exp.TryCast, exp.Connector)


def precompute(select: exp.Select) -> None:
    """Make each slow part of a join's condition that reads one table before it a column of that
    table; where rows are multiplied as they are, each slow part of the statement that reads one
    table.

    StatementError (E_JOIN) for a part that reads several of them, or one whose rows may be missing.
    """
    joins: list[exp.Join] = select.args.get("joins") or []
    if is_beside(select):
        if joins and any(map(_computes, own_parts(select))):
            raise StatementError(
                "E_JOIN",
                "a subquery that reads columns of the row beside it joins tables, and computes something of them; do "
                "that in a subquery in FROM, and join it",
            )
        return
    computed = dict[str, list[exp.Expr]]()
    product = is_product(select)
    if product:
        certain = {holder.this.alias for holder in (select.args["from_"], *joins)} - may_be_missing(
            select
        )
        for clause in clauses(select):
            _below(clause, frozenset(certain), computed)
    if not computed and not any(_is_slow(join.args.get("on")) for join in joins):
        return
    before = [select.args["from_"].this.alias]
    for join in joins:
        alias = join.this.alias
        on = join.args.get("on")
        if on is not None:
            complete = frozenset(before) - may_be_missing(select, join) | {alias}
            refusing = bool(join.side) and not join.meta.get(PUBLIC)
            join.set(
                "on",
                _hoisted(
                    on, frozenset(before), complete, refusing, product=product, computed=computed
                ),
            )
        before.append(alias)
    for holder in (select.args["from_"], *joins):
        if expressions := computed.get(holder.this.alias):
            more = {_name(index): expression for index, expression in enumerate(expressions)}
            holder.set("this", with_columns(holder.this, select, more))


def _below(
    expression: exp.Expr, complete: frozenset[str], computed: dict[str, list[exp.Expr]]
) -> exp.Expr:
    """The part, in which each slow value that reads one of the ``complete`` sources is read from a
    precomputed column.
    """
    if not _is_slow(expression) or isinstance(expression, exp.Select):
        return expression
    tables = {column.table for column in expression.find_all(exp.Column) if column.table}
    if (
        len(tables) == 1
        and tables <= complete
        and not isinstance(expression, (*_HOLDERS, exp.If))
        and expression.find(*_HOLDERS) is None
    ):
        asks = any(
            column.name == ONE and not is_slow_node(column.parent)
            for column in expression.find_all(exp.Column)
        )
        if not asks:
            (alias,) = tables
            known = computed.setdefault(alias, [])
            if expression not in known:
                known.append(expression.copy())
            return _flat_again(node.column(alias, _name(known.index(expression))), expression)

    def inside(child: object) -> object:
        return _below(child, complete, computed) if isinstance(child, exp.Expr) else child

    for name, value in list(expression.args.items()):
        expression.set(
            name, [inside(child) for child in value] if isinstance(value, list) else inside(value)
        )
    return expression


def _flat_again(column: exp.Expr, expression: exp.Expr) -> exp.Expr:
    """The column, made flat where something is computed of it together with other sources of a
    product.
    """
    around = expression.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    computing = isinstance(around, _COMPUTED) and not isinstance(around, _BY_ROWS)
    return made_flat(column) if computing else column


def _hoisted(
    expression: exp.Expr,
    before: frozenset[str],
    complete: frozenset[str],
    refusing: bool,
    product: bool,
    computed: dict[str, list[exp.Expr]],
) -> exp.Expr:
    """The part, in which what is slow and reads one of the ``complete`` sources is read from a
    precomputed column.

    ``before`` are the sources before the join;
    what also reads the joined source is computed for pairs only.
    """
    if not _is_slow(expression):
        return expression
    tables = {column.table for column in expression.find_all(exp.Column) if column.table}
    if not isinstance(expression, exp.Connector | exp.Paren | exp.If):
        if len(tables) == 1 and tables <= complete:
            (alias,) = tables
            known = computed.setdefault(alias, [])
            if expression not in known:
                known.append(expression.copy())
            column = node.column(alias, _name(known.index(expression)))
            return _flat_again(column, expression) if product else column
        if refusing and tables <= before and _is_computed(expression):
            raise StatementError(
                "E_JOIN",
                "a condition of the join computes something of several tables, or of one whose rows may be missing; "
                "compare columns, or what is made of one table, or write the condition in WHERE",
            )

    def inside(child: object) -> object:
        if not isinstance(child, exp.Expr):
            return child
        return _hoisted(child, before, complete, refusing, product=product, computed=computed)

    for name, value in list(expression.args.items()):
        expression.set(
            name, [inside(child) for child in value] if isinstance(value, list) else inside(value)
        )
    return expression


def _is_computed(expression: exp.Expr) -> bool:
    """Whether the part is slow itself, and not only what it hands on or compares."""
    if not isinstance(expression, _COMPUTED) or isinstance(expression, _BY_ROWS):
        return False
    return (
        not is_slow_node(expression)
        and not is_flat_list(expression)
        and expression.name != "LEFT"
        and _is_slow(expression)
    )


def _computes(expression: exp.Expr) -> bool:
    return any(map(_is_computed, expression.walk()))


def _name(index: int) -> str:
    return f"its key {index}"


def _is_slow(expression: exp.Expr | None) -> bool:
    """Whether a slow function stands in the part.

    >>> from dpsql.sql.emit.duckdb import DUCKDB
    >>> padded = DUCKDB.total_form("lpad", made_flat(exp.column("a")), exp.Literal.number(3))
    >>> [_is_slow(part) for part in (None, exp.column("a"), padded)]
    [False, False, True]
    """
    return expression is not None and any(map(is_slow_node, expression.walk()))
