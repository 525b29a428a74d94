"""Norms that few units exceed, and sums that are clipped to them."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import PRICE

CLIP = "dpsql/sql/emit/measurement/contribution_bounding.py"
NORMS = "dpsql/sql/emit/measurement/unit_norms.py"
TESTS = "tests/planning/test_norm_scan.py"
WITHIN = f"{TESTS}::test_no_unit_adds_more_than_the_norm"
PLACES = f"{TESTS}::test_a_unit_is_in_one_place_and_moves_no_other"
PAID = f"{TESTS}::test_the_scan_costs_a_quarter_and_leaves_as_many_units_whatever_the_data"
DRAWS = "tests/privacy/mechanism/test_clipping_bound.py::test_draws_have_their_law"

FAULTS = (
    Fault(
        "rows are clipped to the norm, and the vector of a unit is not",
        "dpsql/sql/emit/measurement/core.py",
        "_Emission._families",
        'families | {f"norm_{name}": [(name, contribution)] for name, contribution in alone}',
        "families",
        (WITHIN,),
    ),
    Fault(
        "a norm is compared after the vector was scaled",
        CLIP,
        "_scaled",
        'node.bare(f"n{name[1:]}")',
        'node.times(node.bare(f"n{name[1:]}"), node.number(0.5))',
        (f"{WITHIN}[price-l2]", f"{WITHIN}[price-l1]"),
    ),
    Fault(
        "the factor that brings a vector to its norm is rounded up",
        CLIP,
        "factor",
        "exp.Sub",
        "exp.Add",
        (f"{WITHIN}[price-l2]",),
    ),
    Fault(
        "a scan of norms is not paid for",
        "dpsql/planning/plan.py",
        "CorePlan.cost",
        "[histogram.mechanism.cost for histogram in self.histograms]",
        "[each.mechanism.cost for each in self.histograms if each.contribution.limit > 1]",
        (f"{PAID}[l1-add-remove]", f"{PRICE}[L1]"),
    ),
    Fault(
        "a scan of norms is as exact as if it got the price of the sum, too",
        "dpsql/planning/estimators/histogram.py",
        "measured_histogram",
        "scan(contribution, norm, neighbours, epsilon, share=share)",
        "scan(contribution, norm, neighbours, epsilon, share=Fraction(1))",
        (f"{PAID}[l1-add-remove]", f"{PRICE}[L1]"),
    ),
    Fault(
        "how many units are left above depends on how many there are",
        "dpsql/privacy/mechanism/sparse_vector.py",
        "ClippingBoundSearch.choose",
        "-self.left",
        "-self.left - sum(counts) // 100",
        (DRAWS,),
    ),
    Fault(
        "a unit is in the place of each of its groups",
        NORMS,
        "_norms",
        '[node.bare("u"), node.bare("most")]',
        '[node.bare("u"), node.bare("part")]',
        (f"{PLACES}[number-l1]", f"{PLACES}[price-l2]"),
    ),
    Fault(
        "a unit's sums are doubles, which an engine adds in an order of its own",
        "dpsql/sql/emit/quantise.py",
        "in_wide_steps",
        'dialect.cast(_clamped(dialect, argument, number(float(1 / step)), MOST_STEPS), "wide")',
        "_clamped(dialect, argument, number(float(1 / step)), MOST_STEPS)",
        (f"{TESTS}::test_rows_in_any_order_and_threads_give_the_same",),
    ),
    Fault(
        "totals of grouping sets are made of sums that are clipped by group",
        "dpsql/sql/binder/private_select.py",
        "_Cut._norm",
        "self._sets is not None",
        "self._sets is None and self._preserved",
        (f"{TESTS}::test_refused",),
    ),
)
