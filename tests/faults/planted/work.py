"""Work: how many rows one unit's rows become, and what of the rest is read for them."""

from __future__ import annotations

from planted.fault import Fault, InString

WORK = "tests/sql/analysis/test_work.py::"
COUNTED = f"{WORK}test_rows_that_are_multiplied_are_as_many_as_is_claimed"
HEAVY = f"{WORK}test_a_unit_with_very_many_rows_is_held_to_its_limit_before_it_is_multiplied"
REFUSED = f"{WORK}test_what_would_make_too_many_rows_is_refused"
PRODUCTS = f"{WORK}test_rows_become_as_many_as_is_read"
ORDERED = "tests/sql/analysis/test_join_order.py"
ELSE = f"{WORK}test_whether_one_person_is_there_does_not_decide_what_else_is_read"
LIGHT = "tests/attacks/test_work_oracles.py::test_no_row_decides_whether_a_block_is_computed"
MODULE = "dpsql/sql/analysis/work/rows.py"
LIMITS = "dpsql/sql/analysis/work/limits.py"
EMITTED = "dpsql/sql/emit/relation.py"

FAULTS = (
    Fault(
        "a subquery of public rows is read once, whatever rows are outside",
        MODULE,
        "UnitWork._count_subquery",
        "inner = self._multiplied(rows, self.public_relation(relation))",
        "return",
        (PRODUCTS,),
    ),
    Fault(
        "what is computed of one side of a product is computed of its pairs",
        "dpsql/sql/emit/duckdb/precomputed_columns.py",
        "precompute",
        "if product: ...",
        "if not product: ...",
        (
            "tests/sql/analysis/test_products.py::test_what_reads_one_side_of_a_product_is_computed_below_it",
        ),
    ),
    Fault(
        "a value of a product's pairs reads the ones of one side",
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        "_chosen",
        "[*chosen, *factors]",
        "chosen",
        (
            "tests/sql/analysis/test_products.py::test_what_reads_pairs_reads_the_ones_of_both_sides",
        ),
    ),
    Fault(
        "rows are read once more where a unit is above a limit",
        "dpsql/sql/emit/table.py",
        "first_rows",
        'dialect.is_listed(node.column("crowded", "u"), unit.copy())',
        'node.not_null(node.column("crowded", "u"))',
        ("tests/sql/analysis/test_work.py::test_a_unit_above_a_limit_has_nothing_read_again",),
    ),
    Fault(
        "nobody is listed among those above a limit",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "units_above_limit",
        'exp.Union(this=listed, expression=_nobody(["u"]), distinct=False)',
        "listed",
        (f"{WORK}test_rows_are_looked_up_whether_or_not_somebody_is_above_a_limit",),
    ),
    Fault(
        "nobody is not looked up",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "look_up",
        'same(unit, node.column(listed.alias_or_name, "u"))',
        'node.compare(exp.EQ, unit, node.column(listed.alias_or_name, "u"))',
        (f"{WORK}test_rows_are_looked_up_whether_or_not_somebody_is_above_a_limit",),
    ),
    Fault(
        "rows without a unit are listed beside nobody",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "units_above_limit",
        "node.not_null(unit.copy())",
        "exp.true()",
        (f"{WORK}test_rows_without_a_unit_are_not_looked_up_twice",),
    ),
    Fault(
        "an intersection has rows of its sides alone",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "_of_both",
        "if private: ...",
        "if not private: ...",
        (
            f"{WORK}test_both_sides_of_an_intersection_are_grouped_anew_whether_or_not_both_have_a_row",
        ),
    ),
    Fault(
        "conditions of a subquery are asked while a file is read",
        "dpsql/sql/emit/relation.py",
        "_opaque_condition",
        "_OUTSIDE.get() or columns_read",
        "columns_read",
        (
            "tests/sql/analysis/test_work.py::test_no_block_of_private_rows_is_left_out_for_what_it_holds",
        ),
    ),
    Fault(
        "rows are multiplied before a unit is held to its limit",
        LIMITS,
        "with_bounded_work",
        "held(core, work.held, lengths)",
        "held(core, (), lengths)",
        (HEAVY,),
    ),
    Fault("any number of rows is made", LIMITS, "MOST_ROWS", "1_000_000", "10**40", (REFUSED,)),
    Fault(
        "the rows of a public table are not counted",
        MODULE,
        "UnitWork.public_source",
        "self._fanout(table, tuple(sorted(names)))",
        "min(1, self._fanout(table, tuple(sorted(names))))",
        (PRODUCTS,),
    ),
    Fault(
        "one row that meets all of a public table is not counted",
        MODULE,
        "UnitWork._multiplied",
        "rows.rows > 1 or not other.scans",
        "rows.rows > 1",
        (PRODUCTS,),
    ),
    Fault(
        "a subquery is taken to ask by value whatever it asks",
        MODULE,
        "_asks_by_value",
        "all(any(first.relation in within and second.relation in order.outside for first, second "
        "in equalities([outer_condition])) for outer_condition in asked) and not "
        "any(outer_columns(step.source) for step in order.steps) and all(column.relation in within "
        "for column in inside)",
        "True or all(any(first.relation in within and second.relation in order.outside for first, "
        "second in equalities([outer_condition])) for outer_condition in asked) and not "
        "any(outer_columns(step.source) for step in order.steps) and all(column.relation in within "
        "for column in inside)",
        (PRODUCTS,),
    ),
    Fault(
        "a partner is taken to be one whatever the condition",
        "dpsql/sql/analysis/work/join_order.py",
        "is_single",
        "path.unique & fixed",
        "fixed",
        (COUNTED, REFUSED),
    ),
    Fault(
        "a LEFT JOIN stays one though its rows without a partner are left out",
        "dpsql/sql/analysis/work/join_order.py",
        "_without_void_outer_joins",
        'kind != "left" or unit_of(source) is None',
        "True",
        (ORDERED,),
    ),
    Fault(
        "rows of all people may meet before they are tied to their unit",
        "dpsql/sql/analysis/work/rows.py",
        "UnitWork._joined",
        'step.kind == "inner" and not (step.single or step.on_unit)',
        "False",
        (ORDERED,),
    ),
    Fault(
        "rows are taken to be of one unit where any of their columns are equal",
        "dpsql/sql/analysis/work/join_order.py",
        "_is_on_unit",
        "one.type == other.type and identifies(one) is not None and identifies(one) == "
        "identifies(other)",
        "one.type == other.type",
        (ORDERED,),
    ),
    Fault(
        "the condition of a LEFT JOIN that is an inner join is lost",
        "dpsql/sql/analysis/work/join_order.py",
        "_without_void_outer_joins",
        "[*conditions, *_demands(condition)]",
        "conditions",
        (ORDERED,),
    ),
    Fault(
        "those of a unit's rows that come too many are kept",
        "dpsql/sql/emit/table.py",
        "first_rows",
        'node.compare(exp.LTE, node.column("ranked", _PLACE), node.integer(keep.rows))',
        'node.compare(exp.GTE, node.column("ranked", _PLACE), node.integer(0))',
        (HEAVY,),
    ),
    Fault(
        "the engine may leave out blocks of rows for what they hold",
        EMITTED,
        "_emit_condition",
        "_opaque_condition(dialect, native(dialect, condition), columns_read[0])",
        "native(dialect, condition)",
        (f"{WORK}test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
    Fault(
        "an inner join of private rows is left to the engine",
        EMITTED,
        "from_clause",
        "if not ties: ...",
        "if True: ...",
        (ELSE,),
    ),
    Fault(
        "the engine chooses the side of a join that it reads first",
        "dpsql/engines/duckdb/in_memory.py",
        "CAREFUL",
        InString("join_order,build_side_probe_side,"),
        "join_order,",
        (ELSE,),
    ),
    Fault(
        "rows without a partner stay",
        "dpsql/sql/emit/duckdb/dialect.py",
        "DuckDB.tested_on_each_row",
        "exp.NEQ",
        "exp.EQ",
        ("tests/sql/faithful/test_relations.py",),
    ),
    Fault(
        "joins that nothing reads are dropped under sums too",
        "dpsql/sql/analysis/work/join_elimination.py",
        "without_unread_joins",
        "all(aggregate.function.ignores_repeated_rows for aggregate in core.aggregates)",
        "True",
        (PRODUCTS,),
    ),
    Fault(
        "a function is computed once for rows that are alike",
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        "flat",
        '_READING.get() == "none"',
        "True",
        (f"{LIGHT}[a row unlike its block]",),
    ),
    Fault(
        "what a join compares is computed where it has a right side",
        "dpsql/sql/emit/duckdb/precomputed_columns.py",
        "precompute",
        'not computed and not any(_is_slow(join.args.get("on")) for join in joins)',
        "True",
        (f"{LIGHT}[a condition of LEFT JOIN]",),
    ),
    Fault(
        "the left side of INTERSECT is read where the right one has a row",
        EMITTED,
        "_compound",
        'compound.operator == "intersect"',
        "False",
        (ELSE,),
    ),
    Fault(
        "a parent that is joined later is known to be there",
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        "_chosen",
        "[] if asks_first and isinstance(around, exp.Case) else [alias for alias in complete if "
        "alias in tables]",
        "[alias for alias in complete if alias in tables]",
        (ELSE,),
    ),
    Fault(
        "a condition is asked while a file is read",
        EMITTED,
        "_opaque_condition",
        "native(dialect, _OUTSIDE.get() or columns_read) if _BESIDE.get() else None",
        "native(dialect, columns_read)",
        (f"{WORK}test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
)
