"""Which noise a statement gets where nobody names one,
and what an ordinary statement costs with which noise.

Proved in ``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import DatabaseError
from dpsql.planning.calibration import mechanism
from dpsql.privacy.budget import Budget, Lifetime
from dpsql.privacy.filter import AnswersLeft, FilterState, RemainingBudget
from dpsql.privacy.measure import FREE, Cost
from dpsql.schema import Privacy, Schema
from dpsql.schema.privacy import Noise
from dpsql.sql.analysis.contribution import Norm, counted_once

#: How many more ordinary statements Laplace noise must leave than Gaussian noise,
#: which is 1.4 #: times as narrow.
MORE = Fraction(11, 10)


def usual_costs(privacy: Privacy, price: Fraction) -> Mapping[Noise, Cost]:
    """For each noise that the owner allows,
    the most that a statement at this price with declared keys costs.
    """
    costs: dict[Noise, Cost] = {}
    if privacy.delta and not privacy.adds_pure:
        costs["gaussian"] = Cost(None, price**2 / 2)
    costs["laplace"] = Cost(price, price**2 / 2)
    return {noise: cost for noise, cost in costs.items() if privacy.mechanism in ("auto", noise)}


def count_cost(privacy: Privacy, noise: Noise, price: Fraction) -> Cost:
    """What a count of units costs: the ordinary answer, in which people count a budget.

    With Gaussian noise every statement with declared keys costs the same;
    with Laplace noise the ρ depends on the statement.
    """
    norm: Norm = "l2" if noise == "gaussian" else "l1"
    return mechanism(counted_once(norm), norm, privacy.neighbours, price, share=Fraction(1)).cost


def count_costs(schema: Schema) -> Mapping[Noise, Cost]:
    """For each noise that the schema allows, what a count of units costs at the schema's price."""
    privacy = schema.privacy
    price = privacy.query_epsilon
    return {noise: count_cost(privacy, noise, price) for noise in usual_costs(privacy, price)}


def chosen_noise(privacy: Privacy, price: Fraction, remaining: RemainingBudget) -> Noise:
    """The noise that pays for more statements at the owner's price; Gaussian if in doubt.

    Laplace noise stays while it pays for as many, so that the announced number of answers remains.
    If the owner declares a number of answers, more answers are no reason for wider noise. If the
    budget admits neither, the noise of earlier answers is chosen, since these may be stored. The
    choice depends on the schema, the price and the charges so far only.
    """
    costs = usual_costs(privacy, price)
    if len(costs) == 1:
        return next(iter(costs))
    gaussian, laplace = (remaining.after(costs[noise]) for noise in ("gaussian", "laplace"))
    if gaussian is None and laplace is None:
        return (
            "gaussian"
            if any(standing.spent.epsilon is None for standing in remaining.standings)
            else "laplace"
        )
    if gaussian is None or laplace is None:
        return "laplace" if gaussian is None else "gaussian"
    ordinary = usual_costs(privacy, privacy.query_epsilon)
    by_gaussian = gaussian.affordable(ordinary["gaussian"])
    by_laplace = laplace.affordable(ordinary["laplace"])
    if privacy.answers is not None and by_gaussian + 1 >= privacy.answers - _spent(
        privacy, remaining
    ):
        return "gaussian"
    if by_laplace > MORE * by_gaussian:
        return "laplace"
    return (
        "laplace"
        if by_laplace >= by_gaussian and _began_with_laplace(privacy, price, remaining)
        else "gaussian"
    )


def _began_with_laplace(privacy: Privacy, price: Fraction, remaining: RemainingBudget) -> bool:
    """Whether something was paid for, and Laplace noise was chosen before that."""
    if not any(standing.spent.epsilon for standing in remaining.standings):
        return False
    unspent = tuple(
        FilterState(standing.holder, standing.budget, FREE) for standing in remaining.standings
    )
    return chosen_noise(privacy, price, replace(remaining, standings=unspent)) == "laplace"


def is_settled(remaining: RemainingBudget) -> bool:
    """Whether Gaussian noise is chosen from now on, whatever is charged later,
    so that nobody needs to ask again.

    Every filter has a release without ε, which ends the sum of ε for good;
    by the sum of ρ both noises cost the same.
    """
    by_rho = all(
        standing.spent.epsilon is None and not standing.budget.is_tallied
        for standing in remaining.standings
    )
    return remaining.window is None and by_rho


def _spent(privacy: Privacy, remaining: RemainingBudget) -> Fraction:
    """What everybody has spent of ε, in statements at the owner's price."""
    return (remaining.standings[0].spent.epsilon or Fraction(0)) / privacy.query_epsilon


def noise_of_full_budget(privacy: Privacy) -> Noise:
    """The noise of an ordinary statement where nothing is spent yet and no cap binds."""
    total = Budget(privacy.epsilon, privacy.delta, rule=privacy.accountant)
    remaining = RemainingBudget((FilterState(None, total, FREE),), Lifetime(total, 1, FREE))
    return ordinary_noise(privacy, privacy.query_epsilon, remaining)


def ordinary_noise(privacy: Privacy, price: Fraction, remaining: RemainingBudget) -> Noise:
    """The noise of a statement at this price: the one that is named,
    or else the one that is chosen.
    """
    return (
        chosen_noise(privacy, price, remaining)
        if privacy.mechanism == "auto"
        else privacy.mechanism
    )


def ordinary_cost(privacy: Privacy, price: Fraction, remaining: RemainingBudget) -> Cost:
    """What an ordinary answer costs, the unit of budgets in messages: a count of units at this price.

    If a statement at this price is refused, the owner's price counts.
    """
    with suppress(DatabaseError):
        cost = count_cost(privacy, ordinary_noise(privacy, price, remaining), price)
        remaining.budget.require_price(cost)
        return cost
    price = privacy.query_epsilon
    return count_cost(privacy, ordinary_noise(privacy, price, remaining), price)


def ordinary_answers(privacy: Privacy, price: Fraction, remaining: RemainingBudget) -> AnswersLeft:
    """How many ordinary answers are left, of how many where nothing is spent."""
    return remaining.answers_left(ordinary_cost(privacy, price, remaining))
