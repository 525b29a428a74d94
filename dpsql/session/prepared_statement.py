"""Prepared statements: parsed once, their parameter types and columns known before any value is bound.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpsql.errors import DatabaseError
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.sql.parser.parameter_types import read_value, stand_ins

#: Texts that stand for a value while columns are described: some functions take only the name of a unit.
TEXTS = ("", "day", "1")


@dataclass(frozen=True)
class PreparedStatement:
    """A query with parameters (``?`` or ``$1``), their DuckDB types, and the columns of its result.

    The scale of a decimal parameter is the only value that a column's type can depend on; the column then has the type
    that a parameter without decimals gives.
    """

    text: str
    parameters: tuple[str, ...]
    columns: tuple[OutputColumn, ...]
    planned: Callable[[tuple[object, ...]], Plan]

    def plan(self, values: Sequence[object] = ()) -> Plan:
        """The plan for these values; a text that is bound to a parameter of another type is read as that type.

        Raises DataError (22P02) if the text is not a value of the type.
        """
        types = (*self.parameters, *[None] * (len(values) - len(self.parameters)))
        return self.planned(tuple(read_value(value, kind) for value, kind in zip(values, types, strict=False)))


def described(
    parameters: Sequence[str], columns: Callable[[tuple[object, ...]], tuple[OutputColumn, ...]]
) -> tuple[OutputColumn, ...]:
    """The columns of a query with stand-in values; raises the refusal if none of them is answered."""
    refusal: DatabaseError | None = None
    for text in TEXTS if "VARCHAR" in parameters else TEXTS[:1]:
        try:
            return columns(stand_ins(parameters, text))
        except DatabaseError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal
