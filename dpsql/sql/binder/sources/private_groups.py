"""Aggregates over groups of private rows: how many households there are, and how large they are.

The groups are not released. One unit changes a limited number of them, and so it changes what is
counted or added up over all groups by a limited amount. Proved in ``docs/proofs/groups.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.key_domain.domain import key_domain
from dpsql.sql.analysis.key_domain.enumeration import narrowed_column
from dpsql.sql.analysis.public_partners import with_partners
from dpsql.sql.analysis.stability import conditions_of, groups_by
from dpsql.sql.binder.aggregates.aggregate import has_aggregate, is_grouped
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.group_by import (
    group_keys,
    groups_by_unit,
    has_sets,
    has_window,
    is_plain_distinct,
)
from dpsql.sql.binder.per_unit import Grouping
from dpsql.sql.binder.private_select import released_select
from dpsql.sql.binder.scope import Ctes, alias_columns, without_ctes
from dpsql.sql.binder.sources.from_subqueries import from_items, renamed
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.set_operations import projected
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate import AVG, COUNT, SUM
from dpsql.sql.ir.aggregate_properties import Dispersion, UnitFunction
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression, columns, conjuncts, rebuilt
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Filter, Groups, Relation, Scan, UnitAggregate, groups_in, unit_of

#: Groups are counted by their number of rows up to this many; larger ones are in no row,
#: which is #: said.
MOST_COUNTED = 999
#: Stands for the rows of a group, which nothing limits. Sums of what is made of them, and not
#: brought between ends by the statement, would have noise of this size: the width of their bounds
#: is compared with the second number.
ANY_NUMBER = 10**12
MOST_OPEN = 10**9

_OUTSIDE = ("expressions", "from_", "where", "group", "having", "order", "limit", "offset")
_INSIDE = ("expressions", "from_", "joins", "where", "group", "having", "order", "distinct")
_COUNTS = (UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT)


def over_groups(select: exp.Select, binding: Binding, ctes: Ctes) -> exp.Select | None:
    """The SELECT over released rows, if it aggregates groups of private rows with undeclared keys.

    None if it does not, or if nothing bounds what one unit changes: then the groups themselves are
    released.
    """
    source = _grouped_source(select, binding, ctes)
    if source is None:
        return None
    unbounded = list[str]()
    cut = binding.attempt(lambda: _cut(select, *source, binding, unbounded))
    if cut is None and unbounded:
        binding.notices.append(unbounded[0])
    return cut


def _grouped_source(
    select: exp.Select, binding: Binding, ctes: Ctes
) -> tuple[exp.Select, Ctes] | None:
    """The grouped subquery that is all of the FROM clause, and the names that it can see."""
    asked = any(has_aggregate(item) for item in select.expressions)
    if (
        not asked
        or any(value for name, value in select.args.items() if name not in _OUTSIDE)
        or has_sets(select)
    ):
        return None
    (item,) = from_items(select) or (None,)
    query: exp.Expr | None = None
    if isinstance(item, exp.Subquery):
        query = item.this
    elif isinstance(item, exp.Table) and not item.db and fold(item.name) in ctes:
        cte = ctes[fold(item.name)]
        query = cte.query
        ctes = cte.ctes
    if (
        item is None
        or not isinstance(query, exp.Select)
        or _has_queries(select, item)
        or _has_windows(select)
    ):
        return None
    inner, ctes = without_ctes(query, ctes)
    assert isinstance(inner, exp.Select)
    return (inner, ctes) if _is_of_private_groups(inner, binding, ctes) else None


def _is_of_private_groups(inner: exp.Select, binding: Binding, ctes: Ctes) -> bool:
    """Whether the subquery groups rows of tables, some private, and reads no release."""
    if any(value for name, value in inner.args.items() if name not in _INSIDE) or _has_windows(
        inner
    ):
        return False
    if not (is_plain_distinct(inner) and not is_grouped(inner)) and inner.args.get("group") is None:
        return False
    items = from_items(inner)
    if _has_queries(inner, *items) or not all(_gives_rows(item, ctes) for item in items):
        return False
    return any(binding.gives_private_rows(item, ctes) for item in items)


def _gives_rows(item: exp.Expr, ctes: Ctes) -> bool:
    """Whether a source of the FROM clause is a table, or rows of tables that no subquery groups."""
    if isinstance(item, exp.Table):
        return bool(item.db) or fold(item.name) not in ctes
    plain = isinstance(item, exp.Subquery) and not item.find(exp.With, exp.Limit, exp.Window)
    queries = list(item.find_all(exp.Select))
    tables = all(
        bool(table.db) or fold(table.name) not in ctes for table in item.find_all(exp.Table)
    )
    return (
        plain
        and tables
        and not any(is_grouped(query) or query.args.get("distinct") for query in queries)
    )


def _has_queries(select: exp.Select, *items: exp.Expr) -> bool:
    """Whether a query stands elsewhere in the SELECT than in these sources."""
    known = {id(query) for item in items for query in item.find_all(exp.Query)}
    return any(
        id(query) not in known for query in select.find_all(exp.Query) if query is not select
    )


def _has_windows(select: exp.Select) -> bool:
    return has_window(select) or any(
        clause is not None and clause.find(exp.Window) is not None
        for clause in (select.args.get("having"), select.args.get("order"))
    )


def _cut(
    select: exp.Select, inner: exp.Select, ctes: Ctes, binding: Binding, unbounded: list[str]
) -> exp.Select | None:
    """The SELECT over what is released of the groups.

    If it adds up what nothing bounds, and all else is understood,
    ``unbounded`` gets the sentence that says so.
    """
    (item,) = from_items(select)
    name = fold(item.alias_or_name) or f"subquery {id(item)}"

    def from_clause(source: BoundRelation) -> From:
        source_from = From(binding.parameters, binding.alias)
        source_from.add(source, name, item)
        return source_from

    bound = _groups(inner, binding, ctes)
    if bound is None:
        return None
    bound = renamed(bound, alias_columns(item), item)
    known = _Known(bound, from_clause(bound), select)
    cut = released_select(select, from_clause(known.relation), binding, ctes)
    cores = [
        core for core in binding.cores if groups_in(core.relation) == groups_in(bound.relation)
    ]
    if not cores or not all(map(known.lists_keys, cores)):
        return None
    groups = groups_in(bound.relation)
    if not all(map(known.bounds_each, cores)):
        unbounded.append(_without_bounds(select, () if groups is None else groups.names))
        return None
    if groups is not None and not _has_one_row_each(groups, binding.schema):
        limit = f"at most {groups.touched:,} groups of {', '.join(groups.names)}"
        binding.notices.append(f"each unit counts in {limit}: its rows in others are left out")
    if known.counts:
        binding.notices.append(f"groups of more than {MOST_COUNTED:,} rows are in no row")
    return cut


def _has_one_row_each(groups: Groups, schema: Schema) -> bool:
    """Whether no unit has rows in a second group, because the one table has one row for each unit.

    The unit is its key or, if rows without a unit are units of their own,
    the table is the one that has the units.
    """
    relation = groups.child.branches[0].relation
    while isinstance(relation, Filter):
        relation = relation.child
    if not isinstance(relation, Scan) or relation.path is None or relation.path.hops:
        return False
    table, unit = schema.unit
    name = unit if relation.table == table else relation.path.unit.name
    return name in relation.path.unique


class _Known:
    """What the statement says of its groups' numbers, and the groups whose numbers are known.

    ``counts`` are the numbers of rows that the statement itself groups by,
    which are listed up to `MOST_COUNTED`.
    """

    def __init__(self, bound: BoundRelation, source_from: From, select: exp.Select) -> None:
        where = select.args.get("where")
        reader = source_from.reader()
        conditions = conditions_of(bound.relation)
        conditions += [] if where is None else conjuncts(reader.condition(where.this))
        groups = groups_in(bound.relation)
        assert groups is not None
        aggregates = dict(groups.aggregates)
        numbers = {
            column
            for other in bound.columns.values()
            for column in columns(other)
            if column.name in aggregates
            and aggregates[column.name].function in (*_COUNTS, UnitFunction.SUM)
        }
        counted = {number for number in numbers if aggregates[number.name].function in _COUNTS}
        known = {number: narrowed_column(number, conditions) for number in numbers}
        keys = [reader.expression(key) for key in group_keys(select, source_from)]
        listed = {
            key
            for key in keys
            if isinstance(key, ColumnRef) and key in counted and known[key] == key
        }
        listed -= {column for key in keys if key not in listed for column in columns(key)}
        known |= {
            column: replace(column, bounds=(Fraction(0), Fraction(MOST_COUNTED)))
            for column in listed
        }
        self.counts = frozenset(column.name for column in listed)
        self._unknown = frozenset(column for column in known.values() if column in numbers)

        def told(inner: Expression) -> Expression:
            return (
                known[inner]
                if isinstance(inner, ColumnRef) and inner in known
                else rebuilt(inner, told)
            )

        self.relation = BoundRelation(
            bound.relation, {name: told(column) for name, column in bound.columns.items()}
        )

    def lists_keys(self, core: Core) -> bool:
        """Whether all keys are known, and each aggregate is a count, a sum or an average."""
        known = not core.keys or core.domain is not None
        return known and all(
            aggregate.function in (COUNT, SUM, AVG) for aggregate in core.aggregates
        )

    def bounds_each(self, core: Core) -> bool:
        """Whether all that the core adds up lies between ends."""
        for aggregate in core.aggregates:
            if aggregate.function is COUNT or aggregate.argument is None:
                continue
            ends = bounds(aggregate.argument)
            is_open = any(column in self._unknown for column in columns(aggregate.argument))
            if (
                ends.low is None
                or ends.high is None
                or (is_open and ends.high - ends.low > MOST_OPEN)
            ):
                return False
        return True


def _without_bounds(select: exp.Select, names: tuple[str, ...]) -> str:
    """The message for a SELECT that adds up values without bounds.

    It names what would be asked of all groups.
    """
    totals = [total for item in select.expressions for total in item.find_all(exp.Sum, exp.Avg)]
    function = "SUM"
    argument = "x"
    argument_kind = "a number that is added up"
    if len(totals) == 1:
        function = totals[0].key.upper()
        argument = argument_kind = SANDBOX.write(totals[0].this)
    return (
        f"nothing bounds {argument_kind}: groups of {', '.join(names)} are released first, and small ones are missing; "
        f"{function}(LEAST({argument}, 20)), with an end of your own, is asked of all groups and counts a larger "
        f"{argument} as 20"
    )


def _groups(inner: exp.Select, binding: Binding, ctes: Ctes) -> BoundRelation | None:
    """The groups as a relation.

    None if each has rows of one unit, if their keys are public, or if no limit bounds them.
    """
    only(inner, *_INSIDE, code="E_STMT")
    if inner.args.get("distinct"):
        inner = inner.copy()
        inner.set("distinct", None)
        inner.set("group", exp.Group(all=True))
    source_from = binding.source_from(inner, ctes)
    if has_sets(inner) or groups_by_unit(inner, source_from):
        return None
    keys = group_keys(inner, source_from)
    where = inner.args.get("where")
    reader = source_from.reader()
    child = source_from.finish(None if where is None else reader.condition(where.this), inner)
    key_values = [reader.expression(key) for key in keys]
    touched = groups_by(with_partners(child, [key_values], binding.sizes), key_values)
    if touched is None or key_domain(child, tuple(key_values), binding.sizes) is not None:
        return None
    return _GroupsOfRows(inner, keys, child, reader, binding=binding, touched=touched).source()


class _GroupsOfRows(Grouping):
    """One GROUP BY of private rows while it is read; a group may have rows of several units."""

    _of_one_unit = False

    def __init__(
        self,
        select: exp.Select,
        keys: list[exp.Expr],
        child: Relation,
        reader: Reader,
        binding: Binding,
        touched: int,
    ) -> None:
        super().__init__(select, keys, child, reader, binding=binding)
        self._child = child
        self._touched = touched
        self._child_alias = binding.alias()
        self._names = tuple(key.name if isinstance(key, exp.Column) else key.sql() for key in keys)

    def _is_unit(self, key: Expression) -> bool:
        return False

    def _most_rows(self, aggregate: UnitAggregate) -> int | None:
        """No group has so many rows: a number that stands for any, until a condition says less."""
        if isinstance(aggregate.function, Dispersion):
            refuse("E_AGG", "a statistic of groups of several units' rows is not answered")
        return ANY_NUMBER

    def _relation(self, keys: list[Expression]) -> Relation:
        """The groups over the columns that they read, carried with the unit of their row."""
        unit = unit_of(self._child)
        parts = [
            *keys,
            *(expression for aggregate in self._aggregates for expression in aggregate.reads),
        ]
        used_columns = list(
            dict.fromkeys(column for expression in parts for column in columns(expression))
        )
        rows, outputs = projected(self._child, unit, used_columns, self._child_alias)
        places: dict[Expression, Expression] = dict(zip(used_columns, outputs, strict=True))

        def moved(inner: Expression) -> Expression:
            return places[inner] if inner in places else rebuilt(inner, moved)

        def aggregate(unmoved: UnitAggregate) -> UnitAggregate:
            argument, condition = (
                None if operand is None else moved(operand)
                for operand in (unmoved.argument, unmoved.condition)
            )
            return UnitAggregate(unmoved.function, argument, condition)

        return Groups(
            self._alias,
            rows,
            tuple((f"k{index}", moved(key)) for index, key in enumerate(keys)),
            tuple((f"a{index}", aggregate(other)) for index, other in enumerate(self._aggregates)),
            touched=self._touched,
            names=self._names,
        )
