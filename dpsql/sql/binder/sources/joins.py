"""FROM and JOIN over private and public tables: one relation, whose every row keeps its one unit.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.analysis.join_on_unit import require_one_unit, tied_source
from dpsql.sql.analysis.stability import sources as sources_of
from dpsql.sql.binder.expressions.expression_reader import Reader, ReadKnown
from dpsql.sql.binder.scope import Scope, VisibleSource
from dpsql.sql.binder.sources.join_sides import (
    JoinKind,
    PreservedRows,
    Side,
    graft,
    join_kind,
    lift,
    never_holds_without,
    padded_column,
    padded_sources,
)
from dpsql.sql.binder.sources.set_operations import output, projected
from dpsql.sql.binder.sources.tables import BoundRelation, along_foreign_keys
from dpsql.sql.functions.call import call
from dpsql.sql.ir.expression import ColumnRef, Expression, columns, conjunction, conjuncts, rebuilt
from dpsql.sql.ir.references import outer_columns
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Branch, Compound, Filter, Join, Relation, Scan, unit_of


class From:
    """Builds the relation of one FROM clause, source by source."""

    def __init__(
        self, parameters: tuple[object, ...], alias: Callable[[], str], outer: Scope | None = None
    ) -> None:
        self.scope = Scope(outer=outer)
        self.parameters = parameters
        self.known: ReadKnown = lambda _node: None  # it reads every node itself
        self.preserved: list[PreservedRows] = []
        self._lacking: dict[Expression, ColumnRef] = {}
        self._partners: dict[str, str] = {}
        self._alias = alias
        self._side: Side | None = None
        self._has_comma = False

    def reader(self) -> Reader:
        """Reads scalar expressions over the sources so far."""
        return Reader(self.scope.resolve, self.parameters, self.known)

    @property
    def is_public(self) -> bool:
        """Whether no source is private."""
        return self._side is None or not self._side.is_private

    @property
    def is_whole(self) -> bool:
        """Whether it is one table with all of its rows."""
        return (
            self._side is not None
            and isinstance(self._side.relation, Scan)
            and not self._side.conditions
        )

    def add(
        self, source: BoundRelation, name: str, node: exp.Expr, join: exp.Join | None = None
    ) -> None:
        """Join one more source; refused if a row could lose or double its unit."""
        relation, conditions = lift(source.relation)
        self._join(Side(relation, conditions, [VisibleSource(name, source.columns)]), node, join)

    def add_group(self, group: From, node: exp.Expr, join: exp.Join | None = None) -> None:
        """Join what stands between parentheses."""
        assert group._side is not None
        self.preserved += group.preserved
        self._lacking |= group._lacking
        self._partners |= group._partners
        self._join(group._side, node, join)

    def add_values(self, values: dict[str, Expression], name: str, node: exp.Expr) -> None:
        """Bring values of each row into scope under a name, as LATERAL does."""
        assert self._side is not None
        self._show(
            replace(self._side, sources=[*self._side.sources, VisibleSource(name, values)]), node
        )

    def _join(self, right: Side, node: exp.Expr, join: exp.Join | None) -> None:
        first = self._side
        if first is None:
            self._show(right, node)
            return
        kind = join_kind(join)
        at = join or node
        written = ("on", "using", "kind", "side", "method")
        is_comma = join is not None and not any(join.args.get(argument) for argument in written)
        is_natural = join is not None and str(join.method).upper() == "NATURAL"
        if self._has_comma and (kind in ("right", "full") or is_natural):
            name = "NATURAL" if is_natural else kind.upper()
            refuse(
                "E_JOIN",
                f"a {name} JOIN behind a comma joins the last table alone; put parentheses around "
                "what it joins",
                at,
            )
        self._has_comma = self._has_comma or is_comma
        if not (kind == "inner" or first.is_private == right.is_private) and self._keeps_public(
            kind, first
        ):
            self._public_preserved(first, right, kind, at, join=join)
            return
        if kind in ("right", "full"):
            first = self._wrapped(first, at, kind)
        if kind in ("left", "full"):
            right = self._wrapped(right, at, kind)
        shared, condition = self._condition(first, right, kind, at, join=join)
        if kind != "inner" and first.is_private and right.is_private:
            one, many = (first, right) if kind == "right" else (right, first)
            self._tie(one, many, condition, at)
        if kind == "left" and right.is_private:
            self.preserved = [
                rows.with_partners(condition, right.relations) for rows in self.preserved
            ]
        self._show(self._joined(first, right, kind, condition, shared=shared, at=at), at)

    def _tie(
        self, lacking: Side, preserved: Side, condition: list[Expression], at: exp.Expr
    ) -> None:
        """Note the source of the unit of an outer join's partners; refused if there is none."""
        parts = [*sources_of(preserved.relation), *sources_of(lacking.relation)]
        partner = tied_source(
            lacking.relation, sources_of(preserved.relation), self._in_rows_that_have(condition)
        )
        if partner is None:
            require_one_unit(parts, [], at)
            return
        self._partners |= {source.alias: partner for source in sources_of(lacking.relation)}

    def _in_rows_that_have(self, conditions: list[Expression]) -> list[Expression]:
        """The conditions in rows with a partner: the padded side's columns are not NULL."""
        return [rebuilt(on, lambda inner: self._lacking.get(inner, inner)) for on in conditions]

    def _padded(self, side: Side) -> Side:
        """The side as seen by rows that may lack it.

        What its columns identify is noted for later conditions.
        """
        for column in side.seen():
            known = self._lacking.get(column, column)
            if isinstance(known, ColumnRef) and known.identifies is not None:
                self._lacking[padded_column(column)] = known
        return side.padded()

    def _hand_on(self, before: Expression, after: ColumnRef) -> None:
        """Note that a new column stands for an old one, so that what it identifies is not lost."""
        known = self._lacking.get(before)
        if known is not None:
            self._lacking[after] = replace(after, identifies=known.identifies)

    def _joined(
        self,
        first: Side,
        right: Side,
        kind: JoinKind,
        condition: list[Expression],
        shared: dict[str, list[Expression]],
        at: exp.Expr,
    ) -> Side:
        names = frozenset(source.name for source in [*first.sources, *right.sources])
        match kind:
            case "inner":
                relation = graft(first.relation, right.relation)
                conditions = [*first.conditions, *right.conditions, *condition]
            case "left":
                on = conjunction([*right.conditions, *condition])
                relation = Join(first.relation, right.relation, "left", on)
                conditions = first.conditions
                right = self._padded(right)
            case "right":
                on = conjunction([*first.conditions, *condition])
                relation = Join(right.relation, first.relation, "left", on)
                conditions = right.conditions
                first = self._padded(first)
            case "full":
                return self._full(first, right, condition, shared, at=at)
            case _:
                assert_never(kind)
        preserved = 1 if kind == "right" else 0
        merged = (
            first.merged
            | right.merged
            | {name: (pair[preserved], names) for name, pair in shared.items()}
        )
        return Side(relation, conditions, [*first.sources, *right.sources], merged)

    def _full(
        self,
        first: Side,
        right: Side,
        condition: list[Expression],
        shared: dict[str, list[Expression]],
        at: exp.Expr,
    ) -> Side:
        """FULL JOIN: the unit and each shared column come from whichever side has a row."""
        both = Join(first.relation, right.relation, "full", conjunction(condition))
        units = [
            unit for unit in (unit_of(first.relation), unit_of(right.relation)) if unit is not None
        ]
        unit = call("coalesce", [*units], at) if units else None
        names = frozenset(source.name for source in [*first.sources, *right.sources])
        first = self._padded(first)
        right = self._padded(right)
        padded = Side(both, [], [*first.sources, *right.sources], first.merged | right.merged)
        padded.merged |= {
            name: (call("coalesce", pair, at), names) for name, pair in shared.items()
        }
        alias = self._alias()
        seen = padded.seen()
        identified = {padded.merged[name][0]: _both_identify(pair) for name, pair in shared.items()}
        columns = {
            visible: output(alias, index, [visible], identified.get(visible))
            for index, visible in enumerate(seen)
        }
        for column_read, column in columns.items():
            self._hand_on(column_read, column)
        compound = Compound(alias, "union all", (Branch(both, unit, tuple(seen)),))
        return padded.replaced(compound, columns.__getitem__)

    def _condition(
        self, first: Side, right: Side, kind: JoinKind, at: exp.Expr, join: exp.Join | None
    ) -> tuple[dict[str, list[Expression]], list[Expression]]:
        """The columns that USING or NATURAL makes one, and all conditions of the join."""
        before = Scope(first.sources, first.merged)
        after = Scope(right.sources, right.merged)
        names = self._shared_names(before, after, at, join)
        shared = {
            name: [scope.resolve(exp.column(name)) for scope in (before, after)] for name in names
        }
        self._show(
            replace(
                first, sources=[*first.sources, *right.sources], merged=first.merged | right.merged
            ),
            at,
        )
        on = None if join is None else join.args.get("on")
        reader = self.reader() if kind == "inner" else Reader(self.scope.resolve, self.parameters)
        conditions = [] if on is None else list(conjuncts(reader.condition(on)))
        return shared, [call("=", pair, at) for pair in shared.values()] + conditions

    def _shared_names(
        self, base: Scope, right: Scope, at: exp.Expr, join: exp.Join | None
    ) -> list[str]:
        if join is None:
            return []
        if str(join.method).upper() == "NATURAL":
            both = [
                name for source in right.sources for name in source.columns if base.has_column(name)
            ]
            if not both:
                refuse("E_JOIN", "a NATURAL JOIN needs a column that both sides have", at)
            return list(dict.fromkeys(both))
        names = [fold(name_node.name) for name_node in join.args.get("using") or ()]
        for name in names:
            if not (base.has_column(name) and right.has_column(name)):
                refuse("E_COLUMN", f"USING names {name}, which is not on both sides", at)
        return names

    # -- public rows that an outer join keeps ------------------------------------------------------

    def _keeps_public(self, kind: JoinKind, first: Side) -> bool:
        return kind == "full" or (kind == "left") != first.is_private

    def _public_preserved(
        self, first: Side, right: Side, kind: JoinKind, at: exp.Expr, join: exp.Join | None
    ) -> None:
        """Join as an inner join, and note that public rows without a partner are missing.

        Such rows have no unit. `finish` refuses the join unless nothing that is measured could see
        them.
        """
        if kind == "full":
            refuse(
                "E_JOIN",
                "a FULL JOIN with a public table leaves rows without a unit; write a LEFT JOIN from the "
                "private table",
                at,
            )
        shared, condition = self._condition(first, right, kind, at, join=join)
        private = first if first.is_private else right
        named = private.relations
        if not all(
            named & {column.relation for column in columns(conjunct)}
            for conjunct in [*private.conditions, *condition]
        ):
            refuse(
                "E_JOIN",
                "an outer join that keeps the rows of a public table may have conditions on that table in "
                "WHERE only",
                at,
            )
        self.preserved.append(PreservedRows(named, at))
        self._show(self._joined(first, right, "inner", condition, shared=shared, at=at), at)

    # -- one side as a subquery of its own ---------------------------------------------------------

    def _wrapped(self, side: Side, at: exp.Expr, kind: JoinKind) -> Side:
        """The side as one source, which an outer join may lack as a whole.

        A table that holds the unit is one.
        """
        has_hops = isinstance(side.relation, Scan) and bool(side.relation.hops)
        is_one = not isinstance(side.relation, Join | Filter) and not has_hops
        plain = all(isinstance(expression, ColumnRef) for expression in side.seen())
        if is_one and plain and not (side.conditions and kind == "full"):
            return side
        for preserved in self.preserved:
            if preserved.relations & side.relations:
                preserved.refuse()
        relation = self._whole(side.relation, side.conditions, at, frozenset())
        if any(
            column.relation in self.scope.relations() - side.relations
            for column in outer_columns(relation)
        ):
            refuse(
                "E_JOIN",
                "a subquery that reads the tables beside it cannot stand in an outer join",
                at,
            )
        compound, outputs = projected(relation, unit_of(relation), side.seen(), self._alias())
        for before, after in zip(side.seen(), outputs, strict=True):
            self._hand_on(before, after)
        return side.replaced(compound, dict(zip(side.seen(), outputs, strict=True)).__getitem__)

    def _whole(
        self,
        relation: Relation,
        conditions: list[Expression],
        node: exp.Expr,
        outside: frozenset[str],
    ) -> Relation:
        lacking = padded_sources(relation)
        inner = [source for source in sources_of(relation) if source not in lacking]
        require_one_unit(
            inner, self._in_rows_that_have(conditions), node, outside, partners=self._partners
        )
        shortened = along_foreign_keys(relation, conditions)
        condition = conjunction(conditions)
        return shortened if condition is None else Filter(shortened, condition)

    def _show(self, side: Side, node: exp.Expr) -> None:
        """Make the side what this FROM has so far; refused where two sources have one name."""
        names = [source.name for source in side.sources]
        twice = [name for index, name in enumerate(names) if name in names[:index]]
        if twice:
            refuse("E_TABLE", f"{twice[0]} stands twice in FROM; give one of them an alias", node)
        self._side = side
        self.scope.sources = side.sources
        self.scope.merged = side.merged

    def finish(
        self, where: Expression | None, node: exp.Expr, shows_preserved: bool = False
    ) -> Relation:
        """The relation, each row with exactly one unit, or a refusal that prints the paths.

        ``shows_preserved``: the caller itself checks what public rows without partner change.
        """
        assert self._side is not None
        conditions = [*self._side.conditions, *conjuncts(where)]
        self.preserved = [
            rows
            for rows in self.preserved
            if not any(never_holds_without(term, rows.relations) for term in conjuncts(where))
        ]
        if self.preserved and not shows_preserved:
            self.preserved[0].refuse()
        outside = frozenset() if self.scope.outer is None else self.scope.outer.relations()
        return self._whole(self._side.relation, conditions, node, outside)


def _both_identify(pair: list[Expression]) -> str | None:
    """What both columns identify, if it is the same thing: then so does the one that is there."""
    first, right = pair
    if not (isinstance(first, ColumnRef) and isinstance(right, ColumnRef)):
        return None
    same = first.type == right.type and first.identifies == right.identifies
    return first.identifies if same else None
