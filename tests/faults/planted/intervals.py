"""Intervals: where they lie, and whose ends are told."""

from __future__ import annotations

from planted.fault import Fault

ROOM = "tests/postprocessing/intervals"
ENDS, FORMS = f"{ROOM}/test_end_columns.py", "tests/planning/estimators/test_forms.py"
COVERAGE = f"{ROOM}/test_interval_coverage.py::test_intervals_of"
CLIPPING = "tests/release/test_clipping.py"
GIVEN = "tests/session/test_given.py"

FAULTS = (
    Fault(
        "numbers that are made of released rows have intervals of their own noise",
        "dpsql/postprocessing/intervals/result_intervals.py",
        "            if noise_known(table.shape) is KnownNoise.NOTHING:",
        "            if noise_known(table.shape) is KnownNoise.DRAWS:",
        (f"{GIVEN}::test_numbers_made_of_released_rows_have_no_interval_and_it_is_said",),
    ),
    Fault(
        "what is computed of numbers that are made of released rows has an interval",
        "dpsql/postprocessing/intervals/exact_forms.py",
        "        found.append(min(aggregate.function.known_noise, most, before))",
        "        found.append(min(aggregate.function.known_noise, most))",
        (f"{GIVEN}::test_numbers_made_of_released_rows_have_no_interval_and_it_is_said",),
    ),
    Fault(
        "groups that released rows leave out are shown with 0 and an interval",
        "dpsql/sql/analysis/released_rows.py",
        "    if not _shows_chosen_groups_alone(core) or _reads_noise(",
        "    if _reads_noise(",
        (f"{GIVEN}::test_numbers_made_of_released_rows_have_no_interval_and_it_is_said",),
    ),
    Fault(
        "released numbers that are added up leave sums their interval",
        "dpsql/sql/analysis/released_rows.py",
        "    return core if any(each.relation in dropped for part in expressions for each in columns(part)) else found",
        "    return found",
        (f"{GIVEN}::test_numbers_made_of_released_rows_have_no_interval_and_it_is_said",),
    ),
    Fault(
        "totals of a cube count groups that noise chose",
        "dpsql/sql/analysis/grouping_levels.py",
        "    return replace(cube, known=min(map(known_after, measured)))",
        "    return replace(cube, known=max(map(known_after, measured)))",
        (f"{GIVEN}::test_numbers_made_of_released_rows_have_no_interval_and_it_is_said",),
    ),
    Fault(
        "what is made of groups that noise chose is drawn on samples",
        "dpsql/sql/analysis/released_rows.py",
        "    return KnownNoise.ENDS",
        "    return KnownNoise.FORM",
        (f"{GIVEN}::test_what_is_made_of_groups_that_noise_chose_has_none",),
    ),
    Fault(
        "columns lose their intervals silently where many rows are behind them",
        "dpsql/postprocessing/intervals/result_intervals.py",
        " behind > MOST_RESAMPLED_ROWS:",
        " behind > 2 * MOST_RESAMPLED_ROWS:",
        (
            f"{ROOM}/test_missing_intervals.py::test_beyond_it_the_columns_are_named_and_those_of_single_rows_keep_theirs",
        ),
    ),
    Fault(
        "noise of few steps adds up as noise of many does",
        "dpsql/planning/estimators/estimate.py",
        ".half_width(confidence) >= MANY_STEPS for",
        ".half_width(confidence) >= 0 for",
        (f"{ROOM}/test_coarse_sums.py::test_the_interval_of_a_sum_of_counts_is_that_of_its_law",),
    ),
    Fault(
        "what several rows make with MAX or a mode knows nothing of its noise",
        "dpsql/postprocessing/intervals/result_intervals.py",
        "for place in drawn_again(shape)}",
        "for place in range(len(shape.aggregates))}",
        (f"{ROOM}/test_last_dates.py::test_what_else_is_made_of_them_has_no_interval",),
    ),
    Fault(
        "MIN and MAX are resampled, though their intervals end at a bound that no sample reaches",
        "dpsql/postprocessing/intervals/exact_forms.py",
        "(ranks.listed or ranks.edge or",
        "(ranks.listed or",
        (f"{ROOM}/test_last_dates.py::test_what_else_is_made_of_them_has_no_interval",),
    ),
    Fault(
        "rows that noise chooses are added up as if they were all there",
        "dpsql/postprocessing/intervals/dependence.py",
        'for part in ("where", "having", "qualify")]',
        'for part in ("having",)]',
        (f"{ROOM}/test_dependence.py::test_what_noise_chooses_is_seen_in_the_text",),
    ),
    Fault(
        "what is not known to be smooth is taken to be",
        "dpsql/postprocessing/intervals/dependence.py",
        "        case _ if not isinstance(node, _SMOOTH):\n            return True",
        "        case _ if not isinstance(node, _SMOOTH):\n            return False",
        (f"{ROOM}/test_dependence.py::test_what_noise_chooses_is_seen_in_the_text",),
    ),
    Fault(
        "nobody is told that noise chooses what a column shows",
        "dpsql/postprocessing/intervals/result_intervals.py",
        "    if resampling.without:",
        "    if not plan.columns:",
        (f"{ROOM}/test_missing_intervals.py::test_what_noise_chooses_is_said_to_have_none",),
    ),
    Fault(
        "what is made of deviations of few rows is resampled, where draws pile up at 0",
        "dpsql/sql/ir/aggregate.py",
        "        known_noise=KnownNoise.ENDS, per_unit=form,",
        "        known_noise=KnownNoise.DRAWS, per_unit=form,",
        (f"{ROOM}/test_interval_coverage.py::test_what_else_is_made_of_deviations_has_none",),
    ),
    Fault(
        "a function that falls and rises is read at the ends of an interval alone",
        "dpsql/postprocessing/intervals/exact_forms.py",
        "_MONOTONE = (exp.Paren, ",
        "_MONOTONE = (exp.Abs, exp.Paren, ",
        (f"{ROOM}/test_lineage.py::test_intervals_are_where_one_released_row_is_behind_a_cell",),
    ),
    Fault(
        "a function without a value at one end of an interval has the other for both",
        "dpsql/postprocessing/intervals/exact_forms.py",
        "if known == 2 else EVERYTHING",
        "if known else EVERYTHING",
        (f"{ROOM}/test_not_resampled.py::test_where_a_function_has_no_value_at_an_end_nothing_is_known",),
    ),
    Fault(
        "dates are drawn as numbers, on which the statement fails",
        "dpsql/postprocessing/intervals/exact_forms.py",
        """ranks.edge or is_date(column_types(shape)[f"a{place}"]))""",
        "ranks.edge)",
        (f"{ROOM}/test_date_intervals.py::test_numbers_made_of_dates_have_none_and_a_notice_says_so",),
    ),
    Fault(
        "the ends of dates are those of numbers",
        "dpsql/postprocessing/intervals/result_intervals.py",
        "if not is_date(sql_type):",
        "if True:",
        (f"{ROOM}/test_date_intervals.py::test_a_date_has_an_interval_of_dates",),
    ),
    Fault(
        "Fieller's set without the noise of the denominator",
        "dpsql/planning/estimators/linear_forms.py",
        "return n * n - nn, t * n - tn, t * t - tt",
        "return n * n, t * n - tn, t * t - tt",
        (f"{FORMS}::test_fieller_s_set_holds_the_ratio",),
    ),
    Fault(
        "what two forms share is counted twice",
        "dpsql/planning/estimators/linear_forms.py",
        "self.moved.get(cell, 0.0) + other.moved.get(cell, 0.0)",
        "math.hypot(self.moved.get(cell, 0.0), other.moved.get(cell, 0.0))",
        (f"{FORMS}::test_forms_add_what_they_share",),
    ),
    Fault(
        "the ends of an interval are told the other way round",
        "dpsql/sql/postprocess/functions.py",
        '{"dp_interval_low": 0, "dp_interval_high": 1}',
        '{"dp_interval_low": 1, "dp_interval_high": 0}',
        (f"{ENDS}::test_the_ends_are_those_beside_the_result",),
    ),
    Fault(
        "a private part reads the end of an interval",
        "dpsql/sql/binder/sources/derived_tables.py",
        "if reads_interval_ends(tree):",
        "if reads_interval_ends(tree) and not tree:",
        (f"{ENDS}::test_what_has_no_ends_is_refused_with_what_to_write",),
    ),
    Fault(
        "what an answer leaves out is counted though nobody asked",
        "dpsql/session/compiler.py",
        'reports = settings.clipping == "report" and not query.probe',
        "reports = not query.probe",
        ("tests/release/test_clipping.py::test_it_is_never_told_unless_it_is_asked_for",),
    ),
    Fault(
        "what is counted beside an answer is not paid for",
        "dpsql/planning/budget_split.py",
        "draft.weight / whole * (1 - BESIDE_SHARE if beside else 1)",
        "draft.weight / whole",
        ("tests/release/test_clipping.py::test_the_price_is_what_was_asked_and_a_tenth_of_it_is_beside",),
    ),
    Fault(
        "units above a limit are counted by their rows, once for each",
        "dpsql/sql/binder/aggregates/clipping_report.py",
        "core = Core(rows, unit, (), (Aggregate(UNITS, None, more), Aggregate(UNITS, None, None)), None)",
        "core = Core(relation, unit, (), (Aggregate(COUNT, None, None), Aggregate(UNITS, None, None)), None)",
        (f"{CLIPPING}::test_units_above_each_limit_are_counted",),
    ),
    Fault(
        "units are held to a limit of another norm than the one that is told",
        "dpsql/sql/analysis/contribution.py",
        'return rows if norm == "l1" else isqrt(rows)',
        "return rows",
        (f"{CLIPPING}::test_units_above_each_limit_are_counted",),
    ),
    Fault(
        "every sample of a table has the noise of the first",
        "dpsql/postprocessing/intervals/resampling.py",
        '''s."sample" = "{_SAMPLES}"."sample"''',
        's."sample" = 0',
        (f"{COVERAGE}_what_several_rows_make_hold",),
    ),
    Fault(
        "the interval of a shown count forgets that only large ones are shown",
        "dpsql/privacy/partition_selection.py",
        "passes = noise.above(threshold - units)",
        "passes = 1.0",
        (
            "tests/privacy/test_partition_selection.py::test_the_interval_of_a_shown_count_holds_among_shown_groups_of_every_size",
        ),
    ),
    Fault(
        "a shown count has the interval of any count",
        "dpsql/planning/plan.py",
        "return self.selection is not None and self.estimates[place] == SingleCell(len(self.cells))",
        "return self.selection is None and self.estimates[place] == SingleCell(len(self.cells))",
        ("tests/release/test_shown_counts.py::test_the_interval_is_that_among_shown_groups",),
    ),
    Fault(
        "nobody is told that a count let its group be shown",
        "dpsql/sql/analysis/key_domain/domain.py",
        "return (CAVEAT,)",
        "return ()",
        ("tests/release/test_shown_counts.py::test_the_analyst_is_told_once_and_only_of_such_counts",),
    ),
    Fault(
        "what divides may be 0 and the ends are finite all the same",
        "dpsql/postprocessing/intervals/result_intervals.py",
        "(ends[0] >= 0 or ends[1] <= 0)",
        "ends[0] <= ends[1]",
        (f"{ROOM}/test_interval_coverage.py::test_what_may_be_divided_by_0_has_no_ends",),
    ),
    Fault(
        "MIN and MAX may miss twice as often to their one side",
        "dpsql/privacy/mechanism/tree.py",
        "tail = min(2 * tail, 0.5)",
        "tail = min(4 * tail, 0.5)",
        (
            "tests/privacy/mechanism/test_tree.py::test_without_noise_the_end_of_min_and_max_is_as_many_rows_away_as_one_side_asks_for",
        ),
    ),
)
