"""Truncation of a core whose rows are multiplied: fewer rows of a unit, shorter texts.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.schema import ITS_UNIT, UNIT
from dpsql.sql.analysis.limit_arithmetic import row_limit
from dpsql.sql.analysis.work.row_cost import is_declared
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import (
    INTEGER,
    TEXT,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
    columns,
    rebuilt,
)
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import (
    Branch,
    Compound,
    Constants,
    Filter,
    Groups,
    Join,
    Keep,
    PerUnit,
    Relation,
    Scan,
    TextCut,
    UnitAggregate,
)


@dataclass(frozen=True, slots=True)
class TextLengths:
    """How many characters are read of texts that private tables store and that subqueries derive.

    None is all of them. If ``declared``, texts of declared values are read one character further
    than the longest of these, so that a longer text equals none of them.
    """

    stored: int | None
    derived: int | None
    declared: bool


#: Texts are read whole.
NOT_CUT = TextLengths(None, None, False)


def held(core: Core, names: Collection[str], lengths: TextLengths) -> Core:
    """The core with each of these tables held to its limit of rows, and texts cut to these lengths.

    A unit above the limit keeps the rows that come first in an order by keyed hash over what the
    core reads of them. A stored text is cut when its table is read. What is unique in the table, or
    a name of the unit, is not cut: a join by it stays the same. Texts that a subquery derives are
    not cut when they are compared with each other for equality.
    """
    return _Truncation(core, names, lengths).core


class _Truncation:
    """A core while some of its tables are held to their limits."""

    def __init__(self, core: Core, names: Collection[str], lengths: TextLengths) -> None:
        self._names = names
        self._lengths = lengths
        self._columns: dict[str, dict[str, ColumnRef]] = {}
        self._units: dict[str, ColumnRef] = {}
        relations, expressions = everything_in(core)
        scans = [candidate for candidate in relations if isinstance(candidate, Scan)]
        self._scans = {scan.alias for scan in scans}
        units = [scan.unit for scan in scans if scan.unit is not None]
        for column in [
            *(column for expression in expressions for column in columns(expression)),
            *units,
        ]:
            self._columns.setdefault(column.relation, {}).setdefault(column.name, column)
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
            case Scan(unit=unit) if unit is not None:
                return self._scan(relation)
            case Scan() | Constants():
                return relation
            case Join(left=left_side, right=right_side, condition=condition):
                left_side = self._relation(left_side)
                right_side = self._relation(right_side)
                new_condition = None if condition is None else self._expression(condition)
                return replace(relation, left=left_side, right=right_side, condition=new_condition)
            case Filter(child=child, condition=condition):
                return Filter(self._relation(child), self._expression(condition))
            case PerUnit(child=child, keys=keys, aggregates=aggregates):
                child = self._relation(child)
                return replace(
                    relation,
                    child=child,
                    keys=tuple((name, self._expression(definition)) for name, definition in keys),
                    aggregates=tuple(
                        (name, self._of_unit(definition)) for name, definition in aggregates
                    ),
                )
            case Groups(child=child, keys=keys, aggregates=aggregates):
                rows = self._relation(child)
                assert isinstance(rows, Compound)
                return replace(
                    relation,
                    child=rows,
                    keys=tuple((name, self._expression(definition)) for name, definition in keys),
                    aggregates=tuple(
                        (name, self._of_unit(definition)) for name, definition in aggregates
                    ),
                )
            case Compound(branches=branches):
                return replace(relation, branches=tuple(map(self._branch, branches)))
            case _:
                assert_never(relation)

    def _scan(self, scan: Scan) -> Scan:
        """The table with its texts cut, and held to its limit if necessary."""
        cut = self._cut(scan)
        scan = scan if cut is None else replace(scan, cut=cut)
        return self._kept(scan) if scan.alias in self._names else scan

    def _cut(self, scan: Scan) -> TextCut | None:
        """What is cut of the table; None if no text of any length is read of it."""
        columns_read = self._columns.get(scan.alias, {})
        unique = () if scan.path is None else scan.path.unique
        texts = [
            (name, self._most(column))
            for name, column in columns_read.items()
            if name not in unique
        ]
        characters = tuple((name, most) for name, most in texts if most is not None)
        if not characters:
            return None
        keys = [] if scan.path is None else [scan.path.unit, *(hop.child for hop in scan.path.hops)]
        needed = [column.name for column in keys if column.relation == scan.alias]
        return TextCut(characters, tuple(dict.fromkeys([*columns_read, *needed])))

    def _most(self, column: ColumnRef) -> int | None:
        """How much is read of a stored column; None if that is all."""
        if may_be_long(column):
            return self._lengths.stored
        if self._lengths.declared and is_declared(column) and not column.identifies:
            return 1 + max(
                (len(value) for value in column.domain or () if isinstance(value, str)), default=0
            )
        return None

    def _kept(self, scan: Scan) -> Scan:
        """The table held to its limit; parents that only give its unit are joined inside it."""
        rows = row_limit(scan.limits)
        owned = bool(scan.hops)
        assert rows is not None and scan.unit is not None
        columns_read = self._columns.get(scan.alias, {})
        doubles = tuple(
            name for name, column in columns_read.items() if column.type.kind == "double"
        )
        keep = Keep(rows, tuple(columns_read), owned, doubles)
        if not owned:
            return replace(scan, keep=keep)
        unit = ColumnRef(scan.alias, ITS_UNIT, scan.unit.type, identifies=UNIT)
        self._units[scan.unit.relation] = unit
        return replace(scan, keep=keep, hops=(), unit=unit)

    def _branch(self, branch: Branch) -> Branch:
        relation = self._relation(branch.relation)
        unit = None if branch.unit is None else self._expression(branch.unit)
        return Branch(relation, unit, tuple(map(self._expression, branch.columns)))

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        argument, condition, other = (
            None if operand is None else self._expression(operand)
            for operand in (aggregate.argument, aggregate.condition, aggregate.other)
        )
        groups = tuple(map(self._expression, aggregate.groups))
        return replace(
            aggregate, argument=argument, condition=condition, other=other, groups=groups
        )

    def _of_unit(self, aggregate: UnitAggregate) -> UnitAggregate:
        argument = None if aggregate.argument is None else self._expression(aggregate.argument)
        condition = None if aggregate.condition is None else self._expression(aggregate.condition)
        return replace(aggregate, argument=argument, condition=condition)

    def _expression(self, expression: Expression) -> Expression:
        match expression:
            case ColumnRef():
                column = self._column(expression)
                if (
                    self._lengths.derived is None
                    or column.relation in self._scans
                    or not may_be_long(column)
                ):
                    return column
                return Call("left", (column, Literal(self._lengths.derived, INTEGER)), TEXT)
            case Call(
                function="=" | "is not distinct from",
                arguments=(ColumnRef() as one, ColumnRef() as other),
            ):
                return replace(expression, arguments=(self._column(one), self._column(other)))
            case Subquery(relation=relation, aggregate=aggregate, reads=reads):
                inner = self._relation(relation)
                new_aggregate = None if aggregate is None else self._of_unit(aggregate)
                return replace(
                    expression,
                    relation=inner,
                    aggregate=new_aggregate,
                    reads=tuple(map(self._column, reads)),
                )
            case _:
                return rebuilt(expression, self._expression)

    def _column(self, column: ColumnRef) -> ColumnRef:
        """The column, or the table's unit column if its parent is joined inside the table."""
        return self._units.get(column.relation, column)


def may_be_long(column: ColumnRef) -> bool:
    """Whether it is a text of somebody's, of any length, that only its value matters of."""
    return column.type.kind == "text" and not (
        column.public or column.domain or column.identifies or column.bounds
    )
