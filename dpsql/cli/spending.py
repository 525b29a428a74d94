"""What a budget was spent on, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.output import plain

if TYPE_CHECKING:
    from dpsql.privacy.accountant import Accountant, Budget, Standing
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost


@dataclass(frozen=True)
class Statement:
    """One text of a statement: who paid for it, how often, and what all of that cost."""

    text: str
    analysts: tuple[str, ...]
    times: int
    cost: Cost


def statements_of(entries: list[Entry]) -> list[Statement]:
    """The dearest first; texts that differ in blanks only are one."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(" ".join(entry.statement.split()), []).append(entry)
    statements = [
        Statement(text, tuple(sorted({each.analyst for each in paid})), len(paid), _sum([each.cost for each in paid]))
        for text, paid in found.items()
    ]
    return sorted(statements, key=lambda statement: statement.cost.rho, reverse=True)


def _sum(costs: list[Cost]) -> Cost:
    total = costs[0]
    for cost in costs[1:]:
        total += cost
    return total


def draw(name: str, accountant: Accountant, entries: list[Entry], path: Path) -> None:
    """Write a picture of what everybody and each analyst had used after each charge; DataError where it cannot be."""
    from dpsql.output.spending import Spending, draw_spending
    from dpsql.privacy.accountant import Standing

    def spending(holder: str, limit: Budget, spent: list[tuple[Entry, Cost]]) -> Spending:
        used = [(datetime.fromisoformat(entry.at), _used(Standing(None, limit, cost))) for entry, cost in spent]
        return Spending(holder, used, float(limit.epsilon))

    analysts = sorted({entry.analyst for entry in entries})
    draw_spending(
        f"{name}: the budget of all its analysts",
        spending("all", accountant.budget, [(entry, entry.total) for entry in entries]),
        [
            spending(
                plain(each),
                accountant.caps.get(each, accountant.budget),
                [(entry, entry.own) for entry in entries if entry.analyst == each],
            )
            for each in analysts
        ],
        path,
    )


def _used(standing: Standing) -> float:
    return float(standing.budget.epsilon - standing.epsilon)
