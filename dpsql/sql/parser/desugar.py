"""PIVOT and UNPIVOT of listed columns, SEMI and ANTI joins: syntax of FROM in plainer SQL.

SEMI and ANTI joins become EXISTS and NOT EXISTS, as is proved in ``docs/proofs/subquery.md``.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.ir.refusal import only, refuse

#: Arguments that the parser adds for itself; the engine is not told of them.
_OWN = (
    "columns",
    "default_on_null",
    "identify_pivot_strings",
    "prefixed_pivot_columns",
    "pivot_column_naming",
    "value_columns_first",
)

#: Parts of PIVOT and UNPIVOT in FROM.
_PIVOT_PARTS = ("expressions", "fields", "unpivot", "group", "alias", "include_nulls", *_OWN)

#: Parts of a PIVOT that is a statement.
_STATEMENT_PARTS = ("this", "expressions", "using", "group", "with_", *_OWN)


def pivoted(pivot: exp.Pivot, change: Callable[[exp.Expr], exp.Expr]) -> exp.Pivot:
    """The PIVOT or UNPIVOT of a source in FROM, its parts changed."""
    only(pivot, *_PIVOT_PARTS, code="E_PIVOT")
    parts: dict[str, object] = {
        "expressions": [_kept_or(change, expression) for expression in pivot.expressions],
        "fields": [_field(field, change) for field in pivot.args.get("fields") or ()],
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
    """The statement ``PIVOT t ON k IN (…) USING SUM(x) GROUP BY g`` as a SELECT.

    The SELECT is ``SELECT * FROM t PIVOT (…)``.
    """
    only(pivot, *_STATEMENT_PARTS, code="E_PIVOT", subject="this form of PIVOT")
    fields = pivot.expressions
    if not fields or not all(isinstance(field, exp.In) and field.expressions for field in fields):
        refuse("E_PIVOT", "PIVOT shows the keys that the data hold; list them with IN (…)", pivot)
    if not pivot.args.get("using"):
        refuse("E_PIVOT", "PIVOT needs USING with an aggregate", pivot)
    source = pivot.this.copy()
    group = pivot.args.get("group")
    parts = {"expressions": pivot.args["using"], "fields": fields}
    copies = {name: [node.copy() for node in nodes] for name, nodes in parts.items()}
    source.set(
        "pivots",
        [exp.Pivot(**copies, unpivot=False, group=None if group is None else group.copy())],
    )
    select = exp.select("*").from_(source, copy=False)
    if pivot.args.get("with_") is not None:
        select.set("with_", pivot.args["with_"].copy())
    return select


def _field(field: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    if not isinstance(field, exp.In) or not field.expressions or field.find(exp.Query) is not None:
        refuse("E_PIVOT", "PIVOT shows the keys that the data hold; list them with IN (…)", field)
    only(field, "this", "expressions", code="E_PIVOT", subject="this form of PIVOT")
    return exp.In(
        this=_kept_or(change, field.this),
        expressions=[_kept_or(change, expression) for expression in field.expressions],
    )


def _kept_or(change: Callable[[exp.Expr], exp.Expr], node: exp.Expr) -> exp.Expr:
    """A name stays as it is; any other part is changed."""
    if isinstance(node, exp.PivotAlias):
        return exp.PivotAlias(this=change(node.this), alias=node.args["alias"].copy())
    return node.copy() if isinstance(node, exp.Identifier) else change(node)


def with_exists(tree: exp.Expr) -> exp.Expr:
    """The tree with a condition for each SEMI or ANTI join.

    >>> from sqlglot import parse_one
    >>> with_exists(parse_one("SELECT COUNT(*) FROM a SEMI JOIN b ON b.x = a.x WHERE a.y > 1")).sql()
    'SELECT COUNT(*) FROM a WHERE a.y > 1 AND EXISTS(SELECT 1 FROM b WHERE b.x = a.x)'
    >>> with_exists(parse_one("SELECT COUNT(*) FROM a ANTI JOIN b USING (x)")).sql()
    'SELECT COUNT(*) FROM a WHERE NOT EXISTS(SELECT 1 FROM b WHERE b.x = a.x)'
    """
    for select in list(tree.find_all(exp.Select)):
        joins: list[exp.Join] = select.args.get("joins") or []
        if any(_is_semi_or_anti(join) for join in joins):
            for index, join in enumerate(joins):
                if _is_semi_or_anti(join):
                    select.where(_condition(select, join, joins[index + 1 :]), copy=False)
            select.set("joins", [join for join in joins if not _is_semi_or_anti(join)])
    return tree


def _is_semi_or_anti(join: exp.Join) -> bool:
    return join.kind.upper() in ("SEMI", "ANTI")


def _condition(select: exp.Select, join: exp.Join, later: list[exp.Join]) -> exp.Expr:
    """The condition that replaces the SEMI or ANTI join: EXISTS or NOT EXISTS."""
    kind = join.kind.upper()
    only(
        join,
        "this",
        "on",
        "using",
        "kind",
        "side",
        code="E_JOIN",
        subject=f"this form of a {kind} JOIN",
    )
    if join.side.upper() not in ("", "LEFT") or any(
        other.side.upper() in ("RIGHT", "FULL") for other in later
    ):
        refuse(
            "E_JOIN",
            f"beside a RIGHT or FULL JOIN, put the {kind} JOIN into a subquery of its own",
            join,
        )
    outer = [
        select.args["from_"].this,
        *(other.this for other in select.args["joins"] if other is not join),
    ]
    if fold(join.this.alias_or_name) in {fold(other.alias_or_name) for other in outer}:
        refuse(
            "E_JOIN",
            f"give the table of the {kind} JOIN a name of its own: inside it would hide the other",
            join,
        )
    subquery = exp.Select(
        expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this.copy())
    )
    subquery.where(*_ties(select, join), copy=False)
    exists = exp.Exists(this=subquery)
    return exp.Not(this=exists) if kind == "ANTI" else exists


def _ties(select: exp.Select, join: exp.Join) -> list[exp.Expr]:
    """The join's own condition, with qualified columns.

    Inside EXISTS, other sources could capture columns without a source.
    """
    inner = join.this.alias_or_name
    kind = join.kind.upper()
    on = join.args.get("on")
    using = join.args.get("using") or []
    if on is not None:
        bare = next((column for column in on.find_all(exp.Column) if not column.table), None)
        if bare is not None:
            refuse("E_JOIN", f"in a {kind} JOIN's ON, write each column with its table", bare)
        return [on.copy()]
    others = [other for other in select.args.get("joins") or () if not _is_semi_or_anti(other)]
    if not using or others:
        refuse("E_JOIN", f"a {kind} JOIN needs ON, with the table of each column", join)
    outer = select.args["from_"].this.alias_or_name
    return [
        exp.EQ(this=exp.column(name.copy(), inner), expression=exp.column(name.copy(), outer))
        for name in using
    ]
