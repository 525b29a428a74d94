"""Statements with very many public keys, beside the same GROUP BY in plain DuckDB.

Run ``python benchmarks/domains.py``; it takes about a minute. Times are seconds of the processor,
the median of several runs by turns, with the engine in the same process; ratios are to the plain
statement of the same run, which gives the same rows. *Narrowed* is a statement over counties and
quarters of two centuries with ``d_year = 2000`` around its CTE.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb

from dpsql.session import Session, open_session

SCHEMA = """\
name = "star"
source = "data"

# The people are made up, so the total leaves room for as many runs as a benchmark likes.
[privacy]
unit = "customer.customer_id"
epsilon = 1000000
delta = 1e-6
query_epsilon = 1
mechanism = "{mechanism}"

[engine]
process = false

[tables.site]
public = true
[tables.site.columns]
site_id = {{ type = "integer" }}

[tables.county]
public = true
[tables.county.columns]
county_id = {{ type = "integer" }}
county_name = {{ type = "text" }}

[tables.date_dim]
public = true
[tables.date_dim.columns]
d_date_sk = {{ type = "integer" }}
d_year = {{ type = "integer" }}
d_qoy = {{ type = "integer" }}

[tables.customer]
key = "customer_id"
max_rows_per_unit = 1
[tables.customer.columns]
customer_id = {{ type = "integer" }}
county_id = {{ type = "integer" }}

[tables.sales]
references = {{ customer_id = "customer.customer_id" }}
max_rows_per_unit = 30
[tables.sales.columns]
customer_id = {{ type = "integer" }}
site_id = {{ type = "integer" }}
sold_date_sk = {{ type = "integer" }}
price = {{ type = "double", bounds = [0, 100] }}
"""
TABLES = {
    "site": "SELECT range AS site_id FROM range({keys})",
    "county": "SELECT range AS county_id, 'County ' || range AS county_name FROM range(1499)",
    "date_dim": "SELECT range AS d_date_sk, year(day) AS d_year, quarter(day) AS d_qoy FROM (SELECT range, "
    "DATE '1900-01-01' + range::INTEGER AS day FROM range(73049))",
    "customer": "SELECT range AS customer_id, (hash(range) % 1499)::INTEGER AS county_id FROM range(100000)",
    "sales": "SELECT (hash(7 * range + 1) % 100000)::BIGINT AS customer_id, "
    "(hash(13 * range) % {keys})::BIGINT AS site_id, (35794 + hash(31 * range) % 1800)::BIGINT AS sold_date_sk, "
    "(hash(3 * range) % 10000) / 100.0 AS price FROM range(1000000)",
}
BY_SITE = (
    "SELECT site.site_id, {} FROM site {} JOIN sales ON sales.site_id = site.site_id GROUP BY 1"
)
BY_QUARTER = (
    "WITH q AS (SELECT county_name, d_year, d_qoy, COUNT(*) AS n FROM sales JOIN customer USING (customer_id) "
    "JOIN county ON county.county_id = customer.county_id JOIN date_dim ON sold_date_sk = d_date_sk GROUP BY 1, 2, 3) "
    "SELECT * FROM q WHERE d_year = 2000"
)
AGGREGATES = {"COUNT(*)": "COUNT(*)", "SUM": "SUM(price)", "AVG": "AVG(price)"}


def generate(folder: Path, keys: int) -> None:
    """Write ``folder/data``, the same for the same number of keys."""
    (folder / "data").mkdir()
    with duckdb.connect() as con:
        for name, sql in TABLES.items():
            con.execute(
                f"COPY ({sql.format(keys=keys)}) TO '{folder / 'data' / name}.parquet' (FORMAT parquet)"
            )


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and of the processor."""
    clock, used = time.perf_counter(), _processor()
    run()
    return time.perf_counter() - clock, _processor() - used


def _processor() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def measured(folder: Path, mechanism: str, repeats: int) -> None:
    """Print one row for each statement."""
    schema = folder / f"{mechanism}.toml"
    schema.write_text(SCHEMA.format(mechanism=mechanism))
    asked = {
        f"{name} by site": (BY_SITE.format(sql, ""), BY_SITE.format(sql, "LEFT"))
        for name, sql in AGGREGATES.items()
    }
    asked["narrowed"] = (BY_QUARTER, BY_QUARTER)
    session = open_session(schema, ledger=folder / f"{mechanism}.ledger")
    plain = duckdb.connect(config={"threads": os.cpu_count() or 1})
    for name in TABLES:
        plain.execute(f"CREATE VIEW {name} AS FROM '{folder / 'data' / name}.parquet'")
    try:
        for name, (private, public) in asked.items():
            rows = [
                _row(session, plain, f"/* {turn} */ {private}", public, turn)
                for turn in range(repeats)
            ]
            clock, used, beside = (median(column) for column in zip(*rows, strict=True))
            print(
                f"{mechanism:9} {name:16} {clock:8.2f} {used:8.2f} {beside:8.2f} {used / beside:7.1f} ×"
            )
    finally:
        session.close()


def _row(
    session: Session, plain: duckdb.DuckDBPyConnection, private: str, public: str, turn: int
) -> tuple[float, float, float]:
    session.epsilon = 1 + turn / 1000  # another price, so that it is not an answer already paid for
    clock, used = timed(lambda: session.execute(private))
    return clock, used, timed(lambda: plain.execute(public).fetchall())[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{'noise':9} {'statement':16} {'clock':>8} {'dpsql':>8} {'plain':>8}   ratio")
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), options.keys)
        for mechanism in ("gaussian", "laplace"):
            measured(Path(name), mechanism, options.repeats)


if __name__ == "__main__":
    main()
