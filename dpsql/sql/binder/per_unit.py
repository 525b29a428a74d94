"""Subqueries that group by the unit: one row per unit and further keys, made of that unit's rows.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, assert_never

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import UNIT, SqlType, fold
from dpsql.sql.analysis.bounds import as_ends, bounds, is_nullable
from dpsql.sql.analysis.public_partners import with_partners
from dpsql.sql.analysis.stability import conditions_of, limits, partners_in_group
from dpsql.sql.analysis.summand import summand
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.aggregates.aggregate import has_aggregate, is_aggregate, split, statistic
from dpsql.sql.binder.aggregates.repeated_values import repeated_value
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.ir.aggregate import COUNT, COUNT_DISTINCT, function_named
from dpsql.sql.ir.aggregate_properties import (
    Dispersion,
    UnitForm,
    UnitFunction,
    unit_ignores_repeated_rows,
)
from dpsql.sql.ir.core import Aggregate
from dpsql.sql.ir.expression import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    Call,
    ColumnRef,
    Expression,
    columns,
    conjunction,
)
from dpsql.sql.ir.interval import UNIT_INTERVAL, Interval
from dpsql.sql.ir.references import is_of_outside
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Filter, PerUnit, Relation, UnitAggregate, unit_of

#: What is said if rows without a unit count, and a subquery groups by the unit.
NULLS_LEFT_OUT = (
    "rows without a unit are in no group of a subquery that groups by the unit: "
    "SQL puts them into one, and no interval allows for it"
)

#: Clauses of a subquery that groups by the unit.
_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order")


def per_unit(
    select: exp.Select, keys: list[exp.Expr], source_from: From, binding: Binding
) -> BoundRelation:
    """The grouped subquery as a relation whose rows each have one unit, with its output columns."""
    only(select, *_CLAUSES, code="E_STMT")
    where = select.args.get("where")
    reader = source_from.reader()
    child = source_from.finish(None if where is None else reader.condition(where.this), select)
    return Grouping(select, keys, child, reader, binding=binding).source()


class Grouping:
    """One GROUP BY of a subquery while it is read, whose groups have rows of one unit."""

    _of_one_unit: ClassVar[bool] = True

    def __init__(
        self,
        select: exp.Select,
        keys: list[exp.Expr],
        child: Relation,
        reader: Reader,
        binding: Binding,
    ) -> None:
        self._select = select
        self._reader = reader
        self._alias = binding.alias()
        self._keys = [reader.expression(key) for key in keys]
        orphans = self._of_one_unit and binding.schema.privacy.orphans == "each"
        self._has_orphans = orphans and unit_of(child) is not None
        self._child = Filter(child, _one_unit(self._keys)) if self._has_orphans else child
        if self._has_orphans and _may_lack_unit(child, self._keys):
            binding.notices.append(NULLS_LEFT_OUT)
        self._rows = _rows_in_group(self._child, self._keys, binding.sizes)
        self._aggregates: list[UnitAggregate] = []
        self._outer = Reader(self._ungrouped, reader.parameters, self._known)

    def source(self) -> BoundRelation:
        """The groups as a relation, and what the output columns of the subquery mean."""
        columns: dict[str, Expression] = {}
        for index, item in enumerate(self._select.expressions):
            if isinstance(item, exp.Star):
                refuse("E_COLUMN", "list the columns of a grouped subquery", item)
            name = fold(item.alias_or_name) or f"column{index}"
            if name in columns:
                refuse(
                    "E_COLUMN", f"two columns are called {name}; give one of them an alias", item
                )
            columns[name] = self._outer.expression(item.unalias())
        having = self._select.args.get("having")
        condition = None if having is None else self._outer.condition(having.this)
        keys = [key for key in self._keys if not self._is_unit(key)]
        relation = self._relation(keys)
        return BoundRelation(
            relation if condition is None else Filter(relation, condition), columns
        )

    def _relation(self, keys: list[Expression]) -> Relation:
        return PerUnit(
            self._alias,
            self._child,
            tuple((f"k{index}", key) for index, key in enumerate(keys)),
            tuple((f"a{index}", aggregate) for index, aggregate in enumerate(self._aggregates)),
        )

    def _most_rows(self, aggregate: UnitAggregate) -> int | None:
        """The most rows that a group has for the aggregate; None where nothing limits them."""
        return self._rows

    def _is_unit(self, key: Expression) -> bool:
        """Whether the key holds the unit of each row, which the subquery carries along anyway."""
        if self._has_orphans:
            return False
        return isinstance(key, ColumnRef) and key.identifies == UNIT

    def _ungrouped(self, node: exp.Column) -> Expression:
        refuse("E_COLUMN", f"{node.name} must stand in GROUP BY or in an aggregate", node)

    def _known(self, node: exp.Expr) -> Expression | None:
        """The column of the grouped subquery that holds the key or the aggregate."""
        if is_aggregate(node):
            return self._repeated(node) or self._aggregate(node)
        if isinstance(node, exp.IgnoreNulls) and isinstance(node.this, exp.AnyValue):
            return self._known(node.this)
        if isinstance(node, exp.Subquery):
            value = self._reader.expression(node)
            return None if any(columns(value)) else value
        if not isinstance(node, exp.Column) and node.find(exp.AggFunc, exp.Filter) is not None:
            return None
        if node.find(exp.Column) is None or node.find(exp.Query) is not None:
            return None
        return self._key(self._reader.expression(node))

    def _key(self, expression: Expression) -> Expression | None:
        unit = unit_of(self._child)
        if self._is_unit(expression) and unit is not None:
            return ColumnRef(self._alias, UNIT, unit.type, identifies=UNIT)
        rest = [key for key in self._keys if not self._is_unit(key)]
        if expression not in rest:
            return None
        name = f"k{rest.index(expression)}"
        if isinstance(expression, ColumnRef):
            return ColumnRef(
                self._alias,
                name,
                type=expression.type,
                nullable=expression.nullable,
                bounds=expression.bounds,
                domain=expression.domain,
                identifies=expression.identifies,
                public=False,
                null_group=expression.null_group,
            )
        return self._column(name, expression.type, bounds(expression), is_nullable(expression))

    def _repeated(self, node: exp.Expr) -> Expression | None:
        """The value that the aggregate repeats, if all rows of a group have it; else None."""
        repeated = repeated_value(node)
        if repeated is None or repeated.type != "argument" or has_aggregate(repeated.argument):
            return None
        if repeated.beside is not None and is_nullable(self._reader.expression(repeated.beside)):
            return None
        try:
            return (
                self._outer.expression(repeated.argument)
                if repeated.argument.find(exp.Column) is not None
                else None
            )
        except DatabaseError:
            return None  # not a function of the keys alone

    def _aggregate(self, node: exp.Expr) -> Expression:
        aggregate = unit_aggregate(node, self._reader)
        require_own_columns(self._child, aggregate, node)
        if aggregate not in self._aggregates:
            self._aggregates.append(aggregate)
        sql_type, interval, nullable = meaning(aggregate, self._most_rows(aggregate))
        return self._column(f"a{self._aggregates.index(aggregate)}", sql_type, interval, nullable)

    def _column(
        self, name: str, sql_type: SqlType, interval: Interval, nullable: bool
    ) -> ColumnRef:
        return ColumnRef(self._alias, name, sql_type, nullable, bounds=as_ends(sql_type, interval))


def _identifying(keys: list[Expression]) -> list[ColumnRef]:
    """The keys that each identify the unit of a row."""
    return [key for key in keys if isinstance(key, ColumnRef) and key.identifies is not None]


def _may_lack_unit(relation: Relation, keys: list[Expression]) -> bool:
    """Whether all keys that identify a row's unit may be NULL.

    They may if no condition compares one, or asks that it is not NULL.
    """
    required = set[Expression]()
    for condition in conditions_of(relation):
        match condition:
            case Call(function="=" | "<" | "<=" | ">" | ">=" | "<>" | "in", arguments=arguments):
                required.update(arguments)
            case Call(function="not", arguments=(Call(function="is null", arguments=(column,)),)):
                required.add(column)
            case _:
                pass
    return all(is_nullable(key) and key not in required for key in _identifying(keys))


def _one_unit(keys: list[Expression]) -> Expression:
    """True in rows whose group has rows of one unit: some key that identifies it is there.

    Without, SQL has one group of the rows of many units."""
    nulls: list[Expression] = [Call("is null", (key,), BOOLEAN) for key in _identifying(keys)]
    lacks = nulls[0] if len(nulls) == 1 else Call("and", tuple(nulls), BOOLEAN)
    return Call("not", (lacks,), BOOLEAN)


def _rows_in_group(relation: Relation, keys: list[Expression], sizes: Fanout) -> int | None:
    """The most rows of a unit that its limits allow in one group of the keys."""
    if unit_of(relation) is None:
        return None
    private = limits(relation).rows
    return (
        None
        if private is None
        else private * partners_in_group(with_partners(relation, [keys], sizes), keys)
    )


def unit_aggregate(node: exp.Expr, reader: Reader) -> UnitAggregate:
    """What an aggregate over rows of one unit computes; refused if it may depend on their order."""
    statistic_aggregate = statistic(node, reader)
    if statistic_aggregate is not None:
        return _of_one_unit(statistic_aggregate, node)
    function, distinct, argument, condition = split(node, reader)
    if (
        isinstance(function, exp.CountIf)
        and argument is not None
        and argument.type == BOOLEAN
        and not distinct
    ):
        counted = conjunction([operand for operand in (condition, argument) if operand is not None])
        return UnitAggregate(UnitFunction.COUNT, None, counted)
    form = _form(function, distinct, node)
    if form is UnitFunction.SUM or form is UnitFunction.AVG:
        assert argument is not None
        argument = summand(argument, form.upper(), node)
    return UnitAggregate(form, argument, condition)


def _of_one_unit(aggregate: Aggregate, node: exp.Expr) -> UnitAggregate:
    """A statistic of one unit's rows; refused if it is not computed per unit."""
    form = aggregate.function.per_unit
    if form is None:
        asked = (
            "statistics of pairs are"
            if aggregate.other is not None
            else f"{aggregate.function.name.upper()} is"
        )
        them = "them" if aggregate.other is not None else "it"
        refuse("E_AGG", f"{asked} not answered per unit; ask for {them} over all rows", node)
    return UnitAggregate(form, aggregate.argument, aggregate.condition)


def require_own_columns(relation: Relation, aggregate: UnitAggregate, node: exp.Expr) -> None:
    """Refuse an aggregate that the engine would take for one of the query outside."""
    if is_of_outside(relation, aggregate):
        refuse(
            "E_SUBQ",
            "an aggregate of columns outside its subquery alone is one of the query outside in SQL; name "
            "a column of the subquery in it",
            node,
        )


def _sum_type(argument: SqlType) -> SqlType:
    """The type of a sum.

    For decimals it has the most digits, and as many after the point as its values.
    """
    return SqlType("decimal", 38, argument.scale) if argument.kind == "decimal" else argument


def meaning(aggregate: UnitAggregate, rows: int | None) -> tuple[SqlType, Interval, bool]:
    """The type, the interval and the nullability of an aggregate of at most so many rows."""
    many = Interval(Fraction(0), None if rows is None else Fraction(rows))
    match aggregate.function:
        case UnitFunction.COUNT | UnitFunction.COUNT_DISTINCT:
            return INTEGER, many, False
        case UnitFunction.SUM:
            assert aggregate.argument is not None
            return _sum_type(aggregate.argument.type), bounds(aggregate.argument) * many, True
        case UnitFunction.AVG:
            assert aggregate.argument is not None
            return DOUBLE, bounds(aggregate.argument), True
        case UnitFunction.EVERY | UnitFunction.SOME:
            return BOOLEAN, UNIT_INTERVAL, True
        case Dispersion() as dispersion:
            assert aggregate.argument is not None
            return DOUBLE, _spread(dispersion, bounds(aggregate.argument)), True
        case UnitFunction.MIN | UnitFunction.MAX:
            assert aggregate.argument is not None
            return aggregate.argument.type, bounds(aggregate.argument), True
        case _:
            assert_never(aggregate.function)


def _spread(dispersion: Dispersion, values: Interval) -> Interval:
    """The interval of a variance or standard deviation of values.

    Values between two ends 2A apart have a variance of at most A², and a sample variance of at most
    2A².
    """
    assert values.low is not None and values.high is not None
    reach = (values.high - values.low) / 2
    if dispersion.is_deviation:
        return Interval(Fraction(0), reach * Fraction(3, 2) if dispersion.of_sample else reach)
    return Interval(Fraction(0), 2 * reach**2 if dispersion.of_sample else reach**2)


def _form(call: exp.Expr, distinct: bool, node: exp.Expr) -> UnitForm:
    """How one of the functions that `split` knows is computed over the rows of one unit."""
    function = function_named(call)
    if function is COUNT and distinct:
        function = COUNT_DISTINCT
    form = None if function is None or isinstance(call, exp.CountIf) else function.per_unit
    if form is None or (distinct and not unit_ignores_repeated_rows(form)):
        refuse("E_AGG", "this aggregate is not answered per unit", node)
    return form
