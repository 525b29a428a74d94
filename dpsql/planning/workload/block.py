"""A block: plans that are paid for together, the dominating pairs of their releases, its theorem.

A pair is one of distributions that dominate a release. Proved in ``docs/proofs/workload.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import assert_never

from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.workload.disjoint import conditions, determined, points
from dpsql.privacy.accountants import Theorem
from dpsql.privacy.accountants.composition_theorem import TheoremInvalid
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
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
from dpsql.schema import Schema


def losses(plans: Iterable[Plan]) -> tuple[Loss, ...]:
    """The pairs of all releases of the plans. Raises TheoremInvalid if one has none."""
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
                    yield from _of_tree(quantile.around.tree)
            case QuantilesWithFallback() as either:
                yield _of_noise(either.count, alone)
                yield _of_choice(either.either)
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
    """The cost of each of a core's releases, without the δ of its threshold.

    They are all that the core costs, in parts.
    """
    costs = _known(core)
    total_cost = _whole(core)
    return costs if sum(costs, FREE) == total_cost else [total_cost]


def _whole(core: CorePlan) -> Cost:
    return Cost(core.cost.epsilon, core.cost.rho)


def _known(core: CorePlan) -> list[Cost]:
    costs = [cell.mechanism.cost for cell in core.cells]
    costs += [histogram.mechanism.cost for histogram in core.histograms]
    return costs if core.selection is None else [*costs, core.selection.noise.cost]


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
                raise TheoremInvalid(
                    "Gaussian noise as narrow as this on several groups is known by its zCDP alone"
                )
            return GaussianVectorLoss(variance, square)
        case _:
            assert_never(noise)


def _of_choice(cost: Cost) -> Loss:
    if cost.epsilon is None:
        raise TheoremInvalid("choices that are priced in zCDP have no dominating pair")
    return PureLoss(cost.epsilon)


#: How a ledger's line of a block begins, and what stands between its statements.
_HEAD = re.compile(r"-- a workload of (\d{1,9}) statements?, by [a-z]+", re.ASCII)
_BETWEEN = ";\n"


@dataclass(frozen=True)
class Block:
    """Plans and the theorem by which they are paid for, from which the price is read off.

    ``delta`` is the δ that the theorem may use of its own.
    """

    plans: tuple[Plan, ...]
    theorem: type[Theorem]
    schema: Schema
    delta: Fraction = Fraction(0)

    @cached_property
    def cost(self) -> Cost:
        """The cost of the block.

        Raises TheoremInvalid if the theorem does not hold for these plans.
        """
        return self.theorem.block_cost(self, self.delta)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What each plan costs alone."""
        return tuple(plan.cost for plan in self.plans)

    @property
    def mechanism_costs(self) -> tuple[Cost, ...]:
        """The cost of each of the plans' releases, without the δ of thresholds."""
        return tuple(
            cost for plan in self.plans for core in plan.cores for cost in released_costs(core)
        )

    @property
    def largest_cost_of_a_unit(self) -> Cost:
        """The most that the cores cost together which one unit can be in.

        Raises TheoremInvalid if that is not known.
        """
        return parallel_cost(self.plans, self.schema)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The dominating pairs of all releases; Invalid where one of them has none."""
        return losses(self.plans)

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """Each plan's part of the block's price, in the ε that statements are priced in.

        The parts are in proportion to the plans' own prices. They add up to the block's ε if it has
        one. If the plans' costs are added up, the parts are the plans' own prices.
        """
        cost = self.cost
        alone = sum(self.costs, FREE)
        if cost == alone:
            share = Fraction(1)
        elif cost.epsilon is None:
            share = cost.rho / alone.rho
        else:
            share = cost.epsilon / sum((plan.price for plan in self.plans), Fraction(0))
        return tuple(plan.price * share for plan in self.plans)

    @property
    def text(self) -> str:
        """All the statements, as the ledger has them; `statements_of` parts them again."""
        count = f"{len(self.plans)} statement" + ("s" if len(self.plans) != 1 else "")
        name = self.theorem.ledger_name or self.theorem.name
        return f"-- a workload of {count}, by {name}\n" + _BETWEEN.join(
            plan.text for plan in self.plans
        )


def statements_of(written: str) -> tuple[str, ...]:
    """The statements of a ledger's line: those of a block, or the one that it is.

    >>> statements_of("-- a workload of 2 statements, by hybrid\\nSELECT 1;\\nSELECT 2")
    ('SELECT 1', 'SELECT 2')
    >>> statements_of("SELECT 1")
    ('SELECT 1',)
    """
    head, _, texts = written.partition("\n")
    block = _HEAD.fullmatch(head)
    statements = tuple(texts.split(_BETWEEN))
    return statements if block is not None and len(statements) == int(block[1]) else (written,)


def parallel_cost(plans: tuple[Plan, ...], schema: Schema) -> Cost:
    """The largest sum over the cores that may read one unit.

    It is the least of these over the columns on which conditions are known. Raises TheoremInvalid
    if no column parts the units.
    """
    if schema.privacy.neighbours == "replace":
        raise TheoremInvalid(
            'with neighbours = "replace" a unit may be in one part and the one in its place in another'
        )
    cores = [core for plan in plans for core in plan.cores]
    demanded = [conditions(core.core, schema) for core in cores]
    total = sum((core.cost for core in cores), FREE)
    best = None
    for name in sorted({name for condition in demanded for name in condition.demanded}):
        largest = FREE
        for point in points(demanded, name):
            reading = [
                core
                for core, condition in zip(cores, demanded, strict=True)
                if condition.admits(name, point)
            ]
            largest = _larger(largest, sum((core.cost for core in reading), FREE))
        if best is None or largest.rho < best.rho:
            best = largest
    if best is None or best.rho >= total.rho:
        table, column = schema.unit
        needed = (
            ""
            if determined(schema)
            else f'; for columns of {table} the schema must say key = "{column}" there'
        )
        raise TheoremInvalid(
            f"no conditions show that the statements are about different {table}: rows that are apart "
            f"may belong to one unit{needed}"
        )
    return best


def _larger(one: Cost, other: Cost) -> Cost:
    """The least cost that claims no more than either."""
    pure = None if one.epsilon is None or other.epsilon is None else max(one.epsilon, other.epsilon)
    return Cost(pure, max(one.rho, other.rho), max(one.delta, other.delta))
