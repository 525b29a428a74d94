"""Where the server listens, and how a connection is set up before its first byte."""

from __future__ import annotations

import ipaddress
import socket
import struct

from dpsql.errors import InterfaceError
from dpsql.server.authentication.login import Gate

#: Seconds after which a client that does not read what it is sent is let go.
_UNREAD = 300
#: Seconds of silence before a connection is probed, between probes, and the probes before it is given up.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))


def require_safe(host: str, gate: Gate) -> None:
    """Off the loopback TLS and passwords are needed; InterfaceError where one is missing."""
    if is_loopback(host):
        return
    if gate.tls is None or gate.users is None:
        raise InterfaceError(
            f"to listen on {host}, which others can reach, give --tls-cert, --tls-key and --users; "
            "without them dpsql listens on 127.0.0.1 only"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    try:
        found = {ipaddress.ip_address(info[4][0].partition("%")[0]) for info in socket.getaddrinfo(host, None)}  # type: ignore[union-attr]
    except (OSError, ValueError, UnicodeError):
        raise InterfaceError(f"{host}: is no address of this machine") from None
    return all(address.is_loopback for address in found)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; InterfaceError where none can."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError):
        raise InterfaceError(f"{host}:{port} cannot be listened on; another server may be there") from None


def prepare(connection: socket.socket) -> None:
    """Send at once, notice clients that are gone, and do not wait for ever for one that does not read."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _UNREAD, 0))
