"""Limits of averages beside those of sums, and limits and bounds that are found."""

from __future__ import annotations

from planted.fault import Fault, InString

CELLS = "dpsql/planning/cell_list.py"
STABILITY = "dpsql/sql/analysis/stability.py"
CONTRIBUTION = "dpsql/sql/analysis/contribution.py"
CORE = "dpsql/sql/emit/measurement/core.py"
PLAN, TUNER = "dpsql/planning/tuning.py", "dpsql/session/tuning/tuner.py"
AVERAGES = "tests/planning/test_averaged_limits.py"
CLAIMS = (f"{AVERAGES}::test_a_unit_changes_each_cell_by_no_more_than_its_own_limit",)
TUNING, COUNTS = "tests/planning/test_tuning_plan.py", "tests/release/test_tuning_counts.py"
COST = (f"{TUNING}::test_it_costs_the_sum_of_its_counts_and_no_more_than_its_share",)
MOVED = (f"{TUNING}::test_a_unit_moves_the_counts_by_no_more_than_the_noise_is_made_for",)
LADDERS, NOISY = (
    "tests/session/tuning/test_noisy_ladders.py",
    "dpsql/session/tuning/noisy_ladders.py",
)
BEYOND = "tests/session/test_rows_beyond.py"
FOUND = "tests/session/tuning/test_automatic_bounds.py::test"
AUTOMATIC, FINDER = (
    "dpsql/session/tuning/automatic_bounds.py",
    "dpsql/session/tuning/bounds_finder.py",
)
LIMITS = (f"{AVERAGES}::test_each_aggregate_has_the_limit_that_is_declared_for_it",)

EXECUTION = "dpsql/session/execution.py"
JOURNAL, RESTORING = "dpsql/privacy/ledger/journal.py", "dpsql/privacy/ledger/restoring.py"
RESUMED, GIVEN_UP = (
    "tests/cli/test_cli_tune_resumed.py::test",
    "tests/privacy/ledger/test_given_up.py::test",
)

FAULTS = (
    Fault(
        "a tuning whose noise was drawn is drawn again for one charge",
        EXECUTION,
        "Execution._read_once",
        "resumption is not None and not is_read",
        "resumption is not None",
        (f"{RESUMED}_what_was_drawn_is_not_drawn_again",),
    ),
    Fault(
        "a charge that failed pays for a release of other data",
        "dpsql/session/tuning/resumption.py",
        "Resumption._key",
        "answer_key(plan, version)",
        'answer_key(plan, "")',
        (f"{RESUMED}_other_data_are_charged",),
    ),
    Fault(
        "a charge that was given up is taken up twice",
        JOURNAL,
        "Ledger.take_up.line",
        "unreleased.forget(tables, key)",
        "pass",
        (f"{GIVEN_UP}_it_is_taken_up_once_and_costs_nothing_more",),
    ),
    Fault(
        "a charge pays for another plan once it was given up",
        "dpsql/privacy/accountant.py",
        "Accountant.resumed.fits",
        "is_present and (paid.analyst, paid.statement, paid.cells, paid.cost) == charged",
        "is_present",
        (f"{GIVEN_UP}_another_plan_does_not_have_it",),
    ),
    Fault(
        "a charge of one window pays for a release in another",
        "dpsql/privacy/accountant.py",
        "Accountant.resumed.fits",
        "begins is None or begins(paid.moment) == begins(spent.moment)",
        "True",
        (f"{GIVEN_UP}_it_is_of_the_window_in_which_it_was_paid",),
    ),
    Fault(
        "a backup brings back what was taken up",
        RESTORING,
        "_ANSWERS",
        InString(" AND substr(key, 1, {len(unreleased.PREFIX)}) <> '{unreleased.PREFIX}'"),
        "",
        (f"{GIVEN_UP}_what_is_put_back_has_nothing_to_be_taken_up",),
    ),
    Fault(
        "an accepted ledger brings back what was taken up",
        RESTORING,
        "_accepted",
        "unreleased.forget(tables)",
        "pass",
        (f"{GIVEN_UP}_what_is_put_back_has_nothing_to_be_taken_up",),
    ),
    Fault(
        "a tuning that was said to be free is charged",
        "dpsql/session/tuning/resumption.py",
        "Resumption.taken_up",
        "charge is None and self._is_required",
        "False",
        (f"{RESUMED}_who_was_told_that_it_charges_nothing_is_not_charged",),
    ),
    Fault(
        "bounds that are kept are found again",
        AUTOMATIC,
        "bounded_plan",
        "unfound = tuple(column for column in needed if column not in bounds_of_column)",
        "unfound = tuple(needed)",
        (f"{FOUND}_bounds_are_found_once_and_kept_for_all_analysts_and_data",),
    ),
    Fault(
        "an analyst sees readings of a find fail for nothing",
        FINDER,
        "BoundsFinder._is_bought",
        "self._execution.counted(find, json.dumps(tuning_note(find)), scope)",
        "self._execution.scanned(find, json.dumps(tuning_note(find)), scope)",
        (f"{FOUND}_an_analyst_pays_for_each_reading_that_fails",),
    ),
    Fault(
        "bounds are charged that the budget does not hold with their statement",
        FINDER,
        "BoundsFinder.found",
        "self._execution.remaining.require(self.purchase(plan).cost.rounded_up())",
        "pass",
        (f"{FOUND}_bounds_that_the_budget_does_not_hold_with_the_statement_are_not_charged",),
    ),
    Fault(
        "the price of a statement is told without that of its bounds",
        FINDER,
        "BoundsFinder.purchase",
        "not plan.unfound",
        "plan.unfound",
        (f"{FOUND}_planning_and_explaining_finds_nothing_and_says_what_it_takes",),
    ),
    Fault(
        "a block of statements is charged with the widest bounds",
        "dpsql/session/compiler.py",
        "Compiler.plan",
        "plan.unfound and not may_find",
        "False",
        (f"{FOUND}_what_is_refused_for_another_reason_finds_nothing",),
    ),
    Fault(
        "bounds are found of columns that a statement does not need",
        AUTOMATIC,
        "_needed",
        "others and is_answered(others)",
        "False",
        (f"{FOUND}_only_the_columns_that_a_statement_needs_are_found",),
    ),
    Fault(
        "sessions that need the same bounds at once all pay",
        "dpsql/session/named_releases/registry.py",
        "NamedReleases.create_bounds",
        "column in self.bounds",
        "False",
        (f"{FOUND}_of_two_sessions_at_once_one_pays",),
    ),
    Fault(
        "sums have the limit of averages",
        CONTRIBUTION,
        "contribution",
        "_made(cell, grid, largest, rows(averaged), norm=norm)",
        "_made(cell, grid, largest, rows(True), norm=norm)",
        LIMITS,
    ),
    Fault(
        "averages are not clipped where they have a limit of their own",
        CORE,
        "_Emission._families",
        '("averages", averages)',
        "",
        CLAIMS,
    ),
    Fault(
        "sums and what averages read are scaled by the smaller of their factors",
        CORE,
        "_Emission._families",
        "sums = [pair for pair in rows if pair not in averages]",
        "sums, averages = rows, []",
        (f"{AVERAGES}::test_counts_and_sums_are_in_full_where_averages_are_weighed",),
    ),
    Fault(
        "averages take the limit of sums",
        STABILITY,
        "_private_limits",
        "declared.of_averages if averaged else declared",
        "declared",
        LIMITS,
    ),
    Fault(
        "an average shares the count of a COUNT that has another limit",
        CELLS,
        "CellList.index_of",
        "RowCount | ClampedSum",
        "ClampedSum",
        LIMITS,
    ),
    Fault(
        "sums of squares have the limit of averages",
        "dpsql/sql/ir/aggregate_properties.py",
        "is_average",
        "measure.statistic not in (Statistic.REGR_SXX, Statistic.REGR_SYY, Statistic.REGR_SXY)",
        "True",
        (f"{AVERAGES}::test_sums_of_squares_have_the_limit_of_sums",),
    ),
    Fault(
        "what averages weigh is kept as a count",
        "dpsql/planning/view_matching.py",
        "view_of",
        "cell is not None and not is_averaged(bounded.cell)",
        "cell is not None",
        (f"{AVERAGES}::test_what_averages_weigh_is_kept_as_no_count_and_no_sum",),
    ),
    Fault(
        "an average is made of a count that is not weighed and a sum that is",
        "dpsql/session/answer_store/partial_answers.py",
        "PartOfCore.is_known_from_then_on",
        "not any(is_averaged(cell.contribution.cell) for cell in cells)",
        "bool(cells)",
        (f"{AVERAGES}::test_an_average_is_made_of_totals_of_one_weight",),
    ),
    Fault(
        "a tuning may spend its share for each of its questions",
        TUNER,
        "price_of",
        "cost_of(parts, middle, norm_of(privacy))",
        "cost_of(parts[:1], middle, norm_of(privacy))",
        COST,
    ),
    Fault(
        "of a tuning each table is charged once",
        PLAN,
        "TuningPlan.cost",
        "(mechanism.cost for asked in self.tables for mechanism in counts_of(asked))",
        "(counts_of(asked)[0].cost for asked in self.tables)",
        COST,
    ),
    Fault(
        "each question of a tuning has the whole price",
        PLAN,
        "_counted",
        "tree(bounded, norm, neighbours, price, share=share)",
        "tree(bounded, norm, neighbours, price, share=Fraction(1))",
        (f"{COUNTS}::test_each_count_has_the_noise_that_is_charged", *COST),
    ),
    Fault(
        "a tuning takes replaced units for ones that come and go",
        PLAN,
        "_counted",
        "tree(bounded, norm, neighbours, price, share=share)",
        'tree(bounded, norm, "add-remove", price, share=share)',
        MOVED,
    ),
    Fault(
        "counts of a tuning have less noise than a unit moves them",
        PLAN,
        "_counted",
        "histograms.append(MeasuredHistogram(bounded, tree(bounded, norm, neighbours, price, "
        "share=share)))",
        "bounded = __import__('dataclasses').replace(bounded, limit=bounded.limit // 2)\n"
        "histograms.append(MeasuredHistogram(bounded, tree(bounded, norm, neighbours, price, "
        "share=share)))",
        MOVED,
    ),
    Fault(
        "counts of a tuning are released as they are",
        "dpsql/release/tuning_counts.py",
        "count",
        "mechanism.node.perturb(counts, _entropy=_entropy)",
        "counts",
        (f"{COUNTS}::test_every_count_has_noise_of_its_own",),
    ),
    Fault(
        "counts of a tuning without units have no noise",
        "dpsql/release/tuning_counts.py",
        "count",
        "mechanism.node.perturb(counts, _entropy=_entropy)",
        "[each and mechanism.node.perturb([each], _entropy=_entropy)[0] for each in counts]",
        (
            f"{COUNTS}::test_a_table_without_rows_has_noise_alone",
            f"{COUNTS}::test_every_count_has_noise_of_its_own",
        ),
    ),
    Fault(
        "a limit is chosen by its noise alone",
        NOISY,
        "row_limit.error",
        "hypot(cut + DOUBT * spread, error_of_one * limits[step])",
        "error_of_one * limits[step]",
        (f"{LADDERS}::test_counts_and_sums_are_within_a_tenth_though_tails_are_heavy",),
    ),
    Fault(
        "a limit is chosen by what it cuts alone",
        NOISY,
        "row_limit.error",
        "hypot(cut + DOUBT * spread, error_of_one * limits[step])",
        "cut + DOUBT * spread",
        (f"{LADDERS}::test_a_larger_price_of_statements_takes_a_larger_limit",),
    ),
    Fault(
        "what is cut is that of the units which show",
        NOISY,
        "row_limit",
        "count if step <= last else more",
        "count if step <= last else 0.0 * more",
        (f"{LADDERS}::test_the_limit_has_nearly_the_least_error_and_what_is_beyond_is_said_right",),
    ),
    Fault(
        "a tail of which three steps show is none",
        "dpsql/session/tuning/tail_fit.py",
        "LEAST_STEPS",
        "3",
        "4",
        (f"{LADDERS}::test_a_tail_of_which_three_steps_show_is_cut_into_knowingly",),
    ),
    Fault(
        "bounds are always looked for at once",
        TUNER,
        "Tuner.leaves_bounds_to_statements",
        "MOST_NOISE**2 * at_once.rho < later.rho",
        "False",
        ("tests/cli/test_cli_tune.py::test_bounds_that_would_be_noisy_are_left_to_statements",),
    ),
    Fault(
        "an answer says nothing of what limits leave out",
        "dpsql/session/compiler.py",
        "Compiler._plan",
        "notices=(*shown_query.notices, *beyond)",
        "notices=shown_query.notices",
        (f"{BEYOND}::test_what_limits_leave_out_is_said",),
    ),
)
