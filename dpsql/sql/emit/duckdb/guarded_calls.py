"""DuckDB's conversions and TRY, and functions that are asked only inside their domain.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.emit.node import number
from dpsql.sql.emit.total_form import Node, TotalForm, both, call, case, compare


def attempt(node: Node) -> Node:
    """The expression inside TRY: NULL if it would have failed.

    The engine takes no subquery inside TRY, so those of the expression are read beside it.

    >>> attempt(exp.maybe_parse("EXP((SELECT MAX(b.y) FROM b) / a.x)")).sql()
    '(SELECT TRY(EXP("beside"."s0" / a.x)) FROM (VALUES ((SELECT MAX(b.y) FROM b))) AS "beside"("s0"))'
    """
    if node.find(exp.Subquery, exp.Exists) is None:
        return exp.Try(this=node)
    subqueries: list[Node] = []

    def beside(expression: Node) -> Node:
        if not isinstance(expression, exp.Subquery | exp.Exists):
            return expression
        if expression not in subqueries:
            subqueries.append(expression)
        return exp.column(f"s{subqueries.index(expression)}", "beside", quoted=True)

    inside = exp.Try(this=node.transform(beside, copy=False))
    names = [exp.to_identifier(f"s{index}", quoted=True) for index in range(len(subqueries))]
    alias = exp.TableAlias(this=exp.to_identifier("beside", quoted=True), columns=names)
    source = exp.Values(expressions=[exp.Tuple(expressions=subqueries)], alias=alias)
    return exp.Subquery(this=exp.Select(expressions=[inside], from_=exp.From(this=source)))


def attempted(name: str) -> TotalForm:
    """The function inside TRY."""
    return lambda *arguments: attempt(call(name)(*arguments))


def cast(node: Node, sql_type: str) -> Node:
    """The value as another type, where every value has a form there."""
    return exp.Cast(this=node, to=exp.DataType.build(sql_type, dialect="duckdb"))


def guarded(condition: type[exp.Binary], bound: float, name: str) -> TotalForm:
    """NULL outside the function's domain, and TRY inside, on every version of the engine."""

    def build(argument: Node) -> Node:
        return case(
            compare(condition, argument, number(bound)), attempt(call(name)(argument.copy()))
        )

    return build


def between(low: float, high: float, name: str) -> TotalForm:
    """NULL unless the argument lies between the two, and TRY inside,
    on every version of the engine.
    """

    def build(argument: Node) -> Node:
        inside = both(
            compare(exp.GTE, argument, number(low)), compare(exp.LTE, argument.copy(), number(high))
        )
        return case(inside, attempt(call(name)(argument.copy())))

    return build
