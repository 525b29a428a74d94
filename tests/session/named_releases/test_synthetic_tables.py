"""CREATE SYNTHETIC TABLE charges once, keeps rows in the types and values of its source,
and says what it did.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import clinic, without_noise

import dpsql
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.session.database import Database, open_database

CREATE = "CREATE SYNTHETIC TABLE twins AS SELECT sex, ward AS room FROM patients WHERE weight IS NOT NULL"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path))
    yield opened
    opened.close()


def test_a_table_is_made_and_everybody_reads_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    with dpsql.connect(clinic(tmp_path, parquet=True), analyst="ada") as connection:
        made = connection.execute(f"{CREATE} PRICE 2")
        assert made.description is None and made.price.charged == 2 and made.price.cost.rho == 2
        assert made.notices == (
            "`twins` has 4 synthetic rows, drawn of a model of 3 noisy marginals of patients",
        )
        (entry,) = connection._session.accountant.ledger.history()
        assert entry.cost.rho == 2 and entry.statement == f"{CREATE} PRICE 2"
        (note,) = json.loads(entry.cells)
        measured = [each["measures"] for each in note["cells"]]
        assert measured == ["counts of each of 2 columns", "counts of 1 pairs of columns"]
        rows = connection.execute("SELECT * FROM twins ORDER BY room, sex").fetchall()
        assert [
            str(each) for each in connection.schema.tables["twins"].columns["sex"].values or ()
        ] == ["f", "m"]
        # Without noise: the patients with a weight and a declared sex,
        # their wards clamped to 0 and # 4; rows are drawn.
        assert len(rows) == 4 and {sex for sex, _ in rows} <= {"f", "m", None}
        assert {room for _, room in rows} <= {0, 1, 2, 3, 4, None}
        assert sum(row in {("f", 0), ("m", 0), ("m", 1), (None, 2), ("m", 3)} for row in rows) >= 3
    with dpsql.connect(tmp_path / "clinic.toml", analyst="bob") as connection:
        assert connection.execute("SELECT * FROM twins ORDER BY room, sex").fetchall() == rows
        for file in (tmp_path / "clinic").iterdir():
            os.utime(file, ns=(2, 2))
        (listed,) = connection.execute("SHOW SYNTHETIC TABLES").fetchall()
        assert listed[:2] == ("twins", "ada") and listed[5].startswith("stale")
        assert connection.execute("SELECT COUNT(*) FROM twins").notices == (
            "`twins` is stale: the data have changed since it was made",
        )


def test_what_fails_after_the_charge_stays_charged_and_keeps_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.session.execution.measure", lambda *_, **__: 1 / 0)
    with pytest.raises(ExecutionFailed):
        database.session("ada").execute(CREATE)
    assert (
        len(list(database.accountant.ledger.history())) == 1
        and database.accountant.ledger.named() == ()
    )


def test_without_the_package_nothing_is_charged(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(OperationalError, match=r'pip install "dpsql\[synthetic\]"'):
        database.session("ada").execute(CREATE)
    assert list(database.accountant.ledger.history()) == []


def exact_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, without: int | None
) -> list[dict[Any, int]]:
    """The exact counts that the engine gives for visits where one patient,
    and all that is theirs, is left out.
    """
    folder.mkdir()
    schema = clinic(folder)
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "INSERT INTO visits SELECT 100 + range, 2, 'ward', range * 60, 'many' FROM range(9)"
        )
        for table in ("visits", "patients") if without is not None else ():
            connection.execute(f"DELETE FROM {table} WHERE patient = {without}")
    found: list[list[tuple[Any, ...]]] = []

    def watched(exact: Any, *_: Any, **__: Any) -> None:
        found.extend(exact.reveal())
        raise ValueError

    monkeypatch.setattr("dpsql.session.execution.measure", watched)
    opened = open_database(schema)
    with pytest.raises(ExecutionFailed):
        opened.session("ada").execute(
            "CREATE SYNTHETIC TABLE twins AS SELECT cost FROM visits PRICE 1"
        )
    opened.close()
    return [{row[:-1]: row[-1] for row in core} for core in found]


@pytest.mark.parametrize("patient", [1, 2, 6])
def test_a_unit_moves_the_exact_counts_by_no_more_than_the_noise_is_made_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patient: int
) -> None:
    """Three of a patient's visits count, however many there are: 3 rows of 2,048 steps."""
    whole = exact_counts(tmp_path / "all", monkeypatch, None)
    rest = exact_counts(tmp_path / "one less", monkeypatch, patient)
    for one, other in zip(whole, rest, strict=True):
        assert one.keys() == other.keys()
        assert Fraction(sum(abs(one[key] - other[key]) for key in one), 2048) <= 3
