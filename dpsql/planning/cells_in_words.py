"""A plan's cells in words, before measuring: what they measure, their noise and error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.planning.estimators.histogram import MeasuredHistogram, target
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Mechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.sql.analysis.contribution import Contribution
from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    ProductSum,
    Ranks,
    RowCount,
    UnitCount,
    UnitNorms,
    is_averaged,
)


@dataclass(frozen=True)
class ExplainedCell:
    """One measured cell: what it is, what a unit can change, and its noise (in the data's unit)."""

    measures: str
    sensitivity: float
    norm: str
    noise: str
    standard_deviation: float
    half_width: float


def explained_cell(
    contribution: Contribution, noise: Mechanism, confidence: float
) -> ExplainedCell:
    """A cell that gets noise."""
    step = float(contribution.step)
    measures = cell_in_words(contribution.cell)
    deviation = noise.standard_deviation * step
    half = float(noise.half_width(confidence)) * step
    family = f"discrete {noise.family.capitalize()}"
    return ExplainedCell(
        measures,
        noise.sensitivity * step,
        noise.norm,
        family,
        standard_deviation=deviation,
        half_width=half,
    )


def explained_histogram(histogram: MeasuredHistogram, confidence: float) -> ExplainedCell:
    """The explained counts of one level of a histogram, which are all alike.

    For choices it is the least exact one, in rows.
    """
    contribution = histogram.contribution
    step = float(histogram.contribution.step)
    measures = cell_in_words(contribution.cell)
    match histogram.mechanism:
        case TreeMechanism(node=node) as tree:
            cell = explained_cell(contribution, node, confidence)
            if isinstance(contribution.cell, Frequencies):
                return cell
            return replace(
                cell,
                measures=f"{measures} of {tree.bins} bins in a tree of {tree.levels} levels, each of "
                "which has counts",
            )
        case QuantileChoices() as choices:
            return _explained_choices(choices, measures, step, confidence)
        case QuantilesWithFallback(choices=choices, least=least, tree=tree):
            chosen = _explained_choices(choices, measures, step, confidence)
            return replace(
                chosen,
                measures=f"{chosen.measures} in groups of at least {least * step:.4g} rows, noisily "
                f"counted; in others a tree of {tree.levels} levels",
            )
        case TopKPeeling(most=most, each=choice) as peeling:
            measures = f"{measures}, of which the {most} most frequent are chosen"
            return _chosen(measures, choice, step, peeling.half_width(confidence) * step)
        case ClippingBoundSearch(moved=moved, concentrated=concentrated) as scan:
            norm, sensitivity = ("L2", moved**0.5) if concentrated else ("L1", float(moved))
            noises = (scan.each.threshold_noise, scan.each.query_noise)
            deviation = sum(noise.standard_deviation**2 for noise in noises) ** 0.5
            kind = "norm" if isinstance(contribution.cell, UnitNorms) else "size"
            measures = f"{measures}, of which a {kind} is found that few exceed"
            half = scan.half_width(confidence) * step
            return ExplainedCell(
                measures,
                sensitivity * step,
                norm,
                "sparse vector",
                standard_deviation=deviation * step,
                half_width=half,
            )
        case _:
            assert_never(histogram.mechanism)


def _explained_choices(
    choices: QuantileChoices | QuantileRecursion, measures: str, step: float, confidence: float
) -> ExplainedCell:
    """The least exact of some choices by rank."""
    bins = choices.bins
    if isinstance(choices, QuantileRecursion):
        splits = [choice for level in choices.first.levels for choice in level]
        split = min(splits, key=lambda choice: choice.value.rate * choice.rank.part.denominator)
        measures = (
            f"{measures} of {bins} bins, of which {len(splits)} are chosen by their rank, each among "
            "those between others"
        )
        half = choices.half_width(confidence) * step
        return _chosen(measures, split.value, step / split.rank.part.denominator, half)
    least = max(choices.quantiles, key=lambda choice: choice.half_width(bins, confidence))
    measures = (
        f"{measures} of {bins} bins, of which {len(choices.quantiles)} are chosen by their rank"
    )
    return _chosen(
        measures,
        least.value,
        step / least.target.part.denominator,
        least.half_width(bins, confidence) * step,
    )


def _chosen(
    measures: str, choice: Exponential | PermuteAndFlip, step: float, half: float
) -> ExplainedCell:
    """Choices in every group; ``step`` is that of their utilities, in rows."""
    deviation = 2**0.5 * step / float(choice.rate)
    match choice:
        case ConcentratedExponential(spread_squared=squared):
            return ExplainedCell(
                measures,
                squared**0.5 * step,
                "L2",
                "exponential mechanism",
                standard_deviation=deviation,
                half_width=half,
            )
        case ExponentialMechanism(spread=spread):
            return ExplainedCell(
                measures,
                spread * step,
                "L1",
                "exponential mechanism",
                standard_deviation=deviation,
                half_width=half,
            )
        case PermuteAndFlip(spread=spread):
            return ExplainedCell(
                measures,
                spread * step,
                "L1",
                "permute and flip",
                standard_deviation=deviation,
                half_width=half,
            )
        case _:
            assert_never(choice)


def rank_width(histogram: MeasuredHistogram, ranks: Ranks, confidence: float) -> float:
    """How many rows lie at most between a quantile and the one that is asked for."""
    step = float(histogram.contribution.step)
    match histogram.mechanism:
        case TreeMechanism() as tree:
            return _tree_width(tree, ranks, confidence) * step
        case QuantileChoices() as choices:
            return _choice_width(choices, ranks, confidence) * step
        case QuantilesWithFallback(choices=choices, tree=tree):
            return (
                max(_choice_width(choices, ranks, confidence), _tree_width(tree, ranks, confidence))
                * step
            )
        case TopKPeeling() | ClippingBoundSearch():
            raise AssertionError("ranks are read off noisy counts or chosen for themselves")
        case _:
            assert_never(histogram.mechanism)


def bin_width(histogram: MeasuredHistogram) -> str:
    """The width of the bins that quantiles are read off; empty if no bin holds several values."""
    bins = histogram.contribution.bins
    mechanism = histogram.mechanism
    assert bins is not None
    tree = mechanism.tree if isinstance(mechanism, QuantilesWithFallback) else mechanism
    widest = bins.merged(tree.merged) if isinstance(tree, TreeMechanism) else bins
    if widest.are_values:
        return ""
    width = widest.width * widest.size
    unit = "" if widest.axis == "number" else f" {widest.axis}s"
    where = (
        " in small groups" if widest != bins and not isinstance(mechanism, TreeMechanism) else ""
    )
    return f"{float(width):,.6g}{unit}{where}"


def _tree_width(tree: TreeMechanism, ranks: Ranks, confidence: float) -> float:
    return max(
        tree.half_width(confidence, float(fraction), ranks.edge) for fraction in ranks.fractions
    )


def _choice_width(
    choices: QuantileChoices | QuantileRecursion, ranks: Ranks, confidence: float
) -> float:
    if isinstance(choices, QuantileRecursion):
        return choices.half_width(confidence)
    asked = {target(fraction, ranks) for fraction in ranks.fractions}
    return max(
        quantile.half_width(choices.bins, confidence)
        for quantile in choices.quantiles
        if quantile.target in asked
    )


def frequency_width(histogram: MeasuredHistogram, confidence: float) -> str:
    """How far the counts of public values may be off, in words."""
    step = float(histogram.contribution.step)
    match histogram.mechanism:
        case TreeMechanism(node=node):
            return f"± {float(node.half_width(confidence)) * step:.4g} for each value"
        case TopKPeeling() as peeling:
            return f"at most {peeling.half_width(confidence) * step:.4g} rows fewer than another value has"
        case ClippingBoundSearch() as scan:
            counted = "units" if isinstance(histogram.contribution.cell, UnitNorms) else "rows"
            return f"about {scan.left * step:.4g} ± {scan.half_width(confidence) * step:.4g} {counted} are larger"
        case QuantileChoices() | QuantilesWithFallback():
            raise AssertionError("counts are not read off chosen ranks")
        case _:
            assert_never(histogram.mechanism)


def cell_in_words(cell: Cell) -> str:
    """What a cell counts or adds up, in words."""
    filtered = "" if cell.condition is None else ", filtered"
    if is_averaged(cell):
        filtered += ", as averages weigh them"
    match cell:
        case RowCount(argument=argument):
            return f"rows{'' if argument is None else ' with a value'}{filtered}"
        case UnitCount():
            return f"units{filtered}"
        case DistinctCount():
            return f"distinct values{filtered}"
        case ClampedSum(centred=centred):
            return f"sum{' from the middle of the bounds' if centred else ''}{filtered}"
        case NormClippedSum():
            return f"sum in parts of the norm to which units are clipped{filtered}"
        case UnitNorms(sizes=sizes):
            return f"units of each of {sizes} norms{filtered}"
        case ProductSum(left=first, right=second):
            return f"sum of {'squares' if first == second else 'products'} from the middle of the bounds{filtered}"
        case Histogram():
            return f"histogram{filtered}"
        case Frequencies(values=values, sizes=True):
            return f"rows of each of {len(values)} sizes{filtered}"
        case Frequencies(values=values):
            return f"rows with each of {len(values)} values{filtered}"
        case _:
            assert_never(cell)
