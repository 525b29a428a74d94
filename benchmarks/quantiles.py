"""How far released quantiles are off, and what the exponential mechanism over the same bins gives at that price.

Run ``python benchmarks/quantiles.py``; TPC-H needs ``--tpch FOLDER`` of Parquet. Errors are medians over groups and
over repeated releases: of the rank, in rows, and of the value, in hundredths of the declared range. *inside* is the
share of intervals that hold the quantile. A smaller price and more quantiles of one expression change the comparison.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from pathlib import Path
from statistics import median
from typing import TypeAlias

import duckdb
import numpy as np

from dpsql.demo import SCHEMA as NAFLD
from dpsql.plan import CorePlan, MeasuredHistogram, plan_cores
from dpsql.privacy.mechanism import Gaussian
from dpsql.quantile import Distribution
from dpsql.query.bind import bind
from dpsql.query.parse import parse
from dpsql.query.relation import Ranks
from dpsql.schema import Schema, load
from dpsql.shell import Shell

#: Bins with the rows in each.
Counts: TypeAlias = list[tuple[int, float]]

STATEMENTS = (
    ("nafld", "SELECT male, MEDIAN(bmi) FROM patients GROUP BY male"),
    ("nafld", "SELECT MEDIAN(age) FROM patients"),
    ("nafld", "SELECT test, MEDIAN(value) FROM labs GROUP BY test"),
    ("nafld", "SELECT MEDIAN(v) FROM (SELECT patient_id, AVG(value) AS v FROM labs GROUP BY patient_id) AS l"),
    ("tpch", "SELECT MEDIAN(o_totalprice) FROM orders"),
    ("tpch", "SELECT o_orderpriority, MEDIAN(o_totalprice) FROM orders GROUP BY o_orderpriority"),
)  # fmt: skip
FRACTIONS = (Fraction(1, 20), Fraction(1, 2), Fraction(9, 10))


def planned(schema: Schema, text: str) -> CorePlan:
    """The statement's one core at the price of the schema."""
    query = bind(parse(text), schema, (), Shell(schema, lambda _: ()).types)
    (core,) = plan_cores(query, schema.privacy, schema.privacy.query_epsilon, Fraction(1, 10**8))
    return core


def groups(core: CorePlan, source: Path) -> Iterator[list[list[int]]]:
    """The exact pairs (bin, count) of each group."""
    connection = duckdb.connect()
    connection.execute("ATTACH ':memory:' AS source")
    for table in core.tables:
        connection.execute(f"CREATE VIEW source.main.\"{table}\" AS FROM read_parquet('{source / table}.parquet')")
    yield from (row[-1] for row in connection.execute(core.sql).fetchall() if row[-1])


def exponential(counts: Counts, bins: int, fraction: float, limit: float, epsilon: float,
                random: np.random.Generator) -> int:  # fmt: skip
    """A bin by the exponential mechanism: one unit's rows, at most √limit in norm, move a rank by q or 1 − q each."""
    below = np.zeros(bins)
    for place, count in counts:
        below[place] += count
    below = np.cumsum(below) - below / 2
    rate = epsilon / (max(fraction, 1 - fraction) * sqrt(limit))
    gumbel = random.gumbel(size=bins)
    return int(np.argmax(-np.abs(below - fraction * sum(count for _, count in counts)) * rate + gumbel))


class Truth:
    """The exact distribution of one group."""

    def __init__(self, counts: Counts) -> None:
        self.places = [place for place, _ in counts]
        self.sums = list(accumulate((count for _, count in counts), initial=0.0))

    def rank_error(self, place: float, fraction: float) -> float:
        """How many rows lie between a bin and the quantile."""
        wanted = fraction * self.sums[-1]
        low, high = self.sums[bisect_left(self.places, place)], self.sums[bisect_right(self.places, place)]
        return max(low - wanted, wanted - high, 0.0)

    def quantile(self, fraction: float) -> int:
        return self.places[min(bisect_left(self.sums, fraction * self.sums[-1], 1) - 1, len(self.places) - 1)]


def measured(histogram: MeasuredHistogram, pairs: Sequence[Sequence[int]], fraction: Fraction, epsilon: float,
             repeats: int) -> Iterator[tuple[float, float, bool, float, float]]:  # fmt: skip
    """Rank and value error of the tree and whether its interval holds; rank and value error of the other mechanism."""
    contribution, random = histogram.contribution, np.random.default_rng(1)
    bins = contribution.bins
    assert bins is not None
    counts = sorted((place, count / contribution.fine) for place, count in pairs)
    truth, width = Truth(counts), float(bins.size * bins.width)
    right = truth.quantile(float(fraction))
    limit = contribution.limit / contribution.fine**2
    start = float(bins.position(0, Fraction(0)))
    for _ in range(repeats):
        tree = Distribution(histogram.tree.grow(pairs), bins, contribution.step, 0.95)
        ranks = Ranks((fraction,))
        (value,) = tree.values(ranks)
        low, high = tree.interval(fraction, ranks)
        place = int((float(value) - start) / width)
        inside = float(low) - width <= start + right * width <= float(high) + width
        other = exponential(counts, bins.count, float(fraction), limit, epsilon, random)
        yield (
            truth.rank_error(place, float(fraction)), 100 * abs(place - right) / bins.count, inside,
            truth.rank_error(other, float(fraction)), 100 * abs(other - right) / bins.count,
        )  # fmt: skip


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--repeats", type=int, default=30)
    asked = parser.parse_args()
    schemas: dict[str, tuple[Schema, Path]] = {"nafld": (load(NAFLD), load(NAFLD).source_path)}
    if asked.tpch is not None:
        schemas["tpch"] = (load(Path("schemas/tpch.toml")), asked.tpch)
    head = f"{'':52} {'q':>5} {'rows':>8} {'tree: rank':>10} {'value %':>8} {'inside':>7}"
    print(f"{head} {'exp.: rank':>10} {'value %':>8}")
    middle: Callable[[Sequence[float]], float] = median
    for name, text in STATEMENTS:
        if name not in schemas:
            continue
        schema, source = schemas[name]
        core = planned(schema, text)
        (histogram,) = core.histograms
        assert isinstance(histogram.tree.node, Gaussian)
        epsilon, exact = float(schema.privacy.query_epsilon), list(groups(core, source))
        rows = middle([sum(count for _, count in pairs) / histogram.contribution.fine for pairs in exact])
        for fraction in FRACTIONS:
            found = [each for pairs in exact for each in measured(histogram, pairs, fraction, epsilon, asked.repeats)]
            rank, value, inside, other_rank, other_value = zip(*found, strict=True)
            head = f"{text[:52]:52} {float(fraction):5.2f} {rows:8.0f} {middle(rank):10.0f} {middle(value):8.2f}"
            held = sum(inside) / len(inside)
            print(f"{head} {held:7.2f} {middle(other_rank):10.0f} {middle(other_value):8.2f}")


if __name__ == "__main__":
    main()
