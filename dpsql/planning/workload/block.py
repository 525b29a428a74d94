"""A block: plans that are paid for together, and the theorem by which they are. ``docs/proofs/workload.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias, assert_never

from dpsql.errors import DataError
from dpsql.planning.plan import Plan
from dpsql.planning.workload.disjoint import conditions, determined, points
from dpsql.planning.workload.dominating_pairs import Unknown, losses, released_costs
from dpsql.privacy.loss import epsilon_of_losses
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism.exponential import pure_rho
from dpsql.privacy.renyi import renyi_of, renyi_total
from dpsql.privacy.rule import advanced
from dpsql.schema import Schema

#: The orders of which a block, whose parameters are all fixed, takes the best.
ORDERS = (*range(2, 65), *range(72, 257, 8), *range(288, 1025, 32))


#: How a ledger's line of a block begins, and what stands between its statements.
_HEAD = re.compile(r"-- a workload of (\d{1,9}) statements?, by [a-z]+", re.ASCII)
_BETWEEN = ";\n"


class Invalid(Exception):
    """A theorem does not hold for these plans; the text says why."""


@dataclass(frozen=True)
class Sequential:
    """The sum of the plans' costs, which the ledger's own accountant adds up."""

    name: ClassVar[str] = "hybrid"


@dataclass(frozen=True)
class Parallel:
    """The most that plans cost together which one unit can be in, where public conditions part the units."""

    schema: Schema
    name: ClassVar[str] = "parallel"


@dataclass(frozen=True)
class AdvancedBlock:
    """Advanced composition of pure plans of one ε, at a δ of the block's own."""

    delta: Fraction
    name: ClassVar[str] = "advanced"


@dataclass(frozen=True)
class RenyiBlock:
    """Rényi divergences at the best of many orders, at a δ of the block's own."""

    delta: Fraction
    name: ClassVar[str] = "rdp"


@dataclass(frozen=True)
class LossBlock:
    """Privacy loss distributions, at a δ of the block's own."""

    delta: Fraction
    name: ClassVar[str] = "pld"


#: A closed union of theorems.
Way: TypeAlias = Sequential | Parallel | AdvancedBlock | RenyiBlock | LossBlock


@dataclass(frozen=True)
class Block:
    """Plans and the theorem by which they are paid for, from which the price is read off."""

    plans: tuple[Plan, ...]
    way: Way

    @cached_property
    def cost(self) -> Cost:
        """What the block costs; Invalid where the theorem does not hold for these plans."""
        match self.way:
            case Sequential():
                return sum((plan.cost for plan in self.plans), FREE)
            case Parallel(schema=schema):
                return parallel_cost(self.plans, schema)
            case AdvancedBlock(delta=delta):
                return _approximate(advanced_epsilon(self.plans, _given(delta)), delta)
            case RenyiBlock(delta=delta):
                leaks = _leaks(self.plans)
                return _approximate(renyi_epsilon(self.plans, _given(delta)), delta + leaks)
            case LossBlock(delta=delta):
                whole = _given(delta) + _leaks(self.plans)
                return _approximate(loss_epsilon(self.plans, whole), whole)
            case _:
                assert_never(self.way)

    @property
    def parts(self) -> tuple[Fraction, ...]:
        """What of the block's price each plan is, in the ε that statements are priced in, in proportion to its own.

        They add up to the block's ε where it has one; where the plans' costs are added up they are the plans' own.
        """
        whole, alone = self.cost, sum((plan.cost for plan in self.plans), FREE)
        match self.way:
            case Sequential():
                share = Fraction(1)
            case _ if whole.epsilon is None:
                share = whole.rho / alone.rho
            case _:
                share = whole.epsilon / sum((plan.price for plan in self.plans), Fraction(0))
        return tuple(plan.price * share for plan in self.plans)

    @property
    def statement(self) -> str:
        """All the statements, as the ledger has them; `statements_of` parts them again."""
        count = f"{len(self.plans)} statement" + ("s" if len(self.plans) != 1 else "")
        return f"-- a workload of {count}, by {self.way.name}\n" + _BETWEEN.join(plan.statement for plan in self.plans)


def statements_of(written: str) -> tuple[str, ...]:
    """The statements of a ledger's line: those of a block, or the one that it is.

    >>> statements_of("-- a workload of 2 statements, by hybrid\\nSELECT 1;\\nSELECT 2")
    ('SELECT 1', 'SELECT 2')
    >>> statements_of("SELECT 1")
    ('SELECT 1',)
    """
    head, _, texts = written.partition("\n")
    block = _HEAD.fullmatch(head)
    found = tuple(texts.split(_BETWEEN))
    return found if block is not None and len(found) == int(block[1]) else (written,)


def parallel_cost(plans: tuple[Plan, ...], schema: Schema) -> Cost:
    """The largest sum over the cores that may read one unit; Invalid where no column parts the units.

    Over the columns on which conditions are known it is the least.
    """
    if schema.privacy.neighbours == "replace":
        raise Invalid('with neighbours = "replace" a unit may be in one part and the one in its place in another')
    cores = [core for plan in plans for core in plan.cores]
    demanded = [conditions(core.core, schema) for core in cores]
    total, best = sum((core.cost for core in cores), FREE), None
    for name in sorted({name for each in demanded for name in each.demanded}):
        found = FREE
        for point in points(demanded, name):
            reading = [core for core, each in zip(cores, demanded, strict=True) if each.admits(name, point)]
            found = _larger(found, sum((core.cost for core in reading), FREE))
        if best is None or found.rho < best.rho:
            best = found
    if best is None or best.rho >= total.rho:
        table, column = schema.unit
        needed = "" if determined(schema) else f'; for columns of {table} the schema must say key = "{column}" there'
        raise Invalid(f"no conditions show that the statements are about different {table}: rows that are apart may "
                      f"belong to one unit{needed}")  # fmt: skip
    return best


def advanced_epsilon(plans: tuple[Plan, ...], delta: Fraction) -> Fraction:
    """ε at δ by advanced composition; Invalid where plans are not pure or not of one price."""
    prices = {plan.cost.epsilon for plan in plans}
    (price, *others) = prices
    if others or price is None or _leaks(plans):
        raise Invalid("the statements must be pure, without thresholds, and of one price")
    return advanced(len(plans), price, delta)


def renyi_epsilon(plans: tuple[Plan, ...], delta: Fraction) -> Fraction:
    """ε at δ, beside what thresholds use, by Rényi divergences at the order that is best for these plans."""
    costs = [mechanism for plan in plans for mechanism in _costs(plan)]
    much = Fraction(10**9)
    found = min(
        sum((renyi_of(cost, order) for cost in costs), Fraction(0)) + much - renyi_total(much, delta, order)
        for order in ORDERS
    )
    return max(found, Fraction(0))


def loss_epsilon(plans: tuple[Plan, ...], delta: Fraction) -> Fraction:
    """ε at δ, with what thresholds use, by privacy loss distributions; Invalid where they do not hold.

    Losses are rounded up to a grid, so that the sum of ε of a few pure releases may be the smaller bound.
    """
    try:
        composed = epsilon_of_losses(losses(plans), delta)
    except (Unknown, DataError) as error:
        raise Invalid(str(error)) from None
    pure = sum((plan.cost for plan in plans), FREE)
    return composed if pure.epsilon is None else min(composed, pure.epsilon)


def _costs(plan: Plan) -> list[Cost]:
    """The cost of each of the plan's releases, without the δ of thresholds."""
    return [cost for core in plan.cores for cost in released_costs(core)]


def _leaks(plans: tuple[Plan, ...]) -> Fraction:
    """What the thresholds of the plans use of δ."""
    return sum((plan.cost.delta for plan in plans), Fraction(0))


def _given(delta: Fraction) -> Fraction:
    if not 0 < delta < 1:
        raise Invalid("it needs a δ of its own, and the budget has none for it")
    return delta


def _approximate(epsilon: Fraction, delta: Fraction) -> Cost:
    """What is (ε, δ)-DP, as the ledger holds it: all but δ of it is pure ε."""
    return Cost(epsilon, pure_rho(epsilon), delta)


def _larger(one: Cost, other: Cost) -> Cost:
    """The least cost that claims no more than either."""
    pure = None if one.epsilon is None or other.epsilon is None else max(one.epsilon, other.epsilon)
    return Cost(pure, max(one.rho, other.rho), max(one.delta, other.delta))
