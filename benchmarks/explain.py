"""Whether answers are as exact as EXPLAIN PRIVACY says:
told half-widths against releases of the same exact rows.

Run ``python benchmarks/explain.py``; it takes a few minutes. The engine runs once for each
statement; then noise is added to what it found, 10,000 times in each of ten rounds. *told* is the
half-width before, *seen* the 95 % quantile of
|released − exact| over all, and *rounds* the least and the largest ratio of one round: a quantile of 10,000 draws is
itself off by 1.5 % (Laplace) or 1 % (Gaussian). Totals of grouping sets are released a tenth as
often. Intervals of quantiles must hold whatever the data are: they are told as bounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from dpsql.engines.exact_rows import CoreRows, ExactRows  # noqa: E402
from dpsql.planning.cells_in_words import rank_width  # noqa: E402
from dpsql.planning.estimators.estimate import value  # noqa: E402
from dpsql.planning.estimators.quantiles import QuantileEstimate  # noqa: E402
from dpsql.planning.plan import CorePlan, Plan  # noqa: E402
from dpsql.release.grouping_sets import cube_table  # noqa: E402
from dpsql.release.noise_addition import release  # noqa: E402
from dpsql.schema import load  # noqa: E402
from dpsql.session import Session, open_session  # noqa: E402
from dpsql.session.pricing.expected_errors import expected  # noqa: E402

_OLD = "SELECT male, age >= 50 AS old FROM patients"
STATEMENTS = {
    "count": "SELECT COUNT(*) AS n FROM labs",
    "count of units, filtered": "SELECT COUNT(DISTINCT patient_id) FILTER (WHERE value > 50) AS n FROM labs",
    "sum of decimals": "SELECT SUM(bmi) AS s FROM patients",
    "sum, count": "SELECT SUM(value) AS s, COUNT(*) AS n FROM labs WHERE test = 'hdl'",
    "sum beside an average": "SELECT SUM(bmi) AS s, AVG(bmi) AS a FROM patients",
    "by group": "SELECT male, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM patients GROUP BY male",
    "join": "SELECT COUNT(*) AS n, SUM(value) AS s FROM labs JOIN patients USING (patient_id) WHERE male",
    "join with a public table": "SELECT chapter, COUNT(*) AS n FROM diagnoses JOIN conditions USING (diagnosis) "
    "GROUP BY chapter",
    "thresholded keys": "SELECT day, COUNT(DISTINCT patient_id) AS units, COUNT(*) AS n FROM labs WHERE day < 1 "
    "GROUP BY day",
    "rollup": f"SELECT male, old, COUNT(*) AS n FROM ({_OLD}) GROUP BY ROLLUP (male, old)",
    "cube": f"SELECT male, old, COUNT(*) AS n FROM ({_OLD}) GROUP BY CUBE (male, old)",
    "median": "SELECT MEDIAN(bmi) AS m FROM patients",
}


#: Rounds of releases, and what part of them is to be within the half-width.
ROUNDS, CONFIDENCE = 10, 0.95


@dataclass(frozen=True)
class Line:
    """One column of a statement under one kind of noise."""

    statement: str
    noise: str
    column: str
    told: float
    errors: np.ndarray
    bound: bool = False


def exact_rows(session: Session, plan: Plan) -> list[CoreRows]:
    """What the engine finds for a plan of one stage."""
    charge = session.accountant.spend(plan.written(), analyst="benchmark", statement=plan.text)
    with session._execution.engine.run(charge) as reading:
        return reading.stage([]).reveal()


def lines(session: Session, title: str, plan: Plan, noise: str, runs: int) -> Iterator[Line]:
    """The columns of a statement: the first group's row is released as often as there are runs."""
    rows = exact_rows(session, plan)
    if plan.cubes:
        yield from cube_lines(title, plan, noise, rows, max(runs // 10, 10))
        return
    (core,), (found,) = plan.cores, rows
    first = max(found, key=lambda row: row[len(core.core.keys)])
    if core.selection is not None:  # so many units that the key is always shown
        first = (*first[:-1], first[-1] + max(10**6, 100 * core.selection.threshold))
    many = [first] * runs
    (table,) = release(ExactRows([many]), plan.cores, plan.confidence).tables
    for column, error in zip(plan.columns, expected(plan), strict=True):
        if column.aggregate is None:
            continue
        if error is not None:
            exact = truth(core, many[0], column.aggregate)
            estimate = core.arithmetic(column.aggregate)
            seen = [
                float(value(estimate, [(each, Fraction(0)) for each in cells]) or 0) - exact
                for cells in table.cells
            ]
            yield Line(title, noise, column.name, error.half_width, np.abs(seen))
        elif isinstance(ranked := core.estimates[column.aggregate], QuantileEstimate):
            errors = rank_errors(
                core, ranked, many[0], [row[column.aggregate] for row in table.aggregates]
            )
            told = rank_width(core.histograms[ranked.histogram], ranked.ranks, plan.confidence)
            yield Line(title, noise, f"{column.name}, rows in rank", told, errors, True)


def truth(core: CorePlan, row: Sequence[object], aggregate: int) -> float:
    """The aggregate without noise."""
    start = len(core.core.keys)
    cells = [
        (Fraction(int(str(each))) * step, Fraction(0))
        for each, step in zip(row[start:], core.steps, strict=False)
    ]
    return float(value(core.arithmetic(aggregate), cells) or 0)


def rank_errors(
    core: CorePlan, estimate: QuantileEstimate, row: Sequence[object], values: Sequence[object]
) -> np.ndarray:
    """How many rows lie between each released quantile and the rank that was asked for."""
    histogram = core.histograms[estimate.histogram]
    bins = histogram.contribution.bins
    assert bins is not None
    places, counts = row[len(core.core.keys) + len(core.cells)]  # type: ignore[misc]
    step = float(histogram.contribution.step)
    pairs = sorted(zip(places, counts, strict=True))
    ends = np.array([float(bins.position(place, Fraction(1))) for place, _ in pairs])
    starts = np.array([float(bins.position(place, Fraction(0))) for place, _ in pairs])
    sums = np.array(list(accumulate((count * step for _, count in pairs), initial=0.0)))
    target = float(estimate.ranks.fractions[0]) * sums[-1]
    at = np.array([float(str(each)) for each in values])
    before, after = (
        sums[np.searchsorted(ends, at, "left")],
        sums[np.searchsorted(starts, at, "right")],
    )
    return np.maximum(np.maximum(before - target, target - after), 0.0)


def cube_lines(
    title: str, plan: Plan, noise: str, rows: list[CoreRows], runs: int
) -> Iterator[Line]:
    """Each level of a cube: its groups' intervals against how far its groups are off."""
    (cube,) = plan.cubes
    finest = plan.cores[cube.finest or 0]
    place = finest.core.aggregates.index(cube.aggregates[0])
    exact = {
        tuple(map(str, row[: len(finest.core.keys)])): truth(finest, row, place)
        for row in rows[cube.finest or 0]
    }
    errors: dict[int, list[float]] = {}
    halves: dict[int, float] = {}
    for _ in range(runs):
        released = release(ExactRows(rows), plan.cores, plan.confidence)
        table = cube_table(cube, released.tables, plan.confidence)
        for (level, group), keys, ends in zip(
            table.groups, table.keys, table.intervals, strict=True
        ):
            own = [number for number, key in enumerate(keys) if number in cube.levels[level].keys]
            wanted = tuple(str(keys[number]) for number in own)
            inside = sum(
                n for name, n in exact.items() if tuple(name[number] for number in own) == wanted
            )
            errors.setdefault(level, []).append(float(group.cells[0]) - inside)
            assert ends[0] is not None
            halves[level] = (ends[0][1] - ends[0][0]) / 2
    for level, half in halves.items():
        told = f"n of {len(cube.levels[level].keys)} keys"
        yield Line(title, noise, told, half, np.abs(errors[level]))


def measured(runs: int, epsilon: str) -> Iterator[Line]:
    """All statements, with Laplace and with Gaussian noise."""
    schema = load(ROOT / "schemas" / "nafld.toml")
    for noise in ("laplace", "gaussian"):
        with tempfile.TemporaryDirectory() as folder:
            privacy = schema.privacy.model_copy(update={"epsilon": Fraction(1000)})
            session = open_session(
                schema.model_copy(update={"privacy": privacy}), ledger=Path(folder) / "ledger"
            )
            session.set("dpsql.mechanism", noise)
            session.set("dpsql.epsilon", epsilon)
            for title, text in STATEMENTS.items():
                yield from lines(session, title, session.plan(text), noise, runs)
            session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="the releases of one round")
    parser.add_argument("--epsilon", default="1", help="the price of a statement")
    options = parser.parse_args()
    print(
        f"{'statement':26}{'noise':10}{'column':22}{'told':>10}{'seen':>10}{'seen/told':>11}  rounds"
    )
    worst = 0.0
    for line in measured(ROUNDS * options.runs, options.epsilon):
        ratio = float(np.quantile(line.errors, CONFIDENCE)) / line.told
        rounds = [
            float(np.quantile(part, CONFIDENCE)) / line.told
            for part in np.array_split(line.errors, ROUNDS)
        ]
        worst = worst if line.bound else max(worst, abs(ratio - 1))
        last = "a bound" if line.bound else f"{min(rounds):.3f} … {max(rounds):.3f}"
        figures = f"{line.told:10.4g}{ratio * line.told:10.4g}{ratio:11.4f}"
        print(f"{line.statement:26}{line.noise:10}{line.column:22}{figures}  {last}", flush=True)
    print(f"largest difference from what was told: {worst:.2%}")


if __name__ == "__main__":
    main()
