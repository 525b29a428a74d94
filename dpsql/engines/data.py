"""What an engine asks of the process whose DuckDB has the owner's data.

It holds versions and opens cursors on them.

Proved in ``docs/proofs/process.md`` and ``docs/proofs/versions.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol

from dpsql.engines.source import CoreSql, DerivedTable, ValueRows


class DataCursor(Protocol):
    """Where one charged plan is run; whatever it raises is trouble,
    and EngineDied such as another engine may mend.
    """

    def rows(
        self, derived: Sequence[tuple[DerivedTable, ValueRows]], cores: Sequence[CoreSql]
    ) -> Sequence[ValueRows]:
        """The rows of each core, once the derived tables are there;
        only what was planned is run.
        """
        ...

    def interrupt(self) -> None:
        """End what is being read; from any thread."""
        ...

    def stop(self) -> None:
        """End it if the time is over; by force if it does not react."""
        ...

    def close(self, derived: Sequence[str], then: Callable[[], None] = ...) -> None:
        """Release it and its derived tables, and call ``then``.

        Both happen later if a reading stopped before its end.
        """
        ...


class HeldData(Protocol):
    """One version of the owner's data, opened, checked and locked down;
    it stays open until this is left.
    """

    @property
    def version(self) -> str: ...

    @property
    def alive(self) -> bool:
        """Whether the engine that has it is alive."""
        ...

    @property
    def deriving(self) -> threading.Lock: ...

    def cursor(self) -> DataCursor: ...

    def public_rows(self, table: str) -> ValueRows: ...

    def reopened(self) -> HeldData:
        """The same version of the data after its engine died, held;
        DataChanged where they are others by now.
        """
        ...

    def __enter__(self) -> HeldData: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Data(Protocol):
    """The owner's data, whatever version of them lies at the source;
    ``version`` tells that of now.
    """

    @property
    def version(self) -> str | None: ...

    def hold(self, opening: Callable[[], None] = ...) -> HeldData: ...

    def close(self) -> None: ...
