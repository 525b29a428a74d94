"""Synopses: what is charged for their marginals, how exact their answers are said to be,
and of which data they are.
"""

from __future__ import annotations

from planted.fault import Fault, InString

TESTS = "tests/session/named_releases/test_synopses.py"
WEIGHTS = "tests/planning/test_synopsis_weights.py"

FAULTS = (
    Fault(
        "the weights of a synopsis add up to more than its price",
        "dpsql/planning/synopsis/plan.py",
        "_rounded_to_grain",
        "1 - sum(rounded[:largest] + rounded[largest + 1 :], Fraction(0))",
        "max(rounded[largest], Fraction(1, 2))",
        (f"{WEIGHTS}::test_no_query_is_worse_off_and_none_is_better_than_the_optimum",),
    ),
    Fault(
        "each marginal of a synopsis is measured at the whole price",
        "dpsql/planning/synopsis/plan.py",
        "with_share",
        "share * other",
        "other",
        (f"{TESTS}::test_it_is_charged_once_and_exactly_its_price",),
    ),
    Fault(
        "the variance of a sum takes the middle of the bounds and not its square",
        "dpsql/planning/synopsis/plan.py",
        "matched_cell",
        "shift**2",
        "shift",
        (f"{WEIGHTS}::test_a_sum_far_from_zero_has_the_noise_of_its_count",),
    ),
    Fault(
        "a marginal of a synopsis is not charged",
        "dpsql/planning/plan.py",
        "Plan.cost",
        "self.cores",
        "self.cores[:1]",
        (f"{TESTS}::test_it_is_charged_once_and_exactly_its_price",),
    ),
    Fault(
        "a synopsis of older data answers",
        "dpsql/session/named_releases/synopses.py",
        "SynopsisViews.views",
        "synopsis.version == version",
        "synopsis.version",
        (f"{TESTS}::test_it_stays_where_ordinary_answers_go_and_is_not_used_for_other_data",),
    ),
    Fault(
        "the rows of a synopsis that was dropped are taken for those of one of the same name",
        "dpsql/session/named_releases/synopses.py",
        "_answer",
        InString(" {entry}"),
        "",
        (f"{TESTS}::test_it_stays_where_ordinary_answers_go_and_is_not_used_for_other_data",),
    ),
    Fault(
        "a sum over groups of a synopsis is said to be as exact as one group",
        "dpsql/planning/synopsis/workload.py",
        "SynopsisWorkload._query",
        "matched[1] * groups_summed * marginal.groups",
        "matched[1]",
        (f"{TESTS}::test_the_errors_that_explain_tells_are_those_of_the_answers",),
    ),
    Fault(
        "a statement comes off worse by a synopsis than by its own purchase",
        "dpsql/planning/synopsis/plan.py",
        "_within",
        "variances(precisions, np.array(mixed, dtype=np.float64), power, most) <= bound * (1 "
        "+ 1e-9)",
        "variances(precisions, np.array(mixed, dtype=np.float64), power, most) >= 0",
        (f"{WEIGHTS}::test_no_query_is_worse_off_and_none_is_better_than_the_optimum",),
    ),
)
