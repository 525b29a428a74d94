"""Comparisons, their connectives, questions about one value,
and conditional values such as COALESCE and NULLIF.
"""

from __future__ import annotations

from dpsql.sql.functions.interval_rules import union
from dpsql.sql.functions.signature import CallCost, Function, always, common_type, same
from dpsql.sql.ir.expression import BOOLEAN


def _comparison(*examples: str) -> Function:
    return Function(
        ("any", "any"), always(BOOLEAN), jumps=True, examples=examples, cost=CallCost.QUICK
    )


def _escaped(name: str) -> Function:
    """LIKE with an escape character; the pattern and the character were looked at when the
    statement was read.
    """
    return Function(
        ("text", "words", "words"),
        always(BOOLEAN),
        examples=(f"s {name} '!a%' ESCAPE '!'",),
        cost=CallCost.LIKE,
    )


_PATTERN = (
    "NULL where the pattern comes from the data and has more than two %, or one that does not end it and the text is "
    "longer than 1,000 characters"
)

CONDITIONS: dict[str, Function] = {
    "=": _comparison("i = 3", "m * 1.1 = 21.989", "d = '2020-02-29'", "b = false"),
    "<>": _comparison("i <> 3", "s != 'abc'"),
    "<": _comparison("x < 2.5", "ts < DATE '2020-06-01'", "b < true"),
    "<=": _comparison("m <= 19.99", "i <= ALL (ARRAY[3, 7])"),
    ">": _comparison("s > 'b'", "ts - TIMESTAMP '2020-01-01' > INTERVAL '2 days'"),
    ">=": _comparison("d >= DATE '2020-01-01'", "i BETWEEN 2 AND 7", "i BETWEEN SYMMETRIC 7 AND 2"),
    "is not distinct from": _comparison(
        "i IS NOT DISTINCT FROM 3",
        "b IS TRUE",
        "b IS NOT FALSE",
        "(i, s) = (3, 'abc')",
        "(i, s) IN ((3, 'abc'), (7, 'x'))",
    ),
    "is distinct from": _comparison("i IS DISTINCT FROM 3"),
    "is null": Function(
        ("any",),
        always(BOOLEAN),
        examples=("i IS NULL", "i IS NOT NULL", "b IS UNKNOWN"),
        cost=CallCost.QUICK,
    ),
    "and": Function(
        ("boolean", "boolean"), always(BOOLEAN), examples=("b AND i > 3",), cost=CallCost.QUICK
    ),
    "or": Function(
        ("boolean", "boolean"), always(BOOLEAN), examples=("b OR i > 3",), cost=CallCost.QUICK
    ),
    "not": Function(("boolean",), always(BOOLEAN), examples=("NOT b",), cost=CallCost.QUICK),
    "in": Function(
        ("any", "any*"),
        always(BOOLEAN),
        jumps=True,
        examples=(
            "i IN (1, 3)",
            "s NOT IN ('abc', 'x')",
            "i IN (i2, 3)",
            "i = ANY (ARRAY[1, 3])",
        ),
        cost=CallCost.ONE_LOOK,
    ),
    "like": Function(
        ("text", "text"),
        always(BOOLEAN),
        examples=("s LIKE 'a%'", "s NOT LIKE '_b%'", "s LIKE s"),
        note=_PATTERN,
        cost=CallCost.LIKE,
    ),
    "ilike": Function(
        ("text", "text"),
        always(BOOLEAN),
        examples=("s ILIKE 'A%'", "s ILIKE UPPER(s)"),
        note=_PATTERN,
        cost=CallCost.LIKE,
    ),
    "like escape": _escaped("LIKE"),
    "ilike escape": _escaped("ILIKE"),
    "isnan": Function(("number",), always(BOOLEAN), examples=("ISNAN(x)",), cost=CallCost.ONE_LOOK),
    "isinf": Function(("number",), always(BOOLEAN), examples=("ISINF(x)",), cost=CallCost.ONE_LOOK),
    "isfinite": Function(
        ("number",), always(BOOLEAN), examples=("ISFINITE(x)",), cost=CallCost.ONE_LOOK
    ),
}


CHOICES: dict[str, Function] = {
    "coalesce": Function(
        ("any", "any*"),
        common_type,
        union,
        examples=("COALESCE(x, i, 0)", "IFNULL(s, '?')", "NVL(i, 0)"),
        cost=CallCost.ONE_LOOK,
    ),
    "nullif": Function(
        ("any", "any"),
        same,
        lambda x, _: x,
        fallible=True,
        jumps=True,
        examples=("NULLIF(i, 3)",),
        cost=CallCost.ONE_LOOK,
    ),
    "greatest": Function(
        ("any", "any*"), common_type, union, examples=("GREATEST(x, 1)",), cost=CallCost.ONE_LOOK
    ),
    "least": Function(
        ("any", "any*"), common_type, union, examples=("LEAST(i, 4, m)",), cost=CallCost.ONE_LOOK
    ),
}
