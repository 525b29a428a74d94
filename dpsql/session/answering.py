"""Answers of a session: what the shell makes of a release, with its price.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.planning.explain_groups import nothing_seen
from dpsql.planning.given import taken_as_given
from dpsql.planning.plan import Plan
from dpsql.postprocessing import Price, Result
from dpsql.release.clipping_report import left_out
from dpsql.release.noise import NOTHING, Released
from dpsql.session.answer_store import Paid
from dpsql.session.answer_store.recent import Memory
from dpsql.session.execution import River
from dpsql.session.public_sizes import many_candidates
from dpsql.session.running import Running, Turns


class Answering:
    """Answers plans, and remembers in ``memory``, where there is one, what a kept release came to."""

    def __init__(self, river: River, turns: Turns, memory: Memory | None) -> None:
        self._river, self._turns, self._memory = river, turns, memory

    def answer(self, plan: Plan) -> tuple[Result, Released | None]:
        """The answer to a plan, and what was released for it where it was not found as a whole."""
        version = None if self._memory is None else self._river.version
        known = None if self._memory is None or version is None else self._memory.result(plan, version)
        if known is not None:
            return known, None
        with self._turns.turn() as running:
            paid = Paid(NOTHING, False, version)
            if plan.cores:
                paid = self._river.paid(plan.written(), running, self._river.charged)
            return self.shown(plan, paid, running), paid.released

    def shown(self, plan: Plan, paid: Paid, running: Running, charged: Fraction | None = None) -> Result:
        """The result that the plan's shell makes of what was paid for; ``charged`` where that is not its own price."""
        running.check()
        with running.sandbox() as shell:
            rows = shell.run(plan, paid.released)
        own = plan.price if charged is None else charged
        price = Price(own if plan.cores and not paid.stored else Fraction(0), paid.stored)
        notices = (*plan.notices, *taken_as_given(plan), *rows.notices)
        if plan.cores:
            notices = (*notices, *many_candidates(plan, paid.released), *left_out(plan, paid.released))
        notices += () if rows.rows else nothing_seen(plan)
        result = replace(rows, price=price, notices=notices)
        if self._memory is not None and paid.version is not None:
            self._memory.remember(plan, paid.version, result)
        return result
