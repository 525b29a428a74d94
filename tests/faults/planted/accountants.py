"""Accountants by name: each holds under its own condition."""

from __future__ import annotations

from planted.fault import Fault

RULE = "tests/privacy/test_rule.py"
SCHEMA = "tests/schema/test_accountant_named.py"
BUDGET, FILTER = "dpsql/privacy/budget.py", "dpsql/privacy/filter.py"

FAULTS = (
    Fault(
        "advanced composition without a fixed price",
        BUDGET,
        "            case Advanced() as rule:\n                return Fraction(1 if rule.is_price(cost) else",
        "            case Advanced() as rule:\n                return Fraction(1 if True else",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "advanced composition forgets what was spent before it was named",
        BUDGET,
        "else rule.statements + 1)",
        "else 0)",
        (f"{RULE}::test_statements_of_another_price_in_the_ledger_end_advanced_composition",),
    ),
    Fault(
        "advanced composition of more statements than fit",
        "dpsql/privacy/rule.py",
        "if advanced(middle, self.epsilon, delta) <= epsilon else",
        "if advanced(middle, self.epsilon, delta) <= 2 * epsilon else",
        (f"{RULE}::test_exactly_so_many_are_admitted",),
    ),
    Fault(
        "the order of Renyi divergences is chosen afterwards",
        FILTER,
        "            return tallied + budget.weight(cost) <= budget.allowance",
        "            from dpsql.privacy.renyi import renyi_total\n\n"
        "            return tallied + budget.weight(cost) <= budget.allowance or any("
        "o * after.rho <= renyi_total(budget.epsilon, budget.delta_conversion, o) for o in range(2, 60))",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "a Renyi divergence is that of the ledger's zCDP halved",
        "dpsql/privacy/renyi.py",
        "    bound = order * cost.rho\n",
        "    bound = (order - 1) * cost.rho\n",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "a tally reads only what its own process wrote",
        "dpsql/privacy/ledger/journal.py",
        "        if tally is not None:\n            tally.bring(tables, self._start)\n",
        "        if tally is not None and tally.of(None, now) == 0:\n            tally.bring(tables, self._start)\n",
        (f"{RULE}::test_the_ledger_admits_what_the_filter_does_across_openings",),
    ),
    Fault(
        "Gaussian noise is added up as if it were pure",
        FILTER,
        "    pure = after.epsilon is not None and after.epsilon <= budget.epsilon\n",
        "    pure = after.epsilon is None or after.epsilon <= budget.epsilon\n",
        (
            f"{RULE}::test_exactly_so_many_are_admitted",
            f"{RULE}::test_gaussian_noise_is_refused_under_basic_composition",
        ),
    ),
    Fault(
        "a delta is used for the conversion and for thresholds too",
        BUDGET,
        "            case Advanced():\n                return self.delta\n",
        "            case Advanced():\n                return Fraction(0)\n",
        (f"{RULE}::test_advanced_composition_says_why_it_refuses",),
    ),
)
