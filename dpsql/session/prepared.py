"""Prepared statements: parsed once, with the types of their parameters known before any value.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpsql.errors import DatabaseError
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.schema.types import TYPES, engine_kind
from dpsql.sql.parser.parameter_types import read_value

#: Texts that stand for a value while columns are described: some functions take only the name of a unit.
TEXTS = ("", "day", "1")


@dataclass(frozen=True)
class Prepared:
    """A query with ``?`` or ``$1`` in it: the DuckDB types of its parameters, and its columns.

    Where a column's type would depend on a value, which is so for the scale of a decimal parameter alone, the column is
    the one that a parameter without decimals gives.
    """

    text: str
    parameters: tuple[str, ...]
    columns: tuple[OutputColumn, ...]
    planned: Callable[[tuple[object, ...]], Plan]

    def plan(self, values: Sequence[object] = ()) -> Plan:
        """The plan for these values; a text for a parameter of another type is read as that type.

        Raises DataError (22P02) for a text that is no value of the type.
        """
        types = (*self.parameters, *[None] * (len(values) - len(self.parameters)))
        return self.planned(tuple(read_value(value, kind) for value, kind in zip(values, types, strict=False)))


def described(parameters: Sequence[str], plan: Callable[[tuple[object, ...]], Plan]) -> tuple[OutputColumn, ...]:
    """The columns of a query, found with values that stand for those to come; the refusal where none is answered."""
    refusal: DatabaseError | None = None
    for text in TEXTS if "VARCHAR" in parameters else TEXTS[:1]:
        try:
            return plan(stand_ins(parameters, text)).columns
        except DatabaseError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def stand_ins(parameters: Sequence[str], text: str) -> tuple[object, ...]:
    """A value of each parameter's type, ``text`` for the texts."""
    return tuple(_stand_in(kind, place, text) for place, kind in enumerate(parameters, 1))


def _stand_in(kind: str, place: int, text: str) -> object:
    """A value of the type; later parameters have larger ones, so that ranges are not empty."""
    if kind.endswith("[]"):
        return [_stand_in(kind.removesuffix("[]"), place, text)]
    known = engine_kind(kind)
    return text if known is None else TYPES[known].stand_in(place, text)
