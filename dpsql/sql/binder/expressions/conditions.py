"""Conditions, CASE and casts.

Comparisons, BETWEEN, IN, IS, IF, and the demand that a column is the unit.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.schema import UNIT, SqlType
from dpsql.sql.binder.expressions.constant_arguments import constant_span
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.call import ReadNode, alike, call, castable, read_condition
from dpsql.sql.functions.signature import common_type
from dpsql.sql.functions.spellings import NODES
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import (
    BOOLEAN,
    INTEGER,
    TIMESTAMP,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    conjunction,
)
from dpsql.sql.ir.refusal import only, refuse

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EQUALITIES = {"=": "is not distinct from", "<>": "is distinct from"}


def compared(bind: ReadNode, node: exp.Expr) -> Expression:
    """A comparison of values, of rows, of a value with a list, or of a time span with an interval.

    The time span is that between two moments.
    """
    only(node, "this", "expression")
    operator, _ = NODES[type(node)]
    first = node.this.unnest()
    right = node.expression.unnest()
    if isinstance(first, exp.Tuple) or isinstance(right, exp.Tuple):
        return _rows(bind, operator, first, right, node=node)
    if isinstance(first, exp.Interval):
        first, right, operator = right, first, _TURNED.get(operator, operator)
    if isinstance(right, exp.Interval):
        return _elapsed(bind, operator, first, right, node=node)
    quantified = _quantified(right)
    if quantified is not None:
        return _of_list(bind, operator, bind(node.this), *quantified, node)
    return call(operator, [bind(node.this), bind(node.expression)], node)


def _quantified(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    """ANY, SOME or ALL and the members of its list; None for another node or a subquery."""
    if isinstance(node, exp.Any | exp.All):
        name = "all" if isinstance(node, exp.All) else "any"
        inner = node.this
    elif (
        isinstance(node, exp.Anonymous)
        and node.name.lower() in ("any", "some", "all")
        and len(node.expressions) == 1
    ):
        name = "all" if node.name.lower() == "all" else "any"
        inner = node.expressions[0]
    else:
        return None
    members = _members(inner)
    return None if members is None else (name, members)


def _members(node: exp.Expr | None) -> list[exp.Expr] | None:
    """The members of ARRAY[…], […] or (…), perhaps cast to an array type; else None."""
    inner = node.unnest() if isinstance(node, exp.Expr) else None
    if isinstance(inner, exp.Cast):
        inner = inner.this.unnest()
    if isinstance(inner, exp.Array | exp.Tuple):
        only(inner, "expressions", "bracket_notation", "value_constructor", code="E_TYPE")
        return inner.expressions
    return None


def _of_list(
    bind: ReadNode,
    operator: str,
    value: Expression,
    quantifier: str,
    members: list[exp.Expr],
    node: exp.Expr,
) -> Expression:
    options = [bind(member) for member in members]
    if not options:
        return Literal(quantifier == "all", BOOLEAN)
    if operator == "=" and quantifier == "any":
        return call("in", [value, *options], node)
    if operator == "<>" and quantifier == "all":
        return call("not", [call("in", [value, *options], node)], node)
    name = "or" if quantifier == "any" else "and"
    return _joined(name, [call(operator, [value, option], node) for option in options])


def _joined(name: str, conditions: list[Expression]) -> Expression:
    result = conditions[0]
    for condition in conditions[1:]:
        result = Call(name, (result, condition), BOOLEAN)
    return result


def _rows(
    bind: ReadNode, operator: str, first_row: exp.Expr, right: exp.Expr, node: exp.Expr
) -> Expression:
    """(a, b) = (c, d), in which NULL equals NULL as it does in DuckDB's rows."""
    if operator not in _EQUALITIES and not operator.startswith("is"):
        refuse("E_TYPE", "rows are compared by = and <>; write a < x OR (a = x AND b < y)", node)
    first = _row(bind, first_row, node)
    second = _row(bind, right, node)
    same = _same_row(first, second, node)
    return same if operator in ("=", "is not distinct from") else call("not", [same], node)


def _row(bind: ReadNode, node: exp.Expr, at: exp.Expr) -> list[Expression]:
    if not isinstance(node, exp.Tuple):
        refuse("E_TYPE", "a row is compared with a row of as many values", at)
    return [bind(expression) for expression in node.expressions]


def _same_row(first: list[Expression], second: list[Expression], node: exp.Expr) -> Expression:
    if len(first) != len(second):
        refuse("E_TYPE", "a row is compared with a row of as many values", node)
    condition = conjunction(
        [call("is not distinct from", [*pair], node) for pair in zip(first, second, strict=True)]
    )
    assert condition is not None
    return condition


def _elapsed(
    bind: ReadNode, operator: str, difference_node: exp.Expr, right: exp.Expr, node: exp.Expr
) -> Expression:
    """end - start > INTERVAL '2 days', in microseconds."""
    span = constant_span(right)
    length = None if span is None else span.whole_microseconds
    if not isinstance(difference_node, exp.Sub) or length is None or operator not in FUNCTIONS:
        refuse(
            "E_TYPE",
            "the time between two timestamps is compared with a constant interval of days or less; for "
            "months write DATE_DIFF('month', start, end) > 3",
            node,
        )
    ends = [bind(difference_node.expression), bind(difference_node.this)]
    return call(
        operator, [call("date_sub microsecond", ends, node), Literal(length, INTEGER)], node
    )


def between(bind: ReadNode, node: exp.Expr) -> Expression:
    """BETWEEN is two comparisons; SYMMETRIC ones are tried both ways round."""
    only(node, "this", "low", "high", "symmetric")
    value, low, high = (bind(node.args[name]) for name in ("this", "low", "high"))

    def inside(least: Expression, most: Expression) -> Expression:
        return Call(
            "and", (call(">=", [value, least], node), call("<=", [value, most], node)), BOOLEAN
        )

    both = inside(low, high)
    return Call("or", (both, inside(high, low)), BOOLEAN) if node.args.get("symmetric") else both


def in_list(bind: ReadNode, node: exp.Expr) -> Expression:
    """IN with a list of values or of rows."""
    if node.args.get("query") is not None:
        refuse(
            "E_SUBQ",
            "IN with a subquery is not answered in the ON of an outer join; put it in WHERE or in a subquery",
            node,
        )
    only(node, "this", "expressions")
    if not node.expressions:
        refuse("E_TYPE", "IN takes a list", node)
    if isinstance(node.this, exp.Tuple):
        rows = [_row(bind, option, node) for option in node.expressions]
        subject = _row(bind, node.this, node)
        return _joined("or", [_same_row(subject, row, node) for row in rows])
    return call("in", [bind(node.this), *map(bind, node.expressions)], node)


def contained(bind: ReadNode, node: exp.Expr) -> Expression:
    """LIST_CONTAINS of a constant list."""
    only(node, "this", "expression", *("ensure_variant", "check_null"), code="E_FUNC")
    members = _members(node.this)
    if not members:
        refuse("E_FUNC", "LIST_CONTAINS takes a list that is written out", node)
    return call("in", [bind(node.expression), *map(bind, members)], node)


def is_(bind: ReadNode, node: exp.Expr) -> Expression:
    """IS NULL, IS TRUE and their like."""
    only(node, "this", "expression")
    value = bind(node.this)
    if isinstance(node.expression, exp.Null):
        return Call("is null", (value,), BOOLEAN)
    return call("is not distinct from", [value, bind(node.expression)], node)


#: The nodes that are comparisons.
COMPARISONS: dict[type[exp.Expr], Callable[[ReadNode, exp.Expr], Expression]] = dict.fromkeys(
    (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ), compared
)


def case(bind: ReadNode, node: exp.Expr) -> Expression:
    """CASE, with a subject or without."""
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else bind(node.this)
    branches = []
    for branch in node.args.get("ifs", ()):
        if subject is None:
            condition = read_condition(bind, branch.this)
        else:
            condition = call("=", [subject, bind(branch.this)], branch)
        branches.append((condition, bind(branch.args["true"])))
    default = node.args.get("default")
    results = [value for _, value in branches] + ([] if default is None else [bind(default)])
    results = alike(results, node)
    sql_type = common_type(*(value.type for value in results))
    conditions = [condition for condition, _ in branches]
    return Case(
        tuple(zip(conditions, results, strict=False)),
        results[-1] if default is not None else None,
        sql_type,
    )


def if_(bind: ReadNode, node: exp.Expr) -> Expression:
    """IF is a CASE of one branch."""
    only(node, "this", "true", "false")
    case_node = exp.Case(ifs=[exp.If(this=node.this.copy(), true=node.args["true"].copy())])
    if node.args.get("false") is not None:
        case_node.set("default", node.args["false"].copy())
    return case(bind, case_node)


def cast(bind: ReadNode, node: exp.Expr) -> Expression:
    """CAST, TRY_CAST and ::, which are one here."""
    assert isinstance(node, exp.Cast)
    only(node, "this", "to", "safe", code="E_TYPE")
    moment = node.to.is_type("timestamptz") and isinstance(node.this, exp.Literal | exp.Placeholder)
    try:
        target = TIMESTAMP if moment else SqlType.parse(STATEMENT.write(node.to))
    except ValueError:
        refuse(
            "E_TYPE",
            "this type is not read; use boolean, integer, decimal(p,s), double, text, date or "
            "timestamp",
            node,
        )
    argument = bind(node.this)
    if isinstance(argument, Literal):
        return literal.as_type(argument, target, node)
    if not castable(argument.type, target):
        refuse("E_TYPE", f"{argument.type} has no form as {target}", node)
    return argument if argument.type == target else Cast(argument, target)


def nvl2(bind: ReadNode, node: exp.Expr) -> Expression:
    """NVL2 is a CASE of IS NOT NULL."""
    only(node, "this", "true", "false")
    present = exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null()))
    return if_(
        bind, exp.If(this=present, true=node.args["true"].copy(), false=node.args["false"].copy())
    )


def is_unit(bind: ReadNode, node: exp.Expr) -> Expression:
    """TRUE if the argument is the unit's column, by lineage; refused for another argument."""
    column = bind(node.expressions[0])
    if not isinstance(column, ColumnRef) or column.identifies != UNIT:
        refuse(
            "E_KEY",
            f"{node.expressions[0].name} is not the column of the privacy unit",
            node.expressions[0],
        )
    return Literal(True, BOOLEAN)
