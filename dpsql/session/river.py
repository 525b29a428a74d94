"""The river: what a session releases is charged, then read, then given its noise; it reads private rows nowhere else.

Proved in ``docs/proofs/river.md`` and ``docs/proofs/timing.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.answers import Answers, Paid
from dpsql.engines.engine import Engine
from dpsql.explain import journal_note
from dpsql.plan import Plan
from dpsql.privacy.accountant import Accountant, Charge, divided
from dpsql.privacy.sampling import OPERATING_SYSTEM, Entropy
from dpsql.release import NOTHING, Released, release
from dpsql.session.departure import MONOTONIC, Clock, Departure
from dpsql.session.running import Running
from dpsql.session.trouble import told_nothing
from dpsql.shell import Shell
from dpsql.workload import Block

#: How a plan is charged, before anything of it is read.
Pay: TypeAlias = Callable[[Plan], Charge[Plan]]


class River:
    """What an analyst's statements release; an answer that is made leaves at a multiple of ``time_bucket``.

    ``answers`` are those that were paid for already, None where none are kept.
    """

    def __init__(
        self, accountant: Accountant, analyst: str, engine: Engine, answers: Answers | None, time_bucket: Fraction
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

    def charged(self, plan: Plan) -> Charge[Plan]:
        """The charge of one statement, durable on return."""
        return self._accountant.spend(plan, analyst=self._analyst, statement=plan.statement, cells=journal_note(plan))

    def charged_together(self, block: Block) -> dict[int, Charge[Plan]]:
        """The charge of a block, divided into one for each of its plans, by their identity."""
        note = journal_note(*block.plans)
        charge = self._accountant.spend(block, analyst=self._analyst, statement=block.statement, cells=note)
        return {id(each.plan): each for each in divided(charge)}

    def paid(self, plan: Plan, running: Running, pay: Pay) -> Paid:
        """The release of the plan's cores, which costs nothing where it was paid for before."""
        if self.answers is None:
            return Paid(self._released(plan, running, pay)[0], False, None)
        return self.answers.answer(plan, lambda: self._released(plan, running, pay), running.check)

    def _released(self, plan: Plan, running: Running, pay: Pay) -> tuple[Released, int]:
        """Charge, then read and release; it leaves when its time is up, with the entry that paid."""
        with Departure(plan, self._time_bucket, self.clock) as departure, running.sandbox() as shell:
            charge = pay(plan)
            departure.begin()
            released = told_nothing(lambda: self._measured(charge, shell, running))
        running.check()  # what was ended before it left is not kept: that it was kept would tell that it was done
        return released, charge.entry

    def _measured(self, charge: Charge[Plan], shell: Shell, running: Running) -> Released:
        """For each stage of what was paid for: derive, read, release."""
        plan, released = charge.plan, NOTHING
        with self.engine.run(charge) as reading, running.on(reading.interrupt):
            for stage in plan.stages:
                derived = shell.derive(plan, stage, released)
                released += release(reading.stage(derived), stage.cores, plan.confidence, _entropy=self.entropy)
        return released
