"""The values that keys of one core may have; keys are rewritten to read nothing else.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import bounds, is_nullable
from dpsql.sql.analysis.key_domain.enumeration import (
    MAX_RANGE,
    column_days,
    column_values,
    compared_moments,
    narrowed_column,
    narrowed_moment,
    values,
)
from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.functions.call import is_double
from dpsql.sql.ir.aggregate_properties import UnitFunction
from dpsql.sql.ir.core import Days, Enumerated
from dpsql.sql.ir.expression import (
    BOOLEAN,
    INTEGER,
    Call,
    Case,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    Scalar,
    Subquery,
    columns,
    connected,
    parts,
    rebuilt,
    share_relations,
    subqueries,
)
from dpsql.sql.ir.references import outer_columns, reads_private
from dpsql.sql.ir.relation import Groups, Leaf, PerUnit, Relation, Scan, UnitAggregate

#: Combinations of all keys, and of the values that keys in common are computed from,
#: are enumerated #: up to this many.
MAX_KEYS = 100_000

#: Functions of a moment that its day alone decides.
_OF_DAYS = frozenset(
    "year quarter month week day dayofyear dayofweek isodow isoyear decade century".split()
    + [f"date_trunc {unit}" for unit in ("year", "quarter", "month", "week", "day")]
)


@dataclass
class DomainValues:
    """The values that the keys of one core may have, collected key by key.

    ``enumerated`` has what stands for a column or a function of columns, by that expression; the
    conditions of a CASE are there as what chooses a branch. With ``by_output`` keys that share no
    column are listed by their values.
    """

    relation: Relation
    sizes: Fanout
    by_output: bool = False
    enumerated: dict[object, Enumerated] = field(default_factory=dict)
    count: int = 1

    def __post_init__(self) -> None:
        public = [
            leaf
            for leaf in sources(self.relation)
            if not reads_private(leaf) and not outer_columns(leaf)
        ]
        self.public = {leaf.alias: leaf for leaf in public}
        self.conditions = [
            condition
            for condition in conditions_of(self.relation)
            if not any(subqueries(condition))
        ]
        self._narrow: dict[ColumnRef, ColumnRef] = {}
        self._moments = compared_moments(self.conditions)

    def keys(self, keys: Sequence[Expression]) -> list[Expression] | None:
        """Each key over enumerated values and public columns; None if a key has other inputs.

        Keys that share columns are computed from the columns' values where these are few, so that
        only combinations that occur together are shown, else each from the values of its functions.
        """
        fine = [self._reduced(key, fine=not self._has_own_values(key, keys)) for key in keys]
        reduced: list[Expression] = []
        for key, candidate in zip(keys, fine, strict=True):
            known = [reduction for reduction in fine if reduction is not None]
            alike = [
                reduction
                for reduction in known
                if candidate is not None and share_relations(reduction, candidate)
            ]
            few = (
                candidate is not None
                and self._inputs([candidate, *alike]) <= MAX_KEYS
                and self._is_short(key)
            )
            chosen = candidate if few else self._reduced(key, fine=False)
            if chosen is None:
                return None
            reduced.append(chosen)
        groups = connected(reduced)
        outputs = {key: self._count(original) for key, original in zip(reduced, keys, strict=True)}
        self.count = prod(
            min(self._inputs(group), prod(outputs[key] for key in group)) for group in groups
        )
        return reduced if self.count <= MAX_KEYS else None

    def _has_own_values(self, key: Expression, keys: Sequence[Expression]) -> bool:
        """Whether the key is listed by its own values, not by those of its columns."""
        shared = any({*columns(key)} & {*columns(other)} for other in keys if other != key)
        return self.by_output and not isinstance(key, ColumnRef) and not shared

    def tables(self, keys: Sequence[Expression]) -> tuple[Leaf, ...]:
        """The public tables that keys read, and those joined to them by public columns alone.

        ``nation JOIN region ON … WHERE r_name = 'ASIA'`` shows the nations of Asia, and no others.
        """
        named = {column.relation for key in keys for column in columns(key)} & self.public.keys()
        by_condition = [list(columns(condition)) for condition in self.conditions]
        public = [columns for columns in by_condition if all(column.public for column in columns)]
        while True:
            joined = [
                columns for columns in public if any(column.relation in named for column in columns)
            ]
            more = named | {column.relation for columns in joined for column in columns}
            if more == named:
                return tuple(leaf for alias, leaf in self.public.items() if alias in named)
            named = more

    def substituted(self, expression: Expression) -> Expression | None:
        """The expression over enumerated values and public columns; None if it reads more."""
        if expression in self.enumerated:
            return self.enumerated[expression].column
        moment = _moment_of(expression)
        if moment is not None and _of_moment(moment) in self.enumerated:
            day = self.enumerated[_of_moment(moment)].column
            return rebuilt(expression, lambda _: day)
        if isinstance(expression, ColumnRef):
            return expression if expression.public and expression.relation in self.public else None
        if isinstance(expression, Subquery):
            return expression if self._is_public(expression) else None
        inner = {operand: self.substituted(operand) for operand in parts(expression)}
        return (
            None
            if None in inner.values()
            else rebuilt(expression, lambda operand: inner[operand] or operand)
        )

    def _inputs(self, expressions: Sequence[Expression]) -> int:
        inputs = {column for expression in expressions for column in columns(expression)}
        return prod(entry.count for entry in self.enumerated.values() if entry.column in inputs)

    def _is_short(self, key: Expression) -> bool:
        """Whether a key that is computed from days has few enough values to be listed."""
        days = any(
            column_values(self.narrow(column)) is None
            for column in columns(key)
            if column.type.is_temporal
        )
        return not days or self._count(key) <= MAX_RANGE

    def _count(self, expression: Expression) -> int:
        """At most how many values the expression shows; those of public columns are not counted."""
        if isinstance(expression, Literal) or (
            isinstance(expression, ColumnRef) and expression.public
        ):
            return 1
        if isinstance(expression, ColumnRef):
            entry = self.enumerated.get(expression)
            return MAX_KEYS + 1 if entry is None else entry.count
        known = values(self._narrowly(expression))
        inner = prod(map(self._count, parts(expression)))
        if isinstance(expression, Case):
            results = [value for _, value in expression.branches]
            results += [] if expression.default is None else [expression.default]
            inner = sum(map(self._count, results)) + 1
        return inner if known is None else min(inner, len(known))

    # -- reducing one key --------------------------------------------------------------------------

    def _reduced(self, expression: Expression, fine: bool) -> Expression | None:
        """The expression over enumerated values: of columns if ``fine``, else of functions."""
        if isinstance(expression, Subquery):
            return self._function(expression) or self._stands_for(
                expression, self._of_public_rows(expression)
            )
        public = all(
            column.public and column.relation in self.public for column in columns(expression)
        )
        if public and not any(subqueries(expression)):
            return expression
        if isinstance(expression, ColumnRef):
            listed = (
                None if expression.domain else public_values(expression, self.relation, self.sizes)
            )
            return self._stands_for(expression, listed or column_values(self.narrow(expression)))
        if isinstance(expression, Case):
            return self._case(expression, fine)
        if not fine:
            return self._function(expression) or self._of_parts(expression, fine)
        return (
            self._of_days(expression)
            or self._of_parts(expression, fine)
            or self._function(expression)
        )

    def _is_public(self, expression: Expression) -> bool:
        """Whether the expression reads public tables alone, in its subqueries too."""
        joined = all(
            column.public and column.relation in self.public for column in columns(expression)
        )
        return joined and not any(
            reads_private(subquery.relation) for subquery in subqueries(expression)
        )

    def _of_public_rows(self, subquery: Subquery) -> tuple[Scalar, ...] | None:
        """The values that a MIN or MAX of a public column may have, and NULL for no row."""
        inner = _extreme(subquery.aggregate)
        listed = (
            public_values(inner, subquery.relation, self.sizes)
            if isinstance(inner, ColumnRef)
            else None
        )
        return None if listed is None else tuple(dict.fromkeys((*listed, None)))

    def _function(self, expression: Expression) -> Expression | None:
        known = values(self._narrowly(expression))
        if known is None and expression in self._moments:
            days = self._narrow_part(expression)
            known = column_values(days) if isinstance(days, ColumnRef) else None
        return self._stands_for(expression, known)

    def _of_parts(self, expression: Expression, fine: bool) -> Expression | None:
        inner = {operand: self._reduced(operand, fine) for operand in parts(expression)}
        return (
            None
            if None in inner.values()
            else rebuilt(expression, lambda operand: inner[operand] or operand)
        )

    def _of_days(self, expression: Expression) -> Expression | None:
        """A function of the day of a bounded date or timestamp, over the days in its bounds."""
        moment = _moment_of(expression)
        if moment is None:
            return None
        narrow = self.narrow(moment)
        day = self._stands_for(
            moment, column_values(narrow) or column_days(narrow), _of_moment(moment)
        )
        return None if day is None else rebuilt(expression, lambda _: day)

    def _case(self, case: Case, fine: bool) -> Expression | None:
        """The CASE over the values that its conditions read, or over branch numbers if too many."""
        results = [value for _, value in case.branches]
        reduced = [self._reduced(result, fine) for result in results]
        default = None if case.default is None else self._reduced(case.default, fine)
        if None in reduced or (case.default is not None and default is None):
            return None
        asked = [condition for condition, _ in case.branches]
        conditions = self._conditions_of_columns(asked) if fine else None
        if conditions is None:
            conditions = self._branches(asked)
        pairs = tuple(
            (condition, value)
            for condition, value in zip(conditions, reduced, strict=True)
            if value
        )
        return Case(pairs, default, case.type)

    def _conditions_of_columns(self, asked: list[Expression]) -> list[Expression] | None:
        """The conditions over the values of their columns; None if these are too many."""
        inner = [
            self._reduced(column, fine=True) for condition in asked for column in columns(condition)
        ]
        reduced = (
            [] if None in inner else [self._reduced(condition, fine=True) for condition in asked]
        )
        known = [reduction for reduction in reduced if reduction is not None]
        return known if len(known) == len(asked) and self._inputs(known) <= MAX_KEYS else None

    def _branches(self, asked: list[Expression]) -> list[Expression]:
        """That each branch is the one taken, in the order of the conditions."""
        chosen = ColumnRef("", "branch", INTEGER, nullable=False)
        branch = self._stands_for(chosen, tuple(range(len(asked) + 1)), tuple(asked))
        assert branch is not None
        return [
            Call("=", (branch, Literal(index, INTEGER)), BOOLEAN) for index in range(len(asked))
        ]

    def _stands_for(
        self, expression: Expression, known: tuple[Scalar, ...] | Days | None, name: object = None
    ) -> ColumnRef | None:
        """The domain's column for the expression; None if its values are not known."""
        if known is None:
            return None
        name = expression if name is None else name
        if name not in self.enumerated:
            column = ColumnRef(f"d{len(self.enumerated)}", "value", expression.type)
            double = not isinstance(expression, ColumnRef) and is_double(expression)
            self.enumerated[name] = Enumerated(column, known, double)
        return self.enumerated[name].column

    def narrow(self, column: ColumnRef) -> ColumnRef:
        """The column with what the statement's conditions say of it."""
        if column not in self._narrow:
            self._narrow[column] = narrowed_column(column, self.conditions)
        return self._narrow[column]

    def _narrowly(self, expression: Expression) -> Expression:
        return (
            self.narrow(expression)
            if isinstance(expression, ColumnRef)
            else rebuilt(expression, self._narrow_part)
        )

    def _narrow_part(self, operand: Expression) -> Expression:
        narrow = self._narrowly(operand)
        if operand not in self._moments:
            return narrow
        return narrowed_moment(operand, bounds(narrow), is_nullable(narrow), self.conditions)


def public_values(
    column: ColumnRef, relation: Relation, sizes: Fanout
) -> tuple[Scalar, ...] | None:
    """Every value of a column of a public table in the relation, and NULL if it is nullable.

    A key, a MIN or a MAX of a subquery per unit has the values of its column. None for all other
    columns, and if the values are too many to list.
    """
    known = None
    match next((source for source in sources(relation) if source.alias == column.relation), None):
        case Scan(table=table, derived=False, unit=None):
            known = sizes.values(table, column)
        case PerUnit() | Groups() as leaf:
            inner = dict(leaf.keys).get(column.name) or _extreme(
                dict(leaf.aggregates).get(column.name)
            )
            known = (
                public_values(inner, leaf.child, sizes) if isinstance(inner, ColumnRef) else None
            )
    return known if known is None or not column.nullable else tuple(dict.fromkeys((*known, None)))


def _extreme(aggregate: UnitAggregate | None) -> Expression | None:
    """What the aggregate is one of the values of."""
    ends = (UnitFunction.MIN, UnitFunction.MAX)
    return aggregate.argument if aggregate is not None and aggregate.function in ends else None


def _moment_of(expression: Expression) -> ColumnRef | None:
    """The date or timestamp of whose day alone the expression is a function."""
    match expression:
        case Call(function=function, arguments=(ColumnRef() as moment,)) if function in _OF_DAYS:
            return None if moment.public else moment
        case Cast(argument=ColumnRef() as moment, type=SqlType(kind="date")) if (
            moment.type.is_temporal
        ):
            return None if moment.public else moment
    return None


def _of_moment(moment: ColumnRef) -> object:
    """The name of a moment's days: a date's own, a timestamp's apart from its values."""
    return moment if moment.type.kind == "date" else ("day", moment)
