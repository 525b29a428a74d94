"""What is written is read back, and what is refused leaves no trace."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spending import TENTH, admit, fill

from dpsql.errors import BudgetExhausted
from dpsql.privacy.ledger import Ledger, NewEntry, Spent
from dpsql.privacy.ledger import entries as pages_module
from dpsql.privacy.measure import FREE, Cost


def test_what_is_written_is_read_back(ledger: Ledger) -> None:
    strange = "SELECT 'ünï\x00\ud800' -- \u200b"
    assert ledger.append(NewEntry("ada", strange, '{"cells": 1}', TENTH), admit) == 1
    assert (
        ledger.append(NewEntry("b\udcffb", "SELECT 2", "", Cost(None, Fraction(1, 3))), admit) == 2
    )
    first, second = ledger.history()
    assert first.statement == "SELECT 'ünï\\x00\\ud800' -- \u200b" and first.cells == '{"cells": 1}'
    assert first.at.endswith("+00:00") and first.cost == first.total == first.own == TENTH
    assert second.total == Cost(None, Fraction(1, 200) + Fraction(1, 3), TENTH.delta)
    assert second.own == Cost(None, Fraction(1, 3)) and second.previous == first.digest
    assert ledger.totals("b\udcffb") == (second.total, second.own)
    assert ledger.totals("nobody") == (second.total, FREE)
    assert [entry.seq for entry in ledger.history("ada")] == [1]


def test_history_is_read_page_by_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages_module, "_AFTER", pages_module._AFTER.replace("500", "3"))
    fill(ledger, 10)
    assert [entry.seq for entry in ledger.history()] == list(range(1, 11))


def test_decisions_see_all_that_was_spent(ledger: Ledger) -> None:
    fill(ledger, 2), fill(ledger, 1, "bob")
    seen: list[tuple[Cost, Cost]] = []
    ledger.append(
        NewEntry("bob", "SELECT 1", "", TENTH), lambda spent: seen.append((spent.total, spent.own))
    )
    assert seen == [(TENTH + TENTH + TENTH, TENTH)]


def test_what_is_refused_leaves_no_trace(ledger: Ledger) -> None:
    def refuse(spent: Spent) -> None:
        raise BudgetExhausted("no")

    with pytest.raises(BudgetExhausted):
        ledger.append(NewEntry("ada", "SELECT 1", "", TENTH), refuse)
    assert ledger.verify() == 0 and list(ledger.history()) == []
