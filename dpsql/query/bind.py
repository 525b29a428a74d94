"""Names → schema, and the cut: every private aggregate becomes a core, what is left becomes the shell."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.query import shell_tree
from dpsql.query.aggregate import is_grouped
from dpsql.query.ctes import Ctes, alias_columns, without_ctes
from dpsql.query.expression import UNIT, Column, Expression, has_more_parts
from dpsql.query.grouped import released_select
from dpsql.query.keys import group_keys, has_window, is_plain_distinct
from dpsql.query.parameter import require_values
from dpsql.query.parse import Statement
from dpsql.query.per_unit import per_unit
from dpsql.query.refusal import only, refuse
from dpsql.query.relation import Core
from dpsql.query.sources import From, Source, scan
from dpsql.schema import Schema, fold

MAX_AGGREGATES, MAX_SOURCES, MAX_PARTS = 32, 24, 500
#: How often the uses of common table expressions may be followed into each other.
MAX_OPENED = 1_000


@dataclass(frozen=True)
class Query:
    """A statement cut in two: the cores, in order, and the shell that reads their released tables.

    ``public`` names the public tables that the shell reads. ``shell`` is a sqlglot tree over ``released.core<i>`` and
    ``public.<table>`` alone.
    """

    cores: tuple[Core, ...]
    shell: exp.Query
    public: tuple[str, ...]


def bind(statement: Statement, schema: Schema, parameters: tuple[object, ...] = ()) -> Query:
    """The statement cut into cores and shell, every name resolved against the schema, or a refusal."""
    binder = Binder(schema, parameters)
    require_values(statement.tree, parameters)
    shell = binder.released(statement.tree, {})
    return Query(tuple(binder.cores), shell, tuple(sorted(binder.public)))


class Binder:
    """One statement's binding: hands out aliases and collects the cores in the order of their discovery."""

    def __init__(self, schema: Schema, parameters: tuple[object, ...]) -> None:
        self.schema, self.parameters = schema, parameters
        self.cores: list[Core] = []
        self.public: set[str] = set()
        self._aliases = self._opened = 0

    def alias(self) -> str:
        """A fresh name for a relation."""
        self._aliases += 1
        if self._aliases > MAX_SOURCES:
            refuse("E_LIMITS", f"the statement reads more than {MAX_SOURCES} tables")
        return f"t{self._aliases - 1}"

    def core(self, core: Core) -> str:
        """The name of the core's released table; an equal core is released once."""
        if core not in self.cores:
            self.cores.append(core)
            if sum(len(each.aggregates) for each in self.cores) > MAX_AGGREGATES:
                refuse("E_LIMITS", f"the statement has more than {MAX_AGGREGATES} private aggregates")
        return f"core{self.cores.index(core)}"

    # -- the shell's side ------------------------------------------------------------------------------------------

    def released(self, query: exp.Expr, ctes: Ctes) -> exp.Query:
        """The query as SQL over released and public tables; raw private rows are refused."""
        query, ctes = without_ctes(query, ctes)
        match query:
            case exp.Subquery():
                only(query, "this", "alias")
                return self.released(query.this, ctes)
            case exp.SetOperation():
                return self._set_operation(query, ctes)
            case exp.Values():
                return exp.select("*").from_(shell_tree.values(query, self, ctes), copy=False)
            case exp.Select():
                if self._reads_private(query, ctes):
                    return self._private_select(query, ctes)
                return shell_tree.public_select(query, self, ctes)
            case _:
                refuse("E_STMT", "only SELECT is answered", query)

    def _set_operation(self, query: exp.SetOperation, ctes: Ctes) -> exp.Query:
        only(query, "this", "expression", "distinct", "order", "limit", "offset", "by_name", code="E_SETOP")
        left, right = self.released(query.this, ctes), self.released(query.expression, ctes)
        parts = {
            name: shell_tree.clause(query.args[name], self, ctes)
            for name in ("order", "limit", "offset")
            if query.args.get(name) is not None
        }
        kept = {name: query.args.get(name) for name in ("distinct", "by_name")}
        return type(query)(this=left, expression=right, **kept, **parts)

    def _private_select(self, select: exp.Select, ctes: Ctes) -> exp.Select:
        self._aliases = 0  # equal cores get equal names, wherever they stand
        source_from = self._from(select, ctes)
        if not is_grouped(select):
            if not is_plain_distinct(select):
                _name_unknown_columns(select, source_from)
                shell_tree.refuse_raw(select)
            select = select.copy()
            select.set("distinct", None)
            select.set("group", exp.Group(all=True))
        return released_select(select, group_keys(select, source_from), source_from, self, ctes)

    def _reads_private(self, select: exp.Select, ctes: Ctes) -> bool:
        """Whether a source of the FROM clause gives private rows (a grouped subquery gives released ones)."""
        return any(self._gives_private_rows(source, ctes) for source in _from_items(select))

    def _gives_private_rows(self, node: exp.Expr, ctes: Ctes) -> bool:
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                name = fold(node.name)
                if not node.db and name in ctes:
                    self._opened += 1
                    if self._opened > MAX_OPENED:
                        refuse("E_LIMITS", "common table expressions that are used twice double the statement each "
                               "time, and this one grows too large", node)  # fmt: skip
                    return self._gives_private_rows(ctes[name].query, ctes[name].ctes)
                table = self.schema.table(name)
                return table is not None and not table.public
            case exp.Subquery():
                return self._gives_private_rows(node.this, ctes)
            case exp.SetOperation():
                inner, ctes = without_ctes(node, ctes)
                return any(self._gives_private_rows(side, ctes) for side in (inner.this, inner.expression))
            case exp.Select():
                inner, ctes = without_ctes(node, ctes)
                assert isinstance(inner, exp.Select)
                if not self._reads_private(inner, ctes):
                    return False
                return not is_grouped(inner) or self._groups_by_unit(inner, ctes)
            case _:
                return False

    def _groups_by_unit(self, select: exp.Select, ctes: Ctes) -> bool:
        if select.args.get("group") is None:
            return False
        source_from = self._from(select, ctes)
        columns = (source_from.scope.resolve(key) for key in group_keys(select, source_from)
                   if isinstance(key, exp.Column))  # fmt: skip
        return any(isinstance(column, Column) and column.identifies == UNIT for column in columns)

    # -- the private side ------------------------------------------------------------------------------------------

    def rows(self, query: exp.Expr, ctes: Ctes) -> Source:
        """The rows of a subquery that stands in a private FROM, each with its unit (public ones without)."""
        query, ctes = without_ctes(query, ctes)
        match query:
            case exp.Subquery():
                only(query, "this", "alias")
                return self.rows(query.this, ctes)
            case exp.Select():
                return self._row_select(query, ctes)
            case exp.SetOperation():
                refuse("E_SETOP", "a set operation over private rows is not answered; aggregate each side first", query)
            case _:
                refuse("E_TABLE", "this is not a table of the schema", query)

    def _row_select(self, select: exp.Select, ctes: Ctes) -> Source:
        if select.args.get("limit") or select.args.get("offset"):
            refuse("E_LIMIT", "LIMIT inside a private part would let one person's rows pull in another's; put it on "
                   "the released rows", select)  # fmt: skip
        if select.args.get("distinct"):
            refuse("E_DISTINCT", "DISTINCT over private rows is not answered; GROUP BY the unit, or COUNT(DISTINCT …)",
                   select)  # fmt: skip
        if select.args.get("qualify") is not None or has_window(select):
            refuse("E_WINDOW", "a window function may not look at private rows; use it over released groups", select)
        source_from = self._from(select, ctes)
        if is_grouped(select):
            if not self._groups_by_unit(select, ctes):
                refuse("E_NESTED", "private rows cannot be joined with a released table yet; GROUP BY the unit in the "
                       "subquery, or aggregate once", select)  # fmt: skip
            return per_unit(select, group_keys(select, source_from), source_from, self)
        only(select, "expressions", "from_", "joins", "where", "order", code="E_STMT")
        where = select.args.get("where")
        relation = source_from.finish(None if where is None else source_from.reader().condition(where.this), select)
        columns: dict[str, Expression] = {}
        for place, item in enumerate(select.expressions):
            for name, expression in self._item(item, place, source_from):
                if name in columns:
                    refuse("E_COLUMN", f"two columns are called {name}; give one of them an alias", item)
                columns[name] = expression
        return Source(relation, columns)

    def _item(self, item: exp.Expr, place: int, source_from: From) -> list[tuple[str, Expression]]:
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if isinstance(star, exp.Star):
            only(star, "except_", code="E_STMT")
            table = fold(item.table) if isinstance(item, exp.Column) else None
            left_out = {fold(each.name) for each in star.args.get("except_") or ()}
            return [pair for pair in source_from.scope.all_columns(table, item) if pair[0] not in left_out]
        name = fold(item.alias_or_name) or f"column{place}"
        expression = source_from.reader().read(item.unalias())
        if has_more_parts(expression, MAX_PARTS):
            refuse("E_LIMITS", f"{name} stands for more than {MAX_PARTS} parts; columns that subqueries use twice "
                   "double each time", item)  # fmt: skip
        return [(name, expression)]

    def _from(self, select: exp.Select, ctes: Ctes) -> From:
        source_from = From(self.parameters)
        if select.args.get("from_") is None:
            refuse("E_TABLE", "a SELECT beside private rows needs a FROM", select)
        for join in [None, *(select.args.get("joins") or ())]:
            node = select.args["from_"].this if join is None else join.this
            source, name = self._source(node, ctes)
            source_from.add(source, name, node, join)
        return source_from

    def _source(self, node: exp.Expr, ctes: Ctes) -> tuple[Source, str]:
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                only(node, "this", "alias", "db", code="E_TABLE", what="this form of a table")
                name = fold(node.name)
                cte = None if node.db else ctes.get(name)
                if cte is not None:
                    source = _renamed(self.rows(cte.query, cte.ctes), cte.columns, node)
                else:
                    source = scan(self.schema, self.table_name(node), self.alias)
                return _renamed(source, alias_columns(node), node), fold(node.alias_or_name)
            case exp.Subquery():
                only(node, "this", "alias", code="E_TABLE", what="this form of a subquery")
                source = self.rows(node.this, ctes)
                return _renamed(source, alias_columns(node), node), fold(node.alias) or f"subquery {id(node)}"
            case _:
                refuse("E_TABLE", "FROM reads tables of the schema and subqueries of them", node)

    def table_name(self, node: exp.Table) -> str:
        """The schema's name of the table; refused where the schema does not have it."""
        name = fold(node.name)
        if node.args.get("catalog") or (node.db and fold(node.db) not in ("main", "public")):
            refuse("E_TABLE", "tables are named without catalogue", node)
        if self.schema.table(name) is None:
            refuse("E_TABLE", f"there is no table {name}", node)
        return name


def _name_unknown_columns(select: exp.Select, source_from: From) -> None:
    """Refuse the first column that does not exist: that is nearer to what went wrong than that rows are private."""
    for item in select.expressions:
        for column in item.find_all(exp.Column):
            if not isinstance(column.this, exp.Star) and column.find_ancestor(exp.Query) is select:
                source_from.scope.resolve(column)


def _from_items(select: exp.Select) -> list[exp.Expr]:
    clause = select.args.get("from_")
    return ([] if clause is None else [clause.this]) + [join.this for join in select.args.get("joins") or ()]


def _renamed(source: Source, names: tuple[str, ...], node: exp.Expr) -> Source:
    """The source with its first columns under new names, as ``AS t(a, b)`` gives them; what they hold stays."""
    if len(names) > len(source.columns):
        refuse("E_COLUMN", f"the alias lists {len(names)} columns and there are {len(source.columns)}", node)
    renamed = dict(zip(names, source.columns.values(), strict=False))
    for name, expression in list(source.columns.items())[len(names) :]:
        if name in renamed:
            refuse("E_COLUMN", f"two columns are called {name}", node)
        renamed[name] = expression
    return Source(source.relation, renamed)
