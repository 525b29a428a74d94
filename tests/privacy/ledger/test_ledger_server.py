"""What can happen to a ledger on a server: it ends, it refuses, it promises less than it should,
it has a twin.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
import pytest
from places import ServerPlace, reopen
from spending import TENTH, admit, fill

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import Ledger, LedgerIdentity, NewEntry
from dpsql.privacy.ledger.stores import postgresql as server_module
from dpsql.privacy.ledger.stores.postgresql import LedgerServer


@pytest.fixture
def place(server_place: ServerPlace) -> ServerPlace:
    return server_place


def owner(place: ServerPlace) -> psycopg.Connection[tuple[object, ...]]:
    connection = psycopg.connect(place.address, autocommit=True)
    connection.execute(f'SET search_path TO "{place.namespace}"'.encode())
    return connection


def end_all_others(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """What the administrator of a server may do at any time."""
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpsql ledger'"
    )


def test_entries_can_neither_be_changed_nor_removed_by_mistake(
    ledger: Ledger, place: ServerPlace
) -> None:
    fill(ledger, 2)
    with owner(place) as connection:
        for statement in (
            "DELETE FROM entries",
            "UPDATE entries SET epsilon = '0'",
            "TRUNCATE entries",
        ):
            with pytest.raises(psycopg.errors.RaiseException):
                connection.execute(statement.encode())
    assert ledger.verify() == 2


def test_a_charge_waits_for_the_disk_whatever_the_server_is_set_to(place: ServerPlace) -> None:
    with owner(place) as connection:
        for setting in ("off", "local"):
            connection.execute(f"ALTER ROLE postgres SET synchronous_commit = {setting}".encode())
            try:
                store = LedgerServer(place.name)
                store.create([])
                with store.transaction(write=True) as tables:
                    assert tables.execute(
                        "SELECT current_setting('synchronous_commit')"
                    ).fetchone() == ("on",)
                store.close()
            finally:
                connection.execute("ALTER ROLE postgres RESET synchronous_commit")


@pytest.mark.parametrize("setting", sorted(server_module._WANTED))
def test_a_server_that_could_lose_an_entry_is_refused(
    place: ServerPlace, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of the tests is as it should be, so it is asked for something else."""
    wanted = dict(server_module._WANTED)
    wanted[setting] = ("something else", "it promises less")
    monkeypatch.setattr(server_module, "_WANTED", wanted)
    with pytest.raises(LedgerError, match="it promises less; nothing is released"):
        reopen(place)


def test_a_connection_that_the_server_ended_between_charges_is_made_anew(
    ledger: Ledger, place: ServerPlace
) -> None:
    fill(ledger, 1)
    with owner(place) as connection:
        end_all_others(connection)
    fill(ledger, 1)
    assert ledger.verify() == 2


def test_a_connection_that_ends_in_the_midst_of_a_charge_has_charged_nothing(
    ledger: Ledger, place: ServerPlace
) -> None:
    def decide(*spent: object) -> None:
        with owner(place) as connection:
            end_all_others(connection)

    with pytest.raises(LedgerError, match="nothing is released"):
        ledger.append(NewEntry("ada", "SELECT 1", "", TENTH), decide)
    assert ledger.verify() == 0
    fill(ledger, 1)
    assert ledger.verify() == 1


def test_a_connection_of_another_process_is_refused_and_left_alone(place: ServerPlace) -> None:
    """As after a fork that Python did not see."""
    store = LedgerServer(place.name)
    store.create([])
    connection, store._process = store._connection, -1
    with pytest.raises(LedgerError, match="was forked"), store.transaction(write=True):
        pass
    store.close()
    assert connection is not None and connection.execute("SELECT 1").fetchone() == (1,)
    connection.close()


def test_a_process_that_stops_in_the_midst_of_a_charge_is_ended(
    place: ServerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_LOCK", server_module._LOCK.replace("30000", "500"))
    stopped, running = reopen(place), reopen(place)
    decided = threading.Event()

    def sleep(*spent: object) -> None:
        decided.set()
        time.sleep(2)

    def charge() -> None:
        with pytest.raises(LedgerError):
            stopped.append(NewEntry("ada", "SELECT 1", "", TENTH), sleep)

    thread = threading.Thread(target=charge)
    thread.start()
    decided.wait()
    time.sleep(0.7)
    fill(running, 1)
    thread.join()
    assert running.verify() == 1


def test_a_libpq_that_waits_for_each_answer_does_the_same(
    place: ServerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psycopg.Pipeline, "is_supported", lambda: False)
    ledger = reopen(place)
    fill(ledger, 2)
    with owner(place) as connection:
        connection.execute("ALTER TABLE entries ADD CONSTRAINT no_third CHECK (seq < 3)")
    with pytest.raises(LedgerError, match="nothing is released"):
        fill(ledger, 1)
    assert ledger.verify() == 2


def test_an_entry_that_the_server_refuses_is_not_charged(
    ledger: Ledger, place: ServerPlace
) -> None:
    """Entry, head and COMMIT are sent together; what the first of them meets is what counts."""
    fill(ledger, 2)
    with owner(place) as connection:
        connection.execute("ALTER TABLE entries ADD CONSTRAINT no_third CHECK (seq < 3)")
        with pytest.raises(LedgerError, match="nothing is released"):
            fill(ledger, 1)
        assert connection.execute("SELECT seq FROM head").fetchone() == (2,)
        connection.execute("ALTER TABLE entries DROP CONSTRAINT no_third")
    fill(ledger, 1)
    assert ledger.verify() == 3


def test_who_waits_too_long_is_refused(place: ServerPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_LOCK", server_module._LOCK.replace("30000", "100"))
    ledger = reopen(place)
    with owner(place) as connection, connection.transaction():
        connection.execute("LOCK TABLE head IN EXCLUSIVE MODE")
        with pytest.raises(LedgerError, match="another process holds it"):
            fill(ledger, 1)
        assert ledger.totals()[0].rho == 0  # reading waits for nobody
    fill(ledger, 1)


def test_a_database_that_may_only_be_read_admits_nothing(
    ledger: Ledger, place: ServerPlace
) -> None:
    fill(ledger, 1)
    with owner(place) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        try:
            connection.execute(f'GRANT USAGE ON SCHEMA "{place.namespace}" TO reader'.encode())
            connection.execute(
                f'GRANT SELECT ON ALL TABLES IN SCHEMA "{place.namespace}" TO reader'.encode()
            )
            with pytest.raises(LedgerError, match="does not permit it"):
                Ledger.open(
                    place.name.replace("postgres:@", "reader@"),
                    LedgerIdentity("d", "p.id", "add-remove"),
                )
        finally:
            connection.execute("DROP OWNED BY reader")
            connection.execute("DROP ROLE reader")


def test_a_role_with_the_least_rights_can_charge(ledger: Ledger, place: ServerPlace) -> None:
    """The rights that docs/ledger.md gives to the role of dpsql."""
    fill(ledger, 1)
    with owner(place) as connection:
        connection.execute("CREATE ROLE charger LOGIN")
        try:
            connection.execute(f'GRANT USAGE ON SCHEMA "{place.namespace}" TO charger'.encode())
            connection.execute("GRANT SELECT ON meta TO charger")
            connection.execute("GRANT SELECT, INSERT ON entries TO charger")
            connection.execute("GRANT SELECT, UPDATE ON head TO charger")
            connection.execute("GRANT SELECT, INSERT, DELETE ON answers TO charger")
            charging = Ledger.open(
                place.name.replace("postgres:@", "charger@"),
                LedgerIdentity("d", "p.id", "add-remove"),
            )
            fill(charging, 1)
            assert charging.keep("key", 2, b"answer") == b"answer"
            charging.close()
        finally:
            connection.execute("DROP OWNED BY charger")
            connection.execute("DROP ROLE charger")
    assert ledger.verify() == 2


def test_an_older_state_put_back_under_an_open_ledger_is_noticed(
    ledger: Ledger, place: ServerPlace
) -> None:
    """As after a failover to a server that lagged behind."""
    fill(ledger, 2)
    with owner(place) as connection:
        connection.execute("CREATE TABLE entries_before AS TABLE entries")
        connection.execute("CREATE TABLE head_before AS TABLE head")
        fill(ledger, 2)
        connection.execute("ALTER TABLE entries DISABLE TRIGGER ALL")
        connection.execute("DELETE FROM entries; INSERT INTO entries TABLE entries_before")
        connection.execute("DELETE FROM head; INSERT INTO head TABLE head_before")
    with pytest.raises(LedgerError, match="behind"):
        fill(ledger, 1)


def test_ledgers_of_several_databases_lie_side_by_side(ledger: Ledger, place: ServerPlace) -> None:
    beside = reopen(place.beside(), LedgerIdentity("another", "q.id", "add-remove"))
    fill(ledger, 2), fill(beside, 1)
    assert (ledger.verify(), beside.verify()) == (2, 1)


def test_tables_of_the_same_names_elsewhere_are_not_taken_for_the_ledger(
    ledger: Ledger, place: ServerPlace
) -> None:
    fill(ledger, 1)
    with owner(place) as connection:
        connection.execute("SET search_path TO public")
        try:
            connection.execute(
                "CREATE TABLE head (seq bigint, digest text); CREATE TABLE entries (seq bigint)"
            )
            fill(ledger, 1)
        finally:
            connection.execute("DROP TABLE head, entries")
    assert ledger.verify() == 2


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mysql://host/db", "a ledger is a file, or lies at postgresql://"),
        ("postgresql://host/db?schema=Nafld", "small letters"),
        ('postgresql://host/db?schema=a"b', "small letters"),
        ("postgresql://host/db?schema=a&schema=b", "small letters"),
        ("postgresql://host/db?no_such_option=1", "cannot be read"),
        ("postgresql://host:port/db", "cannot be read|cannot be reached"),
    ],
)
def test_an_address_that_says_something_else_is_refused(address: str, said: str) -> None:
    with pytest.raises(LedgerError, match=said):
        Ledger.open(address, LedgerIdentity("d", "p.id", "add-remove"))


def test_a_server_that_is_not_there_is_refused_without_its_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        address = f"postgresql://ada:secret@127.0.0.1:{port}/db"
        with pytest.raises(LedgerError, match="cannot be reached") as caught:
            Ledger.open(address, LedgerIdentity("d", "p.id", "add-remove"))
    assert "secret" not in str(caught.value) and str(port) not in str(caught.value)
    without_password = f"postgresql://ada@127.0.0.1:{port}/db?schema=dpsql_ledger"
    assert LedgerServer(address).location == without_password


def _as(address: str, user: str = "postgres", database: str = "postgres") -> str:
    """The address of the tests' server, for another user and another database."""
    return address.replace("postgres:@/postgres", f"{user}@/{database}")


def test_a_database_that_does_not_exist_is_made_with_createdb(postgres: str) -> None:
    with pytest.raises(LedgerError, match="nothing is released") as caught:
        Ledger.open(_as(postgres, database="budgets"), LedgerIdentity("d", "p.id", "add-remove"))
    mend = "the address names a database that the server does not have; make it with `createdb` and its name"
    assert (
        mend in str(caught.value)
        and "socket" not in str(caught.value)
        and "budgets" not in str(caught.value)
    )


def test_a_role_that_may_not_come_in_is_told_why(postgres: str) -> None:
    with pytest.raises(
        LedgerError, match=r"a role that the server does not have; make it with `createuser`"
    ):
        Ledger.open(_as(postgres, user="eve"), LedgerIdentity("d", "p.id", "add-remove"))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE ROLE silent")
        connection.execute("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
        connection.execute("CREATE DATABASE shut ALLOW_CONNECTIONS false")
        connection.execute("CREATE DATABASE own")
        connection.execute("REVOKE CONNECT ON DATABASE own FROM PUBLIC")
        connection.execute("CREATE ROLE guest LOGIN")
    for user, database, said in (
        ("silent", "postgres", "the role may not log in"),
        ("crowd", "postgres", "too many connections"),
        ("postgres", "shut", "the database accepts no connections"),
        ("guest", "own", "the role may not connect to the database; GRANT CONNECT lets it"),
    ):
        with pytest.raises(LedgerError, match=f"{said}.*; nothing is released"):
            Ledger.open(_as(postgres, user, database), LedgerIdentity("d", "p.id", "add-remove"))


def test_a_password_that_is_wrong_or_missing_is_told(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE ROLE judge LOGIN PASSWORD 'right'")
        connection.execute("CREATE ROLE outcast LOGIN")
        ((rules,),) = connection.execute("SHOW hba_file").fetchall()
        before = Path(rules).read_text(encoding="utf-8")
        ours = "local all judge scram-sha-256\nlocal all outcast reject\n"
        Path(rules).write_text(ours + before, encoding="utf-8")
        try:
            connection.execute("SELECT pg_reload_conf()")
            _until_refused(_as(postgres, user="outcast"))
            for address, said in (
                (
                    _as(postgres, user="judge:wrong"),
                    "the server does not take the role's password; libpq reads",
                ),
                (
                    _as(postgres, user="judge"),
                    "the server wants a password and has got none; libpq reads",
                ),
                (_as(postgres, user="outcast"), "does not let this role in from this machine"),
            ):
                with pytest.raises(LedgerError, match=said) as caught:
                    Ledger.open(address, LedgerIdentity("d", "p.id", "add-remove"))
                assert "wrong" not in str(caught.value)
            psycopg.connect(_as(postgres, user="judge:right")).close()
        finally:
            Path(rules).write_text(before, encoding="utf-8")
            connection.execute("SELECT pg_reload_conf()")


def _until_refused(address: str) -> None:
    """Wait for the server to have read its rules anew."""
    for _ in range(600):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            return
        time.sleep(0.1)
    pytest.fail("the server never read its rules")


def test_a_line_is_appended_by_admitted_text_only(ledger: Ledger) -> None:
    """A question mark or a percent sign in a statement is text."""
    strange = "SELECT '?%s%%(x)s' || $1"
    ledger.append(NewEntry("a%s?", strange, "?", TENTH), admit)
    (entry,) = ledger.history("a%s?")
    assert (entry.statement, entry.cells) == (strange, "?")


def test_without_the_driver_it_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "from dpsql.privacy.ledger import Ledger, LedgerIdentity\n"
        "Ledger.open('postgresql://me@127.0.0.1:1/budgets', LedgerIdentity('d', 'p.id', 'add-remove'))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (
        "LedgerError" in ended.stderr
        and 'pip install "dpsql[postgresql]"; nothing is released' in ended.stderr
    )
