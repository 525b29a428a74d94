"""What can be found privately in place of what a schema file leaves open: limits and bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from typing import Literal as OneOf

from dpsql.errors import SchemaError
from dpsql.schema.authoring.check import numbers_without_bounds
from dpsql.schema.load import parsed, read_text, validated
from dpsql.schema.model import Schema
from dpsql.schema.table import MAX_LIMIT, Table

LimitName = OneOf["max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group"]
ROWS: Final[LimitName] = "max_rows_per_unit"
GROUPS: Final[LimitName] = "max_groups_per_unit"
ROWS_PER_GROUP: Final[LimitName] = "max_rows_per_group"


@dataclass(frozen=True)
class MissingLimits:
    """What is to be found in a schema file.

    ``schema`` is what the file declares, where each private table that declares no limits has the
    largest ones. ``limits`` and ``bounds`` are by table; ``keys`` are the columns by which groups
    of a table are ordinarily made. ``lacking`` are the tables that declare no limits; ``alone``
    those of them that have one row for each unit, as its column is their key. ``automatic`` are
    columns by table whose bounds are left to the statements that need them.
    """

    schema: Schema
    limits: Mapping[str, tuple[LimitName, ...]]
    bounds: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, tuple[str, ...]]
    lacking: frozenset[str]
    alone: tuple[str, ...]
    automatic: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def with_automatic_bounds(self) -> MissingLimits:
        """The same without a search for bounds; statements that need them find them."""
        declared = self.schema.tables
        automatic = {
            name: tuple(
                column for column in columns if not declared[name].columns[column].automatic
            )
            for name, columns in self.bounds.items()
        }
        return replace(self, bounds=dict.fromkeys(self.bounds, ()), automatic=automatic)

    @property
    def tables(self) -> list[str]:
        """The tables that anything is asked of, in the order of the file."""
        return [
            name for name in self.schema.tables if self.limits.get(name) or self.bounds.get(name)
        ]

    @property
    def unlimited(self) -> Schema:
        """The schema whose private tables have the largest limits, so that none cuts what is found."""
        loose = {
            "max_rows_per_unit": MAX_LIMIT,
            "max_groups_per_unit": None,
            "max_rows_per_group": None,
        }
        tables = {
            name: table if table.public else table.model_copy(update=loose)
            for name, table in self.schema.tables.items()
        }
        return self.schema.model_copy(update={"tables": tables})


def missing_limits(
    file: Path,
    named: Collection[str] = (),
    *,
    limits: bool = True,
    bounds: bool = True,
    columns: Collection[str] = (),
    text: str | None = None,
) -> MissingLimits:
    """What a schema file leaves open; raises SchemaError if it is wrong or lacks a private table.

    Args:
        named: Tables whose limits are all looked for, declared ones too; no other table's are.
        limits: Whether limits are looked for.
        bounds: Whether bounds are looked for.
        columns: Columns as ``table.column`` whose bounds are looked for, and nothing else.
        text: The text of the file, if it was read before.
    """
    document = parsed(read_text(file) if text is None else text, str(file))
    lacking = _with_limits(document)
    schema = validated(document, str(file)).read_from(file)
    for name in named:
        if name not in schema.tables or schema.tables[name].public:
            private = ", ".join(name for name, table in schema.tables.items() if not table.public)
            raise SchemaError(f"{file}: there is no private table {name}; private are {private}")
    chosen = _of_columns(schema, file, columns)
    named = named or chosen
    limits = limits and not chosen
    asked = [
        name
        for name, table in schema.tables.items()
        if not table.public and (not named or name in named)
    ]
    alone = tuple(name for name in asked if name in lacking and _has_one_row(schema, name))
    keys = {name: tuple(_ordinary_keys(schema, name)) for name in asked}
    return MissingLimits(
        schema,
        {
            name: _limits(schema, name, keys[name], name in lacking, named=name in named)
            if limits
            else ()
            for name in asked
        },
        {
            name: chosen.get(name, tuple(_unbounded(schema, name)) if bounds else ())
            for name in asked
        },
        keys,
        lacking=frozenset(lacking),
        alone=alone if limits else (),
    )


def _of_columns(schema: Schema, file: Path, columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The named columns by their tables; raises SchemaError if one cannot have bounds looked for."""
    result: dict[str, tuple[str, ...]] = {}
    for path in dict.fromkeys(columns):
        name, _, column = path.partition(".")
        if (
            name not in schema.tables
            or schema.tables[name].public
            or column not in _unbounded(schema, name)
        ):
            raise SchemaError(
                f"{file}: {path} is no column of numbers without bounds in a private table"
            )
        result[name] = (*result.get(name, ()), column)
    return result


def _with_limits(document: dict[str, Any]) -> set[str]:
    """The private tables that declare no limits, which get the largest one of rows."""
    tables = document.get("tables")
    result = set()
    for name, table in tables.items() if isinstance(tables, dict) else ():
        if not isinstance(table, dict) or table.get("public") or ROWS in table:
            continue
        if GROUPS not in table or not isinstance(table.get(ROWS_PER_GROUP), int):
            table[ROWS] = MAX_LIMIT
            result.add(name)
    return result


def _has_one_row(schema: Schema, name: str) -> bool:
    return name == schema.unit_table and schema.tables[name].key == (schema.unit_column,)


def _limits(
    schema: Schema, name: str, keys: tuple[str, ...], lacking: bool, named: bool
) -> tuple[LimitName, ...]:
    table: Table = schema.tables[name]
    if _has_one_row(schema, name) or (table.max_rows_per_unit == 1 and not named):
        return ()
    limits: list[LimitName] = [ROWS] if lacking or named else []
    if keys:
        limits += [GROUPS] if table.max_groups_per_unit is None or named else []
        limits += [ROWS_PER_GROUP] if table.averaged_rows_per_group is None or named else []
    return tuple(limits)


def _unbounded(schema: Schema, name: str) -> list[str]:
    """The columns that are looked at: those that stand by themselves in the file and hold values,
    not reports.
    """
    columns = schema.tables[name].columns
    return [
        column
        for column in numbers_without_bounds(schema, name)
        if columns[column].collected is None
    ]


def _ordinary_keys(schema: Schema, name: str) -> list[str]:
    """The columns by which a table's rows are grouped: declared values, truth values,
    references to public tables.
    """
    table = schema.tables[name]
    unit = schema.owner(name).column
    public = {
        column
        for column, target in table.references.items()
        if schema.tables[target.partition(".")[0]].public
    }
    return [
        column
        for column, other in table.columns.items()
        if column in public or (other.values is not None or other.type.kind == "boolean")
        if other.collected is None and column not in {unit, *table.references} - public
    ]
