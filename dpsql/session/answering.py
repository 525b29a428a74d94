"""Answers statements and workloads: runs or finds the release, post-processes it,
and adds the price and notices.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/workload.md``, ``docs/proofs/views.md`` and
``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn, TypeAlias

from dpsql.errors import DataError, OperationalError
from dpsql.planning.assumptions import taken_as_given
from dpsql.planning.group_notices import groups_left_out, nothing_seen
from dpsql.planning.plan import Plan
from dpsql.planning.workload import Offer, PricedWorkload
from dpsql.planning.workload.offers import OfferStatus
from dpsql.postprocessing import Price, Result
from dpsql.privacy.measure import FREE
from dpsql.release.clipping_report import left_out
from dpsql.release.combined_tables import CombinedTable
from dpsql.release.released_tables import NOTHING, Released
from dpsql.session.answer_store import PaidRelease, PartAnswer, ViewAnswer
from dpsql.session.cancel_scope import CancelScope, CancelScopes
from dpsql.session.execution import Execution
from dpsql.session.public_sizes import many_candidates


class PlanAnswering:
    """Answers plans, from stored results if there are any."""

    def __init__(self, execution: Execution, scopes: CancelScopes) -> None:
        self._execution = execution
        self._scopes = scopes

    def answer(self, plan: Plan, *, reuse: bool = False) -> tuple[Result, Released | None]:
        """The answer to a plan, and its release; None for the release if the result was in memory.

        With ``reuse`` it may be made of other answers, so that only what they do not tell is bought.
        """
        store = self._execution.answers
        version = store.version if store is not None and store.keeps_results else None
        known = None if store is None or version is None else store.result(plan, version)
        if known is not None:
            return known, None
        with self._scopes.scope() as scope:
            paid = PaidRelease(NOTHING, False, version)
            if plan.cores and plan.refined:
                plan, paid = self._refined(plan, scope)
            elif plan.cores:
                paid = self._execution.paid(
                    plan.written(), scope, self._execution.charged, reuse=reuse
                )
            return self.postprocessed(plan, paid, scope), paid.released

    def of_views(self, plan: Plan, refine: bool = False) -> ViewAnswer | None:
        """The release of the plan's cores as earlier answers tell it, if they do; to ``refine``,
        by all of them.
        """
        with self._scopes.sandbox() as postprocessor:
            return self._execution.of_views(plan, postprocessor, refine)

    def part_of_views(self, plan: Plan) -> PartAnswer | None:
        """What earlier answers tell of the plan's cores, if that is a part of them."""
        with self._scopes.sandbox() as postprocessor:
            return self._execution.part_of_views(plan, postprocessor, self._execution.version)

    def _refined(self, plan: Plan, scope: CancelScope) -> tuple[Plan, PaidRelease]:
        """What is missing to be as exact as the plan's price buys,
        bought and combined with what is known.

        The plan is that of what is bought.
        """
        known = self.of_views(plan, refine=True)
        missing = Fraction(1) if known is None else known.missing
        if known is not None and not missing:
            known = self._execution.refined(plan, scope) or known
            notice = "as exact as its price buys: nothing was bought"
            return plan, PaidRelease(known.released, True, None, (*known.notices, notice))
        bought = plan.at(plan.price * missing).written()
        paid = self._execution.paid(bought, scope, self._execution.charged)
        both = None if known is None else self.of_views(plan, refine=True)
        if (
            both is None or both.ratio > 1 / missing
        ):  # what was bought is no view: its own noise is that of its price
            return bought, paid
        both = self._execution.refined(plan, scope) or both
        return bought, PaidRelease(both.released, paid.stored, None, both.notices)

    def postprocessed(
        self, plan: Plan, paid: PaidRelease, scope: CancelScope, charged: Fraction | None = None
    ) -> Result:
        """The post-processed result.

        ``charged`` is the ε to report if it differs from the plan's price.
        """
        scope.check()
        with scope.sandbox() as postprocessor:
            rows = postprocessor.run(plan, paid.released)
        paid_plan = paid.bought or plan
        plan_price = paid_plan.price if charged is None else charged
        bought = bool(plan.cores) and not paid.stored
        cost = paid_plan.cost if charged is None else FREE
        price = Price(plan_price if bought else Fraction(0), paid.stored, cost if bought else FREE)
        notices = (*plan.notices, *taken_as_given(plan), *rows.notices, *paid.notices)
        if plan.cores:
            notices = (
                *notices,
                *many_candidates(plan, paid.released),
                *left_out(plan, paid.released),
            )
        if bought and self._execution.answers is not None:
            notices = (*notices, *self._execution.answers.stale(plan))
        combined = any(isinstance(table, CombinedTable) for table in paid.released.tables)
        missing = groups_left_out(plan, combined)
        notices += missing if rows.rows else nothing_seen(plan) or missing
        notices += plan.clamped
        result = replace(rows, price=price, notices=notices)
        if self._execution.answers is not None and paid.version is not None:
            self._execution.answers.keep_result(plan, paid.version, result)
        return result


#: A statement, alone or with its parameters.
WorkloadStatement: TypeAlias = str | tuple[str, Sequence[object]]


class WorkloadAnswering:
    """Charges workloads once and answers them."""

    def __init__(
        self, execution: Execution, answering: PlanAnswering, scopes: CancelScopes
    ) -> None:
        self._execution = execution
        self._answering = answering
        self._scopes = scopes

    def is_free(self, plan: Plan, reuse: bool) -> bool:
        """Whether a plan was paid for already; with ``reuse``, also where other answers tell it."""
        return self._execution.is_paid(plan) or (
            reuse and self._answering.of_views(plan) is not None
        )

    def run(self, workload: PricedWorkload, accountant: str | None, *, reuse: bool) -> list[Result]:
        """Charge the whole workload, by the named accountant or the best one,
        then return the answers in order.

        With ``reuse`` statements that other answers tell are made of these.
        """
        offer = offered(workload, accountant)
        execution = self._execution
        for plan in workload.plans:
            plan.written()
        with self._scopes.scope() as scope:
            if (
                statuses(workload.plans, lambda plan: self.is_free(plan, reuse))
                != workload.statuses
            ):
                raise DataError(
                    "what of the workload is paid for already has changed since it was priced; price it again"
                )
            known = [
                (plan, execution.paid(plan, scope, unpaid, reuse=reuse))
                for plan in workload.with_status("paid for already")
            ]
            block = None if offer is None else offer.block
            for plan in workload.bought:
                execution.require_few_keys(plan)
            with nullcontext() if block is None else execution.held(block.plans[0]) as version:
                charges = {} if block is None else execution.charged_together(block)
                parts = (
                    {}
                    if block is None
                    else dict(zip(map(id, block.plans), block.parts, strict=True))
                )
                results = list[Result]()
                for plan, status in zip(workload.plans, workload.statuses, strict=True):
                    paid = (
                        PaidRelease(NOTHING, False, None)
                        if status == "public"
                        else earlier(plan, known)
                    )
                    if paid is None:
                        paid_release = execution.paid(
                            plan, scope, lambda charged_plan: charges[id(charged_plan)], version
                        )
                        # The block paid, even if another was first meanwhile.
                        paid = replace(paid_release, stored=False)
                        known.append((plan, paid))
                    results.append(
                        self._answering.postprocessed(plan, paid, scope, parts.get(id(plan)))
                    )
                return results


def text_and_parameters(statement: WorkloadStatement) -> tuple[str, tuple[object, ...]]:
    """The text of a statement and its parameters."""
    if isinstance(statement, str):
        return statement, ()
    text, parameters = statement
    return text, tuple(parameters)


def statuses(plans: Sequence[Plan], is_paid: Callable[[Plan], bool]) -> tuple[OfferStatus, ...]:
    """For each plan, whether it has to be bought, or why it is free."""
    result = list[OfferStatus]()
    bought = list[Plan]()
    for plan in plans:
        if not plan.cores:
            result.append("public")
        elif any(_is_same(plan, bought_plan) for bought_plan in bought):
            result.append("the same as one before")
        elif is_paid(plan):
            result.append("paid for already")
        else:
            result.append("bought")
            bought.append(plan)
    return tuple(result)


def earlier(plan: Plan, firsts: Sequence[tuple[Plan, PaidRelease]]) -> PaidRelease | None:
    """The release of an equal plan earlier in the workload, if there is one;
    giving it again is free.
    """
    for first, paid in firsts:
        if _is_same(plan, first):
            return replace(paid, stored=True)
    return None


def offered(workload: PricedWorkload, accountant: str | None) -> Offer | None:
    """The offer to charge by, or None if all is free;
    raises DataError if the named accountant is not valid.
    """
    try:
        offer = workload.offer(accountant)
    except KeyError:
        known = ", ".join(workload_offer.accountant for workload_offer in workload.offers)
        raise DataError(
            f"there is no accountant {accountant!r} for a workload; known are {known}"
        ) from None
    if offer is not None and not offer.valid:
        raise DataError(
            f"accountant {offer.accountant} is not valid for this workload: {offer.why}"
        )
    return offer


def unpaid(plan: Plan) -> NoReturn:
    """Raise: a stored answer is gone since the workload was priced, and its price was not shown."""
    raise OperationalError(
        "an answer that was paid for is no longer kept; price the workload again"
    )


def _is_same(one: Plan, other: Plan) -> bool:
    """Whether two plans make the same release; their post-processing may differ."""
    return (one.cores, one.derived, one.cubes, one.confidence) == (
        other.cores,
        other.derived,
        other.cubes,
        other.confidence,
    )
