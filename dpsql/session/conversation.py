"""One analyst's conversation: plan, prepare, execute, interrupt, explain, remaining.

Proved in ``docs/proofs/execution.md`` and ``docs/proofs/accuracy.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.engines.engine import Engine
from dpsql.errors import BudgetExhausted, DataError
from dpsql.planning.plan import Plan
from dpsql.planning.workload import Workload, priced
from dpsql.postprocessing import PostProcessors, Result
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.ledger import Ledger
from dpsql.privacy.measure import exact
from dpsql.schema import Noise, Schema
from dpsql.session import request
from dpsql.session.answer_store import AnswerStore
from dpsql.session.answering import Answering, BatchExecution, WorkloadStatement, statuses, text_and_parameters
from dpsql.session.cancellation import Turns, in_one_turn
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution, timed_rows
from dpsql.session.explain import Explanation, explain
from dpsql.session.explain import priced as cost_lines
from dpsql.session.plan_cache import PlanCache
from dpsql.session.prepared import Prepared, described
from dpsql.session.pricing.target import Goal, Target
from dpsql.session.pricing.target_plans import Targets, after, first_only
from dpsql.session.public_sizes import PublicSizes
from dpsql.session.request import SETTINGS, StatementSettings
from dpsql.session.request import settings as status_rows
from dpsql.session.request.settings import allowed, target
from dpsql.sql.ir.frontend_options import PEOPLE, FrontendOptions


class Session:
    """An analyst at a private database; the budget is the database's, whoever and how many they are.

    One thread uses it at a time; ``interrupt`` alone may come from another. ``postprocessors`` are the database's;
    without them the session has its own, and closing it closes the engine and the ledger. ``answers`` are those already
    paid for; ``frontend_options`` say what the front end chooses where SQL leaves it open; ``plans`` are those that
    were made lately.
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
    ) -> None:
        self._schema, self._accountant, self.analyst = schema, accountant, analyst
        self._owned: tuple[PostProcessors | Engine | Ledger, ...] = ()
        if postprocessors is None:
            postprocessors = PostProcessors(schema, timed_rows(engine, schema.privacy.time_bucket))
            self._owned = (postprocessors, engine, accountant.ledger)
        privacy, self._turns = schema.privacy, Turns(postprocessors, analyst)
        self._settings = self._default = StatementSettings(privacy.query_epsilon, mechanism=privacy.mechanism)
        self._compiler = Compiler(
            schema, accountant, analyst, frontend_options, self._turns, plans, PublicSizes(engine), engine.dialect
        )
        self._targets = Targets(accountant, analyst, answers, self._turns, privacy.epsilon)
        self._execution = Execution(accountant, analyst, engine, answers, privacy.time_bucket)
        self._answering = Answering(self._execution, self._turns)
        self._batch = BatchExecution(self._execution, self._answering, self._turns)

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    @property
    @in_one_turn
    def remaining(self) -> RemainingBudget:
        """What is left for this analyst, of the total or of a cap under it."""
        return self._accountant.remaining(self.analyst)

    @property
    def settings(self) -> StatementSettings:
        """The settings of this session."""
        return self._settings

    @settings.setter
    def settings(self, settings: StatementSettings | None) -> None:
        self._settings = allowed(self._default if settings is None else settings, self._schema.privacy)

    @property
    def frontend_options(self) -> FrontendOptions:
        """What the front end chooses where SQL leaves it open, for the statements from now on."""
        return self._compiler.frontend_options

    @frontend_options.setter
    def frontend_options(self, frontend_options: FrontendOptions) -> None:
        self._compiler.frontend_options = frontend_options

    def set(self, name: str, value: str | None) -> None:
        """Change a setting, whose value is as people write it; None goes back to the schema's.

        Raises ValueError for what is no value of it, DataError for one that the schema does not allow.
        """
        self.settings = self._settings.with_setting(name, value, self._default)

    @property
    def epsilon(self) -> Fraction:
        """What a statement of this session costs."""
        return self._settings.epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | None) -> None:
        wanted = self._default.epsilon if epsilon is None else exact(epsilon)
        self.settings = replace(self._settings, epsilon=wanted)

    @property
    def mechanism(self) -> Noise:
        """The noise of its statements: laplace, gaussian, or auto for what the budget makes the better one."""
        return self._settings.mechanism

    @mechanism.setter
    def mechanism(self, mechanism: str | None) -> None:
        try:
            self.set("dpsql.mechanism", mechanism)
        except ValueError as error:
            raise DataError(f"{mechanism!r} is no mechanism; {error}") from None

    @property
    def target_error(self) -> Target | None:
        """How exact each statement of this session shall be, whatever that costs within `StatementSettings.most`."""
        return self._settings.target_error

    @target_error.setter
    def target_error(self, wanted: Target | str | float | None) -> None:
        self.settings = replace(self._settings, target_error=target(wanted))

    @in_one_turn
    def plan(self, text: str, parameters: Sequence[object] = ()) -> Plan:
        """The statement as it would be run and paid for; nothing is charged and no row is read."""
        return self._targets.priced(self._compiler.plan(text, parameters, self._settings), self._settings)

    @in_one_turn
    def prepare(self, text: str, types: Sequence[str | None] = ()) -> Prepared:
        """The text parsed once, with the types of its parameters and its columns; nothing is charged or read.

        ``types`` are DuckDB's names of the types that the client declares, None where it leaves one open.
        """
        statement, found = self._compiler.parse(text, types)

        def compiled(values: tuple[object, ...]) -> Plan:
            return self._compiler.plan(text, values, self._settings, statement)

        def plan(values: tuple[object, ...]) -> Plan:
            return self._targets.priced(compiled(values), self._settings)

        return Prepared(text, found, described(found, compiled), plan)

    @in_one_turn
    def execute(self, text: str, parameters: Sequence[object] = ()) -> Result:
        """The answer to one line: charged before a row is read, read before noise, noise before post-processing."""
        match request.read(text):
            case request.Select(text=text):
                return self.answer(self.plan(text, parameters))
            case request.ExplainPrivacy(text=text, goal=goal):
                return status_rows.lines("EXPLAIN PRIVACY", str(self.explain(text, parameters, goal)).splitlines())
            case request.Explain(text=text, json=as_json):
                return status_rows.lines("QUERY PLAN", cost_lines(self.explain(text, parameters), as_json))
            case request.Set(name=name, value=value):
                self.set(name, value)
                return Result((), [], [])
            case request.Show(name=name):
                return (
                    status_rows.lines(name, [self._settings.shown(name)])
                    if name in SETTINGS
                    else status_rows.budget(self.remaining)
                )
            case request.TransactionControl():
                return Result((), [], [])

    @in_one_turn
    def answer(self, plan: Plan) -> Result:
        """The answer to a plan; QueryCancelled where another thread ended it, and what was charged stays charged.

        That of a pilot tells the price of a better one, which is then given.
        """
        result, better = self.first(plan)
        return result if better is None else self.second(result, better)

    @in_one_turn
    def first(self, plan: Plan) -> tuple[Result, Plan | None]:
        """The plan's own answer; and of a pilot the plan of a better one, where that is admitted and worth it."""
        result, released = self._answering.answer(plan)
        return self._targets.better(plan, result, released, self._settings)

    @in_one_turn
    def second(self, first: Result, better: Plan) -> Result:
        """The better answer, with what was charged for both; the first one where the budget does not admit it now."""
        try:
            result, _ = self._answering.answer(better)
        except BudgetExhausted as refusal:
            return first_only(first, refusal)
        return after(first, result)

    @in_one_turn
    def workload(self, statements: Sequence[WorkloadStatement], delta: Fraction | None = None) -> Workload:
        """What each accountant would charge for these statements as one block; nothing is charged and no row is read.

        A statement is a text, or a text with its parameters. ``delta`` is what of δ the block may use where it is
        priced as (ε, δ); by default a tenth of what is set aside for thresholds. Targets of errors do not apply.
        """
        plans = [
            self._compiler.plan(text, values, self._settings) for text, values in map(text_and_parameters, statements)
        ]
        return priced(plans, statuses(plans, self.is_paid), self._schema, self.remaining, delta)

    @in_one_turn
    def run(self, workload: Workload, accountant: str | None = None) -> list[Result]:
        """The answers to a workload, in order, once all of it is charged: by the named accountant or the best one.

        It is all or nothing: where the block is refused, nothing is charged and nothing is read.
        """
        return self._batch.run(workload, accountant)

    @in_one_turn
    def explain(self, text: str, parameters: Sequence[object] = (), goal: Goal | None = None) -> Explanation:
        """What the statement would cost and how exact it would be; it costs nothing and touches nothing.

        With a goal, which may stand behind TO REACH in the text, it is what reaches the goal that is explained, where
        the budget admits it.
        """
        text, behind = request.with_goal(text)
        goal = goal or behind
        plan, reached = self._compiler.plan(text, parameters, self._settings), None
        pricing = self._targets.pricing
        if goal is None:
            plan = self._targets.priced(plan, self._settings)
        else:
            reached = pricing.reach(plan, goal)
            if reached.epsilon is not None and reached.share is not None:
                plan = plan.at(reached.epsilon)
        return explain(plan, pricing.remaining, self.is_paid(plan), pricing.likely(plan), reached)

    @in_one_turn
    def is_paid(self, plan: Plan) -> bool:
        """Whether the plan's answer was paid for before, so that it is given again at no cost."""
        return self._execution.is_paid(plan)

    def interrupt(self) -> None:
        """End the statement that runs now, from another thread; it raises QueryCancelled in its own."""
        self._turns.interrupt()

    def close(self) -> None:
        """Give back what the session holds; what was charged stays charged."""
        for each in self._owned:
            each.close()
