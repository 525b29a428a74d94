"""Rows as bytes, column by column, and back: numbers, texts, dates, lists and bins, and nothing that could be run.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from dpsql.engines.duckdb.gathered import Bins
from dpsql.engines.source import Rows

#: How a column is written: 64-bit integers; bins of histograms, as 64-bit integers; or JSON in which other values stand
#: as {letter: text}.
INTEGERS, BINS, JSON = "q", "b", "j"
_READ: Final[dict[str, Callable[[str], object]]] = {"d": Decimal, "D": date.fromisoformat, "T": datetime.fromisoformat}


def written(rows: Rows) -> tuple[list[Any], list[bytes]]:
    """A description of the rows, in values that JSON has, and the bytes of their columns.

    >>> read(*written([(1, "a", Decimal("0.10")), (2, None, Decimal(3))]))
    [(1, 'a', Decimal('0.10')), (2, None, Decimal('3'))]

    TypeError for a value of a type that no column has.
    """
    columns = [_column(column) for column in zip(*rows, strict=True)]
    return [len(rows), [[kind, len(data)] for kind, data in columns]], [data for _, data in columns]


def read(description: Sequence[Any], columns: Sequence[bytes]) -> list[tuple[Any, ...]]:
    """The rows that were written; ValueError, TypeError or KeyError for anything else."""
    count, kinds = description
    values = [_values(kind, data) for (kind, _), data in zip(kinds, columns, strict=True)]
    if any(len(column) != count for column in values):
        raise ValueError("columns of different lengths")
    return list(zip(*values, strict=True)) if values else [()] * count


def _column(column: tuple[Any, ...]) -> tuple[str, bytes]:
    if set(map(type, column)) == {int}:
        try:
            return INTEGERS, array("q", column).tobytes()
        except OverflowError:
            pass  # HUGEINT
    if any(isinstance(value, tuple) for value in column):
        return BINS, _bins_written(column)
    return JSON, json.dumps(column, default=_marked).encode("ascii")


def _values(kind: str, data: bytes) -> list[Any]:
    if kind == INTEGERS:
        return memoryview(data).cast("q").tolist()
    if kind == BINS:
        return _bins_read(data)
    if kind != JSON:
        raise ValueError("a column that is written in no way")
    found = json.loads(data, object_hook=_unmarked)
    if not isinstance(found, list):
        raise ValueError("no column")
    return found


def _bins_written(column: Sequence[Bins]) -> bytes:
    """How many groups there are, how many bins each has, −1 for None, and then each group's bins and their counts."""
    sizes = array("q", [len(column), *(-1 if bins is None else len(bins[0]) for bins in column)])
    return b"".join([sizes.tobytes(), *(part.tobytes() for bins in column if bins is not None for part in bins)])


def _bins_read(data: bytes) -> list[Any]:
    numbers = memoryview(data).cast("q")
    found, at = list[Bins](), 1 + numbers[0]
    for size in numbers[1:at].tolist():
        middle, end = at + max(size, 0), at + 2 * max(size, 0)
        found.append(None if size < 0 else (array("q", numbers[at:middle]), array("q", numbers[middle:end])))
        at = end
    if at != len(numbers):
        raise ValueError("bins of other sizes than are told")
    return found


def _marked(value: object) -> dict[str, str]:
    match value:
        case Decimal():
            return {"d": str(value)}
        case datetime():
            return {"T": value.isoformat()}
        case date():
            return {"D": value.isoformat()}
        case _:
            raise TypeError("a value that no column has")


def _unmarked(marked: dict[str, Any]) -> object:
    ((letter, text),) = marked.items()
    return _READ[letter](text)


assert array("q").itemsize == 8 and sys.maxsize > 2**32, "dpsql needs a 64-bit Python"
