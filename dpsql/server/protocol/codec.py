"""Encodes and decodes messages of the PostgreSQL protocol, version 3;
the only module that uses pygwire.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import Enum
from typing import TypeAlias

from pygwire import (
    BackendMessageDecoder,
    ConnectionPhase,
    FrontendMessageDecoder,
    TransactionStatus,
)
from pygwire.messages import (
    AuthenticationOk,
    AuthenticationSASL,
    AuthenticationSASLContinue,
    AuthenticationSASLFinal,
    BackendKeyData,
    Bind,
    BindComplete,
    CancelRequest,
    Close,
    CloseComplete,
    CommandComplete,
    CopyData,
    CopyDone,
    CopyFail,
    CopyOutResponse,
    DataRow,
    Describe,
    EmptyQueryResponse,
    ErrorResponse,
    Execute,
    FieldDescription,
    Flush,
    FunctionCall,
    GSSEncRequest,
    NegotiateProtocolVersion,
    NoData,
    NoticeResponse,
    ParameterDescription,
    ParameterStatus,
    Parse,
    ParseComplete,
    PasswordMessage,
    PGMessage,
    PortalSuspended,
    Query,
    ReadyForQuery,
    RowDescription,
    SASLInitialResponse,
    SASLResponse,
    SSLRequest,
    StartupMessage,
    Sync,
    Terminate,
)

__all__ = [
    "AuthenticationOk",
    "AuthenticationSASL",
    "AuthenticationSASLContinue",
    "AuthenticationSASLFinal",
    "BackendKeyData",
    "Bind",
    "BindComplete",
    "CancelRequest",
    "Close",
    "CloseComplete",
    "CommandComplete",
    "CopyData",
    "CopyDone",
    "CopyFail",
    "CopyOutResponse",
    "DataRow",
    "Describe",
    "EmptyQueryResponse",
    "ErrorResponse",
    "Execute",
    "FieldDescription",
    "Flush",
    "FunctionCall",
    "GSSEncRequest",
    "MalformedMessage",
    "Message",
    "NegotiateProtocolVersion",
    "NoData",
    "NoticeResponse",
    "ParameterDescription",
    "ParameterStatus",
    "Parse",
    "ParseComplete",
    "PasswordMessage",
    "PortalSuspended",
    "ProtocolPhase",
    "Query",
    "ReadyForQuery",
    "RowDescription",
    "SASLInitialResponse",
    "SASLResponse",
    "SSLRequest",
    "StartupMessage",
    "Sync",
    "Terminate",
    "TransactionStatus",
    "data_row",
    "from_backend",
    "from_frontend",
    "startup",
]

Message: TypeAlias = PGMessage

_LENGTH = struct.Struct("!I")
_COUNT = struct.Struct("!H")
_NULL = b"\xff\xff\xff\xff"


class ProtocolPhase(Enum):
    """The phase of a connection, which decides what the letter of a message means."""

    STARTUP = ConnectionPhase.STARTUP
    SASL_FIRST = ConnectionPhase.AUTHENTICATING_SASL_INITIAL
    SASL_NEXT = ConnectionPhase.AUTHENTICATING_SASL_CONTINUE
    READY = ConnectionPhase.READY


class MalformedMessage(Exception):
    """The peer sent bytes that are not a message of the protocol."""


def from_frontend(frame: bytes, stage: ProtocolPhase) -> Message:
    """The message in one frame of a client;
    raises MalformedMessage unless the frame is exactly one message.

    >>> from_frontend(Query(query_string="SELECT 1").to_wire(), ProtocolPhase.READY)
    Query(query_string='SELECT 1')
    """
    letter = frame[:1]
    if stage is ProtocolPhase.READY and letter in (b"d", b"c", b"f"):
        match letter:
            case b"d":
                return CopyData()
            case b"c":
                return CopyDone()
            case _:
                return CopyFail()
    decoder = FrontendMessageDecoder()
    decoder.phase = stage.value
    decoder.feed(frame)
    try:
        message = next(decoder)
        is_canonical = decoder.buffered == 0 and message.to_wire() == frame
    except Exception:
        raise MalformedMessage from None
    if not is_canonical and not isinstance(message, StartupMessage | SASLInitialResponse):
        raise MalformedMessage
    return message


def startup(frame: bytes) -> Message:
    """The first packet of a client; a newer version 3.x is read as 3.0, and keeps its number."""
    (version,) = _LENGTH.unpack_from(frame, 4)
    if version >> 16 != 3:
        return from_frontend(frame, ProtocolPhase.STARTUP)
    message = from_frontend(frame[:4] + _LENGTH.pack(3 << 16) + frame[8:], ProtocolPhase.STARTUP)
    assert isinstance(message, StartupMessage)
    message.protocol_version = version
    return message


def from_backend(data: bytes, phase: ConnectionPhase = ConnectionPhase.EXTENDED_QUERY) -> Message:
    """The message in one whole frame of a server, for clients of the tests and benchmarks."""
    decoder = BackendMessageDecoder()
    decoder.phase = {
        b"K": ConnectionPhase.INITIALIZATION,
        b"d": ConnectionPhase.COPY_OUT,
        b"c": ConnectionPhase.COPY_OUT,
    }.get(data[:1], phase)
    decoder.feed(data)
    return next(decoder)


def data_row(values: Sequence[bytes | None]) -> bytes:
    """A DataRow in wire format, faster for many rows than `DataRow.to_wire`.

    >>> data_row([b"a", None]) == DataRow(columns=[b"a", None]).to_wire()
    True
    """
    parts = [b"", _COUNT.pack(len(values))]
    for value in values:
        if value is None:
            parts.append(_NULL)
        else:
            parts.append(_LENGTH.pack(len(value)))
            parts.append(value)
    body = b"".join(parts)
    return b"D" + _LENGTH.pack(4 + len(body)) + body
