"""The ledger's note of a plan: what each cell measures, and its noise.

An audit can follow the price by it.
"""

from __future__ import annotations

import json
from typing import assert_never

from dpsql.planning.cells_in_words import cell_in_words
from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Mechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoice, QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.sql.analysis.contribution import Contribution


def ledger_note(*plans: Plan) -> str:
    """The note of plans in the ledger, as JSON.

    It has the cells of each core with their noise, and its key threshold.
    """
    return json.dumps([_core_note(core) for plan in plans for core in plan.cores])


def _core_note(core: CorePlan) -> dict[str, object]:
    cells = [_cell_note(cell.contribution, cell.mechanism) for cell in core.cells]
    cells += [_histogram_note(histogram) for histogram in core.histograms]
    return {
        "cells": cells,
        "threshold": None if core.selection is None else core.selection.threshold,
    }


def _cell_note(contribution: Contribution, noise: Mechanism) -> dict[str, object]:
    return {
        "measures": cell_in_words(contribution.cell),
        **noise_note(noise),
        "step": str(contribution.step),
    }


def _histogram_note(histogram: MeasuredHistogram) -> dict[str, object]:
    """What the ledger notes of a histogram: a tree's levels, or its choices."""
    contribution = histogram.contribution
    note: dict[str, object] = {
        "measures": cell_in_words(contribution.cell),
        "step": str(contribution.step),
    }
    match histogram.mechanism:
        case TreeMechanism(node=node, levels=levels):
            return {**_cell_note(contribution, node), "levels": levels}
        case QuantileChoices() as choices:
            return {**note, **_choices_note(choices)}
        case QuantilesWithFallback(count=count, least=least, choices=choices, tree=tree):
            fallback = {**noise_note(tree.node), "levels": tree.levels}
            return {
                **note,
                "count": noise_note(count),
                "least": str(least),
                **_choices_note(choices),
                "else": fallback,
            }
        case TopKPeeling(most=most, each=choice):
            return {**note, "chosen": most, **choice_note(choice)}
        case ClippingBoundSearch(sizes=sizes, moved=moved, price=price, concentrated=concentrated):
            name = "rho" if concentrated else "epsilon"
            return {**note, "sizes": sizes, "sensitivity": str(moved), name: str(price)}
        case _:
            assert_never(histogram.mechanism)


def _choices_note(choices: QuantileChoices | QuantileRecursion) -> dict[str, object]:
    if isinstance(choices, QuantileChoices):
        return {"chosen": [_quantile_note(quantile) for quantile in choices.quantiles]}
    chosen = [
        {"rank": str(choice.target.part), "level": level, **choice_note(choice.value)}
        for level, choices_of_level in enumerate(choices.first.levels, 1)
        for choice in choices_of_level
    ]
    return {
        "chosen": chosen,
        "around": {**noise_note(choices.around.node), "levels": choices.around.levels},
    }


def _quantile_note(quantile: QuantileChoice) -> dict[str, object]:
    tree = quantile.around.tree
    note = {"rank": str(quantile.target.part), **choice_note(quantile.value)}
    return {**note, "around": {**noise_note(tree.node), "levels": tree.levels}}


def choice_note(choice: Exponential | PermuteAndFlip) -> dict[str, object]:
    """What the ledger notes of a choice."""
    match choice:
        case ConcentratedExponential(spread_squared=squared):
            return {"spread squared": str(squared), "rate": str(choice.rate)}
        case ExponentialMechanism(spread=spread) | PermuteAndFlip(spread=spread):
            return {"spread": str(spread), "rate": str(choice.rate)}
        case _:
            assert_never(choice)


def noise_note(mechanism: Mechanism) -> dict[str, object]:
    """What the ledger notes of the noise of a number."""
    return {"sensitivity": str(mechanism.distance), "noise": str(mechanism.size)}
