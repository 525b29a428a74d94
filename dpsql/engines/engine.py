"""What a session needs of an engine.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from dpsql.engines.exact import ExactRows
from dpsql.plan import Plan
from dpsql.privacy.accountant import Charge

#: The rows of a table that the sandbox has made.
Rowset: TypeAlias = Sequence[tuple[Any, ...]]


class Reading(Protocol):
    """A charged plan while it is run: each of its stages once, in their order; to be closed."""

    def stage(self, derived: Sequence[Rowset]) -> ExactRows:
        """The exact rows of the next stage's cores, which read these rows as the stage's derived tables."""
        ...

    def interrupt(self) -> None:
        """End what is being read; from any thread."""
        ...

    def __enter__(self) -> Reading: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Engine(Protocol):
    """Where a charged plan is run."""

    def run(self, charge: Charge[Plan]) -> Reading: ...

    def version(self) -> str | None:
        """The version of the data that are read now, from public metadata; None where it is not known."""
        ...

    def public_rows(self, table: str) -> Sequence[tuple[object, ...]]: ...

    def close(self) -> None: ...
