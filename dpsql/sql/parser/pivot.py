"""PIVOT and UNPIVOT over released or public rows, with columns that the statement itself lists."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.sql.ir.refusal import only, refuse

#: Arguments that the parser adds for itself; the engine is not told of them.
_OWN = ("columns", "default_on_null", "identify_pivot_strings", "prefixed_pivot_columns", "pivot_column_naming",
        "value_columns_first")  # fmt: skip


def pivoted(pivot: exp.Pivot, change: Callable[[exp.Expr], exp.Expr]) -> exp.Pivot:
    """The PIVOT or UNPIVOT of a source in FROM, its parts changed."""
    only(pivot, "expressions", "fields", "unpivot", "group", "alias", "include_nulls", *_OWN, code="E_PIVOT")
    parts: dict[str, object] = {
        "expressions": [_kept_or(change, each) for each in pivot.expressions],
        "fields": [_field(each, change) for each in pivot.args.get("fields") or ()],
        "unpivot": bool(pivot.args.get("unpivot")),
    }
    if pivot.args.get("group") is not None:
        parts["group"] = change(pivot.args["group"])
    if pivot.args.get("include_nulls"):
        parts["include_nulls"] = True
    if pivot.args.get("alias") is not None:
        parts["alias"] = pivot.args["alias"].copy()
    return exp.Pivot(**parts)


def as_select(pivot: exp.Pivot) -> exp.Select:
    """The statement ``PIVOT t ON k IN (…) USING SUM(x) GROUP BY g`` as ``SELECT * FROM t PIVOT (…)``."""
    only(pivot, "this", "expressions", "using", "group", "with_", *_OWN, code="E_PIVOT", what="this form of PIVOT")
    fields = pivot.expressions
    if not fields or not all(isinstance(each, exp.In) and each.expressions for each in fields):
        refuse("E_PIVOT", "PIVOT shows the keys that the data hold; list them with IN (…)", pivot)
    if not pivot.args.get("using"):
        refuse("E_PIVOT", "PIVOT needs USING with an aggregate", pivot)
    source, group = pivot.this.copy(), pivot.args.get("group")
    parts = {"expressions": pivot.args["using"], "fields": fields}
    copies = {name: [each.copy() for each in nodes] for name, nodes in parts.items()}
    source.set("pivots", [exp.Pivot(**copies, unpivot=False, group=None if group is None else group.copy())])
    select = exp.select("*").from_(source, copy=False)
    if pivot.args.get("with_") is not None:
        select.set("with_", pivot.args["with_"].copy())
    return select


def _field(field: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    if not isinstance(field, exp.In) or not field.expressions or field.find(exp.Query) is not None:
        refuse("E_PIVOT", "PIVOT shows the keys that the data hold; list them with IN (…)", field)
    only(field, "this", "expressions", code="E_PIVOT", what="this form of PIVOT")
    return exp.In(this=_kept_or(change, field.this), expressions=[_kept_or(change, each) for each in field.expressions])


def _kept_or(change: Callable[[exp.Expr], exp.Expr], node: exp.Expr) -> exp.Expr:
    """A name stays as it is; any other part is changed."""
    if isinstance(node, exp.PivotAlias):
        return exp.PivotAlias(this=change(node.this), alias=node.args["alias"].copy())
    return node.copy() if isinstance(node, exp.Identifier) else change(node)
