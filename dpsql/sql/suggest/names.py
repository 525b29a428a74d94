"""Statements near a refused one whose names are misspelt: what a hint tries.

A name over released rows is known by the refusal of the engine that has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from sqlglot import exp

from dpsql.errors import Position, StatementError
from dpsql.schema import Schema, fold
from dpsql.sql.ir.refusal import position_of
from dpsql.sql.suggest.changes import replaced


def closest_names(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace each name that the schema lacks by the one of the schema that is spelt most like
    it.
    """
    local = {fold(node.alias) for node in tree.find_all(exp.CTE, exp.Subquery, exp.Alias)}
    renamed: dict[str, str] = {}
    for table in [
        node for node in tree.find_all(exp.Table) if isinstance(node.this, exp.Identifier)
    ]:
        name = _closest(fold(table.name), sorted(schema.tables), local)
        if name is not None:
            renamed[fold(table.name)] = name
            replaced(table.this, exp.to_identifier(name, quoted=table.this.quoted))
    declared = [schema.table(table.name) for table in tree.find_all(exp.Table)]
    columns = sorted(
        {column for table in declared if table is not None for column in table.columns}
    )
    changed = bool(renamed)
    for column in [
        node for node in tree.find_all(exp.Column) if isinstance(node.this, exp.Identifier)
    ]:
        if fold(column.table) in renamed:
            column.set("table", exp.to_identifier(renamed[fold(column.table)]))
        name = _closest(fold(column.name), columns, local)
        if name is not None:
            replaced(column.this, exp.to_identifier(name, quoted=column.this.quoted))
            changed = True
    return tree if changed else None


def _closest(name: str, known: list[str], local: set[str]) -> str | None:
    """The known name that is spelt most like one that is not known."""
    if name in known or name in local:
        return None
    matches = get_close_matches(name, known, 1)
    return matches[0] if matches else None


_QUOTED = re.compile(r'"([^"]+)"')
#: Refusals that name a column, and those that name a table before a column.
_OF_COLUMNS = frozenset({"42703", "42702", "42803"})
_OF_TABLES = frozenset({"42P01"})
#: Refusals for a name that does not exist.
_ABSENT = frozenset({"42703", "42P01"})


def first_named_position(refusal: StatementError, tree: exp.Expr) -> Position | None:
    """The position of the first column that the refusal names; None if it names none."""
    return next((position_of(column) for column in _named(refusal, tree)), None)


def renamed(
    refusal: StatementError, tree: exp.Expr, schema: Schema
) -> Iterator[tuple[exp.Expr, Position | None]]:
    """Statements in which a name that exists replaces the one that does not, the most alike first.

    The name is replaced everywhere, then in one place only. With each statement comes the place of
    the refusal.
    """
    if refusal.sqlstate not in _ABSENT:
        return
    places = len(_named(refusal, tree))
    argument = "table" if refusal.sqlstate in _OF_TABLES else "this"
    known = _sources(tree) if argument == "table" else _columns(tree, schema)
    known -= {fold(_name(refusal))}
    for near in get_close_matches(fold(_name(refusal)), sorted(known), 3) or (
        known if len(known) == 1 else ()
    ):
        for chosen in [range(places), *([index] for index in range(places) if places > 1)]:
            copy = tree.copy()
            columns = _named(refusal, copy)
            for chosen_index in chosen:
                replaced(columns[chosen_index].args[argument], exp.to_identifier(near))
            yield copy, position_of(_named(refusal, tree)[chosen[0]]) if places else None


def _name(refusal: StatementError) -> str:
    match = _QUOTED.search(refusal.reason)
    return match[1] if match is not None else ""


def _named(refusal: StatementError, tree: exp.Expr) -> list[exp.Column]:
    """The columns that the refusal may speak of, in the order of the text."""
    name_part: Callable[[exp.Column], str]
    if refusal.sqlstate in _OF_COLUMNS:
        name_part = _column
    elif refusal.sqlstate in _OF_TABLES:
        name_part = _table
    else:
        return []
    name = fold(_name(refusal))
    columns = [column for column in tree.find_all(exp.Column) if fold(name_part(column)) == name]
    return sorted(columns, key=lambda column: _order(position_of(column)))


def _column(column: exp.Column) -> str:
    return column.name


def _table(column: exp.Column) -> str:
    return column.table


def _order(position: Position | None) -> tuple[int, int]:
    return (0, 0) if position is None else (position.line, position.column)


def _sources(tree: exp.Expr) -> set[str]:
    """What may stand before the dot of a column."""
    return {
        fold(node.alias_or_name)
        for node in tree.find_all(exp.Table, exp.Subquery)
        if node.alias_or_name
    }


def _columns(tree: exp.Expr, schema: Schema) -> set[str]:
    """The columns that queries of the statement give, and those of its tables."""
    tables = [schema.table(table.name) for table in tree.find_all(exp.Table)]
    declared = {column for table in tables if table is not None for column in table.columns}
    selected = {
        fold(name)
        for query in tree.find_all(exp.Select)
        for name in query.named_selects
        if name not in ("", "*")
    }
    listed = {fold(name.name) for alias in tree.find_all(exp.TableAlias) for name in alias.columns}
    return declared | selected | listed
