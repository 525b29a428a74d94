"""Bounds of columns that declare ``bounds = "auto"``: found when a statement first needs them,
and kept.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TypeAlias

from dpsql.errors import Refused
from dpsql.planning.plan import AutomaticColumn, Plan
from dpsql.planning.tuning import of_bounds
from dpsql.privacy.ledger import NamedRelease
from dpsql.privacy.measure import shown
from dpsql.schema import Bound, Schema
from dpsql.schema.authoring.write_limits import Ends, literal
from dpsql.sql.parser.parse import Statement

#: How what is said of bounds begins.
BOUNDS = "bounds of"


@dataclass(frozen=True)
class FoundBounds:
    """The bounds of a column that were found at a time;
    the ends are None if too few units had values in it.
    """

    column: AutomaticColumn
    ends: Ends | None
    at: datetime


@dataclass(frozen=True)
class BoundedSchema:
    """A schema with bounds of automatic columns, what an answer says of them,
    and columns whose bounds are to be found.

    The latter have the widest bounds of their type.
    """

    schema: Schema
    notices: tuple[str, ...] = ()
    unfound: tuple[AutomaticColumn, ...] = ()


#: Compiles a statement with a schema.
Compile: TypeAlias = Callable[[BoundedSchema], Plan]


def release_name(column: AutomaticColumn) -> str:
    """The name under which the ledger keeps the bounds of a column."""
    return f"bounds of {'.'.join(column)}"


def written(column: AutomaticColumn, ends: Ends | None) -> str:
    """What the ledger keeps of the bounds of a column."""
    return json.dumps(
        {"column": column, "bounds": None if ends is None else [str(end) for end in ends]}
    )


def found_bounds(releases: Iterable[NamedRelease]) -> dict[AutomaticColumn, FoundBounds]:
    """The bounds among the named releases, by their columns."""
    result = {}
    for release in releases:
        if release.kind == "bounds":
            facts = json.loads(release.facts)
            table, name = facts["column"]
            ends = None
            if facts["bounds"] is not None:
                low, high = map(Fraction, facts["bounds"])
                ends = low, high
            result[table, name] = FoundBounds((table, name), ends, release.at)
    return result


def bounded_plan(
    statement: Statement,
    schema: Schema,
    bounds_of_column: Mapping[AutomaticColumn, FoundBounds],
    compiled: Compile,
) -> Plan:
    """The plan of a statement, with the bounds of those automatic columns without which it is
    refused.

    Raises:
        Refused: It is refused even with the widest bounds;
            or no bounds were found of a column that it needs.
    """
    try:
        return compiled(BoundedSchema(schema))
    except Refused:
        needed = _needed(_automatic_columns(statement, schema), schema, bounds_of_column, compiled)
        if not needed:
            raise
    unfound = tuple(column for column in needed if column not in bounds_of_column)
    notices = [
        _clamped(bounds_of_column[column])
        if column in bounds_of_column
        else _to_be_found(column, schema)
        for column in needed
    ]
    return compiled(
        BoundedSchema(_with_bounds(schema, needed, bounds_of_column), tuple(notices), unfound)
    )


def _automatic_columns(statement: Statement, schema: Schema) -> list[AutomaticColumn]:
    """The automatic columns that a statement may read, by the names in it."""
    tables = statement.tables
    columns = statement.columns
    return [
        (table, name)
        for table, declared in schema.tables.items()
        for name, column in declared.columns.items()
        if column.automatic and table in tables and name in columns
    ]


def _needed(
    columns: list[AutomaticColumn],
    schema: Schema,
    bounds_of_column: Mapping[AutomaticColumn, FoundBounds],
    compiled: Compile,
) -> list[AutomaticColumn]:
    """The columns without whose bounds a statement is refused;
    none if it is refused with all of them, too.
    """

    def is_answered(bounded: Collection[AutomaticColumn]) -> bool:
        try:
            compiled(BoundedSchema(_with_bounds(schema, bounded, bounds_of_column)))
        except Refused:
            return False
        return True

    if not columns or not is_answered(columns):
        return []
    needed = columns
    for column in columns:
        others = [other for other in needed if other != column]
        if others and is_answered(others):
            needed = others
    return needed


def _with_bounds(
    schema: Schema,
    columns: Collection[AutomaticColumn],
    bounds_of_column: Mapping[AutomaticColumn, FoundBounds],
) -> Schema:
    """The schema with the bounds of these columns that were found;
    those of the others are the widest of the type.
    """
    bounds: dict[str, dict[str, tuple[Bound, Bound]]] = {}
    for table, name in columns:
        rungs = of_bounds(schema.tables[table].columns[name].type).rungs
        known = bounds_of_column.get((table, name))
        ends = None if known is None else known.ends
        bounds.setdefault(table, {})[name] = ends or (rungs[0], rungs[-1])
    return schema.with_bounds(bounds)


def _clamped(bounds: FoundBounds) -> str:
    """What every answer says that reads bounds that were found; Refused if none were."""
    column = ".".join(bounds.column)
    day = f"{bounds.at:%Y-%m-%d}"
    if bounds.ends is None:
        few = "too few units have different values in it; the owner declares them"
        raise Refused("E_BOUNDS", f"no bounds of {column} were found on {day}: {few}")
    low, high = map(literal, bounds.ends)
    return f"{BOUNDS} {column}, [{low}, {high}], were found on {day}: values of a few units may lie beyond"


def _to_be_found(column: AutomaticColumn, schema: Schema) -> str:
    """What the plan says of the statement that finds bounds."""
    price = shown(schema.privacy.query_epsilon)
    return (
        f"{BOUNDS} {'.'.join(column)} are found first, for ε = {price} more, and kept for all later statements; "
        "errors are those of the widest bounds until then"
    )


def said_of_bounds(plan: Plan) -> tuple[str, ...]:
    """What the notices of a plan say of bounds that were found, or will be."""
    return tuple(notice for notice in plan.notices if notice.startswith(BOUNDS))
