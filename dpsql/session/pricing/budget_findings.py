"""What the owner is told of a budget and its caps: how many answers each pays for,
and what would pay for more.

Told from the schema alone (``dpsql schema check``); nothing is read or charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from fractions import Fraction

from dpsql.errors import DataError
from dpsql.privacy.budget import Budget, Lifetime
from dpsql.privacy.filter import FilterState, RemainingBudget
from dpsql.privacy.measure import FREE, shown
from dpsql.schema import Finding, Privacy, Schema
from dpsql.session.database import capped, total_budget
from dpsql.session.pricing.noise_choice import ordinary_noise, usual_costs
from dpsql.session.pricing.price_search import decimal, least, nearest, plain

#: Fewer answers than this are a warning, with the figure that pays for so many.
FEW = 10


def budget_findings(schema: Schema) -> list[Finding]:
    """How many ordinary answers the budget and each cap pay for, with the noise that is chosen.

    A budget or cap that pays for none is an error, for fewer than `FEW` a warning. Raises
    SchemaError where `total_budget` does.
    """
    privacy = schema.privacy
    total = total_budget(schema)
    findings = [_finding(privacy, "privacy, epsilon", total, None)]
    for name, analyst in schema.analysts.items():
        try:
            cap = capped(analyst, privacy)
        except DataError as error:
            findings.append(Finding("error", f"analysts, {name}", str(error)))
            continue
        findings.append(_finding(privacy, f"analysts, {name}, epsilon", total, cap))
    return findings


def _finding(privacy: Privacy, where: str, total: Budget, cap: Budget | None) -> Finding:
    price = privacy.query_epsilon
    count, noise = _answers(privacy, price, total, cap)
    number = {0: "no answer", 1: "one answer"}.get(count, f"{count} answers")
    message = f"{shown((cap or total).epsilon)} pays for {number} at query_epsilon = {plain(price)}"
    message += f", with {noise.capitalize()} noise" if count else ""
    if count >= FEW or fields(total.rule):  # type: ignore[arg-type]  # each rule is a dataclass; some fix the number
        return Finding("note" if count else "error", where, message)
    advice = " or ".join(_advice(privacy, price, total, cap))
    return Finding(
        "loose" if count else "error",
        where,
        f"{message}; {advice or 'a larger delta'} pays for {FEW}",
    )


def _advice(privacy: Privacy, price: Fraction, total: Budget, cap: Budget | None) -> Iterator[str]:
    """The largest price, and the least ε, of three digits,
    with which `FEW` answers are paid for.
    """

    def few(price: Fraction) -> bool:
        return _answers(privacy, price, total, cap)[0] < FEW

    def enough(epsilon: Fraction) -> bool:
        wider = Budget(epsilon, (cap or total).delta, rule=total.rule)
        return (
            _answers(privacy, price, *((wider, None) if cap is None else (total, wider)))[0] >= FEW
        )

    cheaper = _largest_sufficient_price(few, price)
    if privacy.answers is not None and cap is None:
        yield f"answers = {FEW}"
        return
    if cheaper is not None and privacy.answers is not None:
        # The price of so many answers is found by it.
        cost = next(iter(usual_costs(privacy, cheaper).values()))
        yield f"answers = {FilterState(None, total, FREE).affordable(cost) + 1}"
    elif cheaper is not None:
        yield f"query_epsilon = {plain(cheaper)}"
    if cap is None or enough(total.epsilon):
        larger = least(enough, float((cap or total).epsilon))
        if larger is not None:
            yield f"epsilon = {plain(larger)}"


def _largest_sufficient_price(few: Callable[[Fraction], bool], price: Fraction) -> Fraction | None:
    """The largest price of three digits at which there are not few answers, or None."""
    first = least(few, float(price))
    below = None if first is None else decimal(nearest(float(first)) - 1)
    return None if below is None or few(below) else below


def _answers(
    privacy: Privacy, price: Fraction, total: Budget, cap: Budget | None
) -> tuple[int, str]:
    """How many ordinary answers at a price a full budget and a full cap pay for,
    and with which noise.
    """
    unspent = FilterState(None, total, FREE)
    states = (unspent,) if cap is None else (unspent, FilterState("", cap, FREE))
    remaining = RemainingBudget(states, Lifetime(total, 1, FREE))
    priced = privacy.model_copy(update={"query_epsilon": price})
    noise = ordinary_noise(priced, price, remaining)
    try:
        return remaining.affordable(usual_costs(priced, price)[noise]), noise
    except DataError:  # so small a part of the budget that it is refused
        return 0, noise
