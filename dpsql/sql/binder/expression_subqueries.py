"""Subqueries in expressions, over public rows or rows of the same unit.

They are EXISTS, IN, ANY, ALL and single values. Proved in ``docs/proofs/subquery.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import as_ends, is_nullable
from dpsql.sql.analysis.empty_relations import has_no_rows
from dpsql.sql.analysis.join_on_unit import is_tied
from dpsql.sql.analysis.public_partners import with_partners
from dpsql.sql.analysis.stability import limits
from dpsql.sql.analysis.work.rows import public_rows
from dpsql.sql.binder.aggregates.aggregate import is_aggregate, is_grouped
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.correlated_subqueries import correlated
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.per_unit import meaning, require_own_columns, unit_aggregate
from dpsql.sql.binder.scope import Ctes, without_ctes
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.tables import BoundRelation, without_known_parents
from dpsql.sql.functions.call import alike, call
from dpsql.sql.functions.signature import common_type
from dpsql.sql.ir.aggregate_properties import UnitFunction
from dpsql.sql.ir.expression import (
    BOOLEAN,
    Call,
    Case,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
    conjunction,
)
from dpsql.sql.ir.interval import Interval
from dpsql.sql.ir.references import is_of_outside, outer_columns
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Filter, Relation, UnitAggregate, unit_of
from dpsql.sql.parser.parameter import PLACE

_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("=", "<>"),
    exp.NEQ: ("<>", "="),
    exp.LT: ("<", ">="),
    exp.LTE: ("<=", ">"),
    exp.GT: (">", "<="),
    exp.GTE: (">=", "<"),
}
_TRUE = Literal(True, BOOLEAN)
_FALSE = Literal(False, BOOLEAN)
_UNKNOWN = Literal(None, BOOLEAN)


class Subqueries:
    """Reads the subqueries in the expressions of one SELECT; one that occurs twice is read once."""

    def __init__(self, binding: Binding, source_from: From, ctes: Ctes) -> None:
        self._binding = binding
        self._from = source_from
        self._ctes = ctes
        self._read: dict[object, Expression] = {}

    def known(self, node: exp.Expr) -> Expression | None:
        """The meaning of a subquery or a comparison with one; None for another node."""
        query = _query_of(node)
        if query is None:
            return None
        places = tuple(
            placeholder.meta.get(PLACE) for placeholder in node.find_all(exp.Placeholder)
        )
        key = (node, places, len(self._from.scope.sources))
        if key not in self._read:
            self._read[key] = self._meaning(node, query)
        return self._read[key]

    def _meaning(self, node: exp.Expr, query: exp.Expr) -> Expression:
        match node:
            case exp.Exists():
                return self._exists(query)
            case exp.In():
                only(node, "this", "query", "expressions")
                return self._any("=", node.this, query)
            case exp.Binary(expression=exp.Any()):
                return self._any(_COMPARISONS[type(node)][0], node.this, query)
            case exp.Binary():
                comparison = self._any(_COMPARISONS[type(node)][1], node.this, query)
                return Call("not", (comparison,), BOOLEAN)
            case _:
                return self.value(query)

    # -- EXISTS, ANY -------------------------------------------------------------------------------

    def _exists(self, query: exp.Expr) -> Expression:
        source = self._source(_rows_that_matter(query))
        return self._has_rows(source.relation, [], query)

    def _any(self, function: str, node: exp.Expr, query: exp.Expr) -> Expression:
        """Whether the comparison holds for some row; else unknown if it is so for some row."""
        values = [self._from.reader().expression(value) for value in _row_of(node)]
        source = self._source(_without(query, "order", "distinct"))
        options = list(source.columns.values())
        for option in options:
            if isinstance(option, ColumnRef) and option.relation in self._outside:
                refuse(
                    "E_SUBQ",
                    f"{option.name} is not a column of the subquery's tables, so that it means the row's "
                    "own; write the column that is to be compared",
                    query,
                )
        if len(options) != len(values) or (len(values) > 1 and function != "="):
            refuse(
                "E_SUBQ",
                f"this subquery must have {len(values)} columns, and the comparison = if more than one",
                query,
            )
        pairs = [
            call(function, [value, option], query)
            for value, option in zip(values, options, strict=True)
        ]
        result = self._has_rows(source.relation, pairs, query)
        if not any(map(is_nullable, [*values, *options])):
            return result
        return Case(
            ((result, _TRUE), *self._unknown(source.relation, values, options, pairs)),
            _FALSE,
            BOOLEAN,
        )

    def _unknown(
        self,
        relation: Relation,
        values: list[Expression],
        options: list[Expression],
        pairs: list[Expression],
    ) -> list[tuple[Expression, Expression]]:
        """The conditions that make a comparison unknown, not false, if it holds for no row."""
        conditions: list[Expression] = []
        if not self._is_admitted(
            relation
        ):  # only its rows of the value's unit are read, whose tie is never NULL
            tied = [self._is_admitted(_filtered(relation, [pair])) for pair in pairs]
            conditions = [
                _is_null(value)
                for value, tie in zip(values, tied, strict=True)
                if tie and is_nullable(value)
            ]
            others = conjunction([pair for pair, tie in zip(pairs, tied, strict=True) if not tie])
            if others is not None:
                tied_rows = _filtered(
                    relation, [pair for pair, tie in zip(pairs, tied, strict=True) if tie]
                )
                tied_rows = without_known_parents(tied_rows, self._outside)
                conditions.append(_subquery(tied_rows, [_is_null(others)], None))
        elif len(values) > 1:
            all_pairs = conjunction(pairs)
            assert all_pairs is not None
            conditions = [_subquery(relation, [_is_null(all_pairs)], None)]
        else:
            if is_nullable(options[0]):
                conditions.append(_subquery(relation, [_is_null(options[0])], None))
            if is_nullable(values[0]):
                missing = (_is_null(values[0]), _subquery(relation, [], None))
                conditions.append(Call("and", missing, BOOLEAN))
        return [(condition, _UNKNOWN) for condition in conditions]

    def _has_rows(
        self, relation: Relation, conditions: list[Expression], query: exp.Expr
    ) -> Expression:
        rows = _filtered(relation, conditions)
        if has_no_rows(rows):
            return _FALSE
        if not self._is_admitted(rows):
            refuse(
                "E_SUBQ",
                "the rows of this subquery may be other units'; tie them to the row's own unit in its "
                "WHERE, or compare the unit's column with IN",
                query,
            )
        return _subquery(without_known_parents(rows, self._outside), [], None)

    def _is_admitted(self, relation: Relation) -> bool:
        """Whether the relation is public, or has only rows of the unit that the outer row has."""
        return unit_of(relation) is None or is_tied(relation, self._outside)

    @property
    def _outside(self) -> frozenset[str]:
        return self._from.scope.relations()

    def _source(self, query: exp.Expr) -> BoundRelation:
        return self._binding.rows(query, self._ctes, self._from.scope)

    # -- a single value ----------------------------------------------------------------------------

    def value(self, query: exp.Expr) -> Expression:
        """A scalar subquery: an aggregate without groups, or the column of at most one row."""
        select, ctes = without_ctes(query, self._ctes)
        if not isinstance(select, exp.Select) or len(select.expressions) != 1:
            refuse("E_SUBQ", "a subquery that stands for a value is a SELECT of one column", query)
        if not is_grouped(select) or select.args.get("group") is not None:
            outer = self._from.scope if select.args.get("where") else None
            if self._binding.is_released(select, ctes, outer):  # the sandbox refuses several rows
                scalar_select = exp.Select(
                    expressions=[exp.alias_(exp.Subquery(this=select.copy()), "value")]
                )
                source = self._binding.derived(scalar_select, ctes)
            else:
                source = self._source(query)
            (value,) = source.columns.values()
            self._require_admitted(source.relation, query)
            largest = UnitAggregate(UnitFunction.MAX, value, None)
            if is_of_outside(source.relation, largest):
                has_rows = _subquery(
                    without_known_parents(source.relation, self._outside), [], None
                )
                return Case(((has_rows, value),), None, value.type)
            return self._aggregated(source.relation, largest)
        only(
            select,
            "expressions",
            "from_",
            "joins",
            "where",
            code="E_SUBQ",
            subject="a single value with GROUP BY",
        )
        inner = self._binding.source_from(select, ctes, self._from.scope)
        where = select.args.get("where")
        relation = inner.finish(
            None if where is None else inner.reader().condition(where.this), select
        )
        if not self._is_admitted(relation):
            return self._earlier(select, ctes, inner)

        def known(node: exp.Expr) -> Expression | None:
            if not is_aggregate(node):
                return None
            aggregate = unit_aggregate(node, inner.reader())
            require_own_columns(relation, aggregate, node)
            return self._aggregated(relation, aggregate)

        def ungrouped(column: exp.Column) -> Expression:
            if inner.scope.has_column(column.name) or self._from.scope.sources == []:
                refuse("E_COLUMN", f"{column.name} must stand in an aggregate", column)
            return self._from.scope.resolve(column)

        return Reader(ungrouped, self._from.parameters, known).expression(
            select.expressions[0].unalias()
        )

    def _earlier(self, select: exp.Select, ctes: Ctes, inner: From) -> Expression:
        """An aggregate over several units from an earlier core; NULL if it omits the group."""
        tied = correlated(select, inner.scope)
        source = self._binding.derived(select if tied is None else tied.grouped, ctes)
        *keys, value = source.columns.values()
        relation = source.relation
        reader = self._from.reader()
        for key, node in zip(keys, () if tied is None else tied.outer, strict=True):
            relation = Filter(relation, call("=", [reader.expression(node), key], node))
        result = self._aggregated(relation, UnitAggregate(UnitFunction.MAX, value, None))
        if tied is None or tied.empty is None:
            return result
        result, empty = alike([result, reader.expression(tied.empty)], select)
        has_rows = _subquery(relation, [], None)
        return Case(((has_rows, result),), empty, common_type(result.type, empty.type))

    def _require_admitted(self, relation: Relation, query: exp.Expr) -> None:
        if not self._is_admitted(relation):
            refuse(
                "E_SUBQ",
                "the value of this subquery would be one person's; take an aggregate of it, such as "
                "(SELECT AVG(…) FROM …)",
                query,
            )

    def _aggregated(self, relation: Relation, aggregate: UnitAggregate) -> Expression:
        public = unit_of(relation) is None
        sizes = self._binding.sizes
        rows = (
            public_rows(relation, sizes)
            if public
            else limits(with_partners(relation, (), sizes)).rows
        )
        sql_type, interval, nullable = meaning(aggregate, rows)
        relation = without_known_parents(relation, self._outside)
        return _subquery(relation, [], aggregate, sql_type, interval=interval, nullable=nullable)


def _subquery(
    relation: Relation,
    conditions: list[Expression],
    aggregate: UnitAggregate | None,
    sql_type: SqlType = BOOLEAN,
    interval: Interval | None = None,
    nullable: bool = False,
) -> Subquery:
    relation = _filtered(relation, conditions)
    ends = None if interval is None else as_ends(sql_type, interval)
    return Subquery(
        relation,
        aggregate,
        outer_columns(relation, aggregate),
        sql_type,
        nullable=nullable,
        bounds=ends,
    )


def _filtered(relation: Relation, conditions: list[Expression]) -> Relation:
    for condition in conditions:
        relation = Filter(relation, condition)
    return relation


def _is_null(expression: Expression) -> Expression:
    return Call("is null", (expression,), BOOLEAN)


def _query_of(node: exp.Expr) -> exp.Expr | None:
    """The query inside a node that is a subquery or compares with one; None for any other node."""
    match node:
        case exp.Exists():
            return _unwrapped(node.this)
        case exp.In() if node.args.get("query") is not None and not node.args.get("negate"):
            return _unwrapped(node.args["query"])
        case exp.In(expressions=[exp.Values() as values]) if not node.args.get("negate"):
            return values
        case exp.Binary(expression=exp.Any() | exp.All() as quantified) if (
            type(node) in _COMPARISONS
        ):
            inner = _unwrapped(quantified.this)
            return inner if isinstance(inner, exp.Query) else None
        case exp.Subquery() | exp.Select():
            return _unwrapped(node)
        case _:
            return None


def _unwrapped(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery | exp.Paren) and isinstance(node.this, exp.Query):
        node = node.this
    return node


def _row_of(node: exp.Expr) -> list[exp.Expr]:
    while isinstance(node, exp.Paren):
        node = node.this
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _without(query: exp.Expr, *parts: str) -> exp.Expr:
    """The query without the clauses that do not change which rows it gives."""
    query = query.copy()
    for clause in parts:
        if isinstance(query, exp.Select) and not (
            clause == "order" and query.args.get("limit") is not None
        ):
            query.set(clause, None)
    return query


def _rows_that_matter(query: exp.Expr) -> exp.Expr:
    """The query without what EXISTS ignores: ORDER BY, DISTINCT, columns, LIMIT 1 or more."""
    query = _without(query, "order", "distinct")
    if not isinstance(query, exp.Select) or is_grouped(query):
        return query
    limit = query.args.get("limit")
    if (
        isinstance(limit, exp.Limit)
        and limit.expression.name.isdigit()
        and int(limit.expression.name) > 0
    ):
        query.set("limit", None)
        query.set("order", None)
    if any(
        isinstance(item, exp.Star) or isinstance(item.this, exp.Star) for item in query.expressions
    ):
        query.set("expressions", [exp.Literal.number(1)])
    return query
