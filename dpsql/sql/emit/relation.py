"""Relations → FROM and WHERE of engine SQL.

Proved in ``docs/proofs/stability.md``, ``docs/proofs/subquery.md``, ``docs/proofs/compound.md`` and
``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, assert_never

from sqlglot import exp

from dpsql.schema import UNIT
from dpsql.sql.analysis.work.join_order import JoinOrder, JoinStep, aliases, equalities, join_order
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import INNER, PUBLIC, Dialect
from dpsql.sql.emit.groups import groups_select
from dpsql.sql.emit.quantise import unit_aggregate
from dpsql.sql.emit.scalar import OUTER, key, literal_node, native
from dpsql.sql.emit.table import first_rows, parents, stored_table
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, Literal, Subquery, columns
from dpsql.sql.ir.references import outer_columns
from dpsql.sql.ir.relation import (
    Branch,
    Compound,
    Constants,
    Groups,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)

T = TypeVar("T")

#: Whether what is emitted stands in a subquery in an expression, or in a source of one.
_BESIDE: ContextVar[bool] = ContextVar("beside", default=False)
#: In a subquery in an expression, a column of the rows outside; None elsewhere, and in its sources.
_OUTSIDE: ContextVar[ColumnRef | None] = ContextVar("outside", default=None)


@contextmanager
def _set(variable: ContextVar[T], value: T) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def from_clause(
    dialect: Dialect, relation: Relation
) -> tuple[exp.Expr, list[exp.Join], list[exp.Expr]]:
    """The first source, the joins in order, and the conditions of WHERE.

    An inner join of private rows is written as a LEFT JOIN whose rows without a partner are left
    out after it: an engine that finds one side of an inner join empty does not read the other, and
    would tell that by its time. So it would by leaving out blocks in which no row can fulfil
    a condition.
    """
    order = join_order(relation)
    source, joins = _leaf(dialect, order.steps[0].source)
    conditions = [
        _keep_left_join(dialect, native(dialect, condition), order)
        if _is_of_later(condition, order)
        else _emit_condition(dialect, condition)
        for condition in order.where
    ]
    for step in order.steps[1:]:
        right, hops = _leaf(dialect, step.source)
        on = node.conjoined([_emit_condition(dialect, condition) for condition in step.on])
        ties = [] if dialect.reads_every_side else _ties(step, order)
        if step.kind != "inner":
            joins += [node.join(right, on or exp.true(), step.kind.upper()), *hops]
            joins[-1 - len(hops)].meta[PUBLIC] = unit_of(step.source) is None
        elif not ties:
            joins += [node.join(right, on), *hops]
        else:
            joins += [
                node.join(right, on, "LEFT"),
                *(node.join(hop.this, hop.args["on"], "LEFT") for hop in hops),
            ]
            for join in joins[-1 - len(hops) :]:
                join.meta[INNER] = True
            equal = [
                node.compare(exp.EQ, native(dialect, source_column), native(dialect, other))
                for source_column, other in ties
            ]
            conditions += [_keep_left_join(dialect, condition, order) for condition in equal]
    return source, joins, conditions


def owned(dialect: Dialect, relation: Relation, unit: Expression) -> exp.Expr:
    """Whether a row of the relation has a unit."""
    order = join_order(relation)
    has_unit = node.not_null(_exactly(dialect, unit))
    if _BESIDE.get():
        return _keep_left_join(dialect, has_unit, order) if _is_of_later(unit, order) else has_unit
    return _opaque_condition(dialect, has_unit, unit)


def _ties(step: JoinStep, order: JoinOrder) -> list[tuple[ColumnRef, ColumnRef]]:
    """The equalities that make a row of a private source a partner, or give it its parents.

    None if the engine may join the source in whatever way it likes.
    """
    if unit_of(step.source) is None or order.outside or outer_columns(step.source):
        return []
    ties = [
        (source_column, other)
        for source_column, other in equalities(step.on)
        if source_column.relation == step.source.alias != other.relation
    ]
    hops = step.source.hops if isinstance(step.source, Scan) and step.source.keep is None else ()
    return [ties[0], *((hop.parent, hop.child) for hop in hops)] if ties else []


def _is_of_later(expression: Expression, order: JoinOrder) -> bool:
    """Whether the expression reads a private source that a LEFT JOIN brings."""
    if order.outside or unit_of(order.steps[0].source) is None:
        return False
    later = [step.source for step in order.steps[1:] if unit_of(step.source) is not None]
    return any(
        column.relation in aliases(source) for column in columns(expression) for source in later
    )


def _emit_condition(dialect: Dialect, condition: Expression) -> exp.Expr:
    """The condition.

    If it reads one source alone, it is written so that the engine tests it on every row.

    Otherwise the engine could leave out blocks of the source by its statistics,
    and of sources that are equated with it.
    """
    columns_read = list(columns(condition))
    if len({column.relation for column in columns_read}) != 1:
        return native(dialect, condition)
    return _opaque_condition(dialect, native(dialect, condition), columns_read[0])


def _opaque_condition(dialect: Dialect, condition: exp.Expr, columns_read: Expression) -> exp.Expr:
    """The condition in a form that is true if it was,
    but that the engine cannot decide before it reads the row.

    The form compares a column with itself. In a subquery in an expression that is a column of the
    rows outside, so that the engine tests it after it has read, and in a source of such a subquery
    a column that the condition reads.
    """
    other = native(dialect, _OUTSIDE.get() or columns_read) if _BESIDE.get() else None
    return dialect.tested_on_each_row(condition, other)


def _keep_left_join(dialect: Dialect, condition: exp.Expr, order: JoinOrder) -> exp.Expr:
    """The condition in a form that hides from the engine that rows without a partner fail it.
    If it knew, it would turn the LEFT JOINs into inner joins.
    """
    return _opaque_condition(dialect, condition, _of_the_first(order.steps[0].source))


def _of_the_first(source: Leaf) -> ColumnRef:
    """A column of the source itself: its unit may be that of a parent which the statement joins
    later.
    """
    unit = unit_of(source)
    assert unit is not None
    if (
        unit.relation != source.alias
        and isinstance(source, Scan)
        and source.path is not None
        and source.path.hops
    ):
        return source.path.hops[0].child
    return unit


def leaf_source(dialect: Dialect, leaf: Leaf) -> exp.Expr:
    """A table or a subquery as it stands in FROM, without the parents that lead to its unit."""
    return _leaf(dialect, leaf)[0]


def _leaf(dialect: Dialect, leaf: Leaf) -> tuple[exp.Expr, list[exp.Join]]:
    match leaf:
        case Scan(keep=None, hops=hops):
            return stored_table(dialect, leaf), parents(dialect, hops)
        case Scan(keep=keep, alias=alias, hops=hops):
            assert keep is not None
            return node.subquery(first_rows(dialect, leaf, keep), alias), parents(dialect, hops)
        case PerUnit() | Groups() | Compound():
            with _set(_OUTSIDE, None), _set(OUTER, _outer(leaf)):
                return node.subquery(_derived(dialect, leaf), leaf.alias), []
        case Constants(alias=alias, rows=rows):
            typed = [[_typed(dialect, value) for value in row] for row in rows]
            return dialect.values(typed, alias, [f"c{index}" for index in range(len(rows[0]))]), []
        case _:
            assert_never(leaf)


def _derived(dialect: Dialect, leaf: PerUnit | Groups | Compound) -> exp.Query:
    match leaf:
        case PerUnit():
            return per_unit_select(dialect, leaf)
        case Groups(child=child):
            unit = unit_of(child)
            assert unit is not None
            keys = [key(dialect, expression) for _, expression in leaf.keys]
            aggregates = [unit_aggregate(dialect, expression) for _, expression in leaf.aggregates]
            has_unit = owned(dialect, child, unit)
            return groups_select(
                dialect,
                leaf,
                leaf_source(dialect, child),
                has_unit,
                keys=keys,
                aggregates=aggregates,
            )
        case Compound():
            return _compound(dialect, leaf)
        case _:
            assert_never(leaf)


def _typed(dialect: Dialect, literal: Literal) -> exp.Expr:
    """A constant in its declared type."""
    return dialect.cast(literal_node(dialect, literal), literal.type)


def per_unit_select(dialect: Dialect, relation: PerUnit) -> exp.Select:
    """One row per unit and further key, with aggregates of that unit's rows alone.

    Sums are of integers, so that they do not depend on the order in which the engine reads a unit's
    rows.
    """
    unit = unit_of(relation.child)
    source, joins, conditions = from_clause(dialect, relation.child)
    outputs: list[exp.Expr] = [] if unit is None else [node.aliased(native(dialect, unit), UNIT)]
    outputs += [node.aliased(key(dialect, expression), name) for name, expression in relation.keys]
    groups: list[exp.Expr] = [node.integer(index + 1) for index in range(len(outputs))]
    outputs += [
        node.aliased(unit_aggregate(dialect, aggregate), name)
        for name, aggregate in relation.aggregates
    ]
    known = [] if unit is None else [owned(dialect, relation.child, unit)]
    return node.select(outputs, source, joins, node.conjoined([*conditions, *known]), group=groups)


def _compound(dialect: Dialect, compound: Compound) -> exp.Query:
    """The branches combined.

    If there are several, each drops rows without a unit and has its values in one form.
    """
    several = len(compound.branches) > 1
    selects = [_branch(dialect, branch, several) for branch in compound.branches]
    if compound.operator == "intersect":
        return dialect.intersected(selects, private=unit_of(compound) is not None)
    query: exp.Query = selects[0]
    for select in selects[1:]:
        match compound.operator:
            case "union all" | "union":
                query = exp.Union(
                    this=query, expression=select, distinct=compound.operator == "union"
                )
            case "intersect all":
                query = exp.Intersect(this=query, expression=select, distinct=False)
            case "except" | "except all":
                query = exp.Except(
                    this=query, expression=select, distinct=compound.operator == "except"
                )
            case _:
                assert_never(compound.operator)
    return query


def _branch(dialect: Dialect, branch: Branch, several: bool) -> exp.Select:
    source, joins, conditions = from_clause(dialect, branch.relation)
    outputs = [] if branch.unit is None else [node.aliased(_exactly(dialect, branch.unit), UNIT)]
    outputs += [
        node.aliased(
            _exactly(dialect, column) if _keeps_its_form(column, several) else key(dialect, column),
            f"c{index}",
        )
        for index, column in enumerate(branch.columns)
    ]
    if several and branch.unit is not None:
        conditions.append(owned(dialect, branch.relation, branch.unit))
    return node.select(outputs, source, joins, node.conjoined(conditions))


def _keeps_its_form(column: Expression, several: bool) -> bool:
    """Whether a column keeps the engine's own type: that of a single branch,
    or one that identifies the unit.
    """
    if isinstance(column, ColumnRef):
        return not several or column.identifies is not None
    return _is_either(column)


def _is_either(expression: Expression) -> bool:
    """Whether the expression is COALESCE of two columns of one type, as a full join has it."""
    if not (isinstance(expression, Call) and expression.function == "coalesce"):
        return False
    return all(
        isinstance(argument, ColumnRef) and argument.type == expression.type
        for argument in expression.arguments
    )


def _exactly(dialect: Dialect, expression: Expression) -> exp.Expr:
    """The expression as the engine holds its columns: numbers are not made DOUBLE,
    so no two units become one.
    """
    if isinstance(expression, Call) and _is_either(expression):
        first, *others = (native(dialect, argument) for argument in expression.arguments)
        return exp.Coalesce(this=first, expressions=others)
    return native(dialect, expression)


def subquery(dialect: Dialect, expression: Subquery) -> exp.Expr:
    """EXISTS, or a subquery of one aggregate without groups, which always gives one row."""
    outside = next(iter(outer_columns(expression.relation)), None)
    with (
        _set(_BESIDE, True),
        _set(_OUTSIDE, outside),
        _set(OUTER, _outer(expression.relation, expression.aggregate)),
    ):
        source, joins, conditions = from_clause(dialect, expression.relation)
        output = (
            node.integer(1)
            if expression.aggregate is None
            else unit_aggregate(dialect, expression.aggregate)
        )
    inner = node.select([output], source, joins, node.conjoined(conditions))
    if expression.aggregate is not None:
        return exp.Subquery(this=inner)
    return dialect.exists(inner)


def _outer(relation: Relation, aggregate: UnitAggregate | None = None) -> frozenset[str]:
    """The relations outside whose columns the relation, or an aggregate of its rows, reads."""
    return OUTER.get() | {column.relation for column in outer_columns(relation, aggregate)}
