"""Work: how many rows one unit's rows become, and what of the rest is read for them."""

from __future__ import annotations

from planted.fault import Fault

WORK = "tests/sql/analysis/test_work.py::"
COUNTED = f"{WORK}test_rows_that_are_multiplied_are_as_many_as_is_claimed"
HEAVY = f"{WORK}test_a_unit_with_very_many_rows_is_held_to_its_limit_before_it_is_multiplied"
REFUSED = f"{WORK}test_what_would_make_too_many_rows_is_refused"
PRODUCTS = f"{WORK}test_rows_become_as_many_as_is_read"
ELSE = f"{WORK}test_whether_one_person_is_there_does_not_decide_what_else_is_read"
ALIKE = "tests/attacks/test_work_oracles.py::test_no_row_decides_whether_others_are_computed"
MODULE = "dpsql/sql/analysis/work/rows.py"
LIMITS = "dpsql/sql/analysis/work/limits.py"
PATTERNS, AUTOMATA = "dpsql/sql/functions/regular_expression", "tests/sql/functions/test_automata.py"
ROW_WORK, STEPS = "dpsql/sql/analysis/work/row_cost.py", "tests/sql/analysis/test_row_work.py"
FIRST_CHARACTERS = f"{STEPS}::test_of_texts_that_may_stand_in_many_rows_only_the_first_characters_are_read"
EMITTED = "dpsql/sql/emit/relation.py"

FAULTS = (
    Fault(
        "texts between two functions are not counted",
        "dpsql/sql/analysis/work/row_cost.py",
        "    made = _within(expressions)\n    converted",
        "    made = list(expressions)\n    converted",
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
        "a text is cut in the list of a SELECT alone",
        "dpsql/sql/analysis/work/truncation.py",
        "        if may_be_long(column):\n            return self._lengths.stored\n",
        "",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "a key is cut, so that rows of two units may have one",
        "dpsql/sql/analysis/work/truncation.py",
        "or column.identifies or column.bounds",
        "or column.bounds",
        (f"{STEPS}::test_a_join_by_keys_stays_the_same",),
    ),
    Fault(
        "values that are declared are believed to be no longer",
        "dpsql/sql/analysis/work/truncation.py",
        "        if self._lengths.declared and is_declared(column) and not column.identifies:",
        "        if False:",
        (f"{STEPS}::test_of_values_that_are_declared_no_more_is_read_than_the_longest_has",),
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
        "for each in [*made, *converted] if",
        "for each in made if",
        ("tests/sql/analysis/test_row_work.py::test_what_converts_a_text_makes_one_more",),
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
        "            return 1 if isinstance(pattern, Literal) else _length(pattern)\n",
        "            return 1\n",
        ("tests/sql/analysis/test_row_work.py::test_a_step_is_a_number_or_some_characters",),
    ),
    Fault(
        "what is computed of one side of a product is computed of its pairs",
        "dpsql/sql/emit/precomputed_columns.py",
        "    if product:",
        "    if not product:",
        ("tests/sql/analysis/test_products.py::test_what_reads_one_side_of_a_product_is_computed_below_it",),
    ),
    Fault(
        "a value of a product's pairs reads the ones of one side",
        "dpsql/sql/emit/per_row_evaluation.py",
        "            chosen = list(dict.fromkeys([*chosen, *factors]))",
        "            chosen = list(dict.fromkeys(chosen))",
        ("tests/sql/analysis/test_products.py::test_what_reads_pairs_reads_the_ones_of_both_sides",),
    ),
    Fault(
        "rows are read once more where a unit is above a limit",
        "dpsql/sql/emit/table.py",
        '[node.join(crowded(), same.copy(), "LEFT")], several)',
        "[node.join(crowded(), same.copy())])",
        ("tests/sql/analysis/test_work.py::test_a_unit_above_a_limit_has_nothing_read_again",),
    ),
    Fault(
        "conditions of a subquery are asked while a file is read",
        "dpsql/sql/emit/relation.py",
        "    other = native(dialect, _OUTSIDE.get() or read) if _BESIDE.get() else node.bare(ONE)",
        "    other = native(dialect, read) if _BESIDE.get() else node.bare(ONE)",
        ("tests/sql/analysis/test_work.py::test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
    Fault(
        "rows are multiplied before a unit is held to its limit",
        LIMITS,
        "tuple(held(core, work.held, lengths) if",
        "tuple(held(core, (), lengths) if",
        (HEAVY,),
    ),
    Fault("any number of rows is made", LIMITS, "MOST_ROWS = 1_000_000", "MOST_ROWS = 10**40", (REFUSED,)),
    Fault(
        "the rows of a public table are not counted",
        MODULE,
        "rows = self._fanout(table, tuple(sorted(given)))",
        "rows = min(1, self._fanout(table, tuple(sorted(given))))",
        (PRODUCTS,),
    ),
    Fault(
        "one row that meets all of a public table is not counted",
        MODULE,
        "        if made.rows > 1 or not other.scans:",
        "        if made.rows > 1:",
        (PRODUCTS,),
    ),
    Fault("any number of steps is made", LIMITS, "MOST_STEPS = 30_000_000", "MOST_STEPS = 10**40", (STEPS,)),
    Fault("a text is as much work as a number", ROW_WORK, "_length(each) // CHARACTERS", "_length(each) * 0", (STEPS,)),
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
        ROW_WORK,
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
        "a subquery is taken to ask by value whatever it asks",
        MODULE,
        "    return (\n        all(",
        "    return (\n        True or all(",
        (PRODUCTS,),
    ),
    Fault(
        "a partner is taken to be one whatever the condition",
        "dpsql/sql/analysis/work/join_order.py",
        "return bool(path.unique & given)",
        "return bool(given)",
        (COUNTED, REFUSED),
    ),
    Fault(
        "those of a unit's rows that come too many are kept",
        "dpsql/sql/emit/table.py",
        'first = node.compare(exp.LTE, node.column("ranked", _PLACE), node.integer(keep.rows))',
        'first = node.compare(exp.GTE, node.column("ranked", _PLACE), node.integer(0))',
        (HEAVY,),
    ),
    Fault(
        "the engine may leave out blocks of rows for what they hold",
        EMITTED,
        "    return _looked_at(dialect, native(dialect, condition), read[0])\n\n\ndef _looked_at",
        "    return native(dialect, condition)\n\n\ndef _looked_at",
        (f"{WORK}test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
    Fault(
        "an inner join of private rows is left to the engine",
        EMITTED,
        "        elif not ties:",
        "        elif True:",
        (ELSE,),
    ),
    Fault(
        "the engine chooses the side of a join that it reads first",
        "dpsql/engines/duckdb/in_memory.py",
        "join_order,build_side_probe_side,",
        "join_order,",
        (ELSE,),
    ),
    Fault(
        "rows without a partner stay",
        EMITTED,
        "default=node.compare(exp.NEQ, other, other.copy()))",
        "default=node.compare(exp.EQ, other, other.copy()))",
        ("tests/properties/test_relations.py",),
    ),
    Fault(
        "joins that nothing reads are dropped under sums too",
        "dpsql/sql/analysis/work/join_elimination.py",
        "    as_set = all(each.function.ignores_repeated_rows for each in core.aggregates)",
        "    as_set = True",
        (PRODUCTS,),
    ),
    Fault(
        "a function is computed once for rows that are alike",
        "dpsql/sql/emit/per_row_evaluation.py",
        '    if not dialect.shares_values or _READING.get() == "none":',
        "    if True:",
        (f"{ALIKE}[a row unlike its block]",),
    ),
    Fault(
        "what a join compares is computed where it has a right side",
        "dpsql/sql/emit/precomputed_columns.py",
        '    if not computed and not any(_is_slow(join.args.get("on")) for join in joins):',
        "    if True:",
        (f"{ALIKE}[a condition of LEFT JOIN]",),
    ),
    Fault(
        "the left side of INTERSECT is read where the right one has a row",
        EMITTED,
        '    if compound.operator == "intersect" and several:',
        "    if False:",
        (ELSE,),
    ),
    Fault(
        "a parent that is joined later is known to be there",
        "dpsql/sql/emit/per_row_evaluation.py",
        "        own = [] if asks_first and isinstance(around, exp.Case) else [",
        "        own = [",
        (ELSE,),
    ),
    Fault(
        "a condition is asked while a file is read",
        EMITTED,
        "    other = native(dialect, _OUTSIDE.get() or read) if _BESIDE.get() else node.bare(ONE)",
        "    other = native(dialect, read)",
        (f"{WORK}test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
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
    Fault(
        "any number of texts may stand together",
        LIMITS,
        "        most.append(_MOST_MADE // found)\n",
        "        pass\n",
        (STEPS,),
    ),
)
