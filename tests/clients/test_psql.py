"""psql 15: every backslash command that asks the server, and what else people do there."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from client_statements import SLOW, TESTS, count, counts
from programs import program
from servers import Server

pytestmark = pytest.mark.clients

#: Every command that lists or describes, as psql's \\? has them, with a name where it takes one.
COMMANDS = r"""
\l | \l+ | \dn | \dn+ | \d | \d+ | \dt | \dt+ | \dt *.* | \dt public.* | \dtvs | \dS | \d patients | \d+ patients
\d labs | \d+ diagnoses | \d public.conditions | \d pat* | \d pg_class | \d+ pg_catalog.pg_type | \da | \dA | \dA+
\dAc | \dAf | \dAo | \dAp | \db | \db+ | \dc | \dC | \dC+ | \dconfig | \dd | \dD | \ddp | \dE | \des | \det | \deu
\dew | \df | \df+ | \df count | \dF | \dFd | \dFp | \dFt | \dg | \dg+ | \di | \di+ | \dl | \dL | \dm | \do | \do =
\dO | \dp | \dP | \dP+ | \drds | \dRp | \dRp+ | \dRs | \ds | \dT | \dT+ | \dTS | \du | \du+ | \dv | \dv+ | \dx | \dx+
\dX | \dy | \z | \z patients | \conninfo | \encoding | \sf+ no_such_function | \dn+ public | \dt+ labs
\d no_such_table | \lo_list
"""
#: Commands that name what is not there, and those that need a role with more rights in PostgreSQL.
WITHOUT_ANSWER = {r"\sf+ no_such_function": "does not exist"}
RESERVED = {r"\db+": "permission denied"}


def psql(
    server: Server, script: str, *options: str, stop: bool = True
) -> subprocess.CompletedProcess[str]:
    """The script through psql, whose first error ends it with 3."""
    command = [
        program("psql", "postgresql-client"),
        "-X",
        "-P",
        "pager=off",
        "-v",
        f"ON_ERROR_STOP={int(stop)}",
        *options,
    ]
    return subprocess.run(
        command,
        input=script,
        env=server.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def answered(server: Server, script: str, *options: str) -> str:
    """What psql prints where nothing fails."""
    done = psql(server, script, *options)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    return done.stdout


def test_backslash_commands_are_answered_at_no_cost(server: Server) -> None:
    commands = [each.strip() for line in COMMANDS.strip().splitlines() for each in line.split("|")]
    script = "".join(
        f"\\warn == '{command.replace(chr(92), chr(92) * 2)}'\n{command}\n" for command in commands
    )
    with server.charges(0):
        done = psql(server, script, stop=False)
    told = dict(each.split("\n", 1) for each in done.stderr.split("== ")[1:])
    assert list(told) == commands and done.returncode == 0
    expected = WITHOUT_ANSWER | ({} if server.private else RESERVED)
    wrong = {
        command: text
        for command, text in told.items()
        if ("ERROR" in text) != (command in expected)
    }
    assert not wrong
    assert all(words in told[command] for command, words in expected.items())
    assert (
        "invalid" not in done.stderr
        and 'Did not find any relation named "no_such_table"' in done.stderr
    )


@pytest.mark.parametrize(
    "command", [r"\dt", r"\d", r"\d patients", r"\d+ conditions", r"\d diagnoses", r"\di", r"\dv"]
)
def test_tables_look_as_those_of_postgresql(
    private: Server, reference: Server, command: str
) -> None:
    seen, expected = (answered(each, f"{command}\n") for each in (private, reference))
    assert _compared(seen) == _compared(expected)


def _compared(printed: str) -> list[list[str]]:
    """The cells of each line; the name of the owner, and how PostgreSQL stores a column,
    are each server's own.
    """
    kept = [
        [cell.strip() for cell in line.split("|")]
        for line in printed.splitlines()
        if line.strip("-+ ")
    ]
    if any("Owner" in line for line in kept):
        place = next(line.index("Owner") for line in kept if "Owner" in line)
        kept = [line[:place] + line[place + 1 :] for line in kept]
    return kept


def test_gdesc_describes_and_does_not_run(server: Server) -> None:
    with server.charges(0):
        shown = answered(
            server, f"{count(server.fresh())} \\gdesc\n{counts(server.fresh())} \\gdesc\n", "-At"
        )
    assert shown.splitlines() == ["n|bigint", "test|text", "n|bigint"]


def test_ways_of_showing_one_answer(server: Server, tmp_path: Path) -> None:
    statement = counts(server.fresh())
    file = tmp_path / "out.csv"
    script = f"""
{statement} \\gx
{statement};
\\x auto
{statement};
\\pset format csv
\\o {file}
{statement};
\\o
\\timing on
SELECT 1;
{count(server.fresh())} \\gset got_
\\echo gset :got_n
SELECT 'SELECT 2 AS two' AS x \\gexec
"""
    with server.charges(2):
        printed = answered(server, script)
    assert "-[ RECORD 4 ]" in printed and "(4 rows)" in printed and "Time:" in printed
    assert int(printed.split("gset ")[1].split()[0]) > 17_000
    assert [line.split(",")[0] for line in file.read_text().splitlines()] == ["test", *TESTS]


def test_copy_to_files_of_the_client(server: Server, tmp_path: Path) -> None:
    csv, text = tmp_path / "rows.csv", tmp_path / "rows.txt"
    with server.charges(2):
        answered(
            server,
            f"\\copy ({counts(server.fresh())}) TO '{csv}' WITH (FORMAT csv, HEADER)\n"
            f"\\copy ({counts(server.fresh())}) TO '{text}'\n",
        )
    assert [line.split(",")[0] for line in csv.read_text().splitlines()] == ["test", *TESTS]
    assert [line.split("\t")[0] for line in text.read_text().splitlines()] == list(TESTS)


def test_rows_are_fetched_in_parts(server: Server) -> None:
    with server.charges(1):
        printed = answered(server, f"\\set FETCH_COUNT 1\n{counts(server.fresh())};\n", "-At")
    assert [line.split("|")[0] for line in printed.splitlines()] == list(TESTS)


def test_transactions(server: Server) -> None:
    script = f"""\\set ON_ERROR_STOP 0
BEGIN;
SELECT COUNT(*) FROM no_such_table;
{count(server.fresh())};
ROLLBACK;
\\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT COUNT(*) FROM no_such_table;
{count(server.fresh())};
COMMIT;
"""
    with server.charges(1):
        done = psql(server, script, "-At", stop=False)
    assert done.stderr.count("does not exist") == 2
    assert done.stderr.count("current transaction is aborted") == 1
    assert done.stdout.splitlines()[0] == "BEGIN" and done.stdout.splitlines()[-1] == "COMMIT"


def test_errors_tell_code_place_and_hint(server: Server) -> None:
    done = psql(
        server,
        "\\set VERBOSITY verbose\nSELECT COUNT(*) FROM patience;\n\\errverbose\n",
        stop=False,
    )
    assert done.stderr.count("42P01") == 2
    assert (
        'relation "patience" does not exist\nLINE 1: SELECT COUNT(*) FROM patience;\n'
        in done.stderr
    )
    assert psql(server, "SELECT COUNT(*) FROM patience;").returncode == 3


def test_watch_repeats_one_answer(server: Server) -> None:
    with server.charges(1):
        process = subprocess.Popen(
            [program("psql", "postgresql-client"), "-X", "-At"],
            env=server.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(f"{count(server.fresh())} \\watch 0.3\n")
        process.stdin.close()
        process.stdin = None
        time.sleep(2.5)
        process.terminate()
        process.communicate(timeout=30)


def test_control_c_cancels(server: Server) -> None:
    process = subprocess.Popen(
        [program("psql", "postgresql-client"), "-X", "-c", SLOW],
        env=server.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "canceling statement due to user request" in errors


def test_tls_is_shown(private: Server) -> None:
    assert "TLSv1.3" in answered(private, "\\conninfo\n")
    certified = psql(
        private,
        "\\conninfo\n",
        f"{private.libpq()} sslmode=verify-full sslrootcert={private.authority}",
    )
    assert certified.returncode == 0, certified.stderr
    assert (
        psql(private, "", f"{private.libpq()} sslmode=verify-full sslrootcert=/dev/null").returncode
        == 2
    )


def test_a_charge_is_told_and_the_budget_can_be_asked(private: Server) -> None:
    statement = count(private.fresh())
    done = psql(private, f"{statement};\n{statement};\n")
    first, second = [line for line in done.stderr.splitlines() if line.startswith("NOTICE:")]
    assert "this one took 1/" in first and first != second
    with private.charges(0):
        shown = answered(
            private,
            f"SHOW dpsql.budget;\nTABLE dpsql.budget;\nEXPLAIN {count(private.fresh())};\n"
            f"EXPLAIN PRIVACY {count(private.fresh())};\n",
        )
    assert "cost=" in shown and "5000" in shown


def test_a_dump_is_refused(private: Server) -> None:
    with private.charges(0):
        done = subprocess.run(
            [program("pg_dump", "postgresql-client"), "--data-only"],
            env=private.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1 and "COPY" not in done.stdout


def test_the_server_is_ready(server: Server) -> None:
    assert (
        subprocess.run(
            [program("pg_isready", "postgresql-client")], env=server.environment, check=False
        ).returncode
        == 0
    )
