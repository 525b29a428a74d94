"""What is told of a plan before it is measured: its cells, their noise, and the groups that are shown.

It also says what the intervals take as given: released rows that later cores read (``docs/intervals.md``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.planning.cell_choice import EVIDENCE_SHARE
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.estimators.histogram import MeasuredHistogram, target
from dpsql.planning.plan import CorePlan, GroupPresence, Plan
from dpsql.planning.synthetic.plan import SyntheticPlan
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Mechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoice, QuantileChoices
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.sql.analysis.contribution import Contribution
from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    DistinctCount,
    Frequencies,
    Histogram,
    ProductSum,
    Ranks,
    RowCount,
    UnitCount,
)


@dataclass(frozen=True)
class ExplainedCell:
    """One measured cell: what it is, what a unit can change, and the noise that hides it (in the data's unit)."""

    measures: str
    sensitivity: float
    norm: str
    noise: str
    standard_deviation: float
    half_width: float


def explained_cell(contribution: Contribution, noise: Mechanism, confidence: float) -> ExplainedCell:
    """A cell that gets noise."""
    step, what = float(contribution.step), measured(contribution.cell)
    deviation, half = noise.standard_deviation * step, float(noise.half_width(confidence)) * step
    if isinstance(noise, Laplace):
        return ExplainedCell(what, noise.l1 * step, "L1", "discrete Laplace", deviation, half)
    return ExplainedCell(what, float(noise.l2_squared) ** 0.5 * step, "L2", "discrete Gaussian", deviation, half)


def explained_histogram(histogram: MeasuredHistogram, confidence: float) -> ExplainedCell:
    """A histogram's counts of one level, all of which are alike; or the least exact of its choices, in rows."""
    contribution, step = histogram.contribution, float(histogram.contribution.step)
    what = measured(contribution.cell)
    match histogram.mechanism:
        case TreeMechanism(node=node) as tree:
            cell = explained_cell(contribution, node, confidence)
            if isinstance(contribution.cell, Frequencies):
                return cell
            return replace(cell, measures=f"{what} of {tree.bins} bins in a tree of {tree.levels} levels, each of "
                           "which has counts")  # fmt: skip
        case QuantileChoices(bins=bins, quantiles=quantiles):
            least = max(quantiles, key=lambda each: each.half_width(bins, confidence))
            what = f"{what} of {bins} bins, of which {len(quantiles)} are chosen by their rank"
            half = least.half_width(bins, confidence) * step
            return _chosen(what, least.value, step / least.target.part.denominator, half)
        case TopKPeeling(most=most, each=each) as peeling:
            what = f"{what}, of which the {most} most frequent are chosen"
            return _chosen(what, each, step, peeling.half_width(confidence) * step)
        case ClippingBoundSearch(moved=moved, concentrated=concentrated) as scan:
            norm, sensitivity = ("L2", moved**0.5) if concentrated else ("L1", float(moved))
            noises = (scan.each.threshold_noise, scan.each.query_noise)
            deviation = sum(noise.standard_deviation**2 for noise in noises) ** 0.5
            what = f"{what}, of which a size is found that few exceed"
            half = scan.half_width(confidence) * step
            return ExplainedCell(what, sensitivity * step, norm, "sparse vector", deviation * step, half)
        case _:
            assert_never(histogram.mechanism)


def _chosen(what: str, choice: Exponential | PermuteAndFlip, step: float, half: float) -> ExplainedCell:
    """Choices in every group; ``step`` is that of their utilities, in rows."""
    deviation = 2**0.5 * step / float(choice.rate)
    match choice:
        case ConcentratedExponential(spread_squared=squared):
            return ExplainedCell(what, squared**0.5 * step, "L2", "exponential mechanism", deviation, half)
        case ExponentialMechanism(spread=spread):
            return ExplainedCell(what, spread * step, "L1", "exponential mechanism", deviation, half)
        case PermuteAndFlip(spread=spread):
            return ExplainedCell(what, spread * step, "L1", "permute and flip", deviation, half)
        case _:
            assert_never(choice)


def rank_width(histogram: MeasuredHistogram, ranks: Ranks, confidence: float) -> float:
    """How many rows lie at most between a quantile and the one that is asked for."""
    step = float(histogram.contribution.step)
    match histogram.mechanism:
        case TreeMechanism() as tree:
            return max(tree.half_width(confidence, float(each), ranks.edge) for each in ranks.fractions) * step
        case QuantileChoices(bins=bins, quantiles=quantiles):
            asked = {target(each, ranks) for each in ranks.fractions}
            return max(each.half_width(bins, confidence) for each in quantiles if each.target in asked) * step
        case TopKPeeling() | ClippingBoundSearch():
            raise AssertionError("ranks are read off noisy counts or chosen for themselves")
        case _:
            assert_never(histogram.mechanism)


def frequency_width(histogram: MeasuredHistogram, confidence: float) -> str:
    """How far the counts of public values may be off, in words."""
    step = float(histogram.contribution.step)
    match histogram.mechanism:
        case TreeMechanism(node=node):
            return f"± {float(node.half_width(confidence)) * step:.4g} for each value"
        case TopKPeeling() as peeling:
            return f"at most {peeling.half_width(confidence) * step:.4g} rows fewer than another value has"
        case ClippingBoundSearch() as scan:
            return f"about {scan.left * step:.4g} ± {scan.half_width(confidence) * step:.4g} rows are larger"
        case QuantileChoices():
            raise AssertionError("counts are not read off chosen ranks")
        case _:
            assert_never(histogram.mechanism)


def measured(cell: Cell) -> str:
    """What a cell counts or adds up, in words."""
    filtered = "" if cell.condition is None else ", filtered"
    match cell:
        case RowCount(argument=argument):
            return f"rows{'' if argument is None else ' with a value'}{filtered}"
        case UnitCount():
            return f"units{filtered}"
        case DistinctCount():
            return f"distinct values{filtered}"
        case ClampedSum(centred=centred):
            return f"sum{' from the middle of the bounds' if centred else ''}{filtered}"
        case ProductSum(left=left, right=right):
            return f"sum of {'squares' if left == right else 'products'} from the middle of the bounds{filtered}"
        case Histogram():
            return f"histogram{filtered}"
        case Frequencies(values=values, sizes=True):
            return f"rows of each of {len(values)} sizes{filtered}"
        case Frequencies(values=values):
            return f"rows with each of {len(values)} values{filtered}"
        case _:
            assert_never(cell)


def cell_note(contribution: Contribution, noise: Mechanism) -> dict[str, object]:
    """What the ledger notes of a cell."""
    return {"measures": measured(contribution.cell), **_noise(noise), "step": str(contribution.step)}


def marginals_note(plan: SyntheticPlan) -> list[dict[str, object]]:
    """What the ledger notes of a synthetic table: the counts of each column, the choices, and the counts of pairs."""
    step = str(plan.step)
    alone = f"counts of each of {len(plan.columns)} columns"
    cells: list[dict[str, object]] = [{"measures": alone, **_noise(plan.alone), "step": step}]
    if plan.choice is not None:
        chosen = f"choice of {plan.measured} of {len(plan.pairs)} pairs of columns"
        cells.append({"measures": chosen, **_choice_note(plan.choice), "step": step})
    if plan.together is not None:
        cells.append({"measures": f"counts of {plan.measured} pairs of columns", **_noise(plan.together), "step": step})
    return [{"cells": cells, "threshold": None}]


def histogram_note(histogram: MeasuredHistogram) -> dict[str, object]:
    """What the ledger notes of a histogram: a tree's levels, or its choices."""
    contribution = histogram.contribution
    note: dict[str, object] = {"measures": measured(contribution.cell), "step": str(contribution.step)}
    match histogram.mechanism:
        case TreeMechanism(node=node, levels=levels):
            return {**cell_note(contribution, node), "levels": levels}
        case QuantileChoices(quantiles=quantiles):
            return {**note, "chosen": [_quantile_note(each) for each in quantiles]}
        case TopKPeeling(most=most, each=each):
            return {**note, "chosen": most, **_choice_note(each)}
        case ClippingBoundSearch(sizes=sizes, moved=moved, price=price, concentrated=concentrated):
            name = "rho" if concentrated else "epsilon"
            return {**note, "sizes": sizes, "sensitivity": str(moved), name: str(price)}
        case _:
            assert_never(histogram.mechanism)


def _quantile_note(quantile: QuantileChoice) -> dict[str, object]:
    tree = quantile.around.tree
    note = {"rank": str(quantile.target.part), **_choice_note(quantile.value)}
    return {**note, "around": {**_noise(tree.node), "levels": tree.levels}}


def _choice_note(choice: Exponential | PermuteAndFlip) -> dict[str, object]:
    match choice:
        case ConcentratedExponential(spread_squared=squared):
            return {"spread squared": str(squared), "rate": str(choice.rate)}
        case ExponentialMechanism(spread=spread) | PermuteAndFlip(spread=spread):
            return {"spread": str(spread), "rate": str(choice.rate)}
        case _:
            assert_never(choice)


def _noise(mechanism: Mechanism) -> dict[str, object]:
    match mechanism:
        case Gaussian(l2_squared=sensitivity, variance=noise):
            return {"sensitivity": str(sensitivity), "noise": str(noise)}
        case Laplace(l1=sensitivity, scale=noise):
            return {"sensitivity": str(sensitivity), "noise": str(noise)}
        case _:
            assert_never(mechanism)


#: For how many keys the threshold is told where only public tables know their number.
EXAMPLES = (100, 10_000)


def groups_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each core with public keys: which of its groups are shown, and what telling them costs."""
    return tuple(dict.fromkeys(f"groups: {said}" for _, said in _told(plan)))


def nothing_seen(plan: Plan) -> tuple[str, ...]:
    """What is said of an answer without rows, where groups are shown by evidence."""
    found = [said for core, said in _told(plan) if core.presence is not None]
    if not found:
        return ()
    return (f"no row is shown; groups are {found[0]}; SET dpsql.empty_groups = show shows those without rows, too",)


def _told(plan: Plan) -> Iterator[tuple[CorePlan, str]]:
    """What is said of the groups of each core with public keys."""
    first = 0
    for core in plan.cores:
        if core.core.domain is not None:
            count = core.core.domain.count
            if core.presence is None:
                yield core, f"{'all' if count is None else f'all {count:,}'} are shown, with rows or without"
            else:
                yield core, _said(core, core.presence, count, first + core.presence.cell)
        first += len(core.cells) + len(core.histograms)


def _said(core: CorePlan, presence: GroupPresence, count: int | None, place: int) -> str:
    cell, chance = core.cells[presence.cell].contribution, float(100 * presence.chance)
    what = "units" if isinstance(cell.cell, UnitCount) else "rows"
    most = [f"{float(presence.threshold(each) * cell.step):.4g}{f' (of {each:,} groups)' if count is None else ''}"
            for each in (EXAMPLES if count is None else (count,))]  # fmt: skip
    together = "all" if count is None else f"all {count:,}"
    said = f"shown where the noisy count of {what} (cell {place}) is {' or '.join(most)} or more"
    said += f", which groups without rows, {together} together, reach in at most {chance:.3g} % of answers"
    bought = what == "units" and SingleCell(presence.cell) not in core.estimates
    return f"{said}; the count costs {float(100 * EVIDENCE_SHARE):g} % of this part's price" if bought else said


def taken_as_given(plan: Plan) -> tuple[str, ...]:
    """One sentence where a core reads what an earlier core released: which intervals know nothing of its noise."""
    later = _later(plan)
    if not later:
        return ()
    names = [column.name for column in plan.columns
             if (column.aggregate is not None or column.computed is not None) and column.table in later]  # fmt: skip
    perhaps = list[str]()
    if plan.resampling is not None and not later.isdisjoint(plan.resampling.tables):
        found = names if later.issuperset(plan.resampling.tables) else perhaps
        found += [plan.columns[place].name for place in plan.resampling.wanted]
    said = (
        f"{_whose(names, perhaps)} what a subquery released as given: it holds what the statement would give with "
        "these very rows and values in the place of the subquery, whose own noise is not in it"
    )
    return (said,)


def _later(plan: Plan) -> frozenset[str]:
    """The released tables whose cores read rows that are made of what earlier cores released."""
    released = {table.name for table in plan.derived if table.cores}
    cores = {place for place, core in enumerate(plan.cores) if not released.isdisjoint(core.derived)}
    cubes = (
        number for number, cube in enumerate(plan.cubes) if not cores.isdisjoint(level.core for level in cube.levels)
    )
    return frozenset([*(f"core{place}" for place in cores), *(f"cube{number}" for number in cubes)])


def _whose(names: Sequence[str], perhaps: Sequence[str]) -> str:
    """Subject and verb of the sentence; columns of which several tables are a part ``perhaps`` belong to it.

    >>> _whose(["n", "total"], []), _whose([], ["share"]), _whose([], [])
    ('the interval of n and total takes', 'the interval of share may take', 'an interval takes')
    >>> _whose(["n"], ["share"])
    'the interval of n takes, and that of share may take,'
    """
    if not names and not perhaps:
        return "an interval takes"
    sure, may = (f"the interval of {_listed(each)}" for each in (names, perhaps))
    if not perhaps:
        return f"{sure} takes"
    return f"{sure} takes, and that of {_listed(perhaps)} may take," if names else f"{may} may take"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
