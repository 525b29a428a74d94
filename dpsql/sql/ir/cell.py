"""The closed union of cells: what is measured of a core for each group, as integers that get noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dpsql.sql.ir.expression import Expression, Scalar


@dataclass(frozen=True, slots=True)
class RowCount:
    """A measured count of rows: those where the argument is not NULL, or all of them."""

    argument: Expression | None
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class UnitCount:
    """A measured count of units: those with at least one row."""

    condition: Expression | None


@dataclass(frozen=True, slots=True)
class DistinctCount:
    """A measured count of the argument's different values, each unit bringing only a few."""

    argument: Expression
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class ClampedSum:
    """A measured sum; ``centred`` counts from the middle of the argument's bounds, which halves the sensitivity."""

    argument: Expression
    condition: Expression | None
    centred: bool


@dataclass(frozen=True, slots=True)
class ProductSum:
    """A measured sum of products: each factor counts from the middle of its bounds. Equal factors give squares."""

    left: Expression
    right: Expression
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Measured counts of the rows whose argument lies in each bin of its range."""

    argument: Expression
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Measured counts of the rows whose argument has each of the values, which are public.

    ``sizes`` tells that the values are places in an order, in which a size is looked for.
    """

    argument: Expression
    values: tuple[Scalar, ...]
    condition: Expression | None
    sizes: bool = False


#: What is measured: each cell is one integer a group, each of which gets noise of its own; the last two are many.
Cell: TypeAlias = RowCount | UnitCount | DistinctCount | ClampedSum | ProductSum | Histogram | Frequencies
