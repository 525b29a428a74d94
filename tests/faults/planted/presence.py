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

NULLS = "tests/release/test_null_groups.py::test"
HIDDEN = "dpsql/sql/postprocess/hidden_groups.py"
HIDDEN_TESTS = "tests/postprocessing/test_hidden_groups.py::test"
SAID = f"{HIDDEN_TESTS}_where_it_matters_which_groups_have_rows_an_answer_says_so"
ALL_GROUPS = f"{HIDDEN_TESTS}_numbers_are_made_of_all_groups"

FAULTS = (
    Fault(
        "hidden groups are left out of sums",
        "dpsql/postprocessing/answer.py",
        "if number in plan.evident.complete else None",
        "if False else None",
        (ALL_GROUPS,),
    ),
    Fault(
        "averages are taken for 0 in groups without rows",
        HIDDEN,
        "is_zero in columns.items() if is_zero)",
        "is_zero in columns.items())",
        (SAID,),
    ),
    Fault(
        "a frame of so many rows is taken for a running sum",
        HIDDEN,
        "        if not whole or not added",
        "        if not added",
        (SAID,),
    ),
    Fault(
        "one row of a calendar meets several hidden groups",
        HIDDEN,
        "    if not single and not summed:",
        "    if not matched:",
        (SAID,),
    ),
    Fault(
        "hidden groups show in running sums",
        HIDDEN,
        '    select.set("qualify", exp.Qualify(this=carried(PRESENT, 0, rows.way)))\n',
        "",
        (f"{HIDDEN_TESTS}_without_noise_all_are_as_in_sql",),
    ),
    Fault(
        "what is made of shown groups alone has an interval",
        "dpsql/postprocessing/answer.py",
        "if plan.resampling is not None and told:",
        "if plan.resampling is not None:",
        (SAID,),
    ),
    Fault(
        "each level of blocks has the whole chance",
        SHOWN_GROUPS,
        "[chance / 2 / len(blocks) / count for count in blocks]",
        "[chance / 2 / count for count in blocks]",
        (EMPTY_ANSWER, f"{BLOCK_TESTS}_the_chance_is_split_over_all_blocks"),
    ),
    Fault(
        "the sum of a block has the noise of one group",
        SHOWN_GROUPS,
        "NoiseTerm(noise, Fraction(1), draws)",
        "NoiseTerm(noise, Fraction(1), 1)",
        (f"{BLOCK_TESTS}_statements_show_the_groups_that_sql_shows",),
    ),
    Fault(
        "a block is present although single groups explain it",
        BLOCKS,
        "present & (rests > level.reach)",
        "present",
        (f"{BLOCK_TESTS}_a_peak_of_one_day_is_shown_alone",),
    ),
    Fault(
        "a half without rows is shown with the other",
        BLOCKS,
        "above & ~self.evident[number] & alike",
        "above & ~self.evident[number]",
        (f"{BLOCK_TESTS}_days_that_no_single_count_tells_from_noise_are_all_shown",),
    ),
    Fault(
        "a slack is that of the presence of blocks alone",
        BLOCKS,
        "            yield np.ceil(rests - reach)\n",
        "",
        (f"{BLOCK_TESTS}_the_slack_of_a_group_is_the_loss_that_hides_it",),
    ),
    Fault(
        "the interval of a count knows nothing of its being shown for its noise",
        "dpsql/release/released_tables.py",
        "if presence is None or not ends:",
        "if presence is None or ends:",
        (f"{BLOCK_TESTS}_a_count_that_its_noise_has_shown_has_an_interval_down_to_zero",),
    ),
    Fault(
        "the threshold of one value is used for all that a text may have",
        "dpsql/planning/estimators/histogram.py",
        "unreached_noise(histogram.mechanism.node, values, ABSENT_SHOWN)",
        "unreached_noise(histogram.mechanism.node, 1, ABSENT_SHOWN)",
        (f"{VALUES}_a_value_that_no_row_has_is_seldom_shown",),
    ),
    Fault(
        "the threshold of one group is used for all",
        PRESENCE,
        "unreached_noise(self.noise, max(candidates, 1), ",
        "unreached_noise(self.noise, 1, ",
        (SELDOM,),
    ),
    Fault(
        "exact counts decide which groups are released",
        "dpsql/release/noise_addition.py",
        "core_evidence(plan, candidates, noisy[plan.presence.cell], confidence)",
        "core_evidence(plan, candidates, _integers(rows, width + plan.presence.cell), confidence)",
        (FROZEN,),
    ),
    Fault(
        "groups without an exact row are never released",
        "dpsql/release/noise_addition.py",
        "        rows = [rows[place] for place in places]\n        noisy",
        "        places = tuple(each for each in places if any(rows[each][width:]))\n"
        "        rows = [rows[place] for place in places]\n        noisy",
        (FROZEN,),
    ),
    Fault(
        "evidence has the noise of a cell of its own price and is not paid for",
        SHARES,
        "        return self.choice.bought + self.selection_weight",
        "        return self.choice.bought - self.choice.evidence * self.choice.weights[-1] + self.selection_weight",
        (PAID,),
    ),
    Fault(
        "each core of a statement may be wrong in one answer of twenty",
        SHARES,
        "APPEARS / among, released,",
        "APPEARS, released,",
        (f"{TESTS}_all_evidence_of_an_answer_together_is_wrong_in_one_of_twenty_at_most",),
    ),
    Fault(
        "a count of values is taken for evidence of rows",
        "dpsql/planning/cell_choice.py",
        "not any(each in wanted for each in cells)",
        "not any(isinstance(each, RowCount | UnitCount) for each in cells)",
        (f"{TESTS}_all_evidence_of_an_answer_together_is_wrong_in_one_of_twenty_at_most",),
    ),
    Fault(
        "one row is never enough to be seen",
        PRESENCE,
        "return unreached_noise(self.noise,",
        "return 4096 * unreached_noise(self.noise,",
        (f"{TESTS}_where_noise_vanishes_one_row_is_enough",),
    ),
    Fault(
        "a window over groups counts as passing rows on",
        EMPTY,
        "    return not any(window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window))",
        "    return True",
        (SHOWN,),
    ),
    Fault(
        "a join of groups counts as passing rows on",
        EMPTY,
        'if is_grouped(select) or select.args.get("joins") or',
        "if is_grouped(select) or",
        (SHOWN,),
    ),
    Fault(
        "a later stage reads groups without rows",
        EMPTY,
        "for table in tables) - others - read_again",
        "for table in tables) - others",
        (SHOWN,),
    ),
    Fault(
        "one listed key is enough for a combination to be shown",
        EMPTY,
        'choice == "hide" or not all(domain.declared) or table',
        'choice == "hide" or not any(domain.declared) or table',
        (SHOWN,),
    ),
    Fault(
        "values between bounds count as listed",
        "dpsql/sql/analysis/key_domain/domain.py",
        "    return not key.public and (key.domain is not None or truth)",
        "    return not key.public",
        (SHOWN,),
    ),
    Fault(
        "a total is absent though a part of it is present",
        "dpsql/release/grouping_sets/released_table.py",
        "if keys in evident and set(keys) < set(finer)]",
        "if keys in evident and set(finer) < set(keys)]",
        (SHOWN,),
    ),
    Fault(
        "a release without its absent groups is given for one with them",
        "dpsql/session/answer_store/serialization.py",
        "    return core if core.presence is not None and core.presence.released else replace(core, presence=None)",
        "    return replace(core, presence=None)",
        (f"{TESTS}_a_release_without_absent_groups_is_not_taken_for_one_with_them",),
    ),
    Fault(
        "a nullable column lists NULL",
        "dpsql/sql/analysis/key_domain/domain.py",
        "return found.narrow(key).nullable and not key.null_group",
        "return False",
        (f"{NULLS}_null_is_shown_by_evidence_and_values_always",),
    ),
    Fault(
        "NULL needs evidence that the owner lists",
        "dpsql/sql/analysis/key_domain/domain.py",
        "return found.narrow(key).nullable and not key.null_group",
        "return found.narrow(key).nullable",
        (f"{NULLS}_null_is_shown_by_evidence_and_values_always",),
    ),
    Fault(
        "small groups go with the NULL group that has no rows",
        "dpsql/release/released_tables.py",
        "        if nulls is None:\n            return frozenset()\n",
        "        return frozenset()\n",
        (f"{NULLS}_values_are_shown_however_few_rows_they_have",),
    ),
    Fault(
        "totals over NULL are shown without evidence",
        "dpsql/release/grouping_sets/released_table.py",
        "    return nulls is None or any(keys[place] is None for place in nulls)\n",
        "    return nulls is None\n",
        (f"{NULLS}_totals_are_by_evidence_of_their_nulls",),
    ),
    Fault(
        "a free list of keys has NULL",
        "dpsql/sql/binder/free_answers.py",
        "for place, may_be_null in enumerate(core.domain.nulls) if may_be_null]",
        "for place, may_be_null in enumerate(core.domain.nulls) if place < 0]",
        (f"{NULLS}_a_free_list_of_keys_has_no_null_and_says_so",),
    ),
)
