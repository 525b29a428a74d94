"""Rows that go through a pipe are the same on the other side,
and what is no frame is an error of the reader alone.
"""

from __future__ import annotations

import math
import os
import struct
import threading
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.duckdb.row_encoding import decode_rows, written

VALUES = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(-(2**127), 2**127),
    some.floats(),
    some.text(),
    some.dates(),
    some.datetimes(),
    some.decimals(allow_nan=False, allow_infinity=False, places=3),
)
COLUMNS = some.one_of(
    some.lists(some.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
    some.lists(some.one_of(VALUES, some.lists(VALUES)), min_size=3, max_size=3),
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)  # SQL has one NaN, without a sign
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return type(one) is type(other) and one == other and str(one) == str(other)


@given(some.lists(COLUMNS, max_size=4))
def test_rows_come_back_as_they_were(columns: list[list[Any]]) -> None:
    rows = list(zip(*columns, strict=True))
    assert same(decode_rows(*written(rows)), rows)


def test_rows_go_through_a_pipe() -> None:
    ours, theirs = os.pipe()
    pipe = MessagePipe(ours, theirs)
    many = [(number, f"text {number}", Decimal(number)) for number in range(100_000)]
    sent = EngineMessage(
        "done",
        7,
        {"version": None},
        [many, [], [(date(2000, 1, 1), datetime(1, 1, 1), [[1], [2]])]],
    )
    thread = threading.Thread(target=pipe.send, args=(sent,))
    thread.start()
    got = pipe.receive()
    thread.join()
    assert (got.word, got.number, got.said, list(got.rows)) == (
        "done",
        7,
        {"version": None},
        sent.rows,
    )
    pipe.close()


@pytest.mark.parametrize("value", [b"bytes", {"a": 1}, object(), (1, 2j), struct])
def test_what_no_column_holds_is_not_sent(value: object) -> None:
    if isinstance(value, dict):
        with pytest.raises((TypeError, ValueError, KeyError)):
            decode_rows(*written([(value,)]))
        return
    with pytest.raises(TypeError):
        written([(value,)])


def _frame(header: bytes, rest: bytes = b"") -> bytes:
    return struct.pack(">QI", len(header) + len(rest), len(header)) + header + rest


BROKEN = [
    b"",
    b"\x00",
    b"\xff" * 5000,
    struct.pack(">QI", 2**60, 10) + b"x" * 10,
    struct.pack(">QI", 5, 10) + b"x" * 10,
    *map(
        _frame,
        (
            b"not JSON",
            b"[]",
            b'["done"]',
            b"7",
            b'["done", "x", {}, []]',
            b'["done", 1, 5, []]',
            b"[" * 5000,
        ),
    ),
    _frame(b'["done", 1, {}, [[1, [["q", -8]]]]]'),
    _frame(b'["done", 1, {}, [[1, [["q", 99999999999999]]]]]'),
    _frame(b'["done", 1, {}, [[1, [["q", 999999999]]]]]'),
    _frame(b'["done", 1, {}, [[2, [["q", 8]]]]]', b"\0" * 8),
    _frame(b'["done", 1, {}, [[1, [["q", 3]]]]]', b"abc"),
    _frame(b'["done", 1, {}, [[1, [["p", 4]]]]]', b"cos\n"),
    _frame(b'["done", 1, {}, [[1, [["j", 11]]]]]', b'[{"x":"1"}]'),
    _frame(b'["done", 1, {}, []]', b"more"),
    b"\x80\x04cos\nsystem\n",
]


@pytest.mark.parametrize("bytes_", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_frame_is_an_error_and_nothing_else(bytes_: bytes) -> None:
    reads, writes = os.pipe()
    os.write(writes, bytes_)
    os.close(writes)
    with pytest.raises((EOFError, ValueError, TypeError, KeyError, RecursionError)):
        MessagePipe(reads, reads).receive()
    os.close(reads)
