"""Draws ``spending.svg``, the picture of ``dpsql budget --chart``,
from a made-up day of two analysts.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import matplotlib

from dpsql.output.spending_plot import SpendingCurve, draw_spending
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import FilterState
from dpsql.privacy.measure import FREE, Cost
from dpsql.schema import Noise

#: Minutes after nine at which each asked, and the price in ε.
ADA = [
    (5, 0.05),
    (9, 0.05),
    (14, 0.05),
    (31, 0.05),
    (95, 0.1),
    (98, 0.05),
    (210, 0.05),
    (216, 0.05),
    (304, 0.05),
]
BOB = [(40, 0.1), (62, 0.1), (130, 0.2), (133, 0.1), (242, 0.2), (391, 0.3)]
TOTAL, CAP = (Budget(Fraction(epsilon), Fraction(1, 10**6)) for epsilon in (3, 1))


def paid(moments: list[tuple[int, float]], noise: Noise) -> list[tuple[datetime, Cost]]:
    nine = datetime(2026, 3, 2, 9, tzinfo=UTC)
    return [(nine + timedelta(minutes=minute), cost(price, noise)) for minute, price in moments]


def cost(price: float, noise: Noise) -> Cost:
    epsilon = Fraction(str(price))
    return Cost(epsilon if noise == "laplace" else None, epsilon**2 / 2)


def spending(
    name: str, limit: Budget, noise: Noise, costs: list[tuple[datetime, Cost]]
) -> SpendingCurve:
    state, used, answer = FilterState(None, limit, FREE), [], cost(0.1, noise)
    most = state.affordable(answer)
    for at, cost_then in sorted(costs, key=lambda each: each[0]):
        state = state.after(cost_then)
        used.append((at, most - state.affordable(answer)))
    return SpendingCurve(name, used, most)


matplotlib.rcParams |= {"svg.hashsalt": "dpsql", "svg.fonttype": "none"}
OF_ADA, OF_BOB = paid(ADA, "laplace"), paid(BOB, "gaussian")
draw_spending(
    "nafld: the budget of all its analysts",
    spending("all", TOTAL, "gaussian", OF_ADA + OF_BOB),
    [spending("ada", CAP, "laplace", OF_ADA), spending("bob", TOTAL, "gaussian", OF_BOB)],
    Path(__file__).with_name("spending.svg"),
    "one answer, such as a count of units, takes 1/36 of the budget, 1/10 of the cap of ada",
)
