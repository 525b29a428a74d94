"""In which order the sources of a join are joined: by the schema and the statement alone,
never by how large they are.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from typing import Literal as OneOf
from typing import TypeAlias, assert_never

from dpsql.schema import UNIT
from dpsql.sql.analysis.limit_arithmetic import row_limit
from dpsql.sql.analysis.stability import limits
from dpsql.sql.ir.expression import (
    Call,
    ColumnRef,
    Expression,
    columns,
    conjunction,
    conjuncts,
    subqueries,
)
from dpsql.sql.ir.references import outer_columns
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    Filter,
    Groups,
    Join,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    unit_of,
)

#: How a source is joined to those before it; the first one is not.
StepKind: TypeAlias = OneOf["first", "inner", "left", "full"]
#: An outer join: its kind, the source that rows may lack, its condition.
_Outer: TypeAlias = tuple[StepKind, Leaf, Expression | None]
#: What the columns of relations identify, by the names of both (`ColumnRef.identifies`).
_Identified: TypeAlias = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class JoinStep:
    """A source of a join, as it is joined to those before it.

    ``on`` are the conditions between it and those. ``single`` tells that each row before it meets
    one of its rows at most, whatever the data hold, and ``on_unit`` that it meets rows of its own
    unit alone.
    """

    source: Leaf
    kind: StepKind
    on: tuple[Expression, ...] = ()
    single: bool = False
    on_unit: bool = True


@dataclass(frozen=True, slots=True)
class JoinOrder:
    """The sources of a join in order, the conditions that remain for WHERE, and outer columns."""

    steps: tuple[JoinStep, ...]
    where: tuple[Expression, ...]
    outside: frozenset[str]

    @property
    def of_inner_joins(self) -> tuple[Expression, ...]:
        """The conditions that each row of the join fulfils."""
        return (
            *self.where,
            *(on for step in self.steps if step.kind in ("first", "inner") for on in step.on),
        )

    @property
    def conditions(self) -> tuple[Expression, ...]:
        """Every condition of the join."""
        return (*self.where, *(condition for step in self.steps for condition in step.on))


def join_order(relation: Relation) -> JoinOrder:
    """The order in which the relation's sources are joined.

    Private sources come first: the one with the most rows of a unit before those whose rows its
    rows meet once, each after one with which it has the unit in common. Public ones follow, each
    after one that a condition ties it to, and then outer joins in the order of the statement. A LEFT
    JOIN whose rows without a partner fail a condition between private sources is an inner join.
    """
    inner, outer, conditions = _without_void_outer_joins(*_flat(relation))
    outside = frozenset(column.relation for column in outer_columns(relation))
    known = _identified(inner, outer, conditions)
    ordered = _ordered(inner, conditions, outside, known)
    steps = [JoinStep(ordered[0], "first")]
    joined = aliases(ordered[0])
    rest = list(conditions)
    within = joined.union(*map(aliases, ordered[1:]))
    for source in ordered[1:]:
        joined = joined | aliases(source)
        on = [candidate for candidate in rest if _is_between(candidate, source, joined)]
        rest = [candidate for candidate in rest if candidate not in on]
        on_unit = _is_on_unit(source, [*on, *rest], (joined - aliases(source)) | outside, known)
        steps.append(
            JoinStep(
                source,
                "inner",
                tuple(on),
                is_single(source, on, joined - aliases(source)),
                on_unit=on_unit,
            )
        )
    for kind, source, condition in outer:
        demands = list(_demands(condition))
        steps.append(JoinStep(source, kind, tuple(demands), is_single(source, demands, within)))
        within = within | aliases(source)
    return JoinOrder(tuple(steps), tuple(rest), outside)


def aliases(source: Leaf) -> frozenset[str]:
    """The names under which columns of the source, or of its parents, can be met."""
    hops = source.hops if isinstance(source, Scan) else ()
    return frozenset({source.alias, *(hop.alias for hop in hops)})


def equated(
    source: Leaf, conditions: Iterable[Expression], others: Collection[str] | None = None
) -> Iterator[ColumnRef]:
    """The columns of the source that the conditions equate with a column of ``others``, or of any
    other relation, so that one value of that column meets one value of the source's."""
    for one, other in equalities(conditions):
        named = one.relation == source.alias != other.relation and (
            others is None or other.relation in others
        )
        if named and (one.type == other.type or one.type.facts.distinct_as_double(one.type)):
            yield one


def equalities(conditions: Iterable[Expression]) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """The pairs of columns that the conditions equate, either way round."""
    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(ColumnRef() as first, ColumnRef() as second)):
                yield first, second
                yield second, first
            case _:
                pass


def is_single(
    source: Leaf, conditions: Iterable[Expression], others: Collection[str] | None = None
) -> bool:
    """Whether a row of the others meets at most one row of the private source."""
    fixed = {column.name for column in equated(source, conditions, others)}
    match source:
        case Scan(path=path) if path is not None:
            return bool(path.unique & fixed)
        case PerUnit(keys=keys) if unit_of(source) is not None:
            further = {name for name, _ in source.further_keys}
            units = {UNIT, *(name for name, _ in keys)} - further
            return further <= fixed and not units.isdisjoint(fixed)
        case _:
            return False


def _flat(relation: Relation) -> tuple[list[Leaf], list[_Outer], list[Expression]]:
    """The sources of inner joins, those of outer joins with conditions, and the other conditions."""
    match relation:
        case Filter(child=child, condition=condition):
            inner, outer, conditions = _flat(child)
            return inner, outer, [*conditions, *_demands(condition)]
        case Join(left=left_side, right=right_side, kind="inner", condition=condition):
            inner, outer, conditions = _flat(left_side)
            inner_right, outer_right, more = _flat(right_side)
            return (
                [*inner, *inner_right],
                [*outer, *outer_right],
                [*conditions, *more, *_demands(condition)],
            )
        case Join(left=left_side, right=right_side, kind=kind, condition=condition):
            inner, outer, conditions = _flat(left_side)
            (source,), (), () = _flat(right_side)
            return inner, [*outer, (kind, source, condition)], conditions
        case Scan() | PerUnit() | Groups() | Compound() | Constants():
            return [relation], [], []
        case _:
            assert_never(relation)


def _without_void_outer_joins(
    inner: list[Leaf], outer: list[_Outer], conditions: list[Expression]
) -> tuple[list[Leaf], list[_Outer], list[Expression]]:
    """The same rows with inner joins for LEFT JOINs whose rows without a partner fail a condition
    on all rows: one that equates a column of the private source that they lack with one of another
    private source."""
    every = (*inner, *(lacking for _, lacking, _ in outer))
    private = {
        alias for source in every if unit_of(source) is not None for alias in aliases(source)
    }
    for index, (kind, source, condition) in enumerate(outer):
        if kind != "left" or unit_of(source) is None:
            continue
        others = private - aliases(source)
        if any(
            column.relation in aliases(source) and other.relation in others
            for column, other in equalities(conditions)
        ):
            other_joins = outer[:index] + outer[index + 1 :]
            return _without_void_outer_joins(
                [*inner, source], other_joins, [*conditions, *_demands(condition)]
            )
    return inner, outer, conditions


def _demands(condition: Expression | None) -> Iterator[Expression]:
    """The conditions that must all hold: those of an AND, and the common part of an OR.

    ``(a AND b) OR (a AND c)`` demands a, and b OR c.
    """
    for conjunct in conjuncts(condition):
        if not (isinstance(conjunct, Call) and conjunct.function == "or"):
            yield conjunct
            continue
        first, *others = ([*conjuncts(side)] for side in _sides(conjunct))
        common = [term for term in first if all(term in other for other in others)]
        yield from common
        rest = [
            conjunction([term for term in side if term not in common]) for side in (first, *others)
        ]
        conditions = [side for side in rest if side is not None]
        if len(conditions) == len(rest):
            yield (
                reduce(lambda one, other: Call("or", (one, other), conjunct.type), conditions)
                if common
                else conjunct
            )


def _sides(condition: Expression) -> Iterator[Expression]:
    """The alternatives of an OR."""
    if isinstance(condition, Call) and condition.function == "or":
        for argument in condition.arguments:
            yield from _sides(argument)
    else:
        yield condition


def _ordered(
    sources: Sequence[Leaf],
    conditions: Sequence[Expression],
    outside: frozenset[str],
    known: _Identified,
) -> list[Leaf]:
    """The sources of inner joins in order: that which multiplies the rows of a unit least often."""
    if len(sources) == 1:
        return list(sources)
    named = frozenset().union(*map(aliases, sources))
    needs = {
        source.alias: frozenset(outer_column.relation for outer_column in outer_columns(source))
        & named
        for source in sources
    }
    private = any(unit_of(source) is not None for source in sources)
    best: tuple[float, float, list[Leaf]] | None = None
    for first in sources:
        if needs[first.alias] or (private and unit_of(first) is None):
            continue
        order, factor = _greedy_order(
            first, sources, conditions, needs, outside=outside, known=known
        )
        rows = factor * most_rows(first)
        if best is None or (rows, factor) < best[:2]:
            best = rows, factor, order
        if not private:
            break
    return list(sources) if best is None else best[2]


def _greedy_order(
    first: Leaf,
    sources: Sequence[Leaf],
    conditions: Sequence[Expression],
    needs: dict[str, frozenset[str]],
    outside: frozenset[str],
    known: _Identified,
) -> tuple[list[Leaf], float]:
    """The order that begins with ``first``, and how many rows one of its rows becomes at most.

    Only joins with private sources multiply rows.
    """
    order = [first]
    factor = 1.0
    joined = aliases(first)
    waiting = [source for source in sources if source is not first]
    while waiting:
        ranked = [
            (_rank(source, conditions, joined, outside, known=known), index)
            for index, source in enumerate(waiting)
            if needs[source.alias] <= joined
        ]
        if not ranked:
            return [*order, *waiting], inf
        (_, rows), index_of_next = min(ranked)
        factor *= rows
        source = waiting.pop(index_of_next)
        order.append(source)
        joined = joined | aliases(source)
    return order, factor


def _rank(
    source: Leaf,
    conditions: Sequence[Expression],
    joined: frozenset[str],
    outside: frozenset[str],
    known: _Identified,
) -> tuple[int, float]:
    """The rank of a source in the order (the smallest first), and the rows that a row meets in it."""
    if unit_of(source) is None:
        return (3 if any(True for _ in equated(source, conditions, joined)) else 4), 1.0
    if is_single(source, conditions, joined):
        return 0, 1.0
    return (1 if _is_on_unit(source, conditions, joined | outside, known) else 2), most_rows(source)


def _identified(
    inner: Sequence[Leaf], outer: Sequence[_Outer], conditions: Sequence[Expression]
) -> _Identified:
    """What columns identify.

    After an outer join a column no longer says so, but its source and the join's condition do. A
    column that is not NULL still identifies the same, as does that of a subquery that is one."""
    every = [*conditions, *(demand for _, _, condition in outer for demand in _demands(condition))]
    columns_read = (column for condition in every for column in columns(condition))
    known = {
        (column.relation, column.name): column.identifies
        for column in columns_read
        if column.identifies is not None
    }
    for source in (*inner, *(lacking for _, lacking, _ in outer)):
        unit = unit_of(source)
        if unit is not None and unit.identifies is not None:
            known[unit.relation, unit.name] = unit.identifies
        if not (isinstance(source, Compound) and len(source.branches) == 1):
            continue
        inside = _identified(*_flat(source.branches[0].relation))
        for index, column in enumerate(source.branches[0].columns):
            if isinstance(column, ColumnRef):
                identity = column.identifies or inside.get((column.relation, column.name))
                known |= {} if identity is None else {(source.alias, f"c{index}"): identity}
    return known


def _is_on_unit(
    source: Leaf, conditions: Iterable[Expression], others: frozenset[str], known: _Identified
) -> bool:
    """Whether conditions tie each row of a private source to rows of its own unit."""

    def identifies(column: ColumnRef) -> str | None:
        return known.get((column.relation, column.name))

    return any(
        one.relation in aliases(source)
        and other.relation in others
        and one.type == other.type
        and identifies(one) is not None
        and identifies(one) == identifies(other)
        for one, other in equalities(conditions)
    )


def most_rows(source: Leaf) -> float:
    """The most rows of one unit in a private source by its limits; infinite without a limit."""
    rows = row_limit(limits(source))
    return inf if rows is None else float(rows)


def _is_between(condition: Expression, source: Leaf, joined: frozenset[str]) -> bool:
    """Whether the condition reads the source and otherwise only what is joined before it."""
    names = {column.relation for column in columns(condition)}
    return bool(names & aliases(source)) and names <= joined and not any(subqueries(condition))
