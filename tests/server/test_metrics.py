"""The owner's figures: what they count, where they are served,
and what is said where the library is missing.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from wire_client import PASSWORD, Client, eventually

from dpsql.errors import InterfaceError, LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.server.authentication.login import LoginPolicy
from dpsql.server.listener import Server
from dpsql.server.metrics import Metrics


def scraped(metrics: Metrics) -> dict[str, float]:
    """The figures by their names, with labels."""
    with urlopen(f"http://127.0.0.1:{metrics.port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }


def test_what_is_served_is_what_happened(
    serve: Callable[..., Server], users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Metrics("127.0.0.1", 0) as metrics:
        server = serve(policy=LoginPolicy(users=users), observer=metrics)
        with Client(server.port) as stranger:
            stranger.log_in("ada", "wrong")
        with Client(server.port) as client:
            client.log_in("ada", PASSWORD)
            client.query("SET dpsql.epsilon = 0.5")
            for text in (
                "SELECT COUNT(*) FROM visits",
                "SELECT COUNT(*) FROM visits",
                "SELECT name FROM patients",
            ):
                client.query(text)
            monkeypatch.setattr("dpsql.session.Session.answer", lambda *_: 1 / 0)
            client.query("SELECT COUNT(*) FROM patients")
            assert eventually(lambda: scraped(metrics)["dpsql_statement_seconds_count"] == 5)
            told = scraped(metrics)
            assert told["dpsql_connections"] == 1
        assert eventually(lambda: scraped(metrics)["dpsql_connections"] == 0)
        assert told['dpsql_statements_total{sqlstate="00000"}'] == 3
        assert (
            told['dpsql_statements_total{sqlstate="42501"}']
            == told['dpsql_refusals_total{code="E_RAW"}']
            == 1
        )
        assert told['dpsql_statements_total{sqlstate="XX000"}'] == told["dpsql_failures_total"] == 1
        assert (told["dpsql_charges_total"], told["dpsql_charged_epsilon_total"]) == (1, 0.5)
        assert (
            told['dpsql_refused_connections_total{sqlstate="28P01"}']
            == told["dpsql_failed_logins_total"]
            == 1
        )
        left = server.database.accountant.remaining()
        assert told["dpsql_budget_epsilon"] == float(left.budget.epsilon)
        assert (
            told["dpsql_budget_left_epsilon"] == float(left.epsilon) < told["dpsql_budget_epsilon"]
        )
        assert told["dpsql_budget_left_share"] == float(left.share)
        answers = server.database.answers_left()
        assert (
            told["dpsql_budget_left_answers"]
            == answers.left
            <= told["dpsql_budget_answers"]
            == answers.total
        )


def test_a_ledger_that_cannot_be_read_leaves_the_other_figures(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise LedgerError("gone")

    with Metrics("127.0.0.1", 0) as metrics:
        serve(observer=metrics)
        monkeypatch.setattr(Accountant, "spent", fail)
        told = scraped(metrics)
    assert (
        told["dpsql_budget_left_epsilon"] != told["dpsql_budget_left_epsilon"]
        and told["dpsql_connections"] == 0
    )


def test_it_ends_and_a_port_that_is_taken_is_said() -> None:
    with (
        Metrics("127.0.0.1", 0) as metrics,
        pytest.raises(InterfaceError, match="cannot be listened on for metrics"),
    ):
        Metrics("127.0.0.1", metrics.port)
    with pytest.raises(URLError):
        scraped(metrics)


def test_without_the_library_the_extra_is_named() -> None:
    program = "import sys; sys.modules['prometheus_client'] = None\nimport dpsql.server.listener, dpsql.server.metrics"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert (
        'InterfaceError: metrics need the library prometheus_client: pip install "dpsql[metrics]"'
        in said
    )
