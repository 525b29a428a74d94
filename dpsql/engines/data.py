"""What an engine needs of the place where its DuckDB is: this process, or one of its own.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol

from dpsql.engines.source import CoreSql, DerivedTable, Rows


class Cursor(Protocol):
    """Where one charged plan is run; whatever it raises is trouble."""

    def rows(self, derived: Sequence[tuple[DerivedTable, Rows]], cores: Sequence[CoreSql]) -> Sequence[Rows]:
        """The rows of each core, once the derived tables are there; only what was planned is run."""
        ...

    def interrupt(self) -> None:
        """End what is being read; from any thread."""
        ...

    def stop(self) -> None:
        """End it where the time is over, by force where it does not hear."""
        ...

    def close(self, derived: Sequence[str], then: Callable[[], None] = ...) -> None:
        """Let go of it and of its derived tables, and call ``then``; later, where a reading was left before its end."""
        ...


class HeldData(Protocol):
    """One version of the owner's data, opened, checked and locked down; it stays open until this is left."""

    @property
    def version(self) -> str: ...

    @property
    def deriving(self) -> threading.Lock: ...

    def cursor(self) -> Cursor: ...

    def public_rows(self, table: str) -> Rows: ...

    def __enter__(self) -> HeldData: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Data(Protocol):
    """The owner's data, whatever version of them lies at the source; ``version`` tells that of now."""

    @property
    def version(self) -> str | None: ...

    def hold(self, opening: Callable[[], None] = ...) -> HeldData: ...

    def close(self) -> None: ...
