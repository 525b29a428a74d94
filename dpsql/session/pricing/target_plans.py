"""Plans at the price of how exact their answers shall be,
and a pilot's answer where that is not known yet.

Proved in ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.errors import BudgetExhausted, Error, StatementError
from dpsql.planning.plan import Plan
from dpsql.postprocessing import Price, Result
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.measure import shown
from dpsql.release.released_tables import Released
from dpsql.session.answer_store import AnswerStore
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.pricing.error_target import AccuracyGoal
from dpsql.session.pricing.price_search import ReachedGoal, half_widths_text, plain
from dpsql.session.pricing.pricing import EarlierRelease, Pricing, UnresolvedTarget
from dpsql.session.request import StatementSettings

#: What is paid where there is no pilot.
_NOTHING = Fraction(0)


class TargetPlanner:
    """Finds prices from what is left for an analyst and from ``answers`` that were paid for;
    none is above ``largest``.

    ``accountant`` is asked for nothing but what is left.
    """

    def __init__(
        self,
        accountant: Accountant,
        analyst: str,
        answers: AnswerStore | None,
        scopes: CancelScopes,
        largest: Fraction,
    ) -> None:
        self._accountant = accountant
        self._analyst = analyst
        self._answers = answers
        self._scopes = scopes
        self._largest = largest

    @property
    def pricing(self) -> Pricing:
        """How prices are found, of what is left now."""
        return Pricing(
            self._find, self._run, self._accountant.remaining(self._analyst), self._largest
        )

    def plan_at_target(self, plan: Plan, settings: StatementSettings) -> Plan:
        """The plan at the price that reaches the target, or a pilot if that depends on a first answer.

        A pilot costs no more than a statement may. Raises BudgetExhausted if the price exceeds the
        remaining budget, or what one statement may cost.
        """
        if settings.target_error is None or plan.fixed or not plan.cores:
            return plan
        try:
            reached = self.pricing.reach(plan, AccuracyGoal((settings.target_error,)))
        except UnresolvedTarget:
            return replace(plan.at(min(plan.price, settings.most)), pilot=True)
        except StatementError:
            return plan  # nothing in it has an interval
        price = (
            reached.epsilon
            if reached.free and reached.epsilon is not None
            else _affordable_price(reached, settings)
        )
        return _with_price_notice(plan.at(price), reached)

    def better(
        self, plan: Plan, result: Result, released: Released | None, settings: StatementSettings
    ) -> tuple[Result, Plan | None]:
        """The answer to a plan; and of a pilot the plan of a better one at the price that it tells,
        where admitted.
        """
        if not plan.pilot or released is None or settings.target_error is None:
            return result, None
        try:
            reached = self.pricing.reach(
                plan, AccuracyGoal((settings.target_error,)), EarlierRelease(plan, released)
            )
            if reached.free:
                said_so = f"reaches {reached.wanted}: {half_widths_text(reached.errors)}"
                return replace(result, notices=(*result.notices, said_so)), None
            return result, _with_price_notice(
                plan.at(_affordable_price(reached, settings, result.price.charged)), reached
            )
        except (BudgetExhausted, UnresolvedTarget) as refusal:
            return first_only(result, refusal), None

    def _find(self, plan: Plan) -> EarlierRelease | None:
        release = None if self._answers is None else self._answers.best(plan)
        return None if release is None else EarlierRelease(*release)

    def _run(self, plan: Plan, released: Released) -> Result:
        with self._scopes.sandbox() as postprocessor:
            return postprocessor.run(plan, released)


def first_only(result: Result, refusal: Error) -> Result:
    """A pilot's answer as it is given if there is no better one."""
    return replace(result, notices=(*result.notices, f"a first answer only: {refusal}"))


def after(first: Result, second: Result) -> Result:
    """The better answer, with what was charged for both."""
    paid = first.price
    then = second.price
    price = Price(paid.charged + then.charged, then.stored and paid.stored, paid.cost + then.cost)
    return replace(second, price=price)


def _affordable_price(
    reached: ReachedGoal, settings: StatementSettings, pilot: Fraction = _NOTHING
) -> Fraction:
    """The price that reaches a goal; BudgetExhausted above what is left,
    or with its pilot above what one may cost.
    """
    if reached.epsilon is None or reached.share is None:
        raise BudgetExhausted("; ".join(reached.lines))
    total = pilot + reached.epsilon
    if total > settings.most:
        both = f" with the ε = {shown(pilot)} of this answer" if pilot else ""
        raise BudgetExhausted(
            f"{reached.lines[0]}; that is more{both} than one statement may cost here, "
            f"ε = {shown(settings.most)}; SET dpsql.most_epsilon = "
            f"{plain(total)} allows it"
        )
    return reached.epsilon


def _with_price_notice(plan: Plan, reached: ReachedGoal) -> Plan:
    """The plan, which says what it was priced by."""
    how = (
        "from an answer that was paid for before"
        if reached.free
        else f"priced ε = {shown(reached.epsilon or Fraction(0))}"
    )
    return replace(
        plan,
        notices=(
            *plan.notices,
            f"{how}, to reach {reached.wanted}: {half_widths_text(reached.errors)}",
        ),
    )
