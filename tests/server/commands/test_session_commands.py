"""What each command of a connection says, in the spellings that PostgreSQL's manual lists."""

from __future__ import annotations

import pytest

from dpsql.server.commands import command
from dpsql.server.commands.command import Command
from dpsql.server.commands.parser import parse_command
from dpsql.server.commands.tokens import CommandSyntaxError, pieces


def parsed(text: str) -> Command:
    """The command of a text with one statement."""
    (piece,) = pieces(text)
    return parse_command(piece)


def fetch(direction: str, count: int | None, move: bool = False) -> command.Fetch:
    return command.Fetch("c", direction, count, move)  # type: ignore[arg-type]


def query(text: str, start: int) -> command.QueryText:
    return command.QueryText(text, start)


IGNORED = command.IgnoredCommand("SET")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("BEGIN", command.BeginTransaction("BEGIN")),
        (
            "BEGIN WORK ISOLATION LEVEL REPEATABLE READ, READ ONLY, NOT DEFERRABLE",
            command.BeginTransaction("BEGIN"),
        ),
        (
            "BEGIN TRANSACTION READ WRITE ISOLATION LEVEL SERIALIZABLE DEFERRABLE",
            command.BeginTransaction("BEGIN"),
        ),
        (
            "START TRANSACTION ISOLATION LEVEL READ COMMITTED",
            command.BeginTransaction("START TRANSACTION"),
        ),
        (
            "START TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
            command.BeginTransaction("START TRANSACTION"),
        ),
        ("COMMIT", command.Commit(False)),
        ("END TRANSACTION AND NO CHAIN", command.Commit(False)),
        ("COMMIT WORK AND CHAIN", command.Commit(True)),
        ("COMMIT PREPARED 'x'", command.UnsupportedCommand("COMMIT PREPARED", "use COMMIT")),
        ("ROLLBACK", command.Rollback(False)),
        ("ABORT AND CHAIN", command.Rollback(True)),
        ("ROLLBACK TRANSACTION TO a", command.Savepoint("ROLLBACK", "a")),
        ('ROLLBACK TO SAVEPOINT "A b"', command.Savepoint("ROLLBACK", "A b")),
        ("SAVEPOINT A", command.Savepoint("SAVEPOINT", "a")),
        ("RELEASE a", command.Savepoint("RELEASE", "a")),
        ("RELEASE SAVEPOINT a", command.Savepoint("RELEASE", "a")),
        # without SCROLL and NO SCROLL a cursor goes back too,
        # as it does in PostgreSQL for plans # that can
        (
            "DECLARE c CURSOR FOR SELECT 1",
            command.Declare("c", query("SELECT 1", 21), False, True, False),
        ),
        (
            "DECLARE c BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT 1",
            command.Declare("c", query("SELECT 1", 60), True, False, True),
        ),
        (
            "DECLARE c ASENSITIVE SCROLL CURSOR WITHOUT HOLD FOR VALUES (1)",
            command.Declare("c", query("VALUES (1)", 52), False, True, False),
        ),
        ("FETCH c", fetch("FORWARD", 1)),
        ("FETCH NEXT FROM c", fetch("FORWARD", 1)),
        ("FETCH PRIOR IN c", fetch("BACKWARD", 1)),
        ("FETCH FIRST c", fetch("ABSOLUTE", 1)),
        ("FETCH LAST c", fetch("ABSOLUTE", -1)),
        ("FETCH ABSOLUTE -2 FROM c", fetch("ABSOLUTE", -2)),
        ("FETCH RELATIVE +3 FROM c", fetch("RELATIVE", 3)),
        ("FETCH 4 c", fetch("FORWARD", 4)),
        ("FETCH ALL c", fetch("FORWARD", None)),
        ("FETCH FORWARD c", fetch("FORWARD", 1)),
        ("FETCH FORWARD 5 c", fetch("FORWARD", 5)),
        ("FETCH FORWARD ALL c", fetch("FORWARD", None)),
        ("FETCH BACKWARD FROM c", fetch("BACKWARD", 1)),
        ("FETCH BACKWARD 6 c", fetch("BACKWARD", 6)),
        ("FETCH BACKWARD ALL c", fetch("BACKWARD", None)),
        ("MOVE 7 c", fetch("FORWARD", 7, move=True)),
        ("CLOSE c", command.CloseCursor("c")),
        ("CLOSE ALL", command.CloseCursor(None)),
        ("SHOW TimeZone", command.ShowSetting("timezone")),
        ("SHOW TIME ZONE", command.ShowSetting("timezone")),
        ("SHOW TRANSACTION ISOLATION LEVEL", command.ShowSetting("transaction_isolation")),
        ("SHOW SESSION AUTHORIZATION", command.ShowSetting("session_authorization")),
        ("SHOW SYNTHETIC TABLES", command.ShowSetting("synthetic tables")),
        ("SHOW dpsql.budget", command.ShowSetting("dpsql.budget")),
        ("SHOW ALL", command.ShowSetting(None)),
        ("SET a = 1", command.SetSetting("a", "1")),
        ("SET SESSION a.B TO 'x y', -2, c", command.SetSetting("a.b", "x y, -2, c")),
        ("SET LOCAL a TO DEFAULT", command.SetSetting("a", None, local=True)),
        ("SET TIME ZONE -7", command.SetSetting("timezone", "-7")),
        ("SET LOCAL TIME ZONE LOCAL", command.SetSetting("timezone", None, local=True)),
        ("SET NAMES 'UTF8'", command.SetSetting("client_encoding", "UTF8")),
        ("SET LOCAL NAMES DEFAULT", command.SetSetting("client_encoding", None, local=True)),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", IGNORED),
        ("SET TRANSACTION READ ONLY", IGNORED),
        ("SET ROLE NONE", IGNORED),
        ("SET SESSION AUTHORIZATION DEFAULT", IGNORED),
        ("SET CONSTRAINTS ALL DEFERRED", command.IgnoredCommand("SET CONSTRAINTS")),
        (
            "SET ROLE grace",
            command.UnsupportedCommand("SET ROLE", "who asks is decided when a connection is made"),
        ),
        ("RESET a.b", command.ResetSetting("a.b")),
        ("RESET ALL", command.ResetSetting(None)),
        ("RESET TIME ZONE", command.ResetSetting("timezone")),
        ("RESET ROLE", command.IgnoredCommand("RESET")),
        ("RESET SESSION AUTHORIZATION", command.IgnoredCommand("RESET")),
        ("DISCARD ALL", command.Discard("ALL")),
        ("DISCARD PLANS", command.Discard("PLANS")),
        ("DISCARD TEMPORARY", command.Discard("TEMP")),
        ("DEALLOCATE PREPARE p", command.Deallocate("p")),
        ("DEALLOCATE ALL", command.Deallocate(None)),
        ("UNLISTEN *", command.IgnoredCommand("UNLISTEN")),
    ],
)
def test_a_command_says_what_it_says_in_postgresql(text: str, wanted: Command) -> None:
    assert parsed(text) == wanted


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("BEGIN NOW", "NOW"),
        ("BEGIN NOT VALID", "VALID"),
        ("BEGIN ISOLATION LEVEL REPEATABLE WRITE", "WRITE"),
        ("BEGIN ISOLATION LEVEL READ ONLY", "ONLY"),
        ("BEGIN READ SLOWLY", "SLOWLY"),
        ("START WORK", "WORK"),
        ("COMMIT AND", None),
        ("COMMIT AND RUN", "RUN"),
        ("COMMIT AND CHAIN x", "x"),
        ("COMMIT x", "x"),
        ("ROLLBACK TO a b", "b"),
        ("SAVEPOINT 'a'", "'a'"),
        ("SAVEPOINT a b", "b"),
        ("RELEASE a b", "b"),
        ("DECLARE c NO CURSOR FOR SELECT 1", "CURSOR"),
        ("DECLARE c FAST CURSOR FOR SELECT 1", "FAST"),
        ("DECLARE c CURSOR SELECT 1", "SELECT"),
        ("DECLARE c CURSOR FOR", None),
        ("FETCH ABSOLUTE c", "c"),
        ("FETCH RELATIVE FROM c", "FROM"),
        ("FETCH 1.5 c", "1.5"),
        ("FETCH 1 c d", "d"),
        ("CLOSE c d", "d"),
        ("SHOW a b", "b"),
        ("SET a 1", "1"),
        ("SET a =", None),
        ("SET a = 1 2", "2"),
        ("SET a = ,", ","),
        ("SET a TO DEFAULT b", "b"),
        ("SET ROLE NONE x", "x"),
        ("RESET ALL x", "x"),
        ("RESET a x", "x"),
        ("DISCARD", None),
        ("DISCARD IT", "IT"),
        ("DISCARD ALL x", "x"),
        ("DEALLOCATE p q", "q"),
    ],
)
def test_a_command_that_is_not_well_formed_is_shown_where_it_breaks(
    text: str, near: str | None
) -> None:
    with pytest.raises(CommandSyntaxError) as raised:
        parsed(text)
    if near is None:
        assert (str(raised.value), raised.value.offset) == ("syntax error at end of input", None)
    else:
        assert str(raised.value) == f'syntax error at or near "{near}"'
        assert raised.value.offset == text.rindex(near)
