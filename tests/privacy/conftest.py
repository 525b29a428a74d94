"""Accountants over a ledger of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import Ledger, LedgerIdentity


@pytest.fixture
def open_accountant(tmp_path: Path) -> Iterator[Callable[..., Accountant]]:
    """Opens accountants of a budget, and of caps by the analysts' names;
    each on a connection of its own.
    """
    ledgers: list[Ledger] = []

    def open_one(budget: Budget, **caps: Budget) -> Accountant:
        ledgers.append(
            Ledger.open(tmp_path / "data.ledger", LedgerIdentity("d", "p.id", "add-remove"))
        )
        return Accountant(ledgers[-1], budget, caps)

    yield open_one
    for ledger in ledgers:
        ledger.close()
