"""The answers that a database has paid for: what makes two the same, and how one is found or made once.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from hashlib import blake2b

from dpsql.errors import InternalError, LedgerError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.ledger import Ledger
from dpsql.release.noise import Released
from dpsql.schema.types import STORED_FORMS
from dpsql.session.answer_store.serialization import read, written

#: Raised whenever the same cores come to mean another release, or are written in another way.
FORMAT = 3


def answer_key(plan: Plan, version: str) -> str:
    """A digest of all that the release of a plan depends on: cores with their SQL and noise, derived tables, data.

    The text of the statement, its analyst and what its shell makes of the release are not in it.
    """
    cores = [[core.sql, canonical(_as_released(core))] for core in plan.cores]
    read = [canonical(core.presence) for core in plan.cores] + [canonical(plan.evident)]
    later = [canonical(plan.derived), canonical(plan.cubes), *read] if plan.derived else []
    whole = ["dpsql answer", FORMAT, version, repr(plan.confidence), cores, later]
    return blake2b(json.dumps(whole, ensure_ascii=True).encode("ascii"), digest_size=32).hexdigest()


def _as_released(core: CorePlan) -> CorePlan:
    """The core without the evidence of its groups, where these are released with it or without."""
    return core if core.presence is not None and core.presence.released else replace(core, presence=None)


def kin_key(plan: Plan, version: str) -> str:
    """A digest of the same without noise, price and confidence: that of all releases of the same exact rows."""
    cores = [
        [core.sql, canonical(core.core), canonical([cell.contribution for cell in core.cells]),
         canonical([histogram.contribution for histogram in core.histograms]), canonical(core.estimates)]
        for core in plan.cores
    ]  # fmt: skip
    whole = ["dpsql kin", FORMAT, version, cores, canonical(plan.derived), canonical(plan.cubes)]
    return blake2b(json.dumps(whole, ensure_ascii=True).encode("ascii"), digest_size=32).hexdigest()


#: The Python types of values that JSON does not have.
_MARKED = tuple(form.python for form in STORED_FORMS)


def canonical(value: object) -> object:
    """A value of a plan as JSON, so that two are the same only where the values are, in every process.

    >>> canonical((1, True, 1.0, "1", None))
    ['tuple', 1, ['bool', 'True'], ['float', '1.0'], '1', None]
    """
    match value:
        case None | str():
            return value
        case bool() | float() | Fraction():
            return [type(value).__name__, repr(value)]
        case int():
            return value
        case _ if isinstance(value, _MARKED):
            return [type(value).__name__, repr(value)]
        case tuple() | list():
            return [type(value).__name__, *map(canonical, value)]
        case frozenset():
            return ["frozenset", *sorted((canonical(each) for each in value), key=json.dumps)]
        case _ if is_dataclass(value):
            parts = [[field.name, canonical(getattr(value, field.name))] for field in fields(value)]
            return [type(value).__name__, *parts]
    raise InternalError(f"a plan may not hold a {type(value).__name__}")


#: How many prices are kept of releases of the same exact rows.
MOST_PRICES = 64
#: How many released cells stay in memory, and the seconds between looks at whether a waiting statement was ended.
MEMORY, PATIENCE = 1_000_000, 0.05
_UNREADABLE = (ValueError, TypeError, KeyError, ZeroDivisionError, zlib.error)


@dataclass(frozen=True)
class Paid:
    """A release, whether it was there already, and the version of the data for which it is kept (None: it is not)."""

    released: Released
    stored: bool
    version: str | None


class Answers:
    """The kept answers of one database; any thread may ask.

    ``version`` tells the version of the data that would be read now, None where that is not known.
    """

    def __init__(self, ledger: Ledger, version: Callable[[], str | None]) -> None:
        self._ledger, self._version = ledger, version
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}
        self._waiting: dict[str, int] = {}
        self._memory: OrderedDict[str, Released] = OrderedDict()
        self._size = 0

    @property
    def version(self) -> str | None:
        """The version of the data that would be read now."""
        return self._version()

    def find(self, plan: Plan) -> Released | None:
        """The release of the plan's cores that was paid for already, if there is one."""
        kept = self.kept(plan)
        return None if kept is None else kept.released

    def best(self, plan: Plan) -> tuple[Plan, Released] | None:
        """The release of the same exact rows that was paid for at the highest price, with its plan."""
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
        """The prices at which releases of the same exact rows were kept."""
        found: list[Fraction] = []
        while len(found) < MOST_PRICES and (kept := self._ledger.kept(f"{kin}/{len(found)}")) is not None:
            try:
                found.append(Fraction(kept.decode("ascii")))
            except (ValueError, ZeroDivisionError):
                break
        return found

    def _note_price(self, plan: Plan, entry: int, version: str) -> None:
        """Keep the price of a release beside it, under a key of what it shares with those at other prices."""
        kin, price = kin_key(plan, version), str(plan.price)
        for place in range(MOST_PRICES):
            if self._ledger.keep(f"{kin}/{place}", entry, price.encode("ascii")) == price.encode("ascii"):
                return

    def kept(self, plan: Plan) -> Paid | None:
        """The release of the plan's cores that was paid for on the data as they are now."""
        version = self._version()
        found = None if version is None else self._find(answer_key(plan, version), plan)
        return None if found is None else Paid(found, True, version)

    def answer(
        self, plan: Plan, version: str | None, pay: Callable[[], tuple[Released, int]], check: Callable[[], None]
    ) -> Paid:
        """The release of the plan's cores on this version of the data, where it was paid for.

        Else ``pay`` makes it of that version, and tells its ledger entry. Of those who ask for the same at the same
        time one pays. ``check`` raises where the statement was ended.
        """
        if version is None:
            return Paid(pay()[0], False, None)
        key = answer_key(plan, version)
        with self._alone(key, check):
            found = self._find(key, plan)
            if found is not None:
                return Paid(found, True, version)
            released, entry = pay()
            return self._keep(key, entry, released, plan, version)

    @contextmanager
    def _alone(self, key: str, check: Callable[[], None]) -> Iterator[None]:
        """One thread at a time for each key."""
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
        with self._lock:
            if key in self._memory:
                self._memory.move_to_end(key)
                return self._memory[key]
        answer = self._ledger.kept(key)
        if answer is None:
            return None
        try:
            released = read(answer, plan.cores)
        except _UNREADABLE:
            return None  # whole, and not what this version of dpsql writes: it is made and paid for again
        self._remember(key, released)
        return released

    def _keep(self, key: str, entry: int, released: Released, plan: Plan, version: str) -> Paid:
        """Keep the release for those who come later; where another process was first, its release counts."""
        try:
            answer = self._ledger.keep(key, entry, written(released))
        except (LedgerError, TypeError):
            return Paid(released, False, None)  # it is paid for and released; only those who come later pay again
        if answer is None:
            return Paid(released, False, None)
        kept = read(answer, plan.cores)
        self._remember(key, kept)
        with suppress(LedgerError):
            self._note_price(plan, entry, version)
        return Paid(kept, False, version)

    def _remember(self, key: str, released: Released) -> None:
        size = _cells(released)
        with self._lock:
            if key in self._memory or size > MEMORY // 10:
                return
            self._memory[key] = released
            self._size += size
            while self._size > MEMORY:
                _, oldest = self._memory.popitem(last=False)
                self._size -= _cells(oldest)


def _cells(released: Released) -> int:
    """How much a release takes in memory, in cells; an empty one is not nothing."""
    return sum(100 + len(table.keys) * (len(table.shape.keys) + len(table.plan.estimates)) for table in released.tables)
