"""How the rows of each private table lead to the unit that owns them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.schema.names import split_reference
from dpsql.schema.table import Table

#: What a column identifies that holds the unit itself.
UNIT = "unit"
#: The column that holds the unit of each row of a private table, where no join tells it; no column
#: of a schema has such a name.
ITS_UNIT = "its unit"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One join towards the unit: this table's column equals a column of its parent."""

    column: str
    parent: str
    parent_column: str


@dataclass(frozen=True, slots=True)
class Owner:
    """The joins that lead to the unit, and the column of the last table that holds the unit's
    value.
    """

    steps: tuple[PathStep, ...]
    column: str


def private_references(table: Table, tables: Mapping[str, Table]) -> list[PathStep]:
    """The references of a table that lead to private tables."""
    steps = [
        PathStep(column, *split_reference(target, "references"))
        for column, target in table.references.items()
    ]
    return [step for step in steps if step.parent in tables and not tables[step.parent].public]


def find_owner(name: str, tables: Mapping[str, Table], unit: tuple[str, str]) -> Owner:
    """The one chain of references from a private table to the unit.

    Raises ValueError, with the mend, if there is not exactly one.

    A reference to the unit column itself needs no join:
    the referencing column already holds the unit's value.
    """
    steps: list[PathStep] = []
    walked = [name]
    current = name
    while current != unit[0]:
        parents = private_references(tables[current], tables)
        chain = " -> ".join(walked)
        if not parents:
            raise ValueError(
                f"table {name}: does not lead to the unit {'.'.join(unit)} (chain: {chain} -> ?); give table {current} "
                f'references = {{ column = "{unit[0]}.{unit[1]}" }}, '
                f"or declare {name} public = true if its rows are public"
            )
        if len(parents) > 1:
            several = " and ".join(
                f"{step.column} -> {step.parent}.{step.parent_column}" for step in parents
            )
            raise ValueError(
                f"table {name}: leads to the unit in several ways (chain: {chain}; {several}); in table {current} keep "
                "the one reference that names who owns the row, the other column stays a plain column; a table that is "
                "referred to and whose rows are public may be declared public = true, and its references stay"
            )
        step = parents[0]
        if (step.parent, step.parent_column) == unit:
            return Owner(tuple(steps), step.column)
        if step.parent in walked:
            raise ValueError(
                f"table {name}: its references run in a circle ({chain} -> {step.parent}) and never reach the unit; "
                f"remove the reference of table {current}, or let it lead to {'.'.join(unit)}"
            )
        steps.append(step)
        walked.append(step.parent)
        current = step.parent
    return Owner(tuple(steps), unit[1])


def identified(owners: Mapping[str, Owner]) -> dict[tuple[str, str], str]:
    """What the columns on the ways to the unit identify: the unit itself, or a key as table.column.

    ``owners`` are those of all private tables, by the tables' names.
    """
    first = {
        (name, step.column): step for name, owner in owners.items() for step in owner.steps[:1]
    }
    referenced = {
        (step.parent, step.parent_column) for owner in owners.values() for step in owner.steps
    }
    units = {(name, owner.column) for name, owner in owners.items() if not owner.steps}
    classes = {column: f"{step.parent}.{step.parent_column}" for column, step in first.items()}
    return (
        classes | {column: ".".join(column) for column in referenced} | dict.fromkeys(units, UNIT)
    )
