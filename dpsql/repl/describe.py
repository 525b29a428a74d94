"""What ``\\d`` and its relatives show: the schema file and the allow-lists, nothing of the data."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from dpsql.errors import StatementError
from dpsql.output import OutputRows
from dpsql.schema import Bound, Column, Schema, Table


def tables(
    schema: Schema, pattern: str = "", synopses: Sequence[tuple[str, str]] = ()
) -> OutputRows:
    """The tables and synopses whose name fits the pattern (with * and ?),
    and what is promised of their rows.
    """
    rows = [
        (name, table.access, _rows_per_unit_text(schema, name, table), table.comment or "")
        for name, table in schema.tables.items()
        if not pattern or fnmatchcase(name, pattern.strip('"').lower())
    ]
    fits = [
        synopse
        for synopse in synopses
        if not pattern or fnmatchcase(synopse[0], pattern.strip('"').lower())
    ]
    rows += [(name, "synopsis", "", description) for name, description in fits]
    return OutputRows.exact(["table", "rows", "of one unit", "comment"], rows)


def named(schema: Schema, pattern: str) -> list[str]:
    """The tables that a pattern with * and ? fits; what is no pattern stands for itself."""
    if not set(pattern) & {"*", "?"}:
        return [pattern]
    result = [name for name in schema.tables if fnmatchcase(name, pattern.strip('"').lower())]
    if not result:
        raise StatementError("E_TABLE", f'no relation fits "{pattern}"; \\d lists all')
    return result


def columns(schema: Schema, name: str) -> tuple[OutputRows, list[str]]:
    """The columns of a table, and lines about the table. Raises StatementError if it is unknown."""
    bare = name.strip('"').removeprefix("public.").removeprefix("main.").strip('"')
    table = schema.table(bare)
    if table is None:
        raise StatementError(
            "E_TABLE", f'relation "{name}" does not exist; \\d lists those that do'
        )
    cells = [
        (
            column_name,
            str(column.type),
            _null(column),
            _known(column),
            _refers(table, column_name),
            column.description or "",
        )
        for column_name, column in table.columns.items()
    ]
    rows = OutputRows.exact(
        ["column", "type", "null", "known values", "references", "comment"], cells
    )
    return rows, _about(schema, bare.lower(), table)


def allowed(pattern: str = "") -> OutputRows:
    """The functions whose name fits the pattern, and where each may stand."""
    from dpsql.session.request.completion_words import functions

    rows = [
        (function.name, function.place, function.example)
        for function in functions()
        if not pattern or fnmatchcase(function.name, pattern.lower())
    ]
    return OutputRows.exact(["function", "place", "example"], rows)


def _about(schema: Schema, name: str, table: Table) -> list[str]:
    lines = [f"{name}: {table.comment}"] if table.comment else []
    if table.public:
        return [*lines, f"Its rows are {table.access}: they cost nothing."]
    lines.append(f"Its rows are private: they belong to a {schema.privacy.unit}.")
    limits = {
        "rows of one unit": table.max_rows_per_unit,
        "groups of one unit": table.max_groups_per_unit,
        "rows of one unit in a group": table.rows_per_group,
    }
    averaged = table.averaged_rows_per_group
    if averaged != table.rows_per_group:
        limits["rows of one unit in a group of an average"] = averaged
    return [
        *lines,
        *(_limit(limit, counted) for counted, limit in limits.items() if limit is not None),
    ]


def _limit(limit: int, counted: str) -> str:
    """The limit in words.

    >>> _limit(1, "rows of one unit"), _limit(20, "groups of one unit")
    ('At most 1 row of one unit counts.', 'At most 20 groups of one unit count.')
    """
    return (
        f"At most 1 {counted.replace('s ', ' ', 1)} counts."
        if limit == 1
        else f"At most {limit} {counted} count."
    )


def _rows_per_unit_text(schema: Schema, name: str, table: Table) -> str:
    if table.public:
        return "any number"
    if name == schema.unit_table:
        return "the unit itself"
    return "" if table.max_rows_per_unit is None else f"at most {table.max_rows_per_unit} count"


def _null(column: Column) -> str:
    return "" if column.nullable else "never"


def _known(column: Column) -> str:
    if column.values is not None:
        values = ", ".join(map(str, column.values[:12]))
        return values if len(column.values) <= 12 else f"{values} … ({len(column.values)} values)"
    if column.bounds is not None:
        low, high = column.bounds
        return f"{_bound(low)} to {_bound(high)}"
    return "found when they are needed" if column.automatic else ""


def _bound(bound: Bound) -> str:
    return bound.isoformat() if hasattr(bound, "isoformat") else f"{float(bound):g}"


def _refers(table: Table, column: str) -> str:
    if table.key is not None and column in table.key:
        return " ".join(["key", table.references.get(column, "")]).strip()
    return table.references.get(column, "")
