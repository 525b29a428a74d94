"""How the columns of a statement depend on released numbers.

They depend on them not at all, smoothly, or so that noise chooses. Proved in
``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import fold


class Dependence(IntEnum):
    """What noise does to a column.

    ``PUBLIC``: nothing. ``SMOOTH``: the column is computed of noisy numbers, so that noise which is
    drawn again shows how far noise moves it. ``CHOSEN``: noise chooses a row, a case, a rank or one
    of several numbers, or it is not drawn again.
    """

    PUBLIC = 0
    SMOOTH = 1
    CHOSEN = 2


#: What noise goes through without a choice: arithmetic, roots, logarithms, sums,
#: averages and #: windows.
_SMOOTH = (
    exp.Paren,
    exp.Alias,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.IntDiv,
    exp.Cast,
    exp.TryCast,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.Trunc,
    exp.Coalesce,
    exp.Nullif,
    exp.Sqrt,
    exp.Cbrt,
    exp.Ln,
    exp.Log,
    exp.Exp,
    exp.Pow,
    exp.Case,
    exp.If,
    exp.Sum,
    exp.Avg,
    exp.Window,
    exp.Filter,
    exp.Lag,
    exp.Lead,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
)


@dataclass(frozen=True)
class CellOrigin:
    """An expression over the columns of one row of a released table.

    ``row`` is the index of that table.
    """

    row: int
    expression: exp.Expr

    @property
    def aggregate(self) -> int | None:
        """The index of the aggregate, if the column is one."""
        name = self.expression.name if isinstance(self.expression, exp.Column) else ""
        return int(name[1:]) if name.startswith("a") else None


@dataclass(frozen=True)
class SourceColumn:
    """A column of a query: its dependence on noise, and its origin.

    The origin is what it is of one released row, if it is of one.
    """

    name: str
    dependence: Dependence
    origin: CellOrigin | None = None


@dataclass(frozen=True)
class Source:
    """A source of a FROM clause; ``columns`` are None where they are not known."""

    name: str
    columns: Sequence[SourceColumn] | None = None
    chosen_rows: bool = False


@dataclass(frozen=True)
class ColumnScope:
    """What a name in a SELECT may mean: a column of a source, or an item of the SELECT.

    ``chosen_rows`` tells whether noise chooses the rows of the SELECT.
    """

    sources: Sequence[Source]
    items: Mapping[str, exp.Expr]
    chosen_rows: bool

    def named(self, column: exp.Column) -> list[SourceColumn]:
        """The columns of the sources that the column may be."""
        name = fold(column.name)
        table = fold(column.table)
        return [
            column_
            for source in self.sources
            if table in ("", source.name)
            for column_ in source.columns or ()
            if column_.name == name
        ]

    def without(self, name: str) -> ColumnScope:
        """The scope of the item of that name, which does not mean itself."""
        return replace(
            self, items={other: item for other, item in self.items.items() if other != name}
        )


#: How the value of a subquery depends on noise.
SubqueryDependence: TypeAlias = Callable[[exp.Query], Dependence]


def dependence_of(node: exp.Expr, scope: ColumnScope, subquery: SubqueryDependence) -> Dependence:
    """How the value of an expression depends on noise."""
    match node:
        case exp.Column():
            return _column_dependence(node, scope, subquery)
        case exp.Query():
            return subquery(node)
    most = max(
        (dependence_of(child, scope, subquery) for child in node.iter_expressions()),
        default=Dependence.PUBLIC,
    )
    if most is Dependence.PUBLIC:
        if not isinstance(node, (exp.AggFunc, exp.Window)):
            return Dependence.PUBLIC
        return Dependence.CHOSEN if scope.chosen_rows else Dependence.SMOOTH
    return Dependence.CHOSEN if scope.chosen_rows or _chooses(node, scope, subquery) else most


def is_noisy(
    nodes: Sequence[exp.Expr | None], scope: ColumnScope, subquery: SubqueryDependence
) -> bool:
    """Whether one of the expressions depends on noise."""
    return any(
        node is not None and dependence_of(node, scope, subquery) is not Dependence.PUBLIC
        for node in nodes
    )


def _chooses(node: exp.Expr, scope: ColumnScope, subquery: SubqueryDependence) -> bool:
    """Whether the node chooses by one of its parts, which are not all public."""
    by = list[exp.Expr | None]()
    match node:
        case exp.Case() | exp.If():
            by = [node.this]
        case exp.Window():
            by = [*(node.args.get("partition_by") or ()), node.args.get("order")]
        case exp.Filter():
            by = [node.expression]
        case _ if not isinstance(node, _SMOOTH):
            return True
    return is_noisy(by, scope, subquery)


def _column_dependence(
    column: exp.Column, scope: ColumnScope, subquery: SubqueryDependence
) -> Dependence:
    name = fold(column.name)
    table = fold(column.table)
    dependences = [source_column.dependence for source_column in scope.named(column)]
    if dependences:
        return Dependence.CHOSEN if scope.chosen_rows and any(dependences) else max(dependences)
    if not table and name in scope.items:
        return dependence_of(scope.items[name], scope.without(name), subquery)
    return Dependence.CHOSEN


def origin_of(node: exp.Expr, scope: ColumnScope) -> CellOrigin | None:
    """The expression over the columns of one released row; None if it reads more, or less."""
    if node.find(exp.Window, exp.Query, exp.AggFunc, exp.Star, exp.Explode) is not None:
        return None
    origins: list[CellOrigin | None] = []

    def substituted(node_: exp.Expr) -> exp.Expr:
        if not isinstance(node_, exp.Column):
            return node_
        having = scope.named(node_)
        name = fold(node_.name)
        if not having and not node_.table and name in scope.items:
            item = origin_of(scope.items[name], scope.without(name))
            origins.append(item)
        else:
            origins.append(having[0].origin if len(having) == 1 else None)
        inner = node_ if origins[-1] is None else origins[-1].expression
        return inner.copy() if isinstance(inner, exp.Column) else exp.Paren(this=inner.copy())

    expression = node.copy().transform(substituted)
    rows = {None if origin is None else origin.row for origin in origins}
    (row,) = rows if len(rows) == 1 else (None,)
    return None if row is None else CellOrigin(row, expression.unnest())


def chooses_rows(select: exp.Select, scope: ColumnScope, subquery: SubqueryDependence) -> bool:
    """Whether noise chooses the rows of the SELECT, or which of them are together."""
    joins = select.args.get("joins") or []
    order = select.args.get("order")
    group = select.args.get("group")
    if any(join.args.get("method") for join in joins) or (is_limited(select) and order is None):
        return True
    by: list[exp.Expr | None] = [
        exp.column(name.copy()) for join in joins for name in join.args.get("using") or ()
    ]
    by += [join.args.get("on") for join in joins]
    by += [select.args.get(clause) for clause in ("where", "having", "qualify")]
    if group is not None:
        by += [_resolve_ordinal(expression, select) for expression in group.expressions]
        by += [
            expression_
            for clause in ("rollup", "cube", "grouping_sets")
            for expression_ in group.args.get(clause) or ()
        ]
        by += [
            item
            for item in select.expressions
            if group.args.get("all") and item.find(exp.AggFunc) is None
        ]
    if order is not None and is_limited(select):
        by += [_resolve_ordinal(expression.this, select) for expression in order.expressions]
    return is_noisy(by, scope, subquery)


def is_limited(query: exp.Expr) -> bool:
    """Whether the query has a LIMIT or an OFFSET."""
    return query.args.get("limit") is not None or query.args.get("offset") is not None


def _resolve_ordinal(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """What a key of GROUP BY or ORDER BY stands for, which may be the place of an item."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdecimal():
        item: exp.Expr = select.expressions[int(key.name) - 1]
        return item.unalias()
    return key
