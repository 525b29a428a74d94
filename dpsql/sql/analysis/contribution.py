"""How much one unit may add to each measured cell, and by which norm it is held to that.

The claim (`docs/proofs/contribution.md`): after clipping, the vector of one unit over all groups of
a cell has an L1 norm of at most ``l1``, or an L2 norm whose square is at most ``l2_squared``, in
steps of the cell's grid. What of it is told of units above their limits is proved in
``docs/proofs/clipped.md``, and what holds of sums that are clipped to a norm that was found in
``docs/proofs/norm_scan.md``, and of groups in ``docs/proofs/groups.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Literal as OneOf
from typing import assert_never

from dpsql.schema import Privacy
from dpsql.sql.analysis.quantisation import (
    Bins,
    ProductQuantum,
    Quantum,
    bins,
    product_quantum,
    quantum,
)
from dpsql.sql.analysis.stability import groups_by, is_multiplied, limits, rows_per_group
from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    Core,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    ProductSum,
    RowCount,
    UnitCount,
    UnitNorms,
)
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import groups_in

#: Clipped values are kept this finely below the largest row value,
#: so that scaling a unit down rounds little away.
FINE_BITS = 11
#: Limits multiply to less than this: sums are clamped to it before norms,
#: and a clamped unit must be above its limit.
MOST_NORM = 2**52
#: A norm that is found in the data has so many steps, by which rows are divided;
#: rows are clamped to `MOST_PARTS`.
PARTS = 2**36
MOST_PARTS = 2**44

Norm = OneOf["l1", "l2"]


def norm_of(privacy: Privacy) -> Norm:
    """The norm by which units are held to their limits: that of the promised noise."""
    return (
        "l1" if privacy.delta == 0 or privacy.adds_pure or privacy.mechanism == "laplace" else "l2"
    )


@dataclass(frozen=True, slots=True)
class Contribution:
    """One cell's bound on a unit: over all its groups, in steps of ``step``.

    ``limit`` is the largest L1 norm, or the square of the largest L2 norm: what the clipping
    compares with. A unit of at most ``rows`` rows stays within it, whatever they hold. Values are
    counted in ``fine`` steps to a step of ``grid`` (to 1, for counts). ``pairs`` is how many
    distinct values a unit may bring, for counts of distinct values. ``bins`` are those of a
    histogram, whose norm is that of the sums over all bins of each group.
    """

    cell: Cell
    grid: Quantum | ProductQuantum | None
    limit: int
    fine: int
    step: Fraction
    rows: int = 0
    pairs: int | None = None
    bins: Bins | None = None


def contribution(core: Core, cell: Cell, norm: Norm) -> Contribution:
    """The tightest bound that the limits of the core's tables allow for the cell."""
    declared = limits(core.relation)
    groups = groups_by(core.relation, list(core.keys))
    rows = partial(_rows, core, norm)
    is_of_groups = groups_in(core.relation) is not None
    match cell:
        case RowCount(averaged=averaged):
            return _made(cell, None, 1, rows(averaged), norm=norm)
        case ClampedSum(argument=argument, centred=centred, averaged=averaged):
            grid = quantum(argument)
            largest = max(_largest(grid, centred, is_of_groups), 1)
            return _made(cell, grid, largest, rows(averaged), norm=norm)
        case _ if is_of_groups and not isinstance(cell, RowCount):
            raise AssertionError(
                "of groups of several units' rows nothing is measured but counts and sums"
            )
        case ProductSum(left=first, right=second, averaged=averaged):
            products = product_quantum(first, second)
            return _made(cell, products, max(products.reach, 1), rows(averaged), norm=norm)
        case Histogram(argument=argument):
            return replace(_made(cell, None, 1, rows(), norm=norm), bins=bins(argument))
        case Frequencies():
            return _made(cell, None, 1, rows(), norm=norm)
        case NormClippedSum():
            return Contribution(
                cell, None, PARTS if norm == "l1" else PARTS**2, 1, step=Fraction(1, PARTS)
            )
        case UnitNorms():
            return Contribution(cell, None, 1, 1, step=Fraction(1))
        case UnitCount():
            return _made(cell, None, 1, _known(groups, declared.rows), norm=norm)
        case DistinctCount(argument=argument):
            pairs = _known(groups_by(core.relation, [*core.keys, argument]), declared.rows)
            return Contribution(
                cell, None, pairs if norm == "l1" else pairs**2, 1, step=Fraction(1), pairs=pairs
            )
        case _:
            assert_never(cell)


def _largest(grid: Quantum, centred: bool, is_of_groups: bool) -> int:
    """The size of the largest value in steps; for groups, at least the largest change."""
    size = grid.reach if centred else grid.largest
    return max(size, grid.high - grid.low) if is_of_groups else size


def averages_differ(core: Core, norm: Norm) -> bool:
    """Whether averages have another limit than sums and counts, and so cells of their own."""
    return held_rows(core, norm) is not None and _rows(core, norm, averaged=True) != _rows(
        core, norm
    )


def counted_once(norm: Norm) -> Contribution:
    """The bound of the plainest count, in which each unit is counted once, without groups."""
    return _made(UnitCount(None), None, 1, 1, norm=norm)


def held_rows(core: Core, norm: Norm, averaged: bool = False) -> int | None:
    """How many rows of a unit count in full in any groups; None if the limits leave that open.

    ``averaged`` asks what averages count in full. If rows meet several public rows, the number is
    what a unit within the limits of its tables may have, spread over groups as these are.
    """
    declared = limits(core.relation)
    groups = groups_by(core.relation, list(core.keys))
    per_group = rows_per_group(core.relation, list(core.keys))
    if declared.rows is None and (groups is None or per_group is None):
        return None
    if is_multiplied(core.relation):
        return _rows(core, "l1", averaged)
    rows = _rows(core, norm, averaged)
    return rows if norm == "l1" else isqrt(rows)


def kept_groups(core: Core) -> int:
    """In how many groups a unit may stand when keys are shown by a threshold."""
    return _known(groups_by(core.relation, list(core.keys)), limits(core.relation).rows)


def _made(
    cell: Cell, grid: Quantum | ProductQuantum | None, largest: int, rows: int, norm: Norm
) -> Contribution:
    """The contribution of a cell whose largest row has the size ``largest``.

    ``rows`` is the norm of a unit whose rows are all 1; under L2, it is the square of that norm.
    """
    most = MOST_NORM if norm == "l1" else MOST_NORM**2
    power = 1 if norm == "l1" else 2
    if largest**power * rows >= most:
        refuse(
            "E_LIMITS",
            "the limits of the joined tables multiply to more than can be measured; aggregate one of "
            "them per unit first",
        )
    fine = 2 ** max(0, FINE_BITS + 1 - largest.bit_length())
    while (largest * fine) ** power * rows >= most:
        fine //= 2
    size = Fraction(1) if grid is None else grid.size
    limit = (largest * fine) ** power * rows
    return Contribution(
        cell, grid, limit, fine, step=size / fine, rows=rows if norm == "l1" else isqrt(rows)
    )


def _rows(core: Core, norm: Norm, averaged: bool = False) -> int:
    """The norm of a unit whose rows are all 1, by the limits of sums or of averages; under L2,
    its square.
    """
    groups = groups_by(core.relation, list(core.keys))
    per_group = rows_per_group(core.relation, list(core.keys), averaged)
    declared = limits(core.relation).rows
    rows = _row_limit(declared, groups, per_group, norm)
    if (
        norm == "l2"
        and declared is not None
        and per_group is not None
        and is_multiplied(core.relation)
    ):
        return min(rows, declared * per_group)
    return rows


def _row_limit(rows: int | None, groups: int | None, per_group: int | None, norm: Norm) -> int:
    """min(rows, groups·per_group) under L1; min(rows², groups·per_group²) under L2."""
    if norm == "l1":
        return _known(rows, None if groups is None or per_group is None else groups * per_group)
    return _known(
        None if rows is None else rows**2,
        None if groups is None or per_group is None else groups * per_group**2,
    )


def _known(*numbers: int | None) -> int:
    known = [number for number in numbers if number is not None]
    if not known:
        refuse(
            "E_BOUNDS",
            "the schema limits neither the rows nor the groups of one unit in these tables",
        )
    return min(known)
