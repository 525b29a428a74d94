"""What clamping and limits leave out of an answer, as cores beside it: rows beyond the bounds, units beyond the limits.

Proved in ``docs/proofs/clipped.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.query.bounds import bounds
from dpsql.query.expression import BOOLEAN, DOUBLE, INTEGER, Call, Column, Expression, Literal, conjunction
from dpsql.query.relation import Aggregate, Core, Filter, PerUnit, Relation, UnitAggregate, unit_of
from dpsql.query.stability import limits

#: Stands for the units of a relation, each with the number of its rows.
_UNITS, _ROWS = "units", "rows"


@dataclass(frozen=True)
class LeftOut:
    """A measured count of what an answer leaves out in part: an aggregate of a core beside those of the statement.

    Rows are beyond the bounds ``low`` and ``high`` of ``name``; units have more rows than ``high``.
    """

    kind: OneOf["rows", "units"]
    name: str
    low: Fraction
    high: Fraction
    core: int
    aggregate: int


def clipped(cores: Sequence[Core]) -> tuple[tuple[Core, ...], tuple[LeftOut, ...]]:
    """The cores that count what the given ones leave out, and what each of their aggregates counts."""
    beside: list[Core] = []
    told: list[LeftOut] = []
    for relation in dict.fromkeys(core.relation for core in cores):
        most = limits(relation).rows
        if most is None:
            continue
        own = [core for core in cores if core.relation == relation]
        outside = {each: None for core in own for aggregate in core.aggregates for each in _outside(aggregate)}
        unit = own[0].unit
        if outside:
            place = len(cores) + len(beside)
            beside.append(Core(relation, unit, (), tuple(each[3] for each in outside), None))
            told += [LeftOut("rows", name, low, high, place, number)
                     for number, (name, low, high, _) in enumerate(outside)]  # fmt: skip
        if not _is_one_row_each(relation):
            told.append(LeftOut("units", "", Fraction(0), Fraction(most), len(cores) + len(beside), 0))
            beside.append(_above(relation, most))
    return tuple(beside), tuple(told)


def _outside(aggregate: Aggregate) -> list[tuple[str, Fraction, Fraction, Aggregate]]:
    """For each number that the aggregate clamps, its name, its bounds, and the count of rows beyond them."""
    found = []
    for argument in (aggregate.argument, aggregate.other):
        if argument is None or not argument.type.is_numeric or aggregate.function in _UNCLAMPED:
            continue
        ends = bounds(argument)
        if ends.low is None or ends.high is None:
            continue
        beyond = Call("or", (_compared("<", argument, ends.low), _compared(">", argument, ends.high)), BOOLEAN)
        where = beyond if aggregate.condition is None else conjunction([aggregate.condition, beyond])
        named = isinstance(argument, Column) and re.fullmatch(r"[ac]\d+", argument.name) is None
        name = argument.name if isinstance(argument, Column) and named else "what is added up"
        found.append((name, ends.low, ends.high, Aggregate("count", None, where)))
    return found


#: Aggregates that take values as they are.
_UNCLAMPED = frozenset(
    {"count", "units", "count distinct", "every", "some", "histogram", "mode", "top k", "regr_count"}
)


def _compared(operator: str, argument: Expression, end: Fraction) -> Expression:
    whole = argument.type.kind == "integer" and end.denominator == 1
    return Call(operator, (argument, Literal(int(end), INTEGER) if whole else Literal(float(end), DOUBLE)), BOOLEAN)


def _is_one_row_each(relation: Relation) -> bool:
    """Whether no unit has more than one row because the statement groups by it."""
    match relation:
        case PerUnit(keys=keys):
            return not keys
        case Filter(child=child):
            return _is_one_row_each(child)
        case _:
            return False


def _above(relation: Relation, most: int) -> Core:
    """The number of units with more rows than ``most``."""
    rows = PerUnit(_UNITS, relation, (), ((_ROWS, UnitAggregate("count", None, None)),))
    more = Call(">", (Column(_UNITS, _ROWS, INTEGER), Literal(most, INTEGER)), BOOLEAN)
    unit = unit_of(rows)
    assert unit is not None
    return Core(Filter(rows, more), unit, (), (Aggregate("units", None, None),), None)
