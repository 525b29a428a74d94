"""Public ladders of limits and of bounds, and the place of a private number on them, as SQL.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, log10

from dpsql.schema import SqlType
from dpsql.schema.table import MAX_LIMIT

#: How many rungs a ladder of limits has from 1 to 10, and one of bounds.
LIMIT_RUNGS, BOUND_RUNGS = 20, 10
#: By this part of the way to the next rung a number may lie above a rung and still be taken for one that does not:
#: logarithms are doubles, and so 1,000 is not above 1,000.
SLACK = 0.05
#: The rungs of bounds from 1 to 10: preferred numbers, each about a quarter larger than the one before.
PREFERRED = tuple(map(Fraction, ("1", "1.25", "1.6", "2", "2.5", "3.2", "4", "5", "6.3", "8")))
#: The decades of bounds of a DOUBLE, from its smallest rung on; that of a whole number is 1.
DOUBLE_DECADES, SMALLEST_DOUBLE = 21, Fraction(1, 10**6)
#: The decades of bounds of a whole number of 64 bits.
INTEGER_DECADES = 18


@dataclass(frozen=True)
class Ladder:
    """Numbers in rising order, and the SQL of the place of the first that a number is not above.

    ``place`` is made of the name of the column that has the number.
    """

    rungs: tuple[Fraction, ...]
    first: float
    signed: bool

    def place(self, column: str) -> str:
        """The SQL of the place, a whole number from 0 to one less than there are rungs; that of NULL is 0."""
        last = len(self.rungs) - 1
        place = self._signed(column, last // 2) if self.signed else self._up(column, LIMIT_RUNGS)
        return f"CAST(GREATEST(LEAST({place}, {last}), 0) AS INTEGER)"

    def _signed(self, column: str, zero: int) -> str:
        """The place on a ladder whose middle rung is 0."""
        below = f"LN(GREATEST(-{column} * {self._scale}, 0.9)) * {BOUND_RUNGS / log(10)!r}"
        above = f"{zero + 1} + {self._up(column, BOUND_RUNGS)}"
        other = f"{zero - 1} - FLOOR({below} + {SLACK})"
        return f"CASE WHEN {column} > 0 THEN {above} WHEN {column} <= 0 THEN {other} ELSE 0 END"

    def _up(self, column: str, rungs: int) -> str:
        """How many rungs above the smallest one a number is not above, of those above 0."""
        return f"CEIL(LN(GREATEST({column} * {self._scale}, 1.0)) * {rungs / log(10)!r} - {SLACK})"

    @property
    def _scale(self) -> str:
        return f"{1 / self.first:.1f}"


def of_limits() -> Ladder:
    """Whole numbers from 1 to the largest limit, twenty from 1 to 10, 10 to 100 and so on.

    >>> [int(rung) for rung in of_limits().rungs[15:30]]
    [5, 6, 7, 7, 8, 10, 11, 12, 14, 15, 17, 20, 22, 25, 28]
    """
    last = ceil(LIMIT_RUNGS * log10(MAX_LIMIT))
    found = [floor(10 ** ((rung + SLACK) / LIMIT_RUNGS)) for rung in range(last)]
    return Ladder(tuple(map(Fraction, (*found, MAX_LIMIT))), 1.0, False)


def of_bounds(sql_type: SqlType) -> Ladder:
    """Numbers of a type, from the smallest that a bound may be to the largest: preferred ones, 0, and both signs.

    >>> [str(rung) for rung in of_bounds(SqlType.parse("decimal(3,1)")).rungs[30:41]]
    ['-1/10', '0', '1/10', '1/5', '1/5', '1/5', '3/10', '2/5', '2/5', '1/2', '7/10']
    """
    match sql_type.kind:
        case "integer":
            first, decades = Fraction(1), INTEGER_DECADES
        case "decimal":
            assert sql_type.precision is not None and sql_type.scale is not None
            first, decades = Fraction(1, 10**sql_type.scale), sql_type.precision
        case _:
            first, decades = SMALLEST_DOUBLE, DOUBLE_DECADES
    grid = None if sql_type.kind == "double" else first
    positive = [_on(first * 10**decade * each, grid) for decade in range(decades) for each in PREFERRED]
    largest = first * 10**decades - (first if sql_type.kind == "decimal" else 0)
    positive.append(largest)
    rungs = (*(-each for each in reversed(positive)), Fraction(0), *positive)
    return Ladder(rungs, float(first), True)


def _on(rung: Fraction, grid: Fraction | None) -> Fraction:
    """The rung, rounded up to a number that the type has."""
    return rung if grid is None else ceil(rung / grid) * grid
