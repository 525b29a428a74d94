"""What is missing or loose in a schema file, said to its owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from dpsql.errors import SchemaError
from dpsql.schema.catalog import Catalog
from dpsql.schema.load import load
from dpsql.schema.model import Schema
from dpsql.schema.names import fold
from dpsql.schema.privacy import Privacy
from dpsql.schema.table import Table

#: Above these a promise is weak, or a limit drowns the answers in noise.
LOOSE_EPSILON = 10
LOOSE_LIMIT = 1000
#: What is said in a private table of reports that are bits, and of those of Laplace noise.
BITS = (
    "is many bits, each of which would cost in a private table, so that statements over it are refused; collect it "
    "by randomized_response, or declare the table public"
)
UNBOUNDED = (
    "has no bounds, so a private sum hides 24 scales of its noise; piecewise reports have bounds"
)


@dataclass(frozen=True)
class Finding:
    """One thing to mend (error), to weigh (loose) or to know (note)."""

    level: Literal["error", "loose", "note"]
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message}"


def check(
    path: str | PathLike[str],
    read_catalog: Callable[[Schema], Catalog] | None = None,
    paid_for: Callable[[Schema], Iterable[Finding]] | None = None,
    error_of: Callable[[Privacy, int], float] | None = None,
) -> list[Finding]:
    """The findings on a schema file, compared with its source if that is read.

    Nothing is computed from the data: ``read_catalog`` sees names, types and keys alone.
    ``paid_for`` says how many answers the budget and the caps pay for, or SchemaError why there is
    no budget; ``error_of`` what a count's error is where so many rows of a unit count.
    """
    try:
        schema = load(path)
        catalog = None if read_catalog is None else read_catalog(schema)
        if catalog is not None:
            schema = schema.with_catalog(catalog)
        answers = () if paid_for is None else paid_for(schema)
    except SchemaError as error:
        places = (line.partition(": ") for line in str(error).splitlines())
        return [Finding("error", where, message) for where, _, message in places]
    findings = [*answers, *_privacy(schema), *_ledger(schema)]
    for name, table in schema.tables.items():
        findings += _public(name, table) if table.public else _private(schema, name, table)
    if error_of is not None:
        findings += _row_limit_findings(schema, error_of)
    if catalog is not None:
        findings += _unproved_keys(schema, catalog)
    return findings


def _privacy(schema: Schema) -> Iterator[Finding]:
    privacy = schema.privacy
    if privacy.epsilon > LOOSE_EPSILON:
        yield Finding(
            "loose",
            "privacy, epsilon",
            f"more than {LOOSE_EPSILON} promises an individual very little",
        )
    if privacy.refresh is not None:
        yield Finding(
            "loose",
            "privacy, refresh",
            f"{privacy.refresh}: epsilon and delta are of each window, and n windows promise n times as much of people "
            "whose data stay; dpsql budget shows the sum",
        )
    if privacy.delta == 0:
        yield Finding(
            "note", "privacy, delta", "0 is pure: keys that are not declared cannot be shown"
        )
    else:
        yield Finding(
            "note",
            "privacy, delta",
            "must be far below 1 / (number of units); dpsql does not count them for you, since the count is private",
        )
    if privacy.time_bucket == 0:
        yield Finding(
            "note",
            "privacy, time_bucket",
            "is off: how long an answer takes tells of the data; set it above what most statements take, such as 0.25",
        )


def _ledger(schema: Schema) -> Iterator[Finding]:
    if schema.ledger is None and schema.is_elsewhere:
        message = f'not set, and beside data elsewhere there is no place for it; write ledger = "{schema.name}.ledger"'
        yield Finding("error", "ledger", message)
    elif schema.ledger is None:
        yield Finding(
            "note",
            "ledger",
            "not set; name one file for this database, so that all who ask share a budget",
        )


def _public(name: str, table: Table) -> Iterator[Finding]:
    if not table.columns:
        yield Finding("note", f"table {name}", "public, its columns are taken from the source")
    collected = [column for column, other in table.columns.items() if other.collected is not None]
    if collected:
        yield Finding(
            "note",
            f"table {name}",
            f"public, and {', '.join(collected)} collected: the clients' own epsilon protects what these columns stand "
            "for, and nothing protects the other columns and which clients reported how often",
        )


def _private(schema: Schema, name: str, table: Table) -> Iterator[Finding]:
    limits = {
        "max_rows_per_unit": table.max_rows_per_unit,
        "max_groups_per_unit": table.max_groups_per_unit,
        "max_rows_per_group": table.rows_per_group,
    }
    for limit, size in limits.items():
        if size is not None and size > LOOSE_LIMIT:
            yield Finding(
                "loose", f"table {name}, {limit}", f"{size} is large, and noise grows with it"
            )
    unit = schema.unit
    if name == unit[0] and table.key == (unit[1],) and (table.max_rows_per_unit or 0) > 1:
        yield Finding(
            "loose",
            f"table {name}, max_rows_per_unit",
            f"is {table.max_rows_per_unit}, but a unit has one row here, as {unit[1]} is the key; 1 means less noise",
        )
    yield from _rows_of_nobody(schema, name)
    doubles = [
        column
        for column, other in table.columns.items()
        if other.may_be_null and "nullable" not in other.model_fields_set
    ]
    if doubles:
        message = f"NaN in {', '.join(doubles)} is read as NULL; write nullable = false in columns that hold neither"
        yield Finding("note", f"table {name}", message)
    identifiers = identifiers_of(schema, name)
    unbounded = numbers_without_bounds(schema, name)
    thresholded = (
        "refused, since delta is 0"
        if schema.privacy.delta == 0
        else "shown only for groups of many units"
    )
    for column_name, column in table.columns.items():
        where = f"table {name}, column {column_name}"
        if column_name in unbounded and not column.automatic:
            mend = "add bounds = [low, high], or have dpsql schema tune find them"
            yield Finding(
                "loose", where, f"has no bounds, so SUM and AVG of it are refused; {mend}"
            )
        if column.collected is not None and column.collected.mechanism not in (
            "randomized_response",
            "piecewise",
        ):
            yield Finding(
                "loose", where, UNBOUNDED if column.collected.mechanism == "laplace" else BITS
            )
        if column.type.kind == "text" and column.values is None and column_name not in identifiers:
            yield Finding(
                "note",
                where,
                f"has no values, so its keys are {thresholded}; add values = […] if public",
            )


def _rows_of_nobody(schema: Schema, name: str) -> Iterator[Finding]:
    """Whether rows of the table may have no unit, by the first column on the way to it."""
    owner = schema.owner(name)
    link = owner.steps[0].column if owner.steps else owner.column
    if not schema.tables[name].columns[link].nullable:
        return
    if schema.privacy.orphans == "each":
        message = "rows in which it is NULL are each a unit of their own"
    else:
        message = (
            "rows in which it is NULL belong to no unit and are in no answer, so that counts and sums lack them and "
            'shares are wrong; orphans = "each" in [privacy] makes each a unit of its own'
        )
    yield Finding("note", f"table {name}, column {link}", message)


def identifiers_of(schema: Schema, name: str) -> set[str]:
    """The columns of a private table that tell units or rows apart: keys and references."""
    table = schema.tables[name]
    identifiers = {schema.owner(name).column, *table.references, *(table.key or ())}
    return identifiers | {
        step.parent_column
        for other in schema.tables
        if not schema.tables[other].public
        for step in schema.owner(other).steps
        if step.parent == name
    }


def numbers_without_bounds(schema: Schema, name: str) -> list[str]:
    """The columns of a private table that hold numbers without bounds of their own,
    be it that these are automatic.
    """
    identifiers = identifiers_of(schema, name)
    return [
        column
        for column, other in schema.tables[name].columns.items()
        if other.type.is_numeric
        and other.bounds is None
        and other.values is None
        and column not in identifiers
    ]


def _row_limit_findings(
    schema: Schema, error_of: Callable[[Privacy, int], float]
) -> Iterator[Finding]:
    """What the limit of each table costs, beside what a smaller one would."""
    for name, table in schema.tables.items():
        rows = table.max_rows_per_unit
        if table.public or rows is None:
            continue
        fewer = (
            ""
            if rows == 1
            else f", with {max(rows // 4, 1)} ± {error_of(schema.privacy, max(rows // 4, 1)):,.0f}"
        )
        many = "1 row" if rows == 1 else f"{rows} rows"
        message = f"with {many} per {schema.privacy.unit} a count is ± {error_of(schema.privacy, rows):,.0f}{fewer}"
        yield Finding("note", f"table {name}, max_rows_per_unit", message)


def _unproved_keys(schema: Schema, catalog: Catalog) -> Iterator[Finding]:
    keys = {fold(table.name): tuple(map(fold, table.key)) for table in catalog.tables}
    steps = {
        (step.parent, step.parent_column)
        for name, table in schema.tables.items()
        if not table.public
        for step in schema.owner(name).steps
    }
    for parent, column in sorted(steps):
        if keys.get(parent) != (column,):
            yield Finding(
                "loose",
                f"table {parent}, column {column}",
                "rows find their unit through it, and the source does not enforce that it is unique: a value that "
                "stands there twice would give one row to two units",
            )
