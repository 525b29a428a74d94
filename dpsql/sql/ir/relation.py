"""The closed union of relations that a core may read, and the aggregates that it releases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias, assert_never

from dpsql.schema import UNIT
from dpsql.sql.ir.aggregate import AggregateFunction
from dpsql.sql.ir.expression import Column, Expression, Literal, Scalar
from dpsql.sql.ir.unit_function import UnitForm


@dataclass(frozen=True, slots=True)
class ContributionLimits:
    """How much one unit may contribute: rows in all, groups it may touch, rows in one group; None is no limit.

    Limits are enforced by clipping, not believed. So a wrong one costs accuracy and never privacy.
    """

    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None


@dataclass(frozen=True, slots=True)
class Hop:
    """One foreign key on the way to the unit: the child's column, and the parent table's key under an alias."""

    alias: str
    table: str
    child: Column
    parent: Column


@dataclass(frozen=True, slots=True)
class Path:
    """How a private table's rows lead to their unit, whichever parents the statement joins itself.

    ``unique`` are the table's own columns whose values stand once in the data, as is checked when these are opened.
    """

    hops: tuple[Hop, ...]
    unit: Column
    unique: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Keep:
    """The most rows that each unit keeps of a table, and the columns that are read of them.

    ``owned`` tells that the unit is one of them, under the name `ITS_UNIT`.
    """

    rows: int
    columns: tuple[str, ...]
    owned: bool = False


@dataclass(frozen=True, slots=True)
class TextCut:
    """How many characters are read of some text columns of a table, and all columns that are read of it."""

    characters: int
    texts: frozenset[str]
    columns: tuple[str, ...]


#: The unit of a row of a table whose parents are joined inside of it; no column of a schema has such a name.
ITS_UNIT = "its unit"


@dataclass(frozen=True, slots=True)
class DerivedSize:
    """How many rows a derived table has at most; None where that is not known beforehand.

    It is the sum of these products, of a number and the rows of public tables. The columns of ``key`` have different
    values together in each row; None where that is not known.
    """

    products: tuple[tuple[int, tuple[str, ...]], ...] | None
    key: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of one table; where it is private, joined with the parents that lead to its unit.

    ``multiplies`` is false where each row of the other tables in the join meets at most one row of this one.
    ``derived`` is true where the table is made of released and public rows (`dpsql.sql.binder.sources.derived_tables`).
    ``path`` is the whole way to the unit, where ``hops`` are the parents that the statement does not join itself.
    ``keep`` holds each unit to so many rows before they are joined, and ``cut`` shortens texts as they are read
    (`dpsql.sql.analysis.work.rows`). ``size`` is that of a derived table.
    """

    alias: str
    table: str
    hops: tuple[Hop, ...] = ()
    unit: Column | None = None
    limits: ContributionLimits = ContributionLimits(1, 1, 1)
    multiplies: bool = True
    derived: bool = False
    path: Path | None = None
    keep: Keep | None = None
    cut: TextCut | None = None
    size: DerivedSize | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows for which the condition holds; ``left`` keeps the left rows that have no partner, ``full`` all.

    A full join stands in a branch of a `Compound` only, which names the unit of its rows.
    """

    left: Relation
    right: Relation
    kind: OneOf["inner", "left", "full"]
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which the condition holds."""

    child: Relation
    condition: Expression


@dataclass(frozen=True, slots=True)
class UnitAggregate:
    """An exact aggregate over the rows of one unit; it stays private."""

    function: UnitForm
    argument: Expression | None
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class PerUnit:
    """A subquery that groups by the unit (and perhaps more): aggregates of each unit's own rows.

    The unit is carried along under the name ``unit``.
    """

    alias: str
    child: Relation
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, UnitAggregate], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """One SELECT of a compound: the unit of its rows, None where it is public, and its columns in order."""

    relation: Relation
    unit: Expression | None
    columns: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Compound:
    """One SELECT, or several put together row by row (``union all``) or as sets within each unit.

    The unit is carried along under the name ``unit``, the columns are called ``c0``, ``c1`` and so on.
    """

    alias: str
    operator: OneOf["union all", "union", "intersect", "intersect all", "except", "except all"]
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """Rows of constants that the statement lists, with columns called ``c0``, ``c1`` and so on."""

    alias: str
    rows: tuple[tuple[Literal, ...], ...]


Leaf: TypeAlias = Scan | PerUnit | Compound | Constants
Relation: TypeAlias = Leaf | Join | Filter


def unit_of(relation: Relation) -> Column | None:
    """The column that holds the one unit of each row; None where the relation is public."""
    match relation:
        case Scan(unit=unit):
            return unit
        case Join(left=left, right=right):
            return unit_of(left) or unit_of(right)
        case Filter(child=child):
            return unit_of(child)
        case PerUnit(alias=alias, child=child):
            unit = unit_of(child)
            return None if unit is None else Column(alias, UNIT, unit.type, identifies=UNIT)
        case Compound(alias=alias, branches=(Branch(unit=owner), *_)):
            return None if owner is None else Column(alias, UNIT, owner.type, identifies=UNIT)
        case Compound() | Constants():
            return None
        case _:
            assert_never(relation)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which quantiles are asked for: numbers from 0 to 1, counted from the largest value on where ``descending``.

    ``continuous`` ones lie between two values; ``listed`` ones are one list. ``edge`` is MIN (0) or MAX (1).
    """

    fractions: tuple[Fraction, ...]
    continuous: bool = False
    listed: bool = False
    descending: bool = False
    edge: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One private aggregate as the analyst wrote it.

    COUNT(*) and a count of units have no argument; a truth value has a condition for its argument. ``other`` is the
    second argument of a statistic of pairs; quantiles have ranks. Frequencies have the public values of their argument;
    ``most`` is the k of APPROX_TOP_K. A size has for its argument the place of a row's size among sizes, and these as
    values.
    """

    function: AggregateFunction
    argument: Expression | None
    condition: Expression | None
    other: Expression | None = None
    ranks: Ranks | None = None
    values: tuple[Scalar, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Days:
    """The days from ``first`` on, ``count`` of them, and NULL where the value they stand for may be NULL."""

    first: date
    count: int
    nullable: bool


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Every value that an expression of private rows may show, under the column that stands for it in a domain.

    ``double`` tells that the expression is a DOUBLE in the engine, whatever its type.
    """

    column: Column
    values: tuple[Scalar, ...] | Days
    double: bool

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.values.count + self.values.nullable if isinstance(self.values, Days) else len(self.values)


@dataclass(frozen=True, slots=True)
class KeyDomain:
    """Every key that a core shows, whatever the data hold.

    ``keys`` are the core's keys as expressions over ``enumerated`` values and public ``tables`` alone; ``conditions``,
    over the same, narrow them. ``count`` is at most how many there are, None where public tables have a say.
    ``declared`` tells of each key whether the owner or the statement lists its values, so that each of them is a group;
    ``kept`` that an outer join keeps the public rows that all keys are read from, so that SQL has each group too.
    """

    keys: tuple[Expression, ...]
    enumerated: tuple[Enumerated, ...]
    tables: tuple[Leaf, ...]
    conditions: tuple[Expression, ...]
    count: int | None
    declared: tuple[bool, ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Core:
    """One maximal aggregate over private rows: what is measured, by which keys, with which keys shown.

    ``domain`` None, with keys, means that keys appear by a thresholded count of units.
    """

    relation: Relation
    unit: Column
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    domain: KeyDomain | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A measured count of rows: those where the argument is not NULL, or all of them."""

    argument: Expression | None
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Units:
    """A measured count of units: those with at least one row."""

    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Distinct:
    """A measured count of the argument's different values, each unit bringing only a few."""

    argument: Expression
    condition: Expression | None


@dataclass(frozen=True, slots=True)
class Total:
    """A measured sum; ``centred`` counts from the middle of the argument's bounds, which halves the sensitivity."""

    argument: Expression
    condition: Expression | None
    centred: bool


@dataclass(frozen=True, slots=True)
class Product:
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
Cell: TypeAlias = Rows | Units | Distinct | Total | Product | Histogram | Frequencies
