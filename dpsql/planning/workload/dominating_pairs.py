"""The pairs of distributions that dominate a plan's releases, read off its mechanisms. ``docs/proofs/workload.md``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isqrt
from typing import assert_never

from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.accountants.theorem import TheoremInvalid
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.privacy_loss_distributions import WIDEST as WIDEST_GAUSSIAN
from dpsql.privacy.privacy_loss_distributions import (
    ApproximateLoss,
    GaussianLoss,
    GaussianVectorLoss,
    LaplaceLoss,
    Loss,
    PureLoss,
    smoothing,
)


def losses(plans: Iterable[Plan]) -> tuple[Loss, ...]:
    """The pairs of all releases of the plans; Invalid where there is one without."""
    return tuple(loss for plan in plans for core in plan.cores for loss in _of_core(core))


def _of_core(core: CorePlan) -> Iterator[Loss]:
    if sum(_known(core), FREE) != _whole(core):
        raise TheoremInvalid("a release of these statements has no dominating pair")
    alone = not core.core.keys
    for cell in core.cells:
        yield _of_noise(cell.mechanism, alone)
    for histogram in core.histograms:
        match histogram.mechanism:
            case TreeMechanism() as tree:
                yield from _of_tree(tree)
            case QuantileChoices() as ranking:
                for quantile in ranking.quantiles:
                    yield _of_choice(quantile.value.cost)
                    if quantile.around is not None:
                        yield from _of_tree(quantile.around.tree)
            case TopKPeeling() as peeling:
                yield from [_of_choice(peeling.each.cost)] * peeling.most
            case ClippingBoundSearch() as scan:
                yield _of_choice(scan.cost)
            case _:
                assert_never(histogram.mechanism)
    if core.selection is not None:
        yield _of_noise(core.selection.noise, alone=core.selection.groups == 1)
        yield ApproximateLoss(core.selection.delta)


def released_costs(core: CorePlan) -> list[Cost]:
    """The cost of each of a core's releases, without the δ of its threshold: all that the core costs, in parts."""
    found, whole = _known(core), _whole(core)
    return found if sum(found, FREE) == whole else [whole]


def _whole(core: CorePlan) -> Cost:
    return Cost(core.cost.epsilon, core.cost.rho)


def _known(core: CorePlan) -> list[Cost]:
    found = [cell.mechanism.cost for cell in core.cells]
    found += [histogram.mechanism.cost for histogram in core.histograms]
    return found if core.selection is None else [*found, core.selection.noise.cost]


def _of_tree(tree: TreeMechanism) -> list[Loss]:
    return [_of_noise(tree.node, alone=False)] * tree.levels


def _of_noise(noise: Laplace | Gaussian, alone: bool) -> Loss:
    """``alone`` where one unit moves a single integer."""
    match noise:
        case Laplace(l1=distance, scale=scale):
            return LaplaceLoss(1 / scale, distance)
        case Gaussian(l2_squared=square, variance=variance):
            if alone and variance <= WIDEST_GAUSSIAN**2:
                return GaussianLoss(variance, isqrt(square))
            if variance <= smoothing(square):
                raise TheoremInvalid("Gaussian noise as narrow as this on several groups is known by its zCDP alone")
            return GaussianVectorLoss(variance, square)
        case _:
            assert_never(noise)


def _of_choice(cost: Cost) -> Loss:
    if cost.epsilon is None:
        raise TheoremInvalid("choices that are priced in zCDP have no dominating pair")
    return PureLoss(cost.epsilon)
