"""What differs between the engines that run emitted SQL:
one object that the emission asks for every such word.

A new dialect is a class that has all of these methods, and its table of total forms. What a dialect
does not have it refuses by name: nothing is emitted that an engine might read in another way.
Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, Literal, NoReturn, TypeAlias

import sqlglot
from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.schema import SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.total_form import TotalForm
from dpsql.sql.ir.expression import Expression

#: Where an engine finds a table: its database and the schema in it,
#: empty where the engine has #: none.
Path: TypeAlias = tuple[str, str]
#: Whole numbers of 32 bits, and of at least 127 bits and a sign:
#: the square of a clamped sum fits #: in these.
Width: TypeAlias = Literal["narrow", "wide"]
#: Mixed into the hashes that order the rows and groups of a unit,
#: so that the order is no property #: of the data alone.
HASH_KEY = "dpsql"
#: Marks of joins: rows without a partner are left out afterwards; the source is a public table.
INNER: Final = "inner"
PUBLIC: Final = "public"


class Syntax:
    """One syntax of SQL, under the name that sqlglot has for it."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    @property
    def parser(self) -> sqlglot.Dialect:
        """sqlglot's tokenizer and parser of the syntax."""
        return sqlglot.Dialect.get_or_raise(self.name)

    def parse(self, text: str) -> exp.Expr:
        """The tree of one statement or expression; SqlglotError if it cannot be read."""
        return sqlglot.parse_one(text, dialect=self.name)

    def write(self, tree: exp.Expr, *, copy: bool = True) -> str:
        """The tree as text on one line; without ``copy`` the tree is not used afterwards."""
        return tree.sql(dialect=self.name, copy=copy, comments=False, identify=False)

    def pretty(self, sql: str) -> str:
        """SQL of this syntax over several lines, for people."""
        return self.parse(sql).sql(dialect=self.name, pretty=True)

    def data_type(self, name: str) -> exp.DataType:
        """The type that the syntax has under this name."""
        return _data_type(self.name, name).copy()


@cache
def _data_type(syntax: str, name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=syntax)


class Dialect(Syntax, ABC):
    """The SQL of one kind of engine.

    What it builds gives a value or NULL on every row, whatever the row holds, and has the meaning
    that the allow-list (`dpsql.sql.functions`) gives to the function: its type and its interval
    hold in every dialect.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the engine, as a refusal says it."""

    @property
    @abstractmethod
    def total_forms(self) -> Mapping[str, TotalForm]:
        """The total form of each function of the allow-list that the engine has,
        under the allow-list's name.
        """

    @property
    @abstractmethod
    def source(self) -> Path:
        """The schema that holds the owner's tables."""

    @property
    @abstractmethod
    def derived(self) -> Path:
        """The schema that holds the tables dpsql makes of released rows."""

    @property
    @abstractmethod
    def reads_every_side(self) -> bool:
        """Whether the engine reads both sides of an inner join, even if it finds one empty.

        If not, private rows are joined by LEFT JOINs whose rows without a partner are left out
        afterwards.
        """

    @abstractmethod
    def type_name(self, sql_type: SqlType | Width) -> str:
        """The engine's name of the type."""

    @abstractmethod
    def try_cast(self, value: exp.Expr, to: SqlType) -> exp.Expr:
        """The value as another type, NULL if it has no form there. Doubles become the nearest
        whole number.
        """

    @abstractmethod
    def unless_nan(self, value: exp.Expr) -> exp.Expr:
        """The DOUBLE, NULL if it is NaN."""

    @abstractmethod
    def greatest(self, *values: exp.Expr) -> exp.Expr:
        """The greatest of values that are not NULL; NaN is above every number."""

    @abstractmethod
    def least(self, *values: exp.Expr) -> exp.Expr:
        """The least of values that are not NULL; NaN is above every number."""

    @abstractmethod
    def quotient(self, dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
        """The quotient of two whole numbers, cut toward zero."""

    @abstractmethod
    def hashed(self, key: str, values: Sequence[exp.Expr]) -> exp.Expr:
        """A hash of the values, any of which may be NULL, and of a key."""

    @abstractmethod
    def character(self, code: int) -> exp.Expr:
        """The character of that number in Unicode."""

    @abstractmethod
    def ordinary(self, moment: exp.Expr) -> exp.Expr:
        """The moment, NULL before the year 1 and from the last day of 9999 on."""

    @abstractmethod
    def elapsed(self, unit: Literal["day", "second"], start: exp.Expr, end: exp.Expr) -> exp.Expr:
        """How often the unit begins anew from one timestamp to another."""

    @abstractmethod
    def days_later(self, day: exp.Expr, days: exp.Expr) -> exp.Expr:
        """The day so many days after another."""

    @abstractmethod
    def values(
        self, rows: Sequence[Sequence[exp.Expr]], alias: str, columns: Sequence[str]
    ) -> exp.Expr:
        """A table of these rows and column names, as it stands in FROM."""

    @abstractmethod
    def rows(self, emit: Callable[[], exp.Select]) -> exp.Select:
        """The query of a core's rows, which ``emit`` writes,
        in the form in which the engine's time tells least.

        StatementError (E_JOIN) if there is no such form.
        """

    @abstractmethod
    def reads_flat(self, function: str) -> bool:
        """Whether the function reads `flat` values, in the rows that are emitted."""

    @abstractmethod
    def flat(self, emitted: exp.Expr, expression: Expression) -> exp.Expr:
        """The emitted expression, in a form that the engine computes for each row by itself."""

    @abstractmethod
    def tested_on_each_row(self, condition: exp.Expr, column: exp.Expr | None) -> exp.Expr:
        """The condition, in a form that the engine cannot decide before it reads the row.

        ``column`` is a column that it reads if the condition stands in a subquery in an expression.
        """

    @abstractmethod
    def units_above_limit(
        self,
        unit: exp.Expr,
        source: exp.Expr,
        above: exp.Expr,
        joins: Sequence[exp.Join] = (),
        where: exp.Expr | None = None,
    ) -> exp.Query:
        """The units of the source whose rows fulfil the condition, as ``u``;
        it may also list NULL.
        """

    @abstractmethod
    def look_up(self, unit: exp.Expr, units: exp.Expr) -> exp.Join:
        """The LEFT JOIN with `units_above_limit`;
        its ``u`` is not NULL if the row's unit is listed.
        """

    @abstractmethod
    def is_listed(self, listed: exp.Expr, unit: exp.Expr) -> exp.Expr:
        """Whether `look_up` found the unit, for WHERE; ``listed`` is the ``u`` that it found."""

    @abstractmethod
    def intersected(self, selects: Sequence[exp.Select], *, private: bool) -> exp.Query:
        """The different rows that all have. If they are private, none has a NULL unit."""

    @abstractmethod
    def exists(self, query: exp.Select) -> exp.Expr:
        """Whether the query has a row; it reads columns of the row outside."""

    @abstractmethod
    def same(self, left_side: exp.Expr, right_side: exp.Expr) -> exp.Expr:
        """Equality in which NULL equals NULL, as the condition of a join."""

    @abstractmethod
    def cte(self, name: str, query: exp.Query, keep: bool | None) -> exp.CTE:
        """A step of the emitted statement; ``keep`` says whether its rows are stored,
        None leaves it to the engine.
        """

    @abstractmethod
    def sum(self, value: exp.Expr) -> exp.Expr:
        """The exact sum of whole numbers of at most 128 bits in a group; NULL without a value."""

    def equal(self, left_side: str, right_side: str, name: str) -> exp.Expr:
        """Equality of the same column of two relations;
        keys may be NULL and then equal each other, units never are.
        """
        columns = node.column(left_side, name), node.column(right_side, name)
        return (
            exp.EQ(this=columns[0], expression=columns[1]) if name == "u" else self.same(*columns)
        )

    def total_form(self, function: str, *arguments: exp.Expr) -> exp.Expr:
        """The total form of a function applied to emitted arguments;
        StatementError (E_FUNC) if there is none.
        """
        form = self.total_forms.get(function)
        return self.lacks(function.upper()) if form is None else form(*arguments)

    def source_name(self, table: str) -> str:
        """The whole name of a table of the owner, as SQL has it."""
        return ".".join(f'"{name}"' for name in (*self.source, table) if name)

    def cast(self, value: exp.Expr, to: SqlType | Width) -> exp.Cast:
        """The value as another type, where every value has a form there."""
        return exp.Cast(this=value, to=self.data_type(self.type_name(to)))

    def lacks(self, construct: str) -> NoReturn:
        """Refuse what the dialect has no form of."""
        raise StatementError(
            "E_FUNC",
            f"{self.title} has no form of {construct} that gives a value or NULL on every row",
        )
