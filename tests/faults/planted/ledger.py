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
        ";\n    LOCK TABLE head IN EXCLUSIVE MODE\n",
        "\n",
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
)
