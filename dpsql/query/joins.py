"""FROM and JOIN over private and public tables → one relation in which every row keeps its one unit.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal as OneOf

from sqlglot import exp

from dpsql.query.call import call
from dpsql.query.expression import Column, Expression, conjunction, conjuncts
from dpsql.query.foreign_keys import along_foreign_keys
from dpsql.query.one_unit import require_one_unit
from dpsql.query.refusal import only, refuse
from dpsql.query.relation import Filter, Join, Relation, Scan, unit_of
from dpsql.query.scalar import Known, Reader
from dpsql.query.scope import Scope, Visible
from dpsql.query.sources import Source
from dpsql.query.stability import sources as sources_of
from dpsql.schema import fold


class From:
    """Builds the relation of one FROM clause, source by source."""

    def __init__(self, parameters: tuple[object, ...], outer: Scope | None = None) -> None:
        self.scope = Scope(outer=outer)
        self.parameters = parameters
        self.known: Known = _nothing
        self._relation: Relation | None = None
        self._conditions: list[Expression] = []

    def reader(self) -> Reader:
        """Reads scalar expressions over the sources so far."""
        return Reader(self.scope.resolve, self.parameters, self.known)

    @property
    def is_public(self) -> bool:
        """Whether no source is private."""
        return self._relation is None or unit_of(self._relation) is None

    def add(self, source: Source, name: str, node: exp.Expr, join: exp.Join | None = None) -> None:
        """Join one more source to what is there; refused where a row could lose or double its unit."""
        relation, conditions = _lift(source.relation)
        if self._relation is None:
            self.scope.add(Visible(name, source.columns), node)
            self._relation = relation
            self._conditions += conditions
            return
        kind = _kind(join)
        using = [] if join is None else [fold(each.name) for each in join.args.get("using") or ()]
        pairs = [self._shared(column, source, node) for column in using]
        self.scope.add(Visible(name, source.columns), node)
        self.scope.merged |= set(using)
        on = None if join is None else join.args.get("on")
        reader = self.reader() if kind == "inner" else Reader(self.scope.resolve, self.parameters)
        condition = pairs + ([] if on is None else list(conjuncts(reader.condition(on))))
        if kind == "left":
            self._left(relation, conditions + condition, source, name, join or node)
            return
        self._relation = _graft(self._relation, relation)
        self._conditions += conditions + condition

    def _shared(self, column: str, source: Source, node: exp.Expr) -> Expression:
        if column not in source.columns:
            refuse("E_COLUMN", f"USING names {column}, which is not on both sides", node)
        left = self.scope.resolve(exp.column(column))
        return call("=", [left, source.columns[column]], node)

    def _left(self, right: Relation, condition: list[Expression], source: Source, name: str, node: exp.Expr) -> None:
        assert self._relation is not None
        left_unit, right_unit = unit_of(self._relation), unit_of(right)
        if left_unit is None and right_unit is not None:
            refuse("E_JOIN", "an outer join that keeps the rows of a public table leaves rows without a unit; join "
                   "the other way round", node)  # fmt: skip
        plain = isinstance(right, Scan) and not right.hops
        if not plain or not all(isinstance(column, Column) for column in source.columns.values()):
            refuse("E_JOIN", "the right side of a LEFT JOIN must be one table next to the unit", node)
        if right_unit is not None:
            require_one_unit([*sources_of(self._relation), *sources_of(right)],
                                   [*self._conditions, *condition], node)  # fmt: skip
        self._relation = Join(self._relation, right, "left", conjunction(condition))
        padded = {each: _padded(column) for each, column in source.columns.items()}
        self.scope.sources[-1] = Visible(name, padded)

    def finish(self, where: Expression | None, node: exp.Expr) -> Relation:
        """The whole relation, each row with exactly one unit, or a refusal that prints the paths."""
        assert self._relation is not None
        conditions = [*self._conditions, *conjuncts(where)]
        inner = [source for source in sources_of(self._relation) if source not in _padded_sources(self._relation)]
        outside = frozenset() if self.scope.outer is None else self.scope.outer.relations()
        require_one_unit(inner, conditions, node, outside)
        relation = along_foreign_keys(self._relation, conditions)
        whole = conjunction(conditions)
        return relation if whole is None else Filter(relation, whole)


def _nothing(node: exp.Expr) -> None:
    """Understands no subquery."""


def _kind(join: exp.Join | None) -> OneOf["inner", "left"]:
    if join is None:
        return "inner"
    only(join, "this", "on", "using", "kind", "side", code="E_JOIN", what="this kind of join")
    side, kind = str(join.side).upper(), str(join.kind).upper()
    if side in ("RIGHT", "FULL"):
        refuse("E_JOIN", f"a {side} JOIN is not answered; write it as a LEFT JOIN from the private table", join)
    if kind not in ("", "INNER", "CROSS", "OUTER"):
        refuse("E_JOIN", f"a {kind} JOIN is not answered; use JOIN … ON", join)
    return "left" if side == "LEFT" else "inner"


def _lift(relation: Relation) -> tuple[Relation, list[Expression]]:
    """The relation without its outermost filters, and their conditions: an inner join may apply them later."""
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += conjuncts(relation.condition)
        relation = relation.child
    return relation, conditions


def _padded(column: Expression) -> Expression:
    """A column of the right side of a LEFT JOIN: NULL in rows without partner, and no longer a name of the unit."""
    assert isinstance(column, Column)
    return replace(column, nullable=True, domain=None, identifies=None, public=False)


def _padded_sources(relation: Relation) -> list[Relation]:
    match relation:
        case Join(left=left, right=right, kind="left"):
            return [*_padded_sources(left), right]
        case Join(left=left, right=right):
            return [*_padded_sources(left), *_padded_sources(right)]
        case _:
            return []


def _graft(left: Relation, right: Relation) -> Relation:
    """The inner join of both, with the joins of the right side hung under the left: A × (B ⟕ C) = (A × B) ⟕ C."""
    if isinstance(right, Join):
        return Join(_graft(left, right.left), right.right, right.kind, right.condition)
    return Join(left, right, "inner", None)
