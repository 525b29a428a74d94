"""Which version of the data a statement reads: it holds the newest,
and the first after a change opens the next.

Proved in ``docs/proofs/versions.md`` and ``docs/proofs/remote.md``.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, Protocol

from dpsql.engines.files.held_files import (
    faults_of,
    files_version,
    read_options,
    source_files,
    states,
)
from dpsql.engines.files.version_hold import O, VersionHold
from dpsql.engines.source import DataSource, EngineDied
from dpsql.errors import InterfaceError, OperationalError, incident_number, statement_incident
from dpsql.errors.deadline import GLANCE, is_over
from dpsql.errors.owners_log import LOG, record


def _nothing() -> None:
    pass


class Copies(Protocol):
    """The copies that the files of a source are, if it lies elsewhere;
    OperationalError if that cannot be had.
    """

    def content(self, files: Sequence[Path]) -> str | None:
        """What these of the copies hold; None where something else lies there by now,
        or nobody knows.
        """
        ...

    @property
    def stale(self) -> bool:
        """Whether something else lies there by now."""
        ...

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        ...

    def look(self) -> None:
        """See whether something else lies there by now."""
        ...

    def bring(self) -> None:
        """Copy what lies there by now."""
        ...

    def close(self) -> None: ...


class Versions(Generic[O]):
    """The versions of a source that are open: the newest,
    and those before it that statements still hold.

    ``opens`` opens the source as it is now, and raises NotOpened or Unfit if it cannot; so does
    this at first. ``copies`` are what its files are if it lies elsewhere; they go with this
    object.
    """

    def __init__(
        self, source: DataSource, opens: Callable[[DataSource], O], copies: Copies | None = None
    ) -> None:
        self._source = source
        self._opens = opens
        self._copies = copies
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._closed = False
        self._holds = Counter[O]()
        self._opening: Future[O] | None = None
        self._newest = opens(self._as_copied())

    @property
    def newest(self) -> O:
        """The version that was opened last."""
        return self._newest

    @property
    def version(self) -> str | None:
        """The version of the files as they are now; None if one cannot be looked at,
        or is not copied yet.
        """
        if self._copies is None:
            version = files_version(source_files(self._source))
        else:
            with suppress(OperationalError):
                self._look()
            version = self._copies.content(source_files(self._source))
        return None if version is None else version + read_options(self._source)

    def hold(self, opening: Callable[[], None] = _nothing) -> VersionHold[O]:
        """The version of now, to be left; if it is not open yet,
        ``opening`` is called before that is begun.

        What is held answers: what stands still is opened anew. OperationalError if it cannot be
        opened, or if the statement was ended before it was.
        """
        self._look()
        waits = not self._is_current() or not self._newest.hears()
        if waits:
            opening()
        version = self._current(_nothing if waits else opening)
        return VersionHold(
            version, lambda: self.renewed(opening), self._let_go, lambda: self.hold(opening)
        )

    def renewed(self, opening: Callable[[], None] = _nothing) -> O:
        """The version of now, opened if it was not; OperationalError if it cannot be."""
        opened = self._current(opening)
        self._let_go(opened)
        return opened

    def close(self) -> None:
        """End all that is open here; without the lock,
        which a thread may have held where this process was forked.
        """
        self._closed = True
        for opened in {*self._holds, self._newest}:
            opened.end()
        if self._copies is not None:
            self._copies.close()

    def _look(self) -> None:
        """Check remote files for changes in a background thread, if a check is due.

        Raises OperationalError if that fails.
        """
        if self._copies is None or not self._copies.is_due:
            return
        looked = Future[None]()
        threading.Thread(
            target=_done, args=(looked, self._copies.look), name="dpsql look", daemon=True
        ).start()
        _awaited(looked)

    def _is_current(self) -> bool:
        if self._copies is not None and self._copies.stale:
            return False
        return self._newest.alive and self._newest.states == states(source_files(self._source))

    def _as_copied(self) -> DataSource:
        """The source with what was copied of it, if it lies elsewhere."""
        if self._copies is None:
            return self._source
        return replace(self._source, content=self._copies.content(source_files(self._source)) or "")

    def _current(self, opening: Callable[[], None] = _nothing) -> O:
        """The version of now, held once more; it is opened beside this thread,
        once for all who wait for it.
        """
        opening_future: Future[O] | None = None
        while True:
            with self._lock:
                self._require_open()
                if self._is_current() or (
                    opening_future is not None
                    and self._newest is opening_future.result()
                    and self._newest.alive
                ):
                    self._holds[self._newest] += 1
                    return self._newest
                waited = self._opening
                if waited is None:
                    opening()
                    waited = opening_future = self._opening = Future()
                    threading.Thread(
                        target=self._open,
                        args=(opening_future, incident_number()),
                        name="dpsql opening",
                        daemon=True,
                    ).start()
            _awaited(waited)

    def _require_open(self) -> None:
        if os.getpid() != self._owner:
            raise OperationalError("the data were opened by another process; open them in this one")
        if self._closed:
            raise OperationalError("the data are closed")

    def _open(self, future: Future[O], number: str) -> None:
        """Open the version of now, which goes on where nobody waits for it any more;
        ``number`` is the incident's.
        """
        try:
            with statement_incident(number):
                opened = self._next()
            self._take(opened)
        except BaseException as error:
            self._opening = None
            future.set_exception(error)
        else:
            future.set_result(opened)

    def _take(self, opened: O) -> None:
        with self._lock:
            before = self._newest
            self._newest = opened
            self._opening = None
            if not before.alive:
                LOG.warning("the engine's process had ended; another one was begun")
            if not self._holds[before]:
                self._end(before)
            if self._closed:  # meanwhile
                opened.end()

    def _next(self) -> O:
        """The version of now, opened; OperationalError if it cannot be,
        with nothing of what the engine said.
        """
        failure = OperationalError(
            "the data of this schema cannot be opened any more; nothing was charged for it"
        )
        try:
            if self._copies is not None and self._copies.stale:
                self._copies.bring()
            try:
                return self._opens(self._as_copied())
            except EngineDied as error:
                record("opening the data anew, which is tried once more", error)
            return self._opens(self._as_copied())
        except Exception as error:
            record("opening the data anew", error)
            for fault in faults_of(source_files(self._source)):
                record("looking at the files", InterfaceError(fault))
            if isinstance(error, OperationalError):
                failure = error.with_traceback(None)
        raise failure

    def _let_go(self, opened: O) -> None:
        """One statement less holds it; what nobody holds and is not the newest ends."""
        with self._lock:
            self._holds[opened] -= 1
            over = not self._holds[opened] and opened is not self._newest
            if over:
                self._end(opened)

    def _end(self, opened: O) -> None:
        del self._holds[opened]
        opened.end()


def _done(future: Future[None], work: Callable[[], None]) -> None:
    """Do the work, and tell who waits for it."""
    try:
        work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(None)


def _awaited(opening: Future[Any]) -> None:
    """Wait for the opening; OperationalError if it failed,
    or if the statement is ended before.
    """
    while True:
        try:
            opening.result(GLANCE)
            return
        except TimeoutError:
            if is_over():
                message = (
                    "the statement was ended while the data were opened; nothing was charged for it"
                )
                break
        except OperationalError as error:
            message = str(error)
            break
    raise OperationalError(message)
