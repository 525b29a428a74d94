"""GENERATE_SERIES and RANGE of constants as the lists of VALUES that they stand for.

Proved in ``docs/proofs/compound.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import NoReturn

from sqlglot import exp

from dpsql.sql.binder.expressions.constant_arguments import Span, constant_span
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.expressions.intervals import moved
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.functions.call import beside
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import TIMESTAMP, Literal
from dpsql.sql.ir.refusal import only, refuse

#: How many values the series of a statement may have together.
MAX_MEMBERS = 1_000
_WHAT = "GENERATE_SERIES takes constants: two numbers or two moments, and a step"


def with_listed_series(tree: exp.Expr, parameters: tuple[object, ...]) -> exp.Expr:
    """The tree with VALUES for each series: in FROM, in UNNEST, or in a SELECT list without FROM.

    >>> STATEMENT.write(with_listed_series(STATEMENT.parse("SELECT * FROM GENERATE_SERIES(0, 9, 4) AS g"), ()))
    'SELECT * FROM (VALUES (0), (4), (8)) AS g(g)'

    A series without the names of columns gives its own name to its column, as PostgreSQL has it.
    """
    if tree.find(exp.GenerateSeries) is None:
        return tree
    copy = tree.copy()
    count = 0
    reader = Reader(_refuse_column, parameters)
    for series in list(copy.find_all(exp.GenerateSeries)):
        parent = series.parent
        select = _own_select(series)
        if select is None and not isinstance(parent, exp.Table | exp.Unnest):
            refuse(
                "E_TABLE",
                "a series stands in FROM, or alone in the list of a SELECT without FROM",
                series,
            )
        members = list(_members(series, reader, MAX_MEMBERS - count))
        count += len(members)
        values = exp.Values(expressions=[exp.Tuple(expressions=[member]) for member in members])
        name = "range" if series.args.get("is_end_exclusive") else "generate_series"
        if isinstance(parent, exp.Table | exp.Unnest):
            only(
                parent,
                "this",
                "expressions",
                "alias",
                code="E_TABLE",
                subject="this form of a series",
            )
            values.set("alias", _alias(parent.args.get("alias"), name))
            parent.replace(values)
        elif select is not None:
            values.set("alias", _alias(None, name))
            if not isinstance(parent, exp.Alias) and series in select.expressions:
                series.replace(exp.alias_(exp.column(name), name))
            else:
                series.replace(exp.column(name))
            select.set("from_", exp.From(this=values))
        if not members:
            refuse("E_TABLE", "this series has no values", series)
    return copy


def _refuse_column(column: exp.Column) -> NoReturn:
    refuse("E_TABLE", _WHAT, column)


def _own_select(series: exp.GenerateSeries) -> exp.Select | None:
    """The SELECT without FROM whose list has this series and no other; None if there is none."""
    select = series.find_ancestor(exp.Select)
    if select is None or select.args.get("from_") is not None:
        return None
    series_calls = [
        generate_series
        for item in select.expressions
        for generate_series in item.find_all(exp.GenerateSeries)
    ]
    return select if len(series_calls) == 1 and series_calls[0] is series else None


def _alias(alias: exp.Expr | None, name: str) -> exp.TableAlias:
    table = exp.to_identifier(name) if alias is None or alias.this is None else alias.this.copy()
    listed = [] if alias is None else [column.copy() for column in alias.args.get("columns") or ()]
    return exp.TableAlias(this=table, columns=listed or [table.copy()])


def _members(series: exp.GenerateSeries, reader: Reader, most: int) -> Iterator[exp.Expr]:
    only(
        series,
        "start",
        "end",
        "step",
        "is_end_exclusive",
        code="E_TABLE",
        subject="this form of a series",
    )
    start, end = beside([reader.expression(series.args[name]) for name in ("start", "end")])
    exclusive = bool(series.args.get("is_end_exclusive"))
    step = series.args.get("step")
    if not isinstance(start, Literal) or not isinstance(end, Literal):
        refuse("E_TABLE", _WHAT, series)
    if start.type.is_temporal and end.type.is_temporal:
        first, last = (
            literal.as_type(end_literal, TIMESTAMP, series) for end_literal in (start, end)
        )
        members: Iterator[exp.Expr] = _moments(
            first, last, _span(step, series), exclusive, series=series
        )
    else:
        by = Literal(1, start.type) if step is None else beside([reader.expression(step), start])[0]
        members = _numbers(start, end, by, exclusive, series=series)
    for count, member in enumerate(members, 1):
        if count > most:
            refuse(
                "E_LIMITS",
                f"the series of a statement may have {MAX_MEMBERS} values together",
                series,
            )
        yield member


def _span(step: exp.Expr | None, series: exp.Expr) -> Span:
    span = None
    if step is not None:
        quoted = isinstance(step, exp.Literal) and step.is_string
        span = constant_span(exp.Interval(this=step.copy()) if quoted else step)
    if span is None:
        refuse("E_TABLE", _WHAT, series)
    return span


def _moments(
    first: Literal, last: Literal, span: Span, exclusive: bool, series: exp.Expr
) -> Iterator[exp.Expr]:
    signs = {number > 0 for number in (span.months, span.days, span.microseconds) if number}
    if len(signs) != 1:
        refuse("E_TABLE", "the step of a series goes one way, and is not zero", series)
    moment: Literal = first
    assert isinstance(last.value, datetime)
    while isinstance(moment.value, datetime) and _is_before(
        moment.value, last.value, True in signs, exclusive
    ):
        yield exp.cast(exp.Literal.string(str(moment.value)), STATEMENT.data_type("timestamp"))
        after = moved(moment, span, series)
        assert isinstance(after, Literal)
        moment = after


def _numbers(
    start: Literal, end: Literal, step: object, exclusive: bool, series: exp.Expr
) -> Iterator[exp.Expr]:
    numbers = [item.value if isinstance(item, Literal) else None for item in (start, end, step)]
    if not all(type(item) in (int, Decimal) for item in numbers):
        refuse("E_TABLE", _WHAT, series)
    number, last, by = (Decimal(str(item)) for item in numbers)
    if not by:
        refuse("E_TABLE", "the step of a series goes one way, and is not zero", series)
    while _is_before(number, last, by > 0, exclusive):
        plain = exp.Literal.number(f"{abs(number):f}")
        yield exp.Neg(this=plain) if number < 0 else plain
        number += by


def _is_before(value: object, end: object, up: bool, exclusive: bool) -> bool:
    low, high = (value, end) if up else (end, value)
    return bool(low < high) if exclusive else bool(low <= high)  # type: ignore[operator]
