"""``dpsql schema tune``: limits and bounds found privately, charged once,
written into the file, and then used.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from command_runs import NAFLD, Dpsql

from dpsql.errors import ExecutionFailed
from dpsql.privacy.ledger import Entry
from dpsql.schema import load
from dpsql.schema.authoring.missing_limits import missing_limits
from dpsql.schema.table import RowsPerGroup
from dpsql.session import open_accountant

LIMITS = "max_rows_per_unit = 60\nmax_groups_per_unit = 4\n"
BOUNDS = (", bounds = [0, 300]", ", bounds = [120, 220]", ", bounds = [10, 80]")
#: What is said where nothing was found.
STAYS = "The charge stays, as entry 1; nothing was found, and nothing is written. Another run charges anew."
#: What is said behind a field that was found.
FOUND = re.compile(
    r"# (bounds )?found privately on \d{4}-\d\d-\d\d, with \d+ more, for 1/20 of the budget$"
)


@pytest.fixture
def loose(checkout: Path) -> Path:
    """The study's schema without limits of patients and labs,
    and without bounds of three columns.
    """
    file = checkout / NAFLD
    text = file.read_text()
    for declared in (LIMITS, "max_rows_per_unit = 1\n", *BOUNDS):
        assert declared in text
        text = text.replace(declared, "")
    file.write_text(text)
    return file


def entries(file: Path) -> list[Entry]:
    """The lines of the ledger, whatever the schema lacks."""
    return list(open_accountant(missing_limits(file).schema).ledger.history())


def test_what_is_found_is_written_and_statements_use_it(dpsql: Dpsql, loose: Path) -> None:
    assert dpsql("query", NAFLD, "SELECT COUNT(*) FROM labs").code == 2, "nothing limits a unit"
    before = loose.read_text()
    run = dpsql(
        "schema",
        "tune",
        NAFLD,
        "--share",
        "1/20",
        "--table",
        "labs",
        "--table",
        "patients",
        "--yes",
    )
    assert run.code == 0, run.err
    schema = load(loose)
    labs, patients = schema.tables["labs"], schema.tables["patients"]
    assert patients.max_rows_per_unit == 1
    assert labs.max_rows_per_unit is not None and 20 <= labs.max_rows_per_unit <= 200
    assert labs.max_groups_per_unit in (3, 4)
    assert (
        isinstance(labs.max_rows_per_group, RowsPerGroup)
        and 5 <= (labs.averaged_rows_per_group or 0) <= 12
    )
    low, high = labs.columns["value"].bounds  # type: ignore[misc]
    assert -10 <= low <= 20 and 100 <= high <= 1000
    low, high = patients.columns["height"].bounds  # type: ignore[misc]
    assert 50 <= low <= 160 and 160 <= high <= 630
    added = [line for line in loose.read_text().splitlines() if line not in before.splitlines()]
    known = "max_rows_per_unit = 1  # a unit has one row, as its column is the key"
    assert len(added) == 10 and all(line == known or FOUND.search(line) for line in added)
    assert [line for line in before.splitlines() if line.startswith("#")] == [
        line for line in loose.read_text().splitlines() if line.startswith("#")
    ]
    assert f"[tables.labs] max_rows_per_unit = {labs.max_rows_per_unit}\n" in run.out
    assert labs.rows_beyond_limit is not None and labs.rows_beyond_limit < Fraction(1, 10)
    assert f"[tables.labs] rows_beyond_limit = {float(labs.rows_beyond_limit):g}\n" in run.out
    assert re.search(
        r"\nlabs: about \d+ ± \d+ units have more than \d+ rows; the limit leaves out about",
        run.out,
    )
    assert re.search(
        r"Rows of units are counted to about ± \d+ units on each step of a ladder\.\n", run.err
    )
    assert "  COUNT(*) FROM labs: refused -> ± " in run.out
    assert "  AVG(value) FROM labs in a group of 1,000 rows: refused -> ± " in run.out
    (entry,) = open_accountant(schema).ledger.history()
    assert entry.analyst == "owner" and entry.statement.startswith(
        "dpsql schema tune: max_rows_per_unit of labs, "
    )
    budget = open_accountant(schema).budget
    assert budget.rho_total * 49 / 1000 < entry.cost.rho <= budget.rho_total / 20
    history = dpsql("budget", NAFLD, "--history").out
    assert "bounds of labs.value" in history
    text = "SELECT test, AVG(value) AS mean, COUNT(*) AS n FROM labs GROUP BY test"
    answer = dpsql("query", NAFLD, text, "--format", "csv")
    assert answer.code == 0 and 40 < float(re.findall(r"hdl,([\d.]+)", answer.out)[0]) < 65
    assert dpsql("schema", "check", NAFLD).code == 0


def test_bounds_that_would_be_noisy_are_left_to_statements(dpsql: Dpsql, loose: Path) -> None:
    """At a small share each of three columns has a few thousandths of it: limits have all,
    and a query finds bounds.
    """
    run = dpsql("schema", "tune", NAFLD, "--share", "1/100", "--yes")
    assert run.code == 0 and '[tables.labs.columns] value: bounds = "auto"\n' in run.out, run.err
    schema = load(loose)
    assert (
        schema.tables["labs"].columns["value"].automatic and schema.tables["labs"].max_rows_per_unit
    )
    (line,) = [line for line in loose.read_text().splitlines() if line.startswith("value = ")]
    assert line.endswith("# bounds are found when a statement needs them")
    (entry,) = open_accountant(schema).ledger.history()
    assert "max_rows_per_unit of labs" in entry.statement and "bounds" not in entry.statement
    answer = dpsql(
        "query", NAFLD, "SELECT AVG(value) AS mean FROM labs WHERE test = 'hdl'", "--format", "csv"
    )
    assert answer.code == 0 and 30 < float(answer.out.split()[1].split(",")[0]) < 75
    found = [entry.statement for entry in open_accountant(schema).ledger.history()]
    assert found[1:2] == ["bounds of labs.value"] and len(found) == 3
    assert dpsql("schema", "tune", NAFLD, "--share", "1/20", "--only", "bounds", "--yes").code == 0
    assert not load(loose).tables["labs"].columns["value"].automatic


def test_a_dry_run_charges_nothing_and_a_no_ends_it(dpsql: Dpsql, loose: Path) -> None:
    text = loose.read_text()
    dry = dpsql("schema", "tune", NAFLD, "--dry-run")
    assert dry.code == 0 and not dry.out
    assert (
        "labs: max_rows_per_unit, max_groups_per_unit, max_rows_per_group, by test; bounds of value\n"
        in dry.err
    )
    assert re.search(
        r"This takes 1/10 of the budget, once: as much as \d answers; 36 of 36 answers left\.",
        dry.err,
    )
    refused = dpsql("schema", "tune", NAFLD, stdin="n\n")
    assert refused.code == 1 and "Spend it? [y/N]" in refused.err
    assert dpsql("schema", "tune", NAFLD).code == 1, "nobody answers"
    assert loose.read_text() == text and not entries(loose)


def test_it_charges_each_time_and_says_so_before(dpsql: Dpsql, loose: Path) -> None:
    arguments = ("schema", "tune", NAFLD, "--share", "0.02", "--only", "limits", "--table", "labs")
    assert dpsql(*arguments, "--yes").code == 0
    first = entries(loose)
    assert "max_rows_per_unit of patients" not in first[0].statement
    again = dpsql(*arguments, stdin="y\n")
    assert (
        again.code == 0
        and "It was done before, on " in again.err
        and "(entry 1), which stays charged" in again.err
    )
    assert [entry.seq for entry in entries(loose)] == [1, 2]
    assert loose.read_text().count("found privately") == 5


def test_what_the_key_tells_is_free_and_then_nothing_is_open(dpsql: Dpsql, checkout: Path) -> None:
    file = checkout / NAFLD
    text = re.sub(r"case_id = .*\n", "", file.read_text()).replace("max_rows_per_unit = 1\n", "")
    for groups in ("max_groups_per_unit = 4\n", "max_groups_per_unit = 10\n"):
        text = text.replace(groups, f"{groups}max_rows_per_group = {{ avg = 2 }}\n")
    file.write_text(text)
    run = dpsql("schema", "tune", NAFLD, "--yes")
    assert run.code == 0 and run.out == "[tables.patients] max_rows_per_unit = 1\n"
    assert not (checkout / "dpsql/data/nafld/dpsql.ledger").exists()
    again = dpsql("schema", "tune", NAFLD)
    assert again.code == 0 and again.out.startswith(
        "nothing is left open in it; --table NAME looks for the limits"
    )


def test_a_failure_after_the_charge_is_the_constant_error_and_says_what_stays(
    dpsql: Dpsql, loose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = loose.read_text()
    monkeypatch.setattr("dpsql.session.execution.count", lambda *_, **__: 1 / 0)
    run = dpsql("schema", "tune", NAFLD, "--yes")
    assert run.code == 1 and "division" not in run.err and str(ExecutionFailed())[:6] in run.err
    assert STAYS in run.err
    assert loose.read_text() == text and len(entries(loose)) == 1


def test_ctrl_c_after_the_charge_says_what_stays(
    dpsql: Dpsql, loose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpsql.session.execution.count", interrupted)
    run = dpsql("schema", "tune", NAFLD, "--yes")
    assert run.code == 1 and STAYS in run.err
    assert len(entries(loose)) == 1


def test_a_file_that_cannot_be_written_loses_nothing_that_was_paid_for(
    dpsql: Dpsql, loose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda place, mode: mode != os.W_OK)
    run = dpsql("schema", "tune", NAFLD, "--yes")
    assert run.code == 2 and "cannot be written; allow that first" in run.err and not entries(loose)
    monkeypatch.undo()
    monkeypatch.chdir(loose.parent.parent)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys.modules["dpsql.cli.schema.tune"], "_replace", full)
    run = dpsql("schema", "tune", NAFLD, "--yes")
    assert (
        run.code == 2
        and "could not be written. What was found is above: write these fields yourself." in run.err
    )
    assert "[tables.labs] max_rows_per_unit = " in run.out


def test_the_file_keeps_its_rights_and_leaves_no_other(dpsql: Dpsql, loose: Path) -> None:
    loose.chmod(0o640)
    beside = {place.name for place in loose.parent.iterdir()}
    run = dpsql(
        "schema",
        "tune",
        NAFLD,
        "--yes",
        "--only",
        "bounds",
        "--table",
        "patients",
        "--share",
        "0.01",
    )
    assert run.code == 0 and stat.S_IMODE(loose.stat().st_mode) == 0o640
    assert {place.name for place in loose.parent.iterdir()} == beside


def test_one_column_is_found_by_itself(dpsql: Dpsql, loose: Path) -> None:
    run = dpsql("schema", "tune", NAFLD, "--column", "patients.height", "--share", "0.02", "--yes")
    assert run.code == 0, run.err
    (entry,) = entries(loose)
    assert entry.statement == "dpsql schema tune: bounds of patients.height"
    assert loose.read_text().count("found privately") == 1 and "Rows of units are" not in run.err
    assert "Values of units are counted to about ± " in run.err
    refused = dpsql("schema", "tune", NAFLD, "--column", "labs.value", "--table", "labs", "--yes")
    assert refused.code == 2 and "give it without --table and --only" in refused.err


def test_parts_of_a_budget_and_tables(dpsql: Dpsql, loose: Path) -> None:
    for share in ("0", "2", "-1/2", "x", "1/0"):
        run = dpsql("schema", "tune", NAFLD, "--share", share, "--yes")
        assert run.code == 2 and "is no part of the budget" in run.err
    run = dpsql("schema", "tune", NAFLD, "--table", "conditions", "--yes")
    assert (
        run.code == 2
        and "there is no private table conditions; private are patients, labs, diagnoses" in run.err
    )
    assert not entries(loose)


@pytest.mark.slow
def test_neighbours_that_are_replaced_and_a_pure_budget(dpsql: Dpsql, loose: Path) -> None:
    text = loose.read_text()
    changes = (
        'delta = 1e-6\nneighbours = "replace"',
        "delta = 0",
        'delta = 1e-6\naccountant = "rdp"',
    )
    for place, change in enumerate(changes):
        own = text.replace("delta = 1e-6", change)
        loose.write_text(
            own.replace('name = "nafld"', f'name = "study{place}"\nledger = "{place}.ledger"')
        )
        run = dpsql("schema", "tune", NAFLD, "--yes")
        assert run.code == 0, run.err
        assert 10 <= (load(loose).tables["labs"].max_rows_per_unit or 0) <= 300
