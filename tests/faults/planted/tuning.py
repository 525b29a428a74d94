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
TUNING, SCANS = "tests/planning/test_tuning_plan.py", "tests/release/test_tuning_scans.py"
COST = (f"{TUNING}::test_it_costs_the_sum_of_its_mechanisms_and_no_more_than_its_share",)
QUERIES = (f"{TUNING}::test_a_unit_moves_each_query_by_at_most_one_and_all_one_way_where_it_comes",)
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
        "a tuning may spend its share for each of its mechanisms",
        TUNER,
        "cost = cost_of(many, middle)\n",
        "cost = cost_of(1, middle)\n",
        COST,
    ),
    Fault(
        "the count of units of a tuning is not charged",
        PLAN,
        "return sum([*scans, *(self.count.cost for asked in self.tables if asked.counts_units)], FREE)",
        "return sum(scans, FREE)",
        COST,
    ),
    Fault(
        "of a tuning each table is charged once",
        PLAN,
        "scans = [scan.cost for asked in self.tables for scan in scans_of(asked)]",
        "scans = [scans_of(asked)[0].cost for asked in self.tables]",
        COST,
    ),
    Fault(
        "a tuning takes replaced units for monotone ones",
        PLAN,
        'False, neighbours == "add-remove")',
        "False, True)",
        QUERIES,
    ),
    Fault(
        "a scan has less noise than a unit moves its queries",
        PLAN,
        "ClippingBoundSearch(len(places), bounded.limit, each,",
        "ClippingBoundSearch(len(places), bounded.limit // 2, each,",
        QUERIES,
    ),
    Fault(
        "the number of units is read without noise",
        "dpsql/release/tuning_scans.py",
        "(units,) = plan.count.perturb([sum(counts[place].values()) // fine], _entropy=entropy)",
        "units = sum(counts[place].values()) // fine",
        (f"{SCANS}::test_the_number_of_units_is_read_with_noise",),
    ),
    Fault(
        "a rung is read off exact counts",
        "dpsql/release/tuning_scans.py",
        "place = scan.each.draw(_negated_counts_above(counts, scan.sizes), -left, _entropy=entropy)",
        "place = next((at for at, n in enumerate(_negated_counts_above(counts, scan.sizes)) if n >= -left), None)",
        (f"{SCANS}::test_rungs_are_drawn_with_noise",),
    ),
)
