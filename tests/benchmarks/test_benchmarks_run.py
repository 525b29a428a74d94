"""Every benchmark runs, at its smallest, and prints its table; nothing here looks at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parent.parent.parent


def run(script: str, *arguments: str) -> str:
    """What a benchmark prints."""
    environment = dict(os.environ)
    environment.pop("PYTHONSAFEPATH", None)  # a benchmark imports those beside it
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "benchmarks" / script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("script", "arguments", "rows"),
    [
        (
            "bounding.py",
            ("--events", "3000", "--repetitions", "1"),
            ("SUM by 20 countries", "COUNT(DISTINCT user)"),
        ),
        ("planning.py", ("--repetitions", "1"), ("NAFLD", "question 1", "q01", "median")),
        ("statement.py", ("--repetitions", "1"), ("charge", "question 1", "median")),
        ("quantiles.py", ("--repeats", "1"), ("1 of 3", "tree", "MEDIAN(age)")),
        (
            "synthetic.py",
            ("--prices", "0.6", "--columns", "2"),
            ("synthetic table", "asked directly", "independent"),
        ),
        ("coverage.py", (), ("TPC-H, customers protected", "refused by code")),
        (
            "explain.py",
            ("--runs", "20"),
            ("sum beside an average", "thresholded keys", "largest difference"),
        ),
        (
            "norm_scan.py",
            ("--events", "3000", "--runs", "2"),
            ("SUM(paid) by country", "SUM(amount) by category"),
        ),
        (
            "clip.py",
            ("--scale", "0.001", "--runs", "5"),
            ("Q3 count (customer)", "no bound", "declared"),
        ),
        (
            "timing.py",
            ("--runs", "3", "--rows", "3000", "--bucket", "0.01", "--seconds", "0.2"),
            ("p of times", "answers/s"),
        ),
        (
            "tune.py",
            ("--events", "20000", "--answers", "1"),
            ("median relative error", "careful guess", "found for 1"),
        ),
        (
            "heavy_tails.py",
            ("--rounds", "1", "--units", "1000"),
            ("each table alone", "all tables together", "pareto"),
        ),
        (
            "dashboard.py",
            ("--customers", "300", "--clicks", "4"),
            ("NAFLD: 12 charts", "from the store", "TPC-H"),
        ),
        ("engine.py", ("--repetitions", "1"), ("connect", "100,000 groups")),
        ("row_cost.py", ("--step", "1e6"), ("0 functions and conversions", "tries")),
        ("intervals.py", ("--draws", "20", "--kind", "AVG"), ("AVG", "Laplace", "10,000")),
        (
            "sql_numbers.py",
            ("--runs", "1", "--only", "COUNT(*)"),
            ("wrong", "FROM accounts", "hold SQL's number"),
        ),
        ("import_time.py", ("--repetitions", "1"), ("import dpsql",)),
        (
            "busy.py",
            ("--opens", "4", "--tunes", "1", "--kills", "3", "--load", "2", "--others", "300"),
            ("opens: 4 of 4", "tunes: 1 of 1", "kills: 3 under 12 clients", "0 lost"),
        ),
        (
            "ledger.py",
            ("--charges", "5", "--seconds", "0.2"),
            ("charges/s", "SQLite", "PostgreSQL"),
        ),
    ],
)
def test_a_benchmark_prints_its_table(
    script: str, arguments: tuple[str, ...], rows: tuple[str, ...]
) -> None:
    printed = run(script, *arguments)
    for row in rows:
        assert row in printed


def test_events_are_the_same_each_time_and_as_described(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert "20,000 events" in run("events.py", str(tmp_path / name), "--events", "20000")
    first, second = (
        duckdb.connect()
        .execute(f"SELECT * FROM '{tmp_path / name / 'data' / 'events.parquet'}'")
        .fetchall()
        for name in ("one", "two")
    )
    assert first == second and len(first) == 20_000
    counts = sorted((sum(1 for _ in rows) for rows in _by_user(first).values()), reverse=True)
    heavy = sum(counts[:100]) / len(first)
    assert 0.33 < heavy < 0.41
    assert len({country for _, country, *_ in first}) == 20


def _by_user(rows: list[tuple[object, ...]]) -> dict[object, list[tuple[object, ...]]]:
    found: dict[object, list[tuple[object, ...]]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found
