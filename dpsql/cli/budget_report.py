"""What ``dpsql budget`` reports: each holder of a budget, and what it was spent on and when,
as data or a picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.cli.query import as_numbers
from dpsql.output import plain

if TYPE_CHECKING:
    from fractions import Fraction

    from dpsql.privacy.accountant import Accountant
    from dpsql.privacy.budget import Budget, Refresh
    from dpsql.privacy.filter import AnswersLeft, FilterState, RemainingBudget
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost
    from dpsql.schema import Privacy
    from dpsql.schema.privacy import Noise


@dataclass(frozen=True)
class StatementSpending:
    """One text of a statement: who paid for it, how often, and what all of that cost."""

    text: str
    analysts: tuple[str, ...]
    times: int
    cost: Cost


def statements_of(entries: list[Entry]) -> list[StatementSpending]:
    """The dearest first; texts that differ in blanks only are one."""
    entries_by_text: dict[str, list[Entry]] = {}
    for entry in entries:
        entries_by_text.setdefault(" ".join(entry.statement.split()), []).append(entry)
    statements = [
        StatementSpending(
            text,
            tuple(sorted({entry_paid.analyst for entry_paid in paid})),
            len(paid),
            _sum([entry_paid.cost for entry_paid in paid]),
        )
        for text, paid in entries_by_text.items()
    ]
    return sorted(statements, key=lambda statement: statement.cost.rho, reverse=True)


def _sum(costs: list[Cost]) -> Cost:
    total = costs[0]
    for cost in costs[1:]:
        total += cost
    return total


def draw(
    name: str,
    accountant: Accountant,
    entries: list[Entry],
    path: Path,
    holders: list[BudgetHolder],
    caption: str,
) -> None:
    """Write a chart of the budget used after each charge, in total and by each analyst.

    Its unit is the answers that the holder's next count would allow. If the budget is renewed, each
    window starts at zero. The caption is below the chart. Raises DataError if it cannot be written.
    """
    from dpsql.output.spending_plot import SpendingCurve, draw_spending

    first, *others = holders

    def spending(holder: BudgetHolder, limit: Budget, paid: list[Entry]) -> SpendingCurve:
        most = holder.next.own.total
        cost = holder.next.cost
        after = standing_after(paid, limit, accountant.refresh)
        used = [(at, most - standing.affordable(cost)) for at, standing in after]
        return SpendingCurve(plain(holder.name), used, most)

    remaining = accountant.remaining()
    when = (
        ""
        if remaining.window is None
        else f"\n{accountant.refresh}; lifetime: {remaining.lifetime}"
    )
    curves = [
        spending(
            other,
            accountant.caps.get(other.name, accountant.budget),
            [entry for entry in entries if entry.analyst == other.name],
        )
        for other in others
        if any(entry.analyst == other.name for entry in entries)
    ]
    draw_spending(
        f"{name}: the budget of all its analysts{when}",
        spending(first, accountant.budget, entries),
        curves,
        path,
        caption=caption,
    )


def standing_after(
    entries: list[Entry], limit: Budget, refresh: Refresh | None
) -> list[tuple[datetime, FilterState]]:
    """What stands against a budget after each entry; with windows,
    also that of nothing where one has ended.
    """
    from dpsql.privacy.budget import Window
    from dpsql.privacy.filter import FilterState
    from dpsql.privacy.measure import FREE

    result: list[tuple[datetime, FilterState]] = []
    nothing = standing = FilterState(None, limit, FREE)
    window = None if refresh is None or not entries else Window.at(entries[0].moment, refresh)
    for entry in entries:
        if window is not None and window.next_start <= entry.moment:
            standing = nothing
            result.append((window.next_start, standing))
            window = Window.at(entry.moment, window.refresh)
        standing = standing.after(entry.cost)
        result.append((entry.moment, standing))
    return result


@dataclass(frozen=True)
class NextCount:
    """A count of units at the schema's price: its noise, its cost, and how many more are admitted.

    ``answers`` are those of the tightest budget, ``own`` those of the holder's own budget. The
    noise is the default one. ``by_laplace`` is how many are admitted with Laplace noise; None if
    that is the default, or is not allowed. ``share`` is the next count's part of the holder's own
    budget, from 0 to 1; of the total if there is no cap.
    """

    noise: Noise
    cost: Cost
    answers: AnswersLeft
    own: AnswersLeft
    share: Fraction
    by_laplace: int | None


@dataclass(frozen=True)
class BudgetHolder:
    """One line of the report: the database as a whole, or one analyst;
    ``cap`` is None where only the total binds.

    ``spent`` and ``statements`` are of the present window, ``ever`` and ``statements_ever`` of all
    time. ``holds`` is the ρ of the own budget or the total, ``rho_left`` what is left of it; 0
    where none is added up.
    """

    name: str
    cap: Fraction | None
    left: Fraction
    share: Fraction
    spent: Cost
    statements: int
    ever: Cost
    statements_ever: int
    holds: Fraction
    rho_left: Fraction
    next: NextCount


def holders(accountant: Accountant, entries: list[Entry], privacy: Privacy) -> list[BudgetHolder]:
    """Everybody first, then each analyst who has a cap or has asked, by name."""
    return [
        _holder(accountant, name, entries, privacy)
        for name in (None, *sorted({*accountant.caps, *(entry.analyst for entry in entries)}))
    ]


def _holder(
    accountant: Accountant, name: str | None, entries: list[Entry], privacy: Privacy
) -> BudgetHolder:
    from fractions import Fraction

    remaining = accountant.remaining(name)
    spent = accountant.spent(name)
    own_standing = remaining.standings[-1]
    asked = [entry for entry in entries if name in (None, entry.analyst)]
    window = remaining.window
    now = sum(window is None or entry.moment >= window.start for entry in asked)
    cap = accountant.budget if name is None else accountant.caps.get(name)
    costs = (spent.total, spent.ever_total) if name is None else (spent.own, spent.ever_own)
    return BudgetHolder(
        "all" if name is None else name,
        None if cap is None else cap.epsilon,
        left=remaining.epsilon,
        share=remaining.share,
        spent=costs[0],
        statements=now,
        ever=costs[1],
        statements_ever=len(asked),
        holds=own_standing.budget.rho_total,
        rho_left=max(own_standing.budget.rho_total - own_standing.spent.rho, Fraction(0)),
        next=_next(remaining, privacy),
    )


def _next(remaining: RemainingBudget, privacy: Privacy) -> NextCount:
    """One more count by the noise that it has where nobody asks for another."""
    from dpsql.session.pricing.noise_choice import count_cost, ordinary_noise, usual_costs

    price = privacy.query_epsilon
    noise = ordinary_noise(privacy, price, remaining)
    cost = count_cost(privacy, noise, price)
    now = remaining.standings[-1]
    other = (
        count_cost(privacy, "laplace", price)
        if noise != "laplace" in usual_costs(privacy, price)
        else None
    )
    by_laplace = None if other is None else remaining.affordable(other)
    share = now.share - now.after(cost).share
    return NextCount(
        noise,
        cost,
        remaining.answers_left(cost),
        now.answers_left(cost),
        share=share,
        by_laplace=by_laplace,
    )


def report(
    accountant: Accountant, remaining: RemainingBudget, holders: list[BudgetHolder]
) -> dict[str, object]:
    """The budget, its window, its lifetime and its holders."""
    window = remaining.window
    everyone = holders[0]
    after = None if remaining.renewal is None else f"{remaining.renewal}"
    return {
        "epsilon": float(accountant.budget.epsilon),
        "delta": float(accountant.budget.delta),
        "refresh": accountant.refresh,
        "window": None
        if window is None
        else {"start": f"{window.start.date()}", "renewed_on": after},
        "lifetime": {
            **as_numbers(remaining.lifetime),
            "statements": everyone.statements_ever,
            "spent": _numbers(everyone.ever),
        },
        "holders": [
            {
                "name": holder.name,
                "cap": None if holder.cap is None else float(holder.cap),
                "epsilon_left": float(holder.left),
                "share_left": float(holder.share),
                "statements": holder.statements,
                "spent": _numbers(holder.spent),
                "rho": {"total": float(holder.holds), "left": float(holder.rho_left)}
                if holder.holds
                else None,
                "next": {
                    "noise": holder.next.noise,
                    "cost": _numbers(holder.next.cost),
                    "statements": holder.next.answers.left,
                    "of_statements": holder.next.answers.total,
                    "share": float(holder.next.share),
                    "statements_by_laplace": holder.next.by_laplace,
                },
                "lifetime": {"statements": holder.statements_ever, "spent": _numbers(holder.ever)},
            }
            for holder in holders
        ],
    }


def group_report(
    accountant: Accountant, remaining: RemainingBudget, size: int | None
) -> dict[str, object]:
    """What is promised to a group, in each window and over the lifetime;
    nothing where nobody asked.
    """
    if size is None:
        return {}
    promise = accountant.group(size)
    over_lifetime = remaining.lifetime.group(size)
    lifetime = (
        None
        if over_lifetime is None
        else {"epsilon": float(over_lifetime.epsilon), "delta": float(over_lifetime.delta)}
    )
    in_window = {
        "units": size,
        "epsilon": float(promise.epsilon),
        "delta": float(promise.delta),
        "lifetime": lifetime,
    }
    return {"group": in_window}


def entry_report(entry: Entry) -> dict[str, object]:
    """A line of the ledger."""
    return {
        "number": entry.seq,
        "at": entry.at,
        "analyst": entry.analyst,
        "statement": entry.statement,
        "cost": _numbers(entry.cost),
    }


def statement_report(statement: StatementSpending) -> dict[str, object]:
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
