"""A core whose rows are multiplied: each unit keeps no more rows of a table than it may, and texts are no longer.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import assert_never

from dpsql.schema import UNIT
from dpsql.sql.analysis.stability import row_limit
from dpsql.sql.ir.expression import INTEGER, TEXT, Call, Column, Expression, Literal, Subquery, parts, rebuilt
from dpsql.sql.ir.reads import expressions_of
from dpsql.sql.ir.relation import (
    ITS_UNIT,
    Aggregate,
    Branch,
    Compound,
    Constants,
    Core,
    Filter,
    Join,
    Keep,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
)


def held(core: Core, names: Collection[str], longest: int | None) -> Core:
    """The core with each of these tables, which have a limit of rows, held to it, and texts cut to ``longest``.

    A unit above the limit keeps the rows that come first in an order by keyed hash over what the core reads of them.
    Texts that are compared with each other for equality are not cut: a join by them stays the same.
    """
    return _Truncation(core, names, longest).core


class _Truncation:
    """A core while some of its tables are held to their limits."""

    def __init__(self, core: Core, names: Collection[str], longest: int | None) -> None:
        self._names, self._longest = names, longest
        self._read: dict[str, dict[str, None]] = {name: {} for name in names}
        self._units: dict[str, Column] = {}
        for column in _columns(core):
            if column.relation in names:
                self._read[column.relation].setdefault(column.name)
        relation = self._relation(core.relation)
        self.core = replace(
            core,
            relation=relation,
            unit=self._column(core.unit),
            keys=tuple(map(self._expression, core.keys)),
            aggregates=tuple(map(self._aggregate, core.aggregates)),
        )

    def _relation(self, relation: Relation) -> Relation:
        match relation:
            case Scan(alias=alias) if alias in self._names:
                return self._scan(relation)
            case Scan() | Constants():
                return relation
            case Join(left=left, right=right, condition=condition):
                left, right = self._relation(left), self._relation(right)
                whole = None if condition is None else self._expression(condition)
                return replace(relation, left=left, right=right, condition=whole)
            case Filter(child=child, condition=condition):
                return Filter(self._relation(child), self._expression(condition))
            case PerUnit(child=child, keys=keys, aggregates=aggregates):
                child = self._relation(child)
                return replace(
                    relation,
                    child=child,
                    keys=tuple((name, self._expression(each)) for name, each in keys),
                    aggregates=tuple((name, self._of_unit(each)) for name, each in aggregates),
                )
            case Compound(branches=branches):
                return replace(relation, branches=tuple(map(self._branch, branches)))
            case _:
                assert_never(relation)

    def _scan(self, scan: Scan) -> Scan:
        """The table held to its limit; where its parents are joined for its unit alone, this is done inside of it."""
        rows, owned = row_limit(scan.limits), bool(scan.hops)
        assert rows is not None and scan.unit is not None
        keep = Keep(rows, tuple(self._read[scan.alias]), owned)
        if not owned:
            return replace(scan, keep=keep)
        unit = Column(scan.alias, ITS_UNIT, scan.unit.type, identifies=UNIT)
        self._units[scan.unit.relation] = unit
        return replace(scan, keep=keep, hops=(), unit=unit)

    def _branch(self, branch: Branch) -> Branch:
        relation = self._relation(branch.relation)
        unit = None if branch.unit is None else self._expression(branch.unit)
        return Branch(relation, unit, tuple(map(self._expression, branch.columns)))

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        argument, condition, other = (
            None if each is None else self._expression(each)
            for each in (aggregate.argument, aggregate.condition, aggregate.other)
        )
        return replace(aggregate, argument=argument, condition=condition, other=other)

    def _of_unit(self, aggregate: UnitAggregate) -> UnitAggregate:
        argument = None if aggregate.argument is None else self._expression(aggregate.argument)
        condition = None if aggregate.condition is None else self._expression(aggregate.condition)
        return replace(aggregate, argument=argument, condition=condition)

    def _expression(self, expression: Expression) -> Expression:
        match expression:
            case Column():
                column = self._column(expression)
                if self._longest is None or not may_be_long(column):
                    return column
                return Call("left", (column, Literal(self._longest, INTEGER)), TEXT)
            case Call(function="=" | "is not distinct from", arguments=(Column() as one, Column() as other)):
                return replace(expression, arguments=(self._column(one), self._column(other)))
            case Subquery(relation=relation, aggregate=aggregate, reads=reads):
                inner = self._relation(relation)
                found = None if aggregate is None else self._of_unit(aggregate)
                return replace(expression, relation=inner, aggregate=found, reads=tuple(map(self._column, reads)))
            case _:
                return rebuilt(expression, self._expression)

    def _column(self, column: Column) -> Column:
        """The column, or that of the unit where the parent that held it is joined inside of the table."""
        return self._units.get(column.relation, column)


def may_be_long(column: Column) -> bool:
    """Whether it is a text of somebody's, of any length, that only its value matters of."""
    return column.type.kind == "text" and not (column.public or column.domain or column.identifies or column.bounds)


def _columns(core: Core) -> Iterator[Column]:
    """Every column that the core reads, at whatever depth; the parents' own, which it adds, are left out."""
    yield core.unit
    for key in core.keys:
        yield from _of_expression(key)
    for each in core.aggregates:
        for part in (each.argument, each.other, each.condition):
            if part is not None:
                yield from _of_expression(part)
    yield from _of_relation(core.relation)


def _of_relation(relation: Relation) -> Iterator[Column]:
    for expression in expressions_of(relation):
        yield from _of_expression(expression)
    match relation:
        case Scan(unit=unit):
            if unit is not None:
                yield unit
        case Constants():
            pass
        case Join(left=left, right=right):
            yield from _of_relation(left)
            yield from _of_relation(right)
        case Filter(child=child) | PerUnit(child=child):
            yield from _of_relation(child)
        case Compound(branches=branches):
            for branch in branches:
                yield from _of_relation(branch.relation)
        case _:
            assert_never(relation)


def _of_expression(expression: Expression) -> Iterator[Column]:
    if isinstance(expression, Column):
        yield expression
    if isinstance(expression, Subquery):
        yield from _of_relation(expression.relation)
        aggregate = expression.aggregate
        for part in () if aggregate is None else (aggregate.argument, aggregate.condition):
            if part is not None:
                yield from _of_expression(part)
    for part in parts(expression):
        yield from _of_expression(part)
