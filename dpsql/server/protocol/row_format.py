"""Rows → DataRow messages, in the formats that a client asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from dpsql.server.protocol import binary_format, text_format
from dpsql.server.protocol.codec import FieldDescription, RowDescription, data_row
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.portals import Row
from dpsql.server.protocol.text_format import Encoder
from dpsql.server.protocol.types import Column


def expanded(formats: Sequence[int], count: int) -> Sequence[int]:
    """A format for each of ``count`` values: none named is text, one is for all."""
    if any(each not in (0, 1) for each in formats):
        raise WireError("08P01", "a format code is neither text nor binary")
    if len(formats) <= 1:
        return [formats[0] if formats else 0] * count
    if len(formats) != count:
        raise WireError("08P01", f"{len(formats)} format codes do not fit {count} values")
    return formats


def description(columns: Sequence[Column], formats: Sequence[int]) -> RowDescription:
    """What a client is told of the columns."""
    told = zip(columns, expanded(formats, len(columns)), strict=True)
    return RowDescription(
        fields=[
            FieldDescription(
                name=column.name.replace("\0", ""),
                type_oid=column.type.oid,
                type_size=column.type.size,
                type_modifier=column.modifier,
                format_code=code,
            )
            for column, code in told
        ]
    )


def encoders(columns: Sequence[Column], formats: Sequence[int], zone: tzinfo) -> list[Encoder]:
    """What writes the values of each column."""
    codes = expanded(formats, len(columns))
    return [
        binary_format.encoder(column.type) if code else text_format.encoder(column.type, zone)
        for column, code in zip(columns, codes, strict=True)
    ]


def row_writer(columns: Sequence[Column], formats: Sequence[int], zone: tzinfo) -> Callable[[Row], bytes]:
    """What writes a row as a DataRow."""
    written = encoders(columns, formats, zone)

    def write(row: Row) -> bytes:
        return data_row([None if value is None else encode(value) for encode, value in zip(written, row, strict=True)])

    return write
