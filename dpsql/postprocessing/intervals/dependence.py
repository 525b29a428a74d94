"""How the columns of a statement depend on released numbers: not at all, smoothly, or so that noise chooses.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import fold


class Dependence(IntEnum):
    """What noise does to a column.

    ``PUBLIC``: nothing. ``SMOOTH``: the column is computed of noisy numbers, so that noise which is drawn again shows
    how far noise moves it. ``CHOSEN``: noise chooses a row, a case, a rank or one of several numbers, or it is not
    drawn again.
    """

    PUBLIC = 0
    SMOOTH = 1
    CHOSEN = 2


#: What noise goes through without a choice: arithmetic, roots, logarithms, sums, averages and windows.
_SMOOTH = (
    exp.Paren, exp.Alias, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Cast, exp.TryCast,
    exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Coalesce, exp.Nullif, exp.Sqrt, exp.Cbrt, exp.Ln, exp.Log, exp.Exp,
    exp.Pow, exp.DateDiff, exp.Extract, exp.Year, exp.Case, exp.If, exp.Sum, exp.Avg, exp.Window, exp.Filter, exp.Lag,
    exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip
#: The columns of released tables that no noise moves: keys, marks of totals and the numbers of rows.
_EXACT, _RELEASED = re.compile(r"row|[kg]\d+"), re.compile(r"row|[kga]\d+|e\d+_(low|high)")


@dataclass(frozen=True)
class CellOrigin:
    """An expression over the columns of one row of a released table; ``row`` is the place of that table."""

    row: int
    expression: exp.Expr

    @property
    def aggregate(self) -> int | None:
        """The place of the aggregate that the column is, where it is one."""
        name = self.expression.name if isinstance(self.expression, exp.Column) else ""
        return int(name[1:]) if name.startswith("a") else None

    @property
    def is_computed(self) -> bool:
        """Whether the expression reads an aggregate and is not that aggregate itself."""
        read = [column.name for column in self.expression.find_all(exp.Column)]
        return self.aggregate is None and any(name.startswith("a") for name in read)


@dataclass(frozen=True)
class SourceColumn:
    """A column of a query: how it depends on noise, and what it is of one released row, where it is of one."""

    name: str
    dependence: Dependence
    origin: CellOrigin | None = None


@dataclass(frozen=True)
class Source:
    """A source of a FROM clause; ``columns`` are None where they are not known.

    Of a released table ``place`` is its place, ``chosen`` are the columns whose noise is not drawn again as it is.
    """

    name: str
    columns: Sequence[SourceColumn] | None = None
    chosen_rows: bool = False
    place: int | None = None
    chosen: Sequence[str] = ()

    def named(self, name: str) -> list[SourceColumn]:
        """The columns of the name."""
        if self.place is None:
            return [each for each in self.columns or () if each.name == name]
        if not _RELEASED.fullmatch(name):
            return []
        smooth = name.startswith("a") and name not in self.chosen
        known = Dependence.PUBLIC if _EXACT.fullmatch(name) else Dependence.SMOOTH if smooth else Dependence.CHOSEN
        return [SourceColumn(name, known, CellOrigin(self.place, exp.column(exp.to_identifier(name, quoted=True))))]


@dataclass(frozen=True)
class ColumnScope:
    """What a name in a SELECT may mean: a column of a source, an item of the SELECT, or a name of the SELECT around.

    ``chosen_rows`` tells whether noise chooses the rows of the SELECT.
    """

    sources: Sequence[Source]
    items: Mapping[str, exp.Expr] = field(default_factory=dict)
    chosen_rows: bool = False
    around: ColumnScope | None = None

    def named(self, column: exp.Column) -> list[SourceColumn]:
        """The columns of the sources that the column may be."""
        name, table = fold(column.name), fold(column.table)
        return [each for source in self.sources if not table or source.name == table for each in source.named(name)]


#: How the value of a subquery depends on noise, given the scope around it.
SubqueryDependence: TypeAlias = Callable[[exp.Query, ColumnScope], Dependence]


def dependence_of(node: exp.Expr, scope: ColumnScope, subquery: SubqueryDependence) -> Dependence:
    """How the value of an expression depends on noise."""
    match node:
        case exp.Column():
            return _column_dependence(node, scope, subquery)
        case exp.Query():
            return subquery(node, scope)
    most = max((dependence_of(each, scope, subquery) for each in node.iter_expressions()), default=Dependence.PUBLIC)
    if most is Dependence.PUBLIC:
        several = isinstance(node, (exp.AggFunc, exp.Window))
        return Dependence.PUBLIC if not several else Dependence.CHOSEN if scope.chosen_rows else Dependence.SMOOTH
    return Dependence.CHOSEN if scope.chosen_rows or _chooses(node, scope, subquery) else most


def is_noisy(nodes: Sequence[exp.Expr | None], scope: ColumnScope, subquery: SubqueryDependence) -> bool:
    """Whether one of the expressions depends on noise."""
    return any(each is not None and dependence_of(each, scope, subquery) is not Dependence.PUBLIC for each in nodes)


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


def _column_dependence(column: exp.Column, scope: ColumnScope, subquery: SubqueryDependence) -> Dependence:
    name, table = fold(column.name), fold(column.table)
    found = [each.dependence for each in scope.named(column)]
    if found:
        return Dependence.CHOSEN if scope.chosen_rows and any(found) else max(found)
    if not table and name in scope.items:
        others = {each: item for each, item in scope.items.items() if each != name}
        return dependence_of(scope.items[name], replace(scope, items=others), subquery)
    if scope.around is not None and all(source.name != table for source in scope.sources):
        return _column_dependence(column, scope.around, subquery)
    return Dependence.CHOSEN


def origin_of(node: exp.Expr, scope: ColumnScope) -> CellOrigin | None:
    """The expression over the columns of one released row; None where it reads more, or less."""
    if node.find(exp.Window, exp.Query, exp.AggFunc, exp.Star, exp.Explode) is not None:
        return None
    found: list[CellOrigin | None] = []

    def substituted(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        having = scope.named(part)
        found.append(having[0].origin if len(having) == 1 else None)
        inner = part if found[-1] is None else found[-1].expression
        return inner.copy() if isinstance(inner, exp.Column) else exp.Paren(this=inner.copy())

    expression = node.copy().transform(substituted)
    rows = {None if origin is None else origin.row for origin in found}
    (row,) = rows if len(rows) == 1 else (None,)
    return None if row is None else CellOrigin(row, expression.unnest())


def chooses_rows(select: exp.Select, scope: ColumnScope, subquery: SubqueryDependence) -> bool:
    """Whether noise chooses the rows of the SELECT, or which of them are together."""
    joins, by = select.args.get("joins") or [], list[exp.Expr | None]()
    order, group = select.args.get("order"), select.args.get("group")
    if any(join.args.get("method") for join in joins) or (is_limited(select) and order is None):
        return True
    by += [exp.column(name.copy()) for join in joins for name in join.args.get("using") or ()]
    by += [join.args.get("on") for join in joins]
    by += [select.args.get(part) for part in ("where", "having", "qualify")]
    if group is not None:
        by += [_at(each, select) for each in group.expressions]
        by += [each for part in ("rollup", "cube", "grouping_sets") for each in group.args.get(part) or ()]
        if group.args.get("all"):
            by += [item for item in select.expressions if item.find(exp.AggFunc) is None]
    if order is not None and is_limited(select):
        by += [_at(each.this, select) for each in order.expressions]
    return is_noisy(by, scope, subquery)


def starred(star: exp.Star, table: str, select: exp.Select, scope: ColumnScope) -> list[SourceColumn] | None:
    """The columns that a star stands for; None where that is not known."""
    joins = select.args.get("joins") or []
    if star.args.get("replace") or star.args.get("rename") or any(join.args.get("method") for join in joins):
        return None
    left_out = {fold(each.name) for each in star.args.get("except_") or ()}
    merged = {fold(name.name) for join in joins for name in join.args.get("using") or ()}
    found: list[SourceColumn] = []
    for source in scope.sources:
        if table in ("", source.name):
            if source.columns is None:
                return None
            known = {each.name for each in found} & (set() if table else merged)
            found += [each for each in source.columns if each.name not in left_out and each.name not in known]
    return found


def is_limited(query: exp.Expr) -> bool:
    """Whether the query has a LIMIT or an OFFSET."""
    return query.args.get("limit") is not None or query.args.get("offset") is not None


def _at(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """What a key of GROUP BY or ORDER BY stands for, which may be the place of an item."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdecimal():
        item: exp.Expr = select.expressions[int(key.name) - 1]
        return item.unalias()
    return key


def sources_of(select: exp.Select) -> list[exp.Expr]:
    """The sources of a SELECT, the joined ones too."""
    first = select.args.get("from_")
    return [*([] if first is None else [first.this]), *(join.this for join in select.args.get("joins") or ())]


def own_nodes(select: exp.Expr, also: Callable[[exp.Expr], bool] = lambda node: False) -> Iterator[exp.Expr]:
    """The nodes of a SELECT without what is inside of its subqueries, and inside of what is ``also`` to be left out."""
    inner = select.walk(prune=lambda node: node is not select and (isinstance(node, exp.Query) or also(node)))
    return (node for node in inner if node is not select)
