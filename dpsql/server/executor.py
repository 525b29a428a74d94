"""Executes the commands of one connection: their results, and their effects on settings,
cursors and transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.connection_settings import REPORTED, ConnectionSettings
from dpsql.server.protocol import postgres_types
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.portals import CopyOut, Outcome, Portal, PortalRows, StatementDone
from dpsql.server.protocol.postgres_types import PostgresType, WireColumn
from dpsql.server.query_routing import DescribedQuery, QueryRouter
from dpsql.server.transactions import Transaction

#: Statements and cursors that one connection may hold.
MOST_STATEMENTS = 2000
MOST_PORTALS = 500
#: Values that its cursors may hold before another one is read.
MOST_HELD = 5_000_000


@dataclass(frozen=True)
class ParsedStatement:
    """A prepared statement; ``command`` is None for an empty text."""

    command: Command | None
    described: DescribedQuery
    declared: Sequence[PostgresType | None]


class Executor:
    """The state of a connection that commands change;
    ``warn`` sends the client a SQLSTATE and a message.
    """

    def __init__(
        self, answers: QueryRouter, settings: ConnectionSettings, warn: Callable[[str, str], None]
    ) -> None:
        self._answers = answers
        self._warn = warn
        self.settings = settings
        self.transaction = Transaction(settings)
        self.portals: dict[str, Portal] = {}
        self.statements: dict[str, ParsedStatement] = {}

    def describe(
        self, statement: Command, declared: Sequence[PostgresType | None] = ()
    ) -> DescribedQuery:
        """The parameters and columns of a command; nothing is run or charged."""
        self._require_admitted(statement)
        match statement:
            case command.QueryText():
                return self._answers.describe(statement, declared)
            case command.Copy(query=query, options=options):
                rows = self._answers.describe(query, declared)
                return DescribedQuery(
                    rows.parameters, None, lambda values: self._copied(rows, options, values)
                )
            case command.Declare():
                described = self._answers.describe(statement.query, declared)
                return DescribedQuery(
                    described.parameters,
                    None,
                    lambda values: self._declare(statement, described, values),
                )
            case command.Fetch(move=False):
                return DescribedQuery(
                    (), self._cursor(statement.name).columns, lambda _: self._fetch(statement)
                )
            case command.ShowSetting(name=name):
                return self._show(name)
            case _:
                return DescribedQuery(
                    (), None, lambda _: StatementDone(self._run_command(statement))
                )

    def formats(self, statement: Command) -> Sequence[int]:
        """The format of rows in the simple protocol: text, except for binary cursors."""
        portal = self.portals.get(statement.name) if isinstance(statement, command.Fetch) else None
        return [0] if portal is None else portal.formats

    def end_of_cycle(self) -> None:
        """Close portals at the end of a cycle outside of a transaction."""
        if not self.transaction.open:
            self._drop_portals()
            self.transaction.start_implicit()

    def admit(self, statement: Command) -> None:
        """Refuse all commands but the end of a failed transaction."""
        self._require_admitted(statement)

    def open_portal(self, name: str, portal: Portal) -> None:
        """Open a portal; it replaces the unnamed one.

        Raises WireError (42P03) if the name is taken.
        """
        if name and name in self.portals:
            raise WireError("42P03", f'cursor "{name}" already exists')
        if len(self.portals) >= MOST_PORTALS:
            raise WireError(
                "54000", f"more than {MOST_PORTALS} cursors are open", "CLOSE those that are read."
            )
        self.portals[name] = portal

    def require_room(self, portal: Portal) -> None:
        """Raise WireError (54000) before a portal is first run and charged if others hold too many
        values.
        """
        if (
            not portal.ran
            and sum(open_portal.size for open_portal in self.portals.values()) > MOST_HELD
        ):
            raise WireError(
                "54000",
                "the cursors of this connection hold too many rows",
                "CLOSE those that are read.",
            )

    @property
    def _next_portal_number(self) -> int:
        return 1 + max((portal.opened for portal in self.portals.values()), default=0)

    def _require_admitted(self, statement: Command) -> None:
        ends = isinstance(statement, command.Commit | command.Rollback) or (
            isinstance(statement, command.Savepoint) and statement.action == "ROLLBACK"
        )
        if self.transaction.status == "E" and not ends:
            raise WireError(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
            )

    def _run_command(self, statement: Command) -> str:
        """Run a command without rows; returns its tag."""
        match statement:
            case command.BeginTransaction(tag=tag):
                self._warned("25001", self.transaction.begin())
                return tag
            case command.Commit(chain=chain):
                return self._commit(chain)
            case command.Rollback(chain=chain):
                return self._rollback(chain)
            case command.Savepoint():
                return self._savepoint(statement)
            case command.Fetch(name=name):
                return f"MOVE {len(self._fetch(statement).rows)}"
            case command.CloseCursor(name=name):
                return self._close(name)
            case command.SetSetting(name=name, value=value, local=local):
                return self._set(name, value, local)
            case command.ResetSetting(name=name):
                self.settings.reset() if name is None else self.settings.set(name, None)
                return "RESET"
            case command.Discard(what=target):
                return self._discard(target)
            case command.Deallocate(name=name):
                return self._deallocate(name)
            case command.IgnoredCommand(tag=tag):
                return tag
            case command.WriteCommand(tag=tag):
                raise WireError(
                    "25006", f"cannot execute {tag} in a read-only transaction", "dpsql only reads."
                )
            case command.UnsupportedCommand(tag=tag, hint=hint):
                raise WireError(
                    "0A000", f"{tag} is not supported", hint[:1].upper() + hint[1:] + "."
                )
            case command.QueryText() | command.Copy() | command.Declare() | command.ShowSetting():
                raise AssertionError
            case _:
                assert_never(statement)

    def _commit(self, chain: bool) -> str:
        was_open = self.transaction.open
        committed = self.transaction.commit()
        self._ended(was_open, chain)
        return "COMMIT" if committed else "ROLLBACK"

    def _rollback(self, chain: bool) -> str:
        was_open = self.transaction.open
        self.transaction.rollback()
        self._ended(was_open, chain)
        return "ROLLBACK"

    def _ended(self, was_open: bool, chain: bool) -> None:
        self._drop_portals()
        if not was_open and chain:
            raise WireError("25P01", "COMMIT AND CHAIN can only be used in transaction blocks")
        if not was_open:
            self._warned("25P01", "there is no transaction in progress")
        elif chain:
            self.transaction.begin()

    def _savepoint(self, statement: command.Savepoint) -> str:
        match statement.action:
            case "SAVEPOINT":
                self.transaction.save(statement.name, self._next_portal_number)
            case "RELEASE":
                self.transaction.release(statement.name)
            case "ROLLBACK":
                opened = self.transaction.back_to(statement.name)
                self.portals = {
                    name: portal
                    for name, portal in self.portals.items()
                    if portal.opened < opened or portal.hold
                }
            case _:
                assert_never(statement.action)
        return statement.action

    def _declare(
        self, statement: command.Declare, described: DescribedQuery, values: Sequence[object]
    ) -> Outcome:
        if not (statement.hold or self.transaction.open or self.in_several):
            raise WireError("25P01", "DECLARE CURSOR can only be used in transaction blocks")
        parameters = tuple(values)
        portal = Portal(
            described.columns,
            lambda: described.run(parameters),
            [int(statement.binary)],
            scroll=statement.scroll,
            hold=statement.hold,
            command=statement,
            opened=self._next_portal_number,
        )
        self.open_portal(statement.name, portal)
        return StatementDone("DECLARE CURSOR")

    #: Whether the statement is one of several in a text, which is a transaction of its own.
    in_several = False

    def _cursor(self, name: str) -> Portal:
        if name not in self.portals:
            raise WireError("34000", f'cursor "{name}" does not exist')
        return self.portals[name]

    def _fetch(self, statement: command.Fetch) -> PortalRows:
        cursor = self._cursor(statement.name)
        self.require_room(cursor)
        return PortalRows(cursor.fetch(statement), "FETCH")

    def _close(self, name: str | None) -> str:
        if name is None:
            self.portals.clear()
            return "CLOSE CURSOR ALL"
        self._cursor(name)
        del self.portals[name]
        return "CLOSE CURSOR"

    def _copied(
        self, described: DescribedQuery, options: command.CopyOptions, values: Sequence[object]
    ) -> Outcome:
        rows = described.run(values)
        assert isinstance(rows, PortalRows) and described.columns is not None
        return CopyOut(options, rows.rows, described.columns)

    def _show(self, name: str | None) -> DescribedQuery:
        if name in ("tables", "synthetic tables", "synopses", "dpsql.budget"):
            return self._answers.describe(command.QueryText(f"SHOW {name}"))
        if name is None:
            every = ("name", "setting", "description")
            columns = tuple(WireColumn(column, postgres_types.TEXT) for column in every)
            return DescribedQuery(
                (),
                columns,
                lambda _: PortalRows(
                    [(key, self.settings.setting_text(key), "") for key in self.settings], "SHOW"
                ),
            )
        if name not in self.settings:
            raise WireError("42704", f'unrecognized configuration parameter "{name}"')
        return DescribedQuery(
            (),
            (WireColumn(REPORTED.get(name, name), postgres_types.TEXT),),
            lambda _: PortalRows([(self.settings.setting_text(name),)], "SHOW"),
        )

    def _set(self, name: str, value: str | None, local: bool) -> str:
        if not local:
            self.settings.set(name, value)
        elif self.transaction.open:
            self.transaction.set_local(name, value)
        else:
            self._warned("25P01", "SET LOCAL can only be used in transaction blocks")
        return "SET"

    def _discard(self, target: str) -> str:
        if target == "ALL":
            if self.transaction.open:
                raise WireError("25001", "DISCARD ALL cannot run inside a transaction block")
            self.portals.clear()
            self.statements.clear()
            self.settings.reset()
        return f"DISCARD {target}"

    def _deallocate(self, name: str | None) -> str:
        if name is None:
            self.statements.clear()
            return "DEALLOCATE ALL"
        if self.statements.pop(name, None) is None:
            raise WireError("26000", f'prepared statement "{name}" does not exist')
        return "DEALLOCATE"

    def _drop_portals(self) -> None:
        self.portals = {name: portal for name, portal in self.portals.items() if portal.hold}

    def _warned(self, sqlstate: str, message: str | None) -> None:
        if message is not None:
            self._warn(sqlstate, message)
