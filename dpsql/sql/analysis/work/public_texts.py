"""The lengths of the texts that a core reads: those of public tables as they are.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpsql.sql.analysis.bounds import Known, bounds
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.analysis.work.row_cost import UNDECLARED
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression, columns, subqueries
from dpsql.sql.ir.interval import Interval
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import Compound, Groups, PerUnit, Relation, Scan, unit_of


class PublicTexts:
    """The lengths of the texts that a core reads, those of public tables each asked for once."""

    def __init__(self, core: Core, sizes: Fanout) -> None:
        self._sizes = sizes
        self._sources: dict[str, Relation] = {}
        for relation in everything_in(core)[0]:
            if isinstance(relation, Scan | PerUnit | Groups | Compound):
                self._sources[relation.alias] = relation
        self._lengths: dict[tuple[str, str], int] = {}
        self._wholes: dict[tuple[str, str], int] = {}

    def known(self, expressions: Iterable[Expression]) -> Known:
        """How many characters the text columns have; nothing if none of a public table is read.

        Those of private tables have as many as are counted of a text whose length nobody declares.
        """
        every = list(expressions)
        open_columns = {
            column for expression in every for column in columns(expression) if _is_open(column)
        }
        inner = {
            subquery: subquery.aggregate.argument
            for outer_expression in every
            for subquery in subqueries(outer_expression)
            if subquery.type.kind == "text" and subquery.aggregate is not None
        }
        if not any(column.public for column in open_columns) and not any(
            unit_of(subquery.relation) is None for subquery in inner
        ):
            return {}
        lengths: dict[Expression, int] = {
            column: self.length(column) if column.public else UNDECLARED for column in open_columns
        }
        lengths |= {
            subquery: UNDECLARED if value is None else self._made(value)
            for subquery, value in inner.items()
        }
        return {
            expression: Interval(Fraction(0), Fraction(length))
            for expression, length in lengths.items()
        }

    def lengths(self, expressions: Iterable[Expression]) -> Known:
        """How many characters the texts that are read in the expressions have, those that a
        subquery makes among them, where each of a private table has as many as are counted of it.
        """
        every = list(expressions)
        lengths: dict[Expression, int] = {
            column: self._whole(column)
            for expression in every
            for column in columns(expression)
            if _is_open(column)
        }
        inner = {
            subquery: subquery.aggregate.argument
            for outer_expression in every
            for subquery in subqueries(outer_expression)
            if subquery.type.kind == "text" and subquery.aggregate is not None
        }
        lengths |= {
            subquery: UNDECLARED if value is None else self._made_whole(value)
            for subquery, value in inner.items()
        }
        return {
            expression: Interval(Fraction(0), Fraction(length))
            for expression, length in lengths.items()
        }

    def length(self, column: ColumnRef) -> int:
        """The most characters of a public table's column; of another, as many as are counted."""
        name = column.relation, column.name
        if name not in self._lengths:
            self._lengths[name] = 0  # of a column that would read itself
            self._lengths[name] = self._uncached_length(column)
        return self._lengths[name]

    def made_of(self, column: ColumnRef) -> list[Expression]:
        """The expressions that define a subquery's column; none for a table's column."""
        match self._sources.get(column.relation):
            case Compound(branches=branches) if column.name[1:].isdigit():
                return [branch.columns[int(column.name[1:])] for branch in branches]
            case (
                PerUnit(keys=keys, aggregates=aggregates) | Groups(keys=keys, aggregates=aggregates)
            ):
                definitions = dict(keys) | {
                    name: aggregate.argument for name, aggregate in aggregates
                }
                expression = definitions.get(column.name)
                return [] if expression is None else [expression]
            case _:
                return []

    def _whole(self, column: ColumnRef) -> int:
        definitions = self.made_of(column)
        name = (column.relation, column.name)
        if not definitions:
            return self.length(column) if column.public else UNDECLARED
        if name not in self._wholes:
            self._wholes[name] = 0  # of a column that would read itself
            self._wholes[name] = max(map(self._made_whole, definitions))
        return self._wholes[name]

    def _made_whole(self, expression: Expression) -> int:
        most = bounds(expression, self.lengths([expression])).high
        return UNDECLARED if most is None else int(most)

    def _uncached_length(self, column: ColumnRef) -> int:
        source = self._sources.get(column.relation)
        if isinstance(source, Scan) and not source.derived:
            return self._sizes(source.table, (column.name,), characters=True)
        return max(map(self._made, self.made_of(column)), default=UNDECLARED)

    def _made(self, expression: Expression) -> int:
        most = bounds(expression, self.known([expression])).high
        return UNDECLARED if most is None else int(most)


def _is_open(column: ColumnRef) -> bool:
    return column.type.kind == "text" and column.bounds is None and column.domain is None
