"""Expressions are in one group where a chain of others joins what they read."""

from __future__ import annotations

from itertools import permutations

from dpsql.sql.ir.expression import BOOLEAN, TEXT, Call, ColumnRef, Expression, connected


def _read(*relations: str) -> Expression:
    return Call(
        "=", tuple(ColumnRef(each, "x", TEXT, nullable=False) for each in relations), BOOLEAN
    )


def test_a_chain_is_one_group_in_whatever_order_it_comes() -> None:
    chain = [_read("a", "b"), _read("b", "c"), _read("c", "d"), _read("a", "a"), _read("e", "f")]
    for order in permutations(chain):
        assert sorted(len(group) for group in connected(order)) == [1, 4]
