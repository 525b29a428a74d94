"""What the ledger keeps of a synthetic table: the columns that its facts declare, and its rows.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from dpsql.privacy.ledger import NamedRelease
from dpsql.schema import Column, Table
from dpsql.schema.types import Bound, SqlType

#: The most bytes that the rows of a table may unpack to.
LARGEST = 2**29


@dataclass(frozen=True)
class SyntheticColumns:
    """The private table that a synthetic one was made of, and the columns of both,
    each as the owner declares it.
    """

    source: str
    columns: Mapping[str, Column]

    def table(self, release: NamedRelease) -> Table:
        """The synthetic table as one of the schema's public tables."""
        comment = (
            f"synthetic rows, made of {self.source} by {release.analyst} on {release.at:%Y-%m-%d}"
        )
        return Table(public=True, columns=dict(self.columns), comment=comment).synthetic_of(
            self.source
        )


def written(table: SyntheticColumns) -> str:
    """The columns as a text.

    >>> own = SyntheticColumns("people", {"age": Column(type="integer", bounds=[0, 90], nullable=True)})
    >>> declared(written(own)) == own
    True
    """
    columns = {name: _written(column) for name, column in table.columns.items()}
    return json.dumps({"source": table.source, "columns": columns})


def declared(facts: str) -> SyntheticColumns:
    """The columns that the text declares."""
    stored = json.loads(facts)
    return SyntheticColumns(
        stored["source"], {name: _column(column) for name, column in stored["columns"].items()}
    )


def packed(columns: Sequence[Sequence[object]]) -> bytes:
    """Columns of values, compressed: the different values of each as texts,
    and which of them each row has.

    >>> kinds = SyntheticColumns("people", {"age": Column(type="integer"), "born": Column(type="date")})
    >>> rows_of(kinds, packed([[3, None], [date(2020, 1, 31), date(2020, 1, 31)]]))
    [(3, datetime.date(2020, 1, 31)), (None, datetime.date(2020, 1, 31))]
    """
    text = json.dumps([_packed(column) for column in columns], separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 6)


def rows_of(table: SyntheticColumns, content: bytes) -> list[tuple[object, ...]]:
    """The rows of packed columns, each value in the type of its column."""
    text = zlib.decompressobj().decompress(content, LARGEST)
    pairs = zip(json.loads(text), table.columns.values(), strict=True)
    return list(
        zip(
            *(_unpacked(packed_column, column.type) for packed_column, column in pairs), strict=True
        )
    )


def _packed(values: Sequence[object]) -> dict[str, object]:
    known = {
        value: index
        for index, value in enumerate(dict.fromkeys(value for value in values if value is not None))
    }
    places = array("i", (-1 if value is None else known[value] for value in values))
    return {"values": [_text(value) for value in known], "rows": b64encode(places).decode("ascii")}


def _unpacked(packed: Any, sql_type: SqlType) -> list[object]:
    values = [*map(sql_type.facts.read, packed["values"]), None]
    places: array[int] = array("i")
    places.frombytes(b64decode(packed["rows"], validate=True))
    return [values[index] for index in places]


def _written(column: Column) -> dict[str, object]:
    ends = None if column.bounds is None else [_text(bound) for bound in column.bounds]
    values = None if column.values is None else [_text(value) for value in column.values]
    return {"type": str(column.type), "nullable": column.nullable, "bounds": ends, "values": values}


def _column(written: Any) -> Column:
    sql_type = SqlType.parse(written["type"])
    read_value = sql_type.facts.read
    values = None if written["values"] is None else [read_value(text) for text in written["values"]]
    bounds = (
        None if written["bounds"] is None else [_end(sql_type, text) for text in written["bounds"]]
    )
    return Column(type=sql_type, nullable=written["nullable"], bounds=bounds, values=values)  # type: ignore[arg-type]


def _end(sql_type: SqlType, text: str) -> Bound:
    return Fraction(text) if sql_type.is_numeric else sql_type.facts.read(text)  # type: ignore[return-value]


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case date() | datetime():
            return value.isoformat()
    return repr(value) if isinstance(value, float) else str(value)
