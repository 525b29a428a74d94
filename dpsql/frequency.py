"""How often each value of a public list occurs, read off noisy counts (``docs/proofs/frequencies.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpsql.query.expression import Scalar

#: A map as DuckDB's client takes it.
Map: TypeAlias = dict[str, list[object]]


@dataclass(frozen=True, slots=True)
class Counted:
    """A map from each value to its noisy count."""

    histogram: int
    values: tuple[Scalar, ...]


def counted(values: Sequence[Scalar], counts: Sequence[Fraction]) -> Map:
    """Every value with its count, rounded to whole rows."""
    return {"key": list(values), "value": [round(count) for count in counts]}
