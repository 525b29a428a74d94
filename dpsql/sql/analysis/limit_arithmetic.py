"""Limits that are put together: sums, products and the larger of them, where None is no limit.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.sql.ir.relation import ContributionLimits


def least(*numbers: int | None) -> int | None:
    """The least of the limits; None if there is none."""
    known = [number for number in numbers if number is not None]
    return min(known) if known else None


def times(one: int | None, other: int | None) -> int | None:
    """The product; None if one factor has no limit."""
    return None if one is None or other is None else one * other


def total(numbers: Sequence[int | None]) -> int | None:
    """The sum; None if one part has no limit."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def row_limit(declared: ContributionLimits) -> int | None:
    """The most rows of one unit that the limits allow; None where they leave it open."""
    if declared.groups is None or declared.rows_per_group is None:
        return declared.rows
    return least(declared.rows, declared.groups * declared.rows_per_group)


def most_groups(declared: ContributionLimits) -> int | None:
    """The most groups of a unit: it has no more than rows."""
    return least(declared.groups, declared.rows)


def most_in_group(declared: ContributionLimits) -> int | None:
    """The most rows of a unit in one group: it has no more than in all."""
    return least(declared.rows_per_group, declared.rows)


def product_of(one: ContributionLimits, other: ContributionLimits) -> ContributionLimits:
    """The limits of all pairs of rows."""
    return ContributionLimits(
        times(one.rows, other.rows),
        times(most_groups(one), most_groups(other)),
        times(most_in_group(one), most_in_group(other)),
    )


def sum_of(one: ContributionLimits, other: ContributionLimits) -> ContributionLimits:
    """The limits of the rows of both."""
    return ContributionLimits(
        total([one.rows, other.rows]),
        total([most_groups(one), most_groups(other)]),
        total([most_in_group(one), most_in_group(other)]),
    )


def larger_of(one: ContributionLimits, other: ContributionLimits) -> ContributionLimits:
    """The larger of each limit."""

    def larger(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else max(a, b)

    return ContributionLimits(
        larger(one.rows, other.rows),
        larger(one.groups, other.groups),
        larger(one.rows_per_group, other.rows_per_group),
    )
