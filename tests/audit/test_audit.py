"""The whole audit: what it says of an honest database, what it finds,
and what it never tells or touches.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from databases import CANARIES, clinic
from sqlglot import exp

from dpsql import cli, connect
from dpsql.audit import (
    FOR_THE_OWNER,
    WITH_FIGURES,
    AuditCheck,
    AuditReport,
    AuditRequest,
    CheckGroup,
    ExpectedDuration,
    audit,
)
from dpsql.audit.clock import REST, AuditClock
from dpsql.audit.html_report import page as drawn_page
from dpsql.audit.samplers import CHOICES, DRAWS, check_samplers, seconds_of_samplers
from dpsql.engines.duckdb.process import confinement
from dpsql.privacy.mechanism import Gaussian
from dpsql.sql.emit.duckdb import DuckDB
from dpsql.sql.emit.measurement import row_values

#: The last is a sum of what is above 0:
#: of others a value that is not clamped shows in its size, #: and is scaled down.
STATEMENTS = (
    "SELECT sex, AVG(weight) AS w, COUNT(*) AS n FROM patients GROUP BY sex",
    "SELECT region, SUM(cost) FROM visits JOIN places USING (place) GROUP BY region",
    "SELECT COUNT(*) FROM visits WHERE cost > ?",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT MEDIAN(weight) FROM patients",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT SUM(cost) FROM visits",
    "SELECT SUM(COALESCE(cost, 0) + 1) FROM visits",
)
FEW = {"draws": 200_000, "choices": 200, "releases": 100}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither samplers nor lock-down, which have tests of their own."""
    monkeypatch.setattr("dpsql.audit.process_checks", lambda *_, **__: [])
    monkeypatch.setattr("dpsql.audit.seconds_of_samplers", lambda *_, **__: 0.1)
    for name in ("check_samplers", "lock_down"):
        monkeypatch.setattr(
            f"dpsql.audit.{name}", lambda *_, name=name, **__: CheckGroup(name, "left out", ())
        )


def answered(folder: Path) -> Path:
    """A clinic with a cost far below its bounds, whose journal holds the statements."""
    schema = clinic(folder)
    with duckdb.connect(str(schema.with_suffix(".duckdb"))) as connection:
        connection.execute("INSERT INTO visits VALUES (10, 4, 'yard', -99999, NULL)")
    with connect(schema, "ada") as connection:
        connection.execute("SET dpsql.reuse = off")
        for text in STATEMENTS:
            connection.execute(text, [3] if "?" in text else [])
    return schema


@pytest.fixture
def asked_clinic(tmp_path: Path) -> Path:
    return answered(tmp_path)


def room(report: AuditReport, name: str) -> dict[str, str]:
    """Verdicts by what was looked at."""
    return {
        check.what: check.verdict
        for each in report.groups
        if each.name == name
        for check in each.checks
    }


def test_an_honest_database_passes(tmp_path: Path) -> None:
    """Where it was answered: a copy of its ledger is not the one that is remembered."""
    report = audit(answered(tmp_path), AuditRequest(epsilon_of=STATEMENTS[:1], **FEW))
    failed = [
        check.what for each in report.groups for check in each.checks if check.verdict == "failed"
    ]
    if (
        confinement.landlock_version() < 4
    ):  # such a machine is told that it does not confine the engine
        failed = [what for what in failed if not what.startswith(("its process", "the kernel"))]
    assert failed == []
    looked = room(report, "sensitivity")
    assert all(looked[text] == "passed" for text in STATEMENTS), looked
    assert len(room(report, "lock-down")) > 90 and len(room(report, "samplers")) == 19
    assert list(room(report, "ledger").values()) == ["passed"] * 4
    assert report.count("skipped") == 0
    assert not report.passed or report.closing.startswith("all ")


class Unclamped(DuckDB):
    """The SQL of DuckDB, where GREATEST and LEAST leave values as they are."""

    def greatest(self, *values: exp.Expr) -> exp.Expr:
        return values[0]

    def least(self, *values: exp.Expr) -> exp.Expr:
        return values[0]


def test_statements_of_blocks_and_with_comments_are_looked_at(quick: None, tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    with connect(schema, "ada") as connection:
        connection.execute("SELECT COUNT(*) -- all of them\nFROM visits")
        connection.workload(
            ["SELECT SUM(cost) FROM visits", "SELECT AVG(cost) FROM visits"]
        ).execute()
    looked = room(audit(schema, AuditRequest(**FEW)), "sensitivity")
    texts = (
        "SELECT COUNT(*) -- all of them FROM visits",
        "SELECT SUM(cost) FROM visits",
        "SELECT AVG(cost) FROM visits",
    )
    assert {text: looked.get(text) for text in texts} == dict.fromkeys(texts, "passed")


def test_a_clamp_that_is_missing_is_found(
    quick: None, asked_clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clamped = row_values.quantised
    monkeypatch.setattr(
        row_values, "quantised", lambda _, *arguments: clamped(Unclamped(), *arguments)
    )
    report = audit(asked_clinic, AuditRequest(**FEW))
    assert room(report, "sensitivity")[STATEMENTS[-1]] == "failed" and not report.passed


def test_a_claim_that_is_too_small_is_found(
    quick: None, asked_clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Gaussian.for_rho
    monkeypatch.setattr(Gaussian, "for_rho", lambda limit, rho: right(max(limit // 100, 1), rho))
    report = audit(asked_clinic, AuditRequest(**FEW))
    assert room(report, "sensitivity")[STATEMENTS[0]] == "failed"


def test_the_ledger_and_the_data_are_left_as_they_are(asked_clinic: Path) -> None:
    folder = asked_clinic.parent

    def files() -> dict[str, bytes]:
        return {
            file.name: file.read_bytes()
            for file in folder.iterdir()
            if not file.name.endswith("-shm")
        }

    before = files()
    assert "clinic.ledger" in before
    audit(asked_clinic, AuditRequest(epsilon_of=STATEMENTS[:1], **FEW))
    assert files() == before


def test_a_database_without_a_ledger_gets_none(quick: None, tmp_path: Path) -> None:
    schema = clinic(tmp_path, parquet=True)
    before = sorted(tmp_path.rglob("*"))
    report = audit(schema, AuditRequest(statements=STATEMENTS[:1], **FEW))
    assert report.passed and room(report, "ledger") == {"ledger": "note"}
    assert sorted(tmp_path.rglob("*")) == before


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def dpsql(
    quick: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The command, with few draws."""
    monkeypatch.setattr(
        "dpsql.audit.AuditRequest",
        lambda *arguments, **named: AuditRequest(*arguments, **named, **FEW),
    )

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.commands(["audit", *arguments], prog_name="dpsql")
        streams = capsys.readouterr()
        return int(ended.value.code or 0), streams.out, streams.err

    return run


def test_no_form_of_the_report_tells_a_value_or_a_unit(
    asked_clinic: Path, dpsql: Command, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    for details in ([], ["--details"]):
        code, text, error = dpsql(
            str(asked_clinic), "--all", "--epsilon-of", STATEMENTS[0], "--page", str(page), *details
        )
        assert code == 0 and re.fullmatch(r"this takes about \d+ [a-z]+: .*\n", error)
        code, data, error = dpsql(str(asked_clinic), "--json", *details)
        marking = WITH_FIGURES if details else FOR_THE_OWNER
        drawn = page.read_text(encoding="utf-8")
        for form in (text, data, drawn):
            assert marking in form
            assert not any(canary in form for canary in CANARIES)
        assert "█" in text if details else "█" not in text
        assert ('class="bar"' in drawn) == bool(details)
        figures = [
            check.get("figures") for each in json.loads(data)["rooms"] for check in each["checks"]
        ]
        assert any(figures) if details else set(figures) == {None}


@contextmanager
def terminal_for_errors(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> Iterator[Callable[[], str]]:
    """A pseudo-terminal as standard error, and what was written to it."""
    mine, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with (
        os.fdopen(mine, "rb", buffering=0) as read,
        os.fdopen(theirs, "w", encoding="utf-8") as written,
    ):
        os.set_blocking(read.fileno(), False)
        monkeypatch.setattr(sys, "stderr", written)
        yield lambda: b"".join(iter(lambda: read.read(2**20) or b"", b"")).decode()


def test_a_terminal_is_told_how_far_it_is(
    asked_clinic: Path, dpsql: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, which is written over and is gone at the end; the report is as it is elsewhere."""
    monkeypatch.setenv("TERM", "xterm")
    few = (str(asked_clinic), "--units", "2", "--epsilon-of", STATEMENTS[0], "--json")
    for columns, longest in ((120, 74), (32, 31)):
        with terminal_for_errors(monkeypatch, columns) as seen:
            code, data, _ = dpsql(*few)
            said = seen()
        lines = said.split("\r\x1b[2K")
        assert code == 0 and json.loads(data)["passed"]
        assert lines[0] == lines[-1] == "" and "\n" not in said
        statements = [
            f"sensitivity: statement {place} of {len(STATEMENTS)}" for place in range(1, 9)
        ]
        assert [line for line in lines if "sensitivity: statement" in line] == statements
        assert max(map(len, lines)) == longest
        assert not any(text[:20] in said for text in (*STATEMENTS, *CANARIES))


@pytest.mark.parametrize(("term", "terminal"), [("xterm", False), ("dumb", True)])
def test_nothing_else_is_told_how_far_it_is(
    asked_clinic: Path, dpsql: Command, monkeypatch: pytest.MonkeyPatch, term: str, terminal: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    few = (str(asked_clinic), "--units", "2")
    if not terminal:
        assert re.fullmatch(r"this takes about \d+ seconds: .*\n", dpsql(*few)[2])
        return
    with terminal_for_errors(monkeypatch, 80) as seen:
        dpsql(*few, "--json")
        assert seen() == ""


def test_it_is_told_how_long_it_takes(
    asked_clinic: Path, dpsql: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line that stays, before anything is looked at, on standard error;
    beside JSON nothing is told.
    """
    monkeypatch.setenv("TERM", "xterm")
    few = (str(asked_clinic), "--units", "2")
    with terminal_for_errors(monkeypatch, 120) as seen:
        dpsql(*few)
        said = seen()
        told = re.search(
            r"\x1b\[2Kthis takes about \d+ seconds: 8 statements, each with and without 2 units.*\r\n",
            said,
        )
        assert told is not None and said.index("statement 1 of 8") > told.end()
        dpsql(*few, "--json")
        assert "about" not in seen()
    monkeypatch.setenv("TERM", "dumb")
    with terminal_for_errors(monkeypatch, 80) as seen:
        dpsql(*few)
        assert re.fullmatch(r"this takes about \d+ seconds: .*\r\n", seen())


def test_how_long_it_takes_follows_from_what_a_part_takes(
    quick: None, asked_clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement takes a hundredth of a second for each time it is run,
    each release a thousandth.
    """

    def look(
        neighbours: object, planner: object, plan: object, units: list[int], clock: object
    ) -> None:
        time.sleep(0.01 * (1 + len(units)))

    monkeypatch.setattr("dpsql.audit.sensitivity.statements.look", look)
    monkeypatch.setattr(
        sys.modules["dpsql.audit.empirical.lower_bound"],
        "_released",
        lambda *_, **__: time.sleep(0.1),
    )
    monkeypatch.setattr("dpsql.audit.seconds_of_samplers", lambda *_, **__: 7.0)
    found: list[ExpectedDuration] = []

    class Enough(Exception):
        pass

    def foretell(expected: ExpectedDuration) -> None:
        found.append(expected)
        raise Enough

    with pytest.raises(Enough):
        audit(
            asked_clinic,
            AuditRequest(epsilon_of=STATEMENTS[:2], units=9, releases=1000),
            foretell=foretell,
        )
    (expected,) = found
    assert (expected.statements, expected.units) == (len(STATEMENTS), 9)
    least = 8 * 10 * 0.01 + 2 * 6 * 1000 * 0.001 * 1.25 + 7.0 + REST
    assert least <= expected.seconds < 2 * least


@pytest.mark.slow
def test_samplers_take_about_as_long_as_is_foretold() -> None:
    draws, choices = DRAWS // 4, CHOICES // 4
    foretold, started = seconds_of_samplers(draws, choices), time.perf_counter()
    check_samplers(AuditClock(10), draws, choices)
    assert 1 / 5 < foretold / (time.perf_counter() - started) < 5


def test_every_room_and_sampler_is_told_by_the_name_it_has_in_the_report(
    asked_clinic: Path,
) -> None:
    lines: list[str] = []
    report = audit(
        asked_clinic, AuditRequest(epsilon_of=STATEMENTS[:1], units=2, **FEW), lines.append
    )
    assert {each.name for each in report.groups} == {line.partition(":")[0] for line in lines}
    samplers = list(room(report, "samplers"))
    told = [
        f"samplers: {place} of {len(samplers)}, {name}" for place, name in enumerate(samplers, 1)
    ]
    assert [line for line in lines if line.startswith("samplers")] == told
    pairs = [name.partition(" — ")[2] for name in room(report, "empirical ε")]
    told = [
        line.partition(", ")[2]
        for line in lines
        if line.startswith("empirical ε: statement 1 of 1, ")
    ]
    assert len(pairs) == 3 and told == pairs


def test_the_page_loads_nothing_and_escapes_everything(
    asked_clinic: Path, dpsql: Command, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    hostile = 'SELECT COUNT(*) AS "<script>alert(1)</script>" FROM patients WHERE ward < 2'
    dpsql(str(asked_clinic), "--statement", hostile, "--page", str(page), "--details")
    drawn = page.read_text(encoding="utf-8")
    assert drawn.startswith("<!DOCTYPE html>") and "&lt;script&gt;" in drawn
    assert not any(
        word in drawn for word in ("<script", "http:", "https:", "src=", "@import", "url(")
    )


def test_a_long_list_on_the_page_folds_nothing_but_what_passed() -> None:
    checks = [AuditCheck(f"attempt {place}", "passed") for place in range(40)] + [
        AuditCheck("a datagram", "note", "it can")
    ]
    report = AuditReport(
        "clinic", "", datetime.now(UTC), (), (CheckGroup("lock-down", "shows", tuple(checks)),)
    )
    seen = drawn_page(report, details=False).partition("<details>")[0]
    assert "a datagram" in seen and "attempt 0" not in seen


def test_a_fault_is_an_exit_code(asked_clinic: Path, dpsql: Command) -> None:
    asked_clinic.with_name("clinic.ledger").chmod(0o666)
    code, text, _ = dpsql(str(asked_clinic))
    assert code == 3 and "✗ file of the ledger" in text and "1 of " in text.splitlines()[-1]


def test_statements_come_from_files_too(asked_clinic: Path, dpsql: Command, tmp_path: Path) -> None:
    file = tmp_path / "more.sql"
    file.write_text(
        "SELECT COUNT(DISTINCT place) FROM visits;\nSELECT MIN(cost) FROM visits;\n-- nothing\n"
    )
    code, text, _ = dpsql(str(asked_clinic), "--file", str(file), "--units", "3")
    assert code == 0
    assert (
        "✓ SELECT COUNT(DISTINCT place) FROM visits" in text
        and "✓ SELECT MIN(cost) FROM visits" in text
    )


@pytest.mark.parametrize("option", ["--statement", "--epsilon-of", "--file"])
def test_a_named_statement_that_cannot_be_checked_ends_the_audit(
    asked_clinic: Path, dpsql: Command, tmp_path: Path, option: str
) -> None:
    file, page = tmp_path / "more.sql", tmp_path / "page.html"
    for text, code in (
        ("not sql", "E_PARSE"),
        ("SELECT name FROM patients", "E_RAW"),
        ("SELECT SUM(c", "E_PARSE"),
    ):
        file.write_text(f"{STATEMENTS[0]};\n{text};\n")
        named = str(file) if option == "--file" else text
        ended, told, error = dpsql(
            str(asked_clinic), "--statement", STATEMENTS[0], option, named, "--page", str(page)
        )
        assert (ended, told) == (1, "") and not page.exists()
        assert (
            f"1 of 2 statements cannot be checked under this schema\n  {text}\n    {code} " in error
        )


def test_all_that_cannot_be_checked_is_told_at_once(asked_clinic: Path, dpsql: Command) -> None:
    code, _, error = dpsql(
        str(asked_clinic), "--statement", "not sql", "--statement", "SELECT naem FROM patients"
    )
    assert code == 1 and "2 of 2 statements" in error and error.count("E_") == 2
    code, _, error = dpsql(str(asked_clinic), "--statement", "")
    assert (
        code == 1
        and "the statement cannot be checked under this schema\n  (no statement)\n    E_PARSE"
        in error
    )


def test_a_statement_of_the_journal_that_is_answered_no_more_is_not_looked_at(
    quick: None, asked_clinic: Path
) -> None:
    asked_clinic.write_text(asked_clinic.read_text().replace("bounds = [0, 500], ", ""))
    looked = room(audit(asked_clinic, AuditRequest(**FEW)), "sensitivity")
    assert (looked[STATEMENTS[-1]], looked[STATEMENTS[0]]) == ("skipped", "passed")


def test_nothing_that_serves_analysts_reaches_the_audit() -> None:
    program = (
        "import sys, dpsql, dpsql.dbapi, dpsql.sqlalchemy, dpsql.server.listener, dpsql.repl.run, dpsql.cli;"
        "sys.exit(any(name.startswith('dpsql.audit') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
