"""Takes up the charge of a tuning whose reading failed, instead of charging it again,
and gives one up that failed.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from dpsql.errors import OperationalError
from dpsql.errors.owners_log import swallowed
from dpsql.planning.plan import Plan
from dpsql.planning.synthetic.plan import SyntheticPlan
from dpsql.planning.tuning import TuningPlan
from dpsql.privacy.accountant import Accountant, Charge
from dpsql.session.answer_store.serialization import answer_key
from dpsql.sql.ir.canonical import text_digest

#: A plan that is charged by itself, and reads one other.
ReadingT = TypeVar("ReadingT", SyntheticPlan, TuningPlan)


class Resumption(Generic[ReadingT]):
    """The charges of one tuning's plan that were given up;
    with ``is_required`` one of them is taken up, or none made.

    ``note`` is what the ledger says of the cells of the plan, their noise among it.
    """

    def __init__(
        self, accountant: Accountant, analyst: str, note: str, is_required: bool = False
    ) -> None:
        self._accountant = accountant
        self._analyst = analyst
        self._note = note
        self._is_required = is_required

    def entry(self, plan: ReadingT, version: str | None) -> int | None:
        """The number of the ledger entry that would be taken up on this version of the data."""
        key = self._key(plan.reading, version)
        return None if key is None else self._accountant.given_up(key)

    def taken_up(self, plan: ReadingT, version: str | None) -> Charge[ReadingT] | None:
        """The charge that was given up for this plan on this version of the data; OperationalError
        if it is required and is not there."""
        key = self._key(plan.reading, version)
        text = plan.reading.text
        charge = None
        if key is not None:
            charge = self._accountant.resumed(
                plan, key, analyst=self._analyst, statement=text, cells=self._note
            )
        if charge is None and self._is_required:
            raise OperationalError(
                "the data have changed, or another run took up what was paid; run it again: nothing was charged"
            )
        return charge

    def give_up(self, charge: Charge[ReadingT], version: str | None) -> None:
        """Leave a charge for which nothing was released, and nothing will be, to the next run."""
        key = self._key(charge.plan.reading, version)
        if key is not None:
            with swallowed("giving up a charge"):
                self._accountant.give_up(charge, key)

    def _key(self, plan: Plan, version: str | None) -> str | None:
        """A digest of all that the release depends on;
        None if the version of the data is not known.
        """
        return (
            None
            if version is None
            else text_digest(["dpsql resume", answer_key(plan, version), self._note])
        )
