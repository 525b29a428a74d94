"""Which names a SELECT can see: columns of its sources, and common table expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.ir.expression import Expression, columns
from dpsql.sql.ir.refusal import only, refuse

#: The schemas under which clients know the tables.
SCHEMAS = ("main", "public")
#: Schemas that tools look for.
CATALOGUES = ("information_schema", "pg_catalog")


def without_database(tree: exp.Expr, database: str) -> exp.Expr:
    """The tree with names of this database without it: ``shop.public.orders`` is ``public.orders``.

    >>> without_database(exp.maybe_parse("SELECT shop.public.t.a FROM Shop.public.t"), "shop").sql()
    'SELECT public.t.a FROM public.t'
    """
    named = [node for node in tree.find_all(exp.Table, exp.Column) if _is_of(node, database)]
    if not named:
        return tree
    copy = tree.copy()
    for node in [node for node in copy.find_all(exp.Table, exp.Column) if _is_of(node, database)]:
        node.set("catalog", None)
    return copy


def _is_of(node: exp.Expr, database: str) -> bool:
    name = node.args.get("catalog")
    return isinstance(name, exp.Identifier) and fold(name.name) == fold(database)


def require_known_schema(node: exp.Column | exp.Table) -> None:
    """Refuse a name of another database, or of a schema other than the two that clients know."""
    if node.args.get("catalog") or (
        node.args.get("db") and fold(node.args["db"].name) not in SCHEMAS
    ):
        code = "E_COLUMN" if isinstance(node, exp.Column) else "E_TABLE"
        if node.args.get("db") and fold(node.args["db"].name) in CATALOGUES:
            reason = "information_schema and pg_catalog are answered by `dpsql serve`, and not beside other tables"
            refuse(code, reason, node)
        refuse(code, "names have no database but this one, and no schema but public or main", node)


def known_table(schema: Schema, node: exp.Table) -> str:
    """The schema's name of the table; refused if the schema does not have it."""
    name = fold(node.name)
    require_known_schema(node)
    if schema.table(name) is None:
        refuse("E_TABLE", f'relation "{name}" does not exist', node)
    return name


@dataclass(frozen=True)
class VisibleSource:
    """One source of a FROM clause under the name that the analyst gave it."""

    name: str
    columns: dict[str, Expression]


@dataclass
class Scope:
    """The sources of one SELECT, in order.

    ``merged`` are the columns that USING has made one, by name, with the sources that have each.
    ``outer`` is the scope around a subquery: its columns can be seen if no own column has the name.
    ``aliases`` are the items of the SELECT list so far: later items may name them if no column has
    the name.
    """

    sources: list[VisibleSource] = field(default_factory=list)
    merged: dict[str, tuple[Expression, frozenset[str]]] = field(default_factory=dict)
    outer: Scope | None = None
    aliases: dict[str, Expression] = field(default_factory=dict)

    def add(self, source: VisibleSource, at: exp.Expr) -> None:
        """Bring a source into scope; refused if its name is taken."""
        if any(known.name == source.name for known in self.sources):
            refuse("E_TABLE", f"{source.name} stands twice in FROM; give one of them an alias", at)
        self.sources.append(source)

    def has_column(self, name: str) -> bool:
        """Whether some source has a column of that name."""
        return any(fold(name) in source.columns for source in self.sources)

    def resolve(self, node: exp.Column) -> Expression:
        """The expression that a column name stands for."""
        require_known_schema(node)
        if not isinstance(node.this, exp.Identifier):
            refuse("E_RAW", "* stands for columns only in COUNT(*)", node)
        name = fold(node.name)
        table = fold(node.table)
        matches = [
            source.columns[name]
            for source in self.sources
            if (not table or source.name == table) and name in source.columns
        ]
        if not table and not matches and name in self.aliases:
            return self.aliases[name]
        is_local = any(source.name == table for source in self.sources) if table else bool(matches)
        if self.outer is not None and not is_local:
            return self.outer.resolve(node)
        if table and not is_local:
            refuse("E_TABLE", f'missing FROM-clause entry for table "{table}"', node)
        if not matches:
            refuse(
                "E_COLUMN",
                f"column {f'{table}.{name}' if table else _quoted(name)} does not exist",
                node,
            )
        if table or len(matches) == 1:
            return matches[0]
        return self.shared(name, node)

    def shared(self, name: str, node: exp.Expr) -> Expression:
        """The column of that name that USING has made one; refused if some source has another."""
        expression, names = self.merged.get(name, (None, frozenset()))
        if expression is None or any(
            name in source.columns and source.name not in names for source in self.sources
        ):
            refuse(
                "E_COLUMN",
                f"column reference {_quoted(name)} is ambiguous; write table.{name}",
                node,
            )
        return expression

    def relations(self) -> frozenset[str]:
        """The relations whose columns can be seen."""
        local_relations = {
            column.relation
            for source in self.sources
            for other in source.columns.values()
            for column in columns(other)
        }
        return frozenset(local_relations) | (
            frozenset() if self.outer is None else self.outer.relations()
        )

    def all_columns(self, table: str | None, node: exp.Expr) -> list[tuple[str, Expression]]:
        """Every column in order, as ``*`` or ``table.*`` stands for it."""
        chosen = [source for source in self.sources if table is None or source.name == table]
        if not chosen:
            refuse("E_TABLE", f'missing FROM-clause entry for table "{table}"', node)
        result: dict[str, Expression] = {}
        for source in chosen:
            for name, expression in source.columns.items():
                if name in result and name not in self.merged:
                    refuse(
                        "E_COLUMN",
                        f"column reference {_quoted(name)} is ambiguous; list the columns",
                        node,
                    )
                is_shared = table is None and name in self.merged
                result.setdefault(name, self.shared(name, node) if is_shared else expression)
        return list(result.items())


def _quoted(name: str) -> str:
    return f'"{name}"'


#: What a name of the query around a subquery is in the sandbox.
Outside: TypeAlias = Callable[[exp.Expr], exp.Expr]
#: The common table expressions in scope: a name, its query,
#: the names that query itself could see, #: its columns.
Ctes: TypeAlias = "Mapping[str, Cte]"


@dataclass(frozen=True)
class Cte:
    """A common table expression; each use binds it anew, and equal cores are released once."""

    query: exp.Expr
    ctes: Ctes
    columns: tuple[str, ...]


def without_ctes(query: exp.Expr, ctes: Ctes) -> tuple[exp.Expr, Ctes]:
    """The query without its WITH, and the names it can see."""
    clause = query.args.get("with_")
    if clause is None:
        return query, ctes
    if clause.args.get("recursive") and any(_names_itself(cte) for cte in clause.expressions):
        refuse("E_RECURSIVE", "a recursive query is not answered", clause)
    visible = dict(ctes)
    for cte in clause.expressions:
        only(cte, "this", "alias", "materialized", code="E_STMT")
        visible[fold(cte.alias)] = Cte(cte.this, dict(visible), tuple(alias_columns(cte)))
    query = query.copy()
    query.set("with_", None)
    return query, visible


def _names_itself(cte: exp.CTE) -> bool:
    return any(
        fold(table.name) == fold(cte.alias) and not table.db
        for table in cte.this.find_all(exp.Table)
    ) and (isinstance(cte.this, exp.SetOperation))


def alias_columns(node: exp.Expr) -> tuple[str, ...]:
    """The new names of the first columns, as ``AS t(a, b)`` or ``WITH t(a, b)`` gives them."""
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return tuple(fold(column.name) for column in columns or ())
