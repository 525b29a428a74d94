"""Routes queries: to the catalogue at no cost, or to the analyst's session at a price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

from dpsql.errors import Error, LedgerError, Refused, StatementError
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.postprocessing.answer_errors import errors_in_words
from dpsql.schema.types import TYPES
from dpsql.server.catalogue import Catalogue
from dpsql.server.commands.command import QueryText
from dpsql.server.protocol import postgres_types
from dpsql.server.protocol.error_response import StalePlanError, error_fields
from dpsql.server.protocol.portals import Outcome, PortalRows, StatementDone
from dpsql.server.protocol.postgres_types import PostgresType, WireColumn, by_name
from dpsql.server.statement_cancellation import StatementCancellation
from dpsql.session import Session, request

T = TypeVar("T")

#: The tags of statements about named releases.
_TAGS = {
    (statement, kind): f"{word} {kind.upper()}"
    for statement, word in ((request.CreateNamed, "CREATE"), (request.DropNamed, "DROP"))
    for kind in request.EXAMPLES
}


@dataclass(frozen=True)
class DescribedQuery:
    """A statement that was not run yet: its parameters, its columns (None for no rows),
    and a function that runs it.
    """

    parameters: tuple[PostgresType, ...]
    columns: tuple[WireColumn, ...] | None
    run: Callable[[Sequence[object]], Outcome]


class LocatedError(Exception):
    """An error as response fields, with its position in the client's text;
    ``code`` is that of a refusal.
    """

    def __init__(self, fields: dict[str, str], code: str = "") -> None:
        super().__init__(fields["M"])
        self.fields = fields
        self.code = code


class QueryRouter:
    """Routes the queries of one connection.

    ``show_price`` is called with each price, in words and in ε, and with what tells the answer's
    error; ``noted`` with each notice.
    """

    def __init__(
        self,
        session: Session,
        catalogue: Catalogue,
        cancellation: StatementCancellation,
        show_price: Callable[[str, Fraction, Callable[[], str]], None],
        noted: Callable[[str], None],
    ) -> None:
        self._session = session
        self._catalogue = catalogue
        self._cancellation = cancellation
        self._show_price = show_price
        self._noted = noted

    def describe(
        self, query: QueryText, declared: Sequence[PostgresType | None] = ()
    ) -> DescribedQuery:
        """The query with its types; nothing is run or charged.

        ``declared`` has the types that the client declares.
        """
        return self._located(query, lambda: self._describe(query, declared))

    def _describe(
        self, query: QueryText, declared: Sequence[PostgresType | None]
    ) -> DescribedQuery:
        if self._catalogue.claims(query.text):
            return self._introspected(query, declared)
        match request.parse_request(query.text):
            case request.Select():
                return self._describe_statement(query, declared)
            case request.CreateNamed() | request.DropNamed() as statement:
                return DescribedQuery(
                    (), None, lambda _: self._named(query, _TAGS[type(statement), statement.kind])
                )
            case request.Explain(text=inner) | request.ExplainPrivacy(text=inner) if (
                request.named_statement(inner)
            ):
                lines = self._session.execute(query.text)
                return DescribedQuery(
                    (), _columns(lines.columns), lambda _: PortalRows(lines.rows, "EXPLAIN")
                )
            case request.Explain(text=inner, json=as_json):
                kind = postgres_types.JSON if as_json else postgres_types.TEXT
                return self._explained(query, inner, WireColumn("QUERY PLAN", kind), declared)
            case request.ExplainPrivacy(text=inner):
                return self._explained(
                    query, inner, WireColumn("EXPLAIN PRIVACY", postgres_types.TEXT), declared
                )
            case _:
                result = self._session.execute(query.text)
                return DescribedQuery(
                    (), _columns(result.columns), lambda _: PortalRows(result.rows, "SHOW")
                )

    def _explained(
        self,
        query: QueryText,
        inner: str,
        column: WireColumn,
        declared: Sequence[PostgresType | None],
    ) -> DescribedQuery:
        """EXPLAIN of a query, priced anew at each execution."""
        prepared = self._session.prepare(inner, [_duckdb_name(kind) for kind in declared])

        def run(values: Sequence[object]) -> Outcome:
            return self._located(
                query, lambda: PortalRows(self._session.execute(query.text, values).rows, "EXPLAIN")
            )

        return DescribedQuery(_kinds(declared, prepared.parameters), (column,), run)

    def _describe_statement(
        self, query: QueryText, declared: Sequence[PostgresType | None]
    ) -> DescribedQuery:
        if "?" not in query.text and "$" not in query.text:
            planned = self._session.plan(query.text)
            columns = self._session.columns(planned)
            return DescribedQuery(
                (), _columns(columns), lambda _: self._answered(query, columns, self._planned)
            )
        prepared = self._session.prepare(query.text, [_duckdb_name(kind) for kind in declared])
        return DescribedQuery(
            _kinds(declared, prepared.parameters),
            _columns(prepared.columns),
            lambda values: self._answered(query, prepared.columns, lambda _: prepared.plan(values)),
        )

    def _named(self, query: QueryText, tag: str) -> Outcome:
        """Create or drop what stays under a name."""

        def answered() -> Outcome:
            self._cancellation.check()
            self._tell(self._session.execute(query.text))
            return StatementDone(tag)

        return self._located(query, answered)

    def _introspected(
        self, query: QueryText, declared: Sequence[PostgresType | None]
    ) -> DescribedQuery:
        """The catalogue's answer, at no cost."""
        columns = tuple(
            WireColumn(column.name, _catalogued(column.oid))
            for column in self._catalogue.describe(query.text)
        )
        known = self._catalogue.parameters(query.text)
        types = (*declared, *[None] * len(known))
        kinds = tuple(types[index] or _catalogued(oid) for index, oid in enumerate(known))

        def run(values: Sequence[object]) -> Outcome:
            return self._located(
                query, lambda: PortalRows(self._catalogue.run(query.text, values).rows)
            )

        return DescribedQuery(kinds, columns, run)

    def _planned(self, query: QueryText) -> Plan:
        return self._session.plan(query.text)

    def _answered(
        self,
        query: QueryText,
        described: Sequence[OutputColumn],
        planned: Callable[[QueryText], Plan],
    ) -> Outcome:
        """Plan and run a query: the only place in the server where something is charged.

        Raises WireError (0A000) before the charge if dpsql.intervals was changed after the query
        was ``described``.
        """

        def answered() -> Outcome:
            plan = planned(query)
            if len(self._session.columns(plan)) != len(described):
                raise StalePlanError
            self._cancellation.check()
            result = self._session.answer(plan)
            self._tell(result, partial(errors_in_words, plan, result))
            return PortalRows(result.rows)

        return self._located(query, answered)

    def _tell(self, result: Result, error: Callable[[], str] = str) -> None:
        """Send the price of an answer from private data, its error in words, and its notices."""
        for notice in result.notices:
            self._noted(notice)
        price = result.price
        if (
            price.stored
        ):  # said without asking the ledger: dashboards draw such answers again and again
            self._show_price("free: answered before, and paid for once", price.charged, error)
        elif price.charged:
            note = "this one is paid for"
            with suppress(LedgerError):  # the answer is there, and is not lost with what is left
                note = self._session.paid_for(price)
            self._show_price(note, price.charged, error)

    def _located(self, query: QueryText, action: Callable[[], T]) -> T:
        try:
            return action()
        except LocatedError:
            raise
        except Error as error:
            failed = error_fields(self._cancellation.client_error(error), query.text, query.start)
            code = error.code if isinstance(error, Refused | StatementError) else ""
        raise LocatedError(failed, code)


def _kinds(
    declared: Sequence[PostgresType | None], inferred: Sequence[str]
) -> tuple[PostgresType, ...]:
    """The types of parameters: the client's, or else those that the statement implies."""
    types = (*declared, *[None] * len(inferred))
    return tuple(types[index] or by_name(name) for index, name in enumerate(inferred))


def _catalogued(oid: int) -> PostgresType:
    """The type with that OID; one that only the catalogue knows is sent as text."""
    return postgres_types.by_oid(oid) or PostgresType(oid, "unknown")


def _columns(columns: Sequence[OutputColumn]) -> tuple[WireColumn, ...]:
    return tuple(postgres_types.column(column.name, column.type) for column in columns)


_DUCKDB = {name: facts.engine.upper() for facts in TYPES.values() for name in facts.parameters}


def _duckdb_name(kind: PostgresType | None) -> str | None:
    """DuckDB's name of a type that a client declares; None if dpsql infers a better one."""
    return None if kind is None else _DUCKDB.get(kind.name)
