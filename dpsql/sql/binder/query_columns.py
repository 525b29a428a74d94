"""The sources of a SELECT and the columns of a query, as known from its text and the schema.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import Schema, fold

#: The columns of a query: what each stands for in the FROM clause of its SELECT;
#: None where a name #: has two meanings.
OutputColumns: TypeAlias = "dict[str, exp.Expr | None]"


def select_of(source: exp.Expr) -> exp.Select | None:
    """The SELECT in whose FROM clause or joins the source stands."""
    parent = source.parent
    select = parent.parent if isinstance(parent, exp.From | exp.Join) else None
    return select if isinstance(select, exp.Select) else None


def sources(select: exp.Select) -> list[exp.Expr]:
    """The sources in FROM and after each JOIN, in their order."""
    clause = select.args.get("from_")
    return (
        []
        if clause is None
        else [clause.this, *(join.this for join in select.args.get("joins") or ())]
    )


def source_of(column: exp.Column, select: exp.Select, schema: Schema) -> int | None:
    """The place of the source that the column is of; None where that is not certain."""
    from_sources = sources(select)
    if column.table:
        places = [
            index
            for index, source in enumerate(from_sources)
            if fold(source.alias_or_name) == fold(column.table)
        ]
        return places[0] if len(places) == 1 else None
    if len(from_sources) == 1:
        return 0
    names = [column_names_of(source, schema) for source in from_sources]
    if any(name is None for name in names):
        return None
    places = [
        index for index, name in enumerate(names) if name is not None and fold(column.name) in name
    ]
    return places[0] if len(places) == 1 else None


def output_columns(select: exp.Select, schema: Schema) -> OutputColumns | None:
    """The columns of a SELECT; None where they are not known."""
    result: OutputColumns = {}
    for item in select.expressions:
        pairs = _item(item, select, schema)
        if pairs is None:
            return None
        for name, expression in pairs:
            result[name] = None if name in result else expression
    return result


def _item(item: exp.Expr, select: exp.Select, schema: Schema) -> list[tuple[str, exp.Expr]] | None:
    """The columns that an item of a SELECT gives, or its * gives; None if they are not known."""
    star = item.this if isinstance(item, exp.Column) else item
    if not isinstance(star, exp.Star):
        return [(fold(item.alias_or_name), item.unalias())]
    if any(value for value in star.args.values()):
        return None
    pairs: list[tuple[str, exp.Expr]] = []
    for source in sources(select):
        alias = source.alias_or_name
        names = column_names_of(source, schema)
        if names is None or not alias:
            return None
        if not isinstance(item, exp.Column) or fold(item.table) == fold(alias):
            pairs += [
                (
                    name,
                    exp.column(
                        exp.to_identifier(name, quoted=True), exp.to_identifier(alias, quoted=True)
                    ),
                )
                for name in names
            ]
    return pairs


def column_names_of(source: exp.Expr, schema: Schema) -> list[str] | None:
    """The names of the columns of a source in their order; None where they are not known."""
    if (
        isinstance(source, exp.Subquery)
        and not source.args.get("pivots")
        and isinstance(source.this, exp.Select)
    ):
        outputs = renamed(source, output_columns(source.this, schema))
        return None if outputs is None or None in outputs.values() else list(outputs)
    if isinstance(source, exp.Table) and source.db == "public" and not source.args.get("pivots"):
        listed = (
            source.args["alias"].args.get("columns")
            if source.args.get("alias") is not None
            else None
        )
        return None if listed else [fold(name) for name in schema.tables[source.name].columns]
    return None


def renamed(source: exp.Subquery, outputs: OutputColumns | None) -> OutputColumns | None:
    """The columns with the names that the alias of the subquery gives the first of them."""
    listed = source.alias_column_names
    if outputs is None or not listed or len(listed) > len(outputs) or None in outputs.values():
        return None if listed else outputs
    old = list(outputs)
    new = [fold(name) for name in listed] + old[len(listed) :]
    return dict(zip(new, outputs.values(), strict=True)) if len(set(new)) == len(new) else None
