"""COPY that sends rows to the client, in both spellings of its options,
and commands that are refused.
"""

from __future__ import annotations

import pytest

from dpsql.errors import Error, NotSupportedError
from dpsql.server.commands import command
from dpsql.server.commands.command import Command, CopyOptions
from dpsql.server.commands.parser import parse_command
from dpsql.server.commands.tokens import CommandSyntaxError, pieces

CSV = CopyOptions("csv", ",", "")


def parsed(text: str) -> Command:
    """The command of a text with one statement."""
    (piece,) = pieces(text)
    return parse_command(piece)


@pytest.mark.parametrize(
    ("text", "query", "start"),
    [
        ("COPY (SELECT ')' FROM (VALUES (1)) t) TO STDOUT", "SELECT ')' FROM (VALUES (1)) t", 6),
        ("COPY Orders TO STDOUT", 'SELECT * FROM "orders"', 5),
        ('COPY public."O""k" (a, "B") TO STDOUT', 'SELECT a, "B" FROM "public"."O""k"', 5),
    ],
)
def test_what_is_copied_is_a_query(text: str, query: str, start: int) -> None:
    assert parsed(text) == command.Copy(command.QueryText(query, start), CopyOptions())


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("", CopyOptions()),
        ("WITH (FORMAT text, DELIMITER '|', NULL '')", CopyOptions("text", "|", "")),
        ("(FORMAT csv)", CSV),
        ("CSV", CSV),
        ("WITH BINARY", CopyOptions("binary")),
        ("(FORMAT 'BINARY')", CopyOptions("binary")),
        ("(FORMAT csv, HEADER)", CopyOptions("csv", ",", "", header=True)),
        ("(HEADER, FORMAT csv)", CopyOptions("csv", ",", "", header=True)),
        ("(FORMAT csv, HEADER off)", CSV),
        ("(FORMAT csv, HEADER 1)", CopyOptions("csv", ",", "", header=True)),
        ("(FORMAT csv, HEADER ON)", CopyOptions("csv", ",", "", header=True)),
        # the escape is the quote, where it is not said
        ("(FORMAT csv, QUOTE '''')", CopyOptions("csv", ",", "", quote="'", escape="'")),
        (
            "(FORMAT csv, QUOTE '''', ESCAPE '\\')",
            CopyOptions("csv", ",", "", quote="'", escape="\\"),
        ),
        ("(FORMAT csv, ESCAPE '\\')", CopyOptions("csv", ",", "", escape="\\")),
        ("(FORMAT csv, FORCE_QUOTE *)", CopyOptions("csv", ",", "", force_quote="*")),
        (
            '(FORMAT csv, FORCE_QUOTE (a, "B"))',
            CopyOptions("csv", ",", "", force_quote=frozenset(("a", "B"))),
        ),
        ("(FORMAT csv, ENCODING 'utf-8')", CSV),
        (
            "CSV HEADER DELIMITER AS ';' NULL AS '-' QUOTE '''' ESCAPE AS '!' FORCE QUOTE a, b ENCODING 'UTF8'",
            CopyOptions("csv", ";", "-", True, "'", "!", frozenset(("a", "b"))),
        ),
        ("CSV DELIMITERS ';' FORCE QUOTE *", CopyOptions("csv", ";", "", force_quote="*")),
    ],
)
def test_options_of_copy_have_the_defaults_of_their_format(
    options: str, wanted: CopyOptions
) -> None:
    assert parsed(f"COPY t TO STDOUT {options}") == command.Copy(
        command.QueryText('SELECT * FROM "t"', 5), wanted
    )


@pytest.mark.parametrize(
    ("options", "sqlstate", "said"),
    [
        ("(FORMAT xml)", "22023", "COPY writes the formats text, csv and binary"),
        ("(FORMAT binary, HEADER)", "0A000", "COPY in the binary format has no other options"),
        ("(QUOTE '\"')", "0A000", "COPY quotes only in the format csv"),
        ("(FORCE_QUOTE *)", "0A000", "COPY quotes only in the format csv"),
        ("(DELIMITER '||')", "0A000", "COPY delimiter must be a single one-byte character"),
        ("(DELIMITER 'é')", "0A000", "COPY delimiter must be a single one-byte character"),
        ("(DELIMITER '\n')", "0A000", "COPY delimiter must be a single one-byte character"),
        ("(FORMAT csv, ESCAPE '')", "0A000", "COPY escape must be a single one-byte character"),
        ("(ENCODING 'latin1')", "0A000", "COPY writes UTF8 only"),
        ("ENCODING 'latin1'", "0A000", "COPY writes UTF8 only"),
        ("(FREEZE)", "0A000", "COPY option freeze is not supported; leave it out"),
        ("(SPEED 9)", "42601", 'option "speed" not recognized'),
        ("(HEADER", "42601", "syntax error at end of input"),
        ("(HEADER true FORMAT csv)", "42601", 'syntax error at or near "FORMAT"'),
        ("(FORMAT csv) x", "42601", 'syntax error at or near "x"'),
        ("QUICKLY", "42601", 'syntax error at or near "QUICKLY"'),
        ("CSV FORCE NULL a", "42601", 'syntax error at or near "NULL"'),
        ("(FORMAT csv, FORCE_QUOTE (a b))", "42601", 'syntax error at or near "b"'),
    ],
)
def test_options_that_copy_does_not_have_are_refused(
    options: str, sqlstate: str, said: str
) -> None:
    with pytest.raises(Error) as raised:
        parsed(f"COPY t TO STDOUT {options}")
    sqlstates = {NotSupportedError: "0A000", CommandSyntaxError: "42601"}
    assert str(raised.value) == said
    assert getattr(raised.value, "sqlstate", sqlstates.get(type(raised.value))) == sqlstate


@pytest.mark.parametrize(
    "text", ["COPY () TO STDOUT", "COPY (SELECT 1 TO STDOUT", "COPY t STDOUT", "COPY t. TO STDOUT"]
)
def test_a_copy_without_a_query_or_a_way_is_a_syntax_error(text: str) -> None:
    with pytest.raises(CommandSyntaxError):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("COPY t FROM STDIN", command.WriteCommand("COPY FROM")),
        (
            "COPY t TO '/x'",
            command.UnsupportedCommand("COPY TO a file or program", "write COPY (query) TO STDOUT"),
        ),
        ("insert into t values (1)", command.WriteCommand("INSERT")),
        ("truncate t", command.WriteCommand("TRUNCATE TABLE")),
        ("create or replace temp view v as select 1", command.WriteCommand("CREATE VIEW")),
        ("create unique index i on t (a)", command.WriteCommand("CREATE INDEX")),
        ("create", command.WriteCommand("CREATE")),
        ("drop table t", command.WriteCommand("DROP TABLE")),
        ("alter role r", command.WriteCommand("ALTER ROLE")),
        ("create synthetic view s", command.WriteCommand("CREATE SYNTHETIC")),
        ("drop synopsis s", command.QueryText("drop synopsis s")),
        (
            "create synthetic table s as select 1",
            command.QueryText("create synthetic table s as select 1"),
        ),
        (
            "listen x",
            command.UnsupportedCommand("LISTEN", "nothing is ever notified; leave it out"),
        ),
        ('"begin"', command.QueryText('"begin"')),
        ("select 1", command.QueryText("select 1")),
    ],
)
def test_what_changes_data_is_named_by_its_tag_and_what_is_not_known_is_a_query(
    text: str, wanted: Command
) -> None:
    assert parsed(text) == wanted
