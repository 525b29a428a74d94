"""One analyst's conversation: plan, prepare, execute, interrupt, explain, remaining.

Proved in ``docs/proofs/river.md``, ``docs/proofs/accuracy.md`` and ``docs/proofs/timing.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import partial

from dpsql import statement
from dpsql.accuracy.known import Known
from dpsql.accuracy.reached import Reached, plain, said
from dpsql.accuracy.target import Goal, Target, read_target
from dpsql.answers import Answers, Paid
from dpsql.clipping import left_out
from dpsql.engines.engine import Engine
from dpsql.errors import BudgetExhausted, DatabaseError, DataError, StatementError
from dpsql.explain import Explanation, explain, journal_note
from dpsql.explain import priced as cost_lines
from dpsql.plan import CorePlan, OutputColumn, Plan, plan_cores
from dpsql.privacy.accountant import Accountant, Charge, Remaining, divided
from dpsql.privacy.measure import exact as exact_number
from dpsql.privacy.measure import shown
from dpsql.privacy.sampling import OPERATING_SYSTEM
from dpsql.query.bind import Query, bind
from dpsql.query.budget_table import BudgetRow, names_budget, with_budget
from dpsql.query.clipped import clipped
from dpsql.query.clock import clock, names_clock, with_time
from dpsql.query.hint import with_hint
from dpsql.query.infer import parameter_types
from dpsql.query.manner import PEOPLE, Manner
from dpsql.query.parse import MALFORMED, Statement, parse
from dpsql.release import NOTHING, Released, release
from dpsql.schema import Noise, Schema
from dpsql.session.departure import MONOTONIC, Clock, Departure
from dpsql.session.memory import Memory
from dpsql.session.prepared import Prepared, described
from dpsql.session.pricing import Pricing, Unknown, bought, first_only
from dpsql.session.running import Running
from dpsql.session.together import Asked, asked, earlier, offered, statuses, unpaid
from dpsql.session.trouble import told_nothing
from dpsql.shell import Price, Result, Shell, Shells
from dpsql.statement import SETTINGS, Choices
from dpsql.workload import Block, Workload, priced


class Session:
    """An analyst at a private database; the budget is the database's, whoever and how many they are.

    One thread uses it at a time; ``interrupt`` alone may come from another. ``shells`` are the database's sandboxes;
    without them the session has its own, and closing it closes the engine. ``answers`` are those already paid for;
    ``manner`` is what the front end chooses where SQL leaves it open; ``memory`` what was planned and answered lately.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        accountant: Accountant,
        analyst: str,
        *,
        shells: Shells | None = None,
        answers: Answers | None = None,
        manner: Manner = PEOPLE,
        memory: Memory | None = None,
    ) -> None:
        self._schema, self._engine, self._accountant, self.analyst = schema, engine, accountant, analyst
        self._shells, self._alone = shells or Shells(schema, engine.public_rows), shells is None
        self._answers, self._memory = answers, memory
        self._choices = self._default = Choices(schema.privacy.query_epsilon, mechanism=schema.privacy.mechanism)
        self._entropy, self.manner = OPERATING_SYSTEM, manner
        self._clock: Clock = MONOTONIC
        self._running: Running | None = None

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    @property
    def remaining(self) -> Remaining:
        """What is left for this analyst, of the total or of a cap under it."""
        return self._accountant.remaining(self.analyst)

    @property
    def choices(self) -> Choices:
        """The settings of this session."""
        return self._choices

    @choices.setter
    def choices(self, choices: Choices | None) -> None:
        wanted = self._default if choices is None else choices
        self._allowed(exact_number(wanted.epsilon))
        try:
            noise = self._schema.privacy.with_noise(wanted.mechanism).mechanism
        except ValueError as error:
            raise DataError(str(error)) from None
        self._choices = replace(wanted, mechanism=noise)

    def set(self, name: str, value: str | None) -> None:
        """Change a setting, whose value is as people write it; None goes back to the schema's.

        Raises ValueError for what is no value of it, DataError for one that the schema does not allow.
        """
        self.choices = self._choices.with_setting(name, value, self._default)

    @property
    def epsilon(self) -> Fraction:
        """What a statement of this session costs."""
        return self._choices.epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | None) -> None:
        wanted = self._default.epsilon if epsilon is None else exact_number(epsilon)
        self.choices = replace(self._choices, epsilon=wanted)

    @property
    def mechanism(self) -> Noise:
        """The noise of its statements: laplace, gaussian, or auto for what the budget makes the better one."""
        return self._choices.mechanism

    @mechanism.setter
    def mechanism(self, mechanism: str | None) -> None:
        try:
            self.set("dpsql.mechanism", mechanism)
        except ValueError as error:
            raise DataError(f"{mechanism!r} is no mechanism; {error}") from None

    @property
    def target_error(self) -> Target | None:
        """How exact each statement of this session shall be, whatever that costs within `Choices.most`."""
        return self._choices.target_error

    @target_error.setter
    def target_error(self, target: Target | str | float | None) -> None:
        try:
            wanted = target if target is None or isinstance(target, Target) else read_target(_written(target))
        except ValueError as error:
            raise DataError(f"{target!r} is no target; {error}") from None
        self.choices = replace(self._choices, target_error=wanted)

    def _allowed(self, epsilon: Fraction) -> Fraction:
        if epsilon > self._schema.privacy.epsilon:
            raise DataError("epsilon must be above 0 and at most the total of the schema")
        return epsilon

    def _price(self, query: Query) -> Fraction:
        """What the statement itself says that it may cost, or what the session's statements do."""
        return self._choices.epsilon if query.own_epsilon is None else self._allowed(query.own_epsilon)

    def plan(self, text: str, parameters: Sequence[object] = ()) -> Plan:
        """The statement as it would be run and paid for; nothing is charged and no row is read."""
        return self._planned(text, tuple(parameters), lambda: parse(text))

    def _planned(self, text: str, parameters: tuple[object, ...], parsed: Callable[[], Statement]) -> Plan:
        plan = self._at_the_price(text, parameters, parsed)
        target = self._choices.target_error
        if target is None or plan.fixed or not plan.cores:
            return plan
        return self._targeted(plan, Goal((target,)))

    def _at_the_price(self, text: str, parameters: tuple[object, ...], parsed: Callable[[], Statement]) -> Plan:
        """The plan at the session's price, or at that which the statement names."""

        def make() -> Plan:
            with self._compiling(text) as shell:
                return self._plan(parsed(), parameters, shell)

        if self._memory is None or names_budget(text) or names_clock(text):
            return make()
        return self._memory.plan(text, parameters, self._choices, self.manner, make)

    def _targeted(self, plan: Plan, goal: Goal) -> Plan:
        """The plan at the price that reaches the goal, or a pilot where that depends on what is not released yet.

        Raises BudgetExhausted where the price is more than what is left or than what one statement may cost.
        """
        try:
            reached = self._pricing.reach(plan, goal)
        except Unknown:
            return replace(plan, pilot=True)
        except StatementError:
            return plan  # nothing in it has an interval
        price = reached.epsilon if reached.free and reached.epsilon is not None else self._within(reached)
        return replace(plan.at(price), notices=(*plan.notices, bought(reached)))

    def _within(self, reached: Reached) -> Fraction:
        """The price that reaches a goal; BudgetExhausted where it is more than is left, or than one may cost."""
        if reached.epsilon is None or reached.share is None:
            raise BudgetExhausted("; ".join(reached.lines))
        if reached.epsilon > self._choices.most:
            raise BudgetExhausted(f"{reached.lines[0]}; that is more than one statement may cost here, "
                                  f"ε = {shown(self._choices.most)}; SET dpsql.most_epsilon = "
                                  f"{plain(reached.epsilon)} allows it")  # fmt: skip
        return reached.epsilon

    @property
    def _pricing(self) -> Pricing:
        def find(plan: Plan) -> Known | None:
            found = None if self._answers is None else self._answers.best(plan)
            return None if found is None else Known(*found)

        def run(plan: Plan, released: Released) -> Result:
            with self._leased() as (shell, running):
                running.check()
                return shell.run(plan, released)

        return Pricing(find, run, self.remaining, self._schema.privacy.epsilon)

    def prepare(self, text: str, types: Sequence[str | None] = ()) -> Prepared:
        """The query, parsed once, with the types of its parameters and its columns; nothing is charged or read.

        ``types`` are DuckDB's names of the types that the client declares, None where it leaves one open.
        """
        with self._compiling(text):
            parsed = parse(text)
            found = parameter_types(parsed.tree, self._schema, types)

        def plan(values: tuple[object, ...]) -> Plan:
            return self._planned(text, values, lambda: parsed)

        def priced_alike(values: tuple[object, ...]) -> Plan:
            return self._at_the_price(text, values, lambda: parsed)

        return Prepared(text, found, described(found, priced_alike), plan)

    @contextmanager
    def _compiling(self, text: str) -> Iterator[Shell]:
        """A sandbox to compile the text with; what is refused says what to write instead."""
        with self._leased() as (shell, _):
            try:
                with _said(text, self._schema, shell):
                    yield shell
            except MALFORMED:
                raise StatementError("E_PARSE", "the statement is not SQL that dpsql can read") from None

    def _plan(self, parsed: Statement, parameters: tuple[object, ...], shell: Shell) -> Plan:
        if names_budget(parsed.text):
            parsed = replace(parsed, tree=with_budget(parsed.tree, self._budget_row()))
        if names_clock(parsed.text):
            parsed = replace(parsed, tree=with_time(parsed.tree, clock()))
        privacy = self._schema.privacy.with_noise(self._choices.mechanism)
        schema = (
            self._schema if privacy is self._schema.privacy else self._schema.model_copy(update={"privacy": privacy})
        )
        query = bind(parsed, schema, parameters, shell.types, self.manner)

        price = self._price(query)
        delta, confidence = self._accountant.budget.delta_selection, float(privacy.confidence)
        beside, left = clipped(query.cores) if self._choices.clipping == "report" and not query.probe else ((), ())
        cores = plan_cores(query, privacy, price, delta, beside)
        told = shell.describe(query, cores)
        text, small = parsed.text, query.without_shell()

        def plan(price: Fraction, cores: tuple[CorePlan, ...]) -> Plan:
            derived, cubes = ((), ()) if small.probe else (small.derived, small.cubes)
            fixed, found = small.own_epsilon is not None, () if small.probe else cores
            return Plan(text, found, derived, told.sql, small.public, told.columns, price, confidence, cubes,
                        small.notices, fixed, repriced=at, ends=told.ends, redrawn=told.redrawn,
                        left_out=left)  # fmt: skip

        def at(price: Fraction) -> Plan:
            return plan(price, plan_cores(small, privacy, price, delta, beside))

        return plan(price, cores)

    def execute(self, text: str, parameters: Sequence[object] = ()) -> Result:
        """The answer to one line: charged before a row is read, read before noise, noise before the shell."""
        match statement.read(text):
            case statement.Select(text=query):
                return self.answer(self.plan(query, parameters))
            case statement.ExplainPrivacy(text=query, goal=goal):
                return _text_result("EXPLAIN PRIVACY", str(self.explain(query, parameters, goal)).splitlines())
            case statement.Explain(text=query, json=as_json):
                return _text_result("QUERY PLAN", cost_lines(self.explain(query, parameters), as_json))
            case statement.Set(name=name, value=value):
                self.set(name, value)
                return Result((), [], [])
            case statement.Show(name=name):
                return self._show(name)
            case statement.Transaction():
                return Result((), [], [])

    def answer(self, plan: Plan) -> Result:
        """The answer to a plan; QueryCancelled where another thread ended it, and what was charged stays charged.

        That of a pilot tells the price of a better one, which is then given.
        """
        result, better = self.first(plan)
        return result if better is None else self.second(result, better)

    def first(self, plan: Plan) -> tuple[Result, Plan | None]:
        """The plan's own answer; and of a pilot the plan of a better one, where that is admitted and worth it."""
        result, released = self._answered(plan)
        target = self._choices.target_error
        if not plan.pilot or target is None or released is None:
            return result, None
        try:
            reached = self._pricing.reach(plan, Goal((target,)), Known(plan, released))
            if reached.free:
                said_so = f"reaches {reached.goal}: {said(reached.errors)}"
                return replace(result, notices=(*result.notices, said_so)), None
            better = plan.at(self._within(reached))
        except (BudgetExhausted, Unknown) as refusal:
            return first_only(result, refusal), None
        return result, replace(better, notices=(*better.notices, bought(reached)))

    def second(self, first: Result, better: Plan) -> Result:
        """The better answer, with what was charged for both; the first one where the budget does not admit it now."""
        try:
            result, _ = self._answered(better)
        except BudgetExhausted as refusal:
            return first_only(first, refusal)
        price = Price(first.price.charged + result.price.charged, result.price.stored and first.price.stored)
        return replace(result, price=price)

    def _answered(self, plan: Plan) -> tuple[Result, Released | None]:
        """The answer to a plan, and what was released for it where it was not found as a whole."""
        version = None if self._answers is None or self._memory is None else self._answers.version
        known = None if self._memory is None or version is None else self._memory.result(plan, version)
        if known is not None:
            return known, None
        with self._interruptible() as running:
            paid = self._paid(plan.written(), running, self._charged) if plan.cores else Paid(NOTHING, False, version)
            return self._shown(plan, paid, running), paid.released

    def _shown(self, plan: Plan, paid: Paid, running: Running) -> Result:
        """The result that the plan's shell makes of what was paid for."""
        running.check()
        with self._lease(running) as shell:
            rows = shell.run(plan, paid.released)
        price = Price(plan.price if plan.cores and not paid.stored else Fraction(0), paid.stored)
        notices = (*plan.notices, *left_out(plan, paid.released)) if plan.cores else plan.notices
        result = replace(rows, price=price, notices=notices)
        if self._memory is not None and paid.version is not None:
            self._memory.remember(plan, paid.version, result)
        return result

    def _charged(self, plan: Plan) -> Charge[Plan]:
        """The charge of one statement, durable on return."""
        return self._accountant.spend(plan, analyst=self.analyst, statement=plan.statement, cells=journal_note(plan))

    def _paid(self, plan: Plan, running: Running, pay: Callable[[Plan], Charge[Plan]]) -> Paid:
        """The release of the plan's cores, which costs nothing where it was paid for before."""
        if self._answers is None:
            return Paid(self._released(plan, running, pay)[0], False, None)
        return self._answers.answer(plan, lambda: self._released(plan, running, pay), running.check)

    def _released(self, plan: Plan, running: Running, pay: Callable[[Plan], Charge[Plan]]) -> tuple[Released, int]:
        """The river: charge, then read and release; it leaves when its time is up, with the entry that paid."""
        with Departure(plan, self._schema.privacy.time_bucket, self._clock) as departure, self._lease(running) as shell:
            charge = pay(plan)
            departure.begin()
            released = told_nothing(lambda: self._measured(charge, shell, running))
        running.check()  # what was ended before it left is not kept: that it was kept would tell that it was done
        return released, charge.entry

    def _measured(self, charge: Charge[Plan], shell: Shell, running: Running) -> Released:
        """For each stage of what was paid for: derive, read, release."""
        plan, released = charge.plan, NOTHING
        with self._engine.run(charge) as reading, running.on(reading.interrupt):
            for stage in plan.stages:
                derived = shell.derive(plan, stage, released)
                released += release(reading.stage(derived), stage.cores, plan.confidence, _entropy=self._entropy)
        return released

    def workload(self, statements: Sequence[Asked], delta: Fraction | None = None) -> Workload:
        """What each accountant would charge for these statements as one block; nothing is charged and no row is read.

        A statement is a text, or a text with its parameters. ``delta`` is what of δ the block may use where it is
        priced as (ε, δ); by default a tenth of what is set aside for thresholds. Targets of errors do not apply.
        """
        texts = [asked(each) for each in statements]
        plans = [self._at_the_price(text, values, partial(parse, text)) for text, values in texts]
        return priced(plans, statuses(plans, self.is_paid), self._schema, self.remaining, delta)

    def run(self, workload: Workload, accountant: str | None = None) -> list[Result]:
        """The answers to a workload, in order, once all of it is charged: by the named accountant or the best one.

        It is all or nothing: where the block is refused, nothing is charged and nothing is read.
        """
        if statuses(workload.plans, self.is_paid) != workload.statuses:
            raise DataError("what of the workload is paid for already has changed since it was priced; price it again")
        offer = offered(workload, accountant)
        for plan in workload.plans:
            plan.written()
        with self._interruptible() as running:
            known = [(plan, self._paid(plan, running, unpaid)) for plan in workload.with_status("paid for already")]
            charges = {} if offer is None else self._charged_together(Block(workload.bought, offer.way))
            results = list[Result]()
            for plan, status in zip(workload.plans, workload.statuses, strict=True):
                paid = Paid(NOTHING, False, None) if status == "public" else earlier(plan, known)
                if paid is None:
                    paid = self._paid(plan, running, lambda each: charges[id(each)])
                    known.append((plan, paid))
                results.append(self._shown(plan, paid, running))
            return results

    def _charged_together(self, block: Block) -> dict[int, Charge[Plan]]:
        """The charge of a block, divided into one for each of its plans, by their identity."""
        note = journal_note(*block.plans)
        charge = self._accountant.spend(block, analyst=self.analyst, statement=block.statement, cells=note)
        return {id(each.plan): each for each in divided(charge)}

    def explain(self, text: str, parameters: Sequence[object] = (), goal: Goal | None = None) -> Explanation:
        """What the statement would cost and how exact it would be; it costs nothing and touches nothing.

        With a goal, which may stand behind TO REACH in the text, it is what reaches the goal that is explained, where
        the budget admits it.
        """
        text, behind = statement.with_goal(text)
        goal = goal or behind
        if goal is None:
            plan, reached = self.plan(text, parameters), None
        else:
            plan = self._at_the_price(text, tuple(parameters), lambda: parse(text))
            reached = self._pricing.reach(plan, goal)
            if reached.epsilon is not None and reached.share is not None:
                plan = plan.at(reached.epsilon)
        return explain(plan, self.remaining, self.is_paid(plan), self._pricing.likely(plan), reached)

    def is_paid(self, plan: Plan) -> bool:
        """Whether the plan's answer was paid for before, so that it is given again at no cost."""
        return self._answers is not None and bool(plan.cores) and self._answers.find(plan.written()) is not None

    def interrupt(self) -> None:
        """End the statement that runs now, from another thread; it raises QueryCancelled in its own."""
        running = self._running
        if running is not None:
            running.interrupt()

    def close(self) -> None:
        """Give back what the session holds; what was charged stays charged."""
        if self._alone:
            self._shells.close()
            self._engine.close()

    @contextmanager
    def _interruptible(self) -> Iterator[Running]:
        """One piece of work that `interrupt` ends, whatever it was ended in."""
        running = self._running = Running()
        try:
            yield running
        except DatabaseError:
            running.check()
            raise
        finally:
            self._running = None
            running.end()
        running.check()

    @contextmanager
    def _leased(self) -> Iterator[tuple[Shell, Running]]:
        """A sandbox for one piece of work that `interrupt` ends."""
        with self._interruptible() as running, self._lease(running) as shell:
            yield shell, running

    @contextmanager
    def _lease(self, running: Running) -> Iterator[Shell]:
        """A sandbox for a part of that work."""
        with self._shells.lease(self.analyst, running.check) as shell, running.on(shell.interrupt):
            yield shell

    def _budget_row(self) -> BudgetRow:
        left = self.remaining
        total = left.budget
        return BudgetRow(self.analyst, float(total.epsilon), float(left.epsilon), float(total.delta), float(left.delta),
                         float(left.share), *_lifetime(left))  # fmt: skip

    def _show(self, name: str) -> Result:
        if name in SETTINGS:
            return _text_result(name, [self._choices.shown(name)])
        left = self.remaining
        columns = (OutputColumn("epsilon_left", "DOUBLE"), OutputColumn("epsilon_total", "DOUBLE"),
                   OutputColumn("delta_left", "DOUBLE"), OutputColumn("share_left", "DOUBLE"),
                   OutputColumn("lifetime_epsilon", "DOUBLE"), OutputColumn("lifetime_delta", "DOUBLE"),
                   OutputColumn("renewed_on", "DATE"))  # fmt: skip
        row = (float(left.epsilon), float(left.budget.epsilon), float(left.delta), float(left.share), *_lifetime(left))
        return Result(columns, [row], [(None,) * len(row)])


def _lifetime(left: Remaining) -> tuple[float | None, float, date | None]:
    """What all windows promise together, and the day on which the budget is renewed."""
    epsilon = left.lifetime.epsilon
    return None if epsilon is None else float(epsilon), float(left.lifetime.delta), left.renewal


@contextmanager
def _said(text: str, schema: Schema, shell: Shell) -> Iterator[None]:
    """What is refused says what to write instead."""
    try:
        yield
    except RecursionError:
        raise StatementError("E_LIMITS", "the statement is nested too deeply") from None
    except DatabaseError as refusal:
        raise with_hint(refusal, text, schema, shell.types) from None


def _written(target: str | float) -> str:
    return (
        target
        if isinstance(target, str)
        else format(target, "f").rstrip("0").rstrip(".")
        if target % 1
        else str(int(target))
    )


def _text_result(name: str, lines: list[str]) -> Result:
    column = OutputColumn(name, "VARCHAR")
    return Result((column,), [(line,) for line in lines], [(None,) for _ in lines])
