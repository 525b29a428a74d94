"""How many rows the engine makes of one unit's rows at most, whatever the data hold,
and what it computes of them.

Proved in ``docs/proofs/work.md`` and, for what is read of public tables,
in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import assert_never

from dpsql.errors import Refused
from dpsql.sql.analysis.limit_arithmetic import row_limit
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.analysis.work.join_order import (
    JoinOrder,
    JoinStep,
    aliases,
    equalities,
    equated,
    join_order,
)
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression, Subquery, columns, subqueries
from dpsql.sql.ir.references import expressions_of, outer_columns
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    DerivedSize,
    Groups,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)

#: More rows than any statement is allowed: those of a table whose schema does not limit them.
_UNLIMITED = 10**18


@dataclass(frozen=True, slots=True)
class RowBound:
    """The most rows of one unit in a relation whose ``scans`` are held to their limits.

    ``factors`` are what they are the product of, each with its name.
    """

    rows: int
    scans: frozenset[str]
    factors: tuple[str, ...] = ()

    def times(self, other: RowBound) -> RowBound:
        """Each row joined with each row of the other."""
        return RowBound(
            self.rows * other.rows, self.scans | other.scans, self.factors + other.factors
        )


#: A row that is the only one of its unit, whatever the data hold.
_ONE = RowBound(1, frozenset())


def public_rows(relation: Relation, fanout: Fanout) -> int | None:
    """The most rows of a public relation that one row outside meets; None if not known."""
    with suppress(Refused):
        return UnitWork(fanout).public_relation(relation).rows
    return None


def unit_work(core: Core, fanout: Fanout) -> UnitWork:
    """What the engine does with the rows of one unit in the core."""
    work = UnitWork(fanout)
    arguments = [argument for aggregate in core.aggregates for argument in aggregate.reads]
    work.evaluate(work.relation(core.relation), [*core.keys, *arguments])
    work.listed = sum(len(aggregate.values) for aggregate in core.aggregates)
    work.ordered += [
        *core.keys,
        *(group for aggregate in core.aggregates for group in aggregate.groups),
    ]
    arguments_kept = [
        aggregate.argument
        for aggregate in core.aggregates
        if aggregate.argument is not None and not aggregate.function.is_additive
    ]
    work.ordered += arguments_kept
    work.sets = len(arguments_kept)
    return work


class UnitWork:
    """Counts the rows of one unit in one core, and what is computed of them.

    ``held`` are the private tables in it whose rows must be limited first, ``most`` is the largest
    product of rows, ``computed`` what is computed of rows, as often as something groups, counts or
    compares it, ``ordered`` what the engine groups or orders rows by, and ``listed`` the number of
    values that rows are compared with. ``sets`` is the number of aggregates that keep a value
    of each row, and ``repeats`` is true if a private row may stand in as many rows as its unit
    has in another table.
    """

    def __init__(self, fanout: Fanout) -> None:
        self._fanout = fanout
        self.tables: dict[str, Scan] = {}
        self.held: set[str] = set()
        self.most = self._widest = _ONE
        self.computed: list[Expression] = []
        self.ordered: list[Expression] = []
        self.listed = self.sets = 0
        self.repeats = False

    def relation(self, relation: Relation) -> RowBound:
        """The rows of one unit in a private relation."""
        order = join_order(relation)
        rows = self._source(order.steps[0].source)
        for index, step in enumerate(order.steps[1:], 1):
            rows = self._joined(rows, step, order, index)
        self.evaluate(rows, order.conditions)
        return rows

    def evaluate(self, rows: RowBound, expressions: Iterable[Expression]) -> None:
        """Count what the subqueries in the expressions read for each of these rows."""
        self.computed += (expressions := list(expressions))
        self._widest = max(self._widest, rows, key=lambda bound: bound.rows)
        for read_subquery in dict.fromkeys(
            subquery for expression in expressions for subquery in subqueries(expression)
        ):
            self._count_subquery(rows, read_subquery)

    def hold(self) -> None:
        """Hold each table to its limit, since much is done with each row."""
        self.held = set(self.tables)
        self.most = max(self.most, self._widest, key=lambda bound: bound.rows)

    # -- joins -------------------------------------------------------------------------------------

    def _joined(self, rows: RowBound, step: JoinStep, order: JoinOrder, index: int) -> RowBound:
        source = step.source
        if unit_of(source) is None:
            return self._multiplied(rows, self.public_source(source, _equated_names(order, index)))
        if step.kind == "inner" and not (step.single or step.on_unit):
            refuse(
                "E_JOIN",
                "private rows would meet those of other people here before they are tied to their unit; "
                "equate the unit of each private table with that of one that every row has",
            )
        other = self._source(source)
        self.repeats |= rows != _ONE or other != _ONE
        if step.kind == "full":
            return replace(
                self._multiplied(rows, other), rows=rows.rows * other.rows + rows.rows + other.rows
            )
        return rows if step.single else self._multiplied(rows, other)

    def _multiplied(self, rows: RowBound, other: RowBound) -> RowBound:
        """Every row meets so many others at most, once their tables are held to their limits."""
        if other.rows <= 1:
            self.held |= other.scans
            return rows
        if rows.rows <= 1:
            self.held |= rows.scans
            multiplied = other
        else:
            self.held |= rows.scans | other.scans
            multiplied = rows.times(other)
        if rows.rows > 1 or not other.scans:  # other rows than those that the unit has
            self.most = max(self.most, multiplied, key=lambda bound: bound.rows)
        return multiplied

    def _source(self, source: Leaf) -> RowBound:
        """The rows of one unit in a private source."""
        match source:
            case Scan(unit=unit, path=path) if (
                unit and path and not path.hops and unit.name in path.unique
            ):
                return _ONE
            case Scan(alias=alias, table=table, limits=limits):
                self.tables[alias] = source
                rows = row_limit(limits) or _UNLIMITED
                return RowBound(rows, frozenset({alias}), (f"{table} {rows:,}",))
            case PerUnit(child=child) | Groups(child=child):
                inner = self.relation(child)
                self.evaluate(inner, expressions_of(source))
                return _ONE if isinstance(source, PerUnit) and not source.further_keys else inner
            case Compound(operator=operator, branches=branches):
                bounds = [self.relation(branch.relation) for branch in branches]
                for bound, branch in zip(bounds, branches, strict=True):
                    self.evaluate(bound, branch.columns)
                counted = bounds if operator in ("union all", "union") else bounds[:1]
                names = " + ".join(" × ".join(bound.factors) for bound in counted)
                scans = frozenset[str]().union(*(bound.scans for bound in counted))
                return RowBound(sum(bound.rows for bound in counted), scans, (names,))
            case Constants():
                return self.public_source(source, set())
            case _:
                assert_never(source)

    # -- subqueries in expressions -----------------------------------------------------------------

    def _count_subquery(self, rows: RowBound, subquery: Subquery) -> None:
        """Count the rows that a subquery reads.

        If it only asks for rows with the row's own values, it reads private rows and one public
        table once; otherwise it reads its rows for each row.
        """
        relation = subquery.relation
        by_value = _asks_by_value(subquery.relation, subquery.aggregate)
        if unit_of(relation) is not None:
            inner = self.relation(relation)
            self.repeats = True
            inner = inner if by_value else self._multiplied(rows, inner)
        elif by_value and [type(step.source) for step in join_order(relation).steps] in (
            [Scan],
            [Constants],
        ):
            return
        else:
            inner = self._multiplied(rows, self.public_relation(relation))
        arguments = (
            ()
            if subquery.aggregate is None
            else (subquery.aggregate.argument, subquery.aggregate.condition)
        )
        self.evaluate(inner, [argument for argument in arguments if argument is not None])

    # -- public rows -------------------------------------------------------------------------------

    def public_source(self, source: Leaf, names: Collection[str]) -> RowBound:
        """The rows of a public source that have one value in each of the given columns."""
        match source:
            case Scan(table=table, derived=False):
                rows = self._fanout(table, tuple(sorted(names)))
                return RowBound(rows, frozenset(), (f"{table} {rows:,}",))
            case Scan(size=size):
                assert size is not None
                return self._derived(size, names)
            case Constants(rows=listed):
                places = sorted(int(name[1:]) for name in names)
                rows = max(
                    Counter(tuple(row[index] for index in places) for row in listed).values()
                )
                return RowBound(rows, frozenset(), (f"VALUES {rows:,}",))
            case PerUnit(child=child, keys=keys) | Groups(child=child, keys=keys):
                has_all_keys = {name for name, _ in keys} <= set(names)
                return RowBound(1, frozenset()) if has_all_keys else self.public_relation(child)
            case Compound(branches=branches):
                parts = []
                for branch in branches:
                    branch_columns = {
                        f"c{index}": column for index, column in enumerate(branch.columns)
                    }
                    known = [
                        column_read
                        for column_read in map(branch_columns.__getitem__, names)
                        if isinstance(column_read, ColumnRef)
                    ]
                    parts.append(self.public_relation(branch.relation, known))
                rows = sum(bound.rows for bound in parts)
                return RowBound(rows, frozenset(), (f"a subquery {rows:,}",))
            case _:
                assert_never(source)

    def _derived(self, size: DerivedSize, names: Collection[str]) -> RowBound:
        if size.key is not None and size.key <= set(names):
            return RowBound(1, frozenset())
        if size.products is None:
            refuse(
                "E_JOIN",
                "rows are joined with each row of a subquery, and how many these are is not known "
                "beforehand; compare all of its keys for equality, or aggregate it to one row",
            )
        rows = sum(
            number * prod(max(1, self._fanout(table, ())) for table in tables)
            for number, tables in size.products
        )
        equal = [
            self._fanout(table, (column,)) for name, table, column in size.columns if name in names
        ]
        rows = min([rows, *equal])
        return RowBound(rows, frozenset(), (f"a subquery {rows:,}",))

    def public_relation(self, relation: Relation, known: Iterable[ColumnRef] = ()) -> RowBound:
        """The rows of a public relation with one value in each known column.

        Columns that its conditions equate with rows outside count as known.
        """
        order = join_order(relation)
        known = tuple(known)
        bound = RowBound(1, frozenset())
        for index, step in enumerate(order.steps):
            names = {column.name for column in known if column.relation == step.source.alias}
            other = self.public_source(step.source, names | _equated_names(order, index))
            if step.kind == "full":
                bound = replace(
                    bound.times(other), rows=bound.rows * other.rows + bound.rows + other.rows
                )
            else:
                bound = bound.times(
                    replace(other, rows=max(other.rows, 1)) if step.kind == "left" else other
                )
        self.evaluate(bound, order.conditions)
        return bound


def _equated_names(order: JoinOrder, index: int) -> set[str]:
    """The columns of a source that conditions equate with columns before it or outside."""
    source = order.steps[index].source
    before = order.outside.union(*(aliases(step.source) for step in order.steps[:index]))
    return {
        column.name for column in equated(source, [*order.steps[index].on, *order.where], before)
    }


def _asks_by_value(relation: Relation, aggregate: UnitAggregate | None) -> bool:
    """Whether the rows outside choose rows of the subquery by equal values alone."""
    order = join_order(relation)
    within = frozenset().union(*(aliases(step.source) for step in order.steps))
    asked = [
        condition
        for condition in order.conditions
        if any(column.relation in order.outside for column in columns(condition))
    ]
    arguments = () if aggregate is None else (aggregate.argument, aggregate.condition)
    inside = [
        column for argument in arguments if argument is not None for column in columns(argument)
    ]
    return (
        all(
            any(
                first.relation in within and second.relation in order.outside
                for first, second in equalities([outer_condition])
            )
            for outer_condition in asked
        )
        and not any(outer_columns(step.source) for step in order.steps)
        and all(column.relation in within for column in inside)
    )
