"""Counts what clamping and limits leave out: rows beyond the bounds, units beyond the limits.

The counts are cores of their own, next to those of the answer. Proved in
``docs/proofs/clipped.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.analysis.contribution import Norm, averages_differ, held_rows
from dpsql.sql.analysis.stability import groups_by, limits, rows_per_group
from dpsql.sql.ir.aggregate import COUNT, COUNT_DISTINCT, NORM, NORM_CLIPPED_SUM, UNITS
from dpsql.sql.ir.aggregate_properties import UnitFunction, is_average
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    Call,
    ColumnRef,
    Expression,
    Literal,
    conjunction,
)
from dpsql.sql.ir.relation import Filter, PerUnit, Relation, UnitAggregate, groups_in, unit_of

#: Stands for the units of a relation, each with the number of its rows; for its groups,
#: and for the #: rows in one.
_UNITS = "units"
_GROUPS = "groups"
_ROWS = "rows"

#: What is counted: rows beyond bounds; units with too many rows, with rows in too many groups,
#: with #: too many values.
Kind: TypeAlias = OneOf["rows", "units", "groups", "values"]


@dataclass(frozen=True)
class LeftOut:
    """One entry of the clipping report: a count of rows or units that an answer leaves out in part.

    The count is an aggregate of a core that is measured beside those of the statement. Rows are
    counted that lie beyond the bounds ``low`` and ``high`` of ``name``; units are counted that have
    more than ``high`` rows, groups, or different values of ``name``. Of units with too many rows
    ``name`` tells in what they count in part, if not in all. The aggregate ``whole`` of the core
    ``whole_core`` counts all rows or units.
    """

    kind: Kind
    name: str
    low: Fraction
    high: Fraction
    core: int
    aggregate: int
    whole_core: int
    whole: int


def clipped(cores: Sequence[Core], norm: Norm) -> tuple[tuple[Core, ...], tuple[LeftOut, ...]]:
    """The cores that count what the given ones leave out, and what their aggregates count."""
    report_cores: list[Core] = []
    left_out: list[LeftOut] = []
    for relation in dict.fromkeys(
        core.relation for core in cores if groups_in(core.relation) is None
    ):
        relation_cores = [core for core in cores if core.relation == relation]
        for counting, counts in (
            _rows_beyond(relation, relation_cores),
            *_units_beyond(relation, relation_cores, norm),
        ):
            first = len(cores) + len(report_cores)
            left_out += [
                replace(count, core=first, whole_core=first + count.whole_core) for count in counts
            ]
            report_cores += counting
    return tuple(report_cores), tuple(left_out)


#: Cores, and what the first of them counts;
#: ``whole_core`` says how far behind it the core of the #: whole is.
_Counting: TypeAlias = tuple[tuple[Core, ...], list[LeftOut]]


def _rows_beyond(relation: Relation, cores: Sequence[Core]) -> _Counting:
    """Count each clamped number's rows beyond the bounds in one core, and all in another.

    In one core, both counts of a unit above its limit would be scaled by the number of all its
    rows.
    """
    if limits(relation).rows is None and rows_per_group(relation, []) is None:
        return (), []  # nothing bounds a count over all groups
    outside = list(
        dict.fromkeys(
            aggregates
            for core in cores
            for aggregate in core.aggregates
            for aggregates in _outside(aggregate)
        )
    )
    wholes = list(dict.fromkeys(all_values for *_, all_values in outside))
    if not outside:
        return (), []
    counts = [Aggregate(COUNT, None, beyond) for *_, beyond, _ in outside]
    all_rows = [Aggregate(COUNT, None, all_values) for all_values in wholes]
    count_cores = (
        Core(relation, cores[0].unit, (), tuple(aggregates), domain=None)
        for aggregates in (counts, all_rows)
    )
    return tuple(count_cores), [
        LeftOut(
            "rows",
            name,
            low=low,
            high=high,
            core=0,
            aggregate=index,
            whole_core=1,
            whole=wholes.index(all_values),
        )
        for index, (name, low, high, _, all_values) in enumerate(outside)
    ]


#: For a number that is clamped its name, its bounds,
#: and the conditions of the rows beyond them and #: of all its rows.
_Beyond: TypeAlias = tuple[str, Fraction, Fraction, Expression | None, Expression | None]


def _outside(aggregate: Aggregate) -> list[_Beyond]:
    result: list[_Beyond] = []
    for argument in (aggregate.argument, aggregate.other):
        if argument is None or not argument.type.is_numeric or not aggregate.function.clamps:
            continue
        ends = bounds(argument)
        if ends.low is None or ends.high is None:
            continue
        conditions = [] if aggregate.condition is None else [aggregate.condition]
        beyond = Call(
            "or", (_compared("<", argument, ends.low), _compared(">", argument, ends.high)), BOOLEAN
        )
        has_value = [_present(argument)] if is_nullable(argument) else []
        has_argument = conjunction([*conditions, *has_value])
        result.append(
            (
                _name(argument) or "what is added up",
                ends.low,
                ends.high,
                conjunction([*conditions, beyond]),
                has_argument,
            )
        )
    return result


def _name(argument: Expression) -> str | None:
    """The analyst's name of the argument; None if it is no column or dpsql has named it."""
    named = isinstance(argument, ColumnRef) and re.fullmatch(r"[ackv]\d+", argument.name) is None
    return argument.name if isinstance(argument, ColumnRef) and named else None


def _present(argument: Expression) -> Expression:
    return Call("not", (Call("is null", (argument,), BOOLEAN),), BOOLEAN)


def _compared(operator: str, argument: Expression, end: Fraction) -> Expression:
    is_integer = argument.type.kind == "integer" and end.denominator == 1
    return Call(
        operator,
        (argument, Literal(int(end), INTEGER) if is_integer else Literal(float(end), DOUBLE)),
        BOOLEAN,
    )


def _units_beyond(relation: Relation, cores: Sequence[Core], norm: Norm) -> Iterator[_Counting]:
    """Counts of the units above each limit of the cores, each with that of all units."""
    rows = dict[int, str]()
    for averaged in (False, True):
        measures = {
            (held_rows(core, norm, averaged), averaged and averages_differ(core, norm))
            for core in cores
            if _adds_rows(core, averaged)
        }
        known = [(most, apart) for most, apart in measures if most is not None]
        if known:
            most, apart = min(known)
            rows.setdefault(most, "averages" if apart else "")
    for most in () if _is_one_row_each(relation) else sorted(rows):
        yield _above(relation, "units", rows[most], most)
    seen = set()
    for core in cores:
        for kind, name, keys, most in _held_groups(core):
            few = limits(relation).rows
            if (keys, most) not in seen and (not rows or few is None or most < few):
                seen.add((keys, most))
                yield _above(_different(relation, keys, kind), kind, name, most)


def _held_groups(core: Core) -> Iterator[tuple[Kind, str, tuple[Expression, ...], int]]:
    """Each limit of the core on the groups, or the different values, that a unit counts in."""
    declared = limits(core.relation).rows
    by_units = any(aggregate.function is UNITS for aggregate in core.aggregates)
    groups = groups_by(core.relation, list(core.keys))
    if core.keys and groups is not None and (core.domain is None or by_units):
        yield "groups", "", core.keys, groups
    for aggregate in core.aggregates:
        if aggregate.function is COUNT_DISTINCT and aggregate.argument is not None:
            keys = (*core.keys, aggregate.argument)
            pairs = groups_by(core.relation, list(keys))
            bounds = [bound for bound in (pairs, declared) if bound is not None]
            if bounds:
                yield "values", _name(aggregate.argument) or "what is counted", keys, min(bounds)


def _different(relation: Relation, keys: tuple[Expression, ...], kind: Kind) -> Relation:
    """The groups of each unit, one row a group; of counted values those that are not NULL."""
    rows = (
        Filter(relation, _present(keys[-1]))
        if kind == "values" and is_nullable(keys[-1])
        else relation
    )
    return PerUnit(_GROUPS, rows, tuple((f"k{index}", key) for index, key in enumerate(keys)), ())


def _adds_rows(core: Core, averaged: bool) -> bool:
    """Whether an aggregate of the core limits units to a number of rows, not to a norm.

    ``averaged`` chooses averages; otherwise the other aggregates are meant.
    """
    norms = (NORM, NORM_CLIPPED_SUM)
    return any(
        not aggregate.function.ignores_repeated_rows
        and aggregate.function not in norms
        and is_average(aggregate.function.measure) == averaged
        for aggregate in core.aggregates
    )


def _is_one_row_each(relation: Relation) -> bool:
    """Whether no unit has more than one row because the statement groups by it."""
    match relation:
        case PerUnit(keys=keys):
            return not keys
        case Filter(child=child):
            return _is_one_row_each(child)
        case _:
            return False


def _above(relation: Relation, kind: Kind, name: str, most: int) -> _Counting:
    """The number of units with more than ``most`` rows, and of all units in the relation."""
    rows = PerUnit(_UNITS, relation, (), ((_ROWS, UnitAggregate(UnitFunction.COUNT, None, None)),))
    more = Call(">", (ColumnRef(_UNITS, _ROWS, INTEGER), Literal(most, INTEGER)), BOOLEAN)
    unit = unit_of(rows)
    assert unit is not None
    core = Core(
        rows, unit, (), (Aggregate(UNITS, None, more), Aggregate(UNITS, None, None)), domain=None
    )
    return (core,), [
        LeftOut(
            kind,
            name,
            low=Fraction(0),
            high=Fraction(most),
            core=0,
            aggregate=0,
            whole_core=0,
            whole=1,
        )
    ]
