"""How long a version takes to be opened is told in whole buckets:
the answer leaves at a multiple of the bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from replaced import COUNTED, put, town
from timed_engine import Clock

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.files.versions import Versions
from dpsql.errors import OperationalError
from dpsql.session.database import open_database
from dpsql.session.public_sizes import fanout_sql, values_sql
from dpsql.session.public_tables import PublicTables
from dpsql.session.side_channels import ResponseTiming
from dpsql.sql.emit.duckdb import DUCKDB


class SlowTown:
    """A town with a public table, of which a version that is not open takes twelve seconds to be
    opened.
    """

    BUCKET = 10

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(opening, "OWN_PROCESS", False)
        self._folder, self.clock, self._version, opens = folder, Clock(), 1, Versions._current
        schema = town(folder)
        public = (
            '[tables.kinds]\npublic = true\n[tables.kinds.columns]\nkind = { type = "integer" }\n'
        )
        schema.write_text(
            schema.read_text().replace("delta = 0", f"delta = 0\ntime_bucket = {self.BUCKET}")
            + public
        )
        duckdb.sql(
            f"COPY (SELECT range AS kind FROM range(2)) TO '{folder / 'data' / 'kinds.parquet'}'"
        )
        self.database = open_database(schema)
        self.session = self.database.session()
        self.session._execution.clock = self.clock

        def slow(data: LocalData, *opening: Any) -> object:
            if not data._is_current():
                for each in opening:
                    each()
                self.clock.work(12)
            return opens(data, *opening)

        monkeypatch.setattr(Versions, "_current", slow)

    def change(self) -> None:
        self._version = 3 - self._version
        put(self._folder, self._version)

    def takes(self, work: Callable[[], object]) -> float:
        """The seconds on the clock."""
        before = self.clock.time
        work()
        return self.clock.time - before


@pytest.fixture
def slow_town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowTown]:
    made = SlowTown(tmp_path, monkeypatch)
    yield made
    made.database.close()


def test_opening_a_version_takes_whole_buckets(slow_town: SlowTown) -> None:
    """It reads all keys and texts, so that how long it takes depends on the data;
    nothing was charged for it.
    """
    for seconds in (10, 30):
        assert slow_town.takes(lambda: slow_town.session.execute(COUNTED)) == seconds
        slow_town.change()


@pytest.mark.parametrize("changed", [False, True])
def test_what_is_read_of_public_tables_opens_a_version_in_whole_buckets(
    slow_town: SlowTown, changed: bool
) -> None:
    """Rows for the sandbox, sizes for the planner, values of a column,
    and all of these in a statement that is free.
    """
    tables = PublicTables(slow_town.database._engine, Fraction(10), lambda: slow_town.clock)
    counting, listing = fanout_sql(DUCKDB, "kinds", ()), values_sql(DUCKDB, "kinds", "kind")
    joined = "EXPLAIN PRIVACY SELECT COUNT(*) FROM visits JOIN kinds ON kinds.kind < visits.kind"
    for work in (
        lambda: tables.rows("kinds"),
        lambda: tables.public_count(counting, frozenset({"kinds"})),
        lambda: tables.public_column(listing, frozenset({"kinds"})),
        lambda: slow_town.session.execute(joined),
    ):
        if changed:
            slow_town.change()
        assert slow_town.takes(work) == (20 if changed else 0)


def test_a_version_that_cannot_be_opened_is_told_of_after_whole_buckets(
    slow_town: SlowTown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = "EXPLAIN PRIVACY SELECT COUNT(*) FROM visits JOIN kinds ON kinds.kind < visits.kind"
    (tmp_path / "data" / "visits.parquet").write_bytes(b"nothing")

    def refused() -> None:
        with pytest.raises(OperationalError, match="cannot be opened"):
            slow_town.session.execute(joined)

    for _ in range(2):
        assert slow_town.takes(refused) == 20


def test_a_version_that_changes_while_it_is_read_is_opened_again_in_the_same_buckets(
    slow_town: SlowTown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time begins with the first opening of a block, and with one in its midst."""
    with ResponseTiming(None, Fraction(10), slow_town.clock) as departure:
        held = slow_town.database._engine.hold(departure.begin)
        assert departure._begun is None
        for seconds in (12, 24):
            slow_town.change()
            held.data._renew()
            assert departure._begun == slow_town.clock.time - seconds
    held.__exit__(None, None, None)
    assert departure._begun == slow_town.clock.time - 30
