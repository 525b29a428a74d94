"""Stores released answers in the ledger, and those used last in memory as well,
so that they can be given again.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from dpsql.errors import LedgerError
from dpsql.planning.plan import Plan
from dpsql.postprocessing import Price, Result
from dpsql.privacy.ledger import Ledger
from dpsql.release.released_tables import Released
from dpsql.session.answer_store.given_answers import GivenAnswers, Sources
from dpsql.session.answer_store.partial_answers import PartAnswer, part_of_views
from dpsql.session.answer_store.serialization import answer_key, kin_key, parse_release, written
from dpsql.session.answer_store.view_answers import ViewAnswer, answer_of_views
from dpsql.session.answer_store.view_estimates import Evaluate
from dpsql.session.answer_store.view_index import PinnedViews, ViewIndex
from dpsql.session.plan_cache import LRUCache

#: How many prices are kept of releases of the same exact rows.
MOST_PRICES = 64
#: How many cells of releases, and of results, stay in memory.
CELLS = 1_000_000
#: The seconds between looks at whether a waiting statement was ended.
PATIENCE = 0.05
_UNREADABLE = (ValueError, TypeError, KeyError, ZeroDivisionError, zlib.error)


@dataclass(frozen=True)
class PaidRelease:
    """A release, whether it was stored, and the version of the data that it is stored for, or None.

    ``notices`` list the answers that it is made of, if any. ``bought`` is the plan that was
    charged, if that is not the plan that was asked for.
    """

    released: Released
    stored: bool
    version: str | None
    notices: tuple[str, ...] = ()
    bought: Plan | None = None


class AnswerStore:
    """The kept answers of one database; any thread may ask.

    ``version`` tells the version of the data that would be read now, None where that is not known.
    ``pinned`` are the views that stay under a name. With ``keeps_results`` it also has what
    post-processing made of the answers, for plans that stay in a `PlanCache`.
    """

    #: Who works on what, and how many wait for that, in all stores of this process.
    _lock: ClassVar = threading.Lock()
    _making: ClassVar[dict[str, threading.Lock]] = {}
    _waiting: ClassVar[dict[str, int]] = {}

    def __init__(
        self,
        ledger: Ledger,
        version: Callable[[], str | None],
        pinned: PinnedViews | None = None,
        *,
        keeps_results: bool = False,
    ) -> None:
        self._ledger = ledger
        self._version = version
        self.keeps_results = keeps_results
        self._views = ViewIndex(ledger, pinned)
        self._given = GivenAnswers(ledger)
        self._released = LRUCache[str, Released](CELLS, _released_cells)
        self._results = LRUCache[int, tuple[Plan, str, Result]](
            CELLS, lambda entry: _result_cells(entry[2])
        )

    @property
    def version(self) -> str | None:
        """The version of the data that would be read now."""
        return self._version()

    def find(self, plan: Plan) -> Released | None:
        """The release of the plan's cores that was paid for already, if there is one."""
        stored = self.kept(plan)
        return None if stored is None else stored.released

    def best(self, plan: Plan) -> tuple[Plan, Released] | None:
        """The release of the same exact rows that was paid for at the highest price,
        with its plan.
        """
        version = self._version()
        if version is None or not plan.cores:
            return None
        for price in sorted(self._prices(kin_key(plan, version)), reverse=True):
            at = plan.at(price)
            released = self._find(answer_key(at, version), at)
            if released is not None:
                return at, released
        return None

    def _prices(self, kin: str) -> list[Fraction]:
        """The prices at which releases of the same exact rows were kept;
        the oldest of them may be gone.
        """
        result: list[Fraction] = []
        for price_text in self._ledger.kept_among(
            [f"{kin}/{index}" for index in range(MOST_PRICES)]
        ).values():
            with suppress(ValueError, ZeroDivisionError):
                result.append(Fraction(price_text.decode("ascii")))
        return result

    def _note_price(self, plan: Plan, entry: int, version: str) -> None:
        """Keep the price of a release beside it,
        under a key of what it shares with those at other prices.
        """
        kin = kin_key(plan, version)
        price = str(plan.price)
        for index in range(MOST_PRICES):
            if self._ledger.keep(f"{kin}/{index}", entry, price.encode("ascii")) == price.encode(
                "ascii"
            ):
                return

    def kept(self, plan: Plan) -> PaidRelease | None:
        """The release of the plan's cores that was paid for on the data as they are now."""
        version = self._version()
        released = None if version is None else self._find(answer_key(plan, version), plan)
        return None if released is None else PaidRelease(released, True, version)

    def of_views(self, plan: Plan, evaluate: Evaluate, complete: bool = False) -> ViewAnswer | None:
        """The release of the plan's cores as other answers on the data as they are now tell it,
        if they do.
        """
        version = self._version()
        return (
            None
            if version is None
            else answer_of_views(plan, self._views, version, evaluate, complete=complete)
        )

    def was_given(self, plan: Plan) -> bool:
        """Whether an answer that was made of others, or refined,
        is the plan's answer on the data as they are now.
        """
        version = self._version()
        return (
            bool(version and plan.cores)
            and self._given.find(answer_key(plan, str(version))).sources is not None
        )

    def given(self, plan: Plan, evaluate: Evaluate) -> ViewAnswer | None:
        """The release of the plan's cores as it was given before, made of others,
        on the data as they are now.

        None if none was, if the plan was bought since,
        or if nothing of what it was made of is kept any more.
        """
        version = self._version()
        sources = None if version is None else self._given.find(answer_key(plan, version)).sources
        if sources is None or version is None:
            return None
        first_answer = answer_of_views(plan, self._views, version, evaluate, given_sources=sources)
        present = (
            None if first_answer is None else answer_of_views(plan, self._views, version, evaluate)
        )
        return (
            first_answer
            if first_answer is None or present is None
            else first_answer.given_before(present)
        )

    def give(self, plan: Plan, view_answer: ViewAnswer, evaluate: Evaluate) -> ViewAnswer:
        """Keep what an answer is made of, so that it is given from then on;
        one that was kept first is given.
        """
        version = self._version()
        if view_answer.was_given or version is None:
            return view_answer
        stored_sources = self._keep_sources(answer_key(plan, version), view_answer)
        if stored_sources is None or stored_sources == view_answer.cell_sources:
            return view_answer
        return (
            answer_of_views(plan, self._views, version, evaluate, given_sources=stored_sources)
            or view_answer
        )

    def _keep_sources(self, key: str, view_answer: ViewAnswer) -> Sources | None:
        last = self._given.find(key)
        if last.sources == view_answer.cell_sources:
            return last.sources
        return self._given.keep(key, last.number, view_answer.last_entry, view_answer.cell_sources)

    def part_of_views(
        self, plan: Plan, version: str | None, evaluate: Evaluate
    ) -> PartAnswer | None:
        """What other answers on this version of the data tell of the plan's cores,
        if that is a part of them.
        """
        return None if version is None else part_of_views(plan, self._views, version, evaluate)

    def completed(
        self, part_answer: PartAnswer, rest: PaidRelease, version: str | None
    ) -> ViewAnswer:
        """The answer made of the known part and the released ``rest``; it is given from then on."""
        result = part_answer.with_bought(
            rest.released,
            "" if version is None else answer_key(part_answer.rest.written(), version),
        )
        if rest.version is not None and version is not None:
            self._keep_sources(answer_key(part_answer.plan, version), result)
        return result

    def stale(self, plan: Plan) -> tuple[str, ...]:
        """What is said where what stays under a name might tell the plan,
        and was made of other data.
        """
        version = self._version()
        names = () if version is None else self._views.stale(plan, version)
        return tuple(
            f"synopsis `{name}` is stale: the data have changed since, and it tells nothing of them"
            for name in names
        )

    def answer(
        self,
        plan: Plan,
        version: str | None,
        pay: Callable[[], tuple[Released, int]],
        check: Callable[[], None],
    ) -> PaidRelease:
        """The stored release of the plan on this version of the data, or one that ``pay`` makes.

        ``pay`` returns the release and its ledger entry. If several threads ask for the same plan
        at the same time, one of them pays. ``check`` raises an error if the statement was cancelled.
        """
        if version is None:
            return PaidRelease(pay()[0], False, None)
        key = answer_key(plan, version)
        with self._alone(f"{self._ledger.id}/{key}", check):
            stored = self._find(key, plan)
            if stored is not None:
                return PaidRelease(stored, True, version)
            released, entry = pay()
            return self._keep(key, entry, released, plan, version=version)

    @contextmanager
    def _alone(self, key: str, check: Callable[[], None]) -> Iterator[None]:
        """Let one thread of this process at a time work on a key."""
        with self._lock:
            lock = self._making.setdefault(key, threading.Lock())
            self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            while not lock.acquire(timeout=PATIENCE):
                check()
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._lock:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key], self._making[key]

    def _find(self, key: str, plan: Plan) -> Released | None:
        recent = self._released.find(key)
        if recent is not None:
            return recent
        packed = self._ledger.kept(key)
        if packed is None:
            return None
        try:
            released = parse_release(packed, plan.cores)
        except _UNREADABLE:
            # whole, and not what this version of dpsql writes: it is made and paid for again
            return None
        self._released.keep(key, released)
        return released

    def _keep(
        self, key: str, entry: int, released: Released, plan: Plan, version: str
    ) -> PaidRelease:
        """Keep the release for later statements.

        If another process kept one first, that one is returned.
        """
        try:
            packed = self._ledger.keep(key, entry, written(released))
        except (LedgerError, TypeError):
            return PaidRelease(released, False, None)  # only those who come later pay again
        if packed is None:
            return PaidRelease(released, False, None)
        stored = parse_release(packed, plan.cores)
        self._released.keep(key, stored)
        with suppress(LedgerError):
            given_answer = self._given.find(key)
            if given_answer.sources is not None:  # what was bought is given from then on
                self._given.keep(key, given_answer.number, entry, None)
            self._note_price(plan, entry, version)
            self._views.note(plan, released, key, entry, version=version)
        return PaidRelease(stored, False, version)

    def result(self, plan: Plan, version: str) -> Result | None:
        """The result that this plan object gave on this version of the data, if it is in memory."""
        entry = self._results.find(id(plan))
        if entry is None or entry[0] is not plan or entry[1] != version or self.was_given(plan):
            return None
        return replace(entry[2], rows=list(entry[2].rows), intervals=list(entry[2].intervals))

    def keep_result(self, plan: Plan, version: str, result: Result) -> None:
        """Keep the result of a plan.

        The plan is kept with it, so that no other object can get its ``id``.
        """
        if not self.keeps_results:
            return
        price = Price(Fraction(0), stored=bool(plan.cores))
        copied_result = replace(
            result, rows=list(result.rows), intervals=list(result.intervals), price=price
        )
        self._results.keep(id(plan), (plan, version, copied_result))


def _released_cells(released: Released) -> int:
    """How much a release takes in memory, in cells; an empty one is not nothing."""
    return sum(
        100 + len(table.keys) * (len(table.shape.keys) + len(table.plan.estimates))
        for table in released.tables
    )


def _result_cells(result: Result) -> int:
    return 100 + len(result.rows) * len(result.columns)
