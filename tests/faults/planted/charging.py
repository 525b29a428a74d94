"""What fails after its charge: what the text alone decides, and what the memory does not hold."""

from __future__ import annotations

from planted.fault import Fault

TEXT, PRICES = "tests/session/test_text_alone.py", "tests/session/test_price_range.py"
SPILLING = "tests/engines/test_spilling.py"
TIMING = "tests/session/test_response_timing.py"

ERRORS = "tests/engines/test_engine_errors.py"

FAULTS = (
    Fault(
        "a failure before the charge does not say that nothing was charged",
        "dpsql/engines/duckdb/engine.py",
        "DuckDBEngine._looked_up",
        'raise ExecutionFailed("public tables could not be read; nothing was charged")',
        "raise ExecutionFailed",
        (f"{ERRORS}::test_an_engine_that_cannot_count_public_rows_says_that_nothing_was_charged",),
    ),
    Fault(
        "a place for reading gets free when the reading ends, and not when the answer leaves",
        "dpsql/session/execution.py",
        "Execution._released",
        "with (scope.reading(derives=bool(plan.derived)) as deriver, ResponseTiming(plan, "
        "self._time_bucket, self.clock) as timing): ...",
        "with (ResponseTiming(plan, self._time_bucket, self.clock) as timing, "
        "scope.reading(derives=bool(plan.derived)) as deriver): ...",
        (f"{TIMING}::test_who_waits_to_leave_has_no_sandbox_and_keeps_a_place_for_reading",),
    ),
    Fault(
        "statements with stages wait for each other after their charge",
        "dpsql/postprocessing/pool.py",
        "PostProcessors.reading",
        "self._deriving.slot(analyst, check) if derives else nullcontext()",
        "nullcontext()",
        (f"{TIMING}::test_of_statements_with_stages_one_reads_at_a_time_until_it_leaves",),
    ),
    Fault(
        "reading takes the sandboxes that free statements wait for",
        "dpsql/postprocessing/pool.py",
        "PostProcessors.reading",
        "self._readings.slot",
        "self._slots.slot",
        (f"{TIMING}::test_of_statements_with_stages_one_reads_at_a_time_until_it_leaves",),
    ),
    Fault(
        "a statement is charged before its dry run",
        "dpsql/session/execution.py",
        "Execution.charged",
        "self.engine.dry_run(plan)",
        "pass",
        (f"{TEXT}::test_a_statement_that_the_engine_would_not_plan_is_not_charged",),
    ),
    Fault(
        "a block is charged before its dry run",
        "dpsql/session/execution.py",
        "Execution.charged_together",
        "for plan in block.plans:\n    self.engine.dry_run(plan)",
        "pass",
        (f"{TEXT}::test_the_dry_run_comes_before_the_charge_of_a_block",),
    ),
    Fault(
        "the dry run binds nothing",
        "dpsql/engines/duckdb/dry_run.py",
        "DryRun._plan",
        'cursor.execute(f"EXPLAIN {core.sql}").fetchall()',
        "pass",
        (f"{TEXT}::test_a_statement_that_the_engine_would_not_plan_is_not_charged",),
    ),
    Fault(
        "the dry run does not compare what is read with what was planned",
        "dpsql/engines/duckdb/dry_run.py",
        "DryRun._plan",
        "require_planned(cursor, core.sql, core.tables, core.derived, spare=SPARE)",
        "require_planned, SPARE",
        (f"{TEXT}::test_a_statement_that_the_engine_would_not_plan_is_not_charged",),
    ),
    Fault(
        "expressions may grow without end",
        "dpsql/sql/emit/node_count.py",
        "require",
        "nodes > MOST_NODES",
        "nodes > MOST_NODES * 10**9",
        (f"{TEXT}::test_what_an_engine_makes_larger_is_counted_as_it_will_be",),
    ),
    Fault(
        "a long text is put together in another order",
        "dpsql/sql/emit/node.py",
        "balanced",
        "kind(this=operand(one), expression=operand(two))",
        "kind(this=operand(two), expression=operand(one))",
        (f"{TEXT}::test_long_texts_are_compared_as_they_are",),
    ),
    Fault(
        "levels of a cube are put together whatever their variances",
        "dpsql/planning/estimators/least_squares.py",
        "comparable",
        "LEAST_SHARE * max(variance, *(level.variance for level in levels), 0.0)",
        "0 * max(variance, *(level.variance for level in levels), 0.0)",
        (f"{PRICES}::test_levels_of_any_two_variances_are_put_together",),
    ),
    Fault(
        "what is spilled is not enciphered",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedSource.__init__",
        "encipher(self.connection)",
        "pass",
        (f"{SPILLING}::test_what_memory_does_not_hold_is_spilled_enciphered_and_removed",),
    ),
    Fault(
        "what a killed process has spilled stays",
        "dpsql/engines/files/private_folders.py",
        "private_folder",
        "_remove_left()",
        "pass",
        (f"{SPILLING}::test_what_a_killed_process_left_is_removed_by_the_next",),
    ),
    Fault(
        "the folder of a living process is taken for left behind",
        "dpsql/engines/files/private_folders.py",
        "_locked",
        "fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        (f"{SPILLING}::test_what_a_killed_process_left_is_removed_by_the_next",),
    ),
    Fault(
        "a fork removes the folder of its parent",
        "dpsql/engines/files/private_folders.py",
        "remove_folder",
        "lock is None or maker != os.getpid()",
        "lock is None",
        (f"{SPILLING}::test_a_fork_does_not_remove_the_folder_of_its_parent",),
    ),
)
