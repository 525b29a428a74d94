"""Arrays in PostgreSQL's binary format, level by level."""

from __future__ import annotations

import struct

import pytest

from dpsql.errors import DataError
from dpsql.server.protocol import postgres_types
from dpsql.server.protocol.binary_format import _array, encoder


def test_lists_of_lists_are_arrays_of_as_many_dimensions() -> None:
    value = [[[1, 2, 3]], [[4, 5, None]]]
    sent = _array(postgres_types.INT4, encoder(postgres_types.INT4), value)
    dimensions, has_null, _ = struct.unpack_from("!iiI", sent)
    assert (dimensions, has_null) == (3, 1)
    assert [struct.unpack_from("!ii", sent, 12 + 8 * level) for level in range(3)] == [
        (2, 1),
        (1, 1),
        (3, 1),
    ]


def test_lists_of_different_lengths_have_no_binary_format() -> None:
    with pytest.raises(DataError, match="different lengths"):
        _array(postgres_types.INT4, encoder(postgres_types.INT4), [[1, 2], [3]])
