"""What a statement becomes: its engine SQL, its cells with sensitivity and noise, its shell,
its columns.

Each file holds a statement and what was planned for it when somebody last read it. A change shows
here as a difference to be read; ``pytest tests/sql/golden --update-golden`` writes it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from untouched import planning_session

from dpsql.planning.cells_in_words import cell_in_words
from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism import Gaussian, Mechanism
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.sql.analysis.grouping_levels import Cube

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.sql"))
MARK = "-- ===="


def rendered(plan: Plan) -> str:
    """The plan as the golden file shows it."""
    lines: list[str] = []
    for table in plan.derived:
        lines += [f"{MARK} {table.name}: derived from {table.cores} cores", table.sql]
    for table in plan.derived:
        lines += [f"{MARK} {table.name}: made after {table.cores} cores", table.sql]
    for place, core in enumerate(plan.cores):
        lines += [
            f"{MARK} core {place}: engine SQL",
            core.sql,
            f"{MARK} core {place}: cells",
            *_cells(core),
        ]
    for place, cube in enumerate(plan.cubes):
        lines += [f"{MARK} cube {place}", *_levels(cube)]
    columns = ", ".join(f"{column.name} {column.type}" for column in plan.columns)
    lines += [f"{MARK} shell", plan.postprocessing, f"{MARK} columns", f"-- {columns}"]
    return "\n".join(lines) + "\n"


def _cells(core: CorePlan) -> list[str]:
    lines = [
        f"-- {place}: {cell_in_words(cell.contribution.cell)} in steps of {cell.contribution.step}; "
        f"{_noise(cell.mechanism)}"
        for place, cell in enumerate(core.cells)
    ]
    lines += [
        f"-- {cell_in_words(each.contribution.cell)} {place}: {_reading(each)}"
        for place, each in enumerate(core.histograms)
    ]
    if core.selection is not None:
        chosen = core.selection
        by = "units" if chosen.weights is None else f"units by {chosen.weights}"
        lines.append(
            f"-- keys: {by}; {_noise(chosen.noise)}; shown from {chosen.threshold} on, δ = {chosen.delta}"
        )
    return lines


def _reading(histogram: MeasuredHistogram) -> str:
    step = histogram.contribution.step
    match histogram.mechanism:
        case QuantilesWithFallback(count=count, least=least, choices=choices, tree=tree):
            chosen = (
                _reading(replace(histogram, mechanism=choices))
                if isinstance(choices, QuantileChoices)
                else (f"chosen of {choices.bins} bins, in steps of {step}; {_splits(choices)}")
            )
            return f"from {least} steps on, {_noise(count)}: {chosen}; else " + _reading(
                replace(histogram, mechanism=tree)
            )
        case TreeMechanism(bins=bins, branching=branching, levels=levels, node=node):
            return f"{bins} bins, {levels} levels of {branching} children, in steps of {step}; {_noise(node)}"
        case QuantileChoices(bins=bins, quantiles=quantiles):
            chosen = [
                f"{each.target}: {each.value}; around {each.around.tree}" for each in quantiles
            ]
            return f"chosen of {bins} bins, in steps of {step}; {'; '.join(chosen)}"
        case TopKPeeling(values=values, most=most, each=each):
            return f"{most} chosen of {values} values, in steps of {step}; {each}"
        case ClippingBoundSearch() as scan:
            return f"one chosen of {scan.sizes} sizes, in steps of {step}; {scan.each}, {scan.cost}"


def _splits(recursion: QuantileRecursion) -> str:
    chosen = "; ".join(
        f"{level} {each.rank} for {each.target}: {each.value}"
        for level, choices in enumerate(recursion.first.levels)
        for each in choices
    )
    return f"{chosen}; around {recursion.around}"


def _levels(cube: Cube) -> list[str]:
    finest = [] if cube.finest is None else [f"-- sums over core {cube.finest}"]
    return finest + [f"-- keys {list(level.keys)}: core {level.core}" for level in cube.levels]


def _noise(noise: Mechanism) -> str:
    if isinstance(noise, Gaussian):
        return f"L2² at most {noise.l2_squared}, Gaussian of variance {noise.variance}"
    return f"L1 at most {noise.l1}, Laplace of scale {noise.scale}"


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_golden(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    written = path.read_text(encoding="utf-8")
    statement = written.split(f"\n{MARK}")[0].rstrip() + "\n"
    first, text = statement.split("\n", 1)
    session = planning_session(first.removeprefix("-- schema: "), tmp_path / "ledger")
    found = statement + rendered(session.plan(text))
    if request.config.getoption("--update-golden", default=False):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def test_there_is_a_statement_for_every_construct() -> None:
    assert len(FILES) >= 25
