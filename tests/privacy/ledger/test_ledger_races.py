"""Threads, processes, forks and kills: exactly what is affordable passes,
and what was released was paid for.
"""

from __future__ import annotations

import signal
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest
from forks import exit_code_of_fork
from places import FilePlace, Place, reopen
from spending import TENTH, Ask, admit, fill, other

from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import Ledger, NewEntry, Spent
from dpsql.privacy.measure import Cost


def test_nobody_decides_before_who_decided_first_has_written(place: Place) -> None:
    first, second = reopen(place), reopen(place)
    seen: list[Cost] = []

    def look(spent: Spent) -> None:
        seen.append(spent.total)

    waiting = threading.Thread(
        target=lambda: second.append(NewEntry("bob", "SELECT 2", "", TENTH), look)
    )

    def decide(spent: Spent) -> None:
        waiting.start()
        time.sleep(0.5)
        assert not seen

    first.append(NewEntry("ada", "SELECT 1", "", TENTH), decide)
    waiting.join()
    assert seen == [TENTH] and first.verify() == 2


def test_sixteen_threads_get_exactly_what_is_left(place: Place) -> None:
    shared = reopen(place)
    accountants = [
        Accountant(shared if n % 2 else reopen(place), Budget(Fraction(2), Fraction(1, 10**6)))
        for n in range(16)
    ]
    start, passed = threading.Barrier(16), []

    def run(accountant: Accountant) -> None:
        start.wait()
        for _ in range(3):
            try:
                passed.append(accountant.spend(Ask(), analyst="ada", statement="SELECT 1").entry)
            except BudgetExhausted:
                return

    threads = [threading.Thread(target=run, args=(accountant,)) for accountant in accountants]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(passed) == list(range(1, 21))
    assert shared.verify() == 20


def test_four_processes_get_exactly_what_is_left(place: Place, path: Path) -> None:
    """They also race to create the ledger."""
    go = path.with_name("go")
    code = f"""
    while not Path({str(go)!r}).exists():
        time.sleep(0.001)
    mine, passed = accountant(2), 0
    try:
        while True:
            spend(mine)
            passed += 1
    except BudgetExhausted:
        print(passed)
    """
    processes = [other(place, code) for _ in range(4)]
    time.sleep(0.5)
    go.touch()
    passed = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(passed) == 20 and [process.returncode for process in processes] == [0] * 4
    assert reopen(place).verify() == 20


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.07])
def test_a_killed_process_has_paid_for_all_that_it_released(place: Place, moment: float) -> None:
    process = other(
        place,
        """
        mine = accountant(10 ** 6)
        while True:
            spend(mine)
            print("released", flush=True)
        """,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "released\n"
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    released = 1 + process.stdout.read().count("released\n")
    process.wait()
    assert released <= reopen(place).verify() <= released + 1


def test_a_fork_in_the_midst_of_threads_neither_hangs_nor_loses(ledger: Ledger) -> None:
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            ledger.append(NewEntry("ada", "SELECT 1", "", TENTH), admit)
            time.sleep(0.002)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    try:
        for _ in range(5):
            assert exit_code_of_fork(lambda: (signal.alarm(20), fill(ledger, 2, "child"))) == 0
    finally:
        stop.set()
        thread.join()
    assert len(list(ledger.history("child"))) == 10
    assert ledger.verify() == len(list(ledger.history()))


def test_thousands_of_attempts_for_what_is_left_get_exactly_that(place: Place, path: Path) -> None:
    """Eight processes, and a ninth with sixteen threads: all others are refused,
    and nothing of them is written.

    A file is asked five thousand times. A server, whose turn is one lock of its own,
    is asked two thousand times.
    """
    go, affordable, threads, each = (
        path.with_name("go"),
        300,
        16,
        209 if isinstance(place, FilePlace) else 84,
    )
    code = f"""
    mine, passed, refused = accountant({affordable // 10}), 0, 0
    print("ready", flush=True)
    while not Path({str(go)!r}).exists():
        time.sleep(0.001)
    for _ in range({each}):
        try:
            spend(mine)
            passed += 1
        except BudgetExhausted:
            refused += 1
    print(passed, refused)
    """
    processes = [other(place, code) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    shared = Accountant(reopen(place), Budget(Fraction(affordable, 10)))
    outcomes: list[bool] = []

    def run() -> None:
        for _ in range(each):
            try:
                shared.spend(
                    Ask(Cost(Fraction(1, 10), Fraction(1, 200))),
                    analyst="bob",
                    statement="SELECT 1",
                )
                outcomes.append(True)
            except BudgetExhausted:
                outcomes.append(False)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    go.touch()
    for worker in workers:
        worker.start()
    told = [
        [int(each) for each in process.communicate(timeout=300)[0].split()] for process in processes
    ]
    for worker in workers:
        worker.join()
    passed, refused = (sum(part) for part in zip(*told, strict=True))
    assert passed + outcomes.count(True) == affordable == shared.ledger.verify()
    assert passed + refused + len(outcomes) == (8 + threads) * each >= 2_000
    assert shared.remaining().epsilon == 0
