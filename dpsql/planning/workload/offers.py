"""What each accountant would charge for a list of statements that is fixed beforehand.

``docs/proofs/workload.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.errors import DataError
from dpsql.planning.plan import Plan
from dpsql.planning.workload.block import Block
from dpsql.privacy.accountants import THEOREMS, Theorem
from dpsql.privacy.accountants.composition_theorem import TheoremInvalid
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.measure import Cost, shown
from dpsql.schema import Schema

#: The part of the δ for thresholds that a block may use, where it is priced as (ε, δ).
BLOCK_SHARE = Fraction(1, 10)

#: Why a statement of a workload costs nothing, or that it is bought.
OfferStatus = OneOf["bought", "paid for already", "the same as one before", "public"]


@dataclass(frozen=True)
class Offer:
    """The offer of one accountant for a block.

    ``epsilon`` is that of the block alone at the schema's δ. ``cost`` is what the ledger would be
    charged. ``left`` is the share of the budget that would be left, None if it does not fit. All
    are None if the accountant is not valid here, and ``why`` says why.
    """

    accountant: str
    block: Block
    epsilon: Fraction | None
    cost: Cost | None
    left: Fraction | None
    why: str

    @property
    def valid(self) -> bool:
        """Whether the accountant's theorem holds for the block."""
        return self.cost is not None


@dataclass(frozen=True)
class PricedWorkload:
    """Statements that are fixed together, and what each accountant would charge for them.

    ``str()`` is a table.
    """

    plans: tuple[Plan, ...]
    statuses: tuple[OfferStatus, ...]
    delta: Fraction
    offers: tuple[Offer, ...]

    @property
    def bought(self) -> tuple[Plan, ...]:
        """The plans that the block pays for; the others are free."""
        return self.with_status("bought")

    def with_status(self, status: OfferStatus) -> tuple[Plan, ...]:
        """The plans of one status, in order."""
        return tuple(
            plan for plan, other in zip(self.plans, self.statuses, strict=True) if other == status
        )

    @property
    def best(self) -> Offer | None:
        """The valid offer that leaves the most of the budget.

        The first if none fits, None if all is free.
        """
        fitting = [offer for offer in self.offers if offer.left is not None]
        first = self.offers[0] if self.offers else None
        return max(fitting, key=lambda offer: offer.left or Fraction(0)) if fitting else first

    def offer(self, accountant: str | None) -> Offer | None:
        """The named offer, or the best one. Raises KeyError if none has that name."""
        if accountant is None or not self.offers:
            return self.best
        by_name = {offer.accountant: offer for offer in self.offers}
        return by_name[accountant]

    @property
    def rows(
        self,
    ) -> tuple[
        tuple[str, float | None, float | None, float | None, float | None, float | None, str], ...
    ]:
        """For tools: accountant, ε at the schema's δ, charged ε, ρ and δ, share left, reason.

        The reason tells why it is not valid.
        """
        return tuple(
            (
                offer.accountant,
                _number(offer.epsilon),
                *_numbers(offer.cost),
                _number(offer.left),
                offer.why,
            )
            for offer in self.offers
        )

    def __str__(self) -> str:
        free = len(self.plans) - len(self.bought)
        count = f"{len(self.plans)} statement" + ("s" if len(self.plans) != 1 else "")
        lines = [f"a workload of {count}" + (f", {free} of them free" if free else "")]
        if not self.offers:
            return f"{lines[0]}: nothing is charged"
        cells = [
            (
                "accountant",
                f"ε at δ = {shown(self.delta)}" if self.delta else "ε",
                "charged",
                "left",
            )
        ]
        best = self.best
        for offer in self.offers:
            name = offer.accountant + (" *" if offer is best else "")
            remaining_ = "too much" if offer.left is None else f"{float(offer.left):.1%}"
            if offer.cost is None or offer.epsilon is None:
                cells.append((name, "—", offer.why, ""))
            else:
                cells.append((name, shown(offer.epsilon), _cost_text(offer.cost), remaining_))
        widths = [max(len(row[index]) for row in cells if row[3]) for index in range(3)]
        for row in cells:
            padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            lines.append("  ".join([*padded, row[3]]).rstrip())
        return "\n".join([*lines, "* is what would be charged"])


def price_workload(
    plans: Sequence[Plan],
    statuses: Sequence[OfferStatus],
    schema: Schema,
    remaining: RemainingBudget,
    delta: Fraction | None,
) -> PricedWorkload:
    """The workload with all offers.

    A block that is priced as (ε, δ) may use ``delta``. Raises DataError if that is more than the
    budget sets aside for thresholds and blocks.
    """
    bought = tuple(plan for plan, status in zip(plans, statuses, strict=True) if status == "bought")
    budget = remaining.standings[0].budget
    block_delta = budget.delta_selection * BLOCK_SHARE if delta is None else delta
    if block_delta > budget.delta_selection:
        aside = (
            f"the budget sets δ = {shown(budget.delta_selection)} aside for thresholds and blocks"
        )
        raise DataError(f"{aside}, and this block would use {shown(block_delta)}")
    if not bought:
        return PricedWorkload(tuple(plans), tuple(statuses), budget.delta, ())
    offers = (
        _offer(theorem, Block(bought, theorem, schema, block_delta), budget.delta, remaining)
        for theorem in THEOREMS.values()
    )
    return PricedWorkload(tuple(plans), tuple(statuses), budget.delta, tuple(offers))


def _offer(
    theorem: type[Theorem], block: Block, delta: Fraction, remaining: RemainingBudget
) -> Offer:
    """What one accountant makes of a block, at the δ of the whole promise."""
    try:
        cost = block.cost.rounded_up()
        epsilon = theorem.block_epsilon(block, cost, delta)
        shares = remaining.shares_after(cost)
        return Offer(
            theorem.name, block, epsilon, cost, left=None if shares is None else min(shares), why=""
        )
    except TheoremInvalid as error:
        return Offer(theorem.name, block, None, None, left=None, why=str(error))


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _numbers(cost: Cost | None) -> tuple[float | None, float | None, float | None]:
    return (
        (None, None, None)
        if cost is None
        else (_number(cost.epsilon), float(cost.rho), float(cost.delta))
    )


def _cost_text(cost: Cost) -> str:
    pure = "" if cost.epsilon is None else f"ε = {shown(cost.epsilon)}, "
    return f"{pure}ρ = {shown(cost.rho)}" + (f", δ = {shown(cost.delta)}" if cost.delta else "")
