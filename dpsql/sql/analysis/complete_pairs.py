"""The rows that a statistic of two expressions reads: those in which both have a value.

Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.ir.expression import BOOLEAN, Call, Expression, conjunction
from dpsql.sql.ir.relation import Aggregate


@dataclass(frozen=True)
class Pairs:
    """Two expressions, and the conditions under which each is added so that both have a value.

    Cells of one expression have one form wherever they are needed: an expression's own NULLs are left to the cell.
    """

    y: Expression
    x: Expression
    condition: Expression | None

    @classmethod
    def of(cls, aggregate: Aggregate) -> Pairs:
        """The pairs of an aggregate with two arguments."""
        assert aggregate.argument is not None and aggregate.other is not None
        return cls(aggregate.argument, aggregate.other, aggregate.condition)

    @property
    def x_where(self) -> Expression | None:
        return _where_known(self.y, self.condition)

    @property
    def y_where(self) -> Expression | None:
        return _where_known(self.x, self.condition)

    @property
    def factors(self) -> tuple[Expression, Expression]:
        """Both, in an order that does not depend on which is called y."""
        first, second = sorted((self.x, self.y), key=repr)
        return first, second

    @property
    def counted(self) -> tuple[Expression, Expression | None]:
        """What is counted: the values of one expression where the other has one. Of one that is nullable, if any is."""
        chosen = max(self.factors, key=is_nullable)
        return chosen, self.x_where if chosen == self.x else self.y_where


def _where_known(expression: Expression, condition: Expression | None) -> Expression | None:
    """The condition, where the expression has a value."""
    if not is_nullable(expression):
        return condition
    known = Call("not", (Call("is null", (expression,), BOOLEAN),), BOOLEAN)
    return conjunction([known] if condition is None else [condition, known])
