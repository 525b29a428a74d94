"""The ledger keeps what was written, through races, crashes and forks, and refuses what is not whole."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import BudgetExhausted, LedgerError
from dpsql.privacy.accountant import Accountant, Budget
from dpsql.privacy.ledger import Ledger, Line, ledger_path
from dpsql.privacy.ledger import journal as journal_module
from dpsql.privacy.measure import FREE, Cost

TENTH = Cost(Fraction(1, 10), Fraction(1, 200), Fraction(1, 10**9))

#: What another process runs: an accountant over the ledger of ``sys.argv[1]``, budget ε = 2.
OTHER = """
import sys, time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountant import Accountant, Budget
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.measure import Cost

@dataclass(frozen=True)
class Ask:
    cost: Cost = Cost(Fraction(1, 10), Fraction(1, 200))

def accountant(epsilon):
    return Accountant(Ledger.open(sys.argv[1], dataset="d", unit="p.id"), Budget(Fraction(epsilon)), {})

def spend(accountant):
    accountant.spend(Ask(), analyst="ada", statement="SELECT 1").redeem()
"""


@dataclass(frozen=True)
class Ask:
    cost: Cost = TENTH


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    opened = reopen(path)
    yield opened
    opened.close()


def reopen(path: Path, dataset: str = "d", unit: str = "p.id") -> Ledger:
    return Ledger.open(path, dataset=dataset, unit=unit)


def admit(total: Cost, own: Cost) -> None:
    """Decide for everything."""


def fill(ledger: Ledger, count: int, analyst: str = "ada") -> None:
    for number in range(count):
        ledger.append(Line(analyst, f"SELECT {number}", "[]", TENTH), admit)


def other(path: Path, code: str) -> subprocess.Popen[str]:
    script = OTHER + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)


def raw(path: Path, *statements: str) -> None:
    """What a person with an SQLite shell could do to the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    for trigger in ("entries_stay", "entries_are_fixed"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_what_is_written_is_read_back(ledger: Ledger) -> None:
    strange = "SELECT 'ünï\x00\ud800' -- \u200b"
    assert ledger.append(Line("ada", strange, '{"cells": 1}', TENTH), admit) == 1
    assert ledger.append(Line("b\udcffb", "SELECT 2", "", Cost(None, Fraction(1, 3))), admit) == 2
    first, second = ledger.history()
    assert first.statement == "SELECT 'ünï\x00\\ud800' -- \u200b" and first.cells == '{"cells": 1}'
    assert first.at.endswith("+00:00") and first.cost == first.total == first.own == TENTH
    assert second.total == Cost(None, Fraction(1, 200) + Fraction(1, 3), TENTH.delta)
    assert second.own == Cost(None, Fraction(1, 3)) and second.previous == first.digest
    assert ledger.totals("b\udcffb") == (second.total, second.own)
    assert ledger.totals("nobody") == (second.total, FREE)
    assert [entry.seq for entry in ledger.history("ada")] == [1]


def test_history_is_read_page_by_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_PAGE", journal_module._PAGE.replace("500", "3"))
    fill(ledger, 10)
    assert [entry.seq for entry in ledger.history()] == list(range(1, 11))


def test_decisions_see_all_that_was_spent(ledger: Ledger) -> None:
    fill(ledger, 2), fill(ledger, 1, "bob")
    seen: list[tuple[Cost, Cost]] = []
    ledger.append(Line("bob", "SELECT 1", "", TENTH), lambda total, own: seen.append((total, own)))
    assert seen == [(TENTH + TENTH + TENTH, TENTH)]


def test_what_is_refused_leaves_no_trace(ledger: Ledger) -> None:
    def refuse(total: Cost, own: Cost) -> None:
        raise BudgetExhausted("no")

    with pytest.raises(BudgetExhausted):
        ledger.append(Line("ada", "SELECT 1", "", TENTH), refuse)
    assert ledger.verify() == 0 and list(ledger.history()) == []


def test_a_ledger_is_durable_by_its_settings(ledger: Ledger, path: Path) -> None:
    connection = ledger._file._connected()
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert path.stat().st_mode & 0o077 == 0
    assert sorted(file.name for file in path.parent.iterdir() if file.name.startswith(".")) == []


def test_the_journal_can_neither_be_changed_nor_shortened_by_mistake(ledger: Ledger, path: Path) -> None:
    fill(ledger, 2)
    connection = sqlite3.connect(path)
    for statement in ("DELETE FROM entries", "UPDATE entries SET epsilon = '0'"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()
    assert not [name for name in dir(ledger) if name in {"delete", "update", "refund", "remove", "reset"}]


# Races.


def test_sixteen_threads_get_exactly_what_is_left(path: Path) -> None:
    shared = reopen(path)
    accountants = [
        Accountant(shared if n % 2 else reopen(path), Budget(Fraction(2), Fraction(1, 10**6))) for n in range(16)
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


def test_four_processes_get_exactly_what_is_left(path: Path) -> None:
    """They also race to create the file."""
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
    processes = [other(path, code) for _ in range(4)]
    time.sleep(0.5)
    go.touch()
    passed = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(passed) == 20 and [process.returncode for process in processes] == [0] * 4
    assert reopen(path).verify() == 20


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.07])
def test_a_killed_process_has_paid_for_all_that_it_released(path: Path, moment: float) -> None:
    process = other(
        path,
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
    assert released <= reopen(path).verify() <= released + 1


def test_a_fork_in_the_midst_of_threads_neither_hangs_nor_loses(ledger: Ledger) -> None:
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            ledger.append(Line("ada", "SELECT 1", "", TENTH), admit)
            time.sleep(0.002)

    thread = threading.Thread(target=keep_writing)
    thread.start()
    for _ in range(5):
        child = os.fork()
        if not child:
            signal.alarm(20)
            fill(ledger, 2, "child")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    thread.join()
    assert len(list(ledger.history("child"))) == 10
    assert ledger.verify() == len(list(ledger.history()))


# Damage.


@pytest.mark.parametrize(
    ("harm", "bad"),
    [
        ("UPDATE entries SET epsilon = '1/100' WHERE seq = 3", 3),
        ("UPDATE entries SET statement = 'SELECT 2 ' WHERE seq = 3", 3),
        ("UPDATE entries SET analyst = 'bob' WHERE seq = 5", 5),
        ("UPDATE entries SET total_epsilon = '0' WHERE seq = 6", 6),
        ("UPDATE entries SET total_rho = x'00' WHERE seq = 6", 6),
        ("UPDATE entries SET digest = 'abc' WHERE seq = 6", 6),
        ("DELETE FROM entries WHERE seq = 2", 2),
        ("DELETE FROM entries WHERE seq = 1", 1),
        ("DELETE FROM entries WHERE seq = 6", 6),
        ("DELETE FROM entries WHERE seq > 3", 4),
        ("DELETE FROM entries", 1),
        ("DELETE FROM head", 6),
        ("UPDATE entries SET seq = 9 WHERE seq = 6", 9),
    ],
)
def test_a_missing_or_changed_line_shows(path: Path, harm: str, bad: int) -> None:
    ledger = reopen(path)
    fill(ledger, 6)
    raw(path, harm)
    with pytest.raises(LedgerError, match=r"damaged: entry \d"):
        ledger.verify()
    ledger.close()
    with pytest.raises(LedgerError, match=rf"damaged: entry {bad} "):
        reopen(path)


def test_an_exchanged_line_shows_though_each_hash_is_right(path: Path, tmp_path: Path) -> None:
    """A line of another ledger over the same data has a right hash of its own, and does not fit the chain."""
    elsewhere = reopen(tmp_path / "elsewhere")
    fill(elsewhere, 1, "bob"), fill(elsewhere, 3)
    ledger = reopen(path)
    fill(ledger, 4)
    ledger.close(), elsewhere.close()
    raw(
        path,
        f"ATTACH '{tmp_path / 'elsewhere'}' AS other",
        "DELETE FROM main.entries WHERE seq = 2",
        "INSERT INTO main.entries SELECT * FROM other.entries WHERE seq = 2",
    )
    with pytest.raises(LedgerError, match="entry 2 "):
        reopen(path)


def test_an_old_line_is_found_by_verify_and_not_on_opening(path: Path) -> None:
    ledger = reopen(path)
    fill(ledger, journal_module.CHECKED_ON_OPEN + 5)
    ledger.close()
    raw(path, "UPDATE entries SET statement = '' WHERE seq = 2")
    with pytest.raises(LedgerError, match="entry 2 "):
        reopen(path).verify()
    raw(path, "UPDATE entries SET statement = '' WHERE seq = 7")
    with pytest.raises(LedgerError, match="entry 7 "):
        reopen(path)


def test_nothing_is_admitted_on_totals_that_were_changed(path: Path) -> None:
    accountant = Accountant(reopen(path), Budget(Fraction(2), Fraction(1, 10**6)))
    for _ in range(3):
        accountant.spend(Ask(), analyst="ada", statement="SELECT 1")
    raw(path, "UPDATE entries SET total_epsilon = '1/10' WHERE seq = 3")
    with pytest.raises(LedgerError):
        accountant.spend(Ask(), analyst="ada", statement="SELECT 1")
    with pytest.raises(LedgerError):
        accountant.remaining()


def test_an_older_copy_put_back_under_an_open_ledger_is_noticed(ledger: Ledger, path: Path) -> None:
    fill(ledger, 2)
    ledger.close()
    before = path.read_bytes()
    fill(ledger, 2)
    ledger.close()
    path.write_bytes(before)
    with pytest.raises(LedgerError, match="damaged"):
        fill(ledger, 1)


@pytest.mark.parametrize("content", [b"", b"not a ledger" * 1000, b"SQLite format 3\x00" + b"\xff" * 8000])
def test_a_file_that_is_no_ledger_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        reopen(path)
    assert path.read_bytes() == content


def test_another_sqlite_file_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(LedgerError):
        reopen(path)


def test_a_torn_file_is_refused(path: Path) -> None:
    ledger = reopen(path)
    fill(ledger, 60)
    ledger.close()
    whole = path.read_bytes()
    for size in (len(whole) // 3, len(whole) - 100, 10):
        path.write_bytes(whole[:size])
        with pytest.raises(LedgerError):
            reopen(path).verify()
    path.write_bytes(whole[:9000] + os.urandom(len(whole) - 9000))
    with pytest.raises(LedgerError):
        reopen(path).verify()
    path.write_bytes(whole)
    assert reopen(path).verify() == 60


@pytest.mark.parametrize(("dataset", "unit"), [("other", "p.id"), ("d", "p.order_id")])
def test_the_ledger_of_other_data_is_refused(ledger: Ledger, path: Path, dataset: str, unit: str) -> None:
    with pytest.raises(LedgerError, match=r"belongs to the dataset 'd' with unit 'p\.id'"):
        reopen(path, dataset, unit)


def test_another_version_is_refused(path: Path) -> None:
    reopen(path).close()
    raw(path, "UPDATE meta SET version = 2")
    with pytest.raises(LedgerError, match="this version"):
        reopen(path)


def test_links_are_refused(ledger: Ledger, path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(LedgerError, match="plain file"):
        reopen(link)
    link.unlink()
    link.hardlink_to(path)
    with pytest.raises(LedgerError, match="second name"):
        reopen(link)
    with pytest.raises(LedgerError, match="second name"):
        fill(ledger, 1)
    link.unlink()
    link.symlink_to(path.with_name("nowhere"))
    with pytest.raises(LedgerError):
        reopen(link)
    fill(ledger, 1)


def test_a_file_that_goes_away_or_is_replaced_is_refused(ledger: Ledger, path: Path) -> None:
    fill(ledger, 1)
    path.rename(path.with_name("away"))
    with pytest.raises(LedgerError, match="missing"):
        fill(ledger, 1)
    fresh = reopen(path)
    with pytest.raises(LedgerError, match="replaced"):
        fill(ledger, 1)
    fresh.close()


def test_a_folder_that_is_missing_is_refused(path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be created"):
        reopen(path / "below")


def in_a_child(run: Callable[[], None]) -> None:
    """Run in a forked process, whose rights and limits may be lowered for good."""
    child = os.fork()
    if not child:
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_a_read_only_ledger_admits_nothing() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.ledger"
        ledger = reopen(path)
        fill(ledger, 2)
        ledger.close()
        path.chmod(0o444)
        Path(folder).chmod(0o555)

        def ask() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write anything
            with pytest.raises(LedgerError):
                fill(ledger, 1)
            with pytest.raises(LedgerError):
                reopen(path)

        in_a_child(ask)
        Path(folder).chmod(0o755)
        path.chmod(0o644)
        assert reopen(path).verify() == 2


def test_a_full_disk_admits_nothing(ledger: Ledger, path: Path) -> None:
    fill(ledger, 2)

    def ask() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = path.stat().st_size + 50_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(LedgerError):
            fill(ledger, 1000)
        with pytest.raises(LedgerError):
            ledger.append(Line("ada", "SELECT 1" * 20_000, "", TENTH), admit)

    in_a_child(ask)
    written = ledger.verify()
    assert written >= 2
    fill(ledger, 1)
    assert reopen(path).verify() == written + 1


def test_a_ledger_that_another_process_holds_is_refused_in_the_end(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.privacy.ledger import file as file_module

    monkeypatch.setattr(file_module, "PATIENCE", 0.05)
    ledger.close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="another process holds it"):
        fill(ledger, 1)
    holder.execute("ROLLBACK")
    fill(ledger, 1)
    holder.close()


def test_no_message_holds_a_path(path: Path) -> None:
    path.write_bytes(b"junk" * 5000)
    with pytest.raises(LedgerError) as caught:
        reopen(path)
    assert str(path.parent) not in str(caught.value) and caught.value.sqlstate == "58030"


# Where it lies.


def test_the_place_depends_on_the_data_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "x.duckdb"
    file.touch()
    (tmp_path / "link.duckdb").symlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path / "data")
    monkeypatch.chdir(tmp_path / "data")
    beside = (tmp_path / "data").resolve() / "x.duckdb.ledger"
    assert {ledger_path(p) for p in (file, "x.duckdb", tmp_path / "link.duckdb", "../data/./x.duckdb")} == {beside}
    assert {ledger_path(p) for p in (".", tmp_path / "folder", tmp_path / "data")} == {beside.with_name("dpsql.ledger")}


def test_data_on_a_server_or_nowhere_has_no_default_place(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="name one"):
        ledger_path("postgresql://host/db")
    with pytest.raises(LedgerError, match="cannot be found"):
        ledger_path(tmp_path / "none.duckdb")
