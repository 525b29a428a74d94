"""The extended query protocol: Parse, Bind, Describe, Execute, Close.

Only Execute runs a statement, once a portal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from dpsql.server.commands.command import QueryText
from dpsql.server.commands.parser import parse_command
from dpsql.server.commands.tokens import pieces
from dpsql.server.executor import MOST_STATEMENTS, Executor, ParsedStatement
from dpsql.server.protocol import binary_format, codec, postgres_types, text_format
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.portals import CopyOut, Portal, StatementDone
from dpsql.server.protocol.postgres_types import PostgresType, by_oid
from dpsql.server.protocol.row_format import description, expanded
from dpsql.server.query_routing import DescribedQuery

#: Characters of one statement, and bytes of the values that are bound to one portal.
LONGEST = 256 * 1024
LARGEST = 1024 * 1024


class ExtendedQuery:
    """The prepared statements and portals of one connection."""

    def __init__(
        self,
        executor: Executor,
        send_portal: Callable[[Portal, int], None],
        send: Callable[..., None],
    ) -> None:
        self._executor = executor
        self._send_portal = send_portal
        self._send = send

    def take(
        self, message: codec.Parse | codec.Bind | codec.Describe | codec.Execute | codec.Close
    ) -> None:
        """Answer one message.

        The caller sends errors; messages after one are skipped until Sync.
        """
        match message:
            case codec.Parse():
                self._parse(message)
            case codec.Bind():
                self._bind(message)
            case codec.Describe(kind="S", name=name):
                self._describe_statement(self._statement(name))
            case codec.Describe(kind="P", name=name):
                portal = self._portal(name)
                columns = portal.columns
                self._send(
                    codec.NoData() if columns is None else description(columns, portal.formats)
                )
            case codec.Execute():
                self._execute(message)
            case codec.Close(kind="S", name=name):
                self._executor.statements.pop(name, None)
                self._send(codec.CloseComplete())
            case codec.Close(kind="P", name=name):
                self._executor.portals.pop(name, None)
                self._send(codec.CloseComplete())
            case codec.Describe() | codec.Close():
                raise WireError("08P01", "neither a statement nor a portal is named")
            case _:
                assert_never(message)

    def forget_nameless(self) -> None:
        """Drop the unnamed statement and portal, which a simple query replaces."""
        self._executor.statements.pop("", None)
        self._executor.portals.pop("", None)

    def _parse(self, message: codec.Parse) -> None:
        statements = self._executor.statements
        if message.statement and message.statement in statements:
            raise WireError("42P05", f'prepared statement "{message.statement}" already exists')
        if len(statements) >= MOST_STATEMENTS:
            raise WireError(
                "54000", f"more than {MOST_STATEMENTS} statements are prepared", "DEALLOCATE some."
            )
        if len(message.query) > LONGEST:
            raise WireError("54000", f"the statement is longer than {LONGEST} characters")
        self._executor.statements.pop("", None)
        parsed_pieces = pieces(message.query)
        if len(parsed_pieces) > 1:
            raise WireError("42601", "cannot insert multiple commands into a prepared statement")
        declared = [_declared(oid) for oid in message.param_types]
        if parsed_pieces:
            command = parse_command(parsed_pieces[0])
            described = self._executor.describe(command, declared)
            statements[message.statement] = ParsedStatement(command, described, declared)
        else:
            statements[message.statement] = ParsedStatement(
                None, DescribedQuery((), None, lambda _: StatementDone("")), declared
            )
        self._send(codec.ParseComplete())

    def _bind(self, message: codec.Bind) -> None:
        statement = self._statement(message.statement)
        if statement.command is not None:
            self._executor.admit(statement.command)
        if not message.portal:
            self._executor.portals.pop("", None)
        described = self._current(statement)
        values = _values(described.parameters, message)
        columns = described.columns
        formats = expanded(message.result_formats, len(columns)) if columns is not None else []
        portal = Portal(columns, lambda: described.run(values), formats, command=statement.command)
        self._executor.open_portal(message.portal, portal)
        self._send(codec.BindComplete())

    def _current(self, statement: ParsedStatement) -> DescribedQuery:
        """The statement described again: the columns of SHOW,
        FETCH and others depend on earlier commands.
        """
        if statement.command is None or isinstance(statement.command, QueryText):
            return statement.described
        return self._executor.describe(statement.command, statement.declared)

    def _describe_statement(self, statement: ParsedStatement) -> None:
        if statement.command is not None:
            self._executor.admit(statement.command)
        described = statement.described
        self._send(
            codec.ParameterDescription(type_oids=[kind.oid for kind in described.parameters])
        )
        columns = described.columns
        self._send(codec.NoData() if columns is None else description(columns, [0]))

    def _execute(self, message: codec.Execute) -> None:
        portal = self._portal(message.portal)
        if portal.command is None:
            self._send(codec.EmptyQueryResponse())
            return
        self._executor.admit(portal.command)
        self._executor.require_room(portal)
        if portal.ran and isinstance(portal.outcome(), StatementDone | CopyOut):
            raise WireError("55000", f'portal "{message.portal}" cannot be run')
        self._send_portal(portal, message.max_rows if message.max_rows < 2**31 else 0)

    def _statement(self, name: str) -> ParsedStatement:
        statement = self._executor.statements.get(name)
        if statement is None:
            title = f'prepared statement "{name}"' if name else "unnamed prepared statement"
            raise WireError("26000", f"{title} does not exist")
        return statement

    def _portal(self, name: str) -> Portal:
        portal = self._executor.portals.get(name)
        if portal is None:
            raise WireError("34000", f'portal "{name}" does not exist')
        return portal


def _declared(oid: int) -> PostgresType | None:
    """The type that a client declares; None if it leaves the type open."""
    if oid in (0, postgres_types.UNKNOWN.oid):
        return None
    kind = postgres_types.TEXT if oid == postgres_types.REFCURSOR else by_oid(oid)
    if kind is None:
        raise WireError("0A000", f"parameters of the type with the number {oid} are not supported")
    return kind


def _values(kinds: Sequence[PostgresType], message: codec.Bind) -> tuple[object, ...]:
    """The parameter values, decoded by their types."""
    param_values = message.param_values
    if len(param_values) != len(kinds):
        raise WireError(
            "08P01",
            f"bind message supplies {len(param_values)} parameters, but prepared statement "
            f'"{message.statement}" requires {len(kinds)}',
        )
    if sum(len(data) for data in param_values if data is not None) > LARGEST:
        raise WireError("54000", f"the values of the parameters have more than {LARGEST} bytes")
    codes = expanded(message.param_formats, len(param_values))
    return tuple(
        _value(kind, code, data)
        for kind, code, data in zip(kinds, codes, param_values, strict=True)
    )


def _value(kind: PostgresType, code: int, data: bytes | None) -> object:
    if data is None:
        return None
    if code:
        return binary_format.decode(kind, data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise WireError(
            "22021", 'invalid byte sequence for encoding "UTF8" in a parameter'
        ) from None
    return text_format.decode(kind, text)
