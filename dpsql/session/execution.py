"""Charges a plan, reads its exact rows, then adds noise; a session reads private rows only here.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/tune.md``, ``docs/proofs/timing.md`` and
``docs/proofs/versions.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeAlias, TypeVar

from dpsql.engines.engine import Engine, EngineVersion
from dpsql.planning.ledger_note import ledger_note
from dpsql.planning.plan import Plan
from dpsql.planning.synthetic.plan import SyntheticPlan, marginals_note
from dpsql.planning.tuning import NoisyCounts, Question, TuningPlan
from dpsql.planning.workload import Block
from dpsql.postprocessing import PostProcessor
from dpsql.privacy.accountant import Accountant, Charge, divided
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.release.marginal_selection import Admitted, Approximate, MeasuredMarginal, measure
from dpsql.release.noise_addition import Release, release
from dpsql.release.released_tables import NOTHING, Released
from dpsql.release.tuning_counts import count
from dpsql.session.answer_store import AnswerStore, PaidRelease, PartAnswer, ViewAnswer
from dpsql.session.cancel_scope import CancelScope
from dpsql.session.public_sizes import require_few_candidates
from dpsql.session.public_tables import PublicTables
from dpsql.session.side_channels import MONOTONIC, Clock, ResponseTiming, masked
from dpsql.session.tuning.resumption import Resumption

#: How a plan is charged, before anything of it is read.
Pay: TypeAlias = Callable[[Plan], Charge[Plan]]
#: A plan that is charged by itself, and reads one other; and what is released of it.
PricedReadingT = TypeVar("PricedReadingT", SyntheticPlan, TuningPlan)
T = TypeVar("T")


class Execution:
    """Executes the plans of one analyst.

    A new answer leaves after a whole multiple of ``time_bucket`` seconds. ``answers`` is the store
    of earlier answers, or None if the owner keeps none.
    """

    def __init__(
        self,
        accountant: Accountant,
        analyst: str,
        engine: Engine,
        answers: AnswerStore | None,
        time_bucket: Fraction,
    ) -> None:
        self._accountant = accountant
        self._analyst = analyst
        self._time_bucket = time_bucket
        self.engine = engine
        self.answers = answers
        self.clock: Clock = MONOTONIC
        self.public = PublicTables(engine, time_bucket, lambda: self.clock)
        self.entropy: Entropy = OPERATING_SYSTEM

    @property
    def remaining(self) -> RemainingBudget:
        """What is left of the budget for the analyst."""
        return self._accountant.remaining(self._analyst)

    @property
    def version(self) -> str | None:
        """The version of the data under which answers are stored; None if none are."""
        return None if self.answers is None else self.answers.version

    def is_paid(self, plan: Plan) -> bool:
        """Whether the release of the plan's cores is in the answer store."""
        return (
            self.answers is not None
            and bool(plan.cores)
            and self.answers.find(plan.written()) is not None
        )

    def require_few_keys(self, plan: Plan) -> None:
        """Refuse a plan whose public tables give too many groups;
        they are counted before any charge.
        """
        require_few_candidates(plan, self.public.public_count)

    def charged(self, plan: Plan) -> Charge[Plan]:
        """Charge one statement, once the engine has tried it on empty tables;
        the charge is durable on return.
        """
        assert not plan.unfound
        self.engine.dry_run(plan)
        return self._accountant.spend(
            plan, analyst=self._analyst, statement=plan.text, cells=ledger_note(plan)
        )

    def charged_together(self, block: Block) -> dict[int, Charge[Plan]]:
        """Charge a block of plans at once; the result has a charge for each plan, by its ``id``."""
        for plan in block.plans:
            self.engine.dry_run(plan)
        note = ledger_note(*block.plans)
        charge = self._accountant.spend(
            block, analyst=self._analyst, statement=block.text, cells=note
        )
        return {id(divided_charge.plan): divided_charge for divided_charge in divided(charge)}

    def marginals(
        self,
        plan: SyntheticPlan,
        text: str,
        scope: CancelScope,
        approximate: Approximate,
        admitted: Admitted,
    ) -> tuple[tuple[MeasuredMarginal, ...], Charge[SyntheticPlan], str | None]:
        """Charge a synthetic table, read its exact marginals, and release those that are measured.

        The result has the charge, which is used up, and the version of the data. ``approximate``
        and ``admitted`` are given what is released already.
        """
        note = json.dumps(marginals_note(plan))
        return self._read_once(
            plan,
            text,
            note,
            scope,
            release=lambda exact: measure(
                exact, plan, approximate, admitted, _entropy=self.entropy
            ),
        )

    def scanned(
        self, plan: TuningPlan, note: str, scope: CancelScope, is_paid: bool = False
    ) -> tuple[dict[Question, NoisyCounts], int]:
        """Charge a tuning, read the exact places of units on its ladders,
        and release noisy counts of them.

        An earlier charge for it that has released nothing is taken up instead; with ``is_paid``
        nothing else is done. The result has the number of the ledger entry.
        """
        return self.counted(
            plan, note, scope, Resumption(self._accountant, self._analyst, note, is_paid)
        )

    def counted(
        self,
        plan: TuningPlan,
        note: str,
        scope: CancelScope,
        resumption: Resumption[TuningPlan] | None = None,
    ) -> tuple[dict[Question, NoisyCounts], int]:
        """Charge a find, unless a charge is taken up; read the exact places of units,
        and release noisy counts.
        """
        counts, charge, _ = self._read_once(
            plan,
            plan.reading.text,
            note,
            scope,
            release=lambda exact: count(exact, plan, _entropy=self.entropy),
            resumption=resumption,
        )
        return counts, charge.entry

    def resumable(self, plan: TuningPlan, note: str) -> int | None:
        """The ledger entry that a tuning would take up instead of a charge of its own,
        if it were read now.
        """
        resumption: Resumption[TuningPlan] = Resumption(self._accountant, self._analyst, note)
        return resumption.entry(plan, self.engine.version())

    def _read_once(
        self,
        plan: PricedReadingT,
        text: str,
        note: str,
        scope: CancelScope,
        release: Release[T],
        resumption: Resumption[PricedReadingT] | None = None,
    ) -> tuple[T, Charge[PricedReadingT], str | None]:
        """Charge a plan that has its own price for the one statement it reads, and release the rows.

        With a ``resumption`` a charge is given up if its reading fails,
        and taken up by the next one.
        """
        with (
            self.held(plan.reading) as snapshot,
            scope.reading(),
            ResponseTiming(plan.reading, self._time_bucket, self.clock) as timing,
        ):
            self.engine.dry_run(plan.reading)
            paid = None if resumption is None else resumption.taken_up(plan, snapshot.version)
            charge = paid or self._accountant.spend(
                plan, analyst=self._analyst, statement=text, cells=note
            )
            is_read = False

            def released() -> T:
                nonlocal is_read
                (plan_charge,) = divided(charge)
                with snapshot.run(plan_charge) as reading, scope.on(reading.interrupt):
                    exact = reading.stage(())
                is_read = True  # from here on noise may be drawn
                return release(exact)

            try:
                timing.begin()
                result = masked(released)
            except BaseException:
                if resumption is not None and not is_read:
                    resumption.give_up(charge, snapshot.version)
                raise
        scope.check()
        return result, charge, snapshot.version

    def bought(self, plan: Plan, scope: CancelScope) -> tuple[Released, int, str | None]:
        """Charge the plan and make its release, whatever is kept of others.

        The result has the number of its ledger entry,
        and the version of the data that it is made from.
        """
        with self.held(plan) as snapshot:
            return *self._released(plan, scope, self.charged, snapshot), snapshot.version

    @contextmanager
    def held(self, plan: Plan) -> Iterator[EngineVersion]:
        """Hold one version of the data for the block. Opening one takes a whole multiple of the
        time bucket.
        """
        with ResponseTiming(plan, self._time_bucket, self.clock) as timing:
            snapshot = self.engine.hold(timing.begin)
        with snapshot:
            yield snapshot

    def of_views(
        self, plan: Plan, postprocessor: PostProcessor, refine: bool = False
    ) -> ViewAnswer | None:
        """The release of the plan's cores as other answers tell it, if they do.

        It is the one that was given before, if there is one; to ``refine``, it is what all answers
        tell by now that leave out no rows which the plan counts.
        """
        if self.answers is None:
            return None
        view_answer = None if refine else self.answers.given(plan, postprocessor.evaluated)
        return view_answer or self.answers.of_views(plan, postprocessor.evaluated, complete=refine)

    def refined(self, plan: Plan, scope: CancelScope) -> ViewAnswer | None:
        """What all answers tell of the plan's cores by now, which is given from then on."""
        with scope.sandbox() as postprocessor:
            result = self.of_views(plan, postprocessor, refine=True)
            if result is None or self.answers is None:
                return result
            return self.answers.give(plan, result, postprocessor.evaluated)

    def part_of_views(
        self, plan: Plan, postprocessor: PostProcessor, version: str | None
    ) -> PartAnswer | None:
        """What other answers on this version of the data tell about the plan, if only a part.

        None if the rest costs less than the smallest charge the budget admits;
        the complete plan may cost enough.
        """
        if self.answers is None:
            return None
        part_answer = self.answers.part_of_views(plan, version, postprocessor.evaluated)
        return (
            None
            if part_answer is None
            or self._accountant.budget.is_next_to_nothing(part_answer.rest.cost)
            else part_answer
        )

    def paid(
        self,
        plan: Plan,
        scope: CancelScope,
        pay: Pay,
        snapshot: EngineVersion | None = None,
        *,
        reuse: bool = False,
    ) -> PaidRelease:
        """The release of the plan's cores: a stored one at no cost, or one charged by ``pay``.

        It is made from ``snapshot``, or from the present version of the data if that is None. With
        ``reuse`` it may be made of other answers, so that only the rest is charged.
        """
        if snapshot is not None:
            return self._made(plan, scope, pay, snapshot)
        paid_release = self._given(plan, scope) if reuse else None
        if paid_release is None and self.answers is not None:
            paid_release = self.answers.kept(plan)
        if paid_release is None and reuse:
            paid_release = self._of_views(plan, scope)
        if paid_release is not None:
            return paid_release
        with self.held(plan) as present_version:
            part_answer = self._part(plan, scope, present_version) if reuse else None
            return (
                self._made(plan, scope, pay, present_version)
                if part_answer is None
                else self._completed(part_answer, scope, pay, present_version)
            )

    def _given(self, plan: Plan, scope: CancelScope) -> PaidRelease | None:
        """What was given before, if it was made of other answers or refined."""
        if self.answers is None or not self.answers.was_given(plan):
            return None
        with scope.sandbox() as postprocessor:
            view_answer = self.answers.given(plan, postprocessor.evaluated)
        return (
            None
            if view_answer is None
            else PaidRelease(view_answer.released, True, None, view_answer.notices)
        )

    def _of_views(self, plan: Plan, scope: CancelScope) -> PaidRelease | None:
        with scope.sandbox() as postprocessor:
            view_answer = self.of_views(plan, postprocessor)
            if view_answer is None or self.answers is None:
                return None
            view_answer = self.answers.give(plan, view_answer, postprocessor.evaluated)
        return PaidRelease(view_answer.released, True, None, view_answer.notices)

    def _part(self, plan: Plan, scope: CancelScope, snapshot: EngineVersion) -> PartAnswer | None:
        with scope.sandbox() as postprocessor:
            return self.part_of_views(plan, postprocessor, snapshot.version)

    def _completed(
        self, part_answer: PartAnswer, scope: CancelScope, pay: Pay, snapshot: EngineVersion
    ) -> PaidRelease:
        """The release of a partly known plan: the rest is charged by ``pay`` and made."""
        rest = part_answer.rest.written()
        paid = self._made(rest, scope, pay, snapshot)
        assert self.answers is not None
        view_answer = self.answers.completed(part_answer, paid, snapshot.version)
        return PaidRelease(
            view_answer.released, paid.stored, None, view_answer.notices, bought=rest
        )

    def _made(
        self, plan: Plan, scope: CancelScope, pay: Pay, snapshot: EngineVersion
    ) -> PaidRelease:
        """The stored or new release for the version that is held."""
        if self.answers is None:
            return PaidRelease(self._released(plan, scope, pay, snapshot)[0], False, None)
        return self.answers.answer(
            plan,
            snapshot.version,
            lambda: self._released(plan, scope, pay, snapshot),
            scope.check,
        )

    def _released(
        self, plan: Plan, scope: CancelScope, pay: Pay, snapshot: EngineVersion
    ) -> tuple[Released, int]:
        """Charge, read, then release; return at a multiple of the time bucket.

        The result has the release and the number of the ledger entry.
        """
        with (
            scope.reading(derives=bool(plan.derived)) as deriver,
            ResponseTiming(plan, self._time_bucket, self.clock) as timing,
        ):
            self.require_few_keys(plan)
            charge = pay(plan)
            timing.begin()
            released = masked(lambda: self._measured(charge, deriver, scope, snapshot))
        # a cancelled answer is not stored: a stored one would tell that it was finished
        scope.check()
        return released, charge.entry

    def _measured(
        self,
        charge: Charge[Plan],
        deriver: PostProcessor | None,
        scope: CancelScope,
        snapshot: EngineVersion,
    ) -> Released:
        """For each stage of a charged plan: derive its tables, read its exact rows, release them."""
        plan = charge.plan
        released = NOTHING
        with snapshot.run(charge) as reading, scope.on(reading.interrupt):
            for stage in plan.stages:
                derived = [] if deriver is None else deriver.derive(plan, stage, released)
                released += release(
                    reading.stage(derived), stage.cores, plan.confidence, _entropy=self.entropy
                )
        return released
