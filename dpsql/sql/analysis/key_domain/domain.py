"""Which group keys a core shows whatever the data hold; other keys need a threshold.

Proved in ``docs/proofs/presence.md`` and ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from dpsql.sql.analysis.key_domain.values import MAX_KEYS, DomainValues
from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.analysis.work.fanout import NO_SIZES, Fanout
from dpsql.sql.ir.aggregate import UNITS
from dpsql.sql.ir.core import Core, Enumerated, KeyDomain
from dpsql.sql.ir.expression import (
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    columns,
    connected,
    rebuilt,
    relations_of,
)
from dpsql.sql.ir.relation import Constants, Groups, PerUnit, Relation


def is_listed(key: Expression, relation: Relation) -> bool:
    """Whether the owner (``values``, a boolean) or the statement (IN, VALUES) lists its values.

    Values between bounds, of public tables and of functions are not listed:
    nobody said that each of them has rows.
    """
    if isinstance(key, Cast):
        return is_listed(key.argument, relation)
    if isinstance(key, Literal) or any(
        _lists(condition, key) for condition in conditions_of(relation)
    ):
        return True
    if not isinstance(key, ColumnRef):
        return False
    # a table that nothing ties to the rows has each of its values in every group of the other keys
    if key.released:
        tied = {
            column.relation
            for condition in conditions_of(relation)
            for column in columns(condition)
        }
        return key.public and key.relation not in tied
    leaf = next((source for source in sources(relation) if source.alias == key.relation), None)
    if isinstance(leaf, Constants):
        return True
    truth = key.type.kind == "boolean" and not isinstance(leaf, PerUnit | Groups)
    return not key.public and (key.domain is not None or truth)


def _lists(condition: Expression, key: Expression) -> bool:
    """Whether the condition lists the constants that the key alone may equal."""
    match condition:
        case Call(function="in", arguments=(asked, *options)):
            return asked == key and all(isinstance(option, Literal) for option in options)
        case Call(function="=", arguments=(first, second)):
            return (first == key and isinstance(second, Literal)) or (
                second == key and isinstance(first, Literal)
            )
    return False


def key_domain(
    relation: Relation,
    keys: tuple[Expression, ...],
    sizes: Fanout = NO_SIZES,
    *,
    by_output: bool = False,
) -> KeyDomain | None:
    """The public domain of the keys, or None if some key can only come from the data.

    A key is public when it is computed from columns of public tables, and from columns or functions
    of columns whose values can be enumerated: declared values, conditions, numbers and moments
    between close bounds, few values of a public table that a row may lack. With ``by_output`` a key
    that shares no column with another one is listed by its own values if these are known.
    """
    domain_values = DomainValues(relation, sizes, by_output)
    key_expressions = [_over_released(key, _equal_to_released(relation)) for key in keys]
    reduced = domain_values.keys(key_expressions)
    if reduced is None:
        return None
    declared = tuple(is_listed(key, relation) for key in key_expressions)
    nulls = tuple(_may_be_an_unlisted_null(key, domain_values) for key in key_expressions)
    tables = domain_values.tables(reduced)
    used = {column for key in reduced for column in columns(key)}
    enumerated = tuple(entry for entry in domain_values.enumerated.values() if entry.column in used)
    within = {table.alias for table in tables} | {entry.column.relation for entry in enumerated}
    known = [
        condition
        for condition in map(domain_values.substituted, domain_values.conditions)
        if condition is not None
    ]
    known = [
        condition
        for condition in known
        if relations_of(condition) and relations_of(condition) <= within
    ]
    count = None if tables else domain_values.count
    return KeyDomain(
        tuple(reduced),
        enumerated,
        tables,
        _cheap(reduced, known, enumerated),
        count=count,
        declared=declared,
        nulls=nulls,
    )


def _may_be_an_unlisted_null(key: Expression, domain_values: DomainValues) -> bool:
    """Whether the key may be NULL of a column of private rows whose listed values are others.

    That a column is nullable says that it may hold NULL, and not that a group of it has rows.
    """
    if isinstance(key, Cast):
        return _may_be_an_unlisted_null(key.argument, domain_values)
    if not isinstance(key, ColumnRef) or key.relation in domain_values.public:
        return False
    return domain_values.narrow(key).nullable and not key.null_group


def with_kept_rows(domain: KeyDomain | None, keeps: bool) -> KeyDomain | None:
    """The domain, ``kept`` if an outer join ``keeps`` the public rows that all keys are read from.

    A key that stands for listed values is read from none of these rows: it may be NULL although no
    row lacks a partner.
    """
    return None if domain is None else replace(domain, kept=keeps and not domain.enumerated)


def projected(domain: KeyDomain, places: Sequence[int]) -> KeyDomain:
    """The domain of some of the keys: what they are when the others are left out.

    What has no source in common with these keys is left out as well.
    """
    keys = [domain.keys[index] for index in places]
    groups = connected([*domain.keys, *domain.conditions])
    connected_expressions = {
        expression for group in groups if any(key in group for key in keys) for expression in group
    }
    aliases = {
        source for expression in connected_expressions for source in relations_of(expression)
    }
    return KeyDomain(
        tuple(keys),
        tuple(entry for entry in domain.enumerated if entry.column.relation in aliases),
        tuple(table for table in domain.tables if table.alias in aliases),
        tuple(condition for condition in domain.conditions if condition in connected_expressions),
        count=None,
        declared=tuple(domain.declared[index] for index in places),
        nulls=tuple(domain.nulls[index] for index in places),
    )


def _equal_to_released(relation: Relation) -> dict[ColumnRef, ColumnRef]:
    """Columns of private tables, each with the derived table's column that it always equals."""
    result: dict[ColumnRef, ColumnRef] = {}
    for condition in conditions_of(relation):
        match condition:
            case Call(function="=", arguments=(ColumnRef() as first, ColumnRef() as second)) if (
                first.type == second.type
            ):
                for one, other in ((first, second), (second, first)):
                    if other.released and other.public and not one.public:
                        result.setdefault(one, other)
    return result


def _over_released(key: Expression, equal: dict[ColumnRef, ColumnRef]) -> Expression:
    """The key with the columns of derived tables in the place of those that equal them."""
    if isinstance(key, ColumnRef):
        return equal.get(key, key)
    return rebuilt(key, lambda operand: _over_released(operand, equal))


def _cheap(
    keys: Sequence[Expression], conditions: list[Expression], enumerated: Sequence[Enumerated]
) -> tuple[Expression, ...]:
    """The conditions that may narrow the domain, without those that combine too many values."""
    counts = {entry.column: entry.count for entry in enumerated}
    cheap: list[Expression] = []
    for condition in conditions:
        groups = connected([*keys, *cheap, condition])
        inputs = [
            {column for expression in group for column in columns(expression)} & counts.keys()
            for group in groups
        ]
        if all(prod(counts[column] for column in input_) <= MAX_KEYS for input_ in inputs):
            cheap.append(condition)
    return tuple(cheap)


#: Where, why, and what to look at instead.
CAVEAT = (
    "the number of units of a group is the one that let the group be shown: near the threshold it is too large on the "
    "average, which its interval allows for; COUNT(*) has noise of its own"
)


def shown_notices(cores: Sequence[Core]) -> tuple[str, ...]:
    """The notice, given once, that a core shows the number of units that chooses its keys."""
    for core in cores:
        chosen = core.keys and core.domain is None
        if chosen and any(
            aggregate.function is UNITS and aggregate.condition is None
            for aggregate in core.aggregates
        ):
            return (CAVEAT,)
    return ()
