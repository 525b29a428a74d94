"""The closed union of relations: tables, joins, conditions, subqueries for each unit,
sets and constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias, assert_never

from dpsql.schema import UNIT
from dpsql.sql.ir.aggregate_properties import UnitForm
from dpsql.sql.ir.expression import ColumnRef, Expression, Literal


@dataclass(frozen=True, slots=True)
class ContributionLimits:
    """How much one unit may contribute: rows, groups, and rows in one group; None is no limit.

    ``averaged_rows_per_group`` is the most rows in one group that averages have, if it is another
    number. Limits are enforced by clipping, not believed. So a wrong one costs accuracy and never
    privacy.
    """

    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None
    averaged_rows_per_group: int | None = None

    @property
    def of_averages(self) -> ContributionLimits:
        """The limits that averages have."""
        averaged_rows_per_group = self.averaged_rows_per_group
        return (
            self
            if averaged_rows_per_group is None
            else ContributionLimits(self.rows, self.groups, averaged_rows_per_group)
        )


@dataclass(frozen=True, slots=True)
class Hop:
    """One foreign key on the way to the unit: the child's column,
    and the parent table's key under an alias.
    """

    alias: str
    table: str
    child: ColumnRef
    parent: ColumnRef


@dataclass(frozen=True, slots=True)
class Path:
    """How a private table's rows lead to their unit, whichever parents the statement joins itself.

    ``unique`` are the table's own columns whose values stand once in the data,
    as is checked when these are opened.
    """

    hops: tuple[Hop, ...]
    unit: ColumnRef
    unique: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Keep:
    """The row limit of a table, applied before it is joined: how many rows each unit keeps,
    and which columns are read.

    ``owned`` tells that the unit is one of these columns, under the name `ITS_UNIT`;
    ``doubles`` are those of DOUBLE.
    """

    rows: int
    columns: tuple[str, ...]
    owned: bool = False
    doubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextCut:
    """How many characters are read of some text columns of a table,
    and all columns that are read of it.
    """

    characters: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DerivedSize:
    """How many rows a derived table has at most; None where that is not known beforehand.

    It is the sum of these products, of a number and the rows of public tables. The columns of
    ``key`` have different values together in each row; None where that is not known. ``columns``
    are those whose value stands in no more rows than it does in a column of a public table: the
    name, the table and its column.
    """

    products: tuple[tuple[int, tuple[str, ...]], ...] | None
    key: frozenset[str] | None = None
    columns: tuple[tuple[str, str, str], ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PublicRange:
    """A range of values that each row of a public source has,
    in which a value of a private row has to lie.

    ``closed`` tells that both ends belong to it.
    """

    low: Expression
    high: Expression
    closed: bool


@dataclass(frozen=True, slots=True)
class GroupPartners:
    """What these ``columns`` of a public source leave of it, if a row meets several of its rows.

    A row meets at most ``most`` of those with one value in each column; ``values`` is how many
    different values the columns have together at most.
    """

    columns: tuple[str, ...]
    most: int
    values: int


@dataclass(frozen=True, slots=True)
class Partners:
    """How many rows of a public source one row meets, of those that are joined before it:
    at most ``most``.

    ``through`` are the public sources among these with which conditions equate it. ``rows`` is how
    many rows of it can be met at all. ``groups`` tells of the columns that the keys of the
    statement read.
    """

    most: int
    rows: int
    through: tuple[str, ...] = ()
    groups: tuple[GroupPartners, ...] = ()


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows of one table; if it is private, joined with the parents that lead to its unit.

    ``multiplies`` is false if each row of the other tables in the join meets at most one row of
    this one. ``derived`` is true if the table is made of released and public rows
    (`dpsql.sql.binder.sources.derived_tables`). ``path`` is the whole way to the unit;
    ``hops`` are the parents that the statement does not join itself. ``keep`` holds each unit to so
    many rows before they are joined, and ``cut`` shortens texts as they are read
    (`dpsql.sql.analysis.work.limits`). ``size`` is that of a derived table, and ``noisy`` tells
    that it is made of released rows, which are not SQL's. ``partners`` of a public source that is
    joined with private rows is set if these meet several of its rows
    (`dpsql.sql.analysis.public_partners`). Both are no part of what the relation means.
    """

    alias: str
    table: str
    hops: tuple[Hop, ...] = ()
    unit: ColumnRef | None = None
    limits: ContributionLimits = ContributionLimits(1, 1, 1)
    multiplies: bool = True
    derived: bool = False
    path: Path | None = None
    keep: Keep | None = None
    cut: TextCut | None = None
    size: DerivedSize | None = None
    partners: Partners | None = field(default=None, compare=False, repr=False)
    noisy: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows for which the condition holds;
    ``left`` keeps the left rows that have no partner, ``full`` all.

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

    @property
    def reads(self) -> tuple[Expression, ...]:
        """All expressions that it is made of."""
        return tuple(
            expression for expression in (self.argument, self.condition) if expression is not None
        )


@dataclass(frozen=True, slots=True)
class PerUnit:
    """A subquery that groups by the unit (and perhaps more): aggregates of each unit's own rows.

    The unit is carried along under the name ``unit``.
    """

    alias: str
    child: Relation
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, UnitAggregate], ...]
    partners: Partners | None = field(default=None, compare=False, repr=False)

    @property
    def further_keys(self) -> tuple[tuple[str, Expression], ...]:
        """The keys by which a unit may have several rows: all but those that hold the unit."""
        return tuple(
            pair
            for pair in self.keys
            if not (isinstance(pair[1], ColumnRef) and pair[1].identifies == UNIT)
        )


@dataclass(frozen=True, slots=True)
class Groups:
    """A subquery that groups by keys of private rows,
    so that a group may have rows of several units.

    Each unit is held to its rows in ``touched`` groups, so it changes at most so many rows of this
    relation. ``names`` are what the statement calls the keys. The relation stands in a core alone,
    under filters, and its rows have no unit: what is measured of them is bounded by ``touched``,
    not by clipping (``docs/proofs/groups.md``).
    """

    alias: str
    child: Compound
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, UnitAggregate], ...]
    touched: int
    names: tuple[str, ...] = ()
    partners: Partners | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """One SELECT of a compound: its columns in order, and its unit (None if it is public)."""

    relation: Relation
    unit: Expression | None
    columns: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Compound:
    """One SELECT, or several put together row by row (``union all``) or as sets within each unit.

    The unit is carried along under the name ``unit``, the columns are called ``c0``,
    ``c1`` and so on.
    """

    alias: str
    operator: OneOf["union all", "union", "intersect", "intersect all", "except", "except all"]
    branches: tuple[Branch, ...]
    partners: Partners | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constants:
    """Rows of constants that the statement lists, with columns called ``c0``, ``c1`` and so on."""

    alias: str
    rows: tuple[tuple[Literal, ...], ...]
    partners: Partners | None = field(default=None, compare=False, repr=False)


Leaf: TypeAlias = Scan | PerUnit | Groups | Compound | Constants
Relation: TypeAlias = Leaf | Join | Filter


#: Stands for the unit of rows that are made of those of several units. No such column exists, so
#: the engine refuses SQL that reads it.
NO_UNIT = "no unit"


def groups_in(relation: Relation) -> Groups | None:
    """The groups of several units' rows that the relation has as its rows;
    None if its rows have one unit each.
    """
    while isinstance(relation, Filter):
        relation = relation.child
    return relation if isinstance(relation, Groups) else None


def unit_of(relation: Relation) -> ColumnRef | None:
    """The column that holds the one unit of each row; None if the relation is public."""
    match relation:
        case Scan(unit=unit):
            return unit
        case Join(left=left_side, right=right_side):
            return unit_of(left_side) or unit_of(right_side)
        case Filter(child=child):
            return unit_of(child)
        case PerUnit(alias=alias, child=child):
            unit = unit_of(child)
            return None if unit is None else ColumnRef(alias, UNIT, unit.type, identifies=UNIT)
        case Groups(alias=alias, child=child):
            unit = unit_of(child)
            return None if unit is None else ColumnRef(alias, NO_UNIT, unit.type)
        case Compound(alias=alias, branches=(Branch(unit=owner), *_)):
            return None if owner is None else ColumnRef(alias, UNIT, owner.type, identifies=UNIT)
        case Compound() | Constants():
            return None
        case _:
            assert_never(relation)
