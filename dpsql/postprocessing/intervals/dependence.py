"""How the columns of a statement depend on released numbers: not at all, smoothly, or so that noise chooses.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from sqlglot import exp

from dpsql.postprocessing.intervals.lineage import sources_of
from dpsql.schema import fold
from dpsql.sql.binder.scope import alias_columns


class Dependence(IntEnum):
    """What noise does to a column.

    ``PUBLIC``: nothing. ``SMOOTH``: the column is computed of noisy numbers, so that noise which is drawn again shows
    how far noise moves it. ``CHOSEN``: noise chooses a row, a case, a rank or one of several numbers, or it is not
    drawn again.
    """

    PUBLIC = 0
    SMOOTH = 1
    CHOSEN = 2


#: The names of columns with how each depends on noise.
ColumnDependences: TypeAlias = list[tuple[str, Dependence]]
#: What noise goes through without a choice: arithmetic, roots, logarithms, sums, averages and windows.
_SMOOTH = (
    exp.Paren, exp.Alias, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Cast, exp.TryCast,
    exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Coalesce, exp.Nullif, exp.Sqrt, exp.Cbrt, exp.Ln, exp.Log, exp.Exp,
    exp.Pow, exp.DateDiff, exp.Extract, exp.Year, exp.Case, exp.If, exp.Sum, exp.Avg, exp.Window, exp.Filter, exp.Lag,
    exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip


@dataclass(frozen=True)
class QueryDependence:
    """The columns of a query, and whether noise chooses its rows."""

    columns: ColumnDependences
    chosen_rows: bool = False


@dataclass(frozen=True)
class _Scope:
    """What a name in a SELECT may mean: a column of a source, an item of the SELECT, or a name of the SELECT around.

    A source is a relation, the name of a released table, or None where its columns are not known.
    """

    sources: Mapping[str, QueryDependence | str | None]
    items: Mapping[str, exp.Expr] = field(default_factory=dict)
    chosen_rows: bool = False
    around: _Scope | None = None


class Dependences:
    """Finds the dependences of a statement's columns.

    Args:
        public: the columns of the public tables that it reads.
        chosen: the columns of each released table whose noise is not drawn again as it is: truth values, maps, MIN …
    """

    def __init__(self, public: Mapping[str, Sequence[str]], chosen: Mapping[str, Collection[str]]) -> None:
        self._public, self._chosen = public, chosen

    def query(self, query: exp.Expr, names: Sequence[str] = (), around: _Scope | None = None) -> QueryDependence | None:
        """The columns of the query; None where they are not known.

        ``names`` are those of its columns, for a query that shows all columns of a PIVOT.
        """
        match query:
            case exp.Subquery() if not query.args.get("pivots"):
                found = self.query(query.this, names, around)
            case exp.SetOperation() if not query.args.get("by_name"):
                found = self._set_operation(query, around)
            case exp.Select():
                found = self._select(query, around) or self._pivoted(query, names)
            case _:
                return None
        if found is None or isinstance(query, exp.Select) or not _is_limited(query):
            return found
        return _with_chosen_rows(found)

    def expression(self, node: exp.Expr, scope: _Scope) -> Dependence:
        """How the value of an expression depends on noise."""
        match node:
            case exp.Column():
                return self._column(node, scope)
            case exp.Query():
                relation = self.query(node, (), scope)
                if relation is None or relation.chosen_rows:
                    return Dependence.CHOSEN
                return max((each for _, each in relation.columns), default=Dependence.PUBLIC)
        parts = [self.expression(each, scope) for each in node.iter_expressions()]
        most = max(parts, default=Dependence.PUBLIC)
        if most is Dependence.PUBLIC:
            several = isinstance(node, (exp.AggFunc, exp.Window))
            return Dependence.PUBLIC if not several else Dependence.CHOSEN if scope.chosen_rows else Dependence.SMOOTH
        return Dependence.CHOSEN if scope.chosen_rows or self._chooses(node, scope) else most

    def row(self, sql: exp.Expr, table: str) -> Dependence:
        """How an expression over one row of a released table depends on noise."""
        return self.expression(sql, _Scope({"": table}))

    def _chooses(self, node: exp.Expr, scope: _Scope) -> bool:
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
        return any(each is not None and self.expression(each, scope) is not Dependence.PUBLIC for each in by)

    def _column(self, column: exp.Column, scope: _Scope) -> Dependence:
        name, table = fold(column.name), fold(column.table)
        found = [each for source, relation in scope.sources.items() if not table or source == table
                 for each in self._named(name, relation)]  # fmt: skip
        if found:
            return max([*found, Dependence.CHOSEN]) if scope.chosen_rows and any(found) else max(found)
        if not table and name in scope.items:
            others = {each: item for each, item in scope.items.items() if each != name}
            return self.expression(scope.items[name], _Scope(scope.sources, others, scope.chosen_rows, scope.around))
        if scope.around is not None and table not in scope.sources:
            return self._column(column, scope.around)
        return Dependence.CHOSEN

    def _named(self, name: str, relation: QueryDependence | str | None) -> list[Dependence]:
        """The dependences of a source's columns of the name."""
        match relation:
            case None:
                return []
            case str():
                if name == "row" or (name[:1] in ("k", "g") and name[1:].isdecimal()):
                    return [Dependence.PUBLIC]
                if name[:1] == "a" and name[1:].isdecimal():
                    chosen = name in self._chosen.get(relation, ())
                    return [Dependence.CHOSEN if chosen else Dependence.SMOOTH]
                return []
            case _:
                return [each for own, each in relation.columns if own == name]

    def _select(self, select: exp.Select, around: _Scope | None) -> QueryDependence | None:
        sources = {fold(node.alias_or_name): self._source(node, around) for node in sources_of(select)}
        items = {fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)}
        above = any(isinstance(each, QueryDependence) and each.chosen_rows for each in sources.values())
        scope = _Scope(sources, items, above, around)
        scope = _Scope(sources, items, above or self._chooses_rows(select, scope), around)
        found: ColumnDependences = []
        for place, item in enumerate(select.expressions):
            star = item.this if isinstance(item, exp.Column) else item
            if not isinstance(star, exp.Star):
                found.append((fold(item.alias_or_name) or f"column{place}", self.expression(item, scope)))
                continue
            starred = _starred(star, fold(item.table) if isinstance(item, exp.Column) else "", select, sources)
            if starred is None:
                return None
            found += starred
        if select.args.get("distinct") is not None and any(each for _, each in found):
            return _with_chosen_rows(QueryDependence(found))
        relation = QueryDependence(found, scope.chosen_rows)
        return _with_chosen_rows(relation) if scope.chosen_rows else relation

    def _chooses_rows(self, select: exp.Select, scope: _Scope) -> bool:
        """Whether noise chooses the rows of the SELECT, or which of them are together."""
        joins, by = select.args.get("joins") or [], list[exp.Expr | None]()
        order, group = select.args.get("order"), select.args.get("group")
        if any(join.args.get("method") for join in joins) or (_is_limited(select) and order is None):
            return True
        by += [exp.column(name.copy()) for join in joins for name in join.args.get("using") or ()]
        by += [join.args.get("on") for join in joins]
        by += [select.args.get(part) for part in ("where", "having", "qualify")]
        if group is not None:
            by += [_at(each, select) for each in group.expressions]
            by += [each for part in ("rollup", "cube", "grouping_sets") for each in group.args.get(part) or ()]
            if group.args.get("all"):
                by += [item for item in select.expressions if item.find(exp.AggFunc) is None]
        if order is not None and _is_limited(select):
            by += [_at(each.this, select) for each in order.expressions]
        return any(each is not None and self.expression(each, scope) is not Dependence.PUBLIC for each in by)

    def _set_operation(self, query: exp.SetOperation, around: _Scope | None) -> QueryDependence | None:
        left, right = self.query(query.this, (), around), self.query(query.expression, (), around)
        if left is None or right is None or len(left.columns) != len(right.columns):
            return None
        pairs = zip(left.columns, right.columns, strict=True)
        both = QueryDependence([(name, max(mine, theirs)) for (name, mine), (_, theirs) in pairs],
                        left.chosen_rows or right.chosen_rows)  # fmt: skip
        compared = not isinstance(query, exp.Union) and any(each for _, each in both.columns)
        return _with_chosen_rows(both) if compared else both

    def _source(self, node: exp.Expr, around: _Scope | None) -> QueryDependence | str | None:
        names = alias_columns(node)
        match node:
            case _ if node.args.get("pivots"):
                return None
            case exp.Table() if node.db == "released" and not names:
                return node.name
            case exp.Table() if node.db == "public" and not names:
                known = self._public.get(fold(node.name))
                return None if known is None else QueryDependence([(fold(name), Dependence.PUBLIC) for name in known])
            case exp.Subquery():
                inner = self.query(node, (), around)
                if inner is None or len(names) > len(inner.columns):
                    return None
                own = [*names, *(name for name, _ in inner.columns[len(names) :])]
                pairs = zip(own, inner.columns, strict=True)
                return QueryDependence([(name, each) for name, (_, each) in pairs], inner.chosen_rows)
            case _:
                return None

    def _pivoted(self, select: exp.Select, names: Sequence[str]) -> QueryDependence | None:
        """The columns of ``SELECT * FROM (…) PIVOT …``: those that it groups by keep their names."""
        source = select.args.get("from_")
        if source is None or select.args.get("joins") or list(select.expressions) != [exp.Star()]:
            return None
        inner = source.this.copy()
        pivots = inner.args.get("pivots") or []
        inner.set("pivots", None)
        relation = self._source(inner, None)
        if not isinstance(relation, QueryDependence) or len(pivots) != 1 or pivots[0].args.get("unpivot"):
            return None
        scope = _Scope({"": relation}, {}, relation.chosen_rows)
        by = [self.expression(each.this, scope) for each in pivots[0].args.get("fields") or ()]
        made = max((self.expression(each, scope) for each in pivots[0].expressions), default=Dependence.CHOSEN)
        made = Dependence.CHOSEN if any(by) else made
        keys = {name for name, each in relation.columns if each is Dependence.PUBLIC}
        return QueryDependence(
            [(name, Dependence.PUBLIC if name in keys else made) for name in names], relation.chosen_rows
        )


def _with_chosen_rows(relation: QueryDependence) -> QueryDependence:
    """The relation as it is where noise chooses its rows: public values stay, the others are chosen."""
    return QueryDependence([(name, Dependence.CHOSEN if each else each) for name, each in relation.columns], True)


def _starred(
    star: exp.Star, table: str, select: exp.Select, sources: Mapping[str, QueryDependence | str | None]
) -> ColumnDependences | None:
    """The columns that a star stands for; None where that is not known."""
    joins = select.args.get("joins") or []
    if any(join.args.get("using") or join.args.get("method") for join in joins):
        return None
    if star.args.get("replace") or star.args.get("rename"):
        return None
    left_out = {fold(each.name) for each in star.args.get("except_") or ()}
    found: ColumnDependences = []
    for name, relation in sources.items():
        if table in ("", name):
            if not isinstance(relation, QueryDependence):
                return None
            found += [each for each in relation.columns if each[0] not in left_out]
    return found


def _is_limited(query: exp.Expr) -> bool:
    return query.args.get("limit") is not None or query.args.get("offset") is not None


def _at(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """What a key of GROUP BY or ORDER BY stands for, which may be the place of an item."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdecimal():
        item: exp.Expr = select.expressions[int(key.name) - 1]
        return item.unalias()
    return key
