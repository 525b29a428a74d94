"""The owner's audit: what it must find in other rooms,
and faults of its own that would hide them.
"""

from __future__ import annotations

from planted.fault import Fault, InString

HONEST = "tests/audit/test_audit.py::test_an_honest_database_passes"
NEIGHBOURS = "tests/audit/test_audit_neighbours.py"
CONFINED = (
    "tests/audit/test_audit_lockdown.py::test_the_engines_process_can_do_nothing_that_it_must_not"
)
EPSILON = "tests/audit/test_audit_epsilon.py"
TOLD = "tests/audit/test_audit.py::test_no_form_of_the_report_tells_a_value_or_a_unit"

FAULTS = (
    Fault(
        "no clamp, found by the audit of a database",
        "dpsql/sql/emit/quantise.py",
        "quantised",
        "dialect.least(dialect.greatest(value.copy(), low), high)",
        "value.copy()",
        (HONEST,),
    ),
    Fault(
        "Gaussian noise of half the scale, found by the audit's samplers",
        "dpsql/privacy/mechanism/gaussian.py",
        "Gaussian.sample",
        "self.variance",
        "self.variance / 4",
        ("tests/audit/test_audit_samplers.py::test_the_installed_samplers_pass",),
    ),
    Fault(
        "half the noise on the sparse vector's queries, found by the audit's samplers",
        "dpsql/privacy/mechanism/sparse_vector.py",
        "AboveThreshold.query_noise",
        "self.sensitivity if self.monotone else 2 * self.sensitivity",
        "self.sensitivity",
        (
            "tests/audit/test_audit_samplers.py::test_the_sparse_vector_of_its_scale_passes_and_of_others_fails",
        ),
    ),
    Fault(
        "an engine's process without Landlock, found by the audit's lock-down",
        "dpsql/engines/duckdb/process/confinement.py",
        "confine",
        "restrict",
        "lambda **_: True",
        (CONFINED,),
    ),
    Fault(
        "an engine's process without a limit of memory, found by the audit's lock-down",
        "dpsql/engines/duckdb/process/confinement.py",
        "confine",
        '_limit("RLIMIT_DATA", limits.memory + HEAD_ROOM)',
        "pass",
        (CONFINED,),
    ),
    Fault(
        "an engine's process that outlives dpsql, found by the audit's lock-down",
        "dpsql/engines/duckdb/process/confinement.py",
        "_die_with",
        "call(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)",
        "pass",
        (CONFINED,),
    ),
    Fault(
        "a kernel that lets the engine's process open files is a note of the audit",
        "dpsql/audit/engine_process.py",
        "_checks",
        "least <= _NEEDED",
        "least < 1",
        (
            "tests/audit/test_audit_lockdown.py::test_an_engine_that_can_open_a_file_or_connect_fails",
        ),
    ),
    Fault(
        "the data opened by dpsql's own process are a note of the audit",
        "dpsql/audit/engine_process.py",
        "process_checks",
        'AuditCheck(_PROCESS, "failed", f"{message}; take process = false out of the schema\'s '
        '[engine]")',
        'AuditCheck(_PROCESS, "note", f"{message}; take process = false out of the schema\'s '
        '[engine]")',
        (
            "tests/audit/test_audit_lockdown.py::test_an_audit_without_confinement_ends_with_what_to_do",
        ),
    ),
    Fault(
        "an engine that may read files, found by the audit's lock-down",
        "dpsql/engines/duckdb/attached_source.py",
        "lock_down",
        '"SET enable_external_access = false"',
        '"SET enable_progress_bar = false"',
        ("tests/audit/test_audit_lockdown.py::test_every_attempt_is_refused",),
    ),
    Fault(
        "the audit's neighbour keeps the unit's rows in tables further off",
        "dpsql/audit/sensitivity/neighbours.py",
        "without_lost",
        "if not owner.steps: ...",
        "if owner.steps:\n"
        "    return f'SELECT * FROM data.main.\"{table}\"'\n"
        "if not owner.steps: ...",
        (f"{NEIGHBOURS}::test_a_neighbour_lacks_the_rows_of_one_unit_and_no_others",),
    ),
    Fault(
        "the audit's neighbour lacks rows of nobody",
        "dpsql/audit/sensitivity/neighbours.py",
        "without_lost",
        InString("WHERE NOT EXISTS"),
        'WHERE t0."{(owner.steps[0].column if owner.steps else owner.column)}" IS NOT NULL '
        "AND NOT EXISTS",
        (f"{NEIGHBOURS}::test_a_neighbour_lacks_the_rows_of_one_unit_and_no_others",),
    ),
    Fault(
        "the audit's bounds on ε leave chance out",
        "dpsql/audit/empirical/distinguishing_events.py",
        "lower_bound",
        "alpha / 4",
        "0.4",
        (f"{EPSILON}::test_right_noise_passes_and_too_little_is_found",),
    ),
    Fault(
        "the audit calls an ε that is proved to be too large a pass",
        "dpsql/audit/empirical/lower_bound.py",
        "_check",
        "proved > claim.epsilon",
        "proved > 10 * claim.epsilon",
        (f"{EPSILON}::test_two_thirds_of_the_noise_are_found_in_a_statement",),
    ),
    Fault(
        "the audit tells figures of the data without being asked",
        "dpsql/audit/report.py",
        "_check",
        "if details: ...",
        "if True: ...",
        (TOLD,),
    ),
    Fault(
        "the audit plans on the ledger of the database",
        "dpsql/audit/sensitivity/plans.py",
        "Planner.__init__",
        "open_accountant(schema, ledger)",
        "open_accountant(schema)",
        ("tests/audit/test_audit.py::test_a_database_without_a_ledger_gets_none",),
    ),
    Fault(
        "the audit tells a surprise to be rarer than it is",
        "dpsql/audit/empirical/confidence.py",
        "surprise",
        "-distance + free * (1 + log(distance / free))",
        "-distance",
        ("tests/audit/test_audit_chance.py::test_a_surprise_is_never_said_to_be_rarer_than_it_is",),
    ),
)
