"""Finds the bounds of columns that a plan waits for: charges them once, reads, counts,
and keeps what was found.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import OperationalError
from dpsql.planning.plan import AutomaticColumn, Plan
from dpsql.planning.tuning import TuningPlan, tuning_note
from dpsql.postprocessing import Price, Result
from dpsql.postprocessing.answer import UNCHARGED
from dpsql.privacy.ledger import NewRelease
from dpsql.privacy.measure import FREE, shown
from dpsql.schema import Schema
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution
from dpsql.session.named_releases import NamedReleases
from dpsql.session.named_releases.statements import NamedPrice
from dpsql.session.tuning.automatic_bounds import release_name, written
from dpsql.session.tuning.noisy_ladders import covering, ends_of
from dpsql.session.tuning.tuner import column_questions, planned


def with_price_of_bounds(result: Result, paid: Price) -> Result:
    """The answer with what was charged for its bounds, too."""
    if not paid.charged:
        return result
    price = Price(paid.charged + result.price.charged, False, paid.cost + result.price.cost)
    notice = f"ε = {shown(paid.charged)} of its price was for finding bounds, which are kept"
    return replace(result, price=price, notices=(*result.notices, notice))


class BoundsFinder:
    """Finds the bounds of automatic columns for one analyst, who pays;
    all analysts of the database have them then.
    """

    def __init__(
        self,
        schema: Schema,
        compiler: Compiler,
        execution: Execution,
        scopes: CancelScopes,
        named: NamedReleases,
    ) -> None:
        self._schema = schema
        self._compiler = compiler
        self._execution = execution
        self._scopes = scopes
        self._named = named

    def found(self, plan: Plan) -> tuple[Price, Plan]:
        """The price of the bounds that a plan waits for, and the plan with them.

        Raises:
            BudgetExhausted: The budget does not admit the bounds and the plan together;
                nothing is charged.
            ExecutionFailed: The engine failed after the charge, which stays.
            OperationalError: The answer has other columns with these bounds, which are kept.
        """
        if not plan.unfound:
            return UNCHARGED, plan
        self._execution.remaining.require(self.purchase(plan).cost.rounded_up())
        finds = [(column, self._find(column)) for column in plan.unfound]
        bought = [find for column, find in finds if self._is_bought(column, find)]
        price = sum((find.price for find in bought), Fraction(0))
        cost = sum((find.cost for find in bought), FREE)
        assert plan.replanned is not None
        bounded = plan.replanned()
        if bounded.unfound or bounded.columns != plan.columns:
            raise OperationalError(
                "the answer has other columns with the bounds that were found; run it again"
            )
        return Price(price, cost=cost), bounded

    def purchase(self, plan: Plan) -> Plan | NamedPrice:
        """What an answer is charged for: the plan and the bounds that it waits for;
        nothing is charged yet.
        """
        if not plan.unfound:
            return plan
        finds = [self._find(column) for column in plan.unfound]
        price = sum((find.price for find in finds), plan.price)
        return NamedPrice(plan.text, price, sum((find.cost for find in finds), plan.cost))

    def _find(self, column: AutomaticColumn) -> TuningPlan:
        """What is read and counted for the bounds of a column,
        at the schema's price of a statement.
        """
        privacy = self._schema.privacy
        asked = column_questions(self._schema, *column)
        return planned(
            self._compiler, privacy, release_name(column), [asked], price=privacy.query_epsilon
        )

    def _is_bought(self, column: AutomaticColumn, find: TuningPlan) -> bool:
        """Whether this charged for the bounds of a column and kept them;
        False if they were there by now.
        """

        def make(name: str) -> NewRelease:
            with self._scopes.scope() as scope:
                counts, entry = self._execution.counted(find, json.dumps(tuning_note(find)), scope)
            ladders = [
                (question.ladder.rungs, counts[question]) for question in find.tables[0].questions
            ]
            low, high = (covering(*ladder) for ladder in ladders)
            return NewRelease(
                name, "bounds", entry, "", facts=written(column, ends_of(low, high)), content=b""
            )

        return self._named.create_bounds(column, make)
