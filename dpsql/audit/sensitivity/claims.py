"""Compares the exact cells of one core on two neighbours with its plan's sensitivities.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, assert_never

from dpsql.audit.sensitivity.claim_use import (
    ClaimComparison,
    ClaimUsage,
    distance,
    frequencies,
    levels,
    ranks,
    size_scan_use,
    with_fallback,
)
from dpsql.engines.exact_rows import CoreRows
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.partition_selection import WHOLE
from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    DistinctCount,
    NormClippedSum,
    ProductSum,
    RowCount,
    UnitCount,
)


@dataclass(frozen=True)
class NeighbourRows:
    """The exact rows of a core on one database, by key: counts first, then the bins of histograms."""

    rows: dict[str, tuple[Any, ...]]
    counts: int

    @classmethod
    def of(cls, core: CorePlan, rows: CoreRows) -> NeighbourRows:
        """The rows by key, written so that NaN equals itself and 0.0 does not equal −0.0."""
        width = len(core.core.keys)
        return cls({repr(row[:width]): row[width:] for row in rows}, counted(core))

    def cell(self, key: str, index: int) -> int:
        """The count of a group; 0 if the database lacks the group."""
        row = self.rows.get(key)
        return 0 if row is None else row[index]

    def histogram(self, index: int) -> dict[str, Any]:
        """The bins and counts of one histogram, by group."""
        return {key: row[self.counts + index] for key, row in self.rows.items()}


def counted(core: CorePlan) -> int:
    """The number of integers after the keys in a row of the core."""
    return len(core.cells) + (core.selection is not None)


def compare(core: CorePlan, one: CoreRows, other: CoreRows) -> ClaimComparison:
    """How much the rows of two neighbours use of each claim, and the differences without a claim."""
    first = NeighbourRows.of(core, one)
    second = NeighbourRows.of(core, other)
    if core.selection is None and first.rows.keys() != second.rows.keys():
        return ClaimComparison((), ("public keys differ between neighbours",))
    if not core.core.keys and (len(one), len(other)) != (1, 1):
        return ClaimComparison((), ("a statement without keys gives other than one row",))
    result = ClaimComparison()
    for index, cell in enumerate(core.cells):
        change = changes(first, second, index)
        kind = cell_kind(cell.contribution.cell, cell.mechanism)
        result += ClaimComparison((distance(kind, cell.mechanism, change),))
    if core.selection is not None:
        result += _selection(core, first, second)
    for index, histogram in enumerate(core.histograms):
        sides = first.histogram(index), second.histogram(index)
        match histogram.mechanism:
            case TreeMechanism() as tree:
                result += levels(tree, *sides)
            case QuantileChoices() as ranking:
                result += ranks(ranking, *sides)
            case QuantilesWithFallback() as either:
                result += with_fallback(either, *sides)
            case TopKPeeling() as peeling:
                result += frequencies(peeling, *sides)
            case ClippingBoundSearch() as scan:
                result += size_scan_use(scan, *sides)
            case _:
                assert_never(histogram.mechanism)
    return result


def changes(first: NeighbourRows, second: NeighbourRows, index: int) -> list[int]:
    """The difference of a count in each group of either database."""
    return [
        first.cell(key, index) - second.cell(key, index)
        for key in first.rows.keys() | second.rows.keys()
    ]


def malformed(core: CorePlan, rows: CoreRows) -> tuple[str, ...]:
    """Faults of the rows of one database by themselves."""
    width = len(core.core.keys)
    wrong = []
    counts = width + counted(core)
    if not all(type(cell) is int for row in rows for cell in row[width:counts]):
        wrong.append("a cell is no integer")
    if not all(_is_histogram(listed) for row in rows for listed in row[counts:]):
        wrong.append("a histogram is no list of bins with one of counts")
    if len(NeighbourRows.of(core, rows).rows) < len(rows):
        wrong.append("a key stands twice")
    return tuple(wrong)


def cell_kind(cell: Cell, noise: Mechanism) -> str:
    """The kind of a cell, and the norm of its claim."""
    names: dict[type[Cell], str] = {
        RowCount: "count",
        ClampedSum: "sum",
        UnitCount: "units",
        DistinctCount: "distinct",
        ProductSum: "product",
        NormClippedSum: "norm clipped sum",
    }
    return f"{names[type(cell)]} {noise.norm}"


def _selection(core: CorePlan, first: NeighbourRows, second: NeighbourRows) -> ClaimComparison:
    """Check that a unit counts once in each of at most so many groups.

    In groups that one database lacks, it must count alone. With weights, it must weigh no more in
    those groups than their number allows.
    """
    assert core.selection is not None
    index = len(core.cells)
    wrong = []
    weights = core.selection.weights
    change = changes(first, second, index)
    if any(abs(number) > (1 if weights is None else WHOLE) for number in change):
        wrong.append("a unit counts more than once in a group")
    for one, other in ((first, second), (second, first)):
        lonely = [one.cell(key, index) for key in one.rows.keys() - other.rows.keys()]
        if weights is None and any(number != 1 for number in lonely):
            wrong.append("a group that only one database has holds other than one unit")
        if weights is not None and any(number > weights.weight(len(lonely)) for number in lonely):
            wrong.append("a unit weighs too much in groups that only one database has")
        if any(row[index] < 1 for row in one.rows.values()):
            wrong.append("a group without units is a candidate")
    groups = ClaimUsage(
        "threshold L0", sum(number != 0 for number in change), core.selection.groups
    )
    return ClaimComparison(
        (distance("threshold", core.selection.noise, change), groups), tuple(wrong)
    )


def _is_histogram(listed: Any) -> bool:
    """Whether it is None, or distinct bins in order and as many counts, none of them negative."""
    if listed is None:
        return True
    places, counts = listed
    natural = all(type(number) is int and number >= 0 for number in [*places, *counts])
    return natural and len(places) == len(counts) and list(places) == sorted(set(places))


def largest_claim_use(uses: Sequence[ClaimUsage]) -> float:
    """The largest use of any claim."""
    return max((sqrt(use.ratio) if use.squared else float(use.ratio) for use in uses), default=0.0)
