"""What a session needs of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dpsql.engines.exact import ExactRows
from dpsql.plan import Plan
from dpsql.privacy.accountant import Charge


class Engine(Protocol):
    """Where a charged plan is run."""

    def run(self, charge: Charge[Plan]) -> ExactRows: ...

    def public_rows(self, table: str) -> Sequence[tuple[object, ...]]: ...

    def close(self) -> None: ...
