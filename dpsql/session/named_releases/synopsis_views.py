"""The marginals of synopses as views that are pinned: answers are made of them until the synopsis is dropped.

Proved in ``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from dpsql.errors import DatabaseError
from dpsql.planning.plan import CorePlan
from dpsql.planning.views import StoredView, family_digest, read, view_of, written
from dpsql.privacy.ledger import NamedRelease
from dpsql.release.released_tables import Released
from dpsql.session.answer_store.keys import FORMAT
from dpsql.session.named_releases.registry import NamedReleases, is_readable


def facts_of(name: str, entry: int, cores: Sequence[CorePlan], released: Released) -> str:
    """The views of a synopsis as a text, each with a digest of the tables that it reads."""
    views = []
    for place, (core, table) in enumerate(zip(cores, released.tables, strict=True)):
        view = view_of(core, _answer(name, entry), place, entry, len(table.keys))
        assert view is not None
        said = replace(view, said=f"synopsis {name}: {view.said}")
        views.append([family_digest(core.core), written(said).decode("ascii")])
    return json.dumps({"format": FORMAT, "views": views})


def _answer(name: str, entry: int) -> str:
    """What no other release is kept as, one of the same name later included."""
    return f"synopsis {name} {entry}"


class SynopsisViews:
    """The views of the synopses that stay in the ledger of one database."""

    def __init__(self, named: NamedReleases) -> None:
        self._named = named
        self._read: dict[str, dict[str, list[StoredView]]] = {}

    def views(self, core: CorePlan, version: str) -> Sequence[StoredView]:
        """The views over the tables of the core, of synopses that were made of this version of the data."""
        family = family_digest(core.core)
        fresh = [each for each in self._named.of_kind("synopsis") if each.version == version]
        return [view for each in fresh for view in self._views(each).get(family, ())]

    def stale(self, core: CorePlan, version: str) -> Sequence[str]:
        """The names of synopses over the tables of the core that were made of another version of the data."""
        family = family_digest(core.core)
        old = [each for each in self._named.of_kind("synopsis") if each.version != version]
        return [each.name for each in old if family in self._views(each)]

    def content(self, view: StoredView) -> bytes | None:
        """The released rows that a view of a synopsis has; None for a view of another release, or of one dropped."""
        for each in self._named.of_kind("synopsis"):
            if view.answer == _answer(each.name, each.entry):
                with suppress(DatabaseError):
                    return self._named.content(each)
        return None

    def _views(self, release: NamedRelease) -> dict[str, list[StoredView]]:
        if release.digest not in self._read:
            found = dict[str, list[StoredView]]()
            for family, text in json.loads(release.facts)["views"] if is_readable(release) else ():
                found.setdefault(family, []).append(read(text.encode("ascii")))
            self._read[release.digest] = found
        return self._read[release.digest]
