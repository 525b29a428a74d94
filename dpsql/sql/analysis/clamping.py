"""Which values a core clamps: those that may lie beyond the ends of a sum or a rank.

The ends follow from the schema's bounds. An end that a type, a condition or the expression itself
enforces clamps nothing. This tells what is said of an answer; no sensitivity depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.schema import Bound, SqlType
from dpsql.sql.analysis.bounds import bounds, narrowed
from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.ir.aggregate_properties import Dispersion, UnitFunction
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression, Subquery, columns, rebuilt
from dpsql.sql.ir.interval import EVERYTHING, FROM_ZERO, Interval
from dpsql.sql.ir.relation import Compound, Groups, Leaf, PerUnit, Relation, UnitAggregate


@dataclass(frozen=True, slots=True)
class Clamped:
    """A named value that counts as ``low`` if it is less, and as ``high`` if it is greater.

    None is an end beyond which no value lies. ``released`` tells that the core's own aggregate
    clamps it, and no aggregate of a unit's rows.
    """

    name: str
    low: Bound | None
    high: Bound | None
    released: bool


def clamped_values(core: Core) -> tuple[Clamped, ...]:
    """What the aggregates of the core clamp, and those of the subqueries that it reads."""
    clamped = dict[Clamped, None]()
    rows = _Rows(core.relation, clamped)
    for aggregate in core.aggregates:
        for argument in (aggregate.argument, aggregate.other):
            if argument is not None and aggregate.function.clamps:
                rows.clamp(argument, aggregate.condition, released=True)
        for expression in aggregate.reads:
            rows.reach(expression)
    for key in core.keys:
        rows.reach(key)
    return tuple(clamped)


class _Rows:
    """The rows of a relation: the intervals of their values without declarations, and clamps."""

    def __init__(self, relation: Relation, clamped: dict[Clamped, None]) -> None:
        self._sources = {source.alias: source for source in sources(relation)}
        self._found = clamped
        self._inside = dict[str, _Rows]()
        self._known = dict[Expression, Interval]()
        for condition in conditions_of(relation):
            self._known = {**narrowed(self._known, self._undeclared(condition), True)}

    def clamp(
        self, argument: Expression, condition: Expression | None, released: bool = False
    ) -> None:
        """Note the ends of an argument beyond which its rows may have values."""
        declared = bounds(argument)
        possible = self.reach(argument, condition)
        low = declared.low if _is_beyond(declared.low, possible.low, -1) else None
        high = declared.high if _is_beyond(declared.high, possible.high, +1) else None
        if low is not None or high is not None:
            low_end, high_end = (
                None if end is None else argument.type.facts.at(end) for end in (low, high)
            )
            self._found[Clamped(self._name(argument), low_end, high_end, released)] = None

    def reach(self, expression: Expression, condition: Expression | None = None) -> Interval:
        """The interval of the expression in rows that fulfil the condition, undeclared."""
        undeclared = self._undeclared(expression)
        known = (
            self._known
            if condition is None
            else narrowed(self._known, self._undeclared(condition), True)
        )
        return bounds(undeclared, known)

    def _undeclared(self, expression: Expression) -> Expression:
        """The expression without the declarations of its columns; `_known` has their intervals."""
        bare: Expression
        match expression:
            case ColumnRef(public=False, released=False):
                bare = replace(expression, bounds=None, domain=None, differences=())
                if bare not in self._known:
                    self._known[bare] = self._of_column(expression)
            case Subquery(relation=relation, aggregate=UnitAggregate() as aggregate):
                bare = replace(expression, bounds=None)
                if bare not in self._known:
                    rows = _Rows(relation, self._found)
                    self._known[bare] = rows.of_aggregate(aggregate, bounds(expression))
            case _:
                return rebuilt(expression, self._undeclared)
        return bare

    def _of_column(self, column: ColumnRef) -> Interval:
        match self._sources.get(column.relation):
            case PerUnit(child=child) | Groups(child=child) as groups:
                inside = self._inside.setdefault(groups.alias, _Rows(child, self._found))
                aggregates = dict(groups.aggregates)
                keys = dict(groups.keys)
                if column.name in aggregates:
                    return inside.of_aggregate(aggregates[column.name], bounds(column))
                return inside.reach(keys[column.name]) if column.name in keys else EVERYTHING
            case Compound(branches=branches) if column.name[1:].isdigit():
                reached = [
                    _Rows(branch.relation, self._found).reach(branch.columns[int(column.name[1:])])
                    for branch in branches
                ]
                hull, *others = reached
                for other in others:
                    hull = hull.union(other)
                return hull
            case _:
                return _of_type(column.type)

    def of_aggregate(self, aggregate: UnitAggregate, declared: Interval) -> Interval:
        """The interval of an aggregate of a unit's rows; its own argument may be clamped."""
        argument = aggregate.argument
        match aggregate.function:
            case UnitFunction.SUM | UnitFunction.AVG | Dispersion() if argument is not None:
                self.clamp(argument, aggregate.condition)
                if aggregate.function is UnitFunction.SUM:
                    return bounds(argument) * FROM_ZERO
                return declared
            case UnitFunction.MIN | UnitFunction.MAX if argument is not None:
                return self.reach(argument, aggregate.condition)
            case _:
                return FROM_ZERO

    def _name(self, expression: Expression) -> str:
        """The value in words: a column, an aggregate of a unit's or group's rows, or its parts."""
        match expression:
            case ColumnRef(relation=alias, name=name):
                return self._column_name(self._sources.get(alias), name)
            case Subquery(relation=relation, aggregate=UnitAggregate() as aggregate):
                return f"{_Rows(relation, {}).aggregate_name(aggregate)} of a unit"
            case _:
                names = dict.fromkeys(self._name(column) for column in columns(expression))
                return f"what is made of {' and '.join(names)}"

    def _column_name(self, source: Leaf | None, name: str) -> str:
        match source:
            case Compound(branches=branches) if name[1:].isdigit():
                names = (
                    _Rows(branch.relation, {})._name(branch.columns[int(name[1:])])
                    for branch in branches
                )
                return " or ".join(dict.fromkeys(names))
            case (
                PerUnit(child=child, keys=keys, aggregates=aggregates)
                | Groups(child=child, keys=keys, aggregates=aggregates)
            ):
                inside = _Rows(child, {})
                if name in dict(keys):
                    return inside._name(dict(keys)[name])
                if name not in dict(aggregates):
                    return name
                of = "unit" if isinstance(source, PerUnit) else "group"
                return f"{inside.aggregate_name(dict(aggregates)[name])} of a {of}"
            case _:
                return name

    def aggregate_name(self, aggregate: UnitAggregate) -> str:
        """What an aggregate of these rows is called."""
        function = aggregate.function
        argument = aggregate.argument
        called = "STDDEV" if isinstance(function, Dispersion) else str(function).upper()
        return f"{called}({'*' if argument is None else self._name(argument)})"


def _of_type(sql_type: SqlType) -> Interval:
    """The interval of the type's values: finite only for decimals, by their digits."""
    if sql_type.kind != "decimal" or sql_type.precision is None or sql_type.step is None:
        return EVERYTHING
    most = (10**sql_type.precision - 1) * sql_type.step
    return Interval(-most, most)


def _is_beyond(end: Fraction | None, possible: Fraction | None, direction: int) -> bool:
    """Whether a value may lie beyond the end, in this direction."""
    if end is None:
        return False
    return possible is None or direction * possible > direction * end
