"""Writes rows as DataRow messages and for COPY (text, CSV, binary),
in the formats that a client asks for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo

from dpsql.server.commands.command import CopyOptions
from dpsql.server.protocol import binary_format, text_format
from dpsql.server.protocol.codec import FieldDescription, RowDescription, data_row
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.portals import Row
from dpsql.server.protocol.postgres_types import WireColumn
from dpsql.server.protocol.text_format import Encoder


def expanded(formats: Sequence[int], count: int) -> Sequence[int]:
    """A format code for each of ``count`` values: text if none is given, or one for all."""
    if any(format_ not in (0, 1) for format_ in formats):
        raise WireError("08P01", "a format code is neither text nor binary")
    if len(formats) <= 1:
        return [formats[0] if formats else 0] * count
    if len(formats) != count:
        raise WireError("08P01", f"{len(formats)} format codes do not fit {count} values")
    return formats


def description(columns: Sequence[WireColumn], formats: Sequence[int]) -> RowDescription:
    """The RowDescription of the columns."""
    coded = zip(columns, expanded(formats, len(columns)), strict=True)
    return RowDescription(
        fields=[
            FieldDescription(
                name=column.name.replace("\0", ""),
                type_oid=column.type.oid,
                type_size=column.type.size,
                type_modifier=column.modifier,
                format_code=code,
            )
            for column, code in coded
        ]
    )


def encoders(columns: Sequence[WireColumn], formats: Sequence[int], zone: tzinfo) -> list[Encoder]:
    """The encoder of each column."""
    codes = expanded(formats, len(columns))
    return [
        binary_format.encoder(column.type) if code else text_format.encoder(column.type, zone)
        for column, code in zip(columns, codes, strict=True)
    ]


def row_writer(
    columns: Sequence[WireColumn], formats: Sequence[int], zone: tzinfo
) -> Callable[[Row], bytes]:
    """A function that writes a row as a DataRow."""
    written = encoders(columns, formats, zone)

    def write(row: Row) -> bytes:
        return data_row(
            [
                None if value is None else encode(value)
                for encode, value in zip(written, row, strict=True)
            ]
        )

    return write


_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}


def copied(
    columns: Sequence[WireColumn], rows: Sequence[Row], options: CopyOptions, zone: tzinfo
) -> Iterator[bytes]:
    """The contents of CopyData messages; a binary header is part of the first,
    as drivers expect.
    """
    written = encoders(columns, [int(options.format == "binary")], zone)
    match options.format:
        case "binary":
            head = _SIGNATURE
            for row in rows:
                yield head + _binary(written, row)
                head = b""
            yield head + _END
        case "text":
            if options.header:
                yield _text_line([column.name for column in columns], options)
            for row in rows:
                yield _text_line(_texts(written, row), options)
        case "csv":
            forced = [
                options.force_quote == "*" or column.name in options.force_quote
                for column in columns
            ]
            if options.header:
                yield _csv_line(
                    [column.name for column in columns], [False] * len(columns), options
                )
            for row in rows:
                yield _csv_line(_texts(written, row), forced, options)


def _binary(written: Sequence[Encoder], row: Row) -> bytes:
    parts = [struct.pack("!h", len(written))]
    for encode, value in zip(written, row, strict=True):
        if value is None:
            parts.append(b"\xff\xff\xff\xff")
        else:
            data = encode(value)
            parts += [struct.pack("!i", len(data)), data]
    return b"".join(parts)


def _texts(written: Sequence[Encoder], row: Row) -> list[str | None]:
    return [
        None if value is None else encode(value).decode()
        for encode, value in zip(written, row, strict=True)
    ]


def _text_line(values: Sequence[str | None], options: CopyOptions) -> bytes:
    """A line of COPY's text format.

    >>> _text_line(["a", None], CopyOptions())
    b'a\\t\\\\N\\n'
    """
    cells = (
        options.null if value is None else _escaped(value, options.delimiter) for value in values
    )
    return (options.delimiter.join(cells) + "\n").encode()


def _escaped(value: str, delimiter: str) -> str:
    """The text with COPY's backslash escapes.

    >>> _escaped("a\\tb", ",")
    'a\\\\tb'
    """
    value = value.replace("\\", "\\\\")
    for sign, letter in _ESCAPES.items():
        value = value.replace(sign, f"\\{letter}")
    return value if delimiter in _ESCAPES else value.replace(delimiter, f"\\{delimiter}")


def _csv_line(values: Sequence[str | None], forced: Sequence[bool], options: CopyOptions) -> bytes:
    alone = len(values) == 1
    cells = (
        options.null if value is None else _quoted(value, force, alone, options)
        for value, force in zip(values, forced, strict=True)
    )
    return (options.delimiter.join(cells) + "\n").encode()


def _quoted(value: str, force: bool, alone: bool, options: CopyOptions) -> str:
    special = any(sign in value for sign in (options.delimiter, options.quote, "\n", "\r"))
    if not (force or special or value == options.null or (alone and value == "\\.")):
        return value
    for sign in dict.fromkeys(
        (options.escape, options.quote)
    ):  # first those that the text has itself
        value = value.replace(sign, options.escape + sign)
    return options.quote + value + options.quote
