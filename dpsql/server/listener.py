"""The server's listener: a socket, a thread for each client, limits,
and a shutdown that loses no charge.
"""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import logging
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType
from typing import Self

from dpsql.errors import Error, InterfaceError
from dpsql.server.authentication.failed_logins import FailedLogins
from dpsql.server.authentication.login import CancelKey, LoginPolicy, LoginResult, admit, greet
from dpsql.server.catalogue import Catalogue
from dpsql.server.connection_settings import ConnectionSettings
from dpsql.server.connections import (
    ClientConnection,
    ConnectionLimits,
    Connections,
    host_and_port,
    too_many_clients,
)
from dpsql.server.message_loop import MessageLoop, StatementObserver
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import MalformedMessage
from dpsql.server.protocol.error_response import WireError, error_fields
from dpsql.server.protocol.stream import Disconnected, MessageStream, PartialMessageSpace
from dpsql.session.database import TOOLS, Database

__all__ = ["ConnectionLimits", "Server"]

#: Seconds after which a client that does not read what it is sent is let go.
_UNREAD = 300
#: Seconds of silence before a connection is probed, between probes,
#: and the probes before it is #: given up.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))


def require_safe(host: str, policy: LoginPolicy) -> None:
    """Raise InterfaceError if TLS or passwords are missing and others than this machine can
    connect.
    """
    if is_loopback(host):
        return
    if policy.tls is None or policy.users is None:
        raise InterfaceError(
            f"to listen on {host}, which others can reach, give --tls-cert, --tls-key and --users; "
            "without them dpsql listens on 127.0.0.1 only"
        )


def is_loopback(host: str) -> bool:
    """Whether the address is a loopback address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    try:
        addresses = {
            ipaddress.ip_address(info[4][0].partition("%")[0])  # type: ignore[union-attr]
            for info in socket.getaddrinfo(host, None)
        }
    except (OSError, ValueError, UnicodeError):
        raise InterfaceError(f"{host}: is no address of this machine") from None
    return all(address.is_loopback for address in addresses)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; raises InterfaceError if it cannot."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError):
        raise InterfaceError(
            f"{host}:{port} cannot be listened on; another server may be there"
        ) from None


def set_client_socket_options(connection: socket.socket) -> None:
    """Set the options of a client's socket: no delay, keep-alive, and a time limit for sending."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _UNREAD, 0))


LOG = logging.getLogger("dpsql.pgwire")
#: How statements are read under each value of dpsql.raw_select.
_MANNERS = {
    "probe": TOOLS,
    "error": replace(TOOLS, raw_select="error"),
    "empty": replace(TOOLS, raw_select="empty"),
}


class Server:
    """Serves one database on one address until `close`; sessions decide all that is answered."""

    def __init__(
        self,
        database: Database,
        host: str = "127.0.0.1",
        port: int = 5433,
        policy: LoginPolicy | None = None,
        limits: ConnectionLimits | None = None,
        observer: StatementObserver | None = None,
    ) -> None:
        self._database = database
        self._policy = policy or LoginPolicy()
        self._limits = limits or ConnectionLimits()
        require_safe(host, self._policy)
        self._crowd = Connections(self._limits)
        self._unfinished = PartialMessageSpace(self._limits.unfinished)
        self._observer = observer or StatementObserver()
        self._observer.begin(
            lambda: self.connected, database.accountant.remaining, database.answers_left
        )
        self._numbers = itertools.count(1)
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._guesses = FailedLogins(self._closing.wait)
        self._listener = listening(host, port)
        #: Where the server listens, also where 0 was asked for.
        self.port: int = self._listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, name="dpsql accept", daemon=True)

    @property
    def database(self) -> Database:
        return self._database

    @property
    def connected(self) -> int:
        """The number of clients that are logged in."""
        return self._crowd.connected

    def start(self) -> Self:
        """Start to listen and to serve connections."""
        self._accepting.start()
        return self

    def close(self) -> None:
        """Shut down: accept no more clients,
        let running statements end within the grace period, and close.
        """
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if self._accepting.is_alive():
            self._accepting.join()
        self._crowd.tell(now=False)
        self._wait(self._limits.grace)
        self._crowd.tell(now=True)
        self._wait(self._limits.grace)
        for peer in self._crowd.all:
            peer.wire.cut()
        self._wait(1.0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, address = self._listener.accept()
            except OSError:
                if self._closing.is_set():
                    return
                time.sleep(0.05)  # such as no file descriptor left
                continue
            try:
                set_client_socket_options(connection)
                self._arrive(connection, address)
            except (OSError, RuntimeError):
                connection.close()

    def _arrive(self, connection: socket.socket, address: tuple[object, ...]) -> None:
        peer = ClientConnection(
            next(self._numbers),
            MessageStream(connection, self._unfinished),
            *host_and_port(address),
        )
        if not self._crowd.arrive(peer):
            LOG.info("%s refused sqlstate=53300", peer)
            self._observer.refused("53300")
            _refuse_at_once(connection)
            return
        thread = threading.Thread(
            target=self._serve, args=(peer,), name=f"dpsql client {peer.number}", daemon=True
        )
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _serve(self, peer: ClientConnection) -> None:
        wire = peer.wire
        try:
            self._converse(peer)
        except (Disconnected, ConnectionError):
            pass
        except MalformedMessage:
            self._refuse(peer, WireError("08P01", "invalid message of the protocol"))
        except Exception as error:
            self._refuse(peer, error)
        finally:
            wire.close()
            self._crowd.leave(peer)
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _refuse(self, peer: ClientConnection, error: Exception) -> None:
        """Tell the client, and the owner's log, why a connection is refused."""
        fields = error_fields(error, severity="FATAL")
        why = f"{fields['M']} ({fields['D']})" if "D" in fields else fields["M"]
        LOG.info("%s user=%r refused sqlstate=%s %r", peer, peer.user, fields["C"], why)
        self._observer.refused(fields["C"])
        with contextlib.suppress(Disconnected):
            peer.wire.send(codec.ErrorResponse(fields=fields))
            peer.wire.flush()

    def _converse(self, peer: ClientConnection) -> None:
        wire = peer.wire
        wire.limit(self._limits.login)
        packet = greet(wire, self._policy)
        if isinstance(packet, CancelKey):
            self._crowd.cancel(packet)
            return
        try:
            visitor = self._admitted(peer, packet)
        except WireError as error:
            peer.user = packet.params.get("user", "")
            self._refuse(peer, error)
            return
        peer.user = visitor.user
        with self._session(peer, visitor) as conversation:
            wire.limit(None)
            conversation.run()

    def _admitted(self, peer: ClientConnection, packet: codec.StartupMessage) -> LoginResult:
        self._crowd.require_place()
        visitor = admit(peer.wire, self._policy, packet, self._guesses, address=peer.host)
        if visitor.database not in (self._database.schema.name, visitor.user, "postgres"):
            raise WireError(
                "3D000",
                f'database "{visitor.database}" does not exist',
                f"Connect to the database {self._database.schema.name}.",
            )
        return visitor

    @contextlib.contextmanager
    def _session(self, peer: ClientConnection, visitor: LoginResult) -> Iterator[MessageLoop]:
        """The message loop of a client on a session of its own, inside the block."""
        session = self._database.session(visitor.user, TOOLS)

        def answer_raw_select(choice: str) -> None:
            session.frontend_options = _MANNERS[choice]

        try:
            settings = ConnectionSettings(visitor.user, session, answer_raw_select)
            try:
                for name, value in visitor.settings.items():
                    settings.begin_with(name, value)
            except Error as error:
                self._refuse(peer, error)
                raise Disconnected from None
            schema = self._database.schema
            catalogue = Catalogue(
                schema,
                database=schema.name,
                user=visitor.user,
                settings=settings,
                assign=settings.set,
                current=lambda: self._database.schema,
                synopses=session.named.synopses,
            )
            conversation = MessageLoop(
                peer.wire,
                session,
                catalogue,
                settings,
                observer=self._observer,
                connection=str(peer),
            )
            key = self._crowd.enter(peer, conversation)
            LOG.info("%s user=%r connected", peer, visitor.user)
            try:
                if self._closing.is_set():
                    conversation.stop(now=False)
                peer.wire.send(codec.AuthenticationOk())
                peer.wire.send(codec.BackendKeyData(process_id=peer.number, secret_key=key.secret))
                yield conversation
            finally:
                LOG.info("%s user=%r disconnected", peer, visitor.user)
        finally:
            session.close()

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))


def _refuse_at_once(connection: socket.socket) -> None:
    """Refuse a client at a limit, without a thread and without waiting for it."""
    crowd = codec.ErrorResponse(fields=error_fields(too_many_clients(), severity="FATAL"))
    connection.setblocking(False)
    with contextlib.suppress(OSError):
        connection.send(crowd.to_wire())
        connection.shutdown(socket.SHUT_WR)
    connection.close()
