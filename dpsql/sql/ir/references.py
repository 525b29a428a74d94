"""What a relation reads: base tables, in subqueries too, and columns of rows outside of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    Core,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    ProductSum,
    RowCount,
    UnitCount,
    UnitNorms,
)
from dpsql.sql.ir.expression import ColumnRef, Expression, columns, subqueries
from dpsql.sql.ir.relation import (
    Branch,
    Compound,
    Constants,
    Filter,
    Groups,
    Join,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)

#: A table: whether it is derived, and its name.
TableRead: TypeAlias = tuple[bool, str]


def tables_measured(core: Core, cells: Iterable[Cell]) -> frozenset[TableRead]:
    """Every table that the core's rows, keys, cells or key domain read.

    A cell may read fewer tables than its aggregate: a value that is never NULL is not read to see
    whether it is NULL.
    """
    arguments = [expression for cell in cells for expression in _read_of(cell)]
    leaves = () if core.domain is None else core.domain.tables
    tables = tables_of(core.relation) | tables_in(*core.keys, *arguments)
    return tables.union(*map(tables_of, leaves))


def _read_of(cell: Cell) -> tuple[Expression | None, ...]:
    match cell:
        case UnitCount(condition=condition):
            return (condition,)
        case ProductSum(left=first, right=second, condition=condition):
            return first, second, condition
        case RowCount() | DistinctCount() | ClampedSum() | Histogram() | Frequencies():
            return cell.argument, cell.condition
        case NormClippedSum(argument=argument, condition=condition, norm=norm):
            return argument, condition, norm
        case UnitNorms(argument=argument, groups=groups, condition=condition):
            return argument, condition, *groups
        case _:
            assert_never(cell)


def tables_of(relation: Relation) -> frozenset[TableRead]:
    """Every table that the relation reads, in subqueries of its conditions too."""
    inside = tables_in(*expressions_of(relation))
    match relation:
        case Scan(table=table, hops=hops, derived=derived, keep=keep, path=path):
            hops = path.hops if keep is not None and path is not None else hops
            return frozenset({(derived, table), *((False, hop.table) for hop in hops)})
        case Join(left=left_side, right=right_side):
            return tables_of(left_side) | tables_of(right_side) | inside
        case Filter(child=child) | PerUnit(child=child) | Groups(child=child):
            return tables_of(child) | inside
        case Compound(branches=branches):
            return inside.union(*(tables_of(branch.relation) for branch in branches))
        case Constants():
            return frozenset()
        case _:
            assert_never(relation)


def is_held(relation: Relation) -> bool:
    """Whether a table's row limit is applied before its rows are joined, also in a subquery."""
    inside = [
        subquery.relation
        for expression in expressions_of(relation)
        for subquery in subqueries(expression)
    ]
    match relation:
        case Scan(keep=keep):
            return keep is not None
        case Constants():
            return False
        case Join(left=left_side, right=right_side):
            return any(map(is_held, [left_side, right_side, *inside]))
        case Filter(child=child) | PerUnit(child=child) | Groups(child=child):
            return any(map(is_held, [child, *inside]))
        case Compound(branches=branches):
            return any(map(is_held, [*(branch.relation for branch in branches), *inside]))
        case _:
            assert_never(relation)


def tables_in(*expressions: Expression | None) -> frozenset[TableRead]:
    """Every table that subqueries in the expressions read."""
    inner_tables = [
        tables_of(subquery.relation) | tables_in(*_arguments(subquery.aggregate))
        for expression in expressions
        if expression is not None
        for subquery in subqueries(expression)
    ]
    return frozenset().union(*inner_tables)


def reads_private(relation: Relation) -> bool:
    """Whether a row of the relation belongs to a unit, or its conditions read rows that do."""
    inside = [
        subquery.relation
        for expression in expressions_of(relation)
        for subquery in subqueries(expression)
    ]
    if unit_of(relation) is not None or any(map(reads_private, inside)):
        return True
    match relation:
        case Scan() | Constants():
            return False
        case Compound(branches=branches):
            return any(reads_private(branch.relation) for branch in branches)
        case Join(left=left_side, right=right_side):
            return reads_private(left_side) or reads_private(right_side)
        case Filter(child=child) | PerUnit(child=child) | Groups(child=child):
            return reads_private(child)
        case _:
            assert_never(relation)


def expressions_of(relation: Relation) -> list[Expression]:
    """The expressions that the relation itself holds, without those of its child relations."""
    match relation:
        case Scan() | Constants():
            return []
        case Compound(branches=branches):
            return [output for branch in branches for output in _outputs(branch)]
        case Join(condition=condition):
            return [] if condition is None else [condition]
        case Filter(condition=condition):
            return [condition]
        case PerUnit(keys=keys, aggregates=aggregates) | Groups(keys=keys, aggregates=aggregates):
            arguments = [
                argument for _, aggregate in aggregates for argument in _arguments(aggregate)
            ]
            return [*(key for _, key in keys), *arguments]
        case _:
            assert_never(relation)


def _outputs(branch: Branch) -> list[Expression]:
    return [*branch.columns, *(() if branch.unit is None else (branch.unit,))]


def _arguments(aggregate: UnitAggregate | None) -> list[Expression]:
    operands = () if aggregate is None else (aggregate.argument, aggregate.condition)
    return [operand for operand in operands if operand is not None]


def outer_columns(
    relation: Relation, aggregate: UnitAggregate | None = None
) -> tuple[ColumnRef, ...]:
    """The columns that the relation, or an aggregate of its rows, reads of relations outside."""
    known, columns_read = _named(relation)
    columns_read += [column for argument in _arguments(aggregate) for column in columns(argument)]
    return tuple(dict.fromkeys(column for column in columns_read if column.relation not in known))


def is_of_outside(relation: Relation, aggregate: UnitAggregate) -> bool:
    """Whether the aggregate of the relation's rows reads columns, all of them of rows outside."""
    columns_read = {column for argument in _arguments(aggregate) for column in columns(argument)}
    return bool(columns_read) and columns_read <= set(outer_columns(relation, aggregate))


def _named(relation: Relation) -> tuple[set[str], list[ColumnRef]]:
    """The aliases inside the relation, and the columns that its expressions read."""
    columns_read = [
        column for expression in expressions_of(relation) for column in columns(expression)
    ]
    match relation:
        case Scan(alias=alias, hops=hops):
            return {alias, *(hop.alias for hop in hops)}, columns_read
        case Join(left=left_side, right=right_side):
            (ours, our_columns) = _named(left_side)
            (theirs, their_columns) = _named(right_side)
            return ours | theirs, [*our_columns, *their_columns, *columns_read]
        case Filter(child=child):
            inside, inner = _named(child)
            return inside, [*inner, *columns_read]
        case PerUnit(alias=alias, child=child) | Groups(alias=alias, child=child):
            inside, inner = _named(child)
            return {alias, *inside}, [*inner, *columns_read]
        case Compound(alias=alias, branches=branches):
            parts = [_named(branch.relation) for branch in branches]
            return {alias}.union(*(names for names, _ in parts)), [
                *columns_read,
                *(inner_column for _, more in parts for inner_column in more),
            ]
        case Constants(alias=alias):
            return {alias}, columns_read
        case _:
            assert_never(relation)


def everything_in(core: Core) -> tuple[list[Relation], list[Expression]]:
    """All relations and expressions that the core is made of, in subqueries too."""
    arguments = (argument for aggregate in core.aggregates for argument in aggregate.reads)
    expressions: list[Expression] = [core.unit, *core.keys, *arguments]
    relations: list[Relation] = [core.relation]
    seen = 0
    for relation in relations:  # which grow while they are gone through
        expressions += expressions_of(relation)
        match relation:
            case Scan() | Constants():
                pass
            case Join(left=left_side, right=right_side):
                relations += [left_side, right_side]
            case Filter(child=child) | PerUnit(child=child) | Groups(child=child):
                relations.append(child)
            case Compound(branches=branches):
                relations += [branch.relation for branch in branches]
            case _:
                assert_never(relation)
        while seen < len(expressions):
            for inner in subqueries(expressions[seen]):
                relations.append(inner.relation)
                expressions += _arguments(inner.aggregate)
            seen += 1
    return relations, expressions
