"""From the query to the plan: sensitivities, noise and prices."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import PRICE, claims

FAULTS = (
    Fault(
        "the noise that is chosen is one that the budget or a cap refuses",
        "dpsql/session/pricing/noise_choice.py",
        "chosen_noise",
        '"laplace" if gaussian is None else "gaussian"',
        '"gaussian"',
        (
            "tests/session/pricing/test_noise_choice.py::test_what_any_noise_pays_for_is_answered",
            "tests/session/pricing/test_noise_choice.py::test_an_analyst_with_a_cap_is_answered_by_its_own_currency",
        ),
    ),
    Fault(
        "the noise is chosen by the total alone, whatever a cap holds",
        "dpsql/session/pricing/noise_choice.py",
        "chosen_noise",
        'laplace.affordable(ordinary["laplace"])',
        'laplace.standings[0].affordable(ordinary["laplace"]) * (len(laplace.standings) == 1)',
        (
            "tests/session/pricing/test_noise_choice.py::test_as_many_ordinary_statements_are_answered_as_by_the_better_noise",
        ),
    ),
    Fault(
        "a spent budget asks for answers that were paid for with another noise",
        "dpsql/session/pricing/noise_choice.py",
        "chosen_noise",
        '"gaussian" if any(standing.spent.epsilon is None for standing in remaining.standings) '
        'else "laplace"',
        '"gaussian"',
        (
            "tests/session/pricing/test_noise_choice.py::test_an_analyst_with_a_cap_is_answered_by_its_own_currency",
        ),
    ),
    Fault(
        "answers are counted of what is left, so that they never add up",
        "dpsql/privacy/filter.py",
        "FilterState.answers_left",
        "FilterState(self.holder, self.budget, FREE)",
        "self",
        ("tests/session/pricing/test_noise_choice.py::test_answers_add_up",),
    ),
    Fault(
        "what a statement promises alone forgets the δ of its thresholds",
        "dpsql/privacy/measure.py",
        "standalone_guarantee",
        "delta - cost.delta if cost.delta < delta else delta",
        "delta",
        (
            "tests/privacy/test_measure.py::test_what_a_release_promises_alone_is_a_filter_of_its_own",
        ),
    ),
    Fault(
        "a count is taken to be of one step, whose Laplace noise has more rho",
        "dpsql/sql/analysis/contribution.py",
        "counted_once",
        "_made(UnitCount(None), None, 1, 1, norm=norm)",
        "Contribution(UnitCount(None), None, 1, 1, Fraction(1))",
        (
            "tests/session/test_count_costs.py::test_what_is_counted_is_what_a_count_costs_and_by_gaussian_noise_any_other_statement",
        ),
    ),
    Fault(
        "fine steps forgotten in the sensitivity (L1)",
        "dpsql/planning/calibration.py",
        "l1_sensitivity",
        "contribution.limit",
        "contribution.limit // contribution.fine",
        claims("rows", "L1", "count"),
    ),
    Fault(
        "fine steps forgotten in the sensitivity (L2)",
        "dpsql/planning/calibration.py",
        "l2_squared_sensitivity",
        "contribution.limit",
        "contribution.limit // contribution.fine**2",
        claims("rows", "L2", "count"),
    ),
    Fault(
        "replace neighbours not doubled",
        "dpsql/planning/calibration.py",
        "_units_changed",
        '1 if neighbours == "add-remove" else 2',
        "1",
        claims("all", "replace", "count by integer", "sum by integer"),
    ),
    Fault(
        "epsilon not split over cores",
        "dpsql/planning/budget_split.py",
        "plan_cores",
        "draft.weight / total",
        "Fraction(1)",
        (f"{PRICE}[L1]",),
    ),
    Fault(
        "epsilon not split over cells",
        "dpsql/planning/budget_split.py",
        "_plan_core",
        "share / draft.weight",
        "share",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "a scan is paid for by its weight and drawn as a whole cell",
        "dpsql/planning/budget_split.py",
        "_plan_core",
        "unit_share * draft.choice.weight(index)",
        "unit_share",
        ("tests/sql/emit/test_sizes.py::test_a_scan_costs_a_quarter_of_it_and_the_sum",),
    ),
    Fault(
        "each grouping set has the whole price",
        "dpsql/planning/budget_split.py",
        "plan_cores",
        "_plan_core(draft, dialect, norm=norm, privacy=privacy, epsilon=epsilon, share=share, "
        "delta=delta / max(thresholded, 1))",
        "_plan_core(draft, dialect, norm=norm, privacy=privacy, epsilon=epsilon, "
        "share=Fraction(1), delta=delta / max(thresholded, 1))",
        ("tests/release/test_cube.py::test_a_cube_costs_what_was_asked[rollup-L2]",),
    ),
    Fault(
        "the clause takes more δ than the owner gives",
        "dpsql/planning/budget_split.py",
        "plan_cores",
        "min(delta, query.options.delta)",
        "query.options.delta",
        ("tests/sql/parser/test_googlesql.py::test_a_larger_delta_is_not_taken",),
    ),
    Fault(
        "every level has the noise of a whole tree",
        "dpsql/planning/calibration.py",
        "_tree",
        "share / levels",
        "share",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "a histogram's counts share a noise that is made for one of them",
        "dpsql/planning/calibration.py",
        "tree",
        "mechanism(contribution, norm, neighbours, epsilon, share=share)",
        "mechanism(Contribution(contribution.cell, None, 1, 1, Fraction(1)), norm, "
        "neighbours, epsilon, share=share)",
        claims("rows", "L1", "histogram"),
    ),
    Fault(
        "the noise of a histogram is divided among its values without being paid for",
        "dpsql/planning/calibration.py",
        "tree",
        "mechanism(contribution, norm, neighbours, epsilon, share=share)",
        "mechanism(contribution, norm, neighbours, epsilon, share=share * count)",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "a choice over groups is made as if a unit stood in one row",
        "dpsql/planning/calibration.py",
        "_exponential",
        "spread**2 * l2_squared_sensitivity(contribution, neighbours)",
        "spread**2",
        (*claims("rows", "L2", "median by integer"), *claims("rows", "L2", "mode by integer")),
    ),
    Fault(
        "choices hide that a unit comes or goes where another may stand in its place",
        "dpsql/planning/calibration.py",
        "_exponential",
        "l2_squared_sensitivity(contribution, neighbours)",
        "contribution.limit",
        (*claims("all", "replace", "the most frequent"), "tests/session/test_replaced_ranks.py"),
    ),
    Fault(
        "the price is not divided among the most frequent",
        "dpsql/planning/calibration.py",
        "peeling",
        "share / most",
        "share",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "the counts around a quantile cost as if its value were free",
        "dpsql/planning/calibration.py",
        "ranking",
        "share * (1 - VALUE_SHARE)",
        "share",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "a sum of noises forgets that it is drawn many times",
        "dpsql/privacy/mechanism/noise_sums.py",
        "_inside",
        "np.fft.rfft(_masses(term, step, size)).real ** term.times",
        "np.fft.rfft(_masses(term, step, size)).real",
        (
            "tests/privacy/mechanism/test_noise_sums.py::test_weights_are_fractions_and_noises_come_many_times",
        ),
    ),
    Fault(
        "the price of a target forgets that it is split over the cells",
        "dpsql/session/pricing/expected_errors.py",
        "expected",
        "half = None if at is None else _half_width(*at, plan.confidence, rows)",
        "half = None if at is None else _half_width(*at, plan.confidence, rows)\n"
        "half = None if half is None else half / len(plan.cores[0].cells)",
        ("tests/session/pricing/test_expected.py::test_counts_and_sums_are_told_by_their_law",),
    ),
    Fault(
        "the price of a target is rounded down",
        "dpsql/session/pricing/price_search.py",
        "least",
        "return decimal(high)",
        "return decimal(high - 1)",
        ("tests/session/pricing/test_reach.py::test_the_least_is_found_from_anywhere",),
    ),
    Fault(
        "a target is reckoned with another size than the released one",
        "dpsql/session/pricing/expected_errors.py",
        "typical",
        "float(value)",
        "float(value) - 1",
        (
            "tests/session/pricing/test_target_error.py::test_the_second_price_follows_from_released_values_alone",
        ),
    ),
    Fault(
        "a target may cost more than one statement may",
        "dpsql/session/pricing/target_plans.py",
        "_affordable_price",
        "total > settings.most",
        "False",
        ("tests/session/pricing/test_target_error.py::test_what_one_may_cost_is_bounded",),
    ),
    Fault(
        "a pilot may cost more than one statement may",
        "dpsql/session/pricing/target_plans.py",
        "TargetPlanner.plan_at_target",
        "plan.at(min(plan.price, settings.most))",
        "plan",
        (
            "tests/session/pricing/test_target_error.py::test_a_pilot_and_its_better_answer_together_cost_no_more_than_one_may",
        ),
    ),
    Fault(
        "a pilot's price is forgotten in what one statement may cost",
        "dpsql/session/pricing/target_plans.py",
        "TargetPlanner.better",
        "result.price.charged",
        "",
        (
            "tests/session/pricing/test_target_error.py::test_a_pilot_is_reckoned_in_what_its_better_answer_may_cost",
        ),
    ),
    Fault(
        "the second charge of a pilot is not asked for",
        "dpsql/repl/statement_execution.py",
        "_second",
        "consent(better, first.price.charged)",
        "pass",
        (
            "tests/session/pricing/test_target_error.py::test_who_does_not_consent_keeps_the_first_answer",
        ),
    ),
)
