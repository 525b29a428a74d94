"""Which groups have rows: the evidence, its price, its threshold, and who reads it."""

from __future__ import annotations

from planted.fault import Fault

TESTS = "tests/release/test_presence.py::test"
FROZEN = f"{TESTS}_which_groups_are_released_depends_on_noisy_counts_alone"
SHOWN = f"{TESTS}_groups_are_shown_as_the_setting_says"
PAID = f"{TESTS}_evidence_is_paid_for_within_the_price"
SELDOM = f"{TESTS}_empty_groups_appear_in_one_answer_of_twenty_at_most"

PRESENCE = "dpsql/planning/plan.py"
EMPTY = "dpsql/sql/binder/empty_groups.py"
SHARES = "dpsql/planning/budget_split.py"

VALUES = "tests/planning/estimators/test_present_values.py::test"

BLOCKS = "dpsql/release/block_evidence.py"
SHOWN_GROUPS = "dpsql/release/shown_groups.py"
BLOCK_TESTS = "tests/release/test_block_evidence.py::test"
EMPTY_ANSWER = f"{BLOCK_TESTS}_an_answer_without_any_row_is_empty_in_nineteen_of_twenty"

CUBE_ROWS = "tests/release/test_cube_shown_rows.py::test"
NULLS = "tests/release/test_null_groups.py::test"
HIDDEN = "dpsql/sql/postprocess/hidden_groups.py"
MISSING = "tests/postprocessing/test_missing_groups.py"
HIDDEN_TESTS = "tests/sql/postprocess/test_hidden_groups.py::test"
SAID = f"{HIDDEN_TESTS}_where_it_matters_which_groups_have_rows_an_answer_says_so"
BOTH = f"{HIDDEN_TESTS}_sums_are_of_all_groups_beside_other_aggregates_of_the_shown_ones"
ALL_GROUPS = f"{HIDDEN_TESTS}_numbers_are_made_of_all_groups"

FAULTS = (
    Fault(
        "hidden groups are left out of sums",
        "dpsql/postprocessing/answer.py",
        "_shown_or_complete",
        "number in plan.evident.complete",
        "False",
        (ALL_GROUPS,),
    ),
    Fault(
        "averages are taken for 0 in groups without rows",
        HIDDEN,
        "_reads",
        "(column for column, is_zero in columns.items() if is_zero)",
        "(column for column, is_zero in columns.items())",
        (SAID,),
    ),
    Fault(
        "a frame of so many rows is taken for a running sum",
        HIDDEN,
        "_is_running",
        "not is_cumulative or not added",
        "not added",
        (SAID,),
    ),
    Fault(
        "one row of a calendar meets several hidden groups",
        "dpsql/sql/postprocess/joined_groups.py",
        "is_added",
        "not single and not summed",
        "not matched",
        (SAID,),
    ),
    Fault(
        "hidden groups show in running sums",
        HIDDEN,
        "_is_running",
        'select.set("qualify", exp.Qualify(this=carried(PRESENT, 0, rows.way)))',
        "pass",
        (f"{HIDDEN_TESTS}_without_noise_all_are_as_in_sql",),
    ),
    Fault(
        "what is made of shown groups alone has an interval",
        "dpsql/postprocessing/answer.py",
        "PostProcessor.run",
        "at[1] not in open_columns",
        "True",
        (SAID,),
    ),
    Fault(
        "each level of blocks has the whole chance",
        SHOWN_GROUPS,
        "block_tails",
        "chance / 2 / len(blocks)",
        "chance / 2",
        (EMPTY_ANSWER, f"{BLOCK_TESTS}_the_chance_is_split_over_all_blocks"),
    ),
    Fault(
        "the sum of a block has the noise of one group",
        SHOWN_GROUPS,
        "core_evidence.block_noise",
        "NoiseTerm(noise, Fraction(1), draws)",
        "NoiseTerm(noise, Fraction(1), 1)",
        (f"{BLOCK_TESTS}_statements_show_the_groups_that_sql_shows",),
    ),
    Fault(
        "a block is present although single groups explain it",
        BLOCKS,
        "RunEvidence.evident",
        "present & (rests > level.reach)",
        "present",
        (f"{BLOCK_TESTS}_a_peak_of_one_day_is_shown_alone",),
    ),
    Fault(
        "a half without rows is shown with the other",
        BLOCKS,
        "RunEvidence.visible_groups",
        "above & ~self.evident[number] & alike",
        "above & ~self.evident[number]",
        (f"{BLOCK_TESTS}_days_that_no_single_count_tells_from_noise_are_all_shown",),
    ),
    Fault(
        "a slack is that of the presence of blocks alone",
        BLOCKS,
        "RunEvidence._limits",
        "yield np.ceil(rests - reach)",
        "pass",
        (f"{BLOCK_TESTS}_the_slack_of_a_group_is_the_loss_that_hides_it",),
    ),
    Fault(
        "the interval of a count knows nothing of its being shown for its noise",
        "dpsql/release/released_tables.py",
        "ReleasedTable.with_lower_ends",
        "presence is None or not ends",
        "presence is None or ends",
        (f"{BLOCK_TESTS}_a_count_that_its_noise_has_shown_has_an_interval_down_to_zero",),
    ),
    Fault(
        "the threshold of one value is used for all that a text may have",
        "dpsql/planning/estimators/histogram.py",
        "least_present",
        "unreached_noise(histogram.mechanism.node, values, ABSENT_SHOWN)",
        "unreached_noise(histogram.mechanism.node, 1, ABSENT_SHOWN)",
        (f"{VALUES}_a_value_that_no_row_has_is_seldom_shown",),
    ),
    Fault(
        "the threshold of one group is used for all",
        PRESENCE,
        "GroupPresence.threshold",
        "max(candidates, 1)",
        "1",
        (SELDOM,),
    ),
    Fault(
        "exact counts decide which groups are released",
        "dpsql/release/noise_addition.py",
        "_release_core",
        "noisy[plan.presence.cell]",
        "_integers(rows, width + plan.presence.cell)",
        (FROZEN,),
    ),
    Fault(
        "groups without an exact row are never released",
        "dpsql/release/noise_addition.py",
        "_release_core",
        "rows = [rows[index] for index in places]",
        "places = tuple(each for each in places if any(rows[each][width:]))\n"
        "rows = [rows[index] for index in places]",
        (FROZEN,),
    ),
    Fault(
        "evidence has the noise of a cell of its own price and is not paid for",
        SHARES,
        "_CoreDraft.weight",
        "self.choice.bought",
        "self.choice.bought - self.choice.evidence * self.choice.weights[-1]",
        (PAID,),
    ),
    Fault(
        "each core of a statement may be wrong in one answer of twenty",
        SHARES,
        "_presence",
        "APPEARS / among",
        "APPEARS",
        (f"{TESTS}_all_evidence_of_an_answer_together_is_wrong_in_one_of_twenty_at_most",),
    ),
    Fault(
        "a count of values is taken for evidence of rows",
        "dpsql/planning/cell_choice.py",
        "_Chooser.choice",
        "cell in evidence_cells",
        "isinstance(cell, RowCount | UnitCount)",
        (f"{TESTS}_all_evidence_of_an_answer_together_is_wrong_in_one_of_twenty_at_most",),
    ),
    Fault(
        "one row is never enough to be seen",
        PRESENCE,
        "GroupPresence.threshold",
        "unreached_noise(self.noise, max(candidates, 1), self.chance / 2 if self.blocks else "
        "self.chance)",
        "4096 * unreached_noise(self.noise, max(candidates, 1), self.chance / 2 if "
        "self.blocks else self.chance)",
        (f"{TESTS}_where_noise_vanishes_one_row_is_enough",),
    ),
    Fault(
        "a window over groups counts as passing rows on",
        EMPTY,
        "_keeps_rows",
        "not any(window.find_ancestor(exp.Query) is select for window in "
        "select.find_all(exp.Window))",
        "True",
        (SHOWN,),
    ),
    Fault(
        "a join of groups counts as passing rows on",
        EMPTY,
        "_keeps_rows",
        'is_grouped(select) or select.args.get("joins")',
        "is_grouped(select)",
        (SHOWN,),
    ),
    Fault(
        "a later stage reads groups without rows",
        EMPTY,
        "passed_on",
        "frozenset(table.name for table in tables) - others - read_again",
        "frozenset(table.name for table in tables) - others",
        (SHOWN,),
    ),
    Fault(
        "one listed key is enough for a combination to be shown",
        EMPTY,
        "evident.needs_evidence",
        "all(domain.declared)",
        "any(domain.declared)",
        (SHOWN,),
    ),
    Fault(
        "values between bounds count as listed",
        "dpsql/sql/analysis/key_domain/domain.py",
        "is_listed",
        "not key.public and (key.domain is not None or truth)",
        "not key.public",
        (SHOWN,),
    ),
    Fault(
        "a total is absent though a part of it is present",
        "dpsql/release/grouping_sets/released_table.py",
        "present_groups",
        "set(keys) < set(finer)",
        "set(finer) < set(keys)",
        (SHOWN,),
    ),
    Fault(
        "a release without its absent groups is given for one with them",
        "dpsql/session/answer_store/serialization.py",
        "_as_released",
        "core if core.presence is not None and core.presence.released else replace(core, "
        "presence=None)",
        "replace(core, presence=None)",
        (f"{TESTS}_a_release_without_absent_groups_is_not_taken_for_one_with_them",),
    ),
    Fault(
        "a nullable column lists NULL",
        "dpsql/sql/analysis/key_domain/domain.py",
        "_may_be_an_unlisted_null",
        "domain_values.narrow(key).nullable and not key.null_group",
        "False",
        (f"{NULLS}_null_is_shown_by_evidence_and_values_always",),
    ),
    Fault(
        "NULL needs evidence that the owner lists",
        "dpsql/sql/analysis/key_domain/domain.py",
        "_may_be_an_unlisted_null",
        "domain_values.narrow(key).nullable and not key.null_group",
        "domain_values.narrow(key).nullable",
        (f"{NULLS}_null_is_shown_by_evidence_and_values_always",),
    ),
    Fault(
        "small groups go with the NULL group that has no rows",
        "dpsql/release/released_tables.py",
        "ReleasedTable.without_null",
        "if nulls is None:\n    return frozenset()",
        "return frozenset()",
        (f"{NULLS}_values_are_shown_however_few_rows_they_have",),
    ),
    Fault(
        "totals over NULL are shown without evidence",
        "dpsql/release/grouping_sets/released_table.py",
        "_needs_evidence",
        "nulls is None or any(keys[null] is None for null in nulls)",
        "nulls is None",
        (f"{NULLS}_totals_are_by_evidence_of_their_nulls",),
    ),
    Fault(
        "a free list of keys has NULL",
        "dpsql/sql/binder/free_answers.py",
        "listed_keys",
        "[index for index, may_be_null in enumerate(core.domain.nulls) if may_be_null]",
        "[index for index, may_be_null in enumerate(core.domain.nulls) if index < 0]",
        (f"{NULLS}_a_free_list_of_keys_has_no_null_and_says_so",),
    ),
    Fault(
        "totals of large groups alone have intervals",
        HIDDEN,
        "with_hidden_groups",
        'partial |= {scan for scan in scans if _is_thresholded(cores[scan]) and f"core{scan}" not '
        "in plain}",
        "pass",
        (f"{MISSING}::test_what_is_made_of_several_groups_has_no_interval",),
    ),
    Fault(
        "a threshold leaves nothing open",
        "dpsql/release/hidden_groups.py",
        "open_groups",
        "selection is not None and selection.units_needed() > 1",
        "selection is None",
        (f"{MISSING}::test_what_is_made_of_several_groups_has_no_interval",),
    ),
    Fault(
        "what is computed of one group loses its interval beside a total",
        "dpsql/postprocessing/answer.py",
        "PostProcessor._describe",
        "not columns[index].computed",
        "True",
        (f"{MISSING}::test_what_is_made_of_one_group_has_its_interval",),
    ),
    Fault(
        "what nothing bounds is added up over large groups without a word",
        "dpsql/sql/binder/sources/private_groups.py",
        "over_groups",
        "cut is None and unbounded",
        "cut is not None and unbounded",
        (f"{MISSING}::test_of_what_nothing_bounds_the_notice_tells_what_is_asked_of_all_groups",),
    ),
    Fault(
        "means beside sums are of all groups, those without rows included",
        HIDDEN,
        "_summed",
        "_read_shown_rows(aggregate, is_shown)",
        "pass",
        (BOTH,),
    ),
    Fault(
        "sums beside means have no interval",
        "dpsql/postprocessing/intervals/lineage.py",
        "columns_of_shown_groups",
        "column.dependence is Dependence.CHOSEN",
        "True",
        (BOTH,),
    ),
    Fault(
        "means of shown groups have an interval beside sums",
        "dpsql/postprocessing/intervals/lineage.py",
        "columns_of_shown_groups",
        "name in shown_alone or column == PRESENT",
        "name in shown_alone",
        (BOTH,),
    ),
    Fault(
        "a sum of a spine's own numbers counts groups that are not shown",
        "dpsql/sql/postprocess/joined_groups.py",
        "is_added",
        "rows.is_zero(aggregate.this)",
        "True",
        (f"{SAID}[a sum that days multiply]",),
    ),
    Fault(
        "groups that are not shown are joined by their noise",
        "dpsql/sql/postprocess/joined_groups.py",
        "is_added",
        "not rows.is_public(condition)",
        "False",
        (f"{SAID}[a number that is joined by]",),
    ),
    Fault(
        "a row of a ROLLUP that its noise has shown has an ordinary interval",
        "dpsql/release/grouping_sets/released_table.py",
        "CubeTable._lower_halves",
        "halves[cell] = max(halves[cell], group.cells[cell])",
        "pass",
        (f"{CUBE_ROWS}_the_interval_of_a_row_that_its_noise_has_shown_holds_its_count",),
    ),
    Fault(
        "a row of a ROLLUP that noise has hardly shown is there for certain",
        "dpsql/release/grouping_sets/released_table.py",
        "present_groups",
        "with_evidence - near",
        "with_evidence",
        (f"{CUBE_ROWS}_the_interval_of_a_row_that_its_noise_has_shown_holds_its_count",),
    ),
    Fault(
        "each row of a ROLLUP reaches down to 0",
        "dpsql/release/grouping_sets/released_table.py",
        "CubeTable._lower_halves",
        "not group.near or self._evidence < 0",
        "self._evidence < 0",
        (f"{CUBE_ROWS}_rows_that_are_there_for_certain_have_their_ordinary_interval",),
    ),
)
