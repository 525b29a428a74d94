"""Single rows of a private table, answered from a synthetic table that was made of it: what tools send first."""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.schema_answers import is_probe


def previewed(tree: exp.Expr, schema: Schema) -> tuple[exp.Expr, str | None]:
    """The statement over the newest synthetic table that has its columns, and that table's name.

    It is the statement itself, and None, where it asks for no single rows of one private table, or where no synthetic
    table of it has all columns that are named.
    """
    table = _single_rows_of(tree)
    name = "" if table is None else fold(table.name)
    if table is None or name not in schema.tables or schema.tables[name].public:
        return tree, None
    asked = {fold(column.name) for column in tree.find_all(exp.Column)}
    made = [each for each, its in schema.tables.items() if its.source == name and asked <= its.columns.keys()]
    if not made:
        return tree, None
    changed = tree.copy()
    read = changed.find(exp.Table)
    assert read is not None
    alias = read.args.get("alias") or exp.TableAlias(this=read.this.copy())
    read.replace(exp.Table(this=exp.to_identifier(made[-1], quoted=True), alias=alias))
    return changed, made[-1]


def _single_rows_of(tree: exp.Expr) -> exp.Table | None:
    """The one table of which a SELECT asks for single rows; None of any other statement."""
    if not isinstance(tree, exp.Select) or is_grouped(tree) or is_probe(tree) or tree.args.get("with_"):
        return None
    if len(list(tree.find_all(exp.Select))) > 1:
        return None
    tables, source = list(tree.find_all(exp.Table)), tree.args.get("from_")
    if len(tables) != 1 or source is None or not isinstance(source.this, exp.Table):
        return None
    return tables[0]
