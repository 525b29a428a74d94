"""Histograms: how many of the clipped rows of each group lie in each bin, one list of pairs per group.

Where the values themselves are public, each of them is a bin.

``h0_own``     the bins of the few units that have many rows, per key
``h0_heavy``   of these, what scaling down changes, for the units whose norm over keys is above the limit
``h0_bins``    per key and bin, the sum over all units
``h0_lists``   per key, the pairs (bin, sum)

Proved in ``docs/proofs/quantiles.md`` and ``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from sqlglot import exp

from dpsql.query.bins import SECONDS, Bins
from dpsql.query.contribution import Contribution, Norm
from dpsql.query.expression import DATE, TIMESTAMP, Expression, Literal, Scalar
from dpsql.query.function import attempt
from dpsql.query.quantum import quantum
from dpsql.query.rewrite import clip, node
from dpsql.query.rewrite.quantise import quantised
from dpsql.query.rewrite.scalar import engine_type, key, literal_node, native


def binned(argument: Expression, bins: Bins) -> exp.Expr:
    """The number of the argument's bin, from 0 to one less than their count; NULL stays NULL."""
    if bins.axis == "number":
        grid = quantum(argument)
        steps = quantised(argument, grid, grid.low)
        return steps if bins.width == 1 else _shared(steps, bins.width)
    moment = node.try_cast(native(argument), "timestamp")
    first, last = (literal_node(_moment(end, bins)) for end in (bins.low, bins.high))
    unit = exp.Literal.string("day" if bins.axis == "day" else "second")
    start = node.cast(first.copy(), "timestamp")
    steps = attempt(node.function("DATE_DIFF", unit, start, moment.copy()))
    return node.case(
        (node.compare(exp.GTE, moment, last), node.integer(bins.count - 1)),
        (node.compare(exp.LTE, moment.copy(), first), node.integer(0)),
        default=steps if bins.width == 1 else _shared(steps, bins.width),
    )


def placed(argument: Expression, values: Sequence[Scalar]) -> exp.Expr:
    """The place of the argument's value among the values; NULL where it is none of them."""
    whens = [exp.If(this=_listed(each, argument), true=node.integer(place)) for place, each in enumerate(values)]
    return exp.Case(this=key(argument), ifs=whens)


def _listed(value: Scalar, argument: Expression) -> exp.Expr:
    literal = literal_node(Literal(value, argument.type))
    return node.cast(literal, engine_type(argument.type)) if argument.type.is_numeric else literal


def _shared(steps: exp.Expr, width: int) -> exp.Expr:
    return exp.IntDiv(this=node.paren(steps), expression=node.integer(width))


def _moment(step: int, bins: Bins) -> Literal:
    if bins.axis == "day":
        return Literal(date.fromordinal(step), DATE)
    days, seconds = divmod(step, SECONDS)
    return Literal(datetime.fromordinal(days) + timedelta(seconds=seconds), TIMESTAMP)


def steps(name: str, keys: list[str], each: Contribution, norm: Norm, *, thresholded: bool) -> dict[str, exp.Query]:
    """The steps from rows to lists for the histogram of that name."""
    return {
        f"{name}_many": _many(name, each, keys, thresholded),
        f"{name}_own": _own(name, keys, each, thresholded),
        f"{name}_heavy": _heavy(name, keys, each, norm),
        f"{name}_bins": _bins(name, keys, each, thresholded),
        f"{name}_lists": _lists(name, keys),
    }


def _kept(keys: list[str], thresholded: bool) -> list[exp.Join]:
    """Where keys are thresholded, a unit has rows in its kept groups only."""
    if not thresholded:
        return []
    on = node.conjoined([node.equal("rows", "kept", part) for part in ["u", *keys]])
    return [node.join(node.table("kept"), on)]


def _counted(name: str) -> exp.Expr:
    return node.not_null(node.column("rows", name))


def _many(name: str, each: Contribution, keys: list[str], thresholded: bool) -> exp.Select:
    """The units with more values than always stay within the limit."""
    unit = node.column("rows", "u")
    more = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(each.rows))
    return node.select([unit], node.table("rows"), _kept(keys, thresholded), _counted(name), [unit.copy()], more)


def _own(name: str, keys: list[str], each: Contribution, thresholded: bool) -> exp.Select:
    """The counts of those units per key and bin, in fine steps."""
    groups: list[exp.Expr] = [node.column("rows", part) for part in ["u", *keys, name]]
    count = node.times(node.cast(exp.Count(this=exp.Star()), "hugeint"), node.integer(each.fine))
    many = node.join(node.table(f"{name}_many"), node.equal("rows", f"{name}_many", "u"))
    return node.select([*(group.copy() for group in groups), node.aliased(count, "v")], node.table("rows"),
                       [*_kept(keys, thresholded), many], _counted(name), groups)  # fmt: skip


def _heavy(name: str, keys: list[str], each: Contribution, norm: Norm) -> exp.Select:
    """Per key and bin of a unit above the limit, what scaling it down by its factor changes.

    The norm is that of the vector of counts per key, over all bins: no level of a tree over the bins has a larger one.
    """
    value, carried = node.bare("v"), [*keys, name, "v"]
    per_key = exp.Window(this=exp.Sum(this=value), partition_by=[node.bare(part) for part in ["u", *keys]])
    size = value.copy() if norm == "l1" else node.times(value.copy(), node.paren(per_key))
    sized = node.select([*map(node.bare, ["u", *carried]), node.aliased(size, "size")], node.table(f"{name}_own"))
    whole = exp.Window(this=exp.Sum(this=node.bare("size")), partition_by=[node.bare("u")])
    normed = node.select([*map(node.bare, carried), node.aliased(whole, "n")], node.subquery(sized, "sized"))
    factor = node.aliased(clip.factor([("v", each)], norm), "factor")
    above = node.compare(exp.GT, node.bare("n"), node.integer(each.limit))
    scaled = node.select([*map(node.bare, carried), factor], node.subquery(normed, "normed"), where=above)
    down = exp.IntDiv(this=node.times(node.bare("v"), node.bare("factor")),
                      expression=node.integer(2**clip.FACTOR_BITS))  # fmt: skip
    change = exp.Sub(this=node.paren(down), expression=node.bare("v"))
    return node.select([*map(node.bare, [*keys, name]), node.aliased(change, "v")], node.subquery(scaled, "scaled"))


def _bins(name: str, keys: list[str], each: Contribution, thresholded: bool) -> exp.Select:
    columns = [*keys, name]
    rows = node.select(
        [*(node.column("rows", part) for part in columns), node.aliased(node.integer(each.fine), "v")],
        node.table("rows"), _kept(keys, thresholded), _counted(name),
    )  # fmt: skip
    changes = node.select([node.bare(part) for part in [*columns, "v"]], node.table(f"{name}_heavy"))
    whole = exp.Union(this=rows, expression=changes, distinct=False)
    total = node.aliased(exp.Sum(this=node.bare("v")), "v")
    return node.select([*map(node.bare, columns), total], node.subquery(whole, "whole"),
                       group=[node.bare(part) for part in columns])  # fmt: skip


def _lists(name: str, keys: list[str]) -> exp.Select:
    pair = node.function("LIST_VALUE", node.bare(name), node.bare("v"))
    pairs = node.aliased(node.function("LIST", pair), name)
    return node.select([*map(node.bare, keys), pairs], node.table(f"{name}_bins"),
                       group=[node.bare(part) for part in keys])  # fmt: skip
