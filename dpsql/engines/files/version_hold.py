"""One opened version of the data, and a hold on it: it stays open until it is left,
and may be opened again.

Proved in ``docs/proofs/versions.md`` and ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from dpsql.engines.data import DataCursor
from dpsql.engines.files.held_files import FileState
from dpsql.engines.source import DataChanged, ValueRows


class OpenedVersion(Protocol):
    """One version of the data, opened, checked and locked down;
    ``states`` are those of its files.
    """

    @property
    def states(self) -> tuple[FileState, ...]: ...

    @property
    def version(self) -> str: ...

    @property
    def alive(self) -> bool: ...

    @property
    def deriving(self) -> threading.Lock:
        """Who has it has the derived tables to itself."""
        ...

    def hears(self) -> bool:
        """Whether it answers now; what does not is not alive any more."""
        ...

    def cursor(self, renew: Callable[[], object]) -> DataCursor:
        """Where one charged plan is run; after trouble ``renew`` is called before it is told."""
        ...

    def public_rows(self, table: str) -> ValueRows: ...

    def end(self) -> None: ...


O = TypeVar("O", bound=OpenedVersion)  # noqa: E741 (an opened version)


class VersionHold(Generic[O]):
    """One version of the data, which stays open until this is left."""

    def __init__(
        self,
        opened: O,
        renew: Callable[[], object],
        let_go: Callable[[O], None],
        reopen: Callable[[], VersionHold[O]],
    ) -> None:
        self.opened = opened
        self._renew = renew
        self._let_go = let_go
        self._reopen = reopen

    @property
    def version(self) -> str:
        return self.opened.version

    @property
    def alive(self) -> bool:
        return self.opened.alive

    @property
    def deriving(self) -> threading.Lock:
        return self.opened.deriving

    def cursor(self) -> DataCursor:
        return self.opened.cursor(self._renew)

    def public_rows(self, table: str) -> ValueRows:
        """The rows of a table that was declared public;
        after trouble the data are open again before it is told.
        """
        try:
            return self.opened.public_rows(table)
        except Exception:
            with suppress(Exception):
                self._renew()
            raise

    def reopened(self) -> VersionHold[O]:
        """The same version after its engine died, held once more;
        DataChanged if other data lie there by now.

        OperationalError if it cannot be opened, or if the statement was ended before it was.
        """
        again = self._reopen()
        if (again.version, again.opened.states) != (self.version, self.opened.states):
            again.__exit__(None, None, None)
            raise DataChanged
        return again

    def __enter__(self) -> VersionHold[O]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._let_go(self.opened)
