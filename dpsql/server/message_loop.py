"""Answers the messages of one client after its login, and tells an observer of each statement."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from dpsql.errors import statement_incident
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.server.commands.parser import parse_command
from dpsql.server.commands.tokens import SplitStatement, pieces
from dpsql.server.connection_settings import ConnectionSettings
from dpsql.server.executor import Executor
from dpsql.server.extended_query import ExtendedQuery
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import MalformedMessage, Message, TransactionStatus
from dpsql.server.protocol.error_response import WireError, error_fields, notice_fields
from dpsql.server.protocol.portals import CopyOut, Portal, PortalRows, StatementDone
from dpsql.server.protocol.row_format import copied, description, row_writer
from dpsql.server.protocol.stream import Disconnected, MessageStream
from dpsql.server.query_routing import LocatedError, QueryRouter
from dpsql.server.statement_cancellation import StatementCancellation

if TYPE_CHECKING:
    from dpsql.server.catalogue import Catalogue
    from dpsql.session import Session


class StatementObserver:
    """An observer of statements that ignores them.

    Its methods are called from the threads of all connections.
    """

    def begin(
        self,
        connected: Callable[[], int],
        remaining: Callable[[], RemainingBudget],
        answers: Callable[[], AnswersLeft],
    ) -> None:
        """The server begins: the functions give the number of clients,
        the remaining budget and that in answers.
        """

    def refused(self, sqlstate: str) -> None:
        """A connection was refused, before or at its login."""

    def statement(self, sqlstate: str, code: str, seconds: float) -> None:
        """A statement ended after so many seconds; ``code`` is that of its refusal,
        if it was refused.
        """

    def charged(self, epsilon: float) -> None:
        """A statement was charged."""


LOG = logging.getLogger("dpsql.pgwire")
#: Characters of one text with statements.
LONGEST = 256 * 1024
_STATUS = {
    "I": TransactionStatus.IDLE,
    "T": TransactionStatus.IN_TRANSACTION,
    "E": TransactionStatus.ERROR_TRANSACTION,
}


class MessageLoop:
    """Answers a client's statements in order; other threads may call `cancel` and `stop`.

    ``observer`` is told of each statement; ``connection`` is what the owner's log calls it.
    """

    def __init__(
        self,
        wire: MessageStream,
        session: Session,
        catalogue: Catalogue,
        settings: ConnectionSettings,
        observer: StatementObserver,
        connection: str,
    ) -> None:
        self._wire = wire
        self._session = session
        self._settings = settings
        self._cancellation = StatementCancellation(session.interrupt, catalogue.interrupt)
        self._price = ""
        self._observer = observer
        self._connection = connection
        answers = QueryRouter(
            session, catalogue, self._cancellation, self._tell_price, noted=self._note
        )
        self._executor = Executor(answers, settings, self._warn)
        self._extended = ExtendedQuery(self._executor, self._send_portal, wire.send)
        self._reported: dict[str, str] = {}
        self._skipping = False
        self._stopping = False
        self._busy = False

    def cancel(self) -> None:
        """Cancel the running statement."""
        self._cancellation.cancel()

    def stop(self, now: bool) -> None:
        """Take no more statements; with ``now``, cancel the running one too."""
        self._stopping = True
        if now:
            self._cancellation.end()
        if not self._busy:
            self._wire.wake()

    def run(self) -> None:
        """Answer until the client leaves or the server stops."""
        self._ready()
        while True:
            message = None
            try:
                if not self._stopping:
                    message = self._wire.receive()
            finally:
                if self._stopping:
                    self._farewell()
            if message is None or isinstance(message, codec.Terminate):
                return
            self._busy = True
            self._answer(message)
            self._busy = False

    def _answer(self, message: Message) -> None:
        match message:
            case codec.Query(query_string=text):
                self._skipping = False
                self._guarded(lambda: self._simple(text))
                self._ready()
            case codec.Sync():
                self._skipping = False
                self._executor.end_of_cycle()
                self._ready()
            case codec.Flush():
                self._wire.flush()
            case codec.CopyData() | codec.CopyDone() | codec.CopyFail():
                pass
            case codec.FunctionCall():
                self._guarded(_refuse_function_call)
                self._ready()
            case _ if self._skipping:
                pass
            case codec.Parse() | codec.Bind() | codec.Describe() | codec.Execute() | codec.Close():
                self._skipping = not self._guarded(lambda: self._extended.take(message))
            case _:
                raise MalformedMessage

    def _simple(self, text: str) -> None:
        """Answer a simple query: its statements fail together outside of a transaction."""
        if len(text) > LONGEST:
            raise WireError(
                "54000", f"the text of the statements is longer than {LONGEST} characters"
            )
        self._extended.forget_nameless()
        statements = pieces(text)
        if not statements:
            self._wire.send(codec.EmptyQueryResponse())
        self._executor.in_several = len(statements) > 1
        for piece in statements:
            self._statement(piece)

    def _statement(self, piece: SplitStatement) -> None:
        command = parse_command(piece)
        described = self._executor.describe(command)
        if described.parameters:
            raise WireError(
                "42P02", "there is no parameter $1", "Parameters need the extended protocol."
            )
        portal = Portal(
            described.columns,
            lambda: described.run(()),
            self._executor.formats(command),
            command=command,
        )
        if portal.columns is not None:
            # Before the columns, so that a refusal is not preceded by them.
            outcome = portal.outcome()
            assert isinstance(outcome, PortalRows)
            self._wire.send(description(portal.columns, portal.formats))
        self._send_portal(portal, 0)

    def _send_portal(self, portal: Portal, most: int) -> None:
        """Send the next ``most`` rows of a portal, all of them for 0."""
        outcome = portal.outcome()
        match outcome:
            case PortalRows(tag=tag):
                assert portal.columns is not None
                rows = portal.forward(most or None)
                write = row_writer(portal.columns, portal.formats, self._settings.zone)
                for row in rows:
                    self._wire.send_bytes(write(row))
                if most and len(rows) == most:
                    self._wire.send(codec.PortalSuspended())
                    return
                counted = tag in ("SELECT", "FETCH")
                self._wire.send(codec.CommandComplete(tag=f"{tag} {len(rows)}" if counted else tag))
            case StatementDone(tag=tag):
                self._report()
                self._wire.send(codec.CommandComplete(tag=tag))
            case CopyOut():
                self._send_copy(outcome)
            case _:
                assert_never(outcome)

    def _send_copy(self, copy: CopyOut) -> None:
        code = int(copy.options.format == "binary")
        self._wire.send(
            codec.CopyOutResponse(overall_format=code, col_formats=[code] * len(copy.columns))
        )
        for data in copied(copy.columns, copy.rows, copy.options, self._settings.zone):
            self._wire.send(codec.CopyData(data=data))
        self._wire.send(codec.CopyDone(), codec.CommandComplete(tag=f"COPY {len(copy.rows)}"))

    def _guarded(self, action: Callable[[], None]) -> bool:
        """Run the action; any error becomes one message in dpsql's words."""
        started = time.perf_counter()
        self._price = ""
        sqlstate = "00000"
        code = ""
        detail = ""
        try:
            with statement_incident(), self._cancellation.running(self._settings.timeout):
                action()
        except (Disconnected, MalformedMessage):
            raise
        except Exception as error:
            fields = error.fields if isinstance(error, LocatedError) else error_fields(error)
            sqlstate = fields["C"]
            code = error.code if isinstance(error, LocatedError) else ""
            detail = code or fields.get("D", "").partition(":")[0]
            self._executor.transaction.fail()
            self._wire.send(codec.ErrorResponse(fields=fields))
        took = time.perf_counter() - started
        self._observer.statement(sqlstate, code, took)
        outcome = self._price or detail
        user = self._session.analyst
        took = took * 1000
        LOG.info(
            "%s user=%r took=%.1fms sqlstate=%s %s", self._connection, user, took, sqlstate, outcome
        )
        return sqlstate == "00000"

    def _ready(self) -> None:
        self._executor.end_of_cycle()
        self._executor.in_several = False
        self._report()
        self._wire.send(codec.ReadyForQuery(status=_STATUS[self._executor.transaction.status]))
        self._wire.flush()

    def _report(self) -> None:
        """Report changed settings to the client; all of them at the start."""
        now = self._settings.reported()
        if now != self._reported:
            changed = {
                name: value for name, value in now.items() if self._reported.get(name) != value
            }
            self._wire.send(
                *(codec.ParameterStatus(name=name, value=value) for name, value in changed.items())
            )
            self._reported = now

    def _tell_price(self, price: str, charged: Fraction, error: Callable[[], str]) -> None:
        self._price = price
        if charged:
            self._observer.charged(float(charged))
        if self._settings.shows("notice"):
            self._note(f"dpsql: {'; '.join(filter(None, (price, error())))}")

    def _note(self, message: str) -> None:
        if self._settings.shows("notice"):
            self._wire.send(codec.NoticeResponse(fields=notice_fields(message)))

    def _warn(self, sqlstate: str, message: str) -> None:
        if self._settings.shows("warning"):
            self._wire.send(
                codec.NoticeResponse(fields=notice_fields(message, "WARNING", sqlstate))
            )

    def _farewell(self) -> None:
        leaving = WireError("57P01", "terminating connection due to administrator command")
        self._wire.send(codec.ErrorResponse(fields=error_fields(leaving, severity="FATAL")))
        self._wire.flush()


def _refuse_function_call() -> None:
    raise WireError(
        "0A000", "function calls of the old protocol are not supported", "Send a query."
    )
