"""What can be wrong between the tables of a schema, said in sentences that name the mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsql.schema.names import checked_name, split_reference
from dpsql.schema.table import Table
from dpsql.schema.types import FAITHFUL
from dpsql.schema.unit_paths import find_owner, private_references


def find_faults(tables: Mapping[str, Table], unit: tuple[str, str]) -> Iterator[str]:
    """Every reason why these tables cannot be answered privately with this unit."""
    names = list(_name_faults(tables))
    yield from names or _unit_faults(tables, unit)
    broken = False
    apart = apart_in(tables, unit)
    for name, table in tables.items():
        for fault in _reference_faults(name, table, tables):
            broken = True
            yield fault
        yield from _limit_faults(name, table)
        yield from _merged(name, table, apart)
        yield from _perturbed(name, table, apart)
    if names or broken or unit[0] not in tables:
        return
    for name, table in tables.items():
        if not table.public:
            try:
                find_owner(name, tables, unit)
            except ValueError as error:
                yield str(error)


def apart_in(tables: Mapping[str, Table], unit: tuple[str, str]) -> set[tuple[str, str]]:
    """The columns, with tables, that tell units or rows apart: the unit's, keys and references."""
    columns = {unit}
    for name, table in tables.items():
        columns |= {(name, column) for column in (*table.references, *(table.key or ()))}
        columns |= {
            split_reference(reference, "references") for reference in table.references.values()
        }
    return {
        (name, column)
        for name, column in columns
        if name in tables and column in tables[name].columns
    }


def _merged(name: str, table: Table, apart: set[tuple[str, str]]) -> Iterator[str]:
    """Columns that tell units or rows apart and are read so that two of them could become one."""
    for column, other in table.columns.items():
        if (name, column) in apart and other.reading not in (None, *FAITHFUL):
            mend = "BIGINT" if other.type.kind == "integer" else "TIMESTAMP"
            yield (
                f"table {name}, column {column}: tells units or rows apart, and read as {other.reading} two could "
                f"become one; store it as {mend}"
            )


def _perturbed(name: str, table: Table, apart: set[tuple[str, str]]) -> Iterator[str]:
    """Columns that tell units or rows apart and hold reports in the place of values."""
    for column, other in table.columns.items():
        if (name, column) in apart and other.collected is not None:
            yield (
                f"table {name}, column {column}: tells units or rows apart, and a perturbed value does not; remove "
                "collected, or the key or reference"
            )


def _name_faults(tables: Mapping[str, Table]) -> Iterator[str]:
    for name in tables:
        try:
            checked_name(name, "table")
        except ValueError as error:
            yield str(error)


def _unit_faults(tables: Mapping[str, Table], unit: tuple[str, str]) -> Iterator[str]:
    table = tables.get(unit[0])
    if table is None:
        yield f"privacy, unit: there is no table {unit[0]}; declare [tables.{unit[0]}] or name another column"
    elif table.public:
        yield f"privacy, unit: table {unit[0]} is public; remove its `public = true` or name a private table's column"
    elif unit[1] not in table.columns:
        yield f'table {unit[0]}: the unit column `{unit[1]}` is not declared; add `{unit[1]} = {{ type = "…" }}`'
    elif table.columns[unit[1]].type.kind == "double":
        yield f"table {unit[0]}, column {unit[1]}: a unit must compare exactly; declare it as integer or text"
    if table is not None and not table.public:
        for step in private_references(table, tables):
            yield (
                f"table {unit[0]}, references {step.column}: the unit's own table leads no further, yet this refers to "
                f"the private table {step.parent}; remove the reference (the column stays a plain column)"
            )


def _reference_faults(name: str, table: Table, tables: Mapping[str, Table]) -> Iterator[str]:
    for column, target in table.references.items():
        where = f"table {name}, references {column}:"
        parent_name, parent_column = split_reference(target, "references")
        parent = tables.get(parent_name)
        if parent is None:
            yield f"{where} there is no table {parent_name}; declare it or remove the reference"
            continue
        if table.public and not parent.public:
            yield (
                f"{where} a public table cannot refer to the private table {parent_name}; remove the reference, or "
                "remove `public = true`"
            )
        if parent.key is not None and parent.key != (parent_column,):
            yield f"{where} {target} is not the key of {parent_name}; refer to its key ({', '.join(parent.key)})"
        if parent_column in parent.columns:
            if (
                column in table.columns
                and table.columns[column].type != parent.columns[parent_column].type
            ):
                yield (
                    f"{where} {table.columns[column].type} cannot refer to {target}, which is "
                    f"{parent.columns[parent_column].type}; give both columns one type"
                )
        elif parent.columns or not parent.public:
            yield f'{where} {target} is not declared; add `{parent_column} = {{ type = "…" }}` to table {parent_name}'


def _limit_faults(name: str, table: Table) -> Iterator[str]:
    limits = ("max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group")
    declared = [limit for limit in limits if getattr(table, limit) is not None]
    if table.public and declared:
        yield f"table {name}: {declared[0]} limits what a unit contributes, but the table is public; remove it"
    if not table.public and not table.is_limited:
        yield (
            f"table {name}: nothing limits how much one unit contributes; set max_rows_per_unit (or both "
            "max_groups_per_unit and max_rows_per_group), or have dpsql schema tune find it"
        )
