"""How many units have a norm of each size: that of the vector of a unit's sums by its groups.

``h0_groups``  per unit and group, the sum of its rows in whole steps
``h0_parts``   the same in 2^30ths of the largest of the unit, which stands beside it
``h0_norms``   per unit, the place of its norm among the sizes
``h0_bins``    per place, the number of units

Proved in ``docs/proofs/norm_scan.md``.
"""

from __future__ import annotations

from math import log

from sqlglot import exp

from dpsql.sql.analysis.contribution import Norm
from dpsql.sql.analysis.quantisation import RATIO
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.node import number
from dpsql.sql.ir.core import UnitNorms
from dpsql.sql.ir.expression import DOUBLE, INTEGER

#: A group's sum is a whole number of so many parts of the unit's largest:
#: their squares add up #: exactly in any order.
LARGEST_PART = 2.0**30


def group_columns(name: str, count: int) -> list[str]:
    """The columns of the rows that hold the groups by which the list of this name takes norms."""
    return [f"{name}g{index}" for index in range(count)]


def steps(dialect: Dialect, name: str, cell: UnitNorms, norm: Norm) -> dict[str, exp.Query]:
    """The steps from rows to counts of units by place."""
    return {
        f"{name}_groups": _groups(dialect, name, len(cell.groups)),
        f"{name}_parts": _parts(dialect, name),
        f"{name}_norms": _norms(dialect, name, cell, norm),
        f"{name}_bins": _bins(name),
    }


def _groups(dialect: Dialect, name: str, groups: int) -> exp.Select:
    keys: list[exp.Expr] = [
        node.bare(group_column) for group_column in ["u", *group_columns(name, groups)]
    ]
    size = node.function("ABS", node.or_zero(dialect.sum(node.bare(name))))
    return node.select([node.bare("u"), node.aliased(size, "v")], node.table("rows"), group=keys)


def _parts(dialect: Dialect, name: str) -> exp.Select:
    value = dialect.cast(node.bare("v"), DOUBLE)
    largest = exp.Window(this=node.function("MAX", value.copy()), partition_by=[node.bare("u")])
    inside = node.select(
        [node.bare("u"), node.aliased(value, "v"), node.aliased(largest, "most")],
        node.table(f"{name}_groups"),
    )
    above_zero = dialect.greatest(node.bare("most"), number(1.0))
    share = exp.Div(this=node.bare("v"), expression=above_zero, typed=False, safe=False)
    step_count = dialect.cast(
        node.function("FLOOR", node.times(node.paren(share), number(LARGEST_PART))), INTEGER
    )
    outputs = [node.bare("u"), node.bare("most"), node.aliased(step_count, "part")]
    return node.select(outputs, node.subquery(inside, "sums"))


def _norms(dialect: Dialect, name: str, cell: UnitNorms, norm: Norm) -> exp.Select:
    step_count = node.bare("part")
    size_sum = dialect.cast(
        dialect.sum(step_count if norm == "l1" else node.times(step_count, step_count.copy())),
        DOUBLE,
    )
    length = size_sum if norm == "l1" else node.function("SQRT", size_sum)
    size = node.times(node.bare("most"), node.paren(node.times(length, number(1 / LARGEST_PART))))
    size_index = node.aliased(_size_index(dialect, size, cell.sizes), "place")
    units: list[exp.Expr] = [node.bare("u"), node.bare("most")]
    return node.select([size_index], node.table(f"{name}_parts"), group=units)


def _size_index(dialect: Dialect, size: exp.Expr, sizes: int) -> exp.Expr:
    """The place of a norm among the sizes: LEAST(CEIL(LN(GREATEST(norm, 1)) / LN(RATIO)), last)."""
    logarithm = exp.Ln(this=dialect.greatest(size, number(1.0)))
    size_index = exp.Ceil(this=node.times(logarithm, number(1 / log(RATIO))))
    return dialect.cast(dialect.least(size_index, number(float(sizes - 1))), INTEGER)


def _bins(name: str) -> exp.Select:
    count = node.aliased(exp.Count(this=exp.Star()), "v")
    return node.select(
        [node.aliased(node.bare("place"), name), count],
        node.table(f"{name}_norms"),
        group=[node.bare("place")],
    )
