"""The views of each version of the data,
kept in the ledger beside the answers that have their rows.

Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from dpsql.errors import LedgerError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.view_matching import StoredView, family_digest, view_of
from dpsql.privacy.ledger import Ledger
from dpsql.release.released_tables import Released
from dpsql.session.answer_store.serialization import FORMAT, read_groups, read_view, written_view
from dpsql.session.plan_cache import LRUCache
from dpsql.sql.ir.canonical import text_digest

#: How many views of the same tables are kept, and how many groups of views stay in memory.
MOST_VIEWS = 256
GROUPS_IN_MEMORY = 1_000_000
_UNREADABLE = (ValueError, TypeError, KeyError, ZeroDivisionError, zlib.error)


@dataclass(frozen=True)
class ViewGroups:
    """The groups of a view: their keys, and for each cell the noisy numbers in steps."""

    keys: Sequence[tuple[object, ...]]
    cells: Sequence[Sequence[int]]


class PinnedViews(Protocol):
    """Views that are kept under a name, until they are dropped."""

    def views(self, core: CorePlan, version: str) -> Sequence[StoredView]:
        """The views over the tables of the core that were made of this version of the data."""
        ...

    def stale(self, core: CorePlan, version: str) -> Sequence[str]:
        """The names of what was made over the tables of the core of another version."""
        ...

    def content(self, view: StoredView) -> bytes | None:
        """The released rows that a view has; None for one of another release."""
        ...


class ViewIndex:
    """Finds the views that may answer a core, by the tables that both read."""

    def __init__(self, ledger: Ledger, pinned: PinnedViews | None = None) -> None:
        self._ledger = ledger
        self._pinned = pinned
        self._lock = threading.Lock()
        self._known: dict[str, dict[int, StoredView]] = {}
        self._groups = LRUCache[tuple[str, int], ViewGroups](
            GROUPS_IN_MEMORY, lambda groups: 100 + len(groups.keys)
        )

    def views(self, plan: CorePlan, version: str) -> Sequence[StoredView]:
        """The views over the tables of the core on this version of the data,
        as far as they are kept.
        """
        pinned = () if self._pinned is None else self._pinned.views(plan, version)
        return (*pinned, *self._all(_family(plan, version)))

    def _all(self, family: str) -> tuple[StoredView, ...]:
        """The views of a family; those that this process has not met yet are read.

        The oldest may be gone.
        """
        with self._lock:
            known = self._known.setdefault(family, {})
            keys = {f"{family}/{index}": index for index in range(MOST_VIEWS) if index not in known}
            for key, text in self._ledger.kept_among(list(keys)).items():
                with suppress(*_UNREADABLE):
                    known[keys[key]] = read_view(text)
            return tuple(view for _, view in sorted(known.items()))

    def stale(self, plan: Plan, version: str) -> tuple[str, ...]:
        """The names of pinned views over the tables of a plan that were made of another version of
        the data.
        """
        if self._pinned is None:
            return ()
        return tuple(
            dict.fromkeys(name for core in plan.cores for name in self._pinned.stale(core, version))
        )

    def note(
        self, plan: Plan, released: Released, answer_digest: str, entry: int, version: str
    ) -> None:
        """Keep what the cores of a release are views of; a release that is not kept is none."""
        for index, (core, table) in enumerate(zip(plan.cores, released.tables, strict=True)):
            groups = len(table.keys) + (0 if table.hidden is None else len(table.hidden.keys))
            view = (
                view_of(core, answer_digest, index, entry, groups=groups)
                if table.is_complete
                else None
            )
            if view is not None:
                with suppress(LedgerError):
                    self._keep(_family(core, version), view, entry)

    def _keep(self, family: str, view: StoredView, entry: int) -> None:
        text = written_view(view)
        self._all(family)
        for index in range(MOST_VIEWS):
            if index in self._known[family]:
                continue
            stored = self._ledger.keep(f"{family}/{index}", entry, text)
            if stored is None or stored == text:
                return

    def groups(self, view: StoredView) -> ViewGroups | None:
        """The groups of a view; None if its answer is no longer stored."""
        result = self._groups.find((view.answer, view.core))
        if result is None:
            packed = None if self._pinned is None else self._pinned.content(view)
            packed = self._ledger.kept(view.answer) if packed is None else packed
            try:
                groups = None if packed is None else read_groups(packed, view.core)
            except _UNREADABLE:
                groups = None
            if groups is None or len(groups[0]) != view.groups:
                return None
            result = ViewGroups(*groups)
            self._groups.keep((view.answer, view.core), result)
        return result


def _family(plan: CorePlan, version: str) -> str:
    return text_digest(["dpsql view", FORMAT, version, family_digest(plan.core)])
