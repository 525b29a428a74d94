"""The ledger: what was charged stays, in order, on the disk."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import ANSWERS, LEDGER

FAULTS = (
    Fault(
        "a damaged answer is given",
        "dpsql/privacy/ledger/kept.py",
        "    whole = isinstance(answer, bytes) and digest == _digest(start, key, entry, paid, answer)",
        "    whole = isinstance(answer, bytes)",
        (f"{ANSWERS}::test_a_damaged_answer_counts_as_none_and_is_paid_for",),
    ),
    Fault(
        "a ledger on a server has two writers",
        "dpsql/privacy/ledger/server.py",
        ";\n    LOCK TABLE head IN EXCLUSIVE MODE;\n",
        ";\n",
        (f"{LEDGER}_races.py::test_nobody_decides_before_who_decided_first_has_written",),
    ),
    Fault(
        "a charge on a server sees the ledger as it was before its turn",
        "dpsql/privacy/ledger/server.py",
        '"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"',
        '"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"',
        (f"{LEDGER}_races.py::test_nobody_decides_before_who_decided_first_has_written",),
    ),
    Fault(
        "a charge on a server does not wait for the disk",
        "dpsql/privacy/ledger/server.py",
        "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')",
        "WHERE false",
        (f"{LEDGER}_server.py::test_a_charge_waits_for_the_disk_whatever_the_server_is_set_to",),
    ),
    Fault(
        "tables elsewhere are taken for the ledger",
        "dpsql/privacy/ledger/server.py",
        """f'SET LOCAL search_path TO "{self._namespace}", pg_temp'""",
        """f'SET LOCAL search_path TO public, "{self._namespace}"'""",
        (f"{LEDGER}_server.py::test_tables_of_the_same_names_elsewhere_are_not_taken_for_the_ledger",),
    ),
    Fault(
        "a charge in a file does not wait for the disk",
        "dpsql/privacy/ledger/file.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        (f"{LEDGER}_file.py::test_a_ledger_is_durable_by_its_settings",),
    ),
    Fault(
        "a fork shares the connection of its ledger",
        "dpsql/privacy/ledger/forks.py",
        "        store.disconnect()\n",
        "",
        (f"{LEDGER}_races.py::test_a_fork_in_the_midst_of_threads_neither_hangs_nor_loses",),
    ),
    Fault(
        "what was charged is not added to what is spent",
        "dpsql/privacy/ledger/entry.py",
        "total=(FREE if last is None else last.total) + line.cost",
        "total=(FREE if last is None else last.total)",
        (f"{LEDGER}_races.py::test_sixteen_threads_get_exactly_what_is_left",),
    ),
    Fault(
        "an entry that follows none is believed",
        "dpsql/privacy/ledger/entry.py",
        "chained = self.seq == seq + 1 and self.previous == previous",
        "chained = self.seq == seq + 1",
        (f"{LEDGER}_damage.py::test_an_exchanged_line_shows_though_each_hash_is_right",),
    ),
    Fault(
        "a window goes back with the clock",
        "dpsql/privacy/ledger/journal.py",
        "now = max(now, last.moment)",
        "now = now",
        (f"{LEDGER}_windows.py::test_a_clock_that_is_set_back_opens_no_window_again[file]",),
    ),
    Fault(
        "the sum of a window lacks its first entry",
        "dpsql/privacy/ledger/pages.py",
        "if moment(at, seq) < start:",
        "if moment(at, seq) <= start:",
        (f"{LEDGER}_windows.py::test_a_budget_is_renewed_when_its_window_ends",),
    ),
    Fault(
        "a cap is not renewed with the budget",
        "dpsql/privacy/accountant.py",
        "Standing(analyst, cap, spent.own, ",
        "Standing(analyst, cap, spent.ever_own, ",
        (f"{LEDGER}_windows.py::test_a_budget_is_renewed_when_its_window_ends",),
    ),
    Fault(
        "a cap counts what the analyst spent since yesterday",
        "dpsql/privacy/ledger/spent.py",
        "FREE if before is None else newest_of(tables, analyst, before.seq)",
        "newest_of(tables, analyst, last.seq)",
        (f"{LEDGER}_windows.py::test_a_budget_is_renewed_when_its_window_ends",),
    ),
    Fault(
        "what Gaussian noise hides of a window is taken for nothing",
        "dpsql/privacy/ledger/spent.py",
        "pure = None if before.epsilon is not None else self._added(tables, last, analyst)",
        "pure = None if before.epsilon is not None else Fraction(0)",
        (f"{LEDGER}_windows.py::test_a_window_after_gaussian_noise_has_an_epsilon_again[file]",),
    ),
    Fault(
        "what was read of one window is kept for the next",
        "dpsql/privacy/ledger/spent.py",
        "self._start, self._owns, self._pure = start, {}, {}",
        "self._start = start",
        (f"{LEDGER}_windows.py::test_a_window_after_gaussian_noise_has_an_epsilon_again[file]",),
    ),
    Fault(
        "a lifetime is said to be one window",
        "dpsql/privacy/window.py",
        "promised, spent = self.budget.epsilon * self.windows, self.spent.epsilon",
        "promised, spent = self.budget.epsilon, self.spent.epsilon",
        ("tests/privacy/test_window.py::test_less_than_is_said_would_be_too_little",),
    ),
    Fault(
        "a lifetime forgets windows that spent their epsilon",
        "dpsql/privacy/window.py",
        "return max(self.budget.rho_total, self.budget.epsilon**2 / 2)",
        "return self.budget.rho_total",
        ("tests/privacy/test_window.py::test_windows_that_are_used_up_lose_no_more_than_is_said",),
    ),
    Fault(
        "the time of a charge is that at which it began to wait",
        "dpsql/privacy/ledger/server.py",
        "clock_timestamp()",
        "transaction_timestamp()",
        (f"{LEDGER}_clock.py::test_the_time_of_the_server_is_read_after_its_turn_has_come",),
    ),
    Fault(
        "a server waits for ever for a process that stopped in a charge",
        "dpsql/privacy/ledger/server.py",
        "            self._pipeline.sync()\n",
        "            pass\n",
        (f"{LEDGER}_server.py::test_a_process_that_stops_in_the_midst_of_a_charge_is_ended",),
    ),
    Fault(
        "a rule's own sum is not renewed with the budget",
        "dpsql/privacy/ledger/tally.py",
        "            self._sums = dict.fromkeys(self._weights, Fraction(0))\n\n    def _is_over",
        "\n    def _is_over",
        (f"{LEDGER}_windows.py::test_every_rule_begins_anew_with_a_window[file-rdp-0.1]",),
    ),
)
