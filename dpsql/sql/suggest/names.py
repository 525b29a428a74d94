"""Statements near a refused one whose names are misspelt, or that list people: what a hint tries."""

from __future__ import annotations

from difflib import get_close_matches

from sqlglot import exp

from dpsql.schema import Schema, fold


def closest_names(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Names of tables and columns that the schema has not become those of it that are spelt most like them."""
    local = {fold(node.alias) for node in tree.find_all(exp.CTE, exp.Subquery, exp.Alias)}
    renamed: dict[str, str] = {}
    for table in [node for node in tree.find_all(exp.Table) if isinstance(node.this, exp.Identifier)]:
        name = _closest(fold(table.name), sorted(schema.tables), local)
        if name is not None:
            renamed[fold(table.name)] = name
            table.set("this", exp.to_identifier(name, quoted=table.this.quoted))
    declared = [schema.table(table.name) for table in tree.find_all(exp.Table)]
    columns = sorted({column for table in declared if table is not None for column in table.columns})
    changed = bool(renamed)
    for column in [node for node in tree.find_all(exp.Column) if isinstance(node.this, exp.Identifier)]:
        if fold(column.table) in renamed:
            column.set("table", exp.to_identifier(renamed[fold(column.table)]))
        name = _closest(fold(column.name), columns, local)
        if name is not None:
            column.set("this", exp.to_identifier(name, quoted=column.this.quoted))
            changed = True
    return tree if changed else None


def averaged_over_units(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Aggregates for each unit become their averages over the units."""
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return None
    declared = {fold(node.name): schema.table(node.name) for node in tree.find_all(exp.Table)}
    units = {column for table in declared.values() if table is not None
             for column, parent in table.references.items() if parent == schema.privacy.unit}  # fmt: skip
    units |= {schema.unit_column} if schema.unit_table in declared else set()
    keys = [item.unalias() for item in tree.expressions if item.find(exp.AggFunc) is None]
    values = [item for item in tree.expressions if item.find(exp.AggFunc) is not None]
    if not values or not any(isinstance(key, exp.Column) and fold(key.name) in units for key in keys):
        return None
    names = [value.alias or f"value{place}" for place, value in enumerate(values, 1)]
    named = [exp.alias_(value.unalias(), name) for value, name in zip(values, names, strict=True)]
    tree.set("expressions", [*keys, *named])
    tree.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    for part in ("order", "limit", "offset"):
        tree.set(part, None)
    averages = [exp.alias_(exp.Avg(this=exp.column(name)), name) for name in names]
    return exp.Select(expressions=averages).from_(tree.subquery("units"), copy=False)


def _closest(name: str, known: list[str], local: set[str]) -> str | None:
    """The known name that is spelt most like one that is not known."""
    if name in known or name in local:
        return None
    found = get_close_matches(name, known, 1)
    return found[0] if found else None
