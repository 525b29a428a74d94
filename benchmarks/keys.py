"""How many undeclared keys are shown: by counts of units and by weight,
whatever limit of groups the owner names.

Run ``python benchmarks/keys.py``; it takes two minutes. Units have few keys or many, of 60,000
whose frequencies follow Zipf's law. *counts, a fifth* is a choice by counts of units for a fifth of
the price, *counts, all* that for all of it, as ``COUNT(DISTINCT unit)`` has it, *weight, a third*
that by weight for a third of it, as ``COUNT(*)`` has it. Figures are means of several releases of
one database.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from statistics import mean

import duckdb
import numpy as np

from dpsql.planning.budget_split import SELECTION_SHARE
from dpsql.planning.calibration import key_threshold
from dpsql.planning.plan import CorePlan
from dpsql.privacy.partition_selection import KeyThreshold
from dpsql.session import open_session
from dpsql.sql.analysis.contribution import Norm

SCHEMA = """\
name = "visits"
source = "data"
[privacy]
unit = "visits.person"
epsilon = 1000
delta = 1e-6
query_epsilon = {epsilon}
query_delta = 1e-8
mechanism = "{mechanism}"
[tables.visits]
max_rows_per_unit = 100000
max_groups_per_unit = {groups}
[tables.visits.columns]
person = {{ type = "integer" }}
place = {{ type = "integer" }}
"""
KEYS = 60_000
LIMITS = (3, 10, 30, 100)


def generate(folder: Path, units: int) -> Iterator[str]:
    """Databases in folders of the name: units with about 3 keys, with about 12,
    and a few with hundreds.
    """
    draw = np.random.default_rng(1)
    chances = 1 / np.arange(1, KEYS + 1)
    for name, sizes in (
        ("about 3 keys", draw.geometric(1 / 3, units)),
        ("about 12 keys", draw.geometric(1 / 12, units)),
        ("few with many", np.minimum(draw.pareto(1.2, units) * 2 + 1, 3000).astype(int)),
    ):
        person = np.repeat(np.arange(units), sizes)
        place = draw.choice(KEYS, len(person), p=chances / chances.sum())
        (folder / name / "data").mkdir(parents=True)
        with duckdb.connect() as connection:
            connection.register("made", {"person": person, "place": place})
            connection.execute(f"COPY (FROM made) TO '{folder / name / 'data' / 'visits.parquet'}'")
        yield name


def exact(core: CorePlan, folder: Path) -> list[int]:
    """What stands beside each key for the threshold to decide by."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS source")
        connection.execute(
            f"CREATE VIEW source.main.visits AS FROM read_parquet('{folder / 'data' / 'visits.parquet'}')"
        )
        return [int(row[-1]) for row in connection.execute(core.sql).fetchall()]


def shown(threshold: KeyThreshold, counts: list[int], repeats: int) -> float:
    return mean(sum(each is not None for each in threshold.select(counts)) for _ in range(repeats))


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=30_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    heads = ("counts, a fifth", "counts, all", "weight, a third")
    print(
        f"{'units':16} {'noise':9} {'price':>5} {'limit':>5} {heads[0]:>16} {heads[1]:>12} {heads[2]:>16}"
    )
    with tempfile.TemporaryDirectory() as home:
        for name in generate(Path(home), asked.units):
            folder = Path(home) / name
            for mechanism in ("gaussian", "laplace"):
                for epsilon in (Fraction(1), Fraction(1, 10)):
                    for groups in LIMITS:
                        figures = compared(folder, mechanism, epsilon, groups, asked.repeats)
                        print(f"{name:16} {mechanism:9} {float(epsilon):5} {groups:5} {figures}")


def compared(folder: Path, mechanism: str, epsilon: Fraction, groups: int, repeats: int) -> str:
    """The keys that are shown in each of the three ways."""
    schema = folder / f"{mechanism}-{groups}-{float(epsilon)}.toml"
    schema.write_text(
        SCHEMA.format(epsilon=float(epsilon), mechanism=mechanism, groups=groups), "utf-8"
    )
    session = open_session(schema, ledger=folder / f"{schema.stem}-ledger")
    texts = (
        "SELECT place, COUNT(DISTINCT person) FROM visits GROUP BY place",
        "SELECT place, COUNT(*) FROM visits GROUP BY place",
    )
    by_count, by_weight = (session.plan(text).cores[0] for text in texts)
    session.close()
    assert by_count.selection is not None and by_weight.selection is not None
    assert by_weight.selection.weights is not None and by_count.selection.weights is None
    norm: Norm = "l2" if mechanism == "gaussian" else "l1"
    delta = by_count.selection.delta
    former = key_threshold(groups, norm, "add-remove", epsilon, Fraction(1, 5), delta)
    assert by_weight.selection == key_threshold(
        groups, norm, "add-remove", epsilon, SELECTION_SHARE, delta, by_weight.selection.weights
    )
    counts, weights = exact(by_count, folder), exact(by_weight, folder)
    figures = (
        shown(former, counts, repeats),
        shown(by_count.selection, counts, repeats),
        shown(by_weight.selection, weights, repeats),
    )
    return "{:16.0f} {:12.0f} {:16.0f}".format(*figures)


if __name__ == "__main__":
    main()
