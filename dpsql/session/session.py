"""One analyst's session: plans, prices, prepares, executes and explains statements.

Proved in ``docs/proofs/execution.md`` and ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.engines.engine import Engine
from dpsql.errors import BudgetExhausted, StatementError
from dpsql.planning.plan import Plan
from dpsql.planning.workload import PricedWorkload, price_workload
from dpsql.postprocessing import PostProcessors, Price, Result
from dpsql.postprocessing.interval_columns import with_interval_columns
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.measure import FREE, Cost
from dpsql.schema import Schema
from dpsql.session import request
from dpsql.session.answer_store import AnswerStore
from dpsql.session.answering import (
    PlanAnswering,
    WorkloadAnswering,
    WorkloadStatement,
    statuses,
    text_and_parameters,
)
from dpsql.session.cancel_scope import CancelScopes, cancellable
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution
from dpsql.session.explain import cost_lines, explain
from dpsql.session.explanation import Explanation
from dpsql.session.named_releases import NamedReleases
from dpsql.session.named_releases.statements import NamedPrice, NamedStatements
from dpsql.session.named_releases.synopses import Synopses
from dpsql.session.named_releases.synthetic_tables import SyntheticTables
from dpsql.session.plan_cache import PlanCache
from dpsql.session.pricing.error_target import AccuracyGoal
from dpsql.session.pricing.noise_choice import ordinary_cost
from dpsql.session.pricing.target_plans import TargetPlanner, after, first_only
from dpsql.session.public_sizes import PublicSizes
from dpsql.session.public_tables import PublicTables
from dpsql.session.request import SETTINGS
from dpsql.session.request import statement_settings as status_rows
from dpsql.session.statement_planner import StatementPlanner
from dpsql.session.tuning.automatic_bounds import said_of_bounds
from dpsql.session.tuning.bounds_finder import BoundsFinder, with_price_of_bounds
from dpsql.session.tuning.tuner import Tuner
from dpsql.sql.binder.binding_state import PEOPLE, FrontendOptions


class Session(StatementPlanner):
    """One analyst's session; the budget belongs to the database, and all its sessions share it.

    One thread may use a session at a time; `interrupt` may come from another.

    Args:
        schema: What the owner declares, completed by the catalogue of the data.
        engine: Runs charged plans where the data are.
        accountant: Admits and records charges.
        analyst: The name whose budget is charged.
        postprocessors: The sandboxes of a shared database. Without them the session makes its own,
            and closing it closes the engine and the ledger too.
        answers: The store of released answers, if there is one.
        frontend_options: The front end's choices among SQL dialects.
        plans: The database's cache of plans, if there is one.
        named: What stays under names in a shared database. Without it the session reads the ledger
            itself.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        accountant: Accountant,
        analyst: str,
        *,
        postprocessors: PostProcessors | None = None,
        answers: AnswerStore | None = None,
        frontend_options: FrontendOptions = PEOPLE,
        plans: PlanCache | None = None,
        named: NamedReleases | None = None,
    ) -> None:
        self._schema = schema
        self._accountant = accountant
        self.analyst = analyst
        self._owned: tuple[PostProcessors | Engine | Ledger, ...] = ()
        self.named = named or NamedReleases(schema, accountant.ledger, engine.version)
        if postprocessors is None:
            rows = self.named.rows(PublicTables(engine, schema.privacy.time_bucket).rows)
            postprocessors = PostProcessors(lambda: self.named.schema, rows, engine.version)
            self._owned = (postprocessors, engine, accountant.ledger)
        privacy = schema.privacy
        scopes = CancelScopes(postprocessors, analyst)
        self._execution = Execution(
            accountant, analyst, engine, answers, time_bucket=privacy.time_bucket
        )
        compiler = Compiler(
            schema,
            accountant,
            analyst=analyst,
            frontend_options=frontend_options,
            scopes=scopes,
            plans=plans,
            sizes=PublicSizes(self._execution.public, self.named.row_count),
            dialect=engine.dialect,
            named=self.named,
        )
        targets = TargetPlanner(accountant, analyst, answers, scopes, largest=privacy.epsilon)
        super().__init__(privacy, compiler, targets, scopes)
        self._answering = PlanAnswering(self._execution, self._scopes)
        self._batch = WorkloadAnswering(self._execution, self._answering, self._scopes)
        self.tuner = Tuner(
            self._compiler, self._execution, accountant, self._scopes, privacy=privacy
        )
        self._bounds = BoundsFinder(schema, compiler, self._execution, scopes, named=self.named)
        synthetic = SyntheticTables(self._compiler, self._execution, self.named, self._scopes)
        synopses = Synopses(self._compiler, self._execution, self.named, self._scopes)
        self._named_statements = NamedStatements(
            self.named, analyst, {"synthetic table": synthetic, "synopsis": synopses}
        )

    @property
    def schema(self) -> Schema:
        """What the owner declares, with the synthetic tables among the public ones."""
        return self.named.schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    @property
    @cancellable
    def remaining(self) -> RemainingBudget:
        """What is left of the budget for this analyst: of the total, or of the analyst's cap."""
        return self._accountant.remaining(self.analyst)

    def ordinary_cost(self, remaining: RemainingBudget) -> Cost:
        """What an ordinary answer costs, in which people count:
        a count of units at the session's price and noise.
        """
        privacy = self._schema.privacy.with_noise(self._settings.mechanism)
        return ordinary_cost(privacy, self._settings.epsilon, remaining)

    def ordinary_answers(self, remaining: RemainingBudget) -> AnswersLeft:
        """How many ordinary answers are left, of how many where nothing is spent."""
        return remaining.answers_left(self.ordinary_cost(remaining))

    def paid_for(self, price: Price) -> str:
        """What an answer took, and what is left, in the words of all front ends."""
        remaining = self.remaining
        if price.cost == FREE:
            free = f"free: {'answered before, and paid for once' if price.stored else 'no private row was read'}"
            return f"{free}; {self.ordinary_answers(remaining).describe('')}{remaining.renewed}"
        return f"{remaining.answers_left(price.cost).took}{remaining.renewed}"

    @cancellable
    def execute(self, text: str, parameters: Sequence[object] = ()) -> Result:
        """Answer one line of a client. A query is charged, then read, then given noise,
        then post-processed.
        """
        match request.parse_request(text):
            case request.Select(text=text):
                return self.answer(self.plan(text, parameters))
            case request.ExplainPrivacy(text=text, goal=goal):
                if (statement := request.named_statement(text)) is not None:
                    return self._explained("EXPLAIN PRIVACY", statement, parameters)
                return status_rows.lines(
                    "EXPLAIN PRIVACY", self.explain(text, parameters, goal).whole().splitlines()
                )
            case request.Explain(text=text, json=as_json, verbose=verbose):
                if (statement := request.named_statement(text)) is not None:
                    return self._explained("QUERY PLAN", statement, parameters)
                return status_rows.lines(
                    "QUERY PLAN", cost_lines(self.explain(text, parameters), as_json, verbose)
                )
            case request.Set(name=name, value=value):
                self.set(name, value)
                return Result((), [], [])
            case request.Show(name="tables"):
                return status_rows.lines("name", sorted(self.schema.tables))
            case request.Show(name=name):
                if name in SETTINGS:
                    return status_rows.lines(name, [self._settings.setting_text(name)])
                remaining = self.remaining
                return status_rows.budget(remaining, self.ordinary_answers(remaining))
            case request.TransactionControl():
                return Result((), [], [])
            case request.CreateNamed() | request.DropNamed() | request.ShowNamed() as statement:
                return self._named_statements.answer(statement, text, parameters, self._settings)

    @cancellable
    def named_price(
        self, statement: request.CreateNamed, text: str, parameters: Sequence[object] = ()
    ) -> NamedPrice:
        """What it costs to create what stays under a name; nothing is charged."""
        return self._named_statements.named_price(statement, text, parameters, self._settings)

    def _explained(
        self, column: str, statement: request.NamedStatement, parameters: Sequence[object]
    ) -> Result:
        return status_rows.lines(
            column, self._named_statements.explain(statement, parameters, self._settings)
        )

    @cancellable
    def answer(self, plan: Plan) -> Result:
        """Answer a plan. A pilot tells the price of a better answer,
        which is then bought and given.

        Raises:
            BudgetExhausted: The budget does not admit the price; nothing is charged.
            QueryCancelled: Another thread interrupted it; a charge stays.
            ExecutionFailed: The engine failed after the charge, which stays.
        """
        result, better = self.first(plan)
        return result if better is None else self.second(result, better)

    @cancellable
    def first(self, plan: Plan) -> tuple[Result, Plan | None]:
        """The answer to a plan, for which bounds are found if they are not;
        and of a pilot the plan of a better one.
        """
        paid, plan = self._bounds.found(plan)
        result, released = self._answering.answer(plan, reuse=self._reuses(plan))
        result = replace(result, notices=(*result.notices, *self.named.notices(plan.public)))
        result, better = self._targets.better(plan, result, released, self._settings)
        result = with_price_of_bounds(result, paid)
        return self._with_interval_columns(plan, result), better

    def _reuses(self, plan: Plan) -> bool:
        """Whether a plan may be answered from other answers; not if its price follows a target error."""
        return self._settings.reuse and self._settings.target_error is None and not plan.pilot

    @cancellable
    def second(self, first: Result, better: Plan) -> Result:
        """The better answer after a pilot, with the charge of both;
        the pilot's if the budget admits no more.
        """
        try:
            result, _ = self._answering.answer(better)
        except BudgetExhausted as refusal:
            return first_only(first, refusal)
        return after(first, self._with_interval_columns(better, result))

    @cancellable
    def workload(
        self, statements: Sequence[WorkloadStatement], delta: Fraction | None = None
    ) -> PricedWorkload:
        """What each accountant would charge for these statements as one block;
        nothing is charged and no row is read.

        Args:
            statements: Texts, or pairs of a text and its parameters. Error targets do not apply to
                them.
            delta: The δ that an (ε, δ) price of the block may use;
                by default a tenth of the δ for key thresholds.
        """
        plans = [
            self._compiler.plan(text, values, self._settings)
            for text, values in map(text_and_parameters, statements)
        ]
        offer_statuses = statuses(
            plans, lambda plan: self._batch.is_free(plan, self._settings.reuse)
        )
        return price_workload(plans, offer_statuses, self._schema, self.remaining, delta=delta)

    @cancellable
    def run(self, workload: PricedWorkload, accountant: str | None = None) -> list[Result]:
        """Charge a workload as one block, by the named accountant or the best one,
        and return its answers in order.

        Raises:
            BudgetExhausted: The budget does not admit the block;
                nothing is charged and nothing is read.
            DataError: The accountant is not valid for this workload.
        """
        results = self._batch.run(workload, accountant, reuse=self._settings.reuse)
        return [
            self._with_interval_columns(plan, result)
            for plan, result in zip(workload.plans, results, strict=True)
        ]

    @cancellable
    def explain(
        self, text: str, parameters: Sequence[object] = (), goal: AccuracyGoal | None = None
    ) -> Explanation:
        """What a statement would cost and how exact it would be; free, and reads no private row.

        Args:
            goal: The errors to reach, which may also follow TO REACH in the text. The plan
                that reaches them is explained, if the budget admits it.
        """
        text, refine = request.without_refine(text)
        text, text_goal = request.with_goal(text)
        if request.named_statement(text) is not None:
            raise StatementError(
                "E_STMT", "EXPLAIN is a statement here; run it", hint=f"EXPLAIN {text.strip()}"
            )
        goal = goal or text_goal
        pricing = self._targets.pricing
        reached = None
        if goal is None:
            plan = self._planned(
                lambda settings: self._compiler.plan(text, parameters, settings, may_find=True)
            )
        else:
            plan = self._compiler.plan(text, parameters, self._settings)
            reached = pricing.reach(plan, goal)
            if reached.epsilon is not None and reached.share is not None:
                plan = plan.at(reached.epsilon)
        unit = str(self._schema.privacy.unit)
        stored = self._execution.is_paid(plan)
        notes = said_of_bounds(plan)
        part_answer = None
        if not stored and self._reuses(plan):
            if (view_answer := self._answering.of_views(plan, refine)) is not None:
                stored = not (refine and view_answer.missing)
                notes = view_answer.said_before(refine)
                plan = (
                    plan.at(plan.price * view_answer.missing)
                    if refine and view_answer.missing
                    else plan
                )
            elif not refine and (part_answer := self._answering.part_of_views(plan)) is not None:
                notes = part_answer.said_before
        bought = None if part_answer is None else part_answer.rest
        return explain(
            plan,
            pricing.remaining,
            stored=stored,
            likely=pricing.likely(plan),
            reached=reached,
            unit=unit,
            made_of=notes,
            rest=bought,
        )

    @cancellable
    def is_paid(self, plan: Plan) -> bool:
        """Whether the plan's release is in the answer store, or told by what is there,
        so that it is free.
        """
        return self._execution.is_paid(plan) or (
            self._reuses(plan) and not plan.refined and self._answering.of_views(plan) is not None
        )

    @cancellable
    def purchase(self, plan: Plan) -> Plan | NamedPrice | None:
        """What an answer is charged for: of one that earlier answers tell in part the rest;
        None if it is free.
        """
        if not plan.cores or self.is_paid(plan):
            return None
        part_answer = (
            self._answering.part_of_views(plan) if self._reuses(plan) and not plan.refined else None
        )
        return self._bounds.purchase(plan) if part_answer is None else part_answer.rest

    def _with_interval_columns(self, plan: Plan, result: Result) -> Result:
        return with_interval_columns(plan, result) if self._settings.intervals else result

    def interrupt(self) -> None:
        """Cancel the running statement from another thread; it raises QueryCancelled in its own."""
        self._scopes.interrupt()

    def close(self) -> None:
        """Close what the session owns; charges stay."""
        for owned in self._owned:
            owned.close()
