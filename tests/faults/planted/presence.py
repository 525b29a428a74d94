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

FAULTS = (
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
        "unreached_noise(self.noise, max(candidates, 1), self.chance)",
        "unreached_noise(self.noise, 1, self.chance)",
        (SELDOM,),
    ),
    Fault(
        "exact counts decide which groups are released",
        "dpsql/release/noise_addition.py",
        "absent = plan.presence.absent(noisy[plan.presence.cell], len(rows))",
        "absent = plan.presence.absent(_integers(rows, width + plan.presence.cell), len(rows))",
        (FROZEN,),
    ),
    Fault(
        "groups without an exact row are never released",
        "dpsql/release/noise_addition.py",
        "if place not in absent]\n        rows = [rows[place]",
        "if place not in absent and any(rows[place][width:])]\n        rows = [rows[place]",
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
        "APPEARS / among, released)",
        "APPEARS, released)",
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
)
