"""Draws ``spending.svg``, the picture of ``dpsql budget --chart``, from a made-up day of two analysts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import matplotlib

from dpsql.output.spending import Spending, draw_spending

#: Minutes after nine at which each asked, and the ε that was used once the statement was paid for.
ADA = [(5, 0.1), (9, 0.2), (14, 0.3), (31, 0.42), (95, 0.55), (98, 0.7), (210, 0.8), (216, 0.95), (304, 1.0)]
BOB = [(40, 0.12), (62, 0.3), (130, 0.45), (133, 0.55), (242, 0.7), (391, 0.8)]


def used(moments: list[tuple[int, float]]) -> list[tuple[datetime, float]]:
    nine = datetime(2026, 3, 2, 9, tzinfo=UTC)
    return [(nine + timedelta(minutes=minute), spent) for minute, spent in moments]


def together() -> list[tuple[int, float]]:
    last, moments = {"ada": 0.0, "bob": 0.0}, []
    for minute, name, spent in sorted([(m, "ada", s) for m, s in ADA] + [(m, "bob", s) for m, s in BOB]):
        last[name] = spent
        moments.append((minute, sum(last.values())))
    return moments


matplotlib.rcParams |= {"svg.hashsalt": "dpsql", "svg.fonttype": "none"}
draw_spending(
    "nafld: the budget of all its analysts",
    Spending("all", used(together()), 3.0),
    [Spending("ada", used(ADA), 1.0), Spending("bob", used(BOB), 3.0)],
    Path(__file__).with_name("spending.svg"),
)
