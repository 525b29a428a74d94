"""Execution: what a session releases is charged, then read, then given its noise; it reads private rows nowhere else.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/timing.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeAlias

from dpsql.engines.engine import Engine, EngineVersion
from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.errors.owners_log import record
from dpsql.planning.plan import Plan
from dpsql.planning.workload import Block
from dpsql.postprocessing import PostProcessor
from dpsql.postprocessing.sandbox import PublicRows
from dpsql.privacy.accountant import Accountant, Charge, divided
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.release.noise_addition import release
from dpsql.release.released_tables import NOTHING, Released
from dpsql.session.answer_store import AnswerStore, Paid
from dpsql.session.cancellation import Running
from dpsql.session.explain import journal_note
from dpsql.session.public_sizes import require_few_candidates
from dpsql.session.side_channels import MONOTONIC, Clock, ResponseTiming, masked

#: How a plan is charged, before anything of it is read.
Pay: TypeAlias = Callable[[Plan], Charge[Plan]]


def timed_rows(engine: Engine, time_bucket: Fraction, clock: Clock = MONOTONIC) -> PublicRows:
    """Gives the rows of public tables; where the data are opened for that, this takes a multiple of the bucket."""

    def rows(table: str) -> Sequence[tuple[object, ...]]:
        with ResponseTiming(None, time_bucket, clock) as departure:
            try:
                with engine.hold(departure.begin):
                    return engine.public_rows(table)
            except OperationalError as error:
                record("reading a public table", error)
            raise ExecutionFailed

    return rows


class Execution:
    """What an analyst's statements release; an answer that is made leaves at a multiple of ``time_bucket``.

    ``answers`` are those that were paid for already, None where none are kept.
    """

    def __init__(
        self, accountant: Accountant, analyst: str, engine: Engine, answers: AnswerStore | None, time_bucket: Fraction
    ) -> None:
        self._accountant, self._analyst, self._time_bucket = accountant, analyst, time_bucket
        self.engine, self.answers = engine, answers
        self.clock: Clock = MONOTONIC
        self.entropy: Entropy = OPERATING_SYSTEM

    @property
    def version(self) -> str | None:
        """The version of the data for which answers are kept; None where none are."""
        return None if self.answers is None else self.answers.version

    def is_paid(self, plan: Plan) -> bool:
        """Whether the release of the plan's cores was paid for before."""
        return self.answers is not None and bool(plan.cores) and self.answers.find(plan.written()) is not None

    def require_few_keys(self, plan: Plan) -> None:
        """Refuse a plan that shows very many keys of public tables, which are counted before any charge."""
        require_few_candidates(plan, self.engine.public_count)

    def charged(self, plan: Plan) -> Charge[Plan]:
        """The charge of one statement, durable on return, once the engine has found nothing in its text to fail for."""
        self.engine.dry_run(plan)
        return self._accountant.spend(plan, analyst=self._analyst, statement=plan.text, cells=journal_note(plan))

    def charged_together(self, block: Block) -> dict[int, Charge[Plan]]:
        """The charge of a block, divided into one for each of its plans, by their identity."""
        for plan in block.plans:
            self.engine.dry_run(plan)
        note = journal_note(*block.plans)
        charge = self._accountant.spend(block, analyst=self._analyst, statement=block.text, cells=note)
        return {id(each.plan): each for each in divided(charge)}

    @contextmanager
    def held(self, plan: Plan) -> Iterator[EngineVersion]:
        """One version of the data; where it is opened for that, this takes a multiple of the plan's bucket."""
        with ResponseTiming(plan, self._time_bucket, self.clock) as departure:
            held = self.engine.hold(departure.begin)
        with held:
            yield held

    def paid(self, plan: Plan, running: Running, pay: Pay, held: EngineVersion | None = None) -> Paid:
        """The release of the plan's cores, which costs nothing where it was paid for before.

        It is made of the version that is held, or of that of now.
        """
        if held is not None:
            return self._made(plan, running, pay, held)
        kept = None if self.answers is None else self.answers.kept(plan)
        if kept is not None:
            return kept
        with self.held(plan) as own:
            return self._made(plan, running, pay, own)

    def _made(self, plan: Plan, running: Running, pay: Pay, held: EngineVersion) -> Paid:
        """The release of the held version, which was paid for already or is now."""
        if self.answers is None:
            return Paid(self._released(plan, running, pay, held)[0], False, None)
        return self.answers.answer(plan, held.version, lambda: self._released(plan, running, pay, held), running.check)

    def _released(self, plan: Plan, running: Running, pay: Pay, held: EngineVersion) -> tuple[Released, int]:
        """Charge, then read and release; it leaves when its time is up, with the entry that paid."""
        with ResponseTiming(plan, self._time_bucket, self.clock) as departure, running.sandbox() as postprocessor:
            self.require_few_keys(plan)
            charge = pay(plan)
            departure.begin()
            released = masked(lambda: self._measured(charge, postprocessor, running, held))
        running.check()  # what was ended before it left is not kept: that it was kept would tell that it was done
        return released, charge.entry

    def _measured(
        self, charge: Charge[Plan], postprocessor: PostProcessor, running: Running, held: EngineVersion
    ) -> Released:
        """For each stage of what was paid for: derive, read, release."""
        plan, released = charge.plan, NOTHING
        with held.run(charge) as reading, running.on(reading.interrupt):
            for stage in plan.stages:
                derived = postprocessor.derive(plan, stage, released)
                released += release(reading.stage(derived), stage.cores, plan.confidence, _entropy=self.entropy)
        return released
