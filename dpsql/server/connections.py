"""The connections of a server, before and after login, and the limits of their numbers."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsql.server.authentication.login import CancelKey, fresh_key
from dpsql.server.message_loop import MessageLoop
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.stream import MessageStream


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of a server: connections in all, of one user, and before login; seconds for a
    login and for the end; and the bytes of incomplete long messages of all clients together."""

    connections: int = 100
    arriving: int = 200
    login: float = 10.0
    grace: float = 10.0
    user_connections: int = 25
    unfinished: int = 64 * 1024 * 1024


@dataclass
class ClientConnection:
    """A client's connection: number, stream, address and time of arrival; after login,
    its user and message loop.
    """

    number: int
    wire: MessageStream
    host: str
    port: int
    since: float = field(default_factory=time.monotonic)
    conversation: MessageLoop | None = None
    user: str = ""
    key: CancelKey | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"client={host}:{self.port} connection={self.number}"


class Connections:
    """The connections of a server; methods may be called from any thread."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._peers: dict[int, ClientConnection] = {}

    @property
    def connected(self) -> int:
        """The number of clients that are logged in."""
        with self._lock:
            return len(self._inside())

    @property
    def all(self) -> Sequence[ClientConnection]:
        with self._lock:
            return list(self._peers.values())

    def arrive(self, peer: ClientConnection) -> bool:
        """Whether a connection may begin its login; if too many have,
        one that began over a second before is cut.
        """
        with self._lock:
            arriving = [other for other in self._peers.values() if other.conversation is None]
            full = len(arriving) >= self._limits.arriving
            if full and peer.since - arriving[0].since > 1:
                arriving[0].wire.cut()
                full = False
            if not full:
                self._peers[peer.number] = peer
            return not full

    def require_place(self) -> None:
        """Raise WireError (53300) if the limit of connections is reached."""
        if self.connected >= self._limits.connections:
            raise too_many_clients()

    def enter(self, peer: ClientConnection, conversation: MessageLoop) -> CancelKey:
        """Count a client as logged in; returns its cancel key.

        Raises WireError (53300) at a limit.
        """
        with self._lock:
            inside = self._inside()
            if len(inside) >= self._limits.connections:
                raise too_many_clients()
            if sum(other.user == peer.user for other in inside) >= self._limits.user_connections:
                raise WireError("53300", f'too many connections for role "{peer.user}"')
            peer.key = fresh_key(peer.number)
            peer.conversation = conversation
            return peer.key

    def leave(self, peer: ClientConnection) -> None:
        with self._lock:
            self._peers.pop(peer.number, None)

    def cancel(self, key: CancelKey) -> None:
        """Cancel the statement of the connection with this key."""
        with self._lock:
            peer = self._peers.get(key.process)
        if peer is None or peer.conversation is None or peer.key is None:
            return
        if hmac.compare_digest(peer.key.secret, key.secret):
            peer.conversation.cancel()

    def tell(self, now: bool) -> None:
        """Close connections before login and stop the others; with ``now``,
        cancel their statements too.
        """
        for peer in self.all:
            if peer.conversation is None:
                peer.wire.cut()
            else:
                peer.conversation.stop(now)

    def _inside(self) -> list[ClientConnection]:
        return [peer for peer in self._peers.values() if peer.conversation is not None]


def too_many_clients() -> WireError:
    """The error for a connection above a limit."""
    return WireError("53300", "sorry, too many clients already")


def host_and_port(address: tuple[object, ...]) -> tuple[str, int]:
    """The host and port of a socket address."""
    host, port = address[:2]
    return str(host), int(str(port))
