"""A cache of plans, which depend on public information alone.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from dpsql.planning.plan import Plan
from dpsql.schema.types import STORED_FORMS
from dpsql.session.request import StatementSettings
from dpsql.sql.binder.binding_state import FrontendOptions

#: How many plans stay in memory.
PLANS = 1_000

K = TypeVar("K")
V = TypeVar("V")
#: Values that are told apart by their type and what is written for them.
_PLAIN = frozenset({bool, int, float, str, type(None), *(form.python for form in STORED_FORMS)})
#: The version of the data, whose public tables have sizes, and that of the named releases.
PlanVersions: TypeAlias = tuple[str | None, str]
#: The text, its parameters, the settings and the dialect options:
#: all that a plan of one database #: depends on.
PlanKey: TypeAlias = tuple[
    str, tuple[tuple[str, str], ...], StatementSettings, FrontendOptions, PlanVersions
]


class LRUCache(Generic[K, V]):
    """A least-recently-used cache that is bounded by the sum of its values' sizes;
    safe for threads.
    """

    def __init__(self, most: int, size: Callable[[V], int]) -> None:
        self._most = most
        self._size = size
        self._lock = threading.Lock()
        self._values = OrderedDict[K, V]()
        self._sum = 0

    def find(self, key: K) -> V | None:
        """The value under the key, if there is one, which now counts as used last."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: K, value: V) -> None:
        """Keep the value and evict the least recently used;
        a value above a tenth of the bound is not kept.
        """
        size = self._size(value)
        if size > self._most // 10:
            return
        with self._lock:
            if key in self._values:
                self._sum -= self._size(self._values.pop(key))
            self._values[key] = value
            self._sum += size
            while self._sum > self._most:
                self._sum -= self._size(self._values.popitem(last=False)[1])


class PlanCache:
    """The plans of one database, so that a repeated statement is not compiled again."""

    def __init__(self) -> None:
        self._plans = LRUCache[PlanKey, Plan](PLANS, lambda _: 1)

    def plan(
        self,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
        frontend_options: FrontendOptions,
        versions: PlanVersions,
        make: Callable[[], Plan],
    ) -> Plan:
        """The cached plan for these arguments, or the one that ``make`` makes."""
        if any(type(value) not in _PLAIN for value in parameters):
            return make()
        key = (
            text,
            tuple((type(value).__name__, repr(value)) for value in parameters),
            settings,
            frontend_options,
            versions,
        )
        plan = self._plans.find(key)
        if plan is None:
            plan = make()
            self._plans.keep(key, plan)
        return plan
