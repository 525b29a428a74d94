"""A connection of PEP 249: one analyst's session, shared by cursors and threads;
and workloads on it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, SupportsIndex, TypeVar

from dpsql import errors
from dpsql.dbapi.cursor import Cursor
from dpsql.dbapi.parameters import Parameters, bound
from dpsql.dbapi.pep249 import with_dpsql_errors
from dpsql.dbapi.query_result import QueryResult, table_list
from dpsql.errors import DataError, InterfaceError, LedgerError

if (
    TYPE_CHECKING
):  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    from dpsql.planning.workload import Offer
    from dpsql.planning.workload import PricedWorkload as Priced
    from dpsql.privacy.filter import AnswersLeft, RemainingBudget
    from dpsql.schema import Schema
    from dpsql.session import Session
    from dpsql.session.explanation import Explanation
    from dpsql.session.pricing.error_target import AccuracyGoal, ErrorTarget


class Workload:
    """Statements that are fixed together, with what each accountant would charge;
    ``str()`` is a table of it.
    """

    def __init__(self, connection: Connection, priced: Priced) -> None:
        self._connection = connection
        self._priced = priced

    @property
    def offers(self) -> tuple[Offer, ...]:
        """Each accountant's offer: the ε of the block at the schema's δ, the charge,
        and why it is not valid.
        """
        return self._priced.offers

    @property
    def best(self) -> Offer | None:
        """The offer that would be charged; None if all statements are free."""
        return self._priced.best

    @property
    def rows(
        self,
    ) -> tuple[
        tuple[str, float | None, float | None, float | None, float | None, float | None, str], ...
    ]:
        """The offers as rows: accountant, ε at the schema's δ, charged ε, ρ and δ, share left,
        and why not valid.
        """
        return self._priced.rows

    @property
    def statuses(self) -> tuple[str, ...]:
        """For each statement whether it is bought, or why it is free."""
        return self._priced.statuses

    def execute(self, accountant: str | None = None) -> list[Cursor]:
        """Charge the block once, by the named accountant or the best one, and answer:
        a cursor for each statement.

        Raises BudgetExhausted if the budget does not admit the whole block;
        nothing is charged and nothing is read.
        """
        return self._connection._run(self._priced, accountant)

    def __str__(self) -> str:
        return str(self._priced)

    def __repr__(self) -> str:
        return f"Workload({len(self._priced.plans)} statements, best={getattr(self.best, 'accountant', None)!r})"


T = TypeVar("T")


def _goal(text: str | None) -> AccuracyGoal | None:
    from dpsql.session.pricing.error_target import read_goal

    try:
        return None if text is None else read_goal(text)
    except ValueError as error:
        raise DataError(f"{text!r} is no target; {error}") from None


class Connection:
    """One analyst's connection; all connections share the database's budget."""

    #: A name that a connection does not have is an error where it is set,
    #: too: #: ``connection.epsion = 5``.
    __slots__ = ("__weakref__", "_closed", "_lock", "_process", "_session")

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False

    @property
    def analyst(self) -> str:
        return self._session.analyst

    @property
    def remaining(self) -> RemainingBudget:
        """What is left of the budget for this analyst: ``epsilon``, ``delta``, ``share``."""
        return self._with_session(lambda session: session.remaining)

    @property
    def answers_left(self) -> AnswersLeft:
        """How many answers at this connection's price are ``left``,
        of how many in ``total`` where nothing is spent.
        """
        return self._with_session(lambda session: session.ordinary_answers(session.remaining))

    def paid_for(self, cursor: Cursor) -> str:
        """What the cursor's answer took and what is left, such as ``this one took 1/36;
        35 of 36 answers … left``.
        """
        price = cursor.price
        return self._with_session(lambda session: session.paid_for(price))

    @property
    def epsilon(self) -> Fraction:
        """The price of each statement of this connection, in ε;
        ``SET dpsql.epsilon = 0.5`` changes it too.
        """
        return self._with_session(lambda session: session.epsilon)

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | float | None) -> None:
        def set_price(session: Session) -> None:
            session.epsilon = epsilon  # type: ignore[assignment]

        self._with_session(set_price)

    @property
    def mechanism(self) -> str:
        """The noise of this connection's statements: ``laplace``, ``gaussian``, or ``auto``;
        None sets the schema's.
        """
        return self._with_session(lambda session: session.mechanism)

    @mechanism.setter
    def mechanism(self, mechanism: str | None) -> None:
        def set_noise(session: Session) -> None:
            session.mechanism = mechanism

        self._with_session(set_noise)

    @property
    def target_error(self) -> ErrorTarget | None:
        """The error that each statement shall reach, such as ``"5 %"`` or 200;
        its price is what that takes.

        ``SET dpsql.target_error = '5 %'`` changes it too. With None, statements cost ``epsilon``.
        """
        return self._with_session(lambda session: session.target_error)

    @target_error.setter
    def target_error(self, target: ErrorTarget | str | float | None) -> None:
        def set_target(session: Session) -> None:
            session.target_error = target

        self._with_session(set_target)

    @property
    def intervals(self) -> bool:
        """Whether answers have ``x_low`` and ``x_high`` after each column ``x`` that has intervals.

        ``SET dpsql.intervals = on`` changes it too.
        """
        return self._with_session(lambda session: session.settings.intervals)

    @intervals.setter
    def intervals(self, intervals: bool) -> None:
        def set_intervals(session: Session) -> None:
            session.settings = replace(session.settings, intervals=bool(intervals))

        self._with_session(set_intervals)

    @property
    def schema(self) -> Schema:
        """The owner's schema, all of it public: tables, columns, types, keys and the budget."""
        return self._session.schema

    def explain(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        to_reach: str | None = None,
        verbose: bool = False,
    ) -> Explanation:
        """What a statement would cost and how exact it would be;
        this is free and reads no private row.

        Args:
            to_reach: A target such as ``"5 %"``, ``"± 200"`` or ``"n 200, s 5 % OF 4000"``. The
                plan that reaches it is explained, and ``reached`` has its price.
            verbose: Whether ``str()`` of it, and a notebook, say all that EXPLAIN PRIVACY does:
                engine SQL, cells and noise, too.
        """
        plain, values = bound(text, parameters)
        explanation = self._with_session(
            lambda session: session.explain(plain, values, _goal(to_reach))
        )
        return replace(explanation, verbose=verbose)

    def workload(
        self,
        statements: Sequence[str | tuple[str, Parameters]],
        *,
        delta: Fraction | float | None = None,
    ) -> Workload:
        """What each accountant would charge for these statements as one block;
        this is free and reads no private row.

        `Workload.execute` charges and answers them.

        Args:
            statements: Texts, or pairs of a text and its parameters.
            delta: The δ that an (ε, δ) price of the block may use;
                by default a tenth of the δ for key thresholds.
        """
        fixed = [
            statement if isinstance(statement, str) else bound(*statement)
            for statement in statements
        ]

        def price(session: Session) -> Workload:
            from dpsql.privacy.measure import exact

            return Workload(
                self, session.workload(fixed, None if delta is None else exact(delta, "delta"))
            )

        return self._with_session(price)

    def _run(self, workload: Priced, accountant: str | None = None) -> list[Cursor]:
        """Charge a workload of this connection as one block; a cursor for each answer."""
        results = self._with_session(lambda session: session.run(workload, accountant))
        return [Cursor.of(self, result) for result in results]

    def execute(self, text: str, parameters: Parameters = ()) -> Cursor:
        """A new cursor on which the statement was run."""
        return self.cursor().execute(text, parameters)

    def sql(self, text: str, parameters: Parameters = ()) -> QueryResult:
        """The whole answer to a statement: named rows, ``df()``, ``arrow()``, ``pl()``,
        and a table in notebooks.
        """
        cursor = self.execute(text, parameters)
        took = ""
        with suppress(LedgerError):  # the answer is there, and is not lost with what is left
            took = self.paid_for(cursor) if cursor.description else ""
        return QueryResult(cursor._answer(), took)

    @property
    def tables(self) -> QueryResult:
        """The tables that statements may name, each with its columns, and the synopses;
        this is free.
        """
        return QueryResult(table_list(self.schema, self._session.named.synopses()))

    def cursor(self) -> Cursor:
        """A new cursor on this connection; all cursors share its session."""
        self._require_open()
        return Cursor(self)

    def interrupt(self) -> None:
        """Cancel the statement that another thread runs here, which raises QueryCancelled there;
        a charge stays.
        """
        self._require_open()
        self._session.interrupt()

    def commit(self) -> None:
        """Does nothing: statements are charged before they run, and change no data."""
        self._require_open()

    def rollback(self) -> None:
        """Does nothing: a released answer cannot be unlearned, so charges stay."""
        self._require_open()

    def close(self) -> None:
        """Close the connection; a second call raises InterfaceError, as PEP 249's test suite asks.

        It does nothing in a fork of the process that opened the connection,
        as pools close what they inherit.
        """
        if self._process != os.getpid():
            return
        with self._lock:
            self._require_open()
            self._closed = True
            self._session.close()

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(InterfaceError):
            self.close()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a Connection cannot be copied or pickled; connect again")

    def _with_session(self, action: Callable[[Session], T]) -> T:
        self._require_open()
        with self._lock:
            self._require_open()
            return with_dpsql_errors(lambda: action(self._session))

    def _require_open(self) -> None:
        if self._process != os.getpid():
            raise InterfaceError(
                "this connection was opened by another process; connect again in this one"
            )
        if self._closed:
            raise InterfaceError("the connection is closed")
