"""The sides of a join in FROM: rows, visible columns, and public rows that an outer join keeps.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import NoReturn, TypeAlias

from sqlglot import exp

from dpsql.sql.analysis.empty_relations import is_never_true
from dpsql.sql.binder.scope import VisibleSource
from dpsql.sql.ir.aggregate import SUM, UNITS
from dpsql.sql.ir.core import Aggregate
from dpsql.sql.ir.expression import (
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    columns,
    conjuncts,
)
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Filter, Join, Relation, unit_of

#: Which rows without a partner a join keeps.
JoinKind: TypeAlias = OneOf["inner", "left", "right", "full"]
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in", "like", "ilike"})


@dataclass(frozen=True)
class PreservedRows:
    """An outer join that preserves public rows.

    In a row without a partner, the columns of ``relations`` are NULL.
    """

    relations: frozenset[str]
    join: exp.Expr

    def refuse(self) -> NoReturn:
        """Refuse the join, since rows without a unit would be seen."""
        refuse(
            "E_JOIN",
            "an outer join that keeps the rows of a public table leaves rows without a unit, which "
            "something here would count; measure columns of the private table alone, as in COUNT(column) or "
            "COUNT(*) FILTER (WHERE column > 0), or join the other way round",
            self.join,
        )

    def with_partners(
        self, condition: Sequence[Expression], partners: frozenset[str]
    ) -> PreservedRows:
        """These rows after one more left join.

        Its columns are also NULL if its condition needs columns that these rows lack.
        """
        lacks = any(never_holds_without(conjunct, self.relations) for conjunct in condition)
        return replace(self, relations=self.relations | partners) if lacks else self

    def require_unseen(self, keys: Sequence[Expression], aggregates: Sequence[Aggregate]) -> None:
        """Refuse unless every aggregate ignores rows without a partner.

        Nor may a key read a column that they lack.
        """
        seen = any(column.relation in self.relations for key in keys for column in columns(key))
        if (
            seen
            or not aggregates
            or not all(self._passes_over(aggregate) for aggregate in aggregates)
        ):
            self.refuse()

    def _passes_over(self, aggregate: Aggregate) -> bool:
        if aggregate.function is UNITS:
            return True
        argument = aggregate.argument
        condition = aggregate.condition
        empty = adds_nothing_without if aggregate.function is SUM else is_null_without
        lacks = argument is not None and empty(argument, self.relations)
        return lacks or (condition is not None and never_holds_without(condition, self.relations))


def is_null_without(expression: Expression, relations: frozenset[str]) -> bool:
    """Whether the expression is NULL wherever all columns of the relations are."""
    match expression:
        case ColumnRef(relation=relation):
            return relation in relations
        case Cast(argument=argument):
            return is_null_without(argument, relations)
        case Call(function=function, arguments=arguments) if function in _COMPARISONS:
            return is_null_without(arguments[0], relations) or (
                function != "in" and is_null_without(arguments[1], relations)
            )
        case Call(function="not" | "+" | "-" | "*" | "/" | "negate" | "abs", arguments=arguments):
            return any(is_null_without(operand, relations) for operand in arguments)
        case Literal(value=value):
            return value is None
        case Case():
            return all(
                is_null_without(operand, relations)
                for operand in _values_without(expression, relations)
            )
        case _:
            return False


def adds_nothing_without(expression: Expression, relations: frozenset[str]) -> bool:
    """Whether the expression is NULL or 0 wherever all columns of the relations are NULL."""
    match expression:
        case Literal(value=value):
            return value is None or value == 0
        case Case():
            return all(
                adds_nothing_without(alternative, relations)
                for alternative in _values_without(expression, relations)
            )
        case Call(function="coalesce", arguments=arguments):
            return all(adds_nothing_without(argument, relations) for argument in arguments)
        case _:
            return is_null_without(expression, relations)


def _values_without(case: Case, relations: frozenset[str]) -> list[Expression]:
    """A CASE's values if all columns of the relations are NULL, but for the NULL of no ELSE."""
    reached = [
        value for condition, value in case.branches if not never_holds_without(condition, relations)
    ]
    return reached if case.default is None else [*reached, case.default]


def never_holds_without(condition: Expression, relations: frozenset[str]) -> bool:
    """Whether the condition is false or unknown wherever all columns of the relations are NULL."""
    match condition:
        case Call(function="and", arguments=arguments):
            return any(never_holds_without(argument, relations) for argument in arguments)
        case Call(function="or", arguments=arguments):
            return all(never_holds_without(argument, relations) for argument in arguments)
        case Call(function="not", arguments=(Call(function="is null", arguments=(inner,)),)):
            return is_null_without(inner, relations)
        case _:
            return is_never_true(condition) or is_null_without(condition, relations)


#: The columns that USING and NATURAL have made one, with the names of the sources they stand for.
Merged: TypeAlias = dict[str, tuple[Expression, frozenset[str]]]


@dataclass
class Side:
    """One side of a join: its rows, the conditions of its inner joins, what can be seen of it."""

    relation: Relation
    conditions: list[Expression]
    sources: list[VisibleSource]
    merged: Merged = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        return unit_of(self.relation) is not None

    def seen(self) -> list[Expression]:
        """Every expression that can be seen, each once."""
        listed = [column for source in self.sources for column in source.columns.values()]
        return list(
            dict.fromkeys([*listed, *(expression for expression, _ in self.merged.values())])
        )

    def replaced(self, relation: Relation, change: Callable[[Expression], Expression]) -> Side:
        """The side with another relation and with what can be seen changed, its conditions done."""
        visible = [
            VisibleSource(
                source.name, {name: change(column) for name, column in source.columns.items()}
            )
            for source in self.sources
        ]
        merged = {
            name: (change(expression), names) for name, (expression, names) in self.merged.items()
        }
        return Side(relation, [], visible, merged)

    @property
    def relations(self) -> frozenset[str]:
        """The relations whose columns can be seen."""
        return frozenset(
            column.relation for expression in self.seen() for column in columns(expression)
        )

    def padded(self) -> Side:
        """The side as seen from rows that may lack a partner in it."""
        return replace(self.replaced(self.relation, padded_column), conditions=self.conditions)


def lift(relation: Relation) -> tuple[Relation, list[Expression]]:
    """The relation without its outermost filters, and their conditions.

    An inner join may apply them later.
    """
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += conjuncts(relation.condition)
        relation = relation.child
    return relation, conditions


def padded_column(column: Expression) -> Expression:
    """The column after an outer join that may lack its side.

    It may be NULL, and no longer identifies the unit.
    """
    assert isinstance(column, ColumnRef)
    domain = None if column.domain is None else tuple(dict.fromkeys((*column.domain, None)))
    return replace(column, nullable=True, domain=domain, identifies=None, public=False)


def padded_sources(relation: Relation) -> list[Relation]:
    """The sources of the relation that an outer join inside it may lack."""
    match relation:
        case Join(left=left, right=right, kind="left"):
            return [*padded_sources(left), right]
        case Join(left=left, right=right):
            return [*padded_sources(left), *padded_sources(right)]
        case _:
            return []


def graft(base: Relation, right: Relation) -> Relation:
    """The inner join of both relations, with the left joins of the right side last.

    A × (B ⟕ C) = (A × B) ⟕ C.
    """
    if isinstance(right, Join):
        return Join(graft(base, right.left), right.right, right.kind, right.condition)
    return Join(base, right, "inner", None)


#: Parts of a join that is answered.
_JOIN_PARTS = ("this", "on", "using", "kind", "side", "method")


def join_kind(join: exp.Join | None) -> JoinKind:
    """Which rows the join keeps; refused if it is of a kind that is not answered."""
    if join is None:
        return "inner"
    only(join, *_JOIN_PARTS, code="E_JOIN", subject="this kind of join")
    side = str(join.side).upper()
    kind = str(join.kind).upper()
    method = str(join.method).upper()
    if kind not in ("", "INNER", "CROSS", "OUTER") or method not in ("", "NATURAL"):
        refuse("E_JOIN", f"a {kind or method} JOIN is not answered; use JOIN … ON", join)
    kinds: dict[str, JoinKind] = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
    return kinds[side]
