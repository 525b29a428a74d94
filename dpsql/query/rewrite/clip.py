"""Norm clipping: the few units whose contributions are above a limit, and what scaling them down changes.

For sums of rows, looking is cheap before it is exact:

``…_many``       the units with more rows than always stay within every limit
``…_rows``       their rows
``…_suspects``   of these, the units whose values' sizes add to more than a norm may be
``…_heavy``      of these, per key, value·factor − value for the units whose norm is above a limit

Proved in ``docs/proofs/contribution.md``.
"""

from __future__ import annotations

from math import isqrt
from typing import TypeAlias

from sqlglot import exp

from dpsql.query.contribution import MOST_NORM, Contribution, Norm
from dpsql.query.function import number
from dpsql.query.relation import Total, Units
from dpsql.query.rewrite import node

#: A column of row values, and how a unit's contribution to it is bounded.
Member: TypeAlias = tuple[str, Contribution]

#: A unit's factor is an integer of 2^20ths.
FACTOR_BITS = 20


def steps(family: str, base: str, keys: list[str], members: list[Member], norm: Norm) -> dict[str, exp.Query]:
    """The steps that clip the cells of ``members`` by one common factor per unit; ``base`` is what is summed."""
    found: dict[str, exp.Query] = {}
    source = base
    if base == "rows":
        source = f"{family}_rows"
        found[f"{family}_many"] = _many(min(each.rows for _, each in members))
        found[source] = _rows_of_many(f"{family}_many", keys, members)
    found[f"{family}_suspects"] = _suspects(source, members, norm)
    found[f"{family}_heavy"] = _heavy(source, f"{family}_suspects", keys, members, norm)
    return found


def _many(rows: int) -> exp.Select:
    """The units with more rows than ``rows``; the others are within every limit, whatever their rows hold."""
    unit = node.column("rows", "u")
    more = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(rows))
    return node.select([unit], node.table("rows"), group=[unit.copy()], having=more)


def _rows_of_many(many: str, keys: list[str], members: list[Member]) -> exp.Select:
    """The rows of the units with many rows."""
    columns = [node.column("rows", name) for name in ["u", *keys, *(name for name, _ in members)]]
    return node.select(columns, node.table("rows"), [node.join(node.table(many), node.equal("rows", many, "u"))])


def _suspects(source: str, members: list[Member], norm: Norm) -> exp.Select:
    """The units whose values' sizes add to more than a limit: no norm over groups is larger than that sum.

    A count of units has the same value in each of its groups, so that the sum itself tells its L2 norm.
    """
    unit = node.column(source, "u")
    above: exp.Expr | None = None
    for name, each in members:
        value: exp.Expr = node.column(source, name)
        size = exp.Sum(this=node.function("ABS", value) if isinstance(each.cell, Total) else value)
        squared = each.limit // each.fine if isinstance(each.cell, Units) else isqrt(each.limit)
        most = each.limit if norm == "l1" else squared
        over = node.compare(exp.GT, size, node.integer(most))
        above = over if above is None else exp.Or(this=above, expression=over)
    return node.select([unit], node.table(source), group=[unit.copy()], having=above)


def _heavy(source: str, suspects: str, keys: list[str], members: list[Member], norm: Norm) -> exp.Select:
    """Per unit above a limit and key, what scaling its values down by its factor changes."""
    outputs: list[exp.Expr] = [node.column("scaled", name) for name in keys]
    for name, _ in members:
        scaled = exp.IntDiv(this=node.times(node.column("scaled", name), node.column("scaled", "factor")),
                            expression=node.integer(2**FACTOR_BITS))  # fmt: skip
        change = exp.Sub(this=node.paren(scaled), expression=node.column("scaled", f"r{name[1:]}"))
        outputs.append(node.aliased(change, name))
    return node.select(outputs, node.subquery(_scaled(source, suspects, keys, members, norm), "scaled"))


def _scaled(source: str, suspects: str, keys: list[str], members: list[Member], norm: Norm) -> exp.Select:
    """The contributions of the units above a limit, with the factor of the unit beside each."""
    above: exp.Expr | None = None
    for name, each in members:
        over = node.compare(exp.GT, node.column("norms", f"n{name[1:]}"), node.integer(each.limit))
        above = over if above is None else exp.Or(this=above, expression=over)
    factors = [_factor(node.column("norms", f"n{name[1:]}"), each.limit, norm) for name, each in members]
    if len(factors) > 1:
        factors = [node.function("LEAST", *factors, node.integer(2**FACTOR_BITS))]
    kept = [*keys, *(f"{kind}{name[1:]}" for name, _ in members for kind in "vr")]
    outputs = [*(node.column("norms", name) for name in kept), node.aliased(factors[0], "factor")]
    norms = node.subquery(_norms(source, suspects, keys, members, norm), "norms")
    return node.select(outputs, norms, where=above)


def _norms(source: str, suspects: str, keys: list[str], members: list[Member], norm: Norm) -> exp.Select:
    """The contributions of suspects per key, with the norms of the unit's whole vectors beside each."""
    kept = ["u", *keys, *(f"{kind}{name[1:]}" for name, _ in members for kind in "vr")]
    outputs: list[exp.Expr] = [node.column("own", name) for name in kept]
    for name, _ in members:
        value = node.cast(node.column("own", name), "hugeint")
        size = node.function("ABS", value) if norm == "l1" else node.times(value, value.copy())
        over_groups = exp.Window(this=exp.Sum(this=size), partition_by=[node.column("own", "u")])
        outputs.append(node.aliased(over_groups, f"n{name[1:]}"))
    return node.select(outputs, node.subquery(_own(source, suspects, keys, members), "own"))


def _own(source: str, suspects: str, keys: list[str], members: list[Member]) -> exp.Select:
    """The contributions of suspects per key: ``r…`` as they are in the totals, ``v…`` as they are clipped."""
    columns: list[exp.Expr] = [node.column(source, name) for name in ["u", *keys]]
    summing = source.endswith("_rows")
    outputs = list(columns)
    for name, _ in members:
        value: exp.Expr = node.column(source, name)
        if summing:
            value = node.or_zero(exp.Sum(this=value))
        outputs.append(node.aliased(squarable(value) if summing else value, name))
        outputs.append(node.aliased(value.copy(), f"r{name[1:]}"))
    groups = [column.copy() for column in columns] if summing else None
    joins = [node.join(node.table(suspects), node.equal(source, suspects, "u"))]
    return node.select(outputs, node.table(source), joins, group=groups)


def _factor(norm: exp.Expr, limit: int, kind: Norm) -> exp.Expr:
    """limit / norm in 2^20ths, rounded down; no less than 2^20 where the norm is within the limit."""
    least = node.function("GREATEST", norm, node.integer(1))
    if kind == "l1":
        return exp.IntDiv(this=node.cast(node.integer(limit * 2**FACTOR_BITS), "hugeint"), expression=least)
    square = exp.Div(this=number(float(limit)), expression=node.cast(least, "double"), typed=False, safe=False)
    root = node.times(node.function("SQRT", square), node.integer(2**FACTOR_BITS))
    down = exp.Sub(this=node.cast(node.function("FLOOR", root), "hugeint"), expression=node.integer(1))
    # one less than the double says, so that its rounding cannot exceed the true ratio; never below nothing
    return node.function("GREATEST", down, node.integer(0))


def squarable(value: exp.Expr) -> exp.Expr:
    """The value, never NULL, within ±2^52: far above every limit, and no sum of squares leaves 128 bits."""
    least, most = node.integer(-MOST_NORM), node.integer(MOST_NORM)
    return node.cast(node.function("GREATEST", least, node.function("LEAST", most, value)), "bigint")
