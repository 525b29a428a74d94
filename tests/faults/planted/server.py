"""Who comes into the server, how often and how much, and what its owner alone is told."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import WIRE

GUESSES, PLACES, LOG = (
    "tests/server/authentication/test_guesses.py",
    f"{WIRE}_places.py",
    f"{WIRE}_owners_log.py",
)

FAULTS = (
    Fault(
        "wrong passwords of a name count for nothing",
        "dpsql/server/authentication/failed_logins.py",
        "FailedLogins.attempt",
        "name.add(now, now)",
        "pass",
        (f"{GUESSES}::test_a_few_are_quick_and_the_next_wait_longer_and_longer",),
    ),
    Fault(
        "passwords that wait count for nothing while they wait",
        "dpsql/server/authentication/failed_logins.py",
        "FailedLogins.attempt",
        "tally.add(now, now + wait)",
        "0.0",
        (f"{GUESSES}::test_an_attempt_that_waits_counts_while_it_waits",),
    ),
    Fault(
        "who guesses a password locks its owner out",
        "dpsql/server/authentication/failed_logins.py",
        "FailedLogins.attempt",
        "by_name = min(by_name, PATIENCE)",
        "pass",
        (
            f"{GUESSES}::test_a_name_waits_for_whatever_addresses_try_it_and_its_owner_comes_in_all_the_same",
        ),
    ),
    Fault(
        "wrong passwords are remembered without end",
        "dpsql/server/authentication/failed_logins.py",
        "_tally",
        "if len(known) > REMEMBERED:\n    known.popitem(last=False)",
        "pass",
        (f"{GUESSES}::test_what_is_remembered_is_bounded",),
    ),
    Fault(
        "iterations tell which names are known",
        "dpsql/server/authentication/users.py",
        "Users.verifier",
        "counts[int.from_bytes(draw) % len(counts)]",
        "ITERATIONS",
        (
            "tests/server/authentication/test_users.py::test_unknown_names_have_as_many_iterations_as_known_ones",
        ),
    ),
    Fault(
        "one user takes all connections",
        "dpsql/server/connections.py",
        "Connections.enter",
        "self._limits.user_connections",
        "self._limits.connections",
        (f"{PLACES}::test_one_user_has_so_many_places_and_others_come_in",),
    ),
    Fault(
        "halves of messages fill the memory",
        "dpsql/server/protocol/stream.py",
        "PartialMessageSpace.take",
        "size > self._left",
        "size < 0",
        (f"{PLACES}::test_who_finds_no_room_is_told_so_when_the_message_has_come",),
    ),
    Fault(
        "the room of a client that left is lost",
        "dpsql/server/protocol/stream.py",
        "MessageStream.close",
        "self._give_back()",
        "pass",
        (f"{PLACES}::test_a_client_that_leaves_gives_its_room_back",),
    ),
    Fault(
        "the owner's log quotes the engine",
        "dpsql/errors/owners_log.py",
        "cause",
        "type(error).__name__",
        "repr(error)",
        (f"{LOG}::test_a_failed_statement_has_a_random_number_and_the_log_its_cause",),
    ),
    Fault(
        "all incidents have one number",
        "dpsql/errors/__init__.py",
        "incident_number",
        "secrets.token_hex(4)",
        '"0" * 8',
        (f"{LOG}::test_a_failed_statement_has_a_random_number_and_the_log_its_cause",),
    ),
    Fault(
        "the owner's log goes to the analyst's terminal",
        "dpsql/errors/owners_log.py",
        "",
        "LOG.addHandler(logging.NullHandler())",
        "LOG.disabled = False",
        (
            f"{LOG}::test_in_python_the_error_notes_its_number_and_nothing_is_written_to_the_terminal",
        ),
    ),
    Fault(
        "a server that shall be confined starts without",
        "dpsql/cli/host_warnings.py",
        "require_confined",
        "if missing: ...",
        "if not missing: ...",
        (f"{WIRE}_start.py::test_where_confinement_is_required_it_does_not_start_without",),
    ),
    Fault(
        "a parser that does not fit its compiled half is used",
        "dpsql/sql/__init__.py",
        "require_fitting_parser",
        "parser != compiled",
        "parser > compiled > parser",
        (
            "tests/docs/test_installation.py::test_a_parser_that_does_not_fit_its_compiled_half_is_told_before_any_charge",
        ),
    ),
)
