"""Relations → FROM and WHERE of engine SQL.

Proved in ``docs/proofs/stability.md``, ``docs/proofs/subquery.md`` and ``docs/proofs/compound.md``.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from dpsql.query.expression import Call, Column, Expression, Subquery
from dpsql.query.function import number
from dpsql.query.quantum import quantum
from dpsql.query.relation import (
    Branch,
    Compound,
    Constants,
    Filter,
    Join,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)
from dpsql.query.rewrite import node
from dpsql.query.rewrite.quantise import quantised
from dpsql.query.rewrite.scalar import engine_type, key, literal_node, native
from dpsql.query.rewrite.spread import spread
from dpsql.schema import UNIT

#: The databases under which every engine holds the owner's tables, and those that dpsql made of released rows.
SOURCE, DERIVED = ("source", "main"), ("derived", "main")


def table_by_name(table: str, alias: str, derived: bool = False) -> exp.Table:
    """A table by its three-part name, which no temporary object can shadow."""
    catalog, schema = DERIVED if derived else SOURCE
    return exp.Table(this=node.name(table), db=node.name(schema), catalog=node.name(catalog),
                     alias=exp.TableAlias(this=node.name(alias)))  # fmt: skip


def from_clause(relation: Relation) -> tuple[exp.Expr, list[exp.Join], list[exp.Expr]]:
    """The first source, the joins in order, and the conditions of WHERE."""
    match relation:
        case Scan() | PerUnit() | Compound() | Constants():
            source, hops = _leaf(relation)
            return source, hops, []
        case Filter(child=child, condition=condition):
            source, joins, conditions = from_clause(child)
            return source, joins, [*conditions, native(condition)]
        case Join(left=left, right=right, kind=kind, condition=condition):
            source, joins, conditions = from_clause(left)
            right_source, right_joins, right_conditions = from_clause(right)
            on = None if condition is None else native(condition)
            if kind != "inner" and on is None:
                on = exp.true()
            joins = [*joins, node.join(right_source, on, None if kind == "inner" else kind.upper()), *right_joins]
            return source, joins, [*conditions, *right_conditions]
        case _:
            assert_never(relation)


def leaf_source(leaf: Leaf) -> exp.Expr:
    """A table or a subquery as it stands in FROM, without the parents that lead to its unit."""
    return _leaf(leaf)[0]


def _leaf(leaf: Leaf) -> tuple[exp.Expr, list[exp.Join]]:
    match leaf:
        case Scan(alias=alias, table=table, hops=hops, derived=derived):
            joins = [
                node.join(
                    table_by_name(hop.table, hop.alias), node.compare(exp.EQ, native(hop.child), native(hop.parent))
                )
                for hop in hops
            ]
            return table_by_name(table, alias, derived), joins
        case PerUnit(alias=alias):
            return node.subquery(per_unit_select(leaf), alias), []
        case Compound(alias=alias):
            return node.subquery(_compound(leaf), alias), []
        case Constants(alias=alias, rows=rows):
            tuples = [exp.Tuple(expressions=[node.cast(literal_node(each), engine_type(each.type)) for each in row])
                      for row in rows]  # fmt: skip
            names = [node.name(f"c{place}") for place in range(len(rows[0]))]
            return exp.Values(expressions=tuples, alias=exp.TableAlias(this=node.name(alias), columns=names)), []
        case _:
            assert_never(leaf)


def per_unit_select(relation: PerUnit) -> exp.Select:
    """One row per unit and further key, with aggregates of that unit's rows alone.

    Sums are of integers, so that they do not depend on the order in which the engine reads a unit's rows.
    """
    unit = unit_of(relation.child)
    source, joins, conditions = from_clause(relation.child)
    outputs: list[exp.Expr] = [] if unit is None else [node.aliased(native(unit), UNIT)]
    outputs += [node.aliased(key(expression), name) for name, expression in relation.keys]
    groups: list[exp.Expr] = [node.integer(place + 1) for place in range(len(outputs))]
    outputs += [node.aliased(_aggregate(aggregate), name) for name, aggregate in relation.aggregates]
    owned = [] if unit is None else [node.not_null(native(unit))]
    return node.select(outputs, source, joins, node.conjoined([*conditions, *owned]), groups)


def _compound(compound: Compound) -> exp.Query:
    """The branches put together; each but the only one drops rows of nobody, and has its values in one form."""
    several = len(compound.branches) > 1
    selects = [_branch(branch, several) for branch in compound.branches]
    whole: exp.Query = selects[0]
    for select in selects[1:]:
        match compound.operator:
            case "union all" | "union":
                whole = exp.Union(this=whole, expression=select, distinct=compound.operator == "union")
            case "intersect" | "intersect all":
                whole = exp.Intersect(this=whole, expression=select, distinct=compound.operator == "intersect")
            case "except" | "except all":
                whole = exp.Except(this=whole, expression=select, distinct=compound.operator == "except")
            case _:
                assert_never(compound.operator)
    return whole


def _branch(branch: Branch, several: bool) -> exp.Select:
    source, joins, conditions = from_clause(branch.relation)
    outputs = [] if branch.unit is None else [node.aliased(_exactly(branch.unit), UNIT)]
    outputs += [
        node.aliased(_exactly(each) if _keeps_its_form(each, several) else key(each), f"c{place}")
        for place, each in enumerate(branch.columns)
    ]
    if several and branch.unit is not None:
        conditions.append(node.not_null(_exactly(branch.unit)))
    return node.select(outputs, source, joins, node.conjoined(conditions))


def _keeps_its_form(column: Expression, several: bool) -> bool:
    """Whether a column is handed on as the engine holds it: alone, or as a name of the unit, which compares exactly."""
    if isinstance(column, Column):
        return not several or column.identifies is not None
    return _is_either(column)


def _is_either(expression: Expression) -> bool:
    """Whether the expression is that of two columns of one type which is not NULL, as a full join has it."""
    if not (isinstance(expression, Call) and expression.function == "coalesce"):
        return False
    return all(isinstance(each, Column) and each.type == expression.type for each in expression.arguments)


def _exactly(expression: Expression) -> exp.Expr:
    """The expression as the engine holds its columns: numbers are not made DOUBLE, so no two units become one."""
    if isinstance(expression, Call) and _is_either(expression):
        first, *others = map(native, expression.arguments)
        return exp.Coalesce(this=first, expressions=others)
    return native(expression)


def subquery(expression: Subquery) -> exp.Expr:
    """EXISTS, or a subquery of one aggregate without groups, which always gives one row."""
    source, joins, conditions = from_clause(expression.relation)
    output = node.integer(1) if expression.aggregate is None else _aggregate(expression.aggregate)
    inner = node.select([output], source, joins, node.conjoined(conditions))
    return exp.Exists(this=inner) if expression.aggregate is None else exp.Subquery(this=inner)


def _aggregate(aggregate: UnitAggregate) -> exp.Expr:
    argument = aggregate.argument

    def when(value: exp.Expr) -> exp.Expr:
        return value if aggregate.condition is None else node.case((native(aggregate.condition), value))

    match aggregate.function:
        case "count":
            return exp.Count(this=when(node.integer(1) if argument is None else native(argument)))
        case "count distinct":
            assert argument is not None
            return exp.Count(this=exp.Distinct(expressions=[when(key(argument))]))
        case "every" | "some":
            assert argument is not None
            return node.function("MIN" if aggregate.function == "every" else "MAX", when(native(argument)))
        case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp":
            assert argument is not None
            return spread(aggregate.function, argument, when)
        case "min" | "max":
            assert argument is not None
            return node.function(aggregate.function.upper(), when(key(argument)))
        case "sum" | "avg":
            assert argument is not None
            grid = quantum(argument)
            total = node.cast(exp.Sum(this=when(quantised(argument, grid))), "double")
            scaled = node.times(total, number(float(grid.size)))
            if aggregate.function == "sum":
                return scaled
            count = exp.Count(this=when(quantised(argument, grid)))
            return exp.Div(this=node.paren(scaled), expression=exp.Nullif(this=count, expression=node.integer(0)),
                           typed=False, safe=False)  # fmt: skip
        case _:
            assert_never(aggregate.function)
