"""Intervals: where they lie, and whose ends are told."""

from __future__ import annotations

from planted.fault import Fault

ENDS, FORMS = "tests/shell/test_ends.py", "tests/privacy/test_forms.py"
COVERAGE = "tests/shell/test_interval_coverage.py::test_intervals_of"
CLIPPING = "tests/session/test_clipping.py"

FAULTS = (
    Fault(
        "Fieller's set without the noise of the denominator",
        "dpsql/forms.py",
        "a, b, c = n * n - nn, t * n - tn, t * t - tt",
        "a, b, c = n * n, t * n - tn, t * t - tt",
        (f"{FORMS}::test_fieller_s_set_holds_the_ratio",),
    ),
    Fault(
        "what two forms share is counted twice",
        "dpsql/forms.py",
        "self.moved.get(cell, 0.0) + other.moved.get(cell, 0.0)",
        "math.hypot(self.moved.get(cell, 0.0), other.moved.get(cell, 0.0))",
        (f"{FORMS}::test_forms_add_what_they_share",),
    ),
    Fault(
        "the ends of an interval are told the other way round",
        "dpsql/query/interval_ends.py",
        '{"dp_interval_low": 0, "dp_interval_high": 1}',
        '{"dp_interval_low": 1, "dp_interval_high": 0}',
        (f"{ENDS}::test_the_ends_are_those_beside_the_result",),
    ),
    Fault(
        "a private part reads the end of an interval",
        "dpsql/query/derived.py",
        "if names_ends(tree):",
        "if names_ends(tree) and not tree:",
        (f"{ENDS}::test_what_has_no_ends_is_refused_with_what_to_write",),
    ),
    Fault(
        "what an answer leaves out is counted though nobody asked",
        "dpsql/session/compiler.py",
        'reports = choices.clipping == "report" and not query.probe',
        "reports = not query.probe",
        ("tests/session/test_clipping.py::test_it_is_never_told_unless_it_is_asked_for",),
    ),
    Fault(
        "what is counted beside an answer is not paid for",
        "dpsql/shares.py",
        "draft.weight / whole * (1 - BESIDE_SHARE if beside else 1)",
        "draft.weight / whole",
        ("tests/session/test_clipping.py::test_the_price_is_what_was_asked_and_a_tenth_of_it_is_beside",),
    ),
    Fault(
        "units above a limit are counted by their rows, once for each",
        "dpsql/query/clipped.py",
        'core = Core(rows, unit, (), (Aggregate("units", None, more), Aggregate("units", None, None)), None)',
        'core = Core(relation, unit, (), (Aggregate("count", None, None), Aggregate("units", None, None)), None)',
        (f"{CLIPPING}::test_units_above_each_limit_are_counted",),
    ),
    Fault(
        "units are held to a limit of another norm than the one that is told",
        "dpsql/query/contribution.py",
        'return rows if norm == "l1" else isqrt(rows)',
        "return rows",
        (f"{CLIPPING}::test_units_above_each_limit_are_counted",),
    ),
    Fault(
        "every table is drawn with the noise of the first draw",
        "dpsql/shell/redrawn.py",
        'same = exp.EQ(this=_quoted("draw"), expression=_quoted("draw", _DRAWS))',
        'same = exp.EQ(this=_quoted("draw"), expression=exp.Literal.number(0))',
        (f"{COVERAGE}_what_several_rows_make_hold",),
    ),
    Fault(
        "the interval of a shown count forgets that only large ones are shown",
        "dpsql/privacy/selection/shown.py",
        "passes = noise.above(threshold - units)",
        "passes = 1.0",
        ("tests/privacy/test_selection.py::test_the_interval_of_a_shown_count_holds_among_shown_groups_of_every_size",),
    ),
    Fault(
        "a shown count has the interval of any count",
        "dpsql/plan.py",
        "return self.selection is not None and self.estimates[place] == Alone(len(self.cells))",
        "return self.selection is None and self.estimates[place] == Alone(len(self.cells))",
        ("tests/session/test_shown_counts.py::test_the_interval_is_that_among_shown_groups",),
    ),
    Fault(
        "nobody is told that a count let its group be shown",
        "dpsql/query/shown.py",
        "return (CAVEAT,)",
        "return ()",
        ("tests/session/test_shown_counts.py::test_the_analyst_is_told_once_and_only_of_such_counts",),
    ),
    Fault(
        "ranks are looked at on draws alone",
        "dpsql/shell/seen.py",
        "    if plan.jumping:",
        "    if not plan.wanted:",
        (f"{COVERAGE}_what_jumps_hold",),
    ),
    Fault(
        "the greatest of twenty is as far off as any one of them",
        "dpsql/shell/extremes.py",
        "1 - 2 * (1 - confidence) / k",
        "1 - 2 * (1 - confidence)",
        ("tests/shell/test_extremes.py::test_each_is_as_far_off_as_its_part_of_what_may_fail_lets_it",),
    ),
    Fault(
        "what is computed of several released numbers rises with them",
        "dpsql/shell/extremes.py",
        "_numbers(item, query, public) == 1",
        "(_numbers(item, query, public) or 0) >= 1",
        ("tests/shell/test_extremes.py::test_only_of_one_released_number_the_ends_are_known",),
    ),
    Fault(
        "the least of equal numbers goes as far as the draws say",
        "dpsql/shell/seen.py",
        "max(high, *reach) if column in plan.least else high",
        "high",
        ("tests/shell/test_extremes.py::test_the_extremes_of_equal_counts_reach_as_far_as_one_of_twenty_may_be_off",),
    ),
    Fault(
        "the greatest of the least is off to one side only",
        "dpsql/shell/extremes.py",
        "inner | {type(item)}",
        "frozenset({type(item)})",
        ("tests/shell/test_extremes.py::test_of_the_greatest_of_the_least_the_ends_are_known_on_both_sides",),
    ),
    Fault(
        "numbers that may be equal are left apart",
        "dpsql/shell/alike.py",
        "APART = 1.25",
        "APART = 0.25",
        ("tests/shell/test_alike.py::test_a_number_is_moved_to_the_mean_of_those_that_may_be_equal",),
    ),
    Fault(
        "the noise of equal numbers is around the released ones",
        "dpsql/shell/draws.py",
        "each + moved",
        "each",
        ("tests/shell/test_alike.py::test_the_same_noise_is_around_the_released_and_around_the_equal_numbers",),
    ),
    Fault(
        "how noise moves the choice among equal numbers is taken the wrong way round",
        "dpsql/shell/seen.py",
        "(middle - seen.equal_high, middle - seen.equal_low)",
        "(seen.equal_low, seen.equal_high)",
        ("tests/shell/test_alike.py::test_an_interval_holds_too_where_those_that_may_be_equal_are",),
    ),
    Fault(
        "what may be equal is never taken to be",
        "dpsql/shell/jumps.py",
        "found[place] = min(point, high[place])",
        "found[place] = low[place]",
        ("tests/shell/test_jumps.py::test_corners_reach_every_rank_that_values_inside_reach",),
    ),
    Fault(
        "a difference of averages whose noise leaves one of them open",
        "dpsql/shell/averages.py",
        "opened = [abs(part.interval[side]) >= part.reach * (1 - CUT) for part in parts]",
        "opened = [False for part in parts]",
        ("tests/shell/test_averages.py",),
    ),
    Fault(
        "averages over the same rows are taken to be independent",
        "dpsql/shell/averages.py",
        "for count in {tuple(each.count.moved.items()): each.count for _, each in averages}.values():",
        "for count in {place: each.count for place, (_, each) in enumerate(averages)}.values():",
        ("tests/shell/test_averages.py",),
    ),
    Fault(
        "what divides may be 0 and the ends are finite all the same",
        "dpsql/shell/computed.py",
        "return {row for (_, row), (low, high) in known.items() if low < 0 < high}",
        "return {row for (_, row), (low, high) in known.items() if low > 0 > high}",
        ("tests/shell/test_interval_coverage.py::test_what_may_be_divided_by_0_has_no_ends",),
    ),
    Fault(
        "ends that are known last are those of the other side",
        "dpsql/shell/redrawn.py",
        "None if interval is None else interval[each.side]",
        "None if interval is None else interval[1 - each.side]",
        (f"{ENDS}::test_what_several_rows_make_has_the_ends_that_stand_beside_it",),
    ),
    Fault(
        "MIN and MAX may miss twice as often to their one side",
        "dpsql/privacy/mechanism/tree.py",
        "tail = min(2 * tail, 0.5)",
        "tail = min(4 * tail, 0.5)",
        (
            "tests/privacy/test_tree.py::test_without_noise_the_end_of_min_and_max_is_as_many_rows_away_as_one_side_asks_for",
        ),
    ),
)
