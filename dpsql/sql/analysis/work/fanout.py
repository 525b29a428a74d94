"""What is known of public tables beforehand: how many rows a row may meet, how long texts are,
and values.

Proved in ``docs/proofs/work.md`` and ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from typing import Final, Protocol

from dpsql.sql.analysis.work.row_cost import UNDECLARED
from dpsql.sql.ir.expression import ColumnRef, Expression, Scalar
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Constants, PublicRange, Scan


class Fanout(Protocol):
    """The most rows of a public table with equal values in these columns.

    Without columns, all of its rows; with ``characters``, the most characters of the one column.
    ``values`` are those of a column but NULL, None if too many.

    ``partners`` is the most rows of a public table, or of constants, that fulfil the conditions,
    have equal values in these columns, and whose ranges have a point in common; None if it is not
    counted.
    """

    def __call__(
        self, table: str, columns: tuple[str, ...], *, characters: bool = False
    ) -> int: ...

    def values(self, table: str, column: ColumnRef) -> tuple[Scalar, ...] | None: ...

    def partners(
        self,
        source: Scan | Constants,
        equal: tuple[str, ...],
        conditions: tuple[Expression, ...],
        between: PublicRange | None,
    ) -> int | None: ...


class UnknownSizes:
    """The sizes of public tables where nobody knows them:
    a statement that depends on one is refused.

    Texts count as short ones, for a statement that is bound to be shown and not to be answered.
    """

    def __call__(self, table: str, columns: tuple[str, ...], *, characters: bool = False) -> int:
        if characters:
            return UNDECLARED
        refuse(
            "E_JOIN", f"rows are joined with each of {table}, and how many these are is not known"
        )

    def values(self, table: str, column: ColumnRef) -> tuple[Scalar, ...] | None:
        return None

    def partners(
        self,
        source: Scan | Constants,
        equal: tuple[str, ...],
        conditions: tuple[Expression, ...],
        between: PublicRange | None,
    ) -> int | None:
        return None


NO_SIZES: Final = UnknownSizes()
