"""Relations of several SELECTs: UNION ALL, set operations within each unit, lists of constants.

Proved in ``docs/proofs/compound.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import UNIT, SqlType
from dpsql.sql.analysis.bounds import as_ends, bounds, is_nullable
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.functions.call import alike
from dpsql.sql.functions.signature import common_type
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import Cast, ColumnRef, Expression, Literal, Scalar
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Branch, Compound, Constants, Relation, unit_of

Operator: TypeAlias = OneOf[
    "union all", "union", "intersect", "intersect all", "except", "except all"
]
_OPERATORS: dict[tuple[type[exp.Expr], bool], Operator] = {
    (exp.Union, False): "union all",
    (exp.Union, True): "union",
    (exp.Intersect, False): "intersect all",
    (exp.Intersect, True): "intersect",
    (exp.Except, False): "except all",
    (exp.Except, True): "except",
}


def combined(
    query: exp.SetOperation, first: BoundRelation, right: BoundRelation, alias: str
) -> BoundRelation:
    """The set operation over two relations.

    Refused if a row would have no unit, or depend on another unit's rows.
    """
    only(query, "this", "expression", "distinct", "order", code="E_SETOP")
    units = [unit_of(first.relation), unit_of(right.relation)]
    if (units[0] is None) != (units[1] is None):
        refuse(
            "E_SETOP",
            "a set operation of private and public rows has rows without a unit; aggregate each side "
            "first",
            query,
        )
    types = {unit.type for unit in units if unit is not None}
    if len(types) > 1 or not all(sql_type.facts.exact for sql_type in types):
        refuse("E_SETOP", "a set operation needs units of one type, integer or text", query)
    if len(first.columns) != len(right.columns):
        refuse(
            "E_SETOP",
            f"the sides have {len(first.columns)} and {len(right.columns)} columns",
            query,
        )
    pairs = [
        _alike(pair, query)
        for pair in zip(first.columns.values(), right.columns.values(), strict=True)
    ]
    operator = _OPERATORS[type(query), bool(query.args.get("distinct", True))]
    columns = {
        name: output(alias, index, pair)
        for index, (name, pair) in enumerate(zip(first.columns, pairs, strict=True))
    }
    named = any(column.identifies is not None for column in columns.values())
    if operator != "union all" and units[0] is not None and not named:
        refuse(
            "E_SETOP",
            f"{operator.upper()} compares rows of different units, unless both sides list the unit's "
            "column; list it, or write UNION ALL",
            query,
        )
    branches = [
        Branch(source.relation, unit, tuple(pair[side] for pair in pairs))
        for side, (source, unit) in enumerate(zip((first, right), units, strict=True))
    ]
    return BoundRelation(Compound(alias, operator, tuple(branches)), dict(columns))


def _alike(pair: Sequence[Expression], node: exp.Expr) -> list[Expression]:
    """Both sides' column in one type."""
    same = alike(list(pair), node)
    sql_type = common_type(*(expression.type for expression in same))
    return [
        expression if expression.type == sql_type else _as_type(expression, sql_type, node)
        for expression in same
    ]


def _as_type(expression: Expression, sql_type: SqlType, node: exp.Expr) -> Expression:
    if isinstance(expression, Literal):
        return literal.as_type(expression, sql_type, node)
    return Cast(expression, sql_type)


def projected(
    relation: Relation, unit: Expression | None, columns: Sequence[Expression], alias: str
) -> tuple[Compound, list[ColumnRef]]:
    """The relation as one subquery with a name of its own, and its columns there."""
    outputs = [output(alias, index, [column]) for index, column in enumerate(columns)]
    return Compound(alias, "union all", (Branch(relation, unit, tuple(columns)),)), outputs


def output(
    alias: str, index: int, branches: Sequence[Expression], identifies: str | None = None
) -> ColumnRef:
    """What is known of a column that is one of these expressions in each row.

    ``identifies`` tells what it identifies where that is known of the whole row,
    not of each expression alone.
    """
    declared = [branch for branch in branches if isinstance(branch, ColumnRef)]
    sql_type = branches[0].type
    if len(declared) == len(branches) and len({column.identifies for column in declared}) == 1:
        identifies = identifies or declared[0].identifies
    listed = [_listed(branch) for branch in branches]
    known = [values for values in listed if values is not None]
    domain = (
        tuple(dict.fromkeys(value for values in known for value in values))
        if len(known) == len(listed)
        else None
    )
    ends = None
    if sql_type.is_numeric or sql_type.is_temporal:
        interval = bounds(branches[0])
        for other in branches[1:]:
            interval = interval.union(bounds(other))
        ends = as_ends(sql_type, interval) if interval.is_finite else None
    elif len(declared) == len(branches) and all(column.bounds is not None for column in declared):
        both = [column.bounds for column in declared if column.bounds is not None]
        ends = (min(low for low, _ in both), max(high for _, high in both))
    nullable = any(map(is_nullable, branches)) and identifies != UNIT
    return ColumnRef(
        alias,
        f"c{index}",
        type=sql_type,
        nullable=nullable,
        bounds=ends,
        domain=domain,
        identifies=identifies,
    )


def _listed(expression: Expression) -> tuple[Scalar, ...] | None:
    """The values that the expression shows, where they are listed."""
    match expression:
        case ColumnRef(domain=domain):
            return domain
        case Literal(value=value):
            return (value,)
        case _:
            return None


def constants(
    rows: Sequence[Sequence[exp.Expr]], reader: Reader, node: exp.Expr, alias: str
) -> BoundRelation:
    """A list of rows of constants as a public relation, with DuckDB's names for its columns."""
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        refuse("E_TABLE", "the rows of VALUES have different numbers of columns", node)
    columns: list[list[Literal]] = []
    for cells in zip(*rows, strict=True):
        bound_cells = alike([reader.expression(cell) for cell in cells], node)
        sql_type = common_type(*(cell_value.type for cell_value in bound_cells))
        typed = [
            cell_value if cell_value.type == sql_type else _as_type(cell_value, sql_type, node)
            for cell_value in bound_cells
        ]
        known = [cell_value for cell_value in typed if isinstance(cell_value, Literal)]
        if len(known) < len(typed):
            refuse("E_TABLE", "VALUES lists constants only", node)
        columns.append(known)
    seen: dict[str, Expression] = {}
    for index, column in enumerate(columns):
        listed = tuple(dict.fromkeys(cell_value.value for cell_value in column))
        seen[f"col{index}"] = ColumnRef(
            alias, f"c{index}", column[0].type, None in listed, domain=listed
        )
    return BoundRelation(Constants(alias, tuple(zip(*columns, strict=True))), seen)
