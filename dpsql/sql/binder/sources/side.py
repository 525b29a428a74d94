"""One side of a join while FROM is read: its rows, and what can be seen of them.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dpsql.sql.binder.scope import Visible
from dpsql.sql.ir.expression import Column, Expression, columns, conjuncts
from dpsql.sql.ir.relation import Filter, Join, Relation, unit_of

#: The columns that USING and NATURAL have made one, with the names of the sources they stand for.
Merged: TypeAlias = dict[str, tuple[Expression, frozenset[str]]]


@dataclass
class Side:
    """One side of a join: its rows, the conditions of its inner joins, what can be seen of it."""

    relation: Relation
    conditions: list[Expression]
    sources: list[Visible]
    merged: Merged = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        return unit_of(self.relation) is not None

    def seen(self) -> list[Expression]:
        """Every expression that can be seen, each once."""
        listed = [each for source in self.sources for each in source.columns.values()]
        return list(dict.fromkeys([*listed, *(expression for expression, _ in self.merged.values())]))

    def replaced(self, relation: Relation, change: Callable[[Expression], Expression]) -> Side:
        """The side with another relation and with what can be seen changed, its conditions done."""
        visible = [
            Visible(each.name, {name: change(part) for name, part in each.columns.items()}) for each in self.sources
        ]
        merged = {name: (change(expression), names) for name, (expression, names) in self.merged.items()}
        return Side(relation, [], visible, merged)

    @property
    def relations(self) -> frozenset[str]:
        """The relations whose columns can be seen."""
        return frozenset(column.relation for each in self.seen() for column in columns(each))

    def padded(self) -> Side:
        """The side as seen from rows that may lack a partner in it."""
        return replace(self.replaced(self.relation, padded_column), conditions=self.conditions)


def lift(relation: Relation) -> tuple[Relation, list[Expression]]:
    """The relation without its outermost filters, and their conditions: an inner join may apply them later."""
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += conjuncts(relation.condition)
        relation = relation.child
    return relation, conditions


def padded_column(column: Expression) -> Expression:
    """A column of the side of an outer join that may lack: NULL then, and no longer a name of the unit."""
    assert isinstance(column, Column)
    domain = None if column.domain is None else tuple(dict.fromkeys((*column.domain, None)))
    return replace(column, nullable=True, domain=domain, identifies=None, public=False)


def padded_sources(relation: Relation) -> list[Relation]:
    """The sources that rows of the relation may lack."""
    match relation:
        case Join(left=left, right=right, kind="left"):
            return [*padded_sources(left), right]
        case Join(left=left, right=right):
            return [*padded_sources(left), *padded_sources(right)]
        case _:
            return []


def graft(left: Relation, right: Relation) -> Relation:
    """The inner join of both, with the joins of the right side hung under the left: A × (B ⟕ C) = (A × B) ⟕ C."""
    if isinstance(right, Join):
        return Join(graft(left, right.left), right.right, right.kind, right.condition)
    return Join(left, right, "inner", None)
