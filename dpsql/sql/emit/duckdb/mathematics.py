"""DuckDB's total forms of roots, logarithms, exponentials and angles: each NULL outside its domain.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import math
from typing import Final

from sqlglot import exp

from dpsql.sql.emit.duckdb.guarded_calls import attempted, between, guarded
from dpsql.sql.emit.total_form import Node, TotalForm, call
from dpsql.sql.functions.mathematics import LARGEST


def _angle(name: str) -> TotalForm:
    """A function of an angle, which an infinite angle does not have."""
    return between(-LARGEST, LARGEST, name)


def _cotangent(argument: Node) -> Node:
    return _angle("COT")(exp.Nullif(this=argument, expression=exp.Literal.number(0)))


MATHEMATICS: Final[dict[str, TotalForm]] = {
    "sqrt": guarded(exp.GTE, 0.0, "SQRT"),
    "cbrt": call("CBRT"),
    "ln": guarded(exp.GT, 0.0, "LN"),
    "log10": guarded(exp.GT, 0.0, "LOG10"),
    "log2": guarded(exp.GT, 0.0, "LOG2"),
    "exp": attempted("EXP"),
    "power": attempted("POWER"),
    "degrees": call("DEGREES"),
    "radians": call("RADIANS"),
    "sin": _angle("SIN"),
    "cos": _angle("COS"),
    "tan": _angle("TAN"),
    "cot": _cotangent,
    "asin": between(-1, 1, "ASIN"),
    "acos": between(-1, 1, "ACOS"),
    "atan": call("ATAN"),
    "atan2": call("ATAN2"),
    "sinh": attempted("SINH"),
    "cosh": attempted("COSH"),
    "tanh": call("TANH"),
    "asinh": call("ASINH"),
    "acosh": guarded(exp.GTE, 1.0, "ACOSH"),
    "atanh": between(math.nextafter(-1, 0), math.nextafter(1, 0), "ATANH"),
}
