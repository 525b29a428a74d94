"""Local differential privacy: what clients report, and what is said of the reports."""

from __future__ import annotations

from planted.fault import Fault

CATEGORIES = "dpsql/privacy/local/categories.py"
NUMBERS = "dpsql/privacy/local/numbers.py"
CLIENT = ("tests/privacy/local/test_local.py",)

FAULTS = (
    Fault(
        "each bit of a client has all of its ε",
        CATEGORIES,
        "truth = _logistic(exact(epsilon) / 2)",
        "truth = _logistic(exact(epsilon))",
        CLIENT,
    ),
    Fault(
        "the client's bits are true more often than was priced",
        CATEGORIES,
        "< self.truth.numerator",
        "< self.truth.denominator * 7 / 10",
        CLIENT,
    ),
    Fault(
        "the client's report is near its number more often than was priced",
        NUMBERS,
        "near = uniform_below(self.near.denominator, count, _entropy) < self.near.numerator",
        "near = uniform_below(self.near.denominator, count, _entropy) < self.near.numerator * 1.3",
        CLIENT,
    ),
    Fault(
        "the cost of a piecewise report forgets its window",
        NUMBERS,
        "/ ((1 - self.near) * (2 * self.window + 1))",
        "/ ((1 - self.near) * (2 * self.range + 1))",
        CLIENT,
    ),
    Fault(
        "a client's Laplace noise is for half of the grid",
        NUMBERS,
        "Laplace.priced(STEPS, exact(epsilon)).scale",
        "Laplace.priced(HALF, exact(epsilon)).scale",
        CLIENT,
    ),
)
