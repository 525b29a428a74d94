"""Lock-down: attempts fail because of the lock and not of a slip in them,
and an open lock is found.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from databases import clinic

from dpsql import cli
from dpsql.audit import completed_schema
from dpsql.audit.engine_process import process_checks
from dpsql.audit.lockdown import attempts, lock_down
from dpsql.audit.report import TESTED, CheckGroup, in_tested_range
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import planner
from dpsql.engines.duckdb.process import confinement
from dpsql.engines.duckdb.process.confinement import HEAD_ROOM
from dpsql.engines.duckdb.process.confinement_probe import _TRIED, _succeeds
from dpsql.engines.duckdb.process.protocol import EngineMessage
from dpsql.engines.source import ResourceLimits

PROJECT = Path(__file__).parents[2]

#: What an open engine does not run either: no such extension, file or network is here,
#: or it knows #: no such words.
NOT_HERE = {
    "drop the view",
    "alter",
    "rename",
    "import",
    "attach a file read-only",
    "read Parquet",
    "read Parquet's facts",
    "read JSON",
    "a Python variable as a table",
    "a profile in a file",
    "unlock the settings",
    "open the files",
    "open the files by RESET",
    "allow unsigned extensions",
    "a persistent secret",
    "delete inside a CTE",
    "a sleep",
    "statistics of a column",
    "letters that one parser sees and another does not",
    "copy a file into the data",
}


def locked(schema_file: Path) -> CheckGroup:
    schema = completed_schema(schema_file)
    neighbours = NeighbourDatabases(schema)
    try:
        with planner(schema, neighbours) as plans:
            return lock_down(schema, plans)
    finally:
        neighbours.close()


@pytest.mark.parametrize("parquet", [False, True])
def test_every_attempt_is_refused(parquet: bool, tmp_path: Path) -> None:
    room = locked(clinic(tmp_path, parquet=parquet))
    assert [check for check in room.checks if check.verdict != "passed"] == []
    assert len(room.checks) > 90
    at_two = sum("at two gates" in check.said for check in room.checks)
    assert at_two < 50


def test_the_file_behind_views_is_held_as_fast(tmp_path: Path) -> None:
    schema_file = clinic(tmp_path)
    with duckdb.connect(str(completed_schema(schema_file).source_path)) as connection:
        connection.execute(
            "CREATE TYPE sexes AS ENUM (SELECT DISTINCT sex FROM patients WHERE sex IS NOT NULL)"
        )
        connection.execute("ALTER TABLE patients ALTER sex TYPE sexes")
    room = locked(schema_file)
    assert {check.verdict for check in room.checks} == {"passed"}
    assert (
        "refused at all three gates"
        in {check.what: check.said for check in room.checks}["create in the data"]
    )


def test_attempts_would_succeed_on_an_open_engine(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("a\n1\n")
    ran, failed = [], []
    for attempt in attempts("people", "id", outside, "source"):
        if any(
            word in attempt.sql
            for word in ("https:", "INSTALL", "LOAD", "EXTENSIONS", "TYPE sqlite")
        ):
            continue
        place = tmp_path / f"{len(ran) + len(failed)}.duckdb"
        with duckdb.connect(str(place)) as connection:
            connection.execute("CREATE TABLE people (id INTEGER)")
        with duckdb.connect(":memory:") as connection:
            connection.execute(f"ATTACH '{place}' AS source")
            try:
                connection.execute(attempt.sql).fetchall()
                ran.append(attempt.name)
            except duckdb.Error:
                failed.append(attempt.name)
    assert set(failed) <= NOT_HERE, sorted(set(failed) - NOT_HERE)
    assert len(ran) > 55


@pytest.mark.skipif(
    confinement.landlock_version() < 6,
    reason="this kernel has no Landlock, or an old one, and notes say so",
)
def test_the_engines_process_can_do_nothing_that_it_must_not(tmp_path: Path) -> None:
    schema_file = clinic(tmp_path)
    schema_file.write_text(schema_file.read_text() + '[engine]\nmemory = "500MB"\nspill = "1MB"\n')
    checks = {
        check.what.removeprefix("its process "): check.verdict
        for check in process_checks(completed_schema(schema_file))
    }
    notes = {"sends a datagram", "makes a copy of itself"}
    assert checks.pop("the kernel's Landlock") == "passed"
    assert checks == {name: "note" if name in notes else "passed" for name in _TRIED}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")
def test_what_is_tried_in_the_process_succeeds_in_one_that_is_not_confined(tmp_path: Path) -> None:
    for name in ("data", "secret.csv"):
        (tmp_path / name).write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = {
            "outside": str(tmp_path),
            "data": str(tmp_path / "data"),
            "port": server.getsockname()[1],
            "limits": ResourceLimits(memory=1000 - HEAD_ROOM),
        }
        could = {name for name, attempt in _TRIED.items() if _succeeds(attempt, said)}
    assert set(_TRIED) - could <= {"leaves a core"}, "cores may be off here as well"


def test_a_process_that_cannot_be_begun_or_is_not_wanted_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = completed_schema(clinic(tmp_path))
    without = schema.model_copy(
        update={"engine": schema.engine.model_copy(update={"process": False})}
    )
    (check,) = process_checks(without)
    assert check.verdict == "failed" and check.said.endswith(
        "take process = false out of the schema's [engine]"
    )
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert [check.verdict for check in process_checks(schema)] == ["failed"]


class Unconfined:
    """The client of a process that is begun without confinement: this one,
    which can do all that is tried but die.
    """

    def __init__(self, path: str, limits: ResourceLimits, serves: str) -> None:
        assert serves == "confinement_probe"
        self.limits = limits

    def ask(self, word: str, said: dict[str, Any]) -> EngineMessage:
        return EngineMessage(
            "done",
            1,
            {
                name: _succeeds(each, {**said, "limits": self.limits})
                for name, each in _TRIED.items()
            },
        )

    def end(self) -> None:
        pass


#: The version of Landlock, what must be said of files and of TCP, and what of signals.
KERNELS = {
    0: ("failed", "failed", "note", "6.7 or later"),
    1: (
        "failed",
        "failed",
        "note",
        "6.7 or later",
    ),  # an engine that this kernel could confine, and is not
    3: ("failed", "failed", "note", "6.7 or later"),
    4: ("failed", "failed", "note", "6.12 or later"),
    7: ("failed", "failed", "failed", ""),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")
@pytest.mark.parametrize("version", KERNELS)
def test_an_engine_that_can_open_a_file_or_connect_fails(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "landlock_version", lambda: version)
    monkeypatch.setattr("dpsql.audit.engine_process.EngineProcess", Unconfined)
    checks = {
        check.what.removeprefix("its process "): check
        for check in process_checks(completed_schema(clinic(tmp_path)))
    }
    files, network, signals, mend = KERNELS[version]
    for name in ("reads another file", "lists another folder", "writes a file", "starts a program"):
        assert checks[name].verdict == files
    assert (checks["connects to a server"].verdict, checks["signals another process"].verdict) == (
        network,
        signals,
    )
    assert {checks[name].verdict for name in ("sends a datagram", "makes a copy of itself")} == {
        "note"
    }
    assert any(mend in check.said for check in checks.values())
    assert checks["the kernel's Landlock"].verdict == ("failed" if version < 1 else "passed")


@pytest.mark.parametrize("missing", ["kernel", "process"])
def test_an_audit_without_confinement_ends_with_what_to_do(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command, its exit code, and the line that says why."""
    schema = clinic(tmp_path)
    if missing == "process":
        schema.write_text(schema.read_text() + "[engine]\nprocess = false\n")
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    for name in ("check_samplers", "lock_down"):
        monkeypatch.setattr(
            f"dpsql.audit.{name}", lambda *_, name=name: CheckGroup(name, "left out", ())
        )
    done = CliRunner().invoke(cli.commands, ["audit", str(schema)])
    said = {
        "kernel": "✗ the kernel's Landlock\n      there is none, so that the engine's process can open what",
        "process": "✗ the engine's process\n      the data are opened by dpsql's own process",
    }
    assert done.exit_code == 3 and said[missing] in done.output
    assert " checks failed" in done.output.splitlines()[-1]


@pytest.mark.parametrize("parquet", [False, True])
def test_an_engine_without_its_lock_fails(
    parquet: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.engines.duckdb.attached_source.lock_down", lambda connection: None)
    room = locked(clinic(tmp_path, parquet=parquet))
    failed = {check.what for check in room.checks if check.verdict == "failed"}
    assert {
        "copy a query to a file",
        "read a file",
        "list files",
        "the files after all attempts",
    } <= failed
    assert all(
        "the engine runs it" in check.said
        for check in room.checks[:-1]
        if check.verdict == "failed"
    )


def test_a_check_of_emitted_sql_that_lets_all_pass_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.audit import lockdown

    monkeypatch.setattr(lockdown, "require_planned", lambda *_: None)
    room = locked(clinic(tmp_path))
    assert room.count("failed") == len(room.checks) - 1


def test_the_tested_versions_are_those_of_the_project() -> None:
    oldest = (PROJECT / ".ci" / "oldest.txt").read_text()
    for name, (first, last) in TESTED.items():
        assert f"{name}=={first}\n" in oldest and last > first
    assert {check.verdict for check in in_tested_range()} == {"passed"}
