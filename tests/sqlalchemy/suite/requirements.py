"""What of SQLAlchemy's suite a dialect that only reads cannot be asked, each with its reason;
the rest is asked.

``WITHOUT`` closes what dpsql does not have, ``NOT_ASKED`` the tests that no requirement closes, and
``WITH`` opens what SQLAlchemy takes for unusual and dpsql has.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

MAKES = "dpsql makes no tables, views, indexes, schemas or constraints"
WRITES = "dpsql changes no rows"
DECLARES = "a schema file declares keys and references of one column, with plain lower-case names, and nothing else"
TYPES = (
    "columns are boolean, integer, decimal, double, text, date or timestamp; texts have no length"
)
ORDER = "the test relies on an order that the statement does not ask for"
RECURSES = "recursive queries are refused"
DIVIDES = "decimals are divided as doubles"

#: Requirements that are closed, by reason.
WITHOUT = {
    MAKES: """
        create_table drop_table temporary_tables temp_table_reflection temp_table_reflect_indexes
        temp_table_comment_reflection has_temp_table unicode_ddl views schemas schema_reflection on_update_cascade
    """,
    WRITES: """
        autoincrement_insert insert_from_select empty_inserts empty_inserts_executemany implements_get_lastrowid
        sane_rowcount sane_multi_rowcount update_where_target_in_subquery duplicate_key_raises_integrity_error
        autoincrement_without_sequence recursive_fk_cascade
    """,
    DECLARES: """
        index_reflection indexes_with_ascdesc reflect_indexes_with_ascdesc unique_constraint_reflection
        unusual_column_name_characters symbol_names_w_double_quote named_constraints implicitly_named_constraints
    """,
    TYPES: "time time_microseconds time_implicit_bound binary_comparisons binary_literals",
}

#: Tests that are left out, by reason: a class, or a class and the start of a test's name.
NOT_ASKED = {
    MAKES: """
        TableDDLTest FutureTableDDLTest LongNameBlowoutTest TableViaSelectTest.test_without_metadata
        ComponentReflectionTest.test_get_view_names HasTableTest.test_has_table_view
        HasTableTest.test_has_table_temp_view
    """,
    WRITES: "ReturningGuardsTest CTETest.test_insert_from_select_round_trip",
    RECURSES: "CTETest.test_select_recursive_round_trip",
    DECLARES: """
        BizarroCharacterTest QuotedNameArgumentTest NameDenormalizeTest CompositeKeyReflectionTest.test_fk_column_order
        ComponentReflectionTest.test_get_foreign_keys_quoted_name
    """,
    TYPES: "ComponentReflectionTestExtra.test_string_length_reflection",
    ORDER: "WindowFunctionTest.test_window_range",
    DIVIDES: "TrueDivTest.test_truediv_divisor[numeric_many_decimals",
}

#: Requirements that are opened.
WITH = """
    foreign_key_ddl
    boolean_col_expressions nullsordering intersect except_ window_functions ctes window_range window_range_numeric
    ctes_with_values tuple_in tuple_in_w_empty comment_reflection order_by_label_with_expression
    order_by_col_from_union mod_operator_as_percent_sign supports_distinct_on regexp_match regexp_replace fetch_first
    fetch_no_order_by fetch_expression datetime_historic date_historic datetime_literals timestamp_microseconds
    precision_numerics_enotation_small precision_numerics_many_significant_digits
    precision_numerics_retains_significant_digits infinity_floats float_or_double_precision_behaves_generically
    supports_bitwise_or supports_bitwise_and supports_bitwise_not supports_bitwise_xor supports_bitwise_shift
    table_value_constructor nvarchar_types aggregate_order_by
"""


def reason_for(name: str) -> str | None:
    """Why a test, as ``Class.test``, is not asked; None where it is."""
    for reason, left_out in NOT_ASKED.items():
        if any(
            name == each or name.startswith((f"{each}.", each if "." in each else f"{each}."))
            for each in left_out.split()
        ):
            return reason
    return None


def _closed(reason: str) -> property:
    return property(lambda _: exclusions.skip_if(lambda: True, reason))


_NAMES: dict[str, Any] = {
    **{name: _closed(reason) for reason, names in WITHOUT.items() for name in names.split()},
    **{name: property(lambda _: exclusions.open()) for name in WITH.split()},
}

Requirements = type("Requirements", (SuiteRequirements,), _NAMES)
