"""Encodes and decodes values in PostgreSQL's text format."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import TypeAlias
from uuid import UUID

from dpsql.errors import DataError, InvalidText
from dpsql.server.protocol.datetime_text import (
    interval_text,
    moment_text,
    read_interval,
    time_text,
    timestamp_text,
)
from dpsql.server.protocol.postgres_types import PostgresType, json_text

Encoder: TypeAlias = Callable[[object], bytes]

_CAREFUL = re.compile(r'[{}",\\\s]|^$|^null$', re.IGNORECASE)


@dataclass(frozen=True)
class TextCodec:
    """How values of a type are written and read,
    and PostgreSQL's name of the type in messages if it differs.

    Reading raises ValueError, ArithmeticError or OverflowError if the text is not a value.
    """

    write: Encoder
    read: Callable[[str], object]
    said: str | None = None


def encoder(kind: PostgresType, zone: tzinfo = UTC) -> Encoder:
    """The encoder of a type; timestamps with a time zone are shown in ``zone``.

    >>> from dpsql.server.protocol import postgres_types
    >>> texts = postgres_types.by_name("VARCHAR[]")
    >>> encoder(postgres_types.FLOAT8)(5.0), encoder(postgres_types.BOOL)(True), encoder(texts)(["a b", None])
    (b'5', b't', b'{"a b",NULL}')
    """
    if kind.element is not None:
        return partial(_array, encoder(kind.element, zone))
    return partial(moment_text, zone) if kind.name == "timestamptz" else CODECS[kind.name].write


def _plain(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


def _bool(value: object) -> bytes:
    return b"t" if value else b"f"


def _double(value: object) -> bytes:
    number = float(value)  # type: ignore[arg-type]
    return shortest(repr(number)) if not 1e15 <= abs(number) < 1e16 else _scientific(repr(number))


def _scientific(digits: str) -> bytes:
    """A number with an exponent, which PostgreSQL uses from 1e15,
    and from 1e6 for single precision.

    >>> _scientific("1000000000000000.0"), _scientific("-1234567890123456.5"), _scientific("16777216.0")
    (b'1e+15', b'-1.2345678901234565e+15', b'1.6777216e+07')
    """
    sign, figures, exponent = Decimal(digits).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, figures)).rstrip("0")
    power = f"e{len(figures) + exponent - 1:+03d}"
    return f"{'-' if sign else ''}{text[0]}{'.' if text[1:] else ''}{text[1:]}{power}".encode()


def _single(value: object) -> bytes:
    import numpy as np

    digits = str(np.float32(value))  # type: ignore[arg-type]
    number = Decimal(digits)
    if not number.is_finite() or not number:
        return shortest(digits)
    return shortest(f"{number:f}") if -4 <= number.adjusted() < 6 else _scientific(digits)


def shortest(digits: str) -> bytes:
    """The shortest decimal of a float, in PostgreSQL's spelling."""
    if digits.endswith(".0"):
        return digits[:-2].encode()
    return {"inf": b"Infinity", "-inf": b"-Infinity", "nan": b"NaN"}.get(digits) or digits.encode()


def _numeric(value: object) -> bytes:
    match value:
        case Decimal() if value.is_finite():
            return f"{value:f}".encode()
        case float() | Decimal() if not math.isfinite(value):
            return shortest(str(float(value)))
        case _:
            return str(value).encode()


def _bytes(value: object) -> bytes:
    return (
        b"\\x" + bytes(value).hex().encode()
        if isinstance(value, bytes | bytearray)
        else _plain(value)
    )


def _vector(value: object) -> bytes:
    return " ".join(map(str, value)).encode() if isinstance(value, list | tuple) else _plain(value)


def _array(write: Encoder, value: object) -> bytes:
    if not isinstance(value, list | tuple):
        return _plain(value)
    return b"{" + b",".join(_element(write, item) for item in value) + b"}"


def _element(write: Encoder, value: object) -> bytes:
    if value is None:
        return b"NULL"
    if isinstance(value, list | tuple):
        return _array(write, value)
    text = write(value).decode()
    if _CAREFUL.search(text):
        text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text.encode()


def decode(kind: PostgresType, text: str) -> object:
    """Decode a text as a value of a type; raises InvalidText if it is not one.

    >>> from dpsql.server.protocol import postgres_types
    >>> decode(postgres_types.INT4, " 7 "), decode(postgres_types.by_name("INTEGER[]"), "{1,NULL}")
    (7, [1, None])
    """
    try:
        return _parse_value(kind, text)
    except (ValueError, ArithmeticError, InvalidOperation, OverflowError):
        raise InvalidText(_type_name(kind.name), text) from None


def _type_name(name: str) -> str:
    codec = CODECS.get(name)
    return name if codec is None or codec.said is None else codec.said


_TRUE = frozenset({"t", "true", "y", "yes", "on", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "off", "0"})
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE | re.ASCII
)


def _parse_value(kind: PostgresType, text: str) -> object:
    if kind.element is not None:
        return _read_array(kind.element, text)
    return CODECS[kind.name].read(text)


def _read_bool(text: str) -> bool:
    plain = text.strip().lower()
    if plain not in _TRUE | _FALSE:
        raise ValueError
    return plain in _TRUE


def _read_bytes(text: str) -> bytes:
    plain = text.strip()
    return bytes.fromhex(plain[2:]) if plain.startswith("\\x") else text.encode()


def _integers(name: str, bits: int) -> Callable[[str], int]:
    """A decoder of integers with so many bits besides the sign."""

    def parse(text: str) -> int:
        plain = text.strip()
        if re.fullmatch(r"[+-]?[0-9]{1,20}", plain) is None:
            raise ValueError
        value = int(plain)
        if not -(2**bits) <= value < 2**bits:
            error = DataError(f'value "{value}" is out of range for type {_type_name(name)}')
            error.sqlstate = "22003"
            raise error
        return value

    return parse


def _number(text: str) -> str:
    plain = text.strip()
    if _NUMBER.fullmatch(plain) is None or len(plain) > 1000:
        raise ValueError
    return plain


_MEMBER = re.compile(r'[{},]|"[^"\\]*+(?:\\.[^"\\]*+)*"|[^{},"]++', re.DOTALL)
_MEMBERS = re.compile(f"(?:{_MEMBER.pattern})*", re.DOTALL)


def _read_array(element: PostgresType, text: str) -> list[object]:
    if _MEMBERS.fullmatch(text) is None:
        raise ValueError
    tokens = [token for token in _MEMBER.findall(text) if token.strip()]
    result, index = _read_list(element, tokens, 0)
    if index != len(tokens):
        raise ValueError
    return result


def _read_list(
    element: PostgresType, tokens: Sequence[str], index: int, depth: int = 0
) -> tuple[list[object], int]:
    if depth > 6 or tokens[index : index + 1] != ["{"]:
        raise ValueError
    items: list[object] = []
    index += 1
    if tokens[index : index + 1] == ["}"]:
        return items, index + 1
    while index < len(tokens):
        token = tokens[index]
        if token == "{":
            nested, index = _read_list(element, tokens, index, depth + 1)
            items.append(nested)
        elif token in ",}":
            raise ValueError
        else:
            items.append(_read_element(element, token))
            index += 1
        if tokens[index : index + 1] == ["}"]:
            return items, index + 1
        if tokens[index : index + 1] != [","]:
            raise ValueError
        index += 1
    raise ValueError


def _read_element(element: PostgresType, token: str) -> object:
    if token.startswith('"'):
        return _parse_value(element, re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL))
    return None if token.strip().upper() == "NULL" else _parse_value(element, token.strip())


_PLAIN = TextCodec(_plain, str)
#: The codec of each scalar type, by PostgreSQL's name of it;
#: those of arrays follow from those of #: their elements.
CODECS: Mapping[str, TextCodec] = {
    "bool": TextCodec(_bool, _read_bool, "boolean"),
    "int2": TextCodec(_plain, _integers("int2", 15), "smallint"),
    "int4": TextCodec(_plain, _integers("int4", 31), "integer"),
    "int8": TextCodec(_plain, _integers("int8", 63), "bigint"),
    "oid": TextCodec(_plain, _integers("oid", 32)),
    "xid": TextCodec(_plain, _integers("xid", 32)),
    "float4": TextCodec(_single, lambda text: float(_number(text)), "real"),
    "float8": TextCodec(_double, lambda text: float(_number(text)), "double precision"),
    "numeric": TextCodec(_numeric, lambda text: Decimal(_number(text))),
    "bytea": TextCodec(_bytes, _read_bytes),
    "date": TextCodec(_plain, lambda text: date.fromisoformat(text.strip())),
    "time": TextCodec(time_text, lambda text: time.fromisoformat(text.strip())),
    "timestamp": TextCodec(
        timestamp_text, lambda text: datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    ),
    "timestamptz": TextCodec(
        partial(moment_text, UTC),
        lambda text: datetime.fromisoformat(text.strip()),
        "timestamp with time zone",
    ),
    "interval": TextCodec(interval_text, read_interval),
    "uuid": TextCodec(_plain, lambda text: UUID(text.strip())),
    "json": TextCodec(json_text, str),
    "jsonb": TextCodec(json_text, str),
    "int2vector": TextCodec(_vector, str),
    "oidvector": TextCodec(_vector, str),
    **dict.fromkeys(
        ("text", "varchar", "bpchar", "char", "name", "pg_node_tree", "unknown"), _PLAIN
    ),
    **dict.fromkeys(("regclass", "regtype", "regproc", "regnamespace", "regrole"), _PLAIN),
}
