"""How often each value of a public list occurs, read off noisy counts (``docs/proofs/frequencies.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpsql.sql.ir.expression import Scalar

#: A map as DuckDB's client takes it.
Map: TypeAlias = dict[str, list[object]]


@dataclass(frozen=True, slots=True)
class Counted:
    """A map from each value to its noisy count."""

    histogram: int
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Most:
    """The value with the largest noisy count, or a list of the ``most`` that have the largest."""

    histogram: int
    values: tuple[Scalar, ...]
    most: int | None


@dataclass(frozen=True, slots=True)
class Clip:
    """The size at the place that a scan has chosen."""

    histogram: int
    values: tuple[Scalar, ...]


Frequent: TypeAlias = Counted | Most | Clip


def read(frequent: Counted | Most, counts: Sequence[Fraction]) -> object:
    """What is released of noisy counts, one for each value."""
    if isinstance(frequent, Counted):
        return counted(frequent.values, counts)
    order = sorted(range(len(counts)), key=lambda place: -counts[place])
    found = [frequent.values[place] for place in order]
    return found[0] if frequent.most is None else found[: frequent.most]


def picked(frequent: Most | Clip, places: Sequence[int]) -> object:
    """The value that was chosen first, or the list of those that were chosen."""
    found = [frequent.values[place] for place in places]
    return found[0] if isinstance(frequent, Clip) or frequent.most is None else found[: frequent.most]


def counted(values: Sequence[Scalar], counts: Sequence[Fraction]) -> Map:
    """Every value with its count, rounded to whole rows."""
    return {"key": list(values), "value": [round(count) for count in counts]}
