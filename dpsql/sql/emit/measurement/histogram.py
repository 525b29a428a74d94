"""Histograms: how many of the clipped rows of each group lie in each bin, one row each.

If the values themselves are public, each of them is a bin.

``h0_many``    the few units that have many rows
``h0_counts``  per key and bin, the rows of each of them, and of all others together
``h0_own``     of these counts, those of the few
``h0_factors`` of these, the units whose norm over keys is above the limit, with the factor that brings it there
``h0_heavy``   what scaling these down changes, per key and bin
``h0_bins``    per key and bin, the rows and the changes together

Proved in ``docs/proofs/quantiles.md`` and ``docs/proofs/frequencies.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import SECONDS, Bins, bin_grid
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect, Width
from dpsql.sql.emit.measurement import contribution_bounding
from dpsql.sql.emit.quantise import quantised
from dpsql.sql.emit.scalar import key, literal_node, native
from dpsql.sql.ir.expression import DATE, INTEGER, TIMESTAMP, Expression, Literal, Scalar


def bin_number(dialect: Dialect, argument: Expression, bins: Bins) -> exp.Expr:
    """The number of the argument's bin, from 0 to one less than their count; NULL stays NULL."""
    if bins.axis == "number":
        grid = bin_grid(argument)
        steps = quantised(dialect, argument, grid, grid.low)
        return steps if bins.width == 1 else _divided_by_width(dialect, steps, bins.width)
    moment = dialect.try_cast(native(dialect, argument), TIMESTAMP)
    first, last = (literal_node(dialect, _moment(end, bins)) for end in (bins.low, bins.high))
    start = dialect.cast(first.copy(), TIMESTAMP)
    steps = dialect.elapsed("day" if bins.axis == "day" else "second", start, moment.copy())
    return node.case(
        (node.compare(exp.GTE, moment, last), node.integer(bins.count - 1)),
        (node.compare(exp.LTE, moment.copy(), first), node.integer(0)),
        default=steps if bins.width == 1 else _divided_by_width(dialect, steps, bins.width),
    )


def placed(dialect: Dialect, argument: Expression, values: Sequence[Scalar]) -> exp.Expr:
    """The place of the argument's value among the values; NULL if it is none of them."""
    whens = [
        exp.If(this=_listed(dialect, value, argument), true=node.integer(index))
        for index, value in enumerate(values)
    ]
    return exp.Case(this=key(dialect, argument), ifs=whens)


def _listed(dialect: Dialect, value: Scalar, argument: Expression) -> exp.Expr:
    literal = literal_node(dialect, Literal(value, argument.type))
    return dialect.cast(literal, argument.type) if argument.type.is_numeric else literal


def _divided_by_width(dialect: Dialect, steps: exp.Expr, width: int) -> exp.Expr:
    return dialect.quotient(node.paren(steps), node.integer(width))


def _moment(step: int, bins: Bins) -> Literal:
    if bins.axis == "day":
        return Literal(date.fromordinal(step), DATE)
    days, seconds = divmod(step, SECONDS)
    return Literal(datetime.fromordinal(days) + timedelta(seconds=seconds), TIMESTAMP)


def steps(
    dialect: Dialect,
    name: str,
    keys: list[str],
    contribution: Contribution,
    norm: Norm,
    *,
    thresholded: bool,
) -> dict[str, exp.Query]:
    """The steps from rows to bins for the histogram of that name."""
    return {
        f"{name}_many": _many(dialect, name, contribution, keys, thresholded=thresholded),
        f"{name}_counts": _counts(dialect, name, keys, contribution, thresholded=thresholded),
        f"{name}_own": _own(name, keys),
        f"{name}_factors": _factors(dialect, name, keys, contribution, norm=norm),
        f"{name}_heavy": _heavy(dialect, name, keys),
        f"{name}_bins": _bins(dialect, name, keys),
    }


def _kept(dialect: Dialect, keys: list[str], thresholded: bool) -> list[exp.Join]:
    """Where keys are thresholded, a unit has rows in its kept groups only."""
    if not thresholded:
        return []
    on = node.conjoined([dialect.equal("rows", "kept", column) for column in ["u", *keys]])
    return [node.join(node.table("kept"), on)]


def _counted(name: str) -> exp.Expr:
    return node.not_null(node.column("rows", name))


def _many(
    dialect: Dialect, name: str, contribution: Contribution, keys: list[str], thresholded: bool
) -> exp.Query:
    """The units with more values than always stay within the limit."""
    unit = node.column("rows", "u")
    more = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(contribution.rows))
    return dialect.units_above_limit(
        unit, node.table("rows"), more, _kept(dialect, keys, thresholded), where=_counted(name)
    )


def _counts(
    dialect: Dialect, name: str, keys: list[str], contribution: Contribution, thresholded: bool
) -> exp.Select:
    """The rows per key and bin, in fine steps: those of each of the few units,
    and under NULL those of all others.

    One reading of the rows, which is the same whether or not there are such units.
    """
    unit = node.case((node.not_null(node.column(f"{name}_many", "u")), node.column("rows", "u")))
    groups: list[exp.Expr] = [*(node.column("rows", column) for column in [*keys, name]), unit]
    count = node.times(
        dialect.cast(exp.Count(this=exp.Star()), "wide"), node.integer(contribution.fine)
    )
    many = dialect.look_up(node.column("rows", "u"), node.table(f"{name}_many"))
    outputs = [
        *(group.copy() for group in groups[:-1]),
        node.aliased(unit.copy(), "u"),
        node.aliased(count, "v"),
    ]
    return node.select(
        outputs,
        node.table("rows"),
        [*_kept(dialect, keys, thresholded), many],
        _counted(name),
        group=groups,
    )


def _own(name: str, keys: list[str]) -> exp.Select:
    """The counts of the few units."""
    outputs = [node.bare(column) for column in ["u", *keys, name, "v"]]
    return node.select(outputs, node.table(f"{name}_counts"), where=node.not_null(node.bare("u")))


def _factors(
    dialect: Dialect, name: str, keys: list[str], contribution: Contribution, norm: Norm
) -> exp.Select:
    """The units above the limit, each with the factor that brings it there.

    The norm is that of the vector of counts per key, over all bins:
    no level of a tree over the bins has a larger one.
    """
    per_key = [node.bare(column) for column in ["u", *keys]]
    value = node.aliased(dialect.sum(node.bare("v")), "v")
    sizes = node.select(
        [*(column.copy() for column in per_key), value], node.table(f"{name}_own"), group=per_key
    )
    size = node.bare("v") if norm == "l1" else node.times(node.bare("v"), node.bare("v"))
    norm_sum = dialect.sum(size)
    above = node.compare(exp.GT, norm_sum.copy(), node.integer(contribution.limit))
    norms = node.select(
        [node.bare("u"), node.aliased(norm_sum, "n")],
        node.subquery(sizes, "sizes"),
        group=[node.bare("u")],
        having=above,
    )
    factor = node.aliased(
        contribution_bounding.factor(dialect, [("v", contribution)], norm), "factor"
    )
    return node.select([node.bare("u"), factor], node.subquery(norms, "norms"))


def _heavy(dialect: Dialect, name: str, keys: list[str]) -> exp.Select:
    """Per key and bin of a unit above the limit, what scaling it down by its factor changes."""
    counts_table = f"{name}_own"
    factors = f"{name}_factors"
    value = node.column(counts_table, "v")
    down = dialect.quotient(
        node.times(value, node.column(factors, "factor")),
        node.integer(2**contribution_bounding.FACTOR_BITS),
    )
    change = exp.Sub(this=node.paren(down), expression=value.copy())
    columns = [node.column(counts_table, column_name) for column_name in [*keys, name]]
    joins = [node.join(node.table(factors), dialect.equal(counts_table, factors, "u"))]
    return node.select([*columns, node.aliased(change, "v")], node.table(counts_table), joins)


def _bins(dialect: Dialect, name: str, keys: list[str]) -> exp.Select:
    columns = [*keys, name]
    counts = node.select(
        [node.bare(column) for column in [*columns, "v"]], node.table(f"{name}_counts")
    )
    changes = node.select(
        [node.bare(column) for column in [*columns, "v"]], node.table(f"{name}_heavy")
    )
    union = exp.Union(this=counts, expression=changes, distinct=False)
    total = node.aliased(dialect.cast(dialect.sum(node.bare("v")), INTEGER), "v")
    return node.select(
        [*map(node.bare, columns), total],
        node.subquery(union, "whole"),
        group=[node.bare(column) for column in columns],
    )


def with_bins(dialect: Dialect, groups: exp.Select, keys: list[str], histograms: int) -> exp.Query:
    """The groups, followed by a row for each bin of each histogram.

    Such a row has keys, histogram, bin and count.
    """
    if not histograms:
        return groups
    cells = len(groups.expressions) - len(keys)
    bin_columns: list[tuple[str, SqlType | Width]] = [
        ("histogram", "narrow"),
        ("bin", INTEGER),
        ("v", INTEGER),
    ]
    none = [node.aliased(dialect.cast(exp.null(), kind), name) for name, kind in bin_columns]
    groups.set("expressions", [*groups.expressions, *none])
    query: exp.Query = groups
    for index in range(histograms):
        name = f"h{index}"
        outputs = [*map(node.bare, keys), *(exp.null() for _ in range(cells)), node.integer(index)]
        bins = node.select([*outputs, node.bare(name), node.bare("v")], node.table(f"{name}_bins"))
        query = exp.Union(this=query, expression=bins, distinct=False)
    return query
