"""Limits of averages beside those of sums, and limits and bounds that are found."""

from __future__ import annotations

from planted.fault import Fault

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
LADDERS, NOISY = "tests/session/tuning/test_noisy_ladders.py", "dpsql/session/tuning/noisy_ladders.py"
BEYOND = "tests/session/test_rows_beyond.py"
LIMITS = (f"{AVERAGES}::test_each_aggregate_has_the_limit_that_is_declared_for_it",)

FAULTS = (
    Fault(
        "sums have the limit of averages",
        CONTRIBUTION,
        "return _made(cell, grid, largest, rows(averaged), norm)",
        "return _made(cell, grid, largest, rows(True), norm)",
        LIMITS,
    ),
    Fault(
        "averages are not clipped where they have a limit of their own",
        CORE,
        '("averages", averages), ',
        "",
        CLAIMS,
    ),
    Fault(
        "sums and what averages read are scaled by the smaller of their factors",
        CORE,
        "sums = [pair for pair in rows if pair not in averages]",
        "sums, averages = rows, []",
        (f"{AVERAGES}::test_counts_and_sums_are_in_full_where_averages_are_weighed",),
    ),
    Fault(
        "averages take the limit of sums",
        STABILITY,
        "return declared.of_averages if averaged else declared",
        "return declared",
        LIMITS,
    ),
    Fault(
        "an average shares the count of a COUNT that has another limit",
        CELLS,
        "isinstance(cell, RowCount | ClampedSum | ProductSum)",
        "isinstance(cell, ClampedSum | ProductSum)",
        LIMITS,
    ),
    Fault(
        "sums of squares have the limit of averages",
        "dpsql/sql/ir/aggregate_properties.py",
        "        return measure.statistic not in (Statistic.REGR_SXX, Statistic.REGR_SYY, Statistic.REGR_SXY)\n",
        "        return True\n",
        (f"{AVERAGES}::test_sums_of_squares_have_the_limit_of_sums",),
    ),
    Fault(
        "what averages weigh is kept as a count",
        "dpsql/planning/view_matching.py",
        "if cell is not None and not is_averaged(bounded.cell):",
        "if cell is not None:",
        (f"{AVERAGES}::test_what_averages_weigh_is_kept_as_no_count_and_no_sum",),
    ),
    Fault(
        "an average is made of a count that is not weighed and a sum that is",
        "dpsql/session/answer_store/partial_answers.py",
        "        return not whole and not any(is_averaged(each.contribution.cell) for each in cells)\n",
        "        return not whole and bool(cells)\n",
        (f"{AVERAGES}::test_an_average_is_made_of_totals_of_one_weight",),
    ),
    Fault(
        "a tuning may spend its share for each of its questions",
        TUNER,
        "cost = cost_of(parts, middle, norm_of(privacy))",
        "cost = cost_of(parts[:1], middle, norm_of(privacy))",
        COST,
    ),
    Fault(
        "of a tuning each table is charged once",
        PLAN,
        "return sum((each.cost for asked in self.tables for each in counts_of(asked)), FREE)",
        "return sum((counts_of(asked)[0].cost for asked in self.tables), FREE)",
        COST,
    ),
    Fault(
        "each question of a tuning has the whole price",
        PLAN,
        "tree(bounded, norm, neighbours, price, part)",
        "tree(bounded, norm, neighbours, price, Fraction(1))",
        (f"{COUNTS}::test_each_count_has_the_noise_that_is_charged", *COST),
    ),
    Fault(
        "a tuning takes replaced units for ones that come and go",
        PLAN,
        "tree(bounded, norm, neighbours, price, part)",
        'tree(bounded, norm, "add-remove", price, part)',
        MOVED,
    ),
    Fault(
        "counts of a tuning have less noise than a unit moves them",
        PLAN,
        "Frequencies(aggregate.argument, places, None, sizes=True), norm)",
        "Frequencies(aggregate.argument, places, None, sizes=True), norm)\n"
        "        bounded = replace(bounded, limit=bounded.limit // 2)",
        MOVED,
    ),
    Fault(
        "counts of a tuning are released as they are",
        "dpsql/release/tuning_counts.py",
        "noisy = mechanism.node.perturb(counts, _entropy=_entropy)",
        "noisy = counts",
        (f"{COUNTS}::test_every_count_has_noise_of_its_own",),
    ),
    Fault(
        "counts of a tuning without units have no noise",
        "dpsql/release/tuning_counts.py",
        "noisy = mechanism.node.perturb(counts, _entropy=_entropy)",
        "noisy = [each and mechanism.node.perturb([each], _entropy=_entropy)[0] for each in counts]",
        (f"{COUNTS}::test_a_table_without_rows_has_noise_alone", f"{COUNTS}::test_every_count_has_noise_of_its_own"),
    ),
    Fault(
        "a limit is chosen by its noise alone",
        NOISY,
        "return hypot(cut + DOUBT * spread, error_of_one * limits[step])",
        "return error_of_one * limits[step]",
        (f"{LADDERS}::test_counts_and_sums_are_within_a_tenth_though_tails_are_heavy",),
    ),
    Fault(
        "a limit is chosen by what it cuts alone",
        NOISY,
        "return hypot(cut + DOUBT * spread, error_of_one * limits[step])",
        "return cut + DOUBT * spread",
        (f"{LADDERS}::test_a_larger_price_of_statements_takes_a_larger_limit",),
    ),
    Fault(
        "what is cut is that of the units which show",
        NOISY,
        "units = [count if step <= last else more for",
        "units = [count if step <= last else 0.0 * more for",
        (f"{LADDERS}::test_the_limit_has_nearly_the_least_error_and_what_is_beyond_is_said_right",),
    ),
    Fault(
        "an answer says nothing of what limits leave out",
        "dpsql/session/compiler.py",
        "notices=(*whole.notices, *beyond)",
        "notices=whole.notices",
        (f"{BEYOND}::test_what_limits_leave_out_is_said",),
    ),
    Fault(
        "what limits leave out is said of subqueries per unit",
        "dpsql/planning/rows_beyond.py",
        "            case _:\n                pass\n",
        '            case _ if hasattr(source, "child"):\n                yield from _limited_scans(source.child)\n'
        "            case _:\n                pass\n",
        (f"{BEYOND}::test_what_limits_leave_out_is_said",),
    ),
)
