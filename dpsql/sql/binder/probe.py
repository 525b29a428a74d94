"""Probes: statements that no row can answer, with which clients learn names and types of columns.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.group_keys import is_plain_distinct
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.emit.scalar import engine_type
from dpsql.sql.ir.dialect_options import Manner
from dpsql.sql.ir.refusal import only

if TYPE_CHECKING:
    from dpsql.sql.binder.bind import Binder


def is_probe(select: exp.Select | exp.SetOperation) -> bool:
    """Whether the query has no row whatever the data: LIMIT 0, or a WHERE before any group that is false as written.

    >>> from sqlglot import parse_one
    >>> ends = ("a FROM t LIMIT 0", "a FROM t WHERE 1 = 0", "COUNT(*) FROM t WHERE FALSE", "a FROM t LIMIT 1")
    >>> [is_probe(parse_one(f"SELECT {end}")) for end in ends]
    [True, True, False, False]
    """
    limit, where = select.args.get("limit"), select.args.get("where")
    if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.name == "0":
        return not limit.args.get("limit_options")
    if where is None or not isinstance(select, exp.Select) or is_grouped(select):
        return False
    return any(_is_false(part) for part in _conjuncts(where.this))


def is_raw_probe(select: exp.Select, manner: Manner) -> bool:
    """Whether the SELECT of single rows is answered by its columns alone, as the front end wants it.

    As a part of a statement it would say that there are no rows, which nobody knows: there it is refused.

    >>> from sqlglot import parse_one
    >>> probe, part = parse_one("SELECT a FROM t LIMIT 1"), parse_one("SELECT EXISTS (SELECT 1 FROM t LIMIT 1)")
    >>> [is_raw_probe(each, Manner(raw_select="probe")) for each in (probe, part.find(exp.Exists).this)]
    [True, False]
    """
    if manner.raw_select == "error" or is_plain_distinct(select):
        return False
    if select.find_ancestor(exp.Select, exp.SetOperation) is not None:
        return False
    limit = select.args.get("limit")
    few = isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.name == "1"
    return few or manner.raw_select == "empty"


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    return [*_conjuncts(node.this), *_conjuncts(node.expression)] if isinstance(node, exp.And) else [node]


def _is_false(node: exp.Expr) -> bool:
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Literal) and isinstance(node.expression, exp.Literal):
        return node.this.is_int and node.expression.is_int and int(node.this.name) != int(node.expression.name)
    return isinstance(node, exp.Boolean) and not node.this


def no_rows(select: exp.Select, source_from: From, binder: Binder) -> exp.Select:
    """A SELECT of no rows whose columns have the names and the types of the probe's."""
    only(select, "expressions", "from_", "joins", "where", "order", "limit", "offset", code="E_RAW")
    columns: list[exp.Expr] = []
    for place, item in enumerate(select.expressions):
        for name, expression in binder.rows.item(item, place, source_from):
            typed = exp.Cast(this=exp.Null(), to=exp.DataType.build(engine_type(expression.type), dialect="duckdb"))
            brings_name = isinstance(item, exp.Alias | exp.Star | exp.Column)
            named = item.alias or (name if brings_name else output_name(item, binder.manner))
            columns.append(exp.alias_(typed, named, quoted=True))
    return exp.select(*columns).where(exp.Boolean(this=False), copy=False)
