"""How many keys a statement shows, found in public tables before it is charged.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

from dpsql.planning.plan import Plan
from dpsql.release.noise import Released
from dpsql.sql.emit.key_domain_size import counting, many_keys, require_few_keys

#: The number that SQL over public tables gives.
PublicCount: TypeAlias = Callable[[str, frozenset[str]], int]


def require_few_candidates(plan: Plan, count: PublicCount) -> None:
    """Refuse a plan that shows very many keys of public tables; StatementError (E_LIMITS)."""
    for core in plan.cores:
        found = counting(core.core)
        if found is not None:
            require_few_keys(core.core, prod(count(*each) for each in found.queries))


def many_candidates(plan: Plan, released: Released) -> tuple[str, ...]:
    """What it means that many keys of public tables are shown."""
    tables = [table for table in released.tables[: len(plan.cores)] if counting(table.shape) is not None]
    said = [many_keys(table.shape, len(table.keys)) for table in tables]
    return tuple(each for each in said if each is not None)
