"""The listener: a thread for each client, caps on how many there are, and an end that loses no charge."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import itertools
import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from dpsql.database import TOOLS, Database
from dpsql.errors import Error, InterfaceError
from dpsql.pgcatalog import Catalogue
from dpsql.pgwire import codec
from dpsql.pgwire.codec import Malformed
from dpsql.pgwire.conversation import Conversation
from dpsql.pgwire.errors import WireError, error_fields
from dpsql.pgwire.login import CancelKey, Gate, Visitor, admit, fresh_key, greet
from dpsql.pgwire.settings import Settings
from dpsql.pgwire.wire import Disconnected, Wire

LOG = logging.getLogger("dpsql.pgwire")
#: Seconds after which a client that does not read what it is sent is let go.
_UNREAD = 300
#: Seconds of silence before a connection is probed, between probes, and the probes before it is given up.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))
#: How statements are read under each value of dpsql.raw_select.
_MANNERS = {
    "probe": TOOLS,
    "error": replace(TOOLS, raw_select="error"),
    "empty": replace(TOOLS, raw_select="empty"),
}


@dataclass(frozen=True)
class Limits:
    """How many may be connected, how many may be on their way in, and the seconds for coming in and for the end."""

    connections: int = 100
    arriving: int = 200
    login: float = 10.0
    grace: float = 10.0


@dataclass
class _Peer:
    """A connection: its wire, when it came, and its conversation once it is in."""

    wire: Wire
    since: float
    conversation: Conversation | None = None
    key: CancelKey | None = None


class Server:
    """Serves one database on one address until `close`; everything that it answers is the sessions' to decide."""

    def __init__(
        self, database: Database, host: str = "127.0.0.1", port: int = 5433, gate: Gate | None = None,
        limits: Limits | None = None,
    ) -> None:  # fmt: skip
        self._database, self._gate, self._limits = database, gate or Gate(), limits or Limits()
        require_safe(host, self._gate)
        self._peers: dict[int, _Peer] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._threads: set[threading.Thread] = set()
        self._closing = False
        self._listener = _listening(host, port)
        #: Where the server listens, also where 0 was asked for.
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, name="dpsql accept", daemon=True)

    @property
    def database(self) -> Database:
        return self._database

    @property
    def connected(self) -> int:
        """How many are logged in."""
        with self._lock:
            return sum(peer.conversation is not None for peer in self._peers.values())

    def start(self) -> Self:
        """Listen; connections are served from here on."""
        self._accepting.start()
        return self

    def close(self) -> None:
        """Take no more clients, let statements that run end within the grace, tell everybody, and let go."""
        self._closing = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._accepting.is_alive():
            self._accepting.join()
        self._tell_all(now=False)
        self._wait(self._limits.grace)
        self._tell_all(now=True)
        self._wait(self._limits.grace)
        with self._lock:
            peers = list(self._peers.values())
        for peer in peers:
            peer.wire.cut()
        self._wait(1.0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                time.sleep(0.05)  # such as no file descriptor left
                continue
            try:
                _prepare(connection)
                self._arrive(connection)
            except (OSError, RuntimeError):
                connection.close()

    def _arrive(self, connection: socket.socket) -> None:
        number = next(self._numbers)
        peer = _Peer(Wire(connection), time.monotonic())
        with self._lock:
            arriving = [each for each in self._peers.values() if each.conversation is None]
            full = len(arriving) >= self._limits.arriving
            if full and peer.since - arriving[0].since > 1:
                arriving[0].wire.cut()  # the slowest makes room
                full = False
            if not full:
                self._peers[number] = peer
        if full:
            _refuse_at_once(connection)
            return
        thread = threading.Thread(target=self._serve, args=(number, peer), name=f"dpsql client {number}", daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _serve(self, number: int, peer: _Peer) -> None:
        wire = peer.wire
        try:
            self._converse(number, peer)
        except (Disconnected, ConnectionError):
            pass
        except Malformed:
            with contextlib.suppress(Disconnected):
                _fatal(wire, WireError("08P01", "invalid message of the protocol"))
        except Exception as error:
            LOG.error("a fault of dpsql: %s", type(error).__name__)
            with contextlib.suppress(Disconnected):
                _fatal(wire, error)
        finally:
            wire.close()
            with self._lock:
                self._peers.pop(number, None)
                self._threads.discard(threading.current_thread())

    def _converse(self, number: int, peer: _Peer) -> None:
        wire = peer.wire
        wire.limit(self._limits.login)
        packet = greet(wire, self._gate)
        if isinstance(packet, CancelKey):
            self._cancel(packet)
            return
        try:
            visitor = self._admitted(wire, packet)
        except WireError as error:
            LOG.info("user=%r refused sqlstate=%s", packet.params.get("user", ""), error.sqlstate)
            _fatal(wire, error)
            return
        with self._session(number, peer, visitor) as conversation:
            wire.limit(None)
            conversation.run()

    def _admitted(self, wire: Wire, packet: codec.StartupMessage) -> Visitor:
        if self.connected >= self._limits.connections:
            raise _crowded()
        visitor = admit(wire, self._gate, packet)
        if visitor.database not in (self._database.schema.name, visitor.user, "postgres"):
            raise WireError("3D000", f'database "{visitor.database}" does not exist',
                            f"Connect to the database {self._database.schema.name}.")  # fmt: skip
        return visitor

    @contextlib.contextmanager
    def _session(self, number: int, peer: _Peer, visitor: Visitor) -> Iterator[Conversation]:
        """The visitor's session, while the connection lasts."""
        session = self._database.session(visitor.user, TOOLS)

        def answer_raw_select(given: str) -> None:
            session.manner = _MANNERS[given]

        try:
            settings = Settings(visitor.user, session, answer_raw_select)
            try:
                for name, value in visitor.settings.items():
                    settings.begin_with(name, value)
            except Error as error:
                _fatal(peer.wire, error)
                raise Disconnected from None
            schema = self._database.schema
            catalogue = Catalogue(
                schema, database=schema.name, user=visitor.user, settings=settings, assign=settings.set
            )
            conversation = Conversation(peer.wire, session, catalogue, settings)
            key = fresh_key(number)
            with self._lock:
                if sum(each.conversation is not None for each in self._peers.values()) >= self._limits.connections:
                    key = CancelKey(0, b"")
                else:
                    peer.conversation, peer.key = conversation, key
            if not key.secret:
                _fatal(peer.wire, _crowded())
                raise Disconnected
            if self._closing:
                conversation.stop(now=False)
            LOG.info("user=%r connected", visitor.user)
            peer.wire.send(codec.AuthenticationOk(), codec.BackendKeyData(process_id=number, secret_key=key.secret))
            yield conversation
        finally:
            session.close()
            LOG.info("user=%r disconnected", visitor.user)

    def _cancel(self, key: CancelKey) -> None:
        with self._lock:
            peer = self._peers.get(key.process)
        if peer is None or peer.conversation is None or peer.key is None:
            return
        if hmac.compare_digest(peer.key.secret, key.secret):
            peer.conversation.cancel()

    def _tell_all(self, now: bool) -> None:
        with self._lock:
            peers = list(self._peers.values())
        for peer in peers:
            if peer.conversation is None:
                peer.wire.cut()
            else:
                peer.conversation.stop(now)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))


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


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError):
        raise InterfaceError(f"{host}:{port} cannot be listened on; another server may be there") from None


def _prepare(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _UNREAD, 0))


def _fatal(wire: Wire, error: Exception) -> None:
    wire.send(codec.ErrorResponse(fields=error_fields(error, severity="FATAL")))
    wire.flush()


def _crowded() -> WireError:
    return WireError("53300", "sorry, too many clients already")


def _refuse_at_once(connection: socket.socket) -> None:
    """Tell a client of the crowd without a thread and without waiting for it."""
    crowd = codec.ErrorResponse(fields=error_fields(_crowded(), severity="FATAL"))
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        connection.send(crowd.to_wire())
        connection.shutdown(socket.SHUT_WR)
    connection.close()
