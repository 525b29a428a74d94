"""The cut of one statement: private aggregates are measured in cores, the rest is post-processing.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.binding_state import Binding, FrontendOptions
from dpsql.sql.binder.correlated_subqueries import correlated
from dpsql.sql.binder.empty_groups import EmptyGroups
from dpsql.sql.binder.free_answers import (
    declared_ends,
    is_probe,
    is_raw_probe,
    never_holds,
    no_rows,
)
from dpsql.sql.binder.group_by import groups_by_unit, is_plain_distinct
from dpsql.sql.binder.private_select import released_select
from dpsql.sql.binder.scope import Ctes, Outside, Scope, without_ctes
from dpsql.sql.binder.sources.derived_tables import DerivedTables, Describe
from dpsql.sql.binder.sources.from_subqueries import PrivateRows, from_items
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.private_groups import over_groups
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.postprocess import released_sql

#: How often the uses of common table expressions may be followed into each other.
MAX_OPENED = 1_000


class Cut(Binding):
    """Cuts a statement's queries: cores measure private rows, post-processing reads releases."""

    def __init__(
        self,
        schema: Schema,
        parameters: tuple[object, ...],
        describe: Describe,
        frontend_options: FrontendOptions,
        empty_groups: EmptyGroups,
        sizes: Fanout,
    ) -> None:
        super().__init__(schema, parameters, frontend_options, empty_groups, sizes=sizes)
        self.derivations = DerivedTables(self, describe)
        self._private = PrivateRows(self)
        self._opened = 0

    def rows(self, query: exp.Expr, ctes: Ctes, outer: Scope | None = None) -> BoundRelation:
        """The rows of a query in a private part."""
        return self._private.rows(query, ctes, outer)

    def source_from(self, select: exp.Select, ctes: Ctes, outer: Scope | None = None) -> From:
        """The sources of a private SELECT."""
        return self._private.source_from(select, ctes, outer)

    def is_released(self, query: exp.Query, ctes: Ctes, outer: Scope | None) -> bool:
        """Whether the sandbox makes the rows of a query in a private part."""
        return self._private.is_released(query, ctes, outer)

    def derived(self, query: exp.Expr, ctes: Ctes) -> BoundRelation:
        """A derived table of the statement, made once however often it is read."""
        return self.derivations.source(query, ctes)

    def derived_from(self, tree: exp.Query, at: exp.Expr) -> BoundRelation:
        """A derived table of what post-processing itself asks."""
        return self.derivations.made(tree, at)

    def column_types(self, core: Core) -> list[tuple[str, str]]:
        """The columns of the core's released table: names, and types of the sandbox."""
        return self.derivations.released_columns(core)

    def released(self, query: exp.Expr, ctes: Ctes, outside: Outside | None = None) -> exp.Query:
        """A SELECT over private rows is cut, any other is left to the sandbox whole."""
        query, ctes = without_ctes(query, ctes)
        match query:
            case exp.Subquery():
                only(query, "this", "alias")
                return self.released(query.this, ctes, outside)
            case exp.Select() | exp.SetOperation() | exp.Values():
                # equal cores get equal names, wherever they stand
                aliases = self._aliases
                self._aliases = 0
                private = (
                    query
                    if isinstance(query, exp.Select) and self._reads_private(query, ctes)
                    else None
                )
                self._aliases = 0
                grouped = over_groups(query, self, ctes) if isinstance(query, exp.Select) else None
                if grouped is not None:
                    cut: exp.Query = grouped
                elif private is None:
                    cut = released_sql.public_query(query, self, ctes)
                else:
                    cut = self._cut(private, ctes, outside)
                self._aliases = aliases
                return cut
            case _:
                refuse("E_STMT", "only SELECT is answered", query)

    def _cut(self, select: exp.Select, ctes: Ctes, outside: Outside | None) -> exp.Select:
        with self.without_rows(never_holds(select.args.get("where"))):
            source_from = self.source_from(select, ctes)
        tied = (
            correlated(select, source_from.scope)
            if outside is not None and is_grouped(select)
            else None
        )
        if tied is not None and outside is not None:
            empty = None if tied.empty is None else released_sql.clause(tied.empty, self, ctes)
            return released_sql.value_of(tied, self.released(tied.grouped, ctes), empty, outside)
        ends = (
            declared_ends(select, source_from, self)
            if self.frontend_options.declared_ranges
            else None
        )
        if ends is not None:
            self.notices.append("the ends of a column are those that the schema declares")
            return ends
        if not is_grouped(select):
            if is_probe(select):
                return no_rows(select, source_from, self)
            if is_raw_probe(select, self.frontend_options):
                self.notices.append("single rows are private: no rows are shown, only the columns")
                return no_rows(select, source_from, self)
            if not is_plain_distinct(select):
                _name_unknown_columns(select, source_from)
                released_sql.refuse_raw(select)
            select = select.copy()
            select.set("distinct", None)
            select.set("group", exp.Group(all=True))
        return released_select(select, source_from, self, ctes)

    def _reads_private(self, select: exp.Select, ctes: Ctes) -> bool:
        """Whether a source in FROM gives private rows; a grouped subquery gives released ones."""
        return any(self.gives_private_rows(source, ctes) for source in from_items(select))

    def gives_private_rows(self, node: exp.Expr, ctes: Ctes) -> bool:
        """A grouped query has private rows where each of its groups is one unit's."""
        match node:
            case exp.Table() if isinstance(node.this, exp.Identifier):
                name = fold(node.name)
                if not node.db and name in ctes:
                    self._opened += 1
                    if self._opened > MAX_OPENED:
                        refuse(
                            "E_LIMITS",
                            "common table expressions that are used twice double the statement each "
                            "time, and this one grows too large",
                            node,
                        )
                    return self.gives_private_rows(ctes[name].query, ctes[name].ctes)
                table = self.schema.table(name)
                return table is not None and not table.public
            case (
                exp.Subquery(this=exp.Table() | exp.Subquery() | exp.Paren() as first)
                | exp.Paren(this=first)
            ):
                joined = [join.this for join in first.args.get("joins") or ()]
                return any(self.gives_private_rows(source, ctes) for source in [first, *joined])
            case exp.Subquery():
                return self.gives_private_rows(node.this, ctes)
            case exp.SetOperation():
                inner, ctes = without_ctes(node, ctes)
                return any(
                    self.gives_private_rows(side, ctes) for side in (inner.this, inner.expression)
                )
            case exp.Select():
                inner, ctes = without_ctes(node, ctes)
                assert isinstance(inner, exp.Select)
                if not self._reads_private(inner, ctes):
                    return False
                return not is_grouped(inner) or groups_by_unit(inner, self.source_from(inner, ctes))
            case _:
                return False


def _name_unknown_columns(select: exp.Select, source_from: From) -> None:
    """Refuse the first column that does not exist: that says more than that rows are private."""
    for item in select.expressions:
        for column in item.find_all(exp.Column):
            if not isinstance(column.this, exp.Star) and column.find_ancestor(exp.Query) is select:
                source_from.scope.resolve(column)
