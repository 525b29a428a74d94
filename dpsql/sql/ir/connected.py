"""Expressions that are computed from the same tables and values."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.sql.ir.expression import Expression, columns


def connected(expressions: Sequence[Expression]) -> list[list[Expression]]:
    """The expressions in groups that have no source in common with each other."""
    groups: list[tuple[set[str], list[Expression]]] = []
    for expression in expressions:
        read, members = relations_of(expression), [expression]
        apart = []
        for group in groups:
            if group[0] & read:
                read, members = read | group[0], group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (read, members)]
    return [members for _, members in groups]


def relations_of(expression: Expression) -> set[str]:
    """The names under which the join has what the expression reads."""
    return {column.relation for column in columns(expression)}


def share_relations(one: Expression, other: Expression) -> bool:
    """Whether the two read anything in common."""
    return bool(relations_of(one) & relations_of(other))
