"""Rows of a core as they travel: bins of histograms gathered into arrays,
and columns written as bytes and read again.

A sort, a hash table or a join of DuckDB may spill to disk, and a list may not, so bins are rows
until they are here, where each is 16 bytes. Nothing that is read back could be run. Proved in
``docs/proofs/quantiles.md`` and ``docs/proofs/process.md``.

Proved in ``docs/proofs/quantiles.md`` and ``docs/proofs/process.md``.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

from dpsql.engines.source import ValueRows

#: The bins of one group in order, and the count of each; None where it has none.
BinCounts: TypeAlias = "tuple[array[int], array[int]] | None"
#: Behind a row's own columns: which histogram it is about, NULL for none,
#: and a bin of it with its #: count.
BEHIND: Final = 3
_NAN: Final = object()


def gathered(rows: Iterable[tuple[Any, ...]], keys: int, histograms: int) -> list[tuple[Any, ...]]:
    """Each group's keys and cells, followed by its histograms.

    A row that tells of a bin begins with the ``keys`` of its group;
    if that is no group of the core, it is left out.

    >>> gathered([("a", 7, None, None, None), ("a", None, 0, 5, 1), ("a", None, 0, 2, 6)], 1, 1)
    [('a', 7, (array('q', [2, 5]), array('q', [6, 1])))]
    """
    if not histograms:
        return list(rows)
    groups: list[tuple[Any, ...]] = []
    histogram_bins: list[dict[Hashable, array[int]]] = [{} for _ in range(histograms)]
    for row in rows:
        histogram = row[-BEHIND]
        if histogram is None:
            groups.append(row[:-BEHIND])
            continue
        group = row[:keys]
        pairs = histogram_bins[histogram].get(group)
        if pairs is None:  # a group with a NaN is met under more than one name
            pairs = histogram_bins[histogram][group] = histogram_bins[histogram].setdefault(
                _group(group), array("q")
            )
        pairs.extend(row[1 - BEHIND :])
    return [
        (*row, *(_in_order(bins.get(_group(row[:keys]))) for bins in histogram_bins))
        for row in groups
    ]


def _group(keys: Sequence[Any]) -> tuple[Hashable, ...]:
    """The keys so that NaN equals itself, as it does for GROUP BY."""
    return tuple(_NAN if key != key else key for key in keys)


def _in_order(pairs: array[int] | None) -> BinCounts:
    """The bins in order and their counts, of bins and counts by turns."""
    if pairs is None:
        return None
    bins = pairs[::2]
    counts = pairs[1::2]
    order = sorted(range(len(bins)), key=bins.__getitem__)
    return array("q", map(bins.__getitem__, order)), array("q", map(counts.__getitem__, order))


#: How a column is written: 64-bit integers; bins of histograms, as 64-bit integers; or JSON in
#: which other values stand as {letter: text}.
INTEGERS = "q"
BINS = "b"
JSON = "j"
#: The values that JSON does not have: by their Python type the letter,
#: and how they are written and #: read.
_FORMS: Final[dict[type, tuple[str, Callable[[Any], str], Callable[[str], object]]]] = {
    Decimal: ("d", str, Decimal),
    date: ("D", date.isoformat, date.fromisoformat),
    datetime: ("T", datetime.isoformat, datetime.fromisoformat),
}
_READ: Final = {letter: read for letter, _, read in _FORMS.values()}


def written(rows: ValueRows) -> tuple[list[Any], list[bytes]]:
    """A description of the rows, in values that JSON has, and the bytes of their columns.

    >>> decode_rows(*written([(1, "a", Decimal("0.10")), (2, None, Decimal(3))]))
    [(1, 'a', Decimal('0.10')), (2, None, Decimal('3'))]

    TypeError for a value of a type that no column has.
    """
    columns = [_column(column) for column in zip(*rows, strict=True)]
    return [len(rows), [[kind, len(data)] for kind, data in columns]], [data for _, data in columns]


def decode_rows(description: Sequence[Any], columns: Sequence[bytes]) -> list[tuple[Any, ...]]:
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
    result = json.loads(data, object_hook=_unmarked)
    if not isinstance(result, list):
        raise ValueError("no column")
    return result


def _bins_written(column: Sequence[BinCounts]) -> bytes:
    """How many groups there are, how many bins each has, −1 for None,
    and then each group's bins and their counts.
    """
    sizes = array("q", [len(column), *(-1 if bins is None else len(bins[0]) for bins in column)])
    return b"".join(
        [sizes.tobytes(), *(bin_.tobytes() for bins in column if bins is not None for bin_ in bins)]
    )


def _bins_read(data: bytes) -> list[Any]:
    numbers = memoryview(data).cast("q")
    result = list[BinCounts]()
    at = 1 + numbers[0]
    for size in numbers[1:at].tolist():
        middle = at + max(size, 0)
        end = at + 2 * max(size, 0)
        result.append(
            None if size < 0 else (array("q", numbers[at:middle]), array("q", numbers[middle:end]))
        )
        at = end
    if at != len(numbers):
        raise ValueError("bins of other sizes than are told")
    return result


def _marked(value: object) -> dict[str, str]:
    if type(value) not in _FORMS:
        raise TypeError("a value that no column has")
    letter, write, _ = _FORMS[type(value)]
    return {letter: write(value)}


def _unmarked(marked: dict[str, Any]) -> object:
    ((letter, text),) = marked.items()
    return _READ[letter](text)


assert array("q").itemsize == 8 and sys.maxsize > 2**32, "dpsql needs a 64-bit Python"
