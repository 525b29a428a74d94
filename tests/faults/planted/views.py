"""Faults of answers that are made of earlier answers."""

from __future__ import annotations

from planted.fault import Fault

VIEWS = "tests/session/answer_store/test_views.py"
TOLD, NOT_TOLD = f"{VIEWS}::test_what_earlier_answers_tell_is_free", f"{VIEWS}::test_what_they_do_not_tell_is_bought"

PARTS = "tests/session/answer_store/test_partial_answers.py"

FAULTS = (
    Fault(
        "a total of groups does not say which rows are in none",
        "dpsql/session/answer_store/view_estimates.py",
        "                self.left_out |= matched.left_out\n",
        "",
        ("tests/session/answer_store/test_totals_beyond_bounds.py",),
    ),
    Fault(
        "an answer drifts as others are bought",
        "dpsql/session/answer_store/store.py",
        "sources = None if version is None else self._given.find(answer_key(plan, version)).sources",
        "sources = None",
        ("tests/session/answer_store/test_given_answers.py::test_what_was_given_stays_as_others_are_bought",),
    ),
    Fault(
        "what was bought with an answer is combined with what else tells it",
        "dpsql/session/answer_store/partial_answers.py",
        "CellSources(False, (rest,))",
        "CellSources(True, (rest,))",
        ("tests/session/answer_store/test_given_answers.py::test_what_was_given_stays_as_others_are_bought",),
    ),
    Fault(
        "two processes give a statement two answers",
        "dpsql/session/answer_store/given_answers.py",
        "return sources if kept is None else _read(kept)",
        "return sources",
        ("tests/session/answer_store/test_given_answers.py::test_the_first_of_two_processes_counts",),
    ),
    Fault(
        "a statement that is bought anew is given as it was before",
        "dpsql/session/answer_store/store.py",
        "self._given.keep(key, given.number, entry, None)",
        "pass",
        ("tests/session/answer_store/test_given_answers.py::test_a_new_answer_that_is_bought_is_given_from_then_on",),
    ),
    Fault(
        "totals of grouping sets have the noise of one of their parts",
        "dpsql/release/grouping_sets/totals.py",
        "for leaf in leaves:\n            for atom, weight",
        "for leaf in leaves[:1]:\n            for atom, weight",
        (f"{VIEWS}::test_totals_of_grouping_sets_are_the_sums_of_their_parts_with_the_noise_of_all_of_them",),
    ),
    Fault(
        "units of several groups are added up to a total",
        "dpsql/session/answer_store/view_answers.py",
        "if cell in known and isinstance(cell, RowCount | ClampedSum | ProductSum):",
        "if cell in known:",
        (f"{VIEWS}::test_totals_that_do_not_add_up_are_told_for_themselves",),
    ),
    Fault(
        "what is known already is bought again",
        "dpsql/session/answer_store/partial_answers.py",
        "cells = tuple(self.plan.cells[place] for place in self.bought)",
        "cells = self.plan.cells",
        (f"{PARTS}::test_what_is_missing_alone_is_bought",),
    ),
    Fault(
        "what was bought of one part counts as another number of its group",
        "dpsql/session/answer_store/partial_answers.py",
        "for column, place in enumerate(self.bought):",
        "for column, place in enumerate(reversed(self.bought)):",
        (f"{PARTS}::test_what_is_missing_alone_is_bought",),
    ),
    Fault(
        "the noise of what was bought of one part is not in the interval",
        "dpsql/session/answer_store/partial_answers.py",
        "(Part(column, one, (row,)),)",
        "(Part(column, one, ()),)",
        (f"{PARTS}::test_what_is_bought_is_as_exact_as_in_a_new_answer",),
    ),
    Fault(
        "which part is bought depends on a released number",
        "dpsql/session/answer_store/partial_answers.py",
        "if cell is None or ratio(core, place, cell.values()) > LESS_EXACT)",
        "if cell is None or sum(each.value for each in cell.values()) < 10)",
        (f"{PARTS}::test_which_cells_are_bought_does_not_depend_on_data_or_noise",),
    ),
    Fault(
        "a condition that is NULL counts as true in a view",
        "dpsql/session/answer_store/view_estimates.py",
        "all(each is True for each in row[width:])",
        "all(each is not False for each in row[width:])",
        (TOLD,),
    ),
    Fault(
        "a subset of a view is taken for the whole of it",
        "dpsql/planning/view_matching.py",
        "matched = CellMatch(view, found, _known(asked), _known(keys))",
        "matched = CellMatch(view, found, (), _known(keys))",
        (TOLD,),
    ),
    Fault(
        "the rest is all less a part, although some rows are in neither",
        "dpsql/session/answer_store/view_estimates.py",
        "            if is_nullable(condition):",
        "            if False and is_nullable(condition):",
        (NOT_TOLD,),
    ),
    Fault(
        "a view that clips more than the asked core answers it",
        "dpsql/planning/view_matching.py",
        "if found.rows < rows or any(",
        "if any(",
        (NOT_TOLD,),
    ),
    Fault(
        "counts of units in several groups are added",
        "dpsql/planning/view_matching.py",
        "if cell.is_additive or _is_one_group(matched):",
        "if True:",
        (NOT_TOLD,),
    ),
    Fault(
        "a table that lacks hidden groups is taken for a whole one",
        "dpsql/release/released_tables.py",
        "return presence is None or not presence.released or self.hidden is not None",
        "return True",
        (f"{VIEWS}::test_hidden_groups_are_in_every_sum",),
    ),
    Fault(
        "a thresholded table is taken for a whole one",
        "dpsql/planning/view_matching.py",
        "return plan.selection is None and not plan.derived and bool(plan.cells)",
        "return not plan.derived and bool(plan.cells)",
        (NOT_TOLD,),
    ),
    Fault(
        "a view of older data answers",
        "dpsql/session/answer_store/view_index.py",
        '["dpsql view", FORMAT, version, ',
        '["dpsql view", FORMAT, ',
        (f"{VIEWS}::test_they_are_found_by_another_process_and_not_for_other_data",),
    ),
    Fault(
        "numbers of one answer are drawn as if their noises were independent",
        "dpsql/release/linear_estimates.py",
        "                uses.setdefault((part.column, row), []).append((number, part.weight))",
        "                uses[part.column, number * 10**9 + row] = [(number, part.weight)]",
        (f"{VIEWS}::test_numbers_of_one_answer_share_the_noise_that_they_have_in_common",),
    ),
    Fault(
        "a cell that several parts read has the weight of the last",
        "dpsql/release/linear_estimates.py",
        "own[row] = own.get(row, Fraction(0)) + part.weight",
        "own[row] = part.weight",
        ("tests/release/test_linear_estimates.py::test_an_estimate_plus_itself_has_weight_two",),
    ),
    Fault(
        "the interval of a sum of cells is that of one",
        "dpsql/release/linear_estimates.py",
        "noise.atoms.append(NoiseAtom(column.noise, column.step, times[atom]))",
        "noise.atoms.append(NoiseAtom(column.noise, column.step, 1))",
        (f"{VIEWS}::test_the_interval_has_the_noise_of_all_cells_that_are_added",),
    ),
    Fault(
        "a less exact answer is given where an error is asked for",
        "dpsql/session/session.py",
        "return self._settings.reuse and self._settings.target_error is None and not plan.pilot",
        "return self._settings.reuse",
        (f"{VIEWS}::test_a_target_is_not_met_by_a_less_exact_answer",),
    ),
)
