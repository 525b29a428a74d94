"""How many rows of public tables one private row meets:
the factor by which the limits of a join are larger.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import prod
from typing import TypeAlias, TypeVar, assert_never

from dpsql.errors import Refused
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.analysis.work.join_order import (
    JoinOrder,
    JoinStep,
    aliases,
    equalities,
    equated,
    join_order,
)
from dpsql.sql.analysis.work.row_cost import has_pattern_of_data, matches
from dpsql.sql.analysis.work.rows import UnitWork
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, Literal, columns, subqueries
from dpsql.sql.ir.relation import (
    Branch,
    Compound,
    Constants,
    Filter,
    GroupPartners,
    Groups,
    Join,
    Leaf,
    Partners,
    PerUnit,
    PublicRange,
    Relation,
    Scan,
    unit_of,
)

#: The sets of columns of each source that keys read.
_KeyColumns: TypeAlias = Mapping[str, frozenset[tuple[ColumnRef, ...]]]
#: An end of a range, the value that is compared with it, and whether the end is left out.
_End: TypeAlias = tuple[Expression, Expression, bool]
#: The types of the ends of ranges.
_ORDERED = frozenset({"date", "timestamp", "integer", "decimal"})
_Value = TypeVar("_Value", Relation, Leaf)


def with_partners(
    relation: Relation, keys: Iterable[Iterable[Expression]], fanout: Fanout
) -> Relation:
    """The relation with the numbers of partners of its public sources, for each list of ``keys``.

    A join in which private rows meet one public row at most stays as it is, and so does one whose
    public rows nobody counts: the statement is refused for its work.
    """
    column_sets: dict[str, set[tuple[ColumnRef, ...]]] = {}
    for listed in keys:
        by_source: dict[str, dict[str, ColumnRef]] = {}
        for key in listed:
            if isinstance(key, ColumnRef):
                by_source.setdefault(key.relation, {})[key.name] = key
        for alias, columns_by_name in by_source.items():
            column_sets.setdefault(alias, set()).add(
                tuple(columns_by_name[name] for name in sorted(columns_by_name))
            )
    return _with_partners(
        relation, {alias: frozenset(sets) for alias, sets in column_sets.items()}, fanout
    )


def _with_partners(relation: Relation, keys: _KeyColumns, fanout: Fanout) -> Relation:
    if unit_of(relation) is None:
        return relation
    partners: dict[str, Partners] = {}
    with suppress(Refused):
        partners = _partners(relation, keys, fanout)
    if prod(partner.most for partner in partners.values()) <= 1:
        partners = {}
    return _replaced(relation, partners, keys, fanout)


def _replaced(
    relation: _Value, partners: Mapping[str, Partners], keys: _KeyColumns, fanout: Fanout
) -> _Value:
    match relation:
        case Join(left=left_side, right=right_side):
            left_side = _replaced(left_side, partners, keys, fanout)
            return replace(
                relation, left=left_side, right=_replaced(right_side, partners, keys, fanout)
            )
        case Filter(child=child):
            return replace(relation, child=_replaced(child, partners, keys, fanout))
        case Scan() | Constants() if unit_of(relation) is None:
            return replace(relation, partners=partners.get(relation.alias))
        case Scan() | Constants() | Groups():
            return relation
        case PerUnit() | Compound() if unit_of(relation) is None:
            return replace(relation, partners=partners.get(relation.alias))
        case PerUnit(child=child, keys=unit_keys):
            return replace(
                relation, child=with_partners(child, [[key for _, key in unit_keys]], fanout)
            )
        case Compound(alias=alias, branches=branches):
            asked = keys.get(alias, frozenset())
            return replace(
                relation, branches=tuple(_branch(branch, asked, fanout) for branch in branches)
            )
        case _:
            assert_never(relation)


def _branch(branch: Branch, asked: frozenset[tuple[ColumnRef, ...]], fanout: Fanout) -> Branch:
    """A branch whose columns are the keys that are read of the compound by number."""
    keys = [
        [branch.columns[int(column.name[1:])] for column in listed if column.name[1:].isdigit()]
        for listed in asked
    ]
    return replace(branch, relation=with_partners(branch.relation, keys, fanout))


def _partners(relation: Relation, keys: _KeyColumns, fanout: Fanout) -> dict[str, Partners]:
    """The partners of each public source of a join, by its alias."""
    order = join_order(relation)
    public = [step.source.alias for step in order.steps if unit_of(step.source) is None]
    result: dict[str, Partners] = {}
    for index, step in enumerate(order.steps):
        if unit_of(step.source) is None:
            result[step.source.alias] = _of_step(
                order, index, public, keys.get(step.source.alias, ()), fanout=fanout
            )
    return result


def _of_step(
    order: JoinOrder,
    index: int,
    public: list[str],
    keys: Iterable[tuple[ColumnRef, ...]],
    fanout: Fanout,
) -> Partners:
    step = order.steps[index]
    work = UnitWork(fanout)
    source = step.source
    before = order.outside.union(*(aliases(earlier.source) for earlier in order.steps[:index]))
    conditions = [*step.on, *order.where]
    constant = {column.name for column in _constant(source, conditions)}
    fixed = constant | {column.name for column in equated(source, conditions, before)}
    through = {
        other.relation
        for one, other in equalities(conditions)
        if one.relation == source.alias and other.relation in before and other.relation in public
    }
    counting = _Counting(source, work, fanout, conditions)
    rows = counting.most(constant, ranges=False)
    groups = []
    for listed in sorted(keys, key=lambda key_columns: [column.name for column in key_columns]):
        names = {column.name for column in listed}
        most = _at_least_one(counting.most(fixed | names), step)
        different = prod(_number_of_values(source, column, rows, fanout) for column in listed)
        groups.append(
            GroupPartners(tuple(sorted(names)), most, _with_padding(min(rows, different), step))
        )
    most = _at_least_one(counting.most(fixed), step)
    return Partners(most, _with_padding(rows, step), tuple(sorted(through)), tuple(groups))


class _Counting:
    """Counts the rows of one public source by the conditions of its join.

    Conditions that match patterns do not narrow them: a pattern may still be refused.
    """

    def __init__(
        self, source: Leaf, work: UnitWork, fanout: Fanout, conditions: Sequence[Expression]
    ) -> None:
        self._source = source
        self._work = work
        self._fanout = fanout
        self._conditions = tuple(
            condition
            for condition in conditions
            if _is_of(source, condition) and not _has_pattern(condition)
        )
        self._ranges = list(_ranges(source, conditions))

    def most(self, equal: set[str], ranges: bool = True) -> int:
        """The most rows with equal values in these columns that one row meets.

        With ``ranges``, only those in the ranges that the conditions ask for.
        """
        numbers = [self._work.public_source(self._source, equal).rows]
        source = self._source
        if numbers[0] > 1 and (
            isinstance(source, Constants) or (isinstance(source, Scan) and not source.derived)
        ):
            asked: list[PublicRange | None] = [*self._ranges] if ranges else []
            if self._conditions and not asked:
                asked = [None]
            for between in asked:
                number = self._fanout.partners(
                    source, tuple(sorted(equal)), self._conditions, between
                )
                numbers += [] if number is None else [number]
        return min(numbers)


def _is_of(source: Leaf, condition: Expression) -> bool:
    """Whether the condition reads the source alone."""
    return {column.relation for column in columns(condition)} == {source.alias} and not any(
        subqueries(condition)
    )


def _has_pattern(condition: Expression) -> bool:
    return any(True for _ in matches([condition])) or has_pattern_of_data([condition])


def _ranges(source: Leaf, conditions: Iterable[Expression]) -> Iterator[PublicRange]:
    """The ranges of the source's rows in which one value of the rows before it has to lie."""
    lows: list[_End] = []
    highs: list[_End] = []
    for condition in conditions:
        match condition:
            case Call(function="<" | "<=" | ">" | ">=" as operator, arguments=(first, second)):
                strict = operator in ("<", ">")
                low, high = (first, second) if operator in ("<", "<=") else (second, first)
                if _is_end(source, low) and not _reads(source, high):
                    lows.append((low, high, strict))
                if _is_end(source, high) and not _reads(source, low):
                    highs.append((high, low, strict))
            case _:
                pass
    for (low, value, opens), (high, other, closes) in product(lows, highs):
        alike = value.type == low.type or low.type.facts.distinct_as_double(low.type)
        if value == other and low.type == high.type and alike:
            yield PublicRange(low, high, not (opens or closes))


def _is_end(source: Leaf, expression: Expression) -> bool:
    """Whether the expression is of the source alone, in a type that has one order."""
    return _is_of(source, expression) and expression.type.kind in _ORDERED


def _reads(source: Leaf, expression: Expression) -> bool:
    return any(column.relation == source.alias for column in columns(expression))


def _constant(source: Leaf, conditions: Iterable[Expression]) -> Iterator[ColumnRef]:
    """The columns of the source that conditions equate with a constant."""
    for condition in conditions:
        match condition:
            case (
                Call(function="=", arguments=(ColumnRef() as column, Literal() as other))
                | Call(function="=", arguments=(Literal() as other, ColumnRef() as column))
            ):
                alike = column.type == other.type or column.type.facts.distinct_as_double(
                    column.type
                )
                if column.relation == source.alias and alike:
                    yield column
            case _:
                pass


def _number_of_values(source: Leaf, column: ColumnRef, rows: int, fanout: Fanout) -> int:
    """How many different values a column has at most, NULL among them."""
    if isinstance(source, Scan) and not source.derived:
        values = fanout.values(source.table, column)
        return rows if values is None else len(values) + 1
    if isinstance(source, Constants):
        return len({row[int(column.name[1:])] for row in source.rows})
    return rows


def _at_least_one(rows: int, step: JoinStep) -> int:
    """The partners of a row; one that a LEFT JOIN leaves without any stays, once."""
    return max(rows, 1) if step.kind == "left" else rows


def _with_padding(number: int, step: JoinStep) -> int:
    """A number of values, or of rows, and one more for the NULL that a LEFT JOIN adds."""
    return number + 1 if step.kind == "left" else number
