"""Accountants by name: each holds under its own condition."""

from __future__ import annotations

from planted.fault import Fault

RULE = "tests/privacy/accountants/test_rule.py"
SCHEMA = "tests/schema/test_accountant_named.py"
ADVANCED = "dpsql/privacy/accountants/advanced.py"

FAULTS = (
    Fault(
        "advanced composition without a fixed price",
        ADVANCED,
        "AdvancedComposition.weight",
        "self.is_price(cost)",
        "True",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "advanced composition forgets what was spent before it was named",
        ADVANCED,
        "AdvancedComposition.weight",
        "self.statements + 1",
        "0",
        (f"{RULE}::test_statements_of_another_price_in_the_ledger_end_advanced_composition",),
    ),
    Fault(
        "advanced composition of more statements than fit",
        ADVANCED,
        "most_statements",
        "promise.epsilon",
        "2 * promise.epsilon",
        (f"{RULE}::test_exactly_so_many_are_admitted",),
    ),
    Fault(
        "the order of Renyi divergences is chosen afterwards",
        "dpsql/privacy/accountants/composition_rule.py",
        "WeightedRule.holds",
        "return total.weight <= self.allowance(promise)",
        "from dpsql.privacy.accountants.renyi import renyi_total\n"
        "\n"
        "return total.weight <= self.allowance(promise) or any(o * total.cost.rho <= "
        "renyi_total(promise.epsilon, promise.delta, o) for o in range(2, 60))",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "a Renyi divergence is that of the ledger's zCDP halved",
        "dpsql/privacy/accountants/renyi.py",
        "renyi_of",
        "order * cost.rho",
        "(order - 1) * cost.rho",
        (f"{RULE}::test_exactly_so_many_are_admitted", f"{RULE}::test_no_filter_passes_its_bound"),
    ),
    Fault(
        "a tally reads only what its own process wrote",
        "dpsql/privacy/ledger/journal.py",
        "Ledger._spent",
        "tally is not None",
        "tally is not None and tally.of(None, now) == 0",
        (f"{RULE}::test_the_ledger_admits_what_the_filter_does_across_openings",),
    ),
    Fault(
        "Gaussian noise is added up as if it were pure",
        "dpsql/privacy/accountants/basic_and_zcdp.py",
        "Basic.holds",
        "total.cost.epsilon is not None and total.cost.epsilon <= promise.epsilon",
        "total.cost.epsilon is None or total.cost.epsilon <= promise.epsilon",
        (
            f"{RULE}::test_exactly_so_many_are_admitted",
            f"{RULE}::test_gaussian_noise_is_refused_under_basic_composition",
        ),
    ),
    Fault(
        "a delta is used for the conversion and for thresholds too",
        ADVANCED,
        "AdvancedComposition.conversion",
        "return delta",
        "return Fraction(0)",
        (f"{RULE}::test_advanced_composition_says_why_it_refuses",),
    ),
)
