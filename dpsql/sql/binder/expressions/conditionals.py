"""Choices: CASE, IF and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.functions.call import alike, call, castable
from dpsql.sql.functions.signature import common_type
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import TIMESTAMP, Case, Cast, Expression, Literal
from dpsql.sql.ir.refusal import only, refuse

if TYPE_CHECKING:
    from dpsql.sql.binder.expressions.reader import Reader


def case(reader: Reader, node: exp.Expr) -> Expression:
    """CASE, with a subject or without."""
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else reader.read(node.this)
    branches = []
    for branch in node.args.get("ifs", ()):
        if subject is None:
            condition = reader.condition(branch.this)
        else:
            condition = call("=", [subject, reader.read(branch.this)], branch)
        branches.append((condition, reader.read(branch.args["true"])))
    default = node.args.get("default")
    results = [value for _, value in branches] + ([] if default is None else [reader.read(default)])
    results = alike(results, node)
    sql_type = common_type(*(value.type for value in results))
    conditions = [condition for condition, _ in branches]
    return Case(tuple(zip(conditions, results, strict=False)), results[-1] if default is not None else None, sql_type)


def if_(reader: Reader, node: exp.Expr) -> Expression:
    """IF is a CASE of one branch."""
    only(node, "this", "true", "false")
    whole = exp.Case(ifs=[exp.If(this=node.this.copy(), true=node.args["true"].copy())])
    if node.args.get("false") is not None:
        whole.set("default", node.args["false"].copy())
    return case(reader, whole)


def cast(reader: Reader, node: exp.Expr) -> Expression:
    """CAST, TRY_CAST and ::, which are one here."""
    assert isinstance(node, exp.Cast)
    only(node, "this", "to", "safe", code="E_TYPE")
    moment = node.to.is_type("timestamptz") and isinstance(node.this, exp.Literal | exp.Placeholder)
    try:
        target = TIMESTAMP if moment else SqlType.parse(node.to.sql(dialect="duckdb"))
    except ValueError:
        refuse("E_TYPE", "this type is not read; use boolean, integer, decimal(p,s), double, text, date or "
               "timestamp", node)  # fmt: skip
    argument = reader.read(node.this)
    if isinstance(argument, Literal):
        return literal.as_type(argument, target, node)
    if not castable(argument.type, target):
        refuse("E_TYPE", f"{argument.type} has no form as {target}", node)
    return argument if argument.type == target else Cast(argument, target)


def nvl2(reader: Reader, node: exp.Expr) -> Expression:
    """NVL2 is a CASE of IS NOT NULL."""
    only(node, "this", "true", "false")
    present = exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null()))
    return if_(reader, exp.If(this=present, true=node.args["true"].copy(), false=node.args["false"].copy()))
