"""How many keys a domain has: what is said of many of them, and how they are counted in public tables.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.sql.emit import node
from dpsql.sql.emit.key_domain import domain_parts
from dpsql.sql.emit.relation import SOURCE
from dpsql.sql.ir.expression import Column
from dpsql.sql.ir.relation import Core

#: A statement shows at most so many keys of public domains; from so many on it is told what that means.
MOST_KEYS, MANY_KEYS = 2_000_000, 10_000


@dataclass(frozen=True)
class Counting:
    """Engine SQL whose numbers multiply to that of the keys, each with the public tables that it reads."""

    queries: tuple[tuple[str, frozenset[str]], ...]


def counting(core: Core) -> Counting | None:
    """How the keys of the core are counted; None where they are known without, or come of what is released earlier."""
    if core.domain is None or core.domain.count is not None:
        return None
    queries = []
    for part in domain_parts(core):
        tables = list(part.find_all(exp.Table))
        if any((table.catalog, table.db) != SOURCE for table in tables):
            return None
        count = node.select([exp.Count(this=exp.Star())], node.subquery(part, "part"))
        sql = count.sql(dialect="duckdb", comments=False, identify=False)
        queries.append((sql, frozenset(table.name for table in tables)))
    return Counting(tuple(queries))


def require_few_keys(core: Core, count: int) -> None:
    """Refuse a core whose keys are too many to be worth their noise."""
    if count > MOST_KEYS:
        raise StatementError(
            "E_LIMITS",
            f"there are more than {MOST_KEYS:,} combinations of {_names(core)} in public tables, and each is shown "
            "with noise of its own; add a condition on them to WHERE, or group by fewer keys",
        )


def many_keys(core: Core, count: int) -> str | None:
    """What it means that so many keys are shown; None where they are few."""
    if core.domain is None or count < MANY_KEYS:
        return None
    return (
        f"{count:,} combinations of {_names(core)} come from public facts, and each has noise of its own, with rows or "
        "without: the largest and the smallest numbers tell more of noise than of rows; a condition on the keys, or "
        "fewer of them, leaves less of it"
    )


def many_keys_notices(cores: Sequence[Core]) -> tuple[str, ...]:
    """What it means for those cores whose number of keys is known from statement and schema."""
    known = [(core, core.domain.count) for core in cores if core.domain is not None]
    said = [many_keys(core, count) for core, count in known if count is not None]
    return tuple(each for each in said if each is not None)


def _names(core: Core) -> str:
    names = [each.name for each in core.keys if isinstance(each, Column)]
    return ", ".join(names) if len(names) == len(core.keys) else "the keys of GROUP BY"
