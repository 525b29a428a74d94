"""Draws ``spending.svg``, the picture of ``dpsql budget --chart``, from a made-up day of two analysts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import matplotlib

from dpsql.output.spending_plot import SpendingCurve, draw_spending
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import FilterState
from dpsql.privacy.measure import FREE, Cost, shown

#: Minutes after nine at which each asked, and the price in ε.
ADA = [(5, 0.05), (9, 0.05), (14, 0.05), (31, 0.05), (95, 0.1), (98, 0.05), (210, 0.05), (216, 0.05), (304, 0.05)]
BOB = [(40, 0.1), (62, 0.1), (130, 0.2), (133, 0.1), (242, 0.2), (391, 0.3)]
TOTAL, CAP = (Budget(Fraction(epsilon), Fraction(1, 10**6)) for epsilon in (3, 1))


def costs(moments: list[tuple[int, float]]) -> list[tuple[datetime, Cost]]:
    nine = datetime(2026, 3, 2, 9, tzinfo=UTC)
    return [(nine + timedelta(minutes=minute), cost_of(price)) for minute, price in moments]


def cost_of(price: float) -> Cost:
    return Cost(None, Fraction(str(price)) ** 2 / 2)


def spending(name: str, limit: Budget, moments: list[tuple[int, float]]) -> SpendingCurve:
    standing, used = FilterState(None, limit, FREE), []
    for at, cost in costs(sorted(moments)):
        standing = standing.after(cost)
        used.append((at, float(limit.epsilon - standing.epsilon)))
    return SpendingCurve(name, used, float(limit.epsilon))


def taken(limit: Budget) -> str:
    used = limit.epsilon - FilterState(None, limit, FREE).after(cost_of(0.1)).epsilon
    return f"{shown(used)} of ε = {shown(limit.epsilon)} (ρ = {shown(limit.rho_total)})"


matplotlib.rcParams |= {"svg.hashsalt": "dpsql", "svg.fonttype": "none"}
draw_spending(
    "nafld: the budget of all its analysts",
    spending("all", TOTAL, ADA + BOB),
    [spending("ada", CAP, ADA), spending("bob", TOTAL, BOB)],
    Path(__file__).with_name("spending.svg"),
    f"one statement: a count of units at ε = 0.1 has Gaussian noise and is charged as ρ = 0.005, δ = 0; "
    f"it takes {taken(TOTAL)}, {taken(CAP)}",
)
