"""DuckDB's total forms of comparisons, their connectives, questions about one value,
and conditional values.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.sql.emit.total_form import (
    Node,
    TotalForm,
    binary,
    call,
    first_known,
    is_in,
    is_null,
    negation,
    unless,
)


def _ilike(value: Node, pattern: Node) -> Node:
    """ILIKE as the LIKE of small letters.

    ILIKE of DuckDB 1.5.6 fails on a pattern that ends in a NUL, out of reach of TRY,
    and is slow on constants too.
    """
    return binary(exp.Like)(call("LOWER")(value), call("LOWER")(pattern))


def _escaped(kind: type[exp.Binary]) -> TotalForm:
    """LIKE with an escape character; the pattern and the character were looked at when the
    statement was read.
    """

    def build(value: Node, pattern: Node, escape: Node) -> Node:
        return exp.Escape(
            this=kind(this=exp.Paren(this=value), expression=pattern), expression=escape
        )

    return build


CONDITIONS: Final[dict[str, TotalForm]] = {
    "=": binary(exp.EQ),
    "<>": binary(exp.NEQ),
    "<": binary(exp.LT),
    "<=": binary(exp.LTE),
    ">": binary(exp.GT),
    ">=": binary(exp.GTE),
    "is not distinct from": binary(exp.NullSafeEQ),
    "is distinct from": binary(exp.NullSafeNEQ),
    "is null": is_null,
    "and": binary(exp.And),
    "or": binary(exp.Or),
    "not": negation,
    "in": is_in,
    "like": binary(exp.Like),
    "ilike": _ilike,
    "like escape": _escaped(exp.Like),
    "ilike escape": _escaped(exp.ILike),
    "isnan": call("ISNAN"),
    "isinf": call("ISINF"),
    "isfinite": call("ISFINITE"),
}
CHOICES: Final[dict[str, TotalForm]] = {
    "coalesce": first_known,
    "nullif": unless,
    "greatest": call("GREATEST"),
    "least": call("LEAST"),
}
