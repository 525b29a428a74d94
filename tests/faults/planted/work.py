"""Work: how many rows one unit's rows become, and what of the rest is read for them."""

from __future__ import annotations

from planted.fault import Fault

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
        "            inner = self._multiplied(made, self.public_relation(relation))\n",
        "            return\n",
        (PRODUCTS,),
    ),
    Fault(
        "what is computed of one side of a product is computed of its pairs",
        "dpsql/sql/emit/duckdb/precomputed_columns.py",
        "    if product:",
        "    if not product:",
        ("tests/sql/analysis/test_products.py::test_what_reads_one_side_of_a_product_is_computed_below_it",),
    ),
    Fault(
        "a value of a product's pairs reads the ones of one side",
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        "            chosen = list(dict.fromkeys([*chosen, *factors]))",
        "            chosen = list(dict.fromkeys(chosen))",
        ("tests/sql/analysis/test_products.py::test_what_reads_pairs_reads_the_ones_of_both_sides",),
    ),
    Fault(
        "rows are read once more where a unit is above a limit",
        "dpsql/sql/emit/table.py",
        '    several = dialect.is_listed(node.column("crowded", "u"), unit.copy())',
        '    several = node.not_null(node.column("crowded", "u"))',
        ("tests/sql/analysis/test_work.py::test_a_unit_above_a_limit_has_nothing_read_again",),
    ),
    Fault(
        "nobody is listed among those above a limit",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        '    return exp.Union(this=listed, expression=_nobody(["u"]), distinct=False)',
        "    return listed",
        (f"{WORK}test_rows_are_looked_up_whether_or_not_somebody_is_above_a_limit",),
    ),
    Fault(
        "nobody is not looked up",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        'same(unit, node.column(listed.alias_or_name, "u"))',
        'node.compare(exp.EQ, unit, node.column(listed.alias_or_name, "u"))',
        (f"{WORK}test_rows_are_looked_up_whether_or_not_somebody_is_above_a_limit",),
    ),
    Fault(
        "rows without a unit are listed beside nobody",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "node.case((above, node.not_null(unit.copy())))",
        "node.case((above, exp.true()))",
        (f"{WORK}test_rows_without_a_unit_are_not_looked_up_twice",),
    ),
    Fault(
        "an intersection has rows of its sides alone",
        "dpsql/sql/emit/duckdb/nobody_rows.py",
        "    if private:\n        whole",
        "    if not private:\n        whole",
        (f"{WORK}test_both_sides_of_an_intersection_are_grouped_anew_whether_or_not_both_have_a_row",),
    ),
    Fault(
        "conditions of a subquery are asked while a file is read",
        "dpsql/sql/emit/relation.py",
        "    other = native(dialect, _OUTSIDE.get() or read) if _BESIDE.get() else None",
        "    other = native(dialect, read) if _BESIDE.get() else None",
        ("tests/sql/analysis/test_work.py::test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
    Fault(
        "rows are multiplied before a unit is held to its limit",
        LIMITS,
        "        held(core, work.held, lengths) if",
        "        held(core, (), lengths) if",
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
        "a LEFT JOIN stays one though its rows without a partner are left out",
        "dpsql/sql/analysis/work/join_order.py",
        '        if kind != "left" or unit_of(source) is None:\n',
        "        if True:\n",
        (ORDERED,),
    ),
    Fault(
        "rows of all people may meet before they are tied to their unit",
        "dpsql/sql/analysis/work/rows.py",
        '        if step.kind == "inner" and not (step.single or step.on_unit):\n',
        "        if False:\n",
        (ORDERED,),
    ),
    Fault(
        "rows are taken to be of one unit where any of their columns are equal",
        "dpsql/sql/analysis/work/join_order.py",
        "        and identifies(own) is not None and identifies(own) == identifies(other)\n",
        "",
        (ORDERED,),
    ),
    Fault(
        "the condition of a LEFT JOIN that is an inner join is lost",
        "dpsql/sql/analysis/work/join_order.py",
        "[*inner, source], left, [*conditions, *_demands(condition)])",
        "[*inner, source], left, conditions)",
        (ORDERED,),
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
        "    return _opaque_condition(dialect, native(dialect, condition), read[0])\n\n\ndef _opaque_condition",
        "    return native(dialect, condition)\n\n\ndef _opaque_condition",
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
        "dpsql/sql/emit/duckdb/dialect.py",
        "default=node.compare(exp.NEQ, other, other.copy()))",
        "default=node.compare(exp.EQ, other, other.copy()))",
        ("tests/sql/faithful/test_relations.py",),
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
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        '    if _READING.get() == "none":',
        "    if True:",
        (f"{LIGHT}[a row unlike its block]",),
    ),
    Fault(
        "what a join compares is computed where it has a right side",
        "dpsql/sql/emit/duckdb/precomputed_columns.py",
        '    if not computed and not any(_is_slow(join.args.get("on")) for join in joins):',
        "    if True:",
        (f"{LIGHT}[a condition of LEFT JOIN]",),
    ),
    Fault(
        "the left side of INTERSECT is read where the right one has a row",
        EMITTED,
        '    if compound.operator == "intersect":',
        "    if False:",
        (ELSE,),
    ),
    Fault(
        "a parent that is joined later is known to be there",
        "dpsql/sql/emit/duckdb/per_row_evaluation.py",
        "        own = [] if asks_first and isinstance(around, exp.Case) else [",
        "        own = [",
        (ELSE,),
    ),
    Fault(
        "a condition is asked while a file is read",
        EMITTED,
        "    other = native(dialect, _OUTSIDE.get() or read) if _BESIDE.get() else None",
        "    other = native(dialect, read)",
        (f"{WORK}test_no_block_of_private_rows_is_left_out_for_what_it_holds",),
    ),
)
