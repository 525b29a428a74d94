"""Windows under clocks that jump, against a list of what was admitted that knows nothing of
them.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from clocks import SetClock, under
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from window_budgets import CAP, MICRO, TOTAL, ask, laplace

from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget, Refresh, Window
from dpsql.privacy.filter import admits
from dpsql.privacy.ledger import Ledger, LedgerIdentity
from dpsql.privacy.measure import FREE, Cost

#: The calendar's own names of windows: the model knows nothing of `Window`.
NAMES = {"daily": "%Y-%m-%d", "weekly": "%G-%V", "monthly": "%Y-%m", "yearly": "%Y"}


costs = st.one_of(
    st.sampled_from(["0.05", "0.1", "0.3"]).map(laplace),
    st.sampled_from([Fraction(1, 400), Fraction(1, 200)]).map(lambda rho: Cost(None, rho)),
    st.just(Cost(Fraction(1, 10), Fraction(1, 200), MICRO / 50)),
)


jumps = st.sampled_from([0, 0, 1, 5, 24, 24, 100, 800, 9_000, 10**9, -1, -30, -1_000, -(10**9)])


class Windows(RuleBasedStateMachine):
    """Two processes whose clocks jump for themselves, and connections that come and go.

    The model is a list of what was admitted, by the calendar's names of windows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clocks = [SetClock(2026, 3, 10), SetClock(2026, 3, 10)]
        self.paid: list[tuple[str, str, Cost]] = []
        self.newest = datetime.min.replace(tzinfo=UTC)
        self.accountants: list[Accountant] = []

    @initialize(refresh=st.sampled_from(sorted(NAMES)))
    def begin(self, refresh: Refresh) -> None:
        self.refresh = refresh
        self.accountants = [self.opened(clock) for clock in self.clocks]

    def opened(self, clock: SetClock) -> Accountant:
        ledger = Ledger.open(
            Path(self.folder.name) / "l", LedgerIdentity("d", "p.id", "add-remove")
        )
        return Accountant(under(ledger, clock), TOTAL, {"ada": CAP}, self.refresh)

    def window(self, which: int) -> str:
        return max(self.clocks[which].moment, self.newest).strftime(NAMES[self.refresh])

    def spent(self, window: str | None, *analysts: str) -> Cost:
        paid = [cost for when, who, cost in self.paid if who in analysts and window in (None, when)]
        return sum(paid, FREE)

    @rule(which=st.integers(0, 1), hours=jumps)
    def jump(self, which: int, hours: int) -> None:
        self.clocks[which].move(timedelta(hours=hours))

    @rule(which=st.integers(0, 1), analyst=st.sampled_from(["ada", "bob"]), cost=costs)
    def ask(self, which: int, analyst: str, cost: Cost) -> None:
        cost, window = cost.rounded_up(), self.window(which)
        fits = admits(TOTAL, self.spent(window, "ada", "bob"), cost)
        fits = fits and (analyst == "bob" or admits(CAP, self.spent(window, "ada"), cost))
        assert ask(self.accountants[which], cost, analyst) == fits
        if fits:
            self.newest = max(self.newest, self.clocks[which].moment)
            self.paid.append((window, analyst, cost))

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.accountants[which].ledger.close()
        self.accountants[which] = self.opened(self.clocks[which])

    @invariant()
    def what_is_said_is_what_was_paid(self) -> None:
        for which, accountant in enumerate(self.accountants):
            remaining = accountant.remaining("ada")
            total, own = remaining.standings
            window = self.window(which)
            assert (total.spent, own.spent) == (
                self.spent(window, "ada", "bob"),
                self.spent(window, "ada"),
            )
            assert remaining.lifetime.spent == self.spent(None, "ada", "bob")
            begun = len({when for when, _, _ in self.paid} | {window})
            assert begun <= remaining.lifetime.windows <= len(self.paid) + 1
            assert remaining.window is not None and remaining.window == Window.at(
                max(self.clocks[which].moment, self.newest), self.refresh
            )

    def teardown(self) -> None:
        for accountant in self.accountants:
            assert accountant.ledger.verify() == len(self.paid)
            accountant.ledger.close()
        self.folder.cleanup()


Windows.TestCase.settings = settings(max_examples=40, stateful_step_count=30)


TestWindows = Windows.TestCase


@settings(max_examples=30)
@given(st.lists(st.tuples(jumps, costs, st.sampled_from(["ada", "bob"])), max_size=30))
def test_sums_are_those_of_the_entries(asked: list[tuple[int, Cost, str]]) -> None:
    """What is subtracted from totals is what adding up every entry of the window gives."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SetClock(2026, 3, 10)
        ledger = under(
            Ledger.open(Path(folder) / "l", LedgerIdentity("d", "p.id", "add-remove")), clock
        )
        accountant = Accountant(
            ledger, Budget(Fraction(1000), Fraction(1, 2)), {"ada": TOTAL}, "daily"
        )
        for hours, cost, analyst in asked:
            clock.move(timedelta(hours=hours))
            ask(accountant, cost, analyst)
        remaining, entries = accountant.remaining("ada"), list(ledger.history())
        start = None if remaining.window is None else remaining.window.start
        total, own = remaining.standings
        inside = [entry for entry in entries if start is not None and entry.moment >= start]
        assert total.spent == sum((entry.cost for entry in inside), FREE)
        assert own.spent == sum((entry.cost for entry in inside if entry.analyst == "ada"), FREE)
        ledger.close()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["1/4", "1", "3"]),
            st.sampled_from(["1/8", "1/4", "1"]),
        ),
        min_size=1,
        max_size=8,
    )
)
@example([(0, "3", "1"), (1, "1", "1/8")])
def test_a_lifetime_is_not_less_than_what_a_window_ends_with(
    steps: list[tuple[int, str, str]],
) -> None:
    """Whatever budgets the schema had: the figure is of all that is there,
    and of all that the window may still add.
    """
    clock = SetClock(2026, 3, 10)
    with tempfile.TemporaryDirectory() as folder:
        ledger = under(
            Ledger.open(Path(folder) / "l.ledger", LedgerIdentity("d", "p.id", "add-remove")), clock
        )
        said, spent = Fraction(0), Fraction(0)
        for days, epsilon, price in steps:
            clock.move(timedelta(days=days))
            accountant = Accountant(ledger, Budget(Fraction(epsilon)), {}, "daily")
            said = max(accountant.remaining().lifetime.epsilon or Fraction(0), 0 if days else said)
            while ask(accountant, laplace(price)):
                spent += Fraction(price)
            assert spent <= said
        ledger.close()
