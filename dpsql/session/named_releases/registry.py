"""The named releases of one database, and the schema that has its synthetic tables among the public
ones.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from dpsql.errors import DataError, LedgerError, QueryCancelled, StatementError
from dpsql.errors.deadline import taken
from dpsql.planning.plan import AutomaticColumn
from dpsql.postprocessing.sandbox import PublicRows
from dpsql.privacy.ledger import Ledger, NamedRelease, NewRelease, ReleaseKind
from dpsql.schema import Schema, fold
from dpsql.schema.names import checked_name
from dpsql.session.answer_store.serialization import FORMAT
from dpsql.session.named_releases.table_rows import declared, rows_of
from dpsql.session.tuning.automatic_bounds import FoundBounds, found_bounds, release_name

#: Seconds after which what other processes have created or dropped is looked for again.
AGE = 1.0
#: Names that mean something else to clients,
#: and the beginning of the names of PostgreSQL's #: catalogue.
_RESERVED = frozenset({"dpsql", "public", "released", "information_schema", "pg_catalog"})
_CATALOGUE = "pg_"


def is_readable(release: NamedRelease) -> bool:
    """Whether this version of dpsql reads what is kept: the views of a synopsis have a format."""
    return release.kind != "synopsis" or bool(json.loads(release.facts)["format"] == FORMAT)


@dataclass(frozen=True)
class _Snapshot:
    """The releases as they were last read, and the schema with their tables."""

    releases: tuple[NamedRelease, ...]
    schema: Schema
    version: str
    bounds: Mapping[AutomaticColumn, FoundBounds]
    at: float


#: Who creates something, by the ledger.
_CREATING: Final = defaultdict[str, threading.Lock](threading.Lock)


class NamedReleases:
    """The named releases in the ledger of one database; all sessions and threads share them.

    If the ledger cannot be read, the last snapshot counts.
    """

    def __init__(
        self,
        schema: Schema,
        ledger: Ledger,
        data_version: Callable[[], str | None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._declared = schema
        self._ledger = ledger
        self._data_version = data_version
        self._clock = clock
        self._lock = threading.Lock()
        self._creating = _CREATING[ledger.id]
        self._held: _Snapshot | None = None
        self._counts = dict[str, int]()

    @property
    def all(self) -> tuple[NamedRelease, ...]:
        """All named releases, in the order in which they were paid for."""
        return self._now().releases

    @property
    def schema(self) -> Schema:
        """The owner's schema with the synthetic tables among its public ones;
        the same object while none changes.
        """
        return self._now().schema

    @property
    def version(self) -> str:
        """A text that changes when a named release is created or dropped; empty without releases."""
        return self._now().version

    @property
    def bounds(self) -> Mapping[AutomaticColumn, FoundBounds]:
        """The bounds of automatic columns that were found, by their columns."""
        return self._now().bounds

    def of_kind(self, kind: ReleaseKind) -> tuple[NamedRelease, ...]:
        """The named releases of one kind."""
        return tuple(release for release in self.all if release.kind == kind)

    def find(self, name: str) -> NamedRelease | None:
        """The release of that name, whatever the case of its ASCII letters."""
        return next((release for release in self.all if release.name == fold(name)), None)

    def is_stale(self, release: NamedRelease) -> bool:
        """Whether the release was made of another version of the data than that of now."""
        now = self._data_version()
        return bool(release.version) and now is not None and release.version != now

    def state(self, release: NamedRelease) -> str:
        """What people are told of a release: whether it can be read,
        and whether the data are as they were.
        """
        if not is_readable(release):
            return "unreadable: another version of dpsql made it; drop it, or read it with that version"
        if self.is_stale(release):
            return "stale: the data have changed since"
        if not release.version or self._data_version() is None:
            return "unknown: no version of the data is known now"
        return "current"

    def notices(self, tables: Sequence[str]) -> tuple[str, ...]:
        """What is said to who reads these public tables: which of them are synthetic and stale."""
        releases = [self.find(name) for name in tables if name not in self._declared.tables]
        stale = [
            release.name for release in releases if release is not None and self.is_stale(release)
        ]
        return tuple(
            f"`{name}` is stale: the data have changed since it was made" for name in stale
        )

    def synopses(self) -> list[tuple[str, str]]:
        """The name of each synopsis, and what people are told of it."""
        return [
            (
                synopsis.name,
                f"marginals that {synopsis.analyst} bought on {synopsis.at:%Y-%m-%d}: "
                + (
                    "what they tell is free"
                    if (state := self.state(synopsis)) == "current"
                    else state
                ),
            )
            for synopsis in self.of_kind("synopsis")
        ]

    def content(self, release: NamedRelease) -> bytes:
        """The content of a release. Raises StatementError if it was dropped meanwhile or is damaged."""
        result = self._ledger.named_content(release)
        if result is None:
            raise StatementError(
                "E_TABLE", f"the {release.kind} `{release.name}` is not there any more"
            )
        return result

    def require_free(self, name: str, size: int = 0) -> str:
        """The folded name. Raises DataError if no release of so many bytes may be created under it."""
        folded = fold(name)
        try:
            checked_name(folded, "name")
        except ValueError as error:
            raise DataError(str(error)) from None
        if folded in self._declared.tables or folded == self._declared.name:
            raise DataError(f"`{folded}` is a name of the schema already; choose another one")
        if folded in _RESERVED or folded.startswith(_CATALOGUE):
            raise DataError(f"`{folded}` is a name of the catalogue; choose another one")
        self._ledger.require_room(folded, size)
        return folded

    def create(self, name: str, size: int, make: Callable[[str], NewRelease]) -> NamedRelease:
        """Keep what ``make`` pays for and makes of the folded name,
        once the name is free for a content of that size.

        Of those who create in this process one goes at a time,
        so that nobody pays for a name that another one takes.
        """
        with self._creating:
            new = make(self.require_free(name, size))
            self._put(new)
        result = self.find(new.name)
        if result is None:
            raise LedgerError("what was created cannot be read back from the ledger")
        return result

    def create_bounds(self, column: AutomaticColumn, make: Callable[[str], NewRelease]) -> bool:
        """Keep the bounds of a column that ``make`` pays for; False if they are there by now,
        and nothing is made.

        Bounds that another process keeps meanwhile are the ones that hold:
        what was paid for here is not released.
        """
        with self._creating:
            self._forget()
            if column in self.bounds:
                return False
            self._ledger.require_room(release_name(column), 0)
            new = make(release_name(column))
            try:
                self._put(new)
            except DataError:
                self._forget()
                if column not in self.bounds:
                    raise
        return True

    def _put(self, new: NewRelease) -> None:
        self._ledger.put_named(new)
        self._forget()

    def drop(self, name: str, kind: ReleaseKind, analyst: str) -> bool:
        """Whether there was a release of that name and kind, which is dropped;
        what it cost stays charged.

        DataError where another analyst created it: its creator drops it by a statement,
        the owner with ``dpsql ledger drop``.
        """
        release = self.find(name)
        if release is None or release.kind != kind:
            return False
        if release.analyst != analyst:
            raise DataError(
                f"the {kind} `{release.name}` was created by {release.analyst}, who may drop it, or the owner"
            )
        dropped = self._ledger.drop_named(release.name, kind)
        self._forget()
        return dropped

    def row_count(self, table: str) -> int | None:
        """The number of rows of a synthetic table; None for other tables."""
        release = self.find(table)
        if release is None or table in self._declared.tables:
            return None
        if release.digest not in self._counts:
            self._counts[release.digest] = len(
                rows_of(declared(release.facts), self.content(release))
            )
        return self._counts[release.digest]

    def rows(self, otherwise: PublicRows) -> PublicRows:
        """Reads the rows of synthetic tables here,
        and those of all other public tables by ``otherwise``.
        """

        def rows_of_table(table: str) -> Sequence[tuple[object, ...]]:
            release = self.find(table)
            if release is None or table in self._declared.tables:
                return otherwise(table)
            return rows_of(declared(release.facts), self.content(release))

        return rows_of_table

    def _now(self) -> _Snapshot:
        snapshot = self._held
        if snapshot is not None and self._clock() - snapshot.at < AGE:
            return snapshot
        if snapshot is not None and self._lock.locked():
            return snapshot  # another thread looks already
        if not taken(self._lock):
            raise QueryCancelled
        try:
            if self._held is None or self._clock() - self._held.at >= AGE:
                self._held = self._refresh_snapshot(self._held)
            return self._held
        finally:
            self._lock.release()

    def _refresh_snapshot(self, snapshot: _Snapshot | None) -> _Snapshot:
        try:
            releases = self._ledger.named()
        except LedgerError:
            releases = () if snapshot is None else snapshot.releases
        if snapshot is not None and releases == snapshot.releases:
            return replace(snapshot, at=self._clock())
        tables = {
            release.name: declared(release.facts).table(release)
            for release in releases
            if release.kind == "synthetic table"
        }
        declared_tables = self._declared.tables
        added = {name: table for name, table in tables.items() if name not in declared_tables}
        schema = (
            self._declared.model_copy(update={"tables": {**declared_tables, **added}})
            if added
            else self._declared
        )
        version = " ".join(release.digest for release in releases)
        return _Snapshot(releases, schema, version, found_bounds(releases), at=self._clock())

    def _forget(self) -> None:
        with self._lock:
            self._held = None
