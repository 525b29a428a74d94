"""How far released quantiles are off: chosen by rank, alone or in a list,
and read off a noisy tree of counts.

Run ``python benchmarks/quantiles.py``; TPC-H needs ``--tpch FOLDER`` of Parquet, the events of
`events.py` need ``--events FOLDER``. Errors are medians over groups and over repeated releases, at
the price of the schema: of the rank in rows, and of the value in hundredths of the declared range.
*inside* is the share of intervals that hold the quantile, *wide* their median width in hundredths
of the range. ``--laplace`` compares under pure ε.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import TypeAlias

import duckdb
from events import write_schema

from dpsql.cli.demo import SCHEMA as NAFLD
from dpsql.engines.duckdb.attached_source import run_core
from dpsql.engines.duckdb.reading import core_sql
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.calibration import ranking, tree, with_fallback
from dpsql.planning.estimators.histogram import quantiles_of
from dpsql.planning.plan import CorePlan
from dpsql.postprocessing import PostProcessor
from dpsql.privacy.measure import NeighbourRelation
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices, RankTarget
from dpsql.privacy.mechanism.quantile_fallback import ChosenPlaces, QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import CountedQuantiles
from dpsql.privacy.mechanism.tree import NoisyTree, TreeMechanism
from dpsql.schema import Schema, load
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.quantisation import Bins
from dpsql.sql.binder.bind import bind
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.ir.core import Ranks
from dpsql.sql.parser.parse import parse

#: Bins with the rows in each.
Counts: TypeAlias = list[tuple[int, float]]

STATEMENTS = (
    ("nafld", "SELECT male, MEDIAN(bmi) FROM patients GROUP BY male"),
    ("nafld", "SELECT MEDIAN(age) FROM patients"),
    ("nafld", "SELECT test, MEDIAN(value) FROM labs GROUP BY test"),
    (
        "nafld",
        "SELECT MEDIAN(v) FROM (SELECT patient_id, AVG(value) AS v FROM labs GROUP BY patient_id) AS l",
    ),
    ("tpch", "SELECT MEDIAN(o_totalprice) FROM orders"),
    ("tpch", "SELECT o_orderpriority, MEDIAN(o_totalprice) FROM orders GROUP BY o_orderpriority"),
    ("events", "SELECT country, MEDIAN(amount) FROM events GROUP BY country"),
)
FRACTIONS = (Fraction(1, 2), Fraction(9, 10), Fraction(95, 100), Fraction(99, 100))
#: In lists of how many quantiles each is chosen.
LISTS = (3, 9)
#: What releases a quantile.
Measured: TypeAlias = TreeMechanism | QuantileChoices | QuantilesWithFallback


def planned(schema: Schema, text: str) -> CorePlan:
    """The statement's one core at the price of the schema."""
    query = bind(parse(text), schema, (), PostProcessor(schema, lambda _: ()).types)
    (core,) = plan_cores(
        query, DUCKDB, schema.privacy, schema.privacy.query_epsilon, Fraction(1, 10**8)
    )
    return core


def groups(core: CorePlan, source: Path) -> Iterator[list[list[int]]]:
    """The bins of each group and their exact counts."""
    connection = duckdb.connect()
    connection.execute("ATTACH ':memory:' AS source")
    for table in core.tables:
        connection.execute(
            f"CREATE VIEW source.main.\"{table}\" AS FROM read_parquet('{source / table}.parquet')"
        )
    yield from (row[-1] for row in run_core(connection, core_sql(core)) if row[-1])


class Truth:
    """The exact distribution of one group."""

    def __init__(self, counts: Counts) -> None:
        self.places = [place for place, _ in counts]
        self.sums = list(accumulate((count for _, count in counts), initial=0.0))

    def rank_error(self, place: float, fraction: float) -> float:
        """How many rows lie between a bin and the quantile."""
        wanted = fraction * self.sums[-1]
        low, high = (
            self.sums[bisect_left(self.places, place)],
            self.sums[bisect_right(self.places, place)],
        )
        return max(low - wanted, wanted - high, 0.0)

    def quantile(self, fraction: float) -> int:
        return self.places[
            min(bisect_left(self.sums, fraction * self.sums[-1], 1) - 1, len(self.places) - 1)
        ]


def released(
    mechanism: Measured,
    contribution: Contribution,
    bins: Bins,
    listed: tuple[list[int], list[int]],
    fraction: Fraction,
) -> tuple[float, tuple[float, float]]:
    """One release of the quantile: its value and its interval."""
    ranks = Ranks((fraction,))
    match mechanism:
        case TreeMechanism():
            found: ChosenPlaces | CountedQuantiles | NoisyTree = mechanism.grow(*listed)
        case QuantileChoices():
            found = mechanism.choose(*listed, 0.95, contribution.fine)
        case QuantilesWithFallback():
            found = mechanism.measure(*listed, 0.95, contribution.fine)
    read = quantiles_of(found, bins, contribution.step, 0.95)
    low, _, high = read.curves(ranks)[0].points
    return float(read.values(ranks)[0]), (low, high)


def measured(
    mechanism: Measured,
    contribution: Contribution,
    exact: Sequence[list[list[int]]],
    fraction: Fraction,
    repeats: int,
) -> str:
    """Error in rank and value, share of intervals that hold and their width."""
    bins, rows = contribution.bins, []
    assert bins is not None
    for places, counts in exact:
        truth = Truth(
            [
                (place, count / contribution.fine)
                for place, count in zip(places, counts, strict=True)
            ]
        )
        width, start = float(bins.size * bins.width), float(bins.position(0, Fraction(0)))
        right = truth.quantile(float(fraction))
        for _ in range(repeats):
            value, (low, high) = released(mechanism, contribution, bins, (places, counts), fraction)
            place = int((value - start) / width)
            inside = low - width <= start + right * width <= high + width
            rows.append(
                (
                    truth.rank_error(place, float(fraction)),
                    100 * abs(place - right) / bins.count,
                    inside,
                    100 * (high - low) / width / bins.count,
                )
            )
    rank, value, inside, wide = (list(column) for column in zip(*rows, strict=True))
    return f"{median(rank):8.0f} {median(value):7.2f} {sum(inside) / len(inside):7.2f} {median(wide):6.1f}"


def mechanisms(
    contribution: Contribution, norm: Norm, epsilon: Fraction, fraction: Fraction
) -> Iterator[tuple[str, Measured]]:
    """The tree, the quantile alone, chosen whatever the rows and with the tree to fall back on,
    and lists of it.
    """
    comes: NeighbourRelation = "add-remove"
    whole = (contribution, norm, comes, epsilon, Fraction(1))
    wanted = RankTarget(fraction, "lower")
    yield "tree", tree(*whole)
    yield "chosen", ranking(*whole, wanted)
    yield "alone", with_fallback(*whole, [wanted])
    for among in LISTS:
        parts = {fraction, *(Fraction(place, among) for place in range(1, among))}
        yield (
            f"1 of {len(parts)}",
            with_fallback(*whole, [RankTarget(part, "lower") for part in parts]),
        )


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--events", type=Path)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--laplace", action="store_true")
    asked = parser.parse_args()
    schemas: dict[str, tuple[Schema, Path]] = {"nafld": (load(NAFLD), load(NAFLD).source_path)}
    if asked.tpch is not None:
        schemas["tpch"] = (load(Path("schemas/tpch.toml")), asked.tpch)
    if asked.events is not None:
        schemas["events"] = (
            load(write_schema(asked.events, "gaussian", 20)),
            asked.events / "data",
        )
    print(
        f"{'':52} {'q':>5} {'rows':>8} {'':>8} {'rank':>8} {'value %':>7} {'inside':>7} {'wide %':>6}"
    )
    for name, text in STATEMENTS:
        if name not in schemas:
            continue
        schema, source = schemas[name]
        if asked.laplace:
            private = schema.privacy.model_copy(update={"mechanism": "laplace"})
            schema = schema.model_copy(update={"privacy": private})
        core = planned(schema, text)
        (histogram,), exact = core.histograms, list(groups(core, source))
        contribution = histogram.contribution
        rows = median([sum(counts) / contribution.fine for _, counts in exact])
        for fraction in FRACTIONS:
            head = f"{text[:52]:52} {float(fraction):5.2f} {rows:8.0f}"
            for kind, mechanism in mechanisms(
                contribution, core.norm, schema.privacy.query_epsilon, fraction
            ):
                print(
                    f"{head} {kind:>8} {measured(mechanism, contribution, exact, fraction, asked.repeats)}"
                )
                head = " " * len(head)


if __name__ == "__main__":
    main()
