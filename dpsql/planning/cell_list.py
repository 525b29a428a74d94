"""The cells that are measured for one core, each bought once.

Proved in ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, replace

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.ir.core import Aggregate, Cell, ClampedSum, CountList, ProductSum, RowCount
from dpsql.sql.ir.expression import BOOLEAN, Call, Expression, conjunction


class CellList:
    """The cells and histograms of a core while they are chosen.

    Each method gives the index of a cell. ``centred`` are the expressions whose totals are measured
    from the middle of their bounds, with their conditions.
    """

    def __init__(self, centred: Collection[tuple[Expression, Expression | None]]) -> None:
        self.cells = list[Cell]()
        self.histograms = list[CountList]()
        self._centred = centred
        self._averaged = False

    def of_averages(self, centred: Collection[tuple[Expression, Expression | None]]) -> CellList:
        """The same list for averages: it adds cells of sums and of rows apart from others."""
        result = copy(self)
        result._centred = centred
        result._averaged = True
        return result

    def is_centred(self, argument: Expression, condition: Expression | None) -> bool:
        """Whether the total is measured from the middle of the bounds."""
        return (argument, condition) in self._centred

    def total(self, argument: Expression, condition: Expression | None) -> int:
        """The place of the sum of the argument."""
        return self.index_of(ClampedSum(argument, condition, self.is_centred(argument, condition)))

    def rows(self, argument: Expression | None, condition: Expression | None) -> int:
        """The index of the count of the rows in which the argument has a value."""
        return self.index_of(
            RowCount(
                argument if argument is not None and is_nullable(argument) else None, condition
            )
        )

    def histogram(self, histogram: CountList) -> int:
        """The index of the histogram; it is added if it is new."""
        if histogram not in self.histograms:
            self.histograms.append(histogram)
        return self.histograms.index(histogram)

    def index_of(self, cell: Cell) -> int:
        """The index of the cell; it is added if it is new."""
        if self._averaged and isinstance(cell, RowCount | ClampedSum | ProductSum):
            cell = replace(cell, averaged=True)
        if cell not in self.cells:
            self.cells.append(cell)
        return self.cells.index(cell)


@dataclass(frozen=True)
class ValuePair:
    """Two expressions, and the conditions under which each is added so that both have a value.

    Cells of one expression have one form wherever they are needed:
    an expression's own NULLs are left to the cell.
    """

    y: Expression
    x: Expression
    condition: Expression | None

    @classmethod
    def of(cls, aggregate: Aggregate) -> ValuePair:
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
        """What is counted: the values of one expression, in rows in which the other has one.

        The counted expression is a nullable one, if any is.
        """
        chosen = max(self.factors, key=is_nullable)
        return chosen, self.x_where if chosen == self.x else self.y_where


def _where_known(expression: Expression, condition: Expression | None) -> Expression | None:
    """The condition, and that the expression has a value."""
    if not is_nullable(expression):
        return condition
    known = Call("not", (Call("is null", (expression,), BOOLEAN),), BOOLEAN)
    return conjunction([known] if condition is None else [condition, known])
