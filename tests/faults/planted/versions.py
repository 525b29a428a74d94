"""One version of the data: what is held, what is compared, and who comes to see the next one."""

from __future__ import annotations

from planted.fault import Fault, InString

VERSIONS, SLOW = "tests/engines/test_versions.py", "tests/engines/test_slow_openings.py"
HELD, OPENED, ALL = (
    "dpsql/engines/files/held_files.py",
    "dpsql/engines/duckdb/attached_source.py",
    "dpsql/engines/files/versions.py",
)
EXECUTION = "dpsql/session/execution.py"

COPIED = "tests/engines/test_copied_tables.py"
FILES = "tests/engines/files/test_source_files.py"
CHECKS = "tests/engines/test_table_checks.py"
NULLS = "tests/engines/files/test_null_texts.py"

FAULTS = (
    Fault(
        "a text that is no value is read as NULL",
        "dpsql/engines/duckdb/tables/copies.py",
        "_copy",
        "if state: ...",
        "if state == 2: ...",
        (f"{COPIED}::test_a_text_that_is_no_value_is_refused_before_anything_is_asked",),
    ),
    Fault(
        "two texts of a unit become one",
        "dpsql/engines/duckdb/tables/copies.py",
        "_copy",
        "{column for name, column in source.apart if name == table}",
        "set[str]()",
        (f"{COPIED}::test_two_texts_of_a_unit_never_become_one",),
    ),
    Fault(
        "words of a table stand for no value in a column with its own",
        "dpsql/engines/duckdb/tables/copies.py",
        "_part",
        "column.nulls or stored.csv.nulls",
        "(*(column.nulls or ()), *stored.csv.nulls)",
        (f"{NULLS}::test_words_of_a_column_stand_in_the_place_of_those_of_its_table",),
    ),
    Fault(
        "the process does not hear which words of a column stand for no value",
        "dpsql/engines/duckdb/process/protocol.py",
        "_column_heard",
        'None if fields["nulls"] is None else tuple(fields["nulls"])',
        "None",
        (f"{NULLS}::test_other_words_are_another_reading_of_the_same_file",),
    ),
    Fault(
        "other words for no value are the same reading of a file",
        "dpsql/engines/files/held_files.py",
        "read_options",
        "*([column.nulls for column in table.columns] if _has_nulls(table) else [])",
        "",
        (f"{NULLS}::test_other_words_are_another_reading_of_the_same_file",),
    ),
    Fault(
        "a draft takes words from columns of texts",
        "dpsql/engines/files/guessed_types.py",
        "_guesses",
        '_is_typed(column) and _plain(column["type"]) != sql_type',
        '_is_typed(column) or _plain(column["type"]) == sql_type',
        (f"{NULLS}::test_the_draft_names_words_for_columns_alone_that_need_them",),
    ),
    Fault(
        "how CSV is written is guessed from its rows",
        "dpsql/engines/duckdb/tables/copies.py",
        "csv_rows",
        InString(
            "false, skip = {csv_text.skip}, header = {str(csv_text.header).lower()}, delim = "
            "{quoted(csv_text.delimiter)}, quote = {quote}, escape = {quote}, strict_mode = true"
        ),
        "true, header = {str(csv_text.header).lower()}",
        (f"{COPIED}::test_how_a_file_is_written_is_not_guessed_from_what_stands_in_it",),
    ),
    Fault(
        "a file is copied before a write to it would show",
        OPENED,
        "OpenedSource.__init__",
        "if self._is_read_at_once and not self.held.settled(source):\n    raise NotOpened",
        "pass",
        (f"{COPIED}::test_a_file_is_copied_only_once_a_write_to_it_would_show",),
    ),
    Fault(
        "an answer is given again for another reading of the same files",
        HELD,
        "read_options",
        'sha256(json.dumps(mapped).encode()).hexdigest() if mapped else ""',
        'sha256(json.dumps(mapped).encode()).hexdigest() if not mapped else ""',
        (f"{COPIED}::test_an_answer_is_not_given_again_for_another_reading_of_the_same_file",),
    ),
    Fault(
        "a decimal of CSV is rounded",
        "dpsql/engines/duckdb/tables/texts.py",
        "value_of_text",
        InString("[0-9]{{0,{digits[2]}}}0*"),
        "[0-9]*",
        (f"{COPIED}::test_a_text_that_is_no_value_is_refused_before_anything_is_asked",),
    ),
    Fault(
        "codes that are not whole are read as integers",
        OPENED,
        "OpenedSource.__init__",
        "require_codes(self._connected, self._source)",
        "pass",
        (f"{CHECKS}::test_codes_that_are_stored_as_double_are_integers_where_all_are_whole",),
    ),
    Fault(
        "the files of one table may have other columns",
        OPENED,
        "OpenedSource._attach",
        "require_alike(self._connected, self._source)",
        "pass",
        (f"{CHECKS}::test_files_of_one_table_that_differ_are_refused",),
    ),
    Fault(
        "an SQLite file is read while a program writes to it",
        "dpsql/engines/duckdb/tables/copies.py",
        "open_sqlite",
        "any",
        "all",
        (f"{FILES}::test_sqlite_is_read_by_what_it_declares",),
    ),
    Fault(
        "the engine tells a row of private tables for nothing",
        "dpsql/engines/duckdb/engine.py",
        "DuckDBEngine._looked_up",
        "all(self._schema.tables[table].public for table in tables)",
        "tables",
        ("tests/engines/test_public_bounds.py::test_a_row_of_a_private_table_is_not_told",),
    ),
    Fault(
        "what was read is given though the files were written meanwhile",
        OPENED,
        "OpenedCursor.rows",
        "_require_unchanged(self._held)",
        "pass",
        (f"{VERSIONS}::test_what_is_written_into_the_file_itself_ends_the_statement",),
    ),
    Fault(
        "only where the files lie is compared",
        HELD,
        "HeldFile.unchanged",
        "now == self.state",
        "now[:2] == self.state[:2]",
        (f"{VERSIONS}::test_what_is_written_into_the_file_itself_ends_the_statement",),
    ),
    Fault(
        "a file whose time was set back counts as unchanged",
        HELD,
        "HeldFile.unchanged",
        "self.descriptor is None or facts.st_nlink == self.links",
        "self.descriptor is None",
        (f"{VERSIONS}::test_what_is_written_into_the_file_itself_ends_the_statement",),
    ),
    Fault(
        "each scan opens the file again",
        HELD,
        "HeldFile.opened_path",
        "self.descriptor is None",
        "True",
        (f"{VERSIONS}::test_the_cores_of_a_stage_read_the_version_that_is_held",),
    ),
    Fault(
        "each plan of a block reads a version of its own",
        "dpsql/session/answering.py",
        "WorkloadAnswering.run",
        "execution.paid(plan, scope, lambda charged_plan: charges[id(charged_plan)], version)",
        "execution.paid(plan, scope, lambda charged_plan: charges[id(charged_plan)])",
        (f"{VERSIONS}::test_a_block_reads_one_version",),
    ),
    Fault(
        "each stage reads a version of its own",
        EXECUTION,
        "Execution._measured",
        "snapshot.run(charge)",
        "self.engine.run(charge)",
        (f"{VERSIONS}::test_a_block_reads_one_version",),
    ),
    Fault(
        "statements read the version that was opened first",
        ALL,
        "Versions._is_current",
        "self._newest.alive and self._newest.states == states(source_files(self._source))",
        "self._newest.alive",
        (f"{VERSIONS}::test_every_way_to_replace_a_file_is_seen_between_statements",),
    ),
    Fault(
        "an answer is kept for the version that was there when it was looked for",
        EXECUTION,
        "Execution._made",
        "snapshot.version",
        "self.version",
        (f"{VERSIONS}::test_an_answer_is_kept_for_the_version_that_was_read",),
    ),
    Fault(
        "the time that a version takes to be opened is felt",
        EXECUTION,
        "Execution.held",
        "self.engine.hold(timing.begin)",
        "self.engine.hold()",
        (f"{SLOW}::test_opening_a_version_takes_whole_buckets",),
    ),
    Fault(
        "files are held of the folder to which a link leads by then",
        HELD,
        "HeldFiles.source",
        "_below_one_folder(source)",
        "source",
        (
            f"{VERSIONS}::test_all_files_are_of_the_folder_to_which_a_link_leads_when_the_first_is_opened",
        ),
    ),
    Fault(
        "the time that a version takes to be opened is felt where a planner counts public rows",
        "dpsql/session/public_tables.py",
        "PublicTables.public_count",
        "timing.begin",
        "",
        (f"{SLOW}::test_what_is_read_of_public_tables_opens_a_version_in_whole_buckets",),
    ),
    Fault(
        "the time that a version takes to be opened is felt where values of public tables are listed",
        "dpsql/session/public_tables.py",
        "PublicTables.public_column",
        "timing.begin",
        "",
        (f"{SLOW}::test_what_is_read_of_public_tables_opens_a_version_in_whole_buckets",),
    ),
    Fault(
        "the time is not begun where a version is opened again in the midst of a reading",
        ALL,
        "Versions.hold",
        "lambda: self.renewed(opening)",
        "self.renewed",
        (
            f"{SLOW}::test_a_version_that_changes_while_it_is_read_is_opened_again_in_the_same_buckets",
        ),
    ),
    Fault(
        "a second opening begins the time anew",
        "dpsql/session/side_channels.py",
        "ResponseTiming.begin",
        "if self._begun is None:\n    self._begun = self._clock.now()",
        "self._begun = self._clock.now()",
        (
            f"{SLOW}::test_a_version_that_changes_while_it_is_read_is_opened_again_in_the_same_buckets",
        ),
    ),
    Fault(
        "a version ends while a statement reads it",
        ALL,
        "Versions._take",
        "if not self._holds[before]:\n    self._end(before)",
        "self._end(before)",
        (f"{VERSIONS}::test_what_is_held_stays_and_the_next_is_the_new_one",),
    ),
    Fault(
        "what was let go counts as unchanged",
        HELD,
        "HeldFiles.unchanged",
        "not self._closed and all(file.unchanged() for file in self._files.values())",
        "all(file.unchanged() for file in self._files.values())",
        (f"{VERSIONS}::test_what_was_let_go_is_no_version",),
    ),
    Fault(
        "a file is looked at in the tick in which it was written",
        HELD,
        "HeldFiles.settled",
        "time.sleep(max(0.0, self._since + tick - time.monotonic()))",
        "_ = tick",
        (
            f"{VERSIONS}::test_a_file_that_was_written_just_now_is_looked_at_when_a_write_would_show",
        ),
    ),
    Fault(
        "data of other types are read by the plans of the old ones",
        "dpsql/engines/duckdb/opening.py",
        "_fits.fits",
        "schema.with_catalog(declared_catalog(schema, catalog)) == completed",
        "bool(schema.with_catalog(declared_catalog(schema, catalog)))",
        (f"{VERSIONS}::test_data_that_do_not_fit_are_not_read_and_nothing_is_charged",),
    ),
    Fault(
        "the thread that opens the data has a number of its own",
        "dpsql/engines/files/versions.py",
        "Versions._open",
        "statement_incident(number)",
        "statement_incident()",
        (
            "tests/server/test_owners_log.py::test_a_corrupt_file_is_named_under_the_number_that_the_analyst_has",
        ),
    ),
    Fault(
        "a wait is looked at every few seconds",
        "dpsql/errors/deadline.py",
        "GLANCE",
        "0.05",
        "3.5",
        (
            "tests/server/test_stuck.py::test_waits_are_looked_at_often_enough_to_end_within_a_second",
        ),
    ),
    Fault(
        "a connection keeps the public rows that it has read",
        "dpsql/session/session.py",
        "Session.__init__",
        "PostProcessors(lambda: self.named.schema, rows, engine.version)",
        "PostProcessors(lambda: self.named.schema, rows)",
        (
            "tests/session/test_replaced_public_table.py::test_the_next_statement_reads_the_new_rows",
        ),
    ),
)
