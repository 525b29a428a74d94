"""The rows whose keys a domain has: what all levels of a cube count.

Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import cast

from dpsql.sql.analysis.key_domain.values import DomainValues
from dpsql.sql.analysis.stability import conditions_of
from dpsql.sql.analysis.work.fanout import NO_SIZES, Fanout
from dpsql.sql.ir.core import Days
from dpsql.sql.ir.expression import (
    BOOLEAN,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Scalar,
    columns,
    conjunction,
    conjuncts,
)
from dpsql.sql.ir.relation import Filter, Relation


def within_domain(
    relation: Relation, keys: Sequence[Expression], sizes: Fanout = NO_SIZES
) -> Relation:
    """The rows whose enumerated expressions have one of their values: their keys are in the domain.

    The relation stays as it is if the keys have no domain, or no row can be beyond it.
    """
    domain_values = DomainValues(relation, sizes, by_output=True)
    reduced = domain_values.keys(keys)
    if reduced is None:
        return relation
    used = {column for key in reduced for column in columns(key)}
    conditions = [
        _has_a_value(_expression(name), enumerated.values)
        for name, enumerated in domain_values.enumerated.items()
        if enumerated.column in used and _may_be_beyond(name)
    ]
    condition = conjunction(conditions)
    return relation if condition is None else Filter(relation, condition)


def may_be_beyond(relation: Relation, key: Expression) -> bool:
    """Whether rows of the relation may have a key that is none of its domain."""
    narrowed = within_domain(relation, [key])
    if narrowed is relation or not isinstance(narrowed, Filter):
        return False
    return not set(conjuncts(narrowed.condition)) <= set(conditions_of(relation))


def _expression(name: object) -> Expression:
    """The expression whose values are enumerated under this name, its own or that of its days."""
    return cast(Expression, name[1] if isinstance(name, tuple) else name)


def _may_be_beyond(name: object) -> bool:
    """Whether the values come from declarations, which rows may break; CASE branches do not."""
    if isinstance(name, tuple) and name[0] != "day":
        return False
    return any(
        column.type != BOOLEAN
        and not column.public
        and (column.bounds is not None or column.domain is not None)
        for column in columns(_expression(name))
    )


def _has_a_value(expression: Expression, values: tuple[Scalar, ...] | Days) -> Expression:
    """The condition that the expression has one of the values; numbers and moments fill a range."""
    if isinstance(values, Days):
        return _or_null(_between_days(expression, values), expression, values.nullable)
    known = [value for value in values if value is not None]
    options = tuple(Literal(value, expression.type) for value in known)
    if (
        (expression.type.is_numeric or expression.type.is_temporal)
        and not _is_declared(expression)
        and known
    ):
        inside = _both(expression, ">=", options[0], "<=", high=options[-1])
    else:
        inside = Call("in", (expression, *options), BOOLEAN)
    return _or_null(inside, expression, None in values)


def _is_declared(expression: Expression) -> bool:
    return isinstance(expression, ColumnRef) and expression.domain is not None


def _between_days(moment: Expression, days: Days) -> Expression:
    first = days.first
    end = days.first + timedelta(days=days.count)
    if moment.type.kind == "date":
        last = end - timedelta(days=1)
        return _both(
            moment, ">=", Literal(first, moment.type), "<=", high=Literal(last, moment.type)
        )
    return _both(
        moment,
        ">=",
        Literal(_midnight(first), moment.type),
        "<",
        high=Literal(_midnight(end), moment.type),
    )


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _both(value: Expression, first: str, low: Literal, second: str, high: Literal) -> Expression:
    return Call(
        "and", (Call(first, (value, low), BOOLEAN), Call(second, (value, high), BOOLEAN)), BOOLEAN
    )


def _or_null(inside: Expression, expression: Expression, nullable: bool) -> Expression:
    return (
        Call("or", (inside, Call("is null", (expression,), BOOLEAN)), BOOLEAN)
        if nullable
        else inside
    )
