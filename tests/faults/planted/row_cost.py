"""Work of one row: how many steps its expressions take, and what its patterns and automata take."""

from __future__ import annotations

from planted.fault import Fault

MODULE = "dpsql/sql/analysis/work/rows.py"
LIMITS = "dpsql/sql/analysis/work/limits.py"
PATTERNS = "dpsql/sql/functions/regular_expression"
AUTOMATA = "tests/sql/functions/test_automata.py"
ROW_WORK = "dpsql/sql/analysis/work/row_cost.py"
STEPS = "tests/sql/analysis/test_row_work.py"
FIRST_CHARACTERS = (
    f"{STEPS}::test_of_texts_that_may_stand_in_many_rows_only_the_first_characters_are_read"
)
KEPT = "tests/sql/analysis/test_kept_texts.py"

FAULTS = (
    Fault(
        "a text is split whole, however many pieces it has",
        LIMITS,
        "most_characters_read",
        "if split:\n    most.append((_MOST_SPLIT - others) // split)",
        "pass",
        (f"{STEPS}::test_texts_of_a_row_are_split_up_to_a_limit",),
    ),
    Fault(
        "texts of stated lengths that are split take no room",
        "dpsql/sql/analysis/work/row_cost.py",
        "split_texts",
        "sum(int(end) for end in ends if end is not None) if most is None else int(most)",
        "sum(int(end) for end in ends if end is not None and False) if most is None else 0",
        (f"{STEPS}::test_texts_of_a_row_are_split_up_to_a_limit",),
    ),
    Fault(
        "any number of texts may be split",
        LIMITS,
        "_require_few_pieces",
        "characters > _MOST_SPLIT",
        "False",
        (f"{STEPS}::test_more_texts_of_a_row_are_split_when_they_are_cut",),
    ),
    Fault(
        "texts between two functions are not counted",
        "dpsql/sql/analysis/work/row_cost.py",
        "copies",
        "computed(expressions)",
        "Counter(expressions)",
        ("tests/sql/analysis/test_row_work.py::test_each_text_that_is_made_stands_in_memory",),
    ),
    Fault(
        "a text is read whole with each of a unit's rows in another table",
        MODULE,
        "UnitWork._joined",
        "self.repeats |= rows != _ONE or other != _ONE",
        "pass",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "a text is read whole with each of the rows of a subquery",
        MODULE,
        "UnitWork._count_subquery",
        "self.repeats = True",
        "pass",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "texts that are counted are not kept",
        "dpsql/sql/analysis/work/row_cost.py",
        "copies",
        "max(0, own_copies - 1) + sum(stands)",
        "sum(stands)",
        (f"{STEPS}::test_each_set_of_texts_that_is_counted_stands_in_memory",),
    ),
    Fault(
        "what is converted is not counted as one more text",
        "dpsql/sql/analysis/work/row_cost.py",
        "copies",
        "counts + converted",
        "counts",
        ("tests/sql/analysis/test_row_work.py::test_what_converts_a_text_makes_one_more",),
    ),
    Fault(
        "a whole number that is too large for a decimal is tried",
        "dpsql/sql/emit/scalar.py",
        "_cast",
        "whole_digits > _INTEGER_DIGITS",
        "whole_digits > 2",
        (
            "tests/sql/functions/test_special_values.py::test_a_whole_number_that_is_too_large_for_a_decimal_is_not_tried",
        ),
    ),
    Fault(
        "a text is read as a decimal as quickly as a number is converted",
        "dpsql/sql/analysis/work/row_cost.py",
        "_READ",
        "600",
        "100",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault(
        "a decimal of many digits takes as long as a number of 64 bits",
        "dpsql/sql/analysis/work/row_cost.py",
        "_OF_LONG",
        "100",
        "0",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault("any number of steps is made", LIMITS, "MOST_STEPS", "30_000_000", "10**40", (STEPS,)),
    Fault(
        "a text is as much work as a number",
        ROW_WORK,
        "_own",
        "_length(text, known) // CHARACTERS",
        "0",
        (STEPS,),
    ),
    Fault(
        "a text is as long as it is in each of many rows",
        LIMITS,
        "most_characters_read",
        "most = [_MOST_CHARACTERS // times] if times > 1 else []",
        "most: list[int] = []",
        (STEPS,),
    ),
    Fault(
        "each part of a statement makes as many steps as the whole may",
        LIMITS,
        "_require_few_steps",
        "sum(total_steps for total_steps, _, _ in costs)",
        "max((total_steps for total_steps, _, _ in costs), default=0)",
        (STEPS,),
    ),
    Fault(
        "what fails is as quick as what does not",
        ROW_WORK,
        "_DOUBTFUL",
        "100",
        "0",
        (STEPS,),
    ),
    Fault(
        "what is made within an expression is no work",
        "dpsql/sql/analysis/work/computed_values.py",
        "within",
        "waiting += parts(expression)",
        "pass",
        (STEPS,),
    ),
    Fault(
        "conditions are no work",
        MODULE,
        "UnitWork.relation",
        "self.evaluate(rows, order.conditions)",
        "pass",
        (STEPS,),
    ),
    Fault(
        "any number of texts may stand together",
        LIMITS,
        "most_characters_read",
        "most.append(_MOST_MADE // copies_per_row)",
        "pass",
        (STEPS,),
    ),
    Fault(
        "a pattern of a row is tried in all rows that a unit has",
        LIMITS,
        "_are_heavy",
        "any(has_pattern_of_data(work.computed) for work in works)",
        "False",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "a pattern of a row is tried in whole texts",
        LIMITS,
        "most_characters_read",
        "if has_pattern_of_data(work.computed):\n    most.append(UNDECLARED)",
        "pass",
        (f"{KEPT}::test_a_pattern_of_the_row_is_tried_in_few_characters",),
    ),
    Fault(
        "a LIKE with ESCAPE is taken for one look at each character",
        "dpsql/sql/functions/conditions.py",
        "_escaped",
        "cost=CallCost.LIKE",
        "cost=CallCost.ONE_LOOK",
        (
            "tests/sql/functions/test_costs.py::test_each_form_of_like_looks_at_a_character_several_times",
        ),
    ),
    Fault(
        "a pattern of the data is tried once",
        "dpsql/sql/analysis/work/row_cost.py",
        "_character_cost_factor",
        "1 if isinstance(pattern, Literal) else _length(pattern, known)",
        "1",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault(
        "an automaton of any size is made at once", ROW_WORK, "_FEW_STATES", "64", "10**9", (STEPS,)
    ),
    Fault(
        "groups are extracted as they are found",
        ROW_WORK,
        "_followed",
        "states <= _FEW_STATES and not has_group",
        "states <= _FEW_STATES",
        (STEPS,),
    ),
    Fault("a match is removed at no cost", ROW_WORK, "_MATCH", "256", "0", (STEPS,)),
    Fault(
        "what is read behind each match is not counted",
        ROW_WORK,
        "_again",
        "2 * (most_bytes_behind(pattern_of(match)) or 0)",
        "0",
        (STEPS,),
    ),
    Fault(
        "an automaton may have more states than the engine keeps",
        LIMITS,
        "_require_small_automata",
        "most_states(match.function, pattern) is None",
        "False",
        (f"{AUTOMATA}::test_what_would_be_made_by_texts_of_some_is_refused",),
    ),
    Fault(
        "patterns with repetitions are compiled as they are written",
        f"{PATTERNS}/tree.py",
        "simplified",
        "_coalesced([simplified(expression) for expression in parts])",
        "Concatenation(tuple(simplified(expression) for expression in parts))",
        (f"{AUTOMATA}::test_there_are_no_fewer_states_than_re2_makes",),
    ),
    Fault(
        "a search for any match does not keep begins apart",
        f"{PATTERNS}/automaton.py",
        "_Making._followed",
        '(later, _MARK, pattern) if self._search.matching == "longest" else (later, pattern)',
        "(later, pattern)",
        (f"{AUTOMATA}::test_there_are_no_fewer_states_than_re2_makes",),
    ),
    Fault(
        "a later search never matches while an earlier one reads on",
        f"{PATTERNS}/repeated_search.py",
        "_most_bytes_behind",
        "open_ and _meets_a_match(states, steps, open_)",
        "False",
        (f"{AUTOMATA}::test_a_search_behind_each_match_reads_no_more_than_is_said",),
    ),
    Fault(
        "K is no letter beyond ASCII",
        f"{PATTERNS}/syntax.py",
        "_either_case",
        "*(_BEYOND[letter] for letter in letters & set(_BEYOND))",
        "",
        (f"{AUTOMATA}::test_automata_match_as_the_engine_does",),
    ),
    Fault(
        "a long text may be compared with a pattern of the data that has a % in it",
        "dpsql/sql/functions/like_patterns.py",
        "_bounded",
        'Call("||", (without, Literal("%", TEXT)), TEXT)',
        "pattern",
        ("tests/sql/functions/test_likes.py",),
    ),
)
