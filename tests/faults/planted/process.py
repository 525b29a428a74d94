"""The engine's process: what it runs, what it may reach, and what is heard of it."""

from __future__ import annotations

from planted.fault import Fault, InString

PROCESS, BEGIN = "tests/engines/test_process.py", "tests/engines/test_process_begin.py"
DEATH, END = "tests/engines/test_process_death.py", "tests/engines/test_process_end.py"
STUCK = "tests/engines/test_process_stuck.py"
SILENT, AGAIN = "tests/engines/test_process_silent.py", "tests/engines/test_read_again.py"
STANDS = f"{SILENT}::test_one_that_stands_still_is_ended_and_the_log_says_that_dpsql_ended_it"
CAREFUL = "tests/engines/test_careful_engine.py"
CONFINED = "tests/engines/test_confined.py"
LIMITS = "dpsql/engines/duckdb/process/confinement.py"
CLIENT = "dpsql/engines/duckdb/process/client.py"
LAUNCH = "dpsql/engines/duckdb/process/launch.py"
DATA = "dpsql/engines/duckdb/process/data.py"
READING = "dpsql/engines/duckdb/reading.py"

FAULTS = (
    Fault(
        "the process reads a table that was not planned",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedCursor._core",
        "require_planned(self._cursor, core.sql, core.tables, core.derived)",
        "require_planned",
        (f"{PROCESS}::test_a_table_that_was_not_planned_is_not_read",),
    ),
    Fault(
        "the optimizer may decide by statistics what holds a unit to its limits",
        "dpsql/engines/duckdb/in_memory.py",
        "CAREFUL",
        InString("statistics_propagation,"),
        "",
        (f"{CAREFUL}::test_every_engine_is_as_careful",),
    ),
    Fault(
        "DuckDB takes the sum of a unit's counts for smaller than it is",
        "dpsql/engines/duckdb/in_memory.py",
        "CAREFUL",
        InString("statistics_propagation,"),
        "",
        (f"{CAREFUL}::test_every_engine_is_as_careful",),
    ),
    Fault(
        "the engine's optimizer decides by statistics",
        "dpsql/engines/duckdb/attached_source.py",
        "CONFIG",
        "**CAREFUL",
        "",
        (f"{CAREFUL}::test_every_engine_is_as_careful",),
    ),
    Fault(
        "a table of another catalogue is taken for a subquery",
        "dpsql/engines/duckdb/emitted_sql_check.py",
        "require_planned",
        "others <= cte_names",
        "{name for *_, name in others} <= {name for *_, name in cte_names}",
        ("tests/engines/test_emitted_sql_check.py",),
    ),
    Fault(
        "a private table is given for a public one",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedSource.public_rows",
        "self._source.public[table]",
        "self._source.public.get(table, ('name',))",
        ("tests/engines/test_lockdown.py::test_private_tables_have_no_public_rows",),
    ),
    Fault(
        "what the process writes to a terminal is heard",
        LAUNCH,
        "begun",
        "stderr=subprocess.DEVNULL",
        "",
        (f"{BEGIN}::test_it_inherits_neither_environment_nor_descriptors_nor_a_terminal",),
    ),
    Fault(
        "the process has dpsql's environment",
        LAUNCH,
        "begun",
        "env={name: os.environ[name] for name in _KEPT if name in os.environ}",
        "",
        (f"{BEGIN}::test_it_inherits_neither_environment_nor_descriptors_nor_a_terminal",),
    ),
    Fault(
        "a death is told apart from other trouble",
        "dpsql/engines/duckdb/reading.py",
        "DuckDBReading.stage",
        "if rows is None: ...",
        "if rows is None and not self._data.opened.alive:\n"
        "    from dpsql.errors import StatementError\n"
        "\n"
        "    raise StatementError('E_EXEC', 'died', sqlstate='57P02')\n"
        "if rows is None: ...",
        (f"{DEATH}::test_its_second_death_is_the_constant_error_and_is_paid_for",),
    ),
    Fault(
        "a new process is begun after the failure was told",
        DATA,
        "ProcessCursor.rows",
        "with suppress(Exception):\n    self._renew()",
        "pass",
        (f"{DEATH}::test_the_new_process_is_begun_before_the_failure_is_told",),
    ),
    Fault(
        "files are in reach of the process",
        LIMITS,
        "confine",
        "restrict",
        "lambda **_: None",
        (f"{CONFINED}::test_nothing_but_the_source_is_in_reach",),
    ),
    Fault(
        "the process leaves a core with rows",
        LIMITS,
        "confine",
        '_limit("RLIMIT_CORE", 0)',
        "pass",
        (f"{CONFINED}::test_limits_hold_on_every_linux",),
    ),
    Fault(
        "a fork uses its parent's process",
        "dpsql/engines/files/versions.py",
        "Versions._require_open",
        "os.getpid() != self._owner",
        "False",
        (f"{END}::test_a_fork_leaves_the_process_alone_and_is_told_to_open_its_own",),
    ),
    Fault(
        "a fork closes the numbers of pipes that are closed",
        "dpsql/engines/duckdb/process/protocol.py",
        "MessagePipe.drop",
        "while self._open:\n    os.close(self._open.pop())",
        "self._open.clear()\nfor end in {self._reads, self._writes}:\n    os.close(end)",
        (f"{END}::test_a_fork_closes_nothing_that_has_the_numbers_of_pipes_that_are_closed",),
    ),
    Fault(
        "a message is run where it is read",
        "dpsql/engines/duckdb/row_encoding.py",
        "_unmarked",
        "_READ[letter](text)",
        "eval(text) if letter == 'x' else _READ[letter](text)",
        ("tests/engines/test_process_rows.py::test_what_is_no_frame_is_an_error_and_nothing_else",),
    ),
    Fault(
        "a frame goes where a closed pipe was",
        "dpsql/engines/duckdb/process/protocol.py",
        "MessagePipe._require_open",
        "not self._open or self.torn",
        "self.torn",
        (f"{DEATH}::test_nothing_is_sent_into_what_has_the_numbers_of_a_closed_pipe",),
    ),
    Fault(
        "the process stays when DuckDB answers nobody any more",
        "dpsql/engines/duckdb/process/child.py",
        "Child.work",
        "os._exit(1)",
        "reply = EngineMessage('failed', request.number)",
        (f"{DEATH}::test_a_fault_of_duckdb_ends_the_process_rather_than_every_statement_after_it",),
    ),
    Fault(
        "a DuckDB that has had a fault is asked again",
        "dpsql/engines/duckdb/in_process_data.py",
        "LocalCursor.rows",
        "if isinstance(error, FAULTS):\n    self._opened.end()",
        "pass",
        ("tests/engines/test_in_process_data.py",),
    ),
    Fault(
        "the data are open again after the failure was told",
        "dpsql/engines/duckdb/in_process_data.py",
        "LocalCursor.rows",
        "with suppress(Exception):\n    self._renew()",
        "pass",
        (
            "tests/engines/test_in_process_data.py::test_they_are_open_and_locked_down_before_the_fault_is_told",
        ),
    ),
    Fault(
        "an interrupt leaves the process that was begun",
        CLIENT,
        "EngineProcess.__init__",
        'began.add_done_callback(lambda _: self.kill("Interrupted"))',
        "pass",
        (f"{BEGIN}::test_an_interrupt_while_it_begins_ends_it",),
    ),
    Fault(
        "a text that is no UTF-8 fails statements",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedSource.__init__",
        "self._require_readable()",
        "pass",
        (
            "tests/engines/test_lockdown.py::test_what_the_engine_cannot_read_in_parquet_is_refused_at_the_opening",
        ),
    ),
    Fault(
        "a statement is charged though the engine stands still",
        "dpsql/engines/files/versions.py",
        "Versions.hold",
        "not self._is_current() or not self._newest.hears()",
        "not self._is_current()",
        (f"{STUCK}::test_who_is_ended_before_the_charge_pays_nothing",),
    ),
    Fault(
        "who is ended waits until the engine hears of it",
        CLIENT,
        "EngineProcess._look",
        "if is_over(GRACE):\n    raise WaitAbandoned",
        "pass",
        (f"{STUCK}::test_who_is_ended_before_the_charge_pays_nothing",),
    ),
    Fault(
        "an engine that stands still is waited for without end",
        CLIENT,
        "EngineProcess._listen",
        'self.kill("StoodStill")',
        "pass",
        (f"{STUCK}::test_a_silent_process_is_ended_long_before_the_time_of_a_stage", STANDS),
    ),
    Fault(
        "an engine that works and says nothing is ended",
        CLIENT,
        "EngineProcess._listen",
        "self._worked - before < WORK",
        "self._worked - before >= 0",
        (f"{SILENT}::test_one_that_works_for_longer_than_it_may_be_silent_is_left_alone",),
    ),
    Fault(
        "an engine of which nothing is known is ended for its silence",
        CLIENT,
        "EngineProcess._listen",
        "before is not None and self._worked is not None and self._worked - before < WORK "
        "and not pipe.has_come",
        "(before is None or self._worked is None) or self._worked - before < WORK and not "
        "pipe.has_come",
        (f"{SILENT}::test_one_of_which_nothing_is_known_is_left_alone",),
    ),
    Fault(
        "whether the engine hears is an answer to the first request",
        CLIENT,
        "EngineProcess.__init__",
        "itertools.count(1)",
        "itertools.count()",
        (f"{SILENT}::test_whether_it_hears_is_no_answer_to_the_first_request",),
    ),
    Fault(
        "other data are read under a charge once the engine has died",
        "dpsql/engines/files/version_hold.py",
        "VersionHold.reopened",
        "(again.version, again.opened.states) != (self.version, self.opened.states)",
        "False",
        (f"{AGAIN}::test_other_data_are_not_read_under_the_charge",),
    ),
    Fault(
        "a charge is read again after each death",
        READING,
        "DuckDBReading._begin_again",
        "self._is_again = True",
        "pass",
        (f"{AGAIN}::test_a_death_in_each_of_two_stages_is_the_end",),
    ),
    Fault(
        "any trouble is read again",
        READING,
        "DuckDBReading.stage",
        "except EngineDied as error: ...",
        "except Exception as error: ...",
        (f"{AGAIN}::test_trouble_that_is_no_death_is_not_read_again",),
    ),
    Fault(
        "what was derived before is not there when a stage is read again",
        READING,
        "DuckDBReading.stage",
        "[*self._given, *derived_tables]",
        "derived_tables",
        (f"{AGAIN}::test_a_later_stage_has_the_derived_tables_of_those_before",),
    ),
    Fault(
        "a stage that is read again has another time",
        READING,
        "DuckDBReading._begin_again",
        "is_over() or time.monotonic() >= end",
        "is_over()",
        (f"{AGAIN}::test_what_was_ended_for_its_time_is_not_read_again",),
    ),
    Fault(
        "what was ended is read again",
        READING,
        "DuckDBReading._begin_again",
        "self._is_again or is_over()",
        "self._is_again",
        (f"{AGAIN}::test_what_was_ended_by_its_analyst_is_not_read_again",),
    ),
    Fault(
        "a file that is not as its footer says is found after the charge",
        "dpsql/engines/duckdb/attached_source.py",
        "OpenedSource.__init__",
        "self._require_whole()",
        "pass",
        ("tests/engines/files/test_parquet_integrity.py",),
    ),
)
