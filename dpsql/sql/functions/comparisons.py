"""Comparisons, their connectives, questions about one value, and conditional values such as COALESCE and NULLIF."""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.functions.interval_rules import union
from dpsql.sql.functions.signature import Function, Node, always, binary, call, common_type, same
from dpsql.sql.ir.expression import BOOLEAN


def _comparison(kind: type[exp.Binary], *examples: str) -> Function:
    return Function(("any", "any"), always(BOOLEAN), binary(kind), jumps=True, examples=examples)


def _is_null(value: Node) -> Node:
    return exp.Is(this=exp.Paren(this=value), expression=exp.null())


def _is_in(value: Node, *options: Node) -> Node:
    return exp.In(this=exp.Paren(this=value), expressions=[*options])


def _ilike(value: Node, pattern: Node) -> Node:
    """ILIKE as the LIKE of small letters.

    ILIKE of DuckDB 1.5.6 fails on a pattern that ends in a NUL, out of reach of TRY, and is slow on constants too.
    """
    return binary(exp.Like)(call("LOWER")(value), call("LOWER")(pattern))


def _like(kind: type[exp.Binary]) -> Function:
    """LIKE with an escape character; the pattern and the character were looked at when the statement was read."""

    def build(value: Node, pattern: Node, escape: Node) -> Node:
        return exp.Escape(this=kind(this=exp.Paren(this=value), expression=pattern), expression=escape)

    name = "LIKE" if kind is exp.Like else "ILIKE"
    return Function(("text", "words", "words"), always(BOOLEAN), build, examples=(f"s {name} '!a%' ESCAPE '!'",))


_PATTERN = (
    "NULL where the pattern comes from the data and has more than two %, or one that does not end it and the text is "
    "longer than 1,000 characters"
)

CONDITIONS: dict[str, Function] = {
    "=": _comparison(exp.EQ, "i = 3", "m * 1.1 = 21.989", "d = '2020-02-29'", "b = false"),
    "<>": _comparison(exp.NEQ, "i <> 3", "s != 'abc'"),
    "<": _comparison(exp.LT, "x < 2.5", "ts < DATE '2020-06-01'", "b < true"),
    "<=": _comparison(exp.LTE, "m <= 19.99", "i <= ALL (ARRAY[3, 7])"),
    ">": _comparison(exp.GT, "s > 'b'", "ts - TIMESTAMP '2020-01-01' > INTERVAL '2 days'"),
    ">=": _comparison(exp.GTE, "d >= DATE '2020-01-01'", "i BETWEEN 2 AND 7", "i BETWEEN SYMMETRIC 7 AND 2"),
    "is not distinct from": _comparison(
        exp.NullSafeEQ,
        "i IS NOT DISTINCT FROM 3",
        "b IS TRUE",
        "b IS NOT FALSE",
        "(i, s) = (3, 'abc')",
        "(i, s) IN ((3, 'abc'), (7, 'x'))",
    ),
    "is distinct from": _comparison(exp.NullSafeNEQ, "i IS DISTINCT FROM 3"),
    "is null": Function(("any",), always(BOOLEAN), _is_null, examples=("i IS NULL", "i IS NOT NULL", "b IS UNKNOWN")),
    "and": Function(("boolean", "boolean"), always(BOOLEAN), binary(exp.And), examples=("b AND i > 3",)),
    "or": Function(("boolean", "boolean"), always(BOOLEAN), binary(exp.Or), examples=("b OR i > 3",)),
    "not": Function(("boolean",), always(BOOLEAN), lambda x: exp.Not(this=exp.Paren(this=x)), examples=("NOT b",)),
    "in": Function(
        ("any", "any*"),
        always(BOOLEAN),
        _is_in,
        jumps=True,
        examples=(
            "i IN (1, 3)",
            "s NOT IN ('abc', 'x')",
            "i IN (i2, 3)",
            "i = ANY (ARRAY[1, 3])",
        ),
    ),
    "like": Function(
        ("text", "text"),
        always(BOOLEAN),
        binary(exp.Like),
        examples=("s LIKE 'a%'", "s NOT LIKE '_b%'", "s LIKE s"),
        note=_PATTERN,
    ),
    "ilike": Function(
        ("text", "text"), always(BOOLEAN), _ilike, examples=("s ILIKE 'A%'", "s ILIKE UPPER(s)"), note=_PATTERN
    ),
    "like escape": _like(exp.Like),
    "ilike escape": _like(exp.ILike),
    "isnan": Function(("number",), always(BOOLEAN), call("ISNAN"), examples=("ISNAN(x)",)),
    "isinf": Function(("number",), always(BOOLEAN), call("ISINF"), examples=("ISINF(x)",)),
    "isfinite": Function(("number",), always(BOOLEAN), call("ISFINITE"), examples=("ISFINITE(x)",)),
}


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
