"""Each window holds the budget and the caps for itself,
whatever the clock shows and however many are asking.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from clocks import SetClock, under
from places import Place, reopen
from spending import Ask, fill, other
from window_budgets import CAP, FIFTH, GAUSSIAN, MICRO, TOTAL, ask, count, laplace

from dpsql.errors import BudgetExhausted, LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated
from dpsql.privacy.accountants.composition_rule import CompositionRule
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.privacy.budget import Budget, Refresh
from dpsql.privacy.ledger import Ledger


@pytest.fixture
def clock() -> SetClock:
    return SetClock(2026, 3, 10)  # a Tuesday


@pytest.fixture
def ledger(place: Place, clock: SetClock) -> Iterator[Ledger]:
    opened = under(reopen(place), clock)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("refresh", "still", "renewed"),
    [
        ("daily", (2026, 3, 10, 23, 59, 59), (2026, 3, 11)),
        ("weekly", (2026, 3, 15, 23, 59, 59), (2026, 3, 16)),
        ("monthly", (2026, 3, 31, 23, 59, 59), (2026, 4, 1)),
        ("yearly", (2026, 12, 31, 23, 59, 59), (2027, 1, 1)),
        (None, (2026, 12, 31), (2126, 1, 1)),
    ],
)
def test_a_budget_is_renewed_when_its_window_ends(
    ledger: Ledger,
    clock: SetClock,
    refresh: Refresh | None,
    still: tuple[int, ...],
    renewed: tuple[int, ...],
) -> None:
    accountant = Accountant(ledger, TOTAL, {"ada": CAP}, refresh)
    assert (count(accountant, analyst="ada"), count(accountant)) == (2, 3)
    clock.set(*still)
    assert (count(accountant, analyst="ada"), count(accountant)) == (0, 0)
    clock.set(*renewed)
    assert (count(accountant, analyst="ada"), count(accountant)) == ((2, 3) if refresh else (0, 0))
    assert ledger.verify() == (10 if refresh else 5)


def test_a_refusal_says_when_the_budget_is_renewed(ledger: Ledger, clock: SetClock) -> None:
    accountant = Accountant(ledger, TOTAL, {"ada": CAP}, "weekly")
    count(accountant)
    with pytest.raises(BudgetExhausted, match=r"; the budget is renewed on 2026-03-16 \(UTC\)$"):
        accountant.spend(Ask(FIFTH), analyst="ada", statement="SELECT 1")
    with pytest.raises(BudgetExhausted) as refused:  # which no window would admit
        accountant.spend(Ask(laplace("0.9")), analyst="ada", statement="SELECT 1")
    assert "renewed" not in str(refused.value)
    clock.set(9999, 12, 31)
    count(accountant)
    with pytest.raises(BudgetExhausted) as refused:
        accountant.spend(Ask(FIFTH), analyst="bob", statement="SELECT 1")
    assert "renewed" not in str(refused.value)


def test_a_clock_that_is_set_back_opens_no_window_again(
    ledger: Ledger, clock: SetClock, place: Place
) -> None:
    accountant = Accountant(ledger, TOTAL, {}, "daily")
    assert count(accountant) == 5
    clock.set(2026, 3, 11)
    assert count(accountant, laplace("0.5")) == 2
    for moment in ((2026, 3, 10, 12), (2026, 3, 9), (1970, 1, 1)):
        clock.set(*moment)
        assert not ask(accountant) and str(accountant.remaining().window) == "2026-03-11"
        beside = Accountant(under(reopen(place), clock), TOTAL, {}, "daily")
        assert not ask(beside) and beside.remaining().epsilon == 0


def test_a_clock_that_is_ahead_opens_its_window_once(ledger: Ledger, clock: SetClock) -> None:
    """What it gives early it takes back: nothing is renewed until the calendar has caught up."""
    accountant = Accountant(ledger, TOTAL, {}, "daily")
    assert count(accountant) == 5
    clock.set(2099, 1, 1)
    assert count(accountant) == 5
    for moment in ((2026, 3, 11), (2026, 3, 12), (2050, 1, 1), (2099, 1, 1, 23)):
        clock.set(*moment)
        assert not ask(accountant)
    assert accountant.remaining().lifetime.windows == ledger.verify() == 10  # not 26,000 days
    clock.set(2099, 1, 2)
    assert count(accountant) == 5


def test_who_only_looks_opens_no_window(ledger: Ledger, clock: SetClock) -> None:
    accountant = Accountant(ledger, TOTAL, {}, "daily")
    assert count(accountant) == 5
    clock.set(2026, 3, 20)
    assert accountant.remaining().epsilon == 1
    clock.set(2026, 3, 10)
    assert accountant.remaining().epsilon == 0 and not ask(accountant)


@pytest.mark.parametrize(
    ("rule", "price"),
    [
        (Basic(), "0.2"),
        (Concentrated(), "0.1"),
        (Renyi(), "0.1"),
        (AdvancedComposition(40, Fraction(1, 50)), "0.02"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_every_rule_begins_anew_with_a_window(
    ledger: Ledger, clock: SetClock, place: Place, rule: CompositionRule, price: str
) -> None:
    total, cap = Budget(Fraction(1), MICRO, rule=rule), Budget(Fraction(3, 5), MICRO, rule=rule)
    accountant, passed = Accountant(ledger, total, {"ada": cap}, "daily"), []
    for day in (10, 11, 9, 12):
        clock.set(2026, 3, day)
        fresh = Accountant(under(reopen(place), clock), total, {"ada": cap}, "daily")
        assert fresh.remaining("ada").standings == accountant.remaining("ada").standings
        forecast = (
            fresh.remaining("ada").affordable(laplace(price)),
            fresh.remaining().affordable(laplace(price)),
        )
        passed.append((count(accountant, laplace(price), "ada"), count(fresh, laplace(price))))
        assert forecast == (passed[-1][0], sum(passed[-1]))
    assert passed[1] == passed[3] == passed[0] and passed[2] == (0, 0) and all(passed[0])
    assert fresh.remaining("ada").standings == accountant.remaining("ada").standings


def test_a_window_after_gaussian_noise_has_an_epsilon_again(
    ledger: Ledger, clock: SetClock, place: Place
) -> None:
    """The totals say ∞ ever since: what was spent of ε is added up from the window's own
    entries.
    """
    accountant = Accountant(ledger, TOTAL, {"ada": CAP}, "daily")
    assert (
        ask(accountant, GAUSSIAN)
        and ask(accountant, GAUSSIAN, "ada")
        and not ask(accountant, laplace("0.3"))
    )
    clock.set(2026, 3, 11)
    assert ask(accountant) and ask(accountant, analyst="ada") and ask(accountant)
    beside = Accountant(under(reopen(place), clock), TOTAL, {"ada": CAP}, "daily")
    for each in (accountant, beside):
        total, own = each.remaining("ada").standings
        assert (total.spent.epsilon, own.spent.epsilon) == (Fraction("0.6"), Fraction("0.2"))
    assert (count(beside, analyst="ada"), count(accountant)) == (1, 1)
    assert not ask(beside, GAUSSIAN)
    clock.set(2026, 3, 12)
    assert ask(beside, GAUSSIAN) and ask(accountant, laplace("0.1"), "ada")
    total, own = accountant.remaining("ada").standings
    assert (total.spent.epsilon, own.spent.epsilon) == (None, Fraction("0.1"))


def test_the_lifetime_counts_windows_and_what_was_spent_in_all(
    ledger: Ledger, clock: SetClock
) -> None:
    accountant = Accountant(ledger, Budget(Fraction(1)), {}, "weekly")
    said = []
    for moment in ((2026, 3, 10), (2026, 3, 15), (2026, 3, 16), (2026, 4, 6), (2026, 4, 5)):
        clock.set(*moment)
        lifetime = accountant.remaining().lifetime
        said.append((lifetime.windows, lifetime.epsilon, lifetime.spent.epsilon))
        ask(accountant, laplace("0.5"))
    assert said == [(1, 1, 0), (1, 1, Fraction(1, 2)), (2, 2, 1), (4, 4, Fraction(3, 2)), (4, 4, 2)]
    assert accountant.remaining().lifetime.spent == ledger.totals()[0]


def test_another_refresh_counts_the_same_lines_by_its_own_windows(
    ledger: Ledger, clock: SetClock
) -> None:
    for day in (9, 10, 11):
        clock.set(2026, 3, day)
        assert ask(Accountant(ledger, TOTAL, {}, "daily"), laplace("0.4"))
    spent = {
        refresh: Accountant(ledger, TOTAL, {}, refresh).remaining().standings[0].spent.epsilon
        for refresh in ("daily", "weekly", None)
    }
    assert spent == {"daily": Fraction("0.4"), "weekly": Fraction("1.2"), None: Fraction("1.2")}
    assert not ask(Accountant(ledger, TOTAL, {}, "weekly"), laplace("0.4"))
    lowered = Accountant(ledger, Budget(Fraction(3, 10)), {}, "daily")
    assert not ask(lowered, laplace("0.1")) and lowered.remaining().epsilon == 0
    assert lowered.remaining().lifetime.epsilon == Fraction(
        "1.2"
    )  # more than the 0.9 of three such windows


def test_a_window_that_began_many_entries_ago_is_found(
    ledger: Ledger, clock: SetClock, monkeypatch: object
) -> None:
    from dpsql.privacy.ledger import entries as pages_module

    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    monkeypatch.setattr(pages_module, "_BACK", pages_module._BACK.replace("5000", "3"))
    fill(ledger, 7)
    clock.set(2026, 3, 11)
    for number in range(1, 9):
        fill(ledger, 1)
        fresh = Accountant(ledger, Budget(Fraction(9)), {}, "daily")
        ledger._sums.__init__()  # type: ignore[misc]
        assert fresh.remaining().standings[0].spent.epsilon == Fraction(number, 10)


def test_what_was_remembered_of_a_window_is_not_of_another_ledger(
    ledger: Ledger, clock: SetClock, place: Place
) -> None:
    accountant = Accountant(ledger, TOTAL, {}, "daily")
    assert ask(accountant)
    clock.set(2026, 3, 11)
    assert ask(accountant)
    place.tamper("DELETE FROM entries WHERE seq = 2")
    with pytest.raises(LedgerError):
        ask(accountant)


def test_processes_that_race_get_exactly_what_each_window_affords(place: Place, path: Path) -> None:
    """Six processes, of which two have clocks that stand still, over three days."""
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (10, 11, 12)]
    shown = path.with_name("shown")
    code = f"""
    from datetime import datetime
    mine, stands = accountant(1), sys.stdin.readline() == "still\\n"
    mine = Accountant(mine.ledger, Budget(Fraction(2)), {{}}, "daily")
    mine.ledger._clock = lambda tables: datetime.fromisoformat({days[0].isoformat()!r} if stands else Path({str(shown)!r}).read_text())
    while sys.stdin.readline():
        passed = 0
        try:
            while True:
                spend(mine)
                passed += 1
        except BudgetExhausted:
            print(passed, flush=True)
    """  # noqa: E501
    processes = [other(place, code) for _ in range(6)]
    for number, process in enumerate(processes):
        assert process.stdin is not None
        process.stdin.write("still\n" if number < 2 else "runs\n")
    passed = []
    for day in days:
        shown.write_text(day.isoformat())
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        passed.append(
            sum(
                int(process.stdout.readline())
                for process in processes
                if process.stdout is not None
            )
        )
    for process in processes:
        process.communicate(timeout=60)
    assert passed == [20, 20, 20]
    times = [entry.moment for entry in reopen(place).history()]
    assert times == [day for day in days for _ in range(20)] and reopen(place).verify() == 60


@pytest.mark.parametrize("rule", [Renyi(), AdvancedComposition(40, Fraction(1, 5))])
def test_a_smaller_budget_of_a_rule_with_its_own_sum_does_not_shrink_what_was_spent(
    ledger: Ledger, rule: CompositionRule
) -> None:
    def lifetime(epsilon: int) -> Fraction | None:
        return (
            Accountant(ledger, Budget(Fraction(epsilon), MICRO, rule=rule), {})
            .remaining()
            .lifetime.epsilon
        )

    large = Accountant(ledger, Budget(Fraction(8), MICRO, rule=rule), {})
    assert all(ask(large) for _ in range(40)) and lifetime(8) == 8
    assert (lifetime(1) or 0) > 4
