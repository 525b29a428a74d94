"""DP_CLIP: a size that few rows exceed, for values whose true bounds nobody has declared.

Proved in ``docs/proofs/clipping.md``.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, log

from sqlglot import exp

from dpsql.sql.analysis.quantum import quantum
from dpsql.sql.analysis.summand import summand
from dpsql.sql.binder.expressions.reader import Reader
from dpsql.sql.functions.signature import number
from dpsql.sql.ir.expression import Scalar
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Aggregate

#: Each size is this many times the one before.
RATIO = Fraction(11, 10)
#: Sizes beyond the engine's BIGINT are doubles.
LARGEST_INTEGER = 2**63


def clip_aggregate(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """The size that is asked for, with its FILTER; None where it is another aggregate."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not is_clip(call):
        return None
    if len(call.expressions) != 1 or isinstance(call.expressions[0], exp.Distinct | exp.Star | exp.Order):
        refuse("E_AGG", "DP_CLIP takes one number", call)
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    value = call.expressions[0]
    argument = reader.read(value)
    if not argument.type.is_numeric:
        refuse("E_TYPE", f"DP_CLIP needs a number, and this is {argument.type}", call)
    grid = quantum(summand(argument, "DP_CLIP", call))
    sizes = _sizes(grid.size, grid.largest)
    return Aggregate("clip", reader.read(_place(value, grid.size, len(sizes))), condition, values=sizes)


def is_clip(call: exp.Expr) -> bool:
    """Whether the node is a call of DP_CLIP."""
    return isinstance(call, exp.Anonymous) and call.name.lower() == "dp_clip"


def _sizes(step: Fraction, largest: int) -> tuple[Scalar, ...]:
    """The sizes from one step on, each by `RATIO` larger than the one before, up to the largest of the bounds."""
    found, size = list[Fraction](), Fraction(1)
    while size < largest:
        found.append(floor(size) * step)
        size *= RATIO
    found.append(max(largest, 1) * step)
    whole = all(each.denominator == 1 for each in found) and found[-1] < LARGEST_INTEGER
    return tuple(int(each) if whole else float(each) for each in found)


def _place(value: exp.Expr, step: Fraction, count: int) -> exp.Expr:
    """The place of the value's size: LEAST(CEIL(LN(GREATEST(ABS(x) / step, 1)) / LN(RATIO)), last), a whole number."""
    size = exp.Div(this=exp.Abs(this=value.copy()), expression=number(float(step)))
    above_one = exp.Greatest(this=size, expressions=[number(1.0)])
    whole = exp.Ceil(this=exp.Mul(this=exp.Ln(this=above_one), expression=number(1 / log(RATIO))))
    last = exp.Least(this=whole, expressions=[number(float(count - 1))])
    return exp.Cast(this=last, to=exp.DataType.build("INTEGER"))
