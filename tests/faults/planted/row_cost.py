"""Work of one row: how many steps its expressions take, and what its patterns and automata take."""

from __future__ import annotations

from planted.fault import Fault

MODULE = "dpsql/sql/analysis/work/rows.py"
LIMITS = "dpsql/sql/analysis/work/limits.py"
PATTERNS = "dpsql/sql/functions/regular_expression"
AUTOMATA = "tests/sql/functions/test_automata.py"
ROW_WORK = "dpsql/sql/analysis/work/row_cost.py"
STEPS = "tests/sql/analysis/test_row_work.py"
FIRST_CHARACTERS = f"{STEPS}::test_of_texts_that_may_stand_in_many_rows_only_the_first_characters_are_read"
KEPT = "tests/sql/analysis/test_kept_texts.py"

FAULTS = (
    Fault(
        "a text is split whole, however many pieces it has",
        LIMITS,
        "    if split:\n        most.append((_MOST_SPLIT - others) // split)\n",
        "",
        (f"{STEPS}::test_texts_of_a_row_are_split_up_to_a_limit",),
    ),
    Fault(
        "texts of stated lengths that are split take no room",
        "dpsql/sql/analysis/work/row_cost.py",
        "if end is not None) if most is None else int(most)",
        "if end is not None and False) if most is None else 0",
        (f"{STEPS}::test_texts_of_a_row_are_split_up_to_a_limit",),
    ),
    Fault(
        "any number of texts may be split",
        LIMITS,
        "    if made > _MOST_SPLIT:",
        "    if False:",
        (f"{STEPS}::test_more_texts_of_a_row_are_split_when_they_are_cut",),
    ),
    Fault(
        "texts between two functions are not counted",
        "dpsql/sql/analysis/work/row_cost.py",
        "    made = computed(expressions)\n",
        "    made = Counter(expressions)\n",
        ("tests/sql/analysis/test_row_work.py::test_each_text_that_is_made_stands_in_memory",),
    ),
    Fault(
        "a text is read whole with each of a unit's rows in another table",
        MODULE,
        "        self.repeats |= made != _ONE or other != _ONE\n",
        "",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "a text is read whole with each of the rows of a subquery",
        MODULE,
        "inner, self.repeats = self.relation(relation), True",
        "inner = self.relation(relation)",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "texts that are counted are not kept",
        "dpsql/sql/analysis/work/row_cost.py",
        "    return max(0, kept - 1) + sum(",
        "    return sum(",
        (f"{STEPS}::test_each_set_of_texts_that_is_counted_stands_in_memory",),
    ),
    Fault(
        "what is converted is not counted as one more text",
        "dpsql/sql/analysis/work/row_cost.py",
        "in (made + converted).items()",
        "in made.items()",
        ("tests/sql/analysis/test_row_work.py::test_what_converts_a_text_makes_one_more",),
    ),
    Fault(
        "a whole number that is too large for a decimal is tried",
        "dpsql/sql/emit/scalar.py",
        "or (whole > _INTEGER_DIGITS and",
        "or (whole > 2 and",
        (
            "tests/sql/functions/test_special_values.py::test_a_whole_number_that_is_too_large_for_a_decimal_is_not_tried",
        ),
    ),
    Fault(
        "a text is read as a decimal as quickly as a number is converted",
        "dpsql/sql/analysis/work/row_cost.py",
        "_READ = 600",
        "_READ = 100",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault(
        "a decimal of many digits takes as long as a number of 64 bits",
        "dpsql/sql/analysis/work/row_cost.py",
        "_LONG, _OF_LONG = 19, 100",
        "_LONG, _OF_LONG = 19, 0",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault("any number of steps is made", LIMITS, "MOST_STEPS = 30_000_000", "MOST_STEPS = 10**40", (STEPS,)),
    Fault("a text is as much work as a number", ROW_WORK, "_length(each, known) // CHARACTERS for", "0 for", (STEPS,)),
    Fault(
        "a text is as long as it is in each of many rows",
        LIMITS,
        "    most = [_MOST_CHARACTERS // times] if times > 1 else []\n",
        "    most: list[int] = []\n",
        (STEPS,),
    ),
    Fault(
        "each part of a statement makes as many steps as the whole may",
        LIMITS,
        "    if sum(whole for whole, _, _ in made) > MOST_STEPS:",
        "    if max((whole for whole, _, _ in made), default=0) > MOST_STEPS:",
        (STEPS,),
    ),
    Fault(
        "what fails is as quick as what does not",
        ROW_WORK,
        "_DOUBTFUL = 100",
        "_DOUBTFUL = 0",
        (STEPS,),
    ),
    Fault(
        "what is made within an expression is no work",
        "dpsql/sql/analysis/work/computed_values.py",
        "            waiting += parts(expression)\n",
        "",
        (STEPS,),
    ),
    Fault(
        "conditions are no work",
        MODULE,
        "        self.evaluate(made, order.conditions)\n        return made\n\n    def evaluate",
        "        return made\n\n    def evaluate",
        (STEPS,),
    ),
    Fault(
        "any number of texts may stand together",
        LIMITS,
        "        most.append(_MOST_MADE // found)\n",
        "        pass\n",
        (STEPS,),
    ),
    Fault(
        "a pattern of a row is tried in all rows that a unit has",
        LIMITS,
        "    if any(has_pattern_of_data(work.computed) for work in works):",
        "    if False:",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "a pattern of a row is tried in whole texts",
        LIMITS,
        "    if has_pattern_of_data(work.computed):\n        most.append(UNDECLARED)\n",
        "",
        (f"{KEPT}::test_a_pattern_of_the_row_is_tried_in_few_characters",),
    ),
    Fault(
        "a LIKE with ESCAPE is taken for one look at each character",
        "dpsql/sql/functions/conditions.py",
        "'!a%' ESCAPE '!'\",), cost=CallCost.LIKE",
        "'!a%' ESCAPE '!'\",), cost=CallCost.ONE_LOOK",
        ("tests/sql/functions/test_costs.py::test_each_form_of_like_looks_at_a_character_several_times",),
    ),
    Fault(
        "a pattern of the data is tried once",
        "dpsql/sql/analysis/work/row_cost.py",
        "            return 1 if isinstance(pattern, Literal) else _length(pattern, known)\n",
        "            return 1\n",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault("an automaton of any size is made at once", ROW_WORK, "_FEW_STATES = 64", "_FEW_STATES = 10**9", (STEPS,)),
    Fault("groups are extracted as they are found", ROW_WORK, " and not has_group:", ":", (STEPS,)),
    Fault("a match is removed at no cost", ROW_WORK, "_MATCH = 256", "_MATCH = 0", (STEPS,)),
    Fault(
        "what is read behind each match is not counted",
        ROW_WORK,
        "2 * (most_bytes_behind(pattern_of(match)) or 0)",
        "0",
        (STEPS,),
    ),
    Fault(
        "an automaton may have more states than the engine keeps",
        LIMITS,
        "        if most_states(match.function, pattern) is None:",
        "        if False:",
        (f"{AUTOMATA}::test_what_would_be_made_by_texts_of_some_is_refused",),
    ),
    Fault(
        "patterns with repetitions are compiled as they are written",
        f"{PATTERNS}/tree.py",
        "            return _coalesced([simplified(each) for each in parts])",
        "            return Concatenation(tuple(simplified(each) for each in parts))",
        (f"{AUTOMATA}::test_there_are_no_fewer_states_than_re2_makes",),
    ),
    Fault(
        "a search for any match does not keep begins apart",
        f"{PATTERNS}/automaton.py",
        'waiting += (later, _MARK, pattern) if self._search.matching == "longest" else (later, pattern)',
        "waiting += (later, pattern)",
        (f"{AUTOMATA}::test_there_are_no_fewer_states_than_re2_makes",),
    ),
    Fault(
        "a later search never matches while an earlier one reads on",
        f"{PATTERNS}/repeated_search.py",
        "    if open_ and _meets_a_match(states, steps, open_):",
        "    if False:",
        (f"{AUTOMATA}::test_a_search_behind_each_match_reads_no_more_than_is_said",),
    ),
    Fault(
        "K is no letter beyond ASCII",
        f"{PATTERNS}/syntax.py",
        "*(_BEYOND[each] for each in letters & set(_BEYOND))",
        "",
        (f"{AUTOMATA}::test_automata_match_as_the_engine_does",),
    ),
    Fault(
        "a long text may be compared with a pattern of the data that has a % in it",
        "dpsql/sql/functions/like_patterns.py",
        '    ended = Call("||", (without, Literal("%", TEXT)), TEXT)',
        "    ended = pattern",
        ("tests/sql/functions/test_likes.py",),
    ),
)
