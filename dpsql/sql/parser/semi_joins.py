"""SEMI and ANTI joins as EXISTS and NOT EXISTS.

Proved in ``docs/proofs/subquery.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.ir.refusal import only, refuse


def with_exists(tree: exp.Expr) -> exp.Expr:
    """The tree with a condition in the place of each SEMI or ANTI join.

    >>> from sqlglot import parse_one
    >>> with_exists(parse_one("SELECT COUNT(*) FROM a SEMI JOIN b ON b.x = a.x WHERE a.y > 1")).sql()
    'SELECT COUNT(*) FROM a WHERE a.y > 1 AND EXISTS(SELECT 1 FROM b WHERE b.x = a.x)'
    >>> with_exists(parse_one("SELECT COUNT(*) FROM a ANTI JOIN b USING (x)")).sql()
    'SELECT COUNT(*) FROM a WHERE NOT EXISTS(SELECT 1 FROM b WHERE b.x = a.x)'
    """
    for select in list(tree.find_all(exp.Select)):
        joins: list[exp.Join] = select.args.get("joins") or []
        if any(_is_one(join) for join in joins):
            for place, join in enumerate(joins):
                if _is_one(join):
                    select.where(_condition(select, join, joins[place + 1 :]), copy=False)
            select.set("joins", [join for join in joins if not _is_one(join)])
    return tree


def _is_one(join: exp.Join) -> bool:
    return join.kind.upper() in ("SEMI", "ANTI")


def _condition(select: exp.Select, join: exp.Join, later: list[exp.Join]) -> exp.Expr:
    """What a row must meet to stay, as the other rows of FROM see it."""
    kind = join.kind.upper()
    only(join, "this", "on", "using", "kind", "side", code="E_JOIN", what=f"this form of a {kind} JOIN")
    if join.side.upper() not in ("", "LEFT") or any(each.side.upper() in ("RIGHT", "FULL") for each in later):
        refuse("E_JOIN", f"beside a RIGHT or FULL JOIN, put the {kind} JOIN into a subquery of its own", join)
    outer = [select.args["from_"].this, *(each.this for each in select.args["joins"] if each is not join)]
    if fold(join.this.alias_or_name) in {fold(each.alias_or_name) for each in outer}:
        refuse("E_JOIN", f"give the table of the {kind} JOIN a name of its own: inside it would hide the other", join)
    found = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=join.this.copy()))
    found.where(*_ties(select, join), copy=False)
    exists = exp.Exists(this=found)
    return exp.Not(this=exists) if kind == "ANTI" else exists


def _ties(select: exp.Select, join: exp.Join) -> list[exp.Expr]:
    """The join's own condition; its columns say where they come from, for inside EXISTS others could capture them."""
    inner, kind = join.this.alias_or_name, join.kind.upper()
    on, using = join.args.get("on"), join.args.get("using") or []
    if on is not None:
        bare = next((each for each in on.find_all(exp.Column) if not each.table), None)
        if bare is not None:
            refuse("E_JOIN", f"in a {kind} JOIN's ON, write each column with its table", bare)
        return [on.copy()]
    others = [each for each in select.args.get("joins") or () if not _is_one(each)]
    if not using or others:
        refuse("E_JOIN", f"a {kind} JOIN needs ON, with the table of each column", join)
    outer = select.args["from_"].this.alias_or_name
    return [exp.EQ(this=exp.column(name.copy(), inner), expression=exp.column(name.copy(), outer)) for name in using]
