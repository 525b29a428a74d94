"""Tests that find several faults each."""

from __future__ import annotations

CLAIMS = "tests/planning/test_targeted.py::test_claims_hold_where_they_are_reached"
DOUBTFUL = "tests/planning/test_targeted.py::test_what_mixes_units_is_refused_or_keeps_its_claims"
ORDER = "tests/planning/test_targeted.py::test_exact_rows_depend_neither_on_physical_order_nor_on_threads"
RELEASED = "tests/planning/test_targeted.py::test_released_rows_come_in_an_order_of_their_own"
PRICE = "tests/planning/test_targeted.py::test_a_plan_costs_what_was_asked"
ANSWER = "tests/planning/test_targeted.py::test_the_answer_without_noise"
REFUSED = "tests/sql/refused/test_refused.py::test_refused"
VALUES = "tests/sql/functions/test_special_values.py"
TOGETHER = (
    "tests/sql/functions/test_total.py::test_functions_of_the_same_arguments_never_fail_together"
)
GOLDEN = "tests/sql/golden/test_golden.py::test_golden"
PRODUCTS = "tests/planning/test_moment_cells.py::test_every_row_is_the_rounded_product_or_null_and_within_reach"
UNITS_PRODUCTS = (
    "tests/planning/test_moment_cells.py::test_no_unit_moves_a_statistic_by_more_than_is_claimed"
)
STATISTICS = (
    "tests/planning/estimators/test_moments.py::test_without_noise_a_statistic_is_that_of_duckdb"
)
DEPARTURE = "tests/session/test_response_timing.py"
ERRORS = "tests/engines/test_engine_errors.py"
ANSWERS = "tests/session/answer_store/test_answers.py"
KEPT = "tests/session/answer_store/test_answers_kept.py"
TERMINAL = "tests/repl/test"
WIRE = "tests/server/test"
CATALOGUE = "tests/server/catalogue/test_catalogue.py"
CATALOGUE_REFUSALS = "tests/server/catalogue/test_catalogue_refusals.py"
LEDGER = "tests/privacy/ledger/test_ledger"
LOOSE = "tests/planning/test_constructs.py::test_loose_ties_are_refused_or_keep_their_claims"
LARGEST = (
    "tests/planning/estimators/test_moments.py"
    "::test_one_row_moves_a_product_by_no_more_than_half_the_largest_square"
)


def claims(limits: str, promise: str, *names: str) -> tuple[str, ...]:
    """The tests of these claims, under limits and promise of these names."""
    return tuple(f"{CLAIMS}[{limits} / {promise} / {name}]" for name in names)
