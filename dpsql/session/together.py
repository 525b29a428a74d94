"""Statements of a workload as a session asks them: which are bought, and by which accountant.

Proved in ``docs/proofs/workload.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from dpsql.answers import Paid
from dpsql.errors import DataError, OperationalError
from dpsql.plan import Plan
from dpsql.workload import Offer, Workload
from dpsql.workload.priced import Status

#: A statement, alone or with its parameters.
Asked: TypeAlias = str | tuple[str, Sequence[object]]


def asked(statement: Asked) -> tuple[str, tuple[object, ...]]:
    """The text of a statement and its parameters."""
    if isinstance(statement, str):
        return statement, ()
    text, parameters = statement
    return text, tuple(parameters)


def statuses(plans: Sequence[Plan], is_paid: Callable[[Plan], bool]) -> tuple[Status, ...]:
    """Which of the plans have to be bought, and why the others do not."""
    found, bought = list[Status](), list[Plan]()
    for plan in plans:
        if not plan.cores:
            found.append("public")
        elif any(_is_same(plan, each) for each in bought):
            found.append("the same as one before")
        elif is_paid(plan):
            found.append("paid for already")
        else:
            found.append("bought")
            bought.append(plan)
    return tuple(found)


def earlier(plan: Plan, firsts: Sequence[tuple[Plan, Paid]]) -> Paid | None:
    """What was paid for an equal plan before; giving it again costs nothing."""
    for first, paid in firsts:
        if _is_same(plan, first):
            return Paid(paid.released, True, paid.version)
    return None


def offered(workload: Workload, accountant: str | None) -> Offer | None:
    """The offer to charge by, None where all is free; DataError where the named accountant is not valid here."""
    try:
        offer = workload.offer(accountant)
    except KeyError:
        known = ", ".join(each.accountant for each in workload.offers)
        raise DataError(f"there is no accountant {accountant!r} for a workload; known are {known}") from None
    if offer is not None and not offer.valid:
        raise DataError(f"accountant {offer.accountant} is not valid for this workload: {offer.why}")
    return offer


def unpaid(plan: Plan) -> NoReturn:
    """An answer that was paid for is gone: nothing is charged for it behind the price that was told."""
    raise OperationalError("an answer that was paid for is no longer kept; price the workload again")


def _is_same(one: Plan, other: Plan) -> bool:
    """Whether two plans release the same: nothing but their shells may differ."""
    return (one.cores, one.derived, one.cubes, one.confidence) == (
        other.cores,
        other.derived,
        other.cubes,
        other.confidence,
    )
