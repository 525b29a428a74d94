"""What the owner's log says of connections and of failures,
and that a client hears a random number of it only.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from databases import clinic
from wire_client import PASSWORD, Client, error, eventually

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.process.data import ProcessData, ProcessFailed, _done
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.engines.files.held_files import faults_of
from dpsql.errors import ExecutionFailed, LedgerError
from dpsql.errors.owners_log import cause
from dpsql.privacy.accountant import Accountant
from dpsql.server.listener import Server
from dpsql.server.protocol import codec
from dpsql.session import open_session
from dpsql.session.database import open_database

COUNT = "SELECT COUNT(*) FROM patients"
CANARY = "CANARY_7f3a"
INCIDENT = re.compile(r"incident ([0-9a-f]{8}): the cause is in the log of the owner")


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    """What was logged so far."""
    with caplog.at_level(logging.INFO, "dpsql"):
        yield lambda: "\n".join(record.getMessage() for record in caplog.records)


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_each_connection_is_told_with_its_address_and_number(
    guarded: Server, log: Callable[[], str]
) -> None:
    with Client(guarded.port) as client:
        client.log_in("ada", PASSWORD)
        client.query("SELECT 1 AS one")
        place = "client={}:{}".format(*client.socket.getsockname())
    assert eventually(lambda: "disconnected" in log())
    for said in ("user='ada' connected", "user='ada' took=", "user='ada' disconnected"):
        assert re.search(rf"^{re.escape(place)} connection=\d+ {said}", log(), re.MULTILINE)
    with Client(guarded.port) as client:
        client.log_in("ada", "wrong")
        place = "client={}:{}".format(*client.socket.getsockname())
    assert re.search(
        rf"^{re.escape(place)} connection=\d+ user='ada' refused sqlstate=28P01",
        log(),
        re.MULTILINE,
    )


def test_what_a_client_sends_begins_no_line_of_the_log(
    shared: Server, log: Callable[[], str]
) -> None:
    with Client(shared.port) as client:
        client.start("ada", database="x\nclient=1.1.1.1:1 connection=1 user='eve' connected")
    with Client(shared.port) as client:
        client.start("a\nclient=1.1.1.1:1")
    assert log().count("refused") == 2 and not [
        line for line in log().splitlines() if line.startswith("client=1.1.1.1")
    ]


CAUSES: dict[str, Callable[[], Exception]] = {
    "OutOfMemoryException": lambda: duckdb.OutOfMemoryException(CANARY),
    "ConversionException": lambda: duckdb.ConversionException(CANARY),
    "MemoryError": lambda: MemoryError(CANARY),
    "ProcessFailed: IOException": lambda: ProcessFailed("IOException"),
    "ProcessFailed": lambda: ProcessFailed(f"{CANARY} Smith"),
}


@pytest.mark.parametrize("said", CAUSES)
def test_a_failed_statement_has_a_random_number_and_the_log_its_cause(
    serve: Callable[..., Server], log: Callable[[], str], monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    server = serve()
    monkeypatch.setattr(DuckDBReading, "_rows", failing(CAUSES[said]()))
    with Client(server.port) as client:
        client.start()
        told = [error(client.query(text)) for text in (COUNT, f"{COUNT} WHERE weight > 70")]
    for fields in told:
        assert (fields["C"], fields["M"]) == ("XX000", "E_EXEC query could not be completed")
        found = INCIDENT.fullmatch(fields["D"])
        assert found is not None
        assert f"incident={found[1]} reading: {said}\n" in log()
        assert re.search(rf"^client=.* sqlstate=XX000 incident {found[1]}$", log(), re.MULTILINE)
    assert told[0]["D"] != told[1]["D"] and {**told[0], "D": ""} == {**told[1], "D": ""}
    assert CANARY not in log() and COUNT not in log()


def test_a_ledger_that_fails_is_told_to_the_owner(
    shared: Server, log: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trouble = LedgerError("the ledger cannot be written")
    trouble.__cause__ = OSError(28, "No space left on device")
    monkeypatch.setattr(Accountant, "spend", failing(trouble))
    with Client(shared.port) as client:
        client.start()
        fields = error(client.query(f"{COUNT} WHERE weight > 71"))
    found = INCIDENT.fullmatch(fields["D"])
    assert (
        found is not None
        and fields["M"] == "the ledger could not be read or written; nothing was released"
    )
    why = "LedgerError: the ledger cannot be written, from OSError: No space left on device"
    assert f"incident={found[1]} answering a client: {why}" in log()


@pytest.mark.parametrize("process", [False, True])
@pytest.mark.parametrize(
    ("table", "text", "marks"),
    [
        ("conditions", "SELECT chapter FROM conditions", ["reading a public table"]),
        ("patients", COUNT, []),
    ],
)
def test_a_corrupt_file_is_named_under_the_number_that_the_analyst_has(
    checkout: Path,
    log: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    process: bool,
    table: str,
    text: str,
    marks: list[str],
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", process)
    file = checkout / "dpsql" / "data" / "nafld" / f"{table}.parquet"
    with (
        Server(open_database(checkout / "schemas" / "nafld.toml"), port=0) as server,
        Client(server.port) as client,
    ):
        client.start()
        half = file.with_suffix(".half")
        half.write_bytes(file.read_bytes()[:-1000])
        half.replace(file)
        fields = error(client.query(text))
    found = INCIDENT.fullmatch(fields["D"])
    assert found is not None
    lines = [line for line in log().splitlines() if line.startswith(f"incident={found[1]} ")]
    assert lines[0].startswith(f"incident={found[1]} opening the data anew: ")
    assert " looking at the files: InterfaceError: " in lines[1]
    assert lines[1].endswith(f"/{file.name} is no whole parquet file")
    assert all(any(mark in line for line in lines) for mark in marks)


def test_a_file_that_is_missing_or_may_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and so on PAR1")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    (tmp_path / "c.duckdb").write_bytes(b"12345678DUCK")
    (tmp_path / "d.duckdb").write_bytes(b"")
    files = [
        tmp_path / name for name in ("a.parquet", "b.parquet", "c.duckdb", "d.duckdb", "e.parquet")
    ]
    assert faults_of(files) == [
        f"{tmp_path}/d.duckdb is no whole duckdb file",
        f"{tmp_path}/e.parquet: No such file or directory",
    ]


def test_users_that_cannot_be_read_are_told_to_the_owner(
    guarded: Server, users: Path, log: Callable[[], str]
) -> None:
    users.chmod(0o644)
    with Client(guarded.port) as client:
        assert error(client.log_in("ada", PASSWORD))["C"] == "28000"
    assert "reading the users: InterfaceError: users.json: others may read the users" in log()


def test_in_python_the_error_notes_its_number_and_nothing_is_written_to_the_terminal(
    tmp_path: Path,
) -> None:
    """In a Python of its own, as pytest has handlers for logs."""
    program = (
        "import sys, dpsql; from dpsql.engines.duckdb.reading import DuckDBReading\n"
        "def fail(*_): raise MemoryError('secret')\n"
        "DuckDBReading._rows = fail\n"
        "cursor = dpsql.connect(sys.argv[1]).cursor()\n"
        f"try: cursor.execute('{COUNT}')\n"
        "except dpsql.ExecutionFailed as error: print(str(error), error.__notes__[0], sep='\\n')\n"
    )
    run = [sys.executable, "-c", program, str(clinic(tmp_path))]
    silent = subprocess.run(run, capture_output=True, text=True, check=True)
    message, note = silent.stdout.splitlines()
    assert (
        message == "E_EXEC query could not be completed"
        and INCIDENT.fullmatch(note)
        and silent.stderr == ""
    )


def test_on_the_command_line_the_reader_is_the_owner_and_is_told_the_cause(tmp_path: Path) -> None:
    schema, file = clinic(tmp_path), tmp_path / "owner.log"
    program = (
        "from dpsql.engines.duckdb.reading import DuckDBReading; from dpsql.cli import main\n"
        "def fail(*_): raise MemoryError('secret')\n"
        "DuckDBReading._rows = fail\n"
        "main()\n"
    )
    run = [sys.executable, "-c", program, "query", str(schema), COUNT]
    told = subprocess.run(
        run, capture_output=True, text=True, env=os.environ | {"DPSQL_LOG": str(file)}
    )
    assert (
        told.returncode == 1
        and INCIDENT.search(told.stderr) is None
        and "secret" not in told.stderr
    )
    assert "E_EXEC query could not be completed\ndpsql: reading: MemoryError\n" in told.stderr
    found = re.search(r"incident=([0-9a-f]{8}) reading: MemoryError", file.read_text())
    assert found is not None and file.stat().st_mode & 0o777 == 0o600
    missing = subprocess.run(
        run, capture_output=True, text=True, env=os.environ | {"DPSQL_LOG": "/nowhere/x.log"}
    )
    assert missing.returncode == 2 and "the log cannot be written there" in missing.stderr


def test_a_process_that_died_is_told_to_the_owner(
    tmp_path: Path, log: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    with closing(open_session(clinic(tmp_path))) as session:
        data: ProcessData = session._execution.engine._data  # type: ignore[attr-defined]
        process = data.newest.process
        with pytest.raises(ProcessFailed) as raised:
            _done(process, "public", {})
        assert cause(raised.value) == "ProcessFailed: KeyError"
        os.kill(process.pid, signal.SIGKILL)
        assert eventually(lambda: not process.alive)
        session.execute(COUNT)
    assert "the engine's process had ended; another one was begun" in log()


def test_causes_have_no_words_of_others() -> None:
    assert cause(ExecutionFailed()) == "ExecutionFailed"
    chained = KeyError(CANARY)
    chained.__cause__ = duckdb.IOException(CANARY)
    assert cause(chained) == "KeyError, from IOException"
    assert (
        cause(PermissionError(13, "Permission denied", CANARY))
        == "PermissionError: Permission denied"
    )


def test_a_fault_has_a_number_too(
    shared: Server, log: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.session.Session.answer", failing(ZeroDivisionError(CANARY)))
    with Client(shared.port) as client:
        client.start()
        answer = client.query(f"{COUNT} WHERE weight > 72")
    found = INCIDENT.fullmatch(error(answer)["D"])
    assert found is not None and isinstance(answer[-1], codec.ReadyForQuery)
    assert (
        f"incident={found[1]} answering a client: ZeroDivisionError" in log()
        and CANARY not in log()
    )
