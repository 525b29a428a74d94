"""What a budget was spent on, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.output import plain

if TYPE_CHECKING:
    from dpsql.privacy.accountant import Accountant
    from dpsql.privacy.budget import Budget
    from dpsql.privacy.filter import Standing
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost
    from dpsql.privacy.window import Refresh


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


def draw(name: str, accountant: Accountant, entries: list[Entry], path: Path, caption: str) -> None:
    """Write a picture of what everybody and each analyst had used after each charge; DataError where it cannot be.

    What is drawn is what the schema's accountant adds up, as a part of ε. Where the budget is renewed, each window's
    stairs begin at the bottom. The caption stands below.
    """
    from dpsql.output.spending import Spending, draw_spending

    def spending(holder: str, limit: Budget, paid: list[Entry]) -> Spending:
        used = [(at, _used(standing)) for at, standing in standing_after(paid, limit, accountant.refresh)]
        return Spending(holder, used, float(limit.epsilon))

    left = accountant.remaining()
    when = "" if left.window is None else f"\n{accountant.refresh}; lifetime: {left.lifetime}"
    analysts = sorted({entry.analyst for entry in entries})
    draw_spending(
        f"{name}: the budget of all its analysts{when}",
        spending("all", accountant.budget, entries),
        [
            spending(
                plain(each),
                accountant.caps.get(each, accountant.budget),
                [entry for entry in entries if entry.analyst == each],
            )
            for each in analysts
        ],
        path,
        caption,
    )


def standing_after(entries: list[Entry], limit: Budget, refresh: Refresh | None) -> list[tuple[datetime, Standing]]:
    """What stands against a budget after each entry; with windows, also that of nothing where one has ended."""
    from dpsql.privacy.filter import Standing
    from dpsql.privacy.measure import FREE
    from dpsql.privacy.window import Window

    found: list[tuple[datetime, Standing]] = []
    nothing = standing = Standing(None, limit, FREE)
    window = None if refresh is None or not entries else Window.at(entries[0].moment, refresh)
    for entry in entries:
        if window is not None and window.next_start <= entry.moment:
            standing = nothing
            found.append((window.next_start, standing))
            window = Window.at(entry.moment, window.refresh)
        standing = standing.after(entry.cost)
        found.append((entry.moment, standing))
    return found


def _used(standing: Standing) -> float:
    return float(standing.budget.epsilon - standing.epsilon)
