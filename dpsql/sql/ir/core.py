"""A core: one maximal aggregate over private rows, its released keys and its measured cells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from dpsql.sql.ir.aggregate_properties import AggregateFunction
from dpsql.sql.ir.expression import ColumnRef, Expression, Scalar
from dpsql.sql.ir.relation import Leaf, Relation


@dataclass(frozen=True, slots=True)
class Ranks:
    """The quantiles asked for: numbers from 0 to 1, from the largest value if ``descending``.

    ``continuous`` ones lie between two values; ``listed`` ones are one list. ``edge`` is MIN (0) or MAX (1).
    """

    fractions: tuple[Fraction, ...]
    continuous: bool = False
    listed: bool = False
    descending: bool = False
    edge: bool = False


@dataclass(frozen=True, slots=True)
class JoinedText:
    """How values become one text: what stands between two, and whether the greatest comes first."""

    separator: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One private aggregate as the analyst wrote it.

    COUNT(*) and a count of units have no argument; a truth value has a condition for its argument.
    ``other`` is the second argument of a statistic of pairs; quantiles have ranks. Frequencies have
    the public values of their argument; ``most`` is the k of APPROX_TOP_K, and ``joined`` tells how
    STRING_AGG joins them. A size has for its argument the place of a row's size among sizes, and
    these as values. A norm has the sizes as values, too, and is that of a unit's sums by
    ``groups``; a sum that is clipped to a norm has this one, which was released before, as
    ``other``.
    """

    function: AggregateFunction
    argument: Expression | None
    condition: Expression | None
    other: Expression | None = None
    ranks: Ranks | None = None
    values: tuple[Scalar, ...] = ()
    most: int | None = None
    joined: JoinedText | None = None
    groups: tuple[Expression, ...] = ()

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All expressions that it is made of."""
        return (
            *(
                expression
                for expression in (self.argument, self.other, self.condition)
                if expression is not None
            ),
            *self.groups,
        )


@dataclass(frozen=True, slots=True)
class Days:
    """The ``count`` days from ``first`` on, and NULL if the value they stand for is nullable."""

    first: date
    count: int
    nullable: bool


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Every value of an expression of private rows, and the column that replaces it in a domain.

    ``double`` tells that the expression is a DOUBLE in the engine, whatever its type.
    """

    column: ColumnRef
    values: tuple[Scalar, ...] | Days
    double: bool

    @property
    def count(self) -> int:
        """How many values there are."""
        return (
            self.values.count + self.values.nullable
            if isinstance(self.values, Days)
            else len(self.values)
        )


@dataclass(frozen=True, slots=True)
class KeyDomain:
    """Every key that a core shows, whatever the data hold.

    ``keys`` are the core's keys as expressions over ``enumerated`` values and public ``tables``
    alone; ``conditions``, over the same, narrow them. ``count`` is the most keys that there can be,
    None if it depends on public tables. ``declared`` tells of each key whether the owner or the
    statement lists its values, so that each value is a group. ``nulls`` tells of each whether its
    NULL needs evidence all the same, because nobody lists that. ``kept`` tells that an outer join
    keeps the public rows that all keys are read from, so that SQL shows each group too.
    """

    keys: tuple[Expression, ...]
    enumerated: tuple[Enumerated, ...]
    tables: tuple[Leaf, ...]
    conditions: tuple[Expression, ...]
    count: int | None
    declared: tuple[bool, ...] = ()
    kept: bool = False
    nulls: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Core:
    """One maximal aggregate over private rows: what is measured, by which keys, and which show.

    ``domain`` None, with keys, means that keys appear by a thresholded count of units.
    """

    relation: Relation
    unit: ColumnRef
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    domain: KeyDomain | None


@dataclass(frozen=True, slots=True)
class RowCount:
    """A measured count of rows: those whose argument is not NULL, or all of them.

    Of this cell and the next two, those that are ``averaged`` are read by averages alone,
    and have the limits of these.
    """

    argument: Expression | None
    condition: Expression | None
    averaged: bool = False


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
    """A measured sum; ``centred`` counts from the middle of the bounds: half the sensitivity."""

    argument: Expression
    condition: Expression | None
    centred: bool
    averaged: bool = False


@dataclass(frozen=True, slots=True)
class NormClippedSum:
    """A measured sum in parts of a ``norm``, released before, that clips each unit's vector."""

    argument: Expression
    condition: Expression | None
    norm: Expression


@dataclass(frozen=True, slots=True)
class ProductSum:
    """A measured sum of products of factors, each from the middle of its bounds.

    Equal factors give squares.
    """

    left: Expression
    right: Expression
    condition: Expression | None
    averaged: bool = False


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


@dataclass(frozen=True, slots=True)
class UnitNorms:
    """Measured counts of the units by their norm's size: ``sizes`` sizes from one ``step`` on.

    The norm is that of the vector of the unit's sums by ``groups``.
    """

    argument: Expression
    groups: tuple[Expression, ...]
    condition: Expression | None
    step: Fraction
    sizes: int


def is_averaged(cell: Cell) -> bool:
    """Whether averages alone read the cell, with limits of their own."""
    return isinstance(cell, RowCount | ClampedSum | ProductSum) and cell.averaged


#: What is measured as a list of counts.
CountList: TypeAlias = Histogram | Frequencies | UnitNorms
#: What is measured: each cell is one integer a group, or a list of them; each integer gets noise of
#: its own.
Cell: TypeAlias = (
    RowCount | UnitCount | DistinctCount | ClampedSum | ProductSum | NormClippedSum | CountList
)
