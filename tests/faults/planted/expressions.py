"""Expressions and keys: bounds, total functions, public domains."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import GOLDEN, PRODUCTS, REFUSED, STATISTICS, TOGETHER, UNITS_PRODUCTS

PUBLIC = "tests/engines/test_public_bounds.py"

WHOLE = "tests/sql/emit/test_whole_numbers.py"
NAN = "tests/sql/functions/test_not_a_number.py"

FAULTS = (
    Fault(
        "whole numbers beyond 2^53 are computed as doubles",
        "dpsql/sql/functions/whole_numbers.py",
        "return is_arithmetic(expression) and is_large(expression)",
        "return False",
        (f"{WHOLE}::test_whole_numbers_are_those_of_duckdb",),
    ),
    Fault(
        "a sum of 65 bits is added in 64, so that a row fails the statement",
        "dpsql/sql/emit/whole_numbers.py",
        "    if _within(reach, BIGINT) and not any(value.is_wide for value in values):",
        "    if not any(value.is_wide for value in values):",
        (f"{WHOLE}::test_whole_numbers_are_those_of_duckdb",),
    ),
    Fault(
        "a product of 190 bits is computed in 128, so that a row fails the statement",
        "dpsql/sql/emit/whole_numbers.py",
        "    if not _within(reach, WIDE):",
        "    if False:",
        (f"{WHOLE}::test_a_product_of_many_columns_is_null_beyond_64_bits",),
    ),
    Fault(
        "the least number of 64 bits is divided by −1",
        "dpsql/sql/emit/whole_numbers.py",
        "instead = exp.Nullif(this=dividend.copy(), expression=dialect.cast(node.integer(LEAST), INTEGER))",
        "instead = dividend.copy()",
        (f"{WHOLE}::test_the_least_number_is_not_divided_by_minus_one",),
    ),
    Fault(
        "a moment is moved farther than the engine has one",
        "dpsql/sql/emit/duckdb/datetimes.py",
        "count: Node = case(_within(amount, -far, far), amount)",
        "count: Node = amount",
        ("tests/sql/emit/test_moved_moments.py::test_no_number_is_tried_that_moves_a_moment_too_far",),
    ),
    Fault(
        "a stored NaN counts as the upper bound",
        "dpsql/engines/duckdb/tables/texts.py",
        "if engine_type == WITH_NAN else value",
        "if False else value",
        (f"{NAN}::test_nan_is_left_out_like_null_in_every_source",),
    ),
    Fault(
        "a column that is declared without NULL has no NaN",
        "dpsql/schema/column.py",
        'return self.type.kind == "double" or',
        "return",
        (f"{NAN}::test_nan_is_left_out_like_null_in_every_source",),
    ),
    Fault(
        "a sum is cut to 63 bits, outside of its own interval",
        "dpsql/planning/cell_choice.py",
        'return "BIGINT" if largest is not None and largest <= _SUMMED_IN_BIGINT else "HUGEINT"',
        'return "BIGINT"',
        ("tests/release/test_wide_sums.py::test_a_sum_goes_beyond_63_bits_and_lies_in_its_interval",),
    ),
    Fault(
        "NaN of infinite numbers counts as the upper bound",
        "dpsql/sql/emit/scalar.py",
        "dialect.unless_nan(tree) if may_be_nan(expression) else tree",
        "tree",
        (f"{NAN}::test_no_expression_is_nan",),
    ),
    Fault(
        "the time between columns of two rows has the bounds of that within one",
        "dpsql/sql/analysis/bounds.py",
        "differences=declared)) if here == there:",
        "differences=declared)) if here or there:",
        ("tests/sql/analysis/test_declared_differences.py::test_rows_of_two_tables_have_no_such_bounds",),
    ),
    Fault(
        "a pattern of the data that ILIKE fails on",
        "dpsql/sql/emit/duckdb/conditions.py",
        '    return binary(exp.Like)(call("LOWER")(value), call("LOWER")(pattern))',
        "    return binary(exp.ILike)(value, pattern)",
        (f"{GOLDEN}[text_matched_by_a_column]",),
    ),
    Fault(
        "a pattern of the data over which the engine goes back and back",
        "dpsql/sql/functions/like_patterns.py",
        "(value, _bounded(value, pattern))",
        "(value, pattern)",
        ("tests/sql/functions/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "a constant pattern over which the engine goes back and back",
        "dpsql/sql/functions/like_patterns.py",
        "if _runs(known) > 1 and",
        "if False and",
        ("tests/sql/functions/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "an ESCAPE that fails on the rows that reach it",
        "dpsql/sql/binder/expressions/texts.py",
        'if not character.isascii() or character in "%_":',
        'if character in "%_":',
        ("tests/sql/functions/test_likes.py::test_a_character_that_fails_on_some_rows_is_refused",),
    ),
    Fault(
        "a conversion that the engine shares out of reach of TRY",
        "dpsql/sql/emit/duckdb/datetimes.py",
        '    return cast(ordinary(moment), "timestamp")',
        "    return moment",
        (
            f"{TOGETHER}[temporal-temporal]",
            "tests/sql/golden/test_golden.py::test_golden[moments]",
        ),  # shared before 2.0.1
    ),
    Fault(
        "a regular expression that the engine refuses",
        "dpsql/sql/binder/expressions/constant_arguments.py",
        "        if len(text) > _LONGEST or not text.isascii():",
        "        return expression\n        if len(text) > _LONGEST or not text.isascii():",
        ("tests/sql/functions/test_patterns.py",),
    ),
    Fault(
        "texts that grow by what they hold",
        "dpsql/sql/binder/expressions/texts.py",
        "    if replacement is None or read(replacement) != _EMPTY:",
        "    if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "public rows that are kept are not looked at under grouping sets",
        "dpsql/sql/binder/private_select.py",
        "        for preserved in self._preserved:",
        "        for preserved in self._preserved if self._sets is None else []:",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "a subquery inside TRY, which the engine refuses once the statement is paid for",
        "dpsql/sql/emit/duckdb/guarded_calls.py",
        "    if node.find(exp.Subquery, exp.Exists) is None:",
        "    if True:",
        ("tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[a part of a moment of the unit]",),
    ),
    Fault(
        "products lifted that are not divided",
        "dpsql/sql/analysis/quantisation.py",
        "lifted = reach if divisor > 1 else 0",
        "lifted = reach",
        (f"{PRODUCTS}[small]", f"{UNITS_PRODUCTS}[1]"),
    ),
    Fault(
        "squares not measured from the middle",
        "dpsql/sql/analysis/quantisation.py",
        "half, middle, middle, high - middle)",
        "half, 0, 0, high - middle)",
        (f"{PRODUCTS}[small]", f"{STATISTICS}[]"),
    ),
    Fault(
        "a pair without its second value counts",
        "dpsql/planning/cell_list.py",
        "    if not is_nullable(expression):\n        return condition",
        "    return condition",
        (f"{STATISTICS}[]",),
    ),
    Fault(
        "a core is read before what its derived table needs is released",
        "dpsql/sql/binder/sources/derived_tables.py",
        "max(read, default=-1) + 1",
        "0",
        ("tests/session/test_stages.py",),
    ),
    Fault(
        "a timestamp without a text fails the statement",
        "dpsql/sql/emit/scalar.py",
        "            value = dialect.ordinary(value)\n",
        "            pass\n",
        ("tests/sql/golden/test_golden.py::test_golden[timestamp_as_text]",),  # no statement fails since DuckDB 2.0.1
    ),
    Fault(
        "distinct units are added up over subgroups",
        "dpsql/sql/analysis/grouping_levels.py",
        "return aggregate.function.is_additive",
        "return aggregate.function.is_additive or aggregate.function.ignores_repeated_rows",
        ("tests/release/test_cube.py::test_without_noise_the_answer_is_that_of_duckdb",),
    ),
    Fault(
        "a domain asks a subquery of private rows",
        "dpsql/sql/analysis/key_domain/values.py",
        "return self._function(expression) or self._stands_for(",
        "return expression or self._stands_for(",
        ("tests/sql/analysis/test_domain.py::test_a_subquery_of_private_rows_is_a_condition_like_others",),
    ),
    Fault(
        "the values of a private column are read like those of a public one",
        "dpsql/sql/analysis/key_domain/values.py",
        "case Scan(table=table, derived=False, unit=None):",
        "case Scan(table=table, derived=False):",
        (f"{PUBLIC}::test_a_column_of_a_private_table_or_with_many_values_is_not_listed",),
    ),
    Fault(
        "the values of a public column outlive their version of the data",
        "dpsql/session/public_sizes.py",
        "self._known, self._values, self._version = {}, {}, version",
        "self._known, self._version = {}, version",
        (f"{PUBLIC}::test_values_are_those_of_the_version_that_is_read",),
    ),
    Fault(
        "an outer join keeps no public row for which an empty table has none",
        "dpsql/sql/analysis/work/rows.py",
        'if step.kind == "left" else other',
        "if not step else other",
        (
            "tests/sql/analysis/test_public_rows.py::test_an_outer_join_with_an_empty_public_table_keeps_the_rows_of_the_other",
        ),
    ),
    Fault(
        "a count of public rows is bounded by the rows of the first key",
        "dpsql/sql/binder/expression_subqueries.py",
        "public_rows(relation, sizes) if public",
        "1 if public",
        (f"{PUBLIC}::test_rows_of_a_public_table_that_one_key_meets_bound_what_is_counted_of_them",),
    ),
    Fault(
        "the clause loosens a limit of the owner",
        "dpsql/sql/parser/privacy_clause.py",
        "own if asked is None else asked if own is None else min(own, asked)",
        "own if asked is None else asked",
        ("tests/sql/parser/test_googlesql.py::test_limits_are_only_tightened",),
    ),
    Fault(
        "any column may be called the privacy unit",
        "dpsql/sql/binder/expressions/conditions.py",
        "if not isinstance(column, ColumnRef) or column.identifies != UNIT:",
        "if not isinstance(column, ColumnRef):",
        ("tests/sql/parser/test_googlesql.py::test_the_unit_is_known_by_lineage_and_not_by_its_name",),
    ),
)
