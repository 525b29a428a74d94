"""Which units the cores of a workload can read, told from public conditions.

``docs/proofs/workload.md``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise, product
from typing import TypeAlias

from dpsql.schema import UNIT, Schema
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, Literal, columns, conjuncts
from dpsql.sql.ir.relation import Filter, Join, PerUnit, Relation, Scan, unit_of

#: A value of a column as conditions see it: a point of the number line, a boolean,
#: a text's class, #: or NULL.
Point: TypeAlias = Fraction | bool | str | None
#: What a condition may be, in SQL's three values.
Truth: TypeAlias = frozenset[bool | None]

_ANY: Truth = frozenset({True, False, None})
#: A text that no condition names.
_OTHER = "\0"
_COMPARED = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class UnitConditions:
    """What a core demands of the columns that the unit determines, by ``UNIT`` or table.column."""

    demanded: Mapping[str, tuple[tuple[ColumnRef, Expression], ...]]

    def admits(self, name: str, point: Point) -> bool:
        """Whether rows of a unit with this value may be read; True if no condition forbids it."""
        return all(
            True in _truth(condition, column, point)
            for column, condition in self.demanded.get(name, ())
        )


def conditions(core: Core, schema: Schema) -> UnitConditions:
    """The conditions of a core on the unit itself, and on columns of the unit's own table.

    The key of that table is checked.
    """
    by_column: dict[str, list[tuple[ColumnRef, Expression]]] = {}
    for name, column, condition in _demanded(core.relation, core.unit, schema):
        by_column.setdefault(name, []).append((column, condition))
    return UnitConditions({name: tuple(pairs) for name, pairs in by_column.items()})


def determined(schema: Schema) -> bool:
    """Whether the unit determines the columns of its own table.

    It does if the table has one row for each unit, with a key that opening has checked.
    """
    return schema.tables[schema.unit_table].key == (schema.unit_column,)


def points(every: Sequence[UnitConditions], name: str) -> list[Point]:
    """Values of a column, one at least of each kind that the conditions tell apart, and NULL."""
    pairs = [pair for conditions_ in every for pair in conditions_.demanded.get(name, ())]
    constants = [_point(literal) for _, condition in pairs for literal in _literals(condition)]
    kind = pairs[0][0].type.kind if pairs else "text"
    if kind == "boolean":
        return [True, False, None]
    if kind == "text":
        return [
            *dict.fromkeys(constant for constant in constants if isinstance(constant, str)),
            _OTHER,
            None,
        ]
    numbers = sorted({constant for constant in constants if isinstance(constant, Fraction)})
    between = [(low + high) / 2 for low, high in pairwise(numbers)]
    ends = [numbers[0] - 1, numbers[-1] + 1] if numbers else [Fraction(0)]
    return [*numbers, *between, *ends, None]


def _demanded(
    relation: Relation, unit: ColumnRef, schema: Schema
) -> Iterator[tuple[str, ColumnRef, Expression]]:
    """Conditions that every row fulfils, on columns of scans whose unit is that of the row."""
    known = list[Expression]()
    scans = list[Scan]()
    subqueries = list[PerUnit]()
    _collect(relation, known, scans, subqueries)
    tied = _tied(unit, known)
    for scan in scans:
        if scan.unit is None or (scan.unit.relation, scan.unit.name) not in tied:
            continue
        of_unit_table = scan.table == schema.unit_table and determined(schema)
        for condition in known:
            read_columns = set(columns(condition))
            if len(read_columns) != 1:
                continue
            (column,) = read_columns
            if _meets_the_cut(condition, scan, column):
                continue
            if column == scan.unit:
                yield UNIT, column, condition
            elif of_unit_table and column.relation == scan.alias:
                yield f"{scan.table}.{column.name}", column, condition
    for inner in subqueries:
        child_unit = unit_of(inner.child)
        if (inner.alias, UNIT) in tied and child_unit is not None:
            yield from _demanded(inner.child, child_unit, schema)


def _meets_the_cut(condition: Expression, scan: Scan, column: ColumnRef) -> bool:
    """Whether longer texts of the column may become a constant's.

    They may if a scan reads only so few characters of the column.
    """
    characters = None if scan.cut is None else dict(scan.cut.characters).get(column.name)
    texts = [literal.value for literal in _literals(condition) if isinstance(literal.value, str)]
    return characters is not None and any(len(text) >= characters for text in texts)


def _collect(
    relation: Relation, known: list[Expression], scans: list[Scan], subqueries: list[PerUnit]
) -> None:
    """Collect the conditions that every row fulfils, and what rows are made of.

    Nothing that an outer join may leave out is collected.
    """
    match relation:
        case Scan():
            scans.append(relation)
        case PerUnit():
            subqueries.append(relation)
        case Filter(child=child, condition=condition):
            known.extend(conjuncts(condition))
            _collect(child, known, scans, subqueries)
        case Join(left=first, right=second, kind="inner", condition=condition):
            known.extend(conjuncts(condition))
            _collect(first, known, scans, subqueries)
            _collect(second, known, scans, subqueries)
        case Join(left=outer, kind="left"):
            _collect(outer, known, scans, subqueries)
        case _:
            pass  # nothing is known of the units of other relations, so that they may be any


def _tied(unit: ColumnRef, known: Iterable[Expression]) -> set[tuple[str, str]]:
    """The columns that are equal to the unit of each row, by equalities that every row fulfils."""
    tied = {(unit.relation, unit.name)}
    before = 0
    pairs = [
        [
            (side.relation, side.name)
            for side in equality.arguments
            if isinstance(side, ColumnRef) and side.identifies == UNIT
        ]
        for equality in known
        if isinstance(equality, Call) and equality.function == "="
    ]
    while len(tied) > before:
        before = len(tied)
        for pair in pairs:
            if len(pair) == 2 and tied & set(pair):
                tied |= set(pair)
    return tied


def _truth(condition: Expression, column: ColumnRef, point: Point) -> Truth:
    """All truths that the condition may have for the column's value; too many, never too few."""
    match condition:
        case ColumnRef() if condition == column and column.type.kind == "boolean":
            return frozenset({point if isinstance(point, bool) else None})
        case Call(function="not", arguments=(inner,)):
            return frozenset(
                None if truth is None else not truth for truth in _truth(inner, column, point)
            )
        case Call(function="and" | "or" as function, arguments=arguments):
            sides = [_truth(argument, column, point) for argument in arguments]
            return frozenset(_joined(function, truth) for truth in product(*sides))
        case Call(function="is null", arguments=(ColumnRef() as tested,)) if tested == column:
            return frozenset({point is None})
        case Call(function="in", arguments=(ColumnRef() as tested, *options)) if tested == column:
            sides = [_compared("=", column, point, option) for option in options]
            return (
                frozenset(_joined("or", truth) for truth in product(*sides))
                if len(sides) <= 12
                else _one_of(sides)
            )
        case Call(function=function, arguments=(ColumnRef() as tested, other)) if (
            tested == column and function in _COMPARED
        ):
            return _compared(function, column, point, other)
        case Call(function=function, arguments=(other, ColumnRef() as tested)) if (
            tested == column and function in _TURNED
        ):
            return _compared(_TURNED[function], column, point, other)
        case _:
            return _ANY


_TURNED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _one_of(sides: Sequence[Truth]) -> Truth:
    """A long list of equalities: true where one may be, anything where not all are false."""
    return frozenset({False}) if all(side == {False} for side in sides) else _ANY


def _joined(function: str, values: Iterable[bool | None]) -> bool | None:
    """AND or OR of three-valued truths."""
    known = list(values)
    decides = function == "or"
    if decides in known:
        return decides
    return None if None in known else not decides


def _compared(function: str, column: ColumnRef, point: Point, other: Expression) -> Truth:
    constant = _point(other)
    if point is None:
        return frozenset({None}) if isinstance(other, Literal) else _ANY
    if constant is None or type(constant) is not type(point) or not _fits(column, other):
        return frozenset({None}) if isinstance(other, Literal) and other.value is None else _ANY
    if isinstance(point, str):  # a collation may hold texts of one class for equal, or may not
        if function not in ("=", "<>"):
            return _ANY
        return frozenset({True, False}) if point == constant else frozenset({function == "<>"})
    return frozenset({bool(_COMPARED[function](point, constant))})


def _fits(column: ColumnRef, other: Expression) -> bool:
    """Whether column and constant are of one kind, so that the engine compares them as they are."""
    return isinstance(other, Literal) and other.type.kind == column.type.kind


def _literals(condition: Expression) -> Iterator[Literal]:
    if isinstance(condition, Literal):
        yield condition
    if isinstance(condition, Call):
        for argument in condition.arguments:
            yield from _literals(argument)


def _point(other: Expression) -> Point:
    """A constant as a point; None if it is NULL, or of a kind that is not compared here."""
    if not isinstance(other, Literal):
        return None
    match other.value:
        case bool() as value:
            return value
        case int() as value:
            return Fraction(value)
        case datetime():
            return None
        case date() as value:
            return Fraction(value.toordinal())
        case str() as value:
            plain = unicodedata.normalize("NFKD", value).casefold()
            return "".join(character for character in plain if not unicodedata.combining(character))
        case _:
            return None
