"""Public rows that an outer join keeps: whether anything that is measured would see those without a partner.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from sqlglot import exp

from dpsql.sql.ir.expression import Call, Cast, Column, Expression, columns
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Aggregate

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in", "like", "ilike"})


@dataclass(frozen=True)
class Kept:
    """An outer join that keeps public rows; ``relations`` are those whose columns are NULL where a partner lacks."""

    relations: frozenset[str]
    join: exp.Expr

    def refuse(self) -> NoReturn:
        """Say that rows without a unit would be seen."""
        refuse("E_JOIN", "an outer join that keeps the rows of a public table leaves rows without a unit; count a "
               "column of the private table instead of *, or join the other way round", self.join)  # fmt: skip

    def with_partners(self, condition: Sequence[Expression], partners: frozenset[str]) -> Kept:
        """The same once a left join brought partners, which rows without a unit lack if the condition needs one."""
        lacks = any(never_holds_without(each, self.relations) for each in condition)
        return replace(self, relations=self.relations | partners) if lacks else self

    def require_unseen(self, keys: Sequence[Expression], aggregates: Sequence[Aggregate]) -> None:
        """Refuse unless every aggregate passes over rows without partner, and no key tells them apart."""
        seen = any(column.relation in self.relations for key in keys for column in columns(key))
        if seen or not aggregates or not all(self._passes_over(each) for each in aggregates):
            self.refuse()

    def _passes_over(self, aggregate: Aggregate) -> bool:
        if aggregate.function == "units":
            return True
        argument, condition = aggregate.argument, aggregate.condition
        lacks = argument is not None and is_null_without(argument, self.relations)
        return lacks or (condition is not None and never_holds_without(condition, self.relations))


def is_null_without(expression: Expression, relations: frozenset[str]) -> bool:
    """Whether the expression is NULL wherever all columns of the relations are."""
    match expression:
        case Column(relation=relation):
            return relation in relations
        case Cast(argument=argument):
            return is_null_without(argument, relations)
        case Call(function=function, arguments=arguments) if function in _COMPARISONS:
            return is_null_without(arguments[0], relations) or (
                function != "in" and is_null_without(arguments[1], relations)
            )
        case Call(function="not" | "+" | "-" | "*" | "/" | "negate" | "abs", arguments=arguments):
            return any(is_null_without(each, relations) for each in arguments)
        case _:
            return False


def never_holds_without(condition: Expression, relations: frozenset[str]) -> bool:
    """Whether the condition is false or unknown wherever all columns of the relations are NULL."""
    match condition:
        case Call(function="and", arguments=arguments):
            return any(never_holds_without(each, relations) for each in arguments)
        case Call(function="or", arguments=arguments):
            return all(never_holds_without(each, relations) for each in arguments)
        case Call(function="not", arguments=(Call(function="is null", arguments=(inner,)),)):
            return is_null_without(inner, relations)
        case _:
            return is_null_without(condition, relations)
