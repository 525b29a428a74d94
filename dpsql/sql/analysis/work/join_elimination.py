"""Elimination of joins whose rows nothing reads.

If it does not matter how often a row stands in the result, such a join only asks whether there is a
partner, and multiplies nothing.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from dpsql.sql.analysis.join_on_unit import is_tied
from dpsql.sql.analysis.work.join_order import aliases, equalities, join_order
from dpsql.sql.ir.aggregate_properties import unit_ignores_repeated_rows
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import BOOLEAN, Expression, Subquery, columns, conjunction, rebuilt
from dpsql.sql.ir.references import outer_columns
from dpsql.sql.ir.relation import (
    Branch,
    Compound,
    Constants,
    Filter,
    Groups,
    Join,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)


def without_unread_joins(core: Core) -> Core:
    """The core with EXISTS in the place of inner joins that nothing reads, and without outer ones.

    ``SELECT COUNT(DISTINCT p.id) FROM p JOIN v ON v.id = p.id CROSS JOIN (VALUES (1), (2)) AS
    b(x)`` counts what ``SELECT COUNT(DISTINCT p.id) FROM p WHERE EXISTS (SELECT 1 FROM v WHERE
    v.id = p.id)`` does.
    """
    used = [core.unit, *core.keys, *_parts(core.aggregates)]
    as_set = all(aggregate.function.ignores_repeated_rows for aggregate in core.aggregates)
    return replace(core, relation=_relation(core.relation, used, as_set))


def _relation(relation: Relation, used: Sequence[Expression], as_set: bool) -> Relation:
    """The relation with fewer joins; ``used`` is read of it, ``as_set`` if rows count once."""
    relation = _inside(relation)
    if not as_set or not isinstance(relation, Join | Filter) or _has_full_join(relation):
        return relation
    order = join_order(relation)
    conditions = list(order.of_inner_joins)
    inner = [step.source for step in order.steps if step.kind in ("first", "inner")]
    outer = [step for step in order.steps if step.kind == "left"]
    while True:
        for step in reversed(outer):
            others = [condition for other in outer if other is not step for condition in other.on]
            if not _is_read(
                step.source,
                [*used, *conditions, *others],
                [*inner, *(outer_step.source for outer_step in outer)],
            ):
                outer.remove(step)
                break
        else:
            eliminated = _eliminate_inner_join(
                inner,
                conditions,
                [*used, *(condition for step in outer for condition in step.on)],
                [step.source for step in outer],
            )
            if eliminated is None:
                break
            inner, conditions = eliminated
    joined: Relation = inner[0]
    for source in inner[1:]:
        joined = Join(joined, source, "inner", None)
    for step in outer:
        joined = Join(joined, step.source, "left", conjunction(list(step.on)))
    condition = conjunction(conditions)
    return joined if condition is None else Filter(joined, condition)


def _eliminate_inner_join(
    inner: list[Leaf],
    conditions: list[Expression],
    used: Sequence[Expression],
    outer: Sequence[Leaf],
) -> tuple[list[Leaf], list[Expression]] | None:
    """The sources and conditions without one source that nothing reads; None if there is none."""
    for source in reversed(inner):
        own_conditions = [condition for condition in conditions if _names(condition, source)]
        rest = [other for other in inner if other is not source]
        if not rest or _is_read(source, used, [*rest, *outer]) or outer_columns(source):
            continue
        if not own_conditions and isinstance(source, Constants):
            return rest, conditions
        other_conditions = [
            condition for condition in conditions if condition not in own_conditions
        ]
        exists = _exists(source, own_conditions, rest)
        if exists is not None:
            return rest, [*other_conditions, exists]
    return None


def _exists(source: Leaf, conditions: list[Expression], rest: Sequence[Leaf]) -> Expression | None:
    """The condition that the source has a row that fulfils its conditions.

    None if these do more than compare for equality with one other source, or if the rows may be
    another unit's.
    """
    within = aliases(source)
    condition = conjunction(conditions)
    met = [other for other in rest if any(_names(equality, other) for equality in conditions)]
    for equality in conditions:
        inside = {column.relation for column in columns(equality)} <= within
        if not inside and not any(
            first.relation in within and second.relation not in within
            for first, second in equalities([equality])
        ):
            return None
    relation: Relation = source if condition is None else Filter(source, condition)
    if unit_of(source) is not None and (len(met) != 1 or not is_tied(relation, aliases(met[0]))):
        return None
    if len(met) > 1 or any(
        column.relation not in within.union(*map(aliases, rest))
        for equality in conditions
        for column in columns(equality)
    ):
        return None
    return Subquery(relation, None, outer_columns(relation), BOOLEAN)


def _inside(relation: Relation) -> Relation:
    """The same for what stands inside the relation's own sources and conditions."""
    match relation:
        case Scan() | Groups() | Constants():
            return relation
        case Filter(child=child, condition=condition):
            return Filter(_inside(child), _expression(condition))
        case Join(left=left_side, right=right_side, condition=condition):
            new_condition = None if condition is None else _expression(condition)
            return replace(
                relation,
                left=_inside(left_side),
                right=_inside(right_side),
                condition=new_condition,
            )
        case PerUnit(child=child, keys=keys, aggregates=aggregates):
            unit = unit_of(child)
            used = [
                *(key for _, key in keys),
                *_parts([aggregate for _, aggregate in aggregates]),
                *([unit] if unit else []),
            ]
            as_set = all(
                unit_ignores_repeated_rows(aggregate.function) for _, aggregate in aggregates
            )
            return replace(relation, child=_relation(child, used, as_set))
        case Compound(operator=operator, branches=branches):
            as_set = operator in ("union", "intersect", "except")
            return replace(relation, branches=tuple(_branch(branch, as_set) for branch in branches))
        case _:
            assert_never(relation)


def _branch(branch: Branch, as_set: bool) -> Branch:
    used = [*branch.columns, *([branch.unit] if branch.unit is not None else [])]
    return replace(branch, relation=_relation(branch.relation, used, as_set))


def _expression(expression: Expression) -> Expression:
    if not isinstance(expression, Subquery):
        return rebuilt(expression, _expression)
    aggregate = expression.aggregate
    as_set = aggregate is None or unit_ignores_repeated_rows(aggregate.function)
    used = [] if aggregate is None else _parts([aggregate])
    return replace(expression, relation=_relation(expression.relation, used, as_set))


def _parts(aggregates: Iterable[Aggregate | UnitAggregate]) -> list[Expression]:
    return [argument for aggregate in aggregates for argument in aggregate.reads]


def _is_read(source: Leaf, expressions: Iterable[Expression], others: Iterable[Leaf]) -> bool:
    """Whether one of the expressions, or another source, reads a column of the source."""
    named = any(_names(expression, source) for expression in expressions)
    return named or any(
        column.relation in aliases(source)
        for other in others
        if other is not source
        for column in outer_columns(other)
    )


def _names(expression: Expression, source: Leaf) -> bool:
    return any(column.relation in aliases(source) for column in columns(expression))


def _has_full_join(relation: Relation) -> bool:
    match relation:
        case Join(kind="full"):
            return True
        case Join(left=left_side):
            return _has_full_join(left_side)
        case Filter(child=child):
            return _has_full_join(child)
        case _:
            return False
