"""Numbers: rounding to digits, logarithms, buckets of equal width."""

from __future__ import annotations

import math

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.functions.call import ReadNode, call, read_call
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import DOUBLE, INTEGER, Call, Case, Expression, Literal
from dpsql.sql.ir.refusal import only, refuse


def rounded(bind: ReadNode, node: exp.Expr) -> Expression:
    """ROUND and TRUNC, to a constant number of digits; decimals stay decimals."""
    only(node, "this", "decimals", code="E_FUNC")
    name = "round" if isinstance(node, exp.Round) else "trunc"
    value = bind(node.this)
    places = (
        Literal(0, INTEGER) if node.args.get("decimals") is None else bind(node.args["decimals"])
    )
    digits = places.value if isinstance(places, Literal) else None
    if type(digits) is not int or abs(digits) > 30:
        refuse("E_TYPE", f"{name.upper()} takes a constant number of digits", node)
    if value.type.kind == "decimal":
        return _decimal(name, value, digits, node)
    if value.type.kind == "integer":
        if digits >= 0:
            return value
        function = "round decimal" if name == "round" else "trunc decimal"
        return call(function, [value, Literal(0, INTEGER), places], node, INTEGER)
    return call(name, [value, places] if digits else [value], node)


def _decimal(name: str, value: Expression, digits: int, node: exp.Expr) -> Expression:
    scale = value.type.scale or 0
    if digits >= scale:
        return value
    result = SqlType("decimal", 38, digits) if digits > 0 else INTEGER
    return call(
        f"{name} decimal", [value, Literal(scale, INTEGER), Literal(digits, INTEGER)], node, result
    )


def log(bind: ReadNode, node: exp.Expr) -> Expression:
    """LOG to a constant base, or to ten."""
    only(node, "this", "expression", code="E_FUNC")
    if node.expression is None:
        return read_call(bind, "log10", (node.this,), node)
    base = bind(node.this)
    number = literal.exact(base) if isinstance(base, Literal) else None
    if number is None or number <= 0 or number == 1:
        refuse("E_FUNC", "LOG takes a constant base above 0 other than 1: LOG(2, x)", node)
    argument = bind(node.expression)
    if number in (2, 10):
        return call("log2" if number == 2 else "log10", [argument], node)
    return call("/", [call("log10", [argument], node), Literal(math.log10(number), DOUBLE)], node)


def width_bucket(bind: ReadNode, node: exp.Expr) -> Expression:
    """WIDTH_BUCKET: 0 below, 1 to n in n buckets of equal width, n + 1 above."""
    names = ("this", "min_value", "max_value", "num_buckets")
    only(node, *names, code="E_FUNC")
    value, *constants = (bind(node.args[name]) for name in names if node.args.get(name) is not None)
    ends = [
        literal.exact(constant) if isinstance(constant, Literal) else None for constant in constants
    ]
    if len(ends) != 3 or not value.type.is_numeric:
        refuse("E_FUNC", "WIDTH_BUCKET takes a number, two ends and a number of buckets", node)
    low, high, count = ends
    if (
        low is None
        or high is None
        or count is None
        or low >= high
        or count.denominator != 1
        or not 1 <= count <= 10**6
    ):
        refuse(
            "E_FUNC",
            "WIDTH_BUCKET takes constants: a lower end, a higher end and a whole number of buckets",
            node,
        )
    number = Literal(int(count), INTEGER)
    share = call(
        "/",
        [call("-", [value, constants[0]], node), call("-", [constants[1], constants[0]], node)],
        node,
    )
    bucket_index = call("floor", [call("*", [share, number], node)], node)
    inside = Call("+", (Call("floor", (bucket_index,), INTEGER), Literal(1, INTEGER)), INTEGER)
    last = call("least", [inside, number], node)
    return Case(
        (
            (call("<", [value, constants[0]], node), Literal(0, INTEGER)),
            (call(">=", [value, constants[1]], node), Literal(int(count) + 1, INTEGER)),
            (call("not", [Call("is null", (value,), SqlType("boolean"))], node), last),
        ),
        None,
        INTEGER,
    )


def pi(_: ReadNode, node: exp.Expr) -> Expression:
    """PI() is a constant."""
    only(node, code="E_FUNC")
    return Literal(math.pi, DOUBLE)
