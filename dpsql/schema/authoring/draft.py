"""A first schema file, drafted from what an engine's catalogue says and from nothing that rows say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath

from dpsql.schema.catalog import Catalog, CatalogTable
from dpsql.schema.names import NAME, checked_name, fold
from dpsql.schema.types import SqlType, Stored

_HEAD = """\
# Drafted by `dpsql schema init` from the catalogue alone: no row was read. Fill in every line marked FILL IN:
# take away its leading # and put your own figure there. All that stands here is public: never compute it from the data.
name = {name}
source = {source}  # a relative path starts at this file's folder

[privacy]
# unit = "table.column"  # FILL IN: the column that names who is protected, such as "patients.patient_id"
# epsilon = 1  # FILL IN: the budget for the whole life of this database
# delta = 1e-6  # FILL IN: far below 1 / (number of units), or 0 for pure differential privacy
time_bucket = 0.25  # answers leave at multiples of it, so that how long they took tells little; 0 turns it off
"""


_REFERENCES = '# references = { column = "table.key" }  # what leads to the unit, or to a public table'


def draft(catalog: Catalog) -> str:
    """The TOML text of a schema file; it loads once the lines marked FILL IN are filled in."""
    guesses = _guessed_references(catalog)
    name = re.sub(r"[^a-z0-9_]+", "_", fold(PurePath(catalog.source).stem)).strip("_")
    head = _HEAD.format(name=_quoted(name if re.fullmatch(NAME, name) else "database"), source=_quoted(catalog.source))
    lines, several = [head.rstrip("\n")], len(catalog.tables) > 1
    for table in catalog.tables:
        lines += ["", *_table(table, guesses.get(table.name, {}), several)]
    return "\n".join(lines) + "\n"


def _table(table: CatalogTable, guesses: dict[str, tuple[str, str]], several: bool) -> Iterator[str]:
    if not re.fullmatch(NAME, fold(table.name)) or table.kind == "view":
        reason = (
            "a view hides what it reads; store it as a table" if table.kind == "view" else "rename it to a plain name"
        )
        yield f"# Left out: {table.kind} {_quoted(table.name)}: {reason}"
        return
    name, columns = fold(table.name), {fold(column.name) for column in table.columns}
    yield f"[tables.{name}]"
    yield "# public = true  # FILL IN this line where every row is public knowledge, else the next"
    yield "# max_rows_per_unit = 1  # FILL IN: the most rows of one unit that may count"
    key = [fold(column) for column in table.key]
    if key and all(re.fullmatch(NAME, column) for column in key):
        yield f"key = {_quoted(key[0]) if len(key) == 1 else json.dumps(key)}"
    references = list(_references(table, guesses, columns))
    unknown = [_REFERENCES] if several else []
    yield from references or unknown
    yield f"[tables.{name}.columns]"
    for column in table.columns:
        try:
            plain, stored = checked_name(fold(column.name), "column"), Stored.parse(column.type)
        except ValueError as error:
            yield f"# Left out: column {_quoted(column.name)}: {_one_line(str(error))}"
            continue
        if column.computed:
            yield f"# Left out: column {plain}: computed when it is read; store it as a plain column"
            continue
        nullable = ", nullable = true" if column.nullable else ""
        values = "" if not stored.members else f", values = [{', '.join(_quoted(each) for each in stored.members)}]"
        advice = "  # its members, if they are public; else take values away" if values else _advice(plain, stored.type)
        yield f'{plain} = {{ type = "{stored.type}"{nullable}{values} }}{advice}'


def _references(table: CatalogTable, guesses: dict[str, tuple[str, str]], columns: set[str]) -> Iterator[str]:
    declared = {fold(column): target for column, target in (table.references or {}).items()}
    chosen = declared or guesses
    entries = [
        f'{column} = "{fold(parent)}.{fold(parent_column)}"'
        for column, (parent, parent_column) in chosen.items()
        if column in columns and all(re.fullmatch(NAME, fold(part)) for part in (column, parent, parent_column))
    ]
    if entries:
        flag = (
            "" if declared else "  # a guess from the names: check it, keep what leads to the unit or to public tables"
        )
        yield f"references = {{ {', '.join(entries)} }}{flag}"


def _advice(column: str, sql_type: SqlType) -> str:
    if column.endswith(("id", "key")):
        return ""
    if sql_type.is_numeric:
        return "  # bounds = [low, high] allows SUM and AVG"
    if sql_type.is_temporal:
        return "  # bounds = [first, last] if publicly known"
    return '  # values = ["…"] if the keys are public' if sql_type.kind == "text" else ""


def _guessed_references(catalog: Catalog) -> dict[str, dict[str, tuple[str, str]]]:
    """For sources without constraints: columns named alike, ending in id or key, refer to the table named like them."""
    if any(table.references for table in catalog.tables):
        return {}
    tables = [table for table in catalog.tables if table.columns and table.kind != "view"]
    stems = {table.name: {_stem(column.name, table): fold(column.name) for column in table.columns} for table in tables}
    guesses: dict[str, dict[str, tuple[str, str]]] = {}
    for stem in sorted({stem for names in stems.values() for stem in names}):
        word = re.fullmatch(r"(.{2,}?)_?(?:id|key)", stem)
        named = [
            table
            for table in tables
            if word and fold(table.name).startswith(word[1]) and _stem(table.columns[0].name, table) == stem
        ]
        if not named:
            continue
        parent = min(named, key=lambda table: (len(table.name), table.name))
        for table in tables:
            if table is not parent and stem in stems[table.name]:
                target = (parent.name, parent.columns[0].name)
                guesses.setdefault(table.name, {})[stems[table.name][stem]] = target
    return guesses


def _stem(column: str, table: CatalogTable) -> str:
    """The column's name without the prefix that all columns of its table share, such as ``o_``."""
    prefix = fold(column).partition("_")[0] + "_"
    shared = len(table.columns) > 1 and all(fold(other.name).startswith(prefix) for other in table.columns)
    return fold(column).removeprefix(prefix) if shared else fold(column)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
