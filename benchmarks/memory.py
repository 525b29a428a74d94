"""Which statements are answered within how much memory, how long they take and how much is spilled.

Run ``python benchmarks/memory.py [--rows 10000000] [--memory 1GB 500MB] [--only WORDS]``; it
generates a table of so many rows of a tenth as many people, 1,000 items and 5,000 tags in a
temporary folder. ``--spill 0GB`` shows what fails where nothing may be spilled. Seconds are those
of the clock; sizes are the most that was seen while a statement ran, of the engine's process and of
its folder for spilling.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import duckdb

from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.errors import DatabaseError
from dpsql.session import Session, open_session

SCHEMA = """
name = "memory"
source = "memory.duckdb"
ledger = "{memory}.ledger"
[privacy]
unit = "people.person"
epsilon = 1000000
delta = 1e-6
query_epsilon = 1
keep_answers = false
[engine]
memory = "{memory}"
{spill}
[tables.people]
key = "person"
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
region = {{ type = "integer", bounds = [0, 6] }}
age = {{ type = "integer", bounds = [18, 100] }}
[tables.events]
references = {{ person = "people.person" }}
max_rows_per_unit = 30
max_groups_per_unit = 30
[tables.events.columns]
person = {{ type = "integer" }}
item = {{ type = "integer", bounds = [0, 999] }}
amount = {{ type = "double", bounds = [0, 1000] }}
tag = {{ type = "text" }}
"""
DATA = """
CREATE TABLE people AS SELECT range::BIGINT AS person, (range % 7)::INTEGER AS region,
    (18 + hash(range) % 80)::INTEGER AS age FROM range({people});
CREATE TABLE events AS SELECT (hash(range) % {people})::BIGINT AS person, (hash(range + 7) % 1000)::INTEGER AS item,
    (hash(range + 13) % 100000) / 100.0::DOUBLE AS amount, 'tag' || (hash(range + 17) % 5000) AS tag FROM range({rows});
"""
STATEMENTS = {
    "AVG and COUNT by 1,000 keys": "SELECT item, AVG(amount), COUNT(*) FROM events GROUP BY item",
    "units by 1,000 keys": "SELECT item, COUNT(DISTINCT person) FROM events GROUP BY item",
    "5,000 undeclared keys": "SELECT tag, COUNT(*), SUM(amount) FROM events GROUP BY tag",
    "distinct texts by 1,000 keys": "SELECT item, COUNT(DISTINCT tag) FROM events GROUP BY item",
    "medians of 10 keys": "SELECT item % 10 AS tens, MEDIAN(amount) FROM events GROUP BY 1",
    "MAX by 1,000 keys": "SELECT item, MAX(amount) FROM events GROUP BY item",
    "join of two tables": "SELECT region, AVG(amount), COUNT(*) FROM events JOIN people USING (person) GROUP BY region",
    "join, by 7,000 keys": "SELECT item, region, COUNT(*), SUM(age) FROM events JOIN people USING (person) "
    "GROUP BY item, region",
    "ROLLUP over a join": "SELECT item, region, COUNT(*) FROM events JOIN people USING (person) "
    "GROUP BY ROLLUP (item, region)",
    "sums per person": "SELECT AVG(x), COUNT(*) FROM (SELECT person, SUM(amount) AS x FROM events "
    "GROUP BY person) AS t",
}


class Watch:
    """The most memory of a process, and the largest size of a folder, in millions of bytes,
    while something runs.
    """

    def __init__(self, pid: int, folder: Path) -> None:
        self._status, self._folder, self._over = (
            Path(f"/proc/{pid}/status"),
            folder,
            threading.Event(),
        )
        self.memory = self.spilled = 0.0
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            with suppress(OSError):
                said = dict(line.split(":", 1) for line in self._status.read_text().splitlines())
                self.memory = max(self.memory, int(said["VmRSS"].split()[0]) / 1000)
            with suppress(OSError):
                sizes = [file.stat().st_size for file in self._folder.rglob("*") if file.is_file()]
                self.spilled = max(self.spilled, sum(sizes) / 10**6)


def pid_of(session: Session) -> int:
    """The number of the engine's process."""
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine) and isinstance(engine._data, ProcessData)
    return engine._data.pid


def measured(session: Session, folder: Path, text: str) -> str:
    """A line on the statement: whether it was answered, seconds, memory and what was spilled."""
    with Watch(pid_of(session), folder) as seen:
        before = perf_counter()
        try:
            said = f"{len(session.execute(text).rows):,} rows"
        except DatabaseError as error:
            said = str(error).split()[0]
        took = perf_counter() - before
    return f"{said:>12} {took:8.1f} s {seen.memory:8,.0f} MB {seen.spilled:8,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--memory", nargs="+", default=["1GB", "500MB"])
    parser.add_argument("--spill")
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, spilled = Path(name), Path(name, "spilled")
        spilled.mkdir()
        tempfile.tempdir = str(spilled)
        with duckdb.connect(str(folder / "memory.duckdb")) as connection:
            connection.execute(DATA.format(rows=chosen.rows, people=max(chosen.rows // 10, 1)))
        print(f"DuckDB {duckdb.__version__}, {chosen.rows:,} rows")
        print(f"{'':38} {'':>12} {'time':>10} {'memory':>11} {'spilled':>11}", flush=True)
        for memory in chosen.memory:
            schema = folder / f"{memory}.toml"
            spill = "" if chosen.spill is None else f'spill = "{chosen.spill}"'
            schema.write_text(SCHEMA.format(memory=memory, spill=spill))
            session = open_session(schema)
            for what, text in STATEMENTS.items():
                if chosen.only in what:
                    print(f"{memory:>8} {what:29} {measured(session, spilled, text)}", flush=True)
            session.close()


if __name__ == "__main__":
    main()
