"""What ``dpsql budget`` reports: each holder of a budget, and all of it as data for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsql.cli.query import as_numbers

if TYPE_CHECKING:
    from fractions import Fraction

    from dpsql.cli.spending import Statement
    from dpsql.privacy.accountant import Accountant
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost
    from dpsql.privacy.remaining import Remaining


@dataclass(frozen=True)
class Holder:
    """One line of the report: the database as a whole, or one analyst; ``cap`` is None where only the total binds.

    ``spent`` and ``statements`` are of the present window, ``ever`` and ``statements_ever`` of all time.
    """

    name: str
    cap: Fraction | None
    left: Fraction
    share: Fraction
    spent: Cost
    statements: int
    ever: Cost
    statements_ever: int


def holders(accountant: Accountant, entries: list[Entry]) -> list[Holder]:
    """Everybody first, then each analyst who has a cap or has asked, by name."""
    return [
        _holder(accountant, name, entries)
        for name in (None, *sorted({*accountant.caps, *(entry.analyst for entry in entries)}))
    ]


def _holder(accountant: Accountant, name: str | None, entries: list[Entry]) -> Holder:
    left, spent = accountant.remaining(name), accountant.spent(name)
    asked = [entry for entry in entries if name in (None, entry.analyst)]
    window = left.window
    now = sum(window is None or entry.moment >= window.start for entry in asked)
    cap = accountant.budget if name is None else accountant.caps.get(name)
    costs = (spent.total, spent.ever_total) if name is None else (spent.own, spent.ever_own)
    return Holder(
        "all" if name is None else name, None if cap is None else cap.epsilon, left.epsilon, left.share, costs[0], now,
        costs[1], len(asked),
    )  # fmt: skip


def report(accountant: Accountant, left: Remaining, holders: list[Holder]) -> dict[str, object]:
    """The budget, its window, its lifetime and its holders."""
    window, whole = left.window, holders[0]
    after = None if left.renewal is None else f"{left.renewal}"
    return {
        "epsilon": float(accountant.budget.epsilon),
        "delta": float(accountant.budget.delta),
        "refresh": accountant.refresh,
        "window": None if window is None else {"start": f"{window.start.date()}", "renewed_on": after},
        "lifetime": {
            **as_numbers(left.lifetime),
            "statements": whole.statements_ever,
            "spent": _numbers(whole.ever),
        },
        "holders": [
            {
                "name": holder.name,
                "cap": None if holder.cap is None else float(holder.cap),
                "epsilon_left": float(holder.left),
                "share_left": float(holder.share),
                "statements": holder.statements,
                "spent": _numbers(holder.spent),
                "lifetime": {"statements": holder.statements_ever, "spent": _numbers(holder.ever)},
            }
            for holder in holders
        ],
    }


def group_report(accountant: Accountant, left: Remaining, size: int | None) -> dict[str, object]:
    """What is promised to a group, in each window and over the lifetime; nothing where nobody asked."""
    if size is None:
        return {}
    promise, whole = accountant.group(size), left.lifetime.group(size)
    lifetime = None if whole is None else {"epsilon": float(whole.epsilon), "delta": float(whole.delta)}
    said = {"units": size, "epsilon": float(promise.epsilon), "delta": float(promise.delta), "lifetime": lifetime}
    return {"group": said}


def entry_report(entry: Entry) -> dict[str, object]:
    """A line of the ledger."""
    return {
        "number": entry.seq,
        "at": entry.at,
        "analyst": entry.analyst,
        "statement": entry.statement,
        "cost": _numbers(entry.cost),
    }


def statement_report(statement: Statement) -> dict[str, object]:
    """A text of a statement, with all that was paid for it."""
    return {
        "statement": statement.text,
        "analysts": list(statement.analysts),
        "times": statement.times,
        "cost": _numbers(statement.cost),
    }


def _numbers(cost: Cost) -> dict[str, float | None]:
    pure = None if cost.epsilon is None else float(cost.epsilon)
    return {"epsilon": pure, "rho": float(cost.rho), "delta": float(cost.delta)}
