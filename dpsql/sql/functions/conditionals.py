"""Choices between values."""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.functions.interval_rules import union
from dpsql.sql.functions.signature import Function, Node, call, common_type, same


def _first(value: Node, *others: Node) -> Node:
    return exp.Coalesce(this=value, expressions=[*others])


def _unless(value: Node, unwanted: Node) -> Node:
    return exp.Nullif(this=value, expression=unwanted)


CHOICES: dict[str, Function] = {
    "coalesce": Function(
        ("any", "any*"), common_type, _first, union, examples=("COALESCE(x, i, 0)", "IFNULL(s, '?')", "NVL(i, 0)")
    ),
    "nullif": Function(
        ("any", "any"), same, _unless, lambda x, _: x, fallible=True, jumps=True, examples=("NULLIF(i, 3)",)
    ),
    "greatest": Function(("any", "any*"), common_type, call("GREATEST"), union, examples=("GREATEST(x, 1)",)),
    "least": Function(("any", "any*"), common_type, call("LEAST"), union, examples=("LEAST(i, 4, m)",)),
}
