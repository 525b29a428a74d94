"""Whether a Parquet file is as long and as divided as its footer says,
found without reading a value of a row.

Proved in ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, Final, TypeAlias

#: A chunk of a column: where it begins, its bytes, its values, and the rows of its group.
ColumnChunk: TypeAlias = tuple[int, int, int, int]

#: Bytes of "PAR1" before the first chunk, and of the footer's length and "PAR1" behind the last.
_FIRST = 4
_LAST = 8
#: Bytes that the description of a page has at first sight, and at most.
_USUAL = 2**10
_MOST = 2**20
#: What a description of a page holds: the kind of the page, its bytes,
#: and of a page of data how #: many values it has.
_KIND = 1
_SIZE = 3
_DATA = 5
_DATA_2 = 8
_VALUES = 1
_KINDS: Final = range(4)

_Fields: TypeAlias = dict[int, Any]


def is_whole(file: BinaryIO, size: int, chunks: list[ColumnChunk]) -> bool:
    """Whether each chunk lies in the file and is made of pages with all its values;
    one without rows is nowhere.
    """
    return all(
        _FIRST <= begin <= begin + length <= size - _LAST
        and values >= rows
        and _has_pages(file, begin, size - _LAST, values)
        for begin, length, values, rows in chunks
        if rows or values
    )


def _has_pages(file: BinaryIO, at: int, end: int, values: int) -> bool:
    """Whether pages follow one another from here until they have that many values."""
    while values > 0:
        try:
            length, page = _described(file, at)
            compressed = int(page[_SIZE])
            if page[_KIND] not in _KINDS or compressed < 0:
                return False
            data = page.get(_DATA) or page.get(_DATA_2) or {}
            page_values = int(data.get(_VALUES, 0))
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            return False
        at += length + compressed
        if at > end or page_values < 0:
            return False
        values -= page_values
    return True


def _described(file: BinaryIO, at: int) -> tuple[int, _Fields]:
    """How long the description of the page that begins here is, and its fields;
    an error if it is none.
    """
    file.seek(at)
    data = file.read(_USUAL)
    try:
        return _struct(data, 0)
    except IndexError:
        return _struct(data + file.read(_MOST), 0)


def _struct(data: bytes, at: int) -> tuple[int, _Fields]:
    """A struct of Thrift's compact protocol: the position of its end, and its fields by their numbers."""
    fields = _Fields()
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            at, number = _integer(data, at)
        at, fields[number] = _READ[head & 15](data, at)
    return at + 1, fields


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at = at + 1
        value = value | (byte & 127) << shift
        shift = shift + 7
        if not byte & 128:
            return at, (value >> 1) ^ -(value & 1)
        if shift > 63:
            raise ValueError


def _bytes(data: bytes, at: int) -> tuple[int, None]:
    at, doubled = _integer(data, at)
    size = 2 * doubled if doubled >= 0 else -2 * doubled - 1  # lengths are not signed
    if at + size > len(data):
        raise IndexError
    return at + size, None


_READ: Final[dict[int, Callable[[bytes, int], tuple[int, Any]]]] = {
    1: lambda _, at: (at, True),
    2: lambda _, at: (at, False),
    3: lambda _, at: (at + 1, None),
    4: _integer,
    5: _integer,
    6: _integer,
    7: lambda _, at: (at + 8, None),
    8: _bytes,
    12: _struct,
}
