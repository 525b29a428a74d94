"""What the columns of a released table's rows are on their way through SELECTs: keys,
numbers that are 0 without rows.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dpsql.schema import fold


@dataclass(frozen=True)
class GroupRows:
    """Rows of a released table on their way through SELECTs,
    under the name of the source in the last of these.

    ``keys`` are the columns that have keys, by their names, with the key if it is one as it is;
    ``zeros`` those that are 0 for a group without rows, ``others`` all other columns. ``way`` are
    the SELECTs so far.
    """

    name: str
    keys: Mapping[str, int | None]
    zeros: frozenset[str]
    others: frozenset[str]
    count: int
    way: tuple[tuple[exp.Select, str], ...]

    def has(self, column: exp.Column) -> bool:
        """Whether the column may be one of these rows."""
        name = fold(column.name)
        table = fold(column.table)
        return table == self.name or (not table and name in {*self.keys, *self.zeros, *self.others})

    def is_public(self, node: exp.Expr | None) -> bool:
        """Whether an expression reads nothing of these rows but keys, and no other rows."""
        if node is None:
            return True
        if node.find(exp.Query, exp.Window, exp.AggFunc, exp.Star) is not None:
            return False
        return all(
            fold(column.name) in self.keys
            for column in node.find_all(exp.Column)
            if self.has(column)
        )

    def is_zero(self, node: exp.Expr | None) -> bool:
        """Whether an expression is 0 or NULL for a group without rows,
        and the sum of noises is that of its parts.
        """
        match node:
            case None | exp.Null():
                return True
            case exp.Literal():
                return not node.is_string and float(node.this) == 0
            case exp.Column():
                return self.has(node) and fold(node.name) in self.zeros
            case exp.Paren() | exp.Neg() | exp.Cast():
                return self.is_zero(node.this)
            case exp.Add() | exp.Sub():
                return self.is_zero(node.this) and self.is_zero(node.expression)
            case exp.Mul():
                pairs = (node.this, node.expression), (node.expression, node.this)
                return any(self.is_zero(one) and self.is_public(other) for one, other in pairs)
            case exp.Div():
                return self.is_zero(node.this) and isinstance(node.expression, exp.Literal)
            case exp.Coalesce():
                return self.is_zero(node.this) and all(map(self.is_zero, node.expressions))
            case exp.Case():
                cases = node.args.get("ifs") or []
                results = [*(case.args.get("true") for case in cases), node.args.get("default")]
                return all(self.is_public(case.this) for case in [*cases, node]) and all(
                    map(self.is_zero, results)
                )
        return False

    def keeps_by_keys(self, total: exp.AggFunc) -> bool:
        """Whether a FILTER of the aggregate, if it has one, reads keys alone."""
        parent = total.parent
        return not isinstance(parent, exp.Filter) or self.is_public(parent.expression.this)


def own_aggregates(select: exp.Select) -> Iterator[exp.AggFunc]:
    """The aggregates of a SELECT, without those of its subqueries."""
    yield from (
        call for call in select.find_all(exp.AggFunc) if call.find_ancestor(exp.Query) is select
    )
