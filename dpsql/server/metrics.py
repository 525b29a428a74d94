"""Metrics for Prometheus on a port of their own, for the owner alone: some depend on the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

from dpsql.errors import Error, InterfaceError
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.server.message_loop import StatementObserver

try:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
except ImportError:
    raise InterfaceError(
        'metrics need the library prometheus_client: pip install "dpsql[metrics]"'
    ) from None

#: Seconds up to which statements are counted.
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)
#: What a failed login is told, and what failed although the statement was in order.
_LOGINS = ("28P01", "28000")
_FAILURES = ("XX000", "58030", "53200")


class Metrics(StatementObserver):
    """Counts statements and serves the metrics at /metrics on ``host`` and ``port`` inside a
    ``with`` block.
    """

    def __init__(self, host: str, port: int) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        self._statements = counter(
            "dpsql_statements", "Statements that ended, by SQLSTATE.", ["sqlstate"]
        )
        self._refusals = counter(
            "dpsql_refusals", "Statements that were refused, by dpsql's code.", ["code"]
        )
        self._failures = counter(
            "dpsql_failures", "Statements that failed though they were in order."
        )
        self._charges = counter("dpsql_charges", "Statements that were charged.")
        self._epsilon = counter("dpsql_charged_epsilon", "The sum of their prices.")
        self._refused = counter(
            "dpsql_refused_connections", "Connections that were refused, by SQLSTATE.", ["sqlstate"]
        )
        self._logins = counter("dpsql_failed_logins", "Logins that failed.")
        self._seconds = Histogram(
            "dpsql_statement_seconds",
            "How long statements took.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._connected = gauge("dpsql_connections", "Connections that are logged in.")
        self._share = gauge(
            "dpsql_budget_left_share", "What is left of the whole budget, from 0 to 1."
        )
        self._answers = gauge(
            "dpsql_budget_left_answers", "Answers at the schema's price that are left."
        )
        self._of_answers = gauge(
            "dpsql_budget_answers", "Answers at the schema's price in the whole budget."
        )
        self._left = gauge("dpsql_budget_left_epsilon", "What is left of epsilon.")
        self._total = gauge("dpsql_budget_epsilon", "The epsilon of the whole budget.")
        try:
            self._http, self._thread = start_http_server(port, host, self._registry)
        except (OSError, OverflowError):
            raise InterfaceError(f"{host}:{port} cannot be listened on for metrics") from None
        #: Where the figures are served, also where 0 was asked for.
        self.port = self._http.server_port

    def begin(
        self,
        connected: Callable[[], int],
        remaining: Callable[[], RemainingBudget],
        answers: Callable[[], AnswersLeft],
    ) -> None:
        """Ask for all of them at each scrape;
        the budget is left out while the ledger cannot be read.
        """

        def or_nan(figure: Callable[[], float]) -> Callable[[], float]:
            def asked() -> float:
                try:
                    return figure()
                except Error:  # the ledger cannot be read at the moment
                    return float("nan")

            return asked

        self._connected.set_function(connected)
        self._share.set_function(or_nan(lambda: float(remaining().share)))
        self._answers.set_function(or_nan(lambda: answers().left))
        self._of_answers.set_function(or_nan(lambda: answers().total))
        self._left.set_function(or_nan(lambda: float(remaining().epsilon)))
        self._total.set_function(or_nan(lambda: float(remaining().budget.epsilon)))

    def refused(self, sqlstate: str) -> None:
        """Count a refused connection, and a failed login if it is one."""
        self._refused.labels(sqlstate).inc()
        if sqlstate in _LOGINS:
            self._logins.inc()

    def statement(self, sqlstate: str, code: str, seconds: float) -> None:
        """Count a statement, how long it took, and its refusal or failure."""
        self._statements.labels(sqlstate).inc()
        self._seconds.observe(seconds)
        if code:
            self._refusals.labels(code).inc()
        if sqlstate in _FAILURES:
            self._failures.inc()

    def charged(self, epsilon: float) -> None:
        """Count a charge, and its price."""
        self._charges.inc()
        self._epsilon.inc(epsilon)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
