"""Which group keys a core shows whatever the data hold; where that is not known,
keys need a threshold.

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
    """Whether the key's values are listed: by the owner (``values``,
    a boolean) or by the statement (IN, VALUES).

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
        case Call(function="=", arguments=(left, right)):
            return (left == key and isinstance(right, Literal)) or (
                right == key and isinstance(left, Literal)
            )
    return False


def key_domain(
    relation: Relation,
    keys: tuple[Expression, ...],
    sizes: Fanout = NO_SIZES,
    *,
    by_output: bool = False,
) -> KeyDomain | None:
    """The public domain of the keys, or None where some key can only come from the data.

    A key is public when it is computed from columns of public tables, and from columns or functions
    of columns whose values can be enumerated: declared values, conditions, numbers and moments
    between close bounds, few values of a public table that a row may lack. With ``by_output`` a key
    that shares no column with another one is listed by its own values if these are known.
    """
    found = DomainValues(relation, sizes, by_output)
    read = [_over_released(key, _equal_to_released(relation)) for key in keys]
    reduced = found.keys(read)
    if reduced is None:
        return None
    declared = tuple(is_listed(key, relation) for key in read)
    nulls = tuple(_may_be_an_unlisted_null(key, found) for key in read)
    tables = found.tables(reduced)
    used = {column for key in reduced for column in columns(key)}
    enumerated = tuple(each for each in found.enumerated.values() if each.column in used)
    within = {table.alias for table in tables} | {each.column.relation for each in enumerated}
    known = [each for each in map(found.substituted, found.conditions) if each is not None]
    known = [each for each in known if relations_of(each) and relations_of(each) <= within]
    count = None if tables else found.count
    return KeyDomain(
        tuple(reduced),
        enumerated,
        tables,
        _cheap(reduced, known, enumerated),
        count=count,
        declared=declared,
        nulls=nulls,
    )


def _may_be_an_unlisted_null(key: Expression, found: DomainValues) -> bool:
    """Whether the key may be NULL of a column of private rows whose listed values are others.

    That a column is nullable says that it may hold NULL, and not that a group of it has rows.
    """
    if isinstance(key, Cast):
        return _may_be_an_unlisted_null(key.argument, found)
    if not isinstance(key, ColumnRef) or key.relation in found.public:
        return False
    return found.narrow(key).nullable and not key.null_group


def with_kept_rows(domain: KeyDomain | None, keeps: bool) -> KeyDomain | None:
    """The domain, ``kept`` where an outer join ``keeps`` the public rows that all keys are read
    from.

    A key that stands for listed values is read from none of these:
    it may be NULL where no row lacks a partner.
    """
    return None if domain is None else replace(domain, kept=keeps and not domain.enumerated)


def projected(domain: KeyDomain, places: Sequence[int]) -> KeyDomain:
    """The domain of some of the keys: what they are when the others are left out.

    What has no source in common with these keys is left out as well.
    """
    keys = [domain.keys[index] for index in places]
    groups = connected([*domain.keys, *domain.conditions])
    kept = {each for group in groups if any(key in group for key in keys) for each in group}
    read = {source for each in kept for source in relations_of(each)}
    return KeyDomain(
        tuple(keys),
        tuple(each for each in domain.enumerated if each.column.relation in read),
        tuple(table for table in domain.tables if table.alias in read),
        tuple(condition for condition in domain.conditions if condition in kept),
        count=None,
        declared=tuple(domain.declared[index] for index in places),
        nulls=tuple(domain.nulls[index] for index in places),
    )


def _equal_to_released(relation: Relation) -> dict[ColumnRef, ColumnRef]:
    """Columns of private tables that equal a column of a derived table in every row:
    they take its values only.
    """
    result: dict[ColumnRef, ColumnRef] = {}
    for condition in conditions_of(relation):
        match condition:
            case Call(function="=", arguments=(ColumnRef() as left, ColumnRef() as right)) if (
                left.type == right.type
            ):
                for one, other in ((left, right), (right, left)):
                    if other.released and other.public and not one.public:
                        result.setdefault(one, other)
    return result


def _over_released(key: Expression, equal: dict[ColumnRef, ColumnRef]) -> Expression:
    """The key with the columns of derived tables in the place of those that equal them."""
    if isinstance(key, ColumnRef):
        return equal.get(key, key)
    return rebuilt(key, lambda part: _over_released(part, equal))


def _cheap(
    keys: Sequence[Expression], conditions: list[Expression], enumerated: Sequence[Enumerated]
) -> tuple[Expression, ...]:
    """The conditions that may narrow the domain:
    those that bring too many values together are left out.
    """
    counts = {each.column: each.count for each in enumerated}
    kept: list[Expression] = []
    for condition in conditions:
        groups = connected([*keys, *kept, condition])
        inputs = [
            {column for each in group for column in columns(each)} & counts.keys()
            for group in groups
        ]
        if all(prod(counts[column] for column in input_) <= MAX_KEYS for input_ in inputs):
            kept.append(condition)
    return tuple(kept)


#: Where, why, and what to look at instead.
CAVEAT = (
    "the number of units of a group is the one that let the group be shown: near the threshold it is too large on the "
    "average, which its interval allows for; COUNT(*) has noise of its own"
)


def shown_notices(cores: Sequence[Core]) -> tuple[str, ...]:
    """The notice, given once, that some core shows the number of units by which its keys are
    chosen.
    """
    for core in cores:
        chosen = core.keys and core.domain is None
        if chosen and any(
            aggregate.function is UNITS and aggregate.condition is None
            for aggregate in core.aggregates
        ):
            return (CAVEAT,)
    return ()
