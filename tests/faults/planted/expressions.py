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
        "is_whole",
        "is_arithmetic(expression) and is_large(expression)",
        "False",
        (f"{WHOLE}::test_whole_numbers_are_those_of_duckdb",),
    ),
    Fault(
        "a sum of 65 bits is added in 64, so that a row fails the statement",
        "dpsql/sql/emit/whole_numbers.py",
        "_alike",
        "_within(reach, BIGINT) and not any(value.is_wide for value in values)",
        "not any(value.is_wide for value in values)",
        (f"{WHOLE}::test_whole_numbers_are_those_of_duckdb",),
    ),
    Fault(
        "a product of 190 bits is computed in 128, so that a row fails the statement",
        "dpsql/sql/emit/whole_numbers.py",
        "_computed",
        "not _within(reach, WIDE)",
        "False",
        (f"{WHOLE}::test_a_product_of_many_columns_is_null_beyond_64_bits",),
    ),
    Fault(
        "large numbers are compared with decimals as DOUBLEs",
        "dpsql/sql/emit/whole_numbers.py",
        "compared_as_decimals",
        "common is None",
        "True",
        (f"{WHOLE}::test_large_numbers_and_decimals_are_compared_exactly",),
    ),
    Fault(
        "a decimal is cut to the digits of the first that it is compared with",
        "dpsql/sql/functions/whole_numbers.py",
        "common_decimal",
        "before, after = (max(digit_counts) for digit_counts in zip(*known, strict=True))",
        "before, after = known[0]",
        (f"{WHOLE}::test_large_numbers_and_decimals_are_compared_exactly",),
    ),
    Fault(
        "a number of 64 bits stays one of 128 after operands of 128",
        "dpsql/sql/emit/whole_numbers.py",
        "_shortened",
        "dialect.cast(result, INTEGER)",
        "result",
        (f"{WHOLE}::test_what_needs_64_bits_has_them_after_operands_of_128",),
    ),
    Fault(
        "the least number of 64 bits is divided by −1",
        "dpsql/sql/emit/whole_numbers.py",
        "_divided",
        "exp.Nullif(this=dividend.copy(), expression=dialect.cast(node.integer(LEAST), INTEGER))",
        "dividend.copy()",
        (f"{WHOLE}::test_the_least_number_is_not_divided_by_minus_one",),
    ),
    Fault(
        "a moment is moved farther than the engine has one",
        "dpsql/sql/emit/duckdb/datetimes.py",
        "_shift_by.build",
        "case(_within(amount, -far, far), amount)",
        "amount",
        (
            "tests/sql/emit/test_moved_moments.py::test_no_number_is_tried_that_moves_a_moment_too_far",
        ),
    ),
    Fault(
        "a stored NaN counts as the upper bound",
        "dpsql/engines/duckdb/tables/texts.py",
        "without_nan",
        "engine_type == WITH_NAN",
        "False",
        (f"{NAN}::test_nan_is_left_out_like_null_in_every_source",),
    ),
    Fault(
        "a column that is declared without NULL has no NaN",
        "dpsql/schema/column.py",
        "Column.may_be_null",
        'self.type.kind == "double" or self.reading == "its whole number"',
        'self.reading == "its whole number"',
        (f"{NAN}::test_nan_is_left_out_like_null_in_every_source",),
    ),
    Fault(
        "a sum is cut to 63 bits, outside of its own interval",
        "dpsql/planning/cell_choice.py",
        "sum_type",
        '"BIGINT" if largest is not None and largest <= _SUMMED_IN_BIGINT else "HUGEINT"',
        '"BIGINT"',
        (
            "tests/release/test_wide_sums.py::test_a_sum_goes_beyond_63_bits_and_lies_in_its_interval",
        ),
    ),
    Fault(
        "NaN of infinite numbers counts as the upper bound",
        "dpsql/sql/emit/scalar.py",
        "native",
        "dialect.unless_nan(tree) if may_be_nan(expression) else tree",
        "tree",
        (f"{NAN}::test_no_expression_is_nan",),
    ),
    Fault(
        "the time between columns of two rows has the bounds of that within one",
        "dpsql/sql/analysis/bounds.py",
        "_declared_difference",
        "start_relation == end_relation",
        "start_relation or end_relation",
        (
            "tests/sql/analysis/test_declared_differences.py::test_rows_of_two_tables_have_no_such_bounds",
        ),
    ),
    Fault(
        "a pattern of the data that ILIKE fails on",
        "dpsql/sql/emit/duckdb/conditions.py",
        "_ilike",
        'binary(exp.Like)(call("LOWER")(value), call("LOWER")(pattern))',
        "binary(exp.ILike)(value, pattern)",
        (f"{GOLDEN}[text_matched_by_a_column]",),
    ),
    Fault(
        "a pattern of the data over which the engine goes back and back",
        "dpsql/sql/functions/like_patterns.py",
        "liked",
        "(value, _bounded(value, pattern))",
        "(value, pattern)",
        ("tests/sql/functions/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "a constant pattern over which the engine goes back and back",
        "dpsql/sql/functions/like_patterns.py",
        "liked",
        "_runs(known) > 1",
        "False",
        ("tests/sql/functions/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "an ESCAPE that fails on the rows that reach it",
        "dpsql/sql/binder/expressions/texts.py",
        "escaped",
        'not character.isascii() or character in "%_"',
        'character in "%_"',
        ("tests/sql/functions/test_likes.py::test_a_character_that_fails_on_some_rows_is_refused",),
    ),
    Fault(
        "a conversion that the engine shares out of reach of TRY",
        "dpsql/sql/emit/duckdb/datetimes.py",
        "_timestamp",
        'cast(ordinary(moment), "timestamp")',
        "moment",
        (
            f"{TOGETHER}[temporal-temporal]",
            "tests/sql/golden/test_golden.py::test_golden[moments]",
        ),  # shared before 2.0.1
    ),
    Fault(
        "a regular expression that the engine refuses",
        "dpsql/sql/binder/expressions/constant_arguments.py",
        "require_pattern",
        "if len(text) > _LONGEST or not text.isascii(): ...",
        "return expression\nif len(text) > _LONGEST or not text.isascii(): ...",
        ("tests/sql/functions/test_patterns.py",),
    ),
    Fault(
        "texts that grow by what they hold",
        "dpsql/sql/binder/expressions/texts.py",
        "without_matches",
        "replacement is None or bind(replacement) != _EMPTY",
        "False",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "public rows that are kept are not looked at under grouping sets",
        "dpsql/sql/binder/private_select.py",
        "_Cut._source",
        "for preserved in self._preserved: ...",
        "for preserved in self._preserved if self._sets is None else []: ...",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "a subquery inside TRY, which the engine refuses once the statement is paid for",
        "dpsql/sql/emit/duckdb/guarded_calls.py",
        "attempt",
        "node.find(exp.Subquery, exp.Exists) is None",
        "True",
        (
            "tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[a part of a moment of the unit]",
        ),
    ),
    Fault(
        "products lifted that are not divided",
        "dpsql/sql/analysis/quantisation.py",
        "product_quantum",
        "reach if divisor > 1 else 0",
        "reach",
        (f"{PRODUCTS}[small]", f"{UNITS_PRODUCTS}[1]"),
    ),
    Fault(
        "squares not measured from the middle",
        "dpsql/sql/analysis/quantisation.py",
        "product_quantum",
        "ProductQuantum(first, second, divisor=divisor, added=half, taken=middle, middle=middle, "
        "reach=high - middle)",
        "ProductQuantum(first, second, divisor=divisor, added=half, taken=0, middle=0, "
        "reach=high - middle)",
        (f"{PRODUCTS}[small]", f"{STATISTICS}[]"),
    ),
    Fault(
        "a pair without its second value counts",
        "dpsql/planning/cell_list.py",
        "_where_known",
        "if not is_nullable(expression):\n    return condition",
        "return condition",
        (f"{STATISTICS}[]",),
    ),
    Fault(
        "a core is read before what its derived table needs is released",
        "dpsql/sql/binder/sources/derived_tables.py",
        "DerivedTables._table",
        "max(cores, default=-1) + 1",
        "0",
        ("tests/session/test_stages.py",),
    ),
    Fault(
        "a timestamp without a text fails the statement",
        "dpsql/sql/emit/scalar.py",
        "_cast",
        "value = dialect.ordinary(value)",
        "pass",
        (
            "tests/sql/golden/test_golden.py::test_golden[timestamp_as_text]",
        ),  # no statement fails since DuckDB 2.0.1
    ),
    Fault(
        "distinct units are added up over subgroups",
        "dpsql/sql/analysis/grouping_levels.py",
        "is_additive",
        "aggregate.function.is_additive",
        "aggregate.function.is_additive or aggregate.function.ignores_repeated_rows",
        ("tests/release/test_cube.py::test_without_noise_the_answer_is_that_of_duckdb",),
    ),
    Fault(
        "a domain asks a subquery of private rows",
        "dpsql/sql/analysis/key_domain/values.py",
        "DomainValues._reduced",
        "self._function(expression) or self._stands_for(expression, "
        "self._of_public_rows(expression))",
        "expression or self._stands_for(expression, self._of_public_rows(expression))",
        (
            "tests/sql/analysis/test_domain.py::test_a_subquery_of_private_rows_is_a_condition_like_others",
        ),
    ),
    Fault(
        "the values of a private column are read like those of a public one",
        "dpsql/sql/analysis/key_domain/values.py",
        "public_values",
        "case Scan(table=table, derived=False, unit=None): ...",
        "case Scan(table=table, derived=False): ...",
        (f"{PUBLIC}::test_a_column_of_a_private_table_or_with_many_values_is_not_listed",),
    ),
    Fault(
        "the values of a public column outlive their version of the data",
        "dpsql/session/public_sizes.py",
        "PublicSizes._forget_other_versions",
        "self._values = {}",
        "pass",
        (f"{PUBLIC}::test_values_are_those_of_the_version_that_is_read",),
    ),
    Fault(
        "an outer join keeps no public row for which an empty table has none",
        "dpsql/sql/analysis/work/rows.py",
        "UnitWork.public_relation",
        'step.kind == "left"',
        "not step",
        (
            "tests/sql/analysis/test_public_rows.py::test_an_outer_join_with_an_empty_public_table_keeps_the_rows_of_the_other",
        ),
    ),
    Fault(
        "a count of public rows is bounded by the rows of the first key",
        "dpsql/sql/binder/expression_subqueries.py",
        "Subqueries._aggregated",
        "public_rows(relation, sizes)",
        "1",
        (
            f"{PUBLIC}::test_rows_of_a_public_table_that_one_key_meets_bound_what_is_counted_of_them",
        ),
    ),
    Fault(
        "the clause loosens a limit of the owner",
        "dpsql/sql/parser/privacy_clause.py",
        "_least",
        "asked if limit is None else min(limit, asked)",
        "asked",
        ("tests/sql/parser/test_googlesql.py::test_limits_are_only_tightened",),
    ),
    Fault(
        "any column may be called the privacy unit",
        "dpsql/sql/binder/expressions/conditions.py",
        "is_unit",
        "not isinstance(column, ColumnRef) or column.identifies != UNIT",
        "not isinstance(column, ColumnRef)",
        (
            "tests/sql/parser/test_googlesql.py::test_the_unit_is_known_by_lineage_and_not_by_its_name",
        ),
    ),
)
