"""Subqueries in a private FROM, as rows that each have one unit; others are refused.

Proved in ``docs/proofs/stability.md`` and ``docs/proofs/compound.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.expression_subqueries import Subqueries
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.group_by import group_keys, groups_by_unit, has_window, is_plain_distinct
from dpsql.sql.binder.per_unit import per_unit
from dpsql.sql.binder.scope import Ctes, Scope, alias_columns, known_table, without_ctes
from dpsql.sql.binder.sources.join_sides import join_kind
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.set_operations import combined, constants
from dpsql.sql.binder.sources.tables import BoundRelation, scan
from dpsql.sql.ir.expression import Expression, has_more_parts
from dpsql.sql.ir.refusal import only, refuse

_NO_LIMIT = "LIMIT inside a private part would let one person's rows pull in another's; put it on the released rows"
#: Of how many parts an output column of a subquery may be made.
MAX_PARTS = 500


class PrivateRows:
    """Reads the queries of one statement whose rows stay private."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding

    def rows(self, query: exp.Expr, ctes: Ctes, outer: Scope | None = None) -> BoundRelation:
        """The rows of a subquery in a private part, each with its unit (public ones without)."""
        query, ctes = without_ctes(query, ctes)
        match query:
            case exp.Subquery():
                only(query, "this", "alias")
                return self.rows(query.this, ctes, outer)
            case exp.Values():
                rows = [
                    row.expressions if isinstance(row, exp.Tuple) else [row]
                    for row in query.expressions
                ]
                return constants(rows, self._constant_reader(), query, self._binding.alias())
            case exp.Query() if self.is_released(query, ctes, outer):
                return self._binding.derived(query, ctes)
            case exp.Select():
                return self._row_select(query, ctes, outer)
            case exp.SetOperation():
                if query.args.get("limit") or query.args.get("offset"):
                    refuse("E_LIMIT", _NO_LIMIT, query)
                first = self.rows(query.this, ctes, outer)
                right = self.rows(query.expression, ctes, outer)
                return combined(query, first, right, self._binding.alias())
            case _:
                refuse("E_TABLE", "this is not a table of the schema", query)

    def _row_select(self, select: exp.Select, ctes: Ctes, outer: Scope | None) -> BoundRelation:
        if select.args.get("limit") or select.args.get("offset"):
            refuse("E_LIMIT", _NO_LIMIT, select)
        if select.args.get("qualify") is not None or has_window(select):
            refuse(
                "E_WINDOW",
                "a window function may not look at private rows; use it over released groups",
                select,
            )
        source_from = self.source_from(select, ctes, outer)
        if select.args.get("distinct"):
            return self._distinct(select, source_from)
        if is_grouped(select):
            if not groups_by_unit(select, source_from) and not source_from.is_public:
                refuse(
                    "E_NESTED",
                    "private rows cannot be joined with a released table yet; GROUP BY the unit in the "
                    "subquery, or aggregate once",
                    select,
                )
            return per_unit(select, group_keys(select, source_from), source_from, self._binding)
        only(select, "expressions", "from_", "joins", "where", "order", code="E_STMT")
        where = select.args.get("where")
        relation = source_from.finish(
            None if where is None else source_from.reader().condition(where.this), select
        )
        columns: dict[str, Expression] = {}
        for index, item in enumerate(select.expressions):
            for name, expression in select_item(item, index, source_from):
                if name in columns:
                    refuse(
                        "E_COLUMN",
                        f"two columns are called {name}; give one of them an alias",
                        item,
                    )
                columns[name] = source_from.scope.aliases[name] = expression
        return BoundRelation(relation, columns)

    def _distinct(self, select: exp.Select, source_from: From) -> BoundRelation:
        """DISTINCT as the groups of its columns, where each has rows of one unit."""
        if not is_plain_distinct(select) or is_grouped(select):
            refuse(
                "E_DISTINCT",
                "DISTINCT ON, of *, or of groups is not answered over private rows",
                select,
            )
        select = select.copy()
        select.set("distinct", None)
        select.set("group", exp.Group(all=True))
        if not groups_by_unit(select, source_from) and not source_from.is_public:
            refuse(
                "E_DISTINCT",
                "DISTINCT over private rows is answered where the unit's column is listed; list it, "
                "or use COUNT(DISTINCT …)",
                select,
            )
        return per_unit(select, group_keys(select, source_from), source_from, self._binding)

    def source_from(self, select: exp.Select, ctes: Ctes, outer: Scope | None = None) -> From:
        """The FROM clause of the SELECT, source by source."""
        source_from, subqueries = self._new_from(ctes, outer)
        if select.args.get("from_") is None:
            refuse("E_TABLE", "a SELECT beside private rows needs a FROM", select)
        for join in [None, *(select.args.get("joins") or ())]:
            node = select.args["from_"].this if join is None else join.this
            if isinstance(node, exp.Lateral):
                self._lateral(node, ctes, source_from, subqueries, join=join)
            else:
                self._add(source_from, node, ctes, outer, join=join)
        return source_from

    def _new_from(self, ctes: Ctes, outer: Scope | None) -> tuple[From, Subqueries]:
        source_from = From(self._binding.parameters, self._binding.alias, outer)
        subqueries = Subqueries(self._binding, source_from, ctes)
        source_from.known = subqueries.known
        return source_from, subqueries

    def _add(
        self,
        source_from: From,
        node: exp.Expr,
        ctes: Ctes,
        outer: Scope | None,
        join: exp.Join | None,
    ) -> None:
        """Join one source, or what is joined between parentheses."""
        inner = node.this if isinstance(node, exp.Subquery | exp.Paren) else None
        if not isinstance(inner, exp.Table | exp.Paren | exp.Subquery) or node.alias:
            source, name = self._source(node, ctes, outer)
            source_from.add(source, name, node, join)
            return
        only(node, "this", code="E_TABLE", subject="this form of parentheses")
        group, _ = self._new_from(ctes, outer)
        joins = inner.args.get("joins") or ()
        first = inner.copy()
        first.set("joins", None)
        self._add(group, first, ctes, outer, join=None)
        for other in joins:
            self._add(group, other.this, ctes, outer, join=other)
        source_from.add_group(group, node, join)

    def _lateral(
        self,
        node: exp.Lateral,
        ctes: Ctes,
        source_from: From,
        subqueries: Subqueries,
        join: exp.Join | None,
    ) -> None:
        """LATERAL: a row of aggregates becomes columns of the row before it.

        Any other query becomes a join.
        """
        only(node, "this", "alias", code="E_TABLE", subject="this form of LATERAL")
        query = node.this.this
        name = fold(node.alias) or f"lateral {id(node)}"
        if not isinstance(node.this, exp.Subquery) or join is None:
            refuse(
                "E_TABLE", "LATERAL stands before a subquery, behind the tables that it reads", node
            )
        if join_kind(join) in ("right", "full"):
            refuse(
                "E_JOIN",
                "LATERAL reads the rows before it, so that no RIGHT or FULL JOIN keeps its own; write "
                "JOIN LATERAL",
                join,
            )
        if isinstance(query, exp.Select) and is_grouped(query) and query.args.get("group") is None:
            if not _has_no_condition(join) or query.args.get("having") is not None:
                refuse("E_JOIN", "LATERAL with an aggregate is joined ON true", node)
            values: dict[str, Expression] = {}
            for index, item in enumerate(query.expressions):
                one = query.copy()
                one.set("expressions", [item.copy()])
                values[fold(item.alias_or_name) or f"column{index}"] = subqueries.value(one)
            names = alias_columns(node)
            named = {
                **dict(zip(names, values.values(), strict=False)),
                **dict(list(values.items())[len(names) :]),
            }
            source_from.add_values(named, name, node)
            return
        source = renamed(self.rows(query, ctes, source_from.scope), alias_columns(node), node)
        source_from.add(source, name, node, join)

    def _constant_reader(self) -> Reader:
        return Reader(Scope().resolve, self._binding.parameters)

    def _source(self, node: exp.Expr, ctes: Ctes, outer: Scope | None) -> tuple[BoundRelation, str]:
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                only(
                    node,
                    "this",
                    "alias",
                    "db",
                    "catalog",
                    code="E_TABLE",
                    subject="this form of a table",
                )
                name = fold(node.name)
                cte = None if node.db else ctes.get(name)
                if cte is not None:
                    source = renamed(self.rows(cte.query, cte.ctes), cte.columns, node)
                else:
                    named = known_table(self._binding.schema, node)
                    if self._binding.schema.tables[named].source is not None:
                        refuse(
                            "E_JOIN",
                            f"the synthetic table `{name}` is not read together with private rows; join "
                            "it with what a subquery has aggregated of them",
                            node,
                        )
                    source = scan(self._binding.schema, named, self._binding.alias)
                return renamed(source, alias_columns(node), node), fold(node.alias_or_name)
            case exp.Subquery():
                only(node, "this", "alias", code="E_TABLE", subject="this form of a subquery")
                source = self.rows(node.this, ctes, outer)
                return renamed(source, alias_columns(node), node), fold(
                    node.alias
                ) or f"subquery {id(node)}"
            case exp.Values():
                source = self.rows(node, ctes)
                return renamed(source, alias_columns(node), node), fold(
                    node.alias
                ) or f"values {id(node)}"
            case exp.Unnest(expressions=[exp.Array() as listed]):
                only(node, "expressions", "alias", code="E_TABLE", subject="this form of UNNEST")
                names = alias_columns(node) or ("unnest",)
                reader = self._constant_reader()
                source = constants(
                    [[expression] for expression in listed.expressions],
                    reader,
                    node,
                    self._binding.alias(),
                )
                return renamed(source, names, node), fold(node.alias) or "unnest"
            case _:
                refuse("E_TABLE", "FROM reads tables of the schema and subqueries of them", node)

    def is_released(self, query: exp.Query, ctes: Ctes, outer: Scope | None) -> bool:
        """Whether the rows come from the sandbox.

        Such rows belong to no unit, and the engine cannot read them row by row. In a query inside
        an expression the engine filters released rows itself, as its conditions may name others.
        """
        with self._binding.lookahead():
            if self._binding.gives_private_rows(query, ctes):
                return False
        if not isinstance(query, exp.Select) or is_grouped(query) or has_window(query):
            return True
        if any(query.args.get(clause) for clause in ("distinct", "limit", "offset", "qualify")):
            return True
        items = [
            item for item in from_items(query) if not isinstance(item, exp.Values | exp.Unnest)
        ]
        names = [fold(item.name) for item in items if isinstance(item, exp.Table) and not item.db]
        return outer is None and (len(names) < len(items) or any(name in ctes for name in names))


def select_item(item: exp.Expr, index: int, source_from: From) -> list[tuple[str, Expression]]:
    """The columns that one item of a SELECT list gives: a name and what it stands for."""
    star = item.this if isinstance(item, exp.Column) else item
    if isinstance(star, exp.Star):
        only(star, "except_", code="E_STMT")
        table = fold(item.table) if isinstance(item, exp.Column) else None
        left_out = {fold(excluded.name) for excluded in star.args.get("except_") or ()}
        return [
            pair for pair in source_from.scope.all_columns(table, item) if pair[0] not in left_out
        ]
    name = fold(item.alias_or_name) or f"column{index}"
    expression = source_from.reader().expression(item.unalias())
    if has_more_parts(expression, MAX_PARTS):
        refuse(
            "E_LIMITS",
            f"{name} stands for more than {MAX_PARTS} parts; columns that subqueries use twice "
            "double each time",
            item,
        )
    return [(name, expression)]


def _has_no_condition(join: exp.Join) -> bool:
    """Whether a join pairs all rows with all rows: it has no condition but ON true."""
    on = join.args.get("on")
    always = on is None or (isinstance(on, exp.Boolean) and bool(on.this))
    return always and not join.args.get("using") and str(join.method).upper() != "NATURAL"


def from_items(select: exp.Select) -> list[exp.Expr]:
    """The sources of the FROM clause, in order."""
    clause = select.args.get("from_")
    return ([] if clause is None else [clause.this]) + [
        join.this for join in select.args.get("joins") or ()
    ]


def renamed(source: BoundRelation, names: tuple[str, ...], node: exp.Expr) -> BoundRelation:
    """The source with its first columns renamed, as by ``AS t(a, b)``; their contents stay."""
    if len(names) > len(source.columns):
        refuse(
            "E_COLUMN",
            f"the alias lists {len(names)} columns and there are {len(source.columns)}",
            node,
        )
    columns = dict(zip(names, source.columns.values(), strict=False))
    for name, expression in list(source.columns.items())[len(names) :]:
        if name in columns:
            refuse("E_COLUMN", f"two columns are called {name}", node)
        columns[name] = expression
    return BoundRelation(source.relation, columns)
