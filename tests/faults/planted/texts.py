"""Work of texts: what is kept of a row's own, what is read of those of public tables,
and how much of a long one.
"""

from __future__ import annotations

from planted.fault import Fault

MODULE = "dpsql/sql/analysis/work/rows.py"
LIMITS = "dpsql/sql/analysis/work/limits.py"
ROW_WORK = "dpsql/sql/analysis/work/row_cost.py"
STEPS = "tests/sql/analysis/test_row_work.py"
PUBLIC_TEXTS = "tests/sql/analysis/test_public_texts.py"
FIRST_CHARACTERS = (
    f"{STEPS}::test_of_texts_that_may_stand_in_many_rows_only_the_first_characters_are_read"
)
KEPT = "tests/sql/analysis/test_kept_texts.py"

FAULTS = (
    Fault(
        "a text that a subquery makes is empty behind it",
        LIMITS,
        "_own_steps",
        "added.of_column(column_read)",
        "0",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "what is kept several times is counted once",
        "dpsql/sql/analysis/work/kept_texts.py",
        "AddedCharacters.of",
        "map(self._added, texts)",
        "map(self._added, set(texts))",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "each core of a statement may take as many steps of a row as all of them",
        LIMITS,
        "_are_heavy",
        "sum(map(_own_steps, works, texts))",
        "max(map(_own_steps, works, texts))",
        (f"{KEPT}::test_all_that_a_statement_makes_of_a_row_is_counted_together",),
    ),
    Fault(
        "any number of steps is made of all rows that a unit has",
        LIMITS,
        "_are_heavy",
        "sum(map(_own_steps, works, texts)) > _MOST_LIGHT",
        "False",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "any number of sets is kept of all rows that a unit has",
        LIMITS,
        "_are_heavy",
        "sum(work.sets for work in works) > _MOST_SETS",
        "False",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "a row's own texts are read any number of times",
        LIMITS,
        "_are_heavy",
        "sum(map(_text_steps, works, texts)) > _MOST_READ",
        "False",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "what a subquery makes of a row's own texts is no longer than these",
        "dpsql/sql/analysis/work/public_texts.py",
        "PublicTexts._whole",
        "max(map(self._made_whole, definitions))",
        "UNDECLARED",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "texts of any length are kept of all rows that a unit has",
        LIMITS,
        "_are_heavy",
        "AddedCharacters(text).of(core_texts) > _MOST_ADDED or any(copies_in(expression) > "
        "_MOST_KEPT for expression in core_texts)",
        "any(copies_in(expression) > _MOST_KEPT for expression in core_texts)",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "a row's own text is kept any number of times",
        LIMITS,
        "_are_heavy",
        "AddedCharacters(text).of(core_texts) > _MOST_ADDED or any(copies_in(expression) > "
        "_MOST_KEPT for expression in core_texts)",
        "AddedCharacters(text).of(core_texts) > _MOST_ADDED",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "what is added to the column of a subquery is forgotten behind it",
        "dpsql/sql/analysis/work/kept_texts.py",
        "AddedCharacters.of_column",
        "max(map(self._added, definitions), default=public_length)",
        "public_length",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "the rows that a unit may have are not counted where much is made of each",
        MODULE,
        "UnitWork.hold",
        "self.most = max(self.most, self._widest, key=lambda bound: bound.rows)",
        "pass",
        (f"{KEPT}::test_all_rows_that_a_unit_may_have_are_counted",),
    ),
    Fault(
        "a text is cut in the list of a SELECT alone",
        "dpsql/sql/analysis/work/truncation.py",
        "_Truncation._most",
        "if may_be_long(column):\n    return self._lengths.stored",
        "pass",
        (FIRST_CHARACTERS,),
    ),
    Fault(
        "a key is cut, so that rows of two units may have one",
        "dpsql/sql/analysis/work/truncation.py",
        "may_be_long",
        "column.domain or column.identifies",
        "column.domain",
        (f"{STEPS}::test_a_join_by_keys_stays_the_same",),
    ),
    Fault(
        "values that are declared are believed to be no longer",
        "dpsql/sql/analysis/work/truncation.py",
        "_Truncation._most",
        "self._lengths.declared and is_declared(column) and not column.identifies",
        "False",
        (f"{STEPS}::test_of_values_that_are_declared_no_more_is_read_than_the_longest_has",),
    ),
    Fault(
        "any number of counts is as much work as one",
        LIMITS,
        "_steps",
        "steps(work.computed, known) + steps_of_order(work.ordered, known) + work.listed",
        "steps(work.computed, known)",
        (f"{PUBLIC_TEXTS}::test_each_count_of_different_values_is_work_of_its_own",),
    ),
    Fault(
        "texts of public tables are short where rows are multiplied",
        LIMITS,
        "_known",
        "work.most.rows > 1 or texts_made(work.computed)",
        "texts_made(work.computed)",
        (f"{PUBLIC_TEXTS}::test_public_texts_that_are_pairs_are_counted",),
    ),
    Fault(
        "texts of public tables are looked for in what is computed last",
        "dpsql/sql/analysis/work/row_cost.py",
        "texts_made",
        "computed(expressions)",
        "Counter(expressions)",
        (
            f"{PUBLIC_TEXTS}::test_texts_that_are_made_of_long_public_ones_stand_together_up_to_a_limit",
        ),
    ),
    Fault(
        "any number of texts may be made of those of public tables",
        LIMITS,
        "_require_few_public_characters",
        "characters > _MOST_MADE",
        "False",
        (
            f"{PUBLIC_TEXTS}::test_texts_that_are_made_of_long_public_ones_stand_together_up_to_a_limit",
        ),
    ),
    Fault(
        "a row is compared with any number of values at once",
        MODULE,
        "unit_work",
        "work.listed = sum(len(aggregate.values) for aggregate in core.aggregates)",
        "pass",
        (f"{PUBLIC_TEXTS}::test_a_row_is_compared_with_each_value_that_is_listed",),
    ),
    Fault(
        "what stands in several places of a condition is computed once",
        "dpsql/sql/analysis/work/computed_values.py",
        "_occurrences",
        "result[operand] + result[expression]",
        "1",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
    Fault(
        "a list of characters is made once for all rows",
        ROW_WORK,
        "_PER_CHARACTER",
        "5",
        "0",
        (f"{KEPT}::test_a_unit_is_held_to_its_rows_where_much_is_made_of_each",),
    ),
)
