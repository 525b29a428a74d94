"""Encodes and decodes values in PostgreSQL's binary format."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import NoReturn
from uuid import UUID

from dpsql.errors import DataError, NotSupportedError
from dpsql.server.protocol.postgres_types import INT2, OID, PostgresType, json_text
from dpsql.server.protocol.text_format import Encoder

_EPOCH_DAY = date(2000, 1, 1).toordinal()
_EPOCH = datetime(2000, 1, 1)
_EPOCH_UTC = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INTERVAL = struct.Struct("!qii")
_NUMERIC = struct.Struct("!hhHH")
_ARRAY = struct.Struct("!iii")
_NEGATIVE = 0x4000
_NAN = 0xC000
_INFINITY = 0xD000
_MINUS_INFINITY = 0xF000


@dataclass(frozen=True)
class BinaryCodec:
    """How values of a type are written and read.

    Reading raises ValueError, ArithmeticError,
    IndexError or ``struct.error`` if the bytes are not a value.
    """

    write: Encoder
    read: Callable[[bytes], object]


def encoder(kind: PostgresType) -> Encoder:
    """The encoder of a type.

    >>> encoder(PostgresType(23, "int4", 4))(7)
    b'\\x00\\x00\\x00\\x07'
    """
    if kind.element is not None:
        return partial(_array, kind.element, encoder(kind.element))
    return CODECS[kind.name].write


def _object(value: object) -> bytes:
    """The OID of an object, which the catalogue gives with its name."""
    return struct.pack("!I", getattr(value, "oid", value))


def _text(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


def _bool(value: object) -> bytes:
    return b"\x01" if value else b"\x00"


def _bytes(value: object) -> bytes:
    return bytes(value) if isinstance(value, bytes | bytearray) else _text(value)


def _jsonb(value: object) -> bytes:
    return b"\x01" + json_text(value)


def _uuid(value: object) -> bytes:
    return (value if isinstance(value, UUID) else UUID(str(value))).bytes


def _date(value: object) -> bytes:
    if not isinstance(value, date):
        raise _unwritten()
    return struct.pack("!i", value.toordinal() - _EPOCH_DAY)


def _time(value: object) -> bytes:
    if not isinstance(value, time):
        raise _unwritten()
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return struct.pack("!q", seconds * 1_000_000 + value.microsecond)


def _timestamp(value: object) -> bytes:
    if not isinstance(value, datetime):
        raise _unwritten()
    since = value - (_EPOCH if value.tzinfo is None else _EPOCH_UTC)
    return struct.pack("!q", since // _MICROSECOND)


def _interval(value: object) -> bytes:
    if not isinstance(value, timedelta):
        raise _unwritten()
    rest = value - timedelta(days=value.days)
    return _INTERVAL.pack(rest // _MICROSECOND, value.days, 0)


def _numeric(value: object) -> bytes:
    """Groups of four decimal digits, the place of the first, the sign,
    and how many digits follow the point.

    >>> _numeric(Decimal("12.50")).hex()
    '0002000000000002000c1388'
    """
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if number.is_nan():
        return _NUMERIC.pack(0, 0, _NAN, 0)
    if number.is_infinite():
        return _NUMERIC.pack(0, 0, _INFINITY if number > 0 else _MINUS_INFINITY, 0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    integer, fraction = (text[:-scale], text[-scale:].rjust(scale, "0")) if scale else (text, "")
    integer = integer.lstrip("0")
    integer = integer.rjust(-(-len(integer) // 4) * 4, "0")
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [
        int((integer + fraction)[index : index + 4])
        for index in range(0, len(integer + fraction), 4)
    ]
    weight = len(integer) // 4 - 1
    while groups and groups[0] == 0:
        groups = groups[1:]
        weight = weight - 1
    while groups and groups[-1] == 0:
        groups = groups[:-1]
    head = _NUMERIC.pack(
        len(groups), weight if groups else 0, _NEGATIVE if sign and groups else 0, scale
    )
    return head + struct.pack(f"!{len(groups)}H", *groups)


def _vector(width: PostgresType, value: object) -> bytes:
    items = (
        value if isinstance(value, list | tuple) else [int(number) for number in str(value).split()]
    )
    body = b"".join(_sized(encoder(width)(item)) for item in items)
    return _ARRAY.pack(1, 0, width.oid) + struct.pack("!ii", len(items), 0) + body


def _array(element: PostgresType, write: Encoder, value: object) -> bytes:
    if not isinstance(value, list | tuple):
        raise _unwritten()
    sizes: list[int] = []
    level: object = value
    while isinstance(level, list | tuple):
        sizes.append(len(level))
        level = level[0] if level else None
    flat = _flattened(value, sizes)
    if not flat:
        return _ARRAY.pack(0, 0, element.oid)
    head = _ARRAY.pack(len(sizes), int(any(item is None for item in flat)), element.oid)
    body = (b"\xff\xff\xff\xff" if item is None else _sized(write(item)) for item in flat)
    return head + b"".join(struct.pack("!ii", size, 1) for size in sizes) + b"".join(body)


def _flattened(value: object, sizes: list[int]) -> list[object]:
    if not sizes:
        if isinstance(value, list | tuple):
            raise _unwritten()
        return [value]
    if not isinstance(value, list | tuple) or len(value) != sizes[0]:
        error = DataError(
            "lists of lists of different lengths have no binary format; cast them to text"
        )
        error.sqlstate = "2202E"
        raise error
    return [item for nested in value for item in _flattened(nested, sizes[1:])]


def _sized(data: bytes) -> bytes:
    return struct.pack("!i", len(data)) + data


def _unwritten() -> DataError:
    return DataError("a value has no binary format; ask for it as text")


def decode(kind: PostgresType, data: bytes) -> object:
    """Decode a value; raises DataError (22P03) if the bytes are not one."""
    try:
        return _decode_value(kind, data)
    except (ValueError, ArithmeticError, IndexError, struct.error):
        error = DataError("incorrect binary data format in a parameter")
        error.sqlstate = "22P03"
        raise error from None


def _decode_value(kind: PostgresType, data: bytes) -> object:
    if kind.element is not None:
        return _read_array(kind.element, data)
    return CODECS[kind.name].read(data)


def _read_bool(data: bytes) -> bool:
    if len(data) != 1:
        raise ValueError
    return data != b"\x00"


def _read_date(data: bytes) -> date:
    return date.fromordinal(struct.unpack("!i", data)[0] + _EPOCH_DAY)


def _moments(epoch: datetime) -> Callable[[bytes], datetime]:
    """A decoder of timestamps since an epoch."""

    def decode(data: bytes) -> datetime:
        return epoch + int(struct.unpack("!q", data)[0]) * _MICROSECOND

    return decode


def _read_interval(data: bytes) -> timedelta:
    microseconds, days, months = _INTERVAL.unpack(data)
    if months:
        raise NotSupportedError(
            "an interval of months is no parameter; write it as INTERVAL '1 month'"
        )
    return timedelta(days=days, microseconds=microseconds)


def _read_text(data: bytes) -> str:
    return data.decode("utf-8")


def _read_numeric(data: bytes) -> Decimal:
    count, weight, sign, scale = _NUMERIC.unpack_from(data)
    if not 0 <= count <= 1100:  # more digits would take long, and Python reads none
        raise ValueError
    groups = struct.unpack(f"!{count}H", data[8:])
    if sign in (_NAN, _INFINITY, _MINUS_INFINITY):
        return Decimal({_NAN: "NaN", _INFINITY: "Infinity"}.get(sign, "-Infinity"))
    if (
        sign not in (0, _NEGATIVE)
        or abs(weight) > 4096
        or scale > 16383
        or any(group > 9999 for group in groups)
    ):
        raise ValueError
    unscaled = sum(
        group * 10 ** (4 * (len(groups) - index - 1)) for index, group in enumerate(groups)
    )
    exponent = 4 * (weight - count + 1)
    digits = (
        unscaled * 10**exponent * 10**scale
        if exponent >= 0
        else unscaled * 10**scale // 10**-exponent
    )
    return Decimal((int(sign == _NEGATIVE), tuple(map(int, str(digits))), -scale))


def _read_array(element: PostgresType, data: bytes) -> list[object]:
    dimensions, _, _ = _ARRAY.unpack_from(data)
    if not 0 <= dimensions <= 6:
        raise ValueError
    sizes = [struct.unpack_from("!ii", data, 12 + 8 * index)[0] for index in range(dimensions)]
    if any(size < 0 for size in sizes) or math.prod(sizes) * 4 > len(data):
        raise ValueError
    offset = 12 + 8 * dimensions
    flat = list[object]()
    for _ in range(math.prod(sizes) if sizes else 0):
        (length,) = struct.unpack_from("!i", data, offset)
        offset += 4
        if length < 0:
            flat.append(None)
            continue
        if offset + length > len(data):
            raise ValueError
        flat.append(_decode_value(element, data[offset : offset + length]))
        offset += length
    for size in reversed(sizes[1:]):
        flat = [flat[start : start + size] for start in range(0, len(flat), size)] if size else []
    return flat


def _fixed(form: str, write: Encoder | None = None) -> BinaryCodec:
    """The codec of values of fixed size, given as a ``struct`` format."""
    packed = struct.Struct(form)
    return BinaryCodec(write or packed.pack, lambda data: packed.unpack(data)[0])


def _vectors(name: str, width: PostgresType) -> BinaryCodec:
    def decode(data: bytes) -> NoReturn:
        raise NotSupportedError(f"type {name} is no parameter")

    return BinaryCodec(partial(_vector, width), decode)


_TEXT = BinaryCodec(_text, _read_text)
#: The codec of each scalar type, by PostgreSQL's name of it;
#: those of arrays follow from those of #: their elements.
CODECS: Mapping[str, BinaryCodec] = {
    "bool": BinaryCodec(_bool, _read_bool),
    "int2": _fixed("!h"),
    "int4": _fixed("!i"),
    "int8": _fixed("!q"),
    "float4": _fixed("!f"),
    "float8": _fixed("!d"),
    "xid": _fixed("!I"),
    **{
        name: _fixed("!I", _object)
        for name in ("oid", "regclass", "regtype", "regproc", "regnamespace", "regrole")
    },
    "numeric": BinaryCodec(_numeric, _read_numeric),
    "bytea": BinaryCodec(_bytes, bytes),
    "date": BinaryCodec(_date, _read_date),
    "time": BinaryCodec(_time, lambda data: _moments(_EPOCH)(data).time()),
    "timestamp": BinaryCodec(_timestamp, _moments(_EPOCH)),
    "timestamptz": BinaryCodec(_timestamp, _moments(_EPOCH_UTC)),
    "interval": BinaryCodec(_interval, _read_interval),
    "uuid": BinaryCodec(_uuid, lambda data: UUID(bytes=data)),
    "json": BinaryCodec(json_text, _read_text),
    "jsonb": BinaryCodec(_jsonb, lambda data: _read_text(data[1:])),
    "int2vector": _vectors("int2vector", INT2),
    "oidvector": _vectors("oidvector", OID),
    **dict.fromkeys(
        ("text", "varchar", "bpchar", "char", "name", "pg_node_tree", "unknown"), _TEXT
    ),
}
