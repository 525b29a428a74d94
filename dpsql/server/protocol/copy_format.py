"""Rows as COPY writes them: text, CSV and binary."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from dpsql.server.commands.command import CopyOptions
from dpsql.server.protocol.portals import Row
from dpsql.server.protocol.row_format import encoders
from dpsql.server.protocol.text_format import Encoder
from dpsql.server.protocol.types import Column

_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}


def copied(columns: Sequence[Column], rows: Sequence[Row], options: CopyOptions, zone: tzinfo) -> Iterator[bytes]:
    """The contents of the CopyData messages; a binary header shares the first, as drivers expect."""
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
            forced = [options.force_quote == "*" or column.name in options.force_quote for column in columns]
            if options.header:
                yield _csv_line([column.name for column in columns], [False] * len(columns), options)
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
    return [None if value is None else encode(value).decode() for encode, value in zip(written, row, strict=True)]


def _text_line(values: Sequence[str | None], options: CopyOptions) -> bytes:
    cells = (options.null if value is None else _escaped(value, options.delimiter) for value in values)
    return (options.delimiter.join(cells) + "\n").encode()


def _escaped(value: str, delimiter: str) -> str:
    """The text with backslashes before what would be read as something else.

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
    for sign in {options.escape, options.quote}:
        value = value.replace(sign, options.escape + sign)
    return options.quote + value + options.quote
