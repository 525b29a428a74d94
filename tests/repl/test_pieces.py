"""What is one statement, what is a command, and what still waits for its end."""

from __future__ import annotations

import pytest

from dpsql.repl.input import BackslashCommand, SqlStatement, is_finished, split, word


@pytest.mark.parametrize(
    ("text", "pieces", "rest"),
    [
        ("SELECT 1;", [SqlStatement("SELECT 1", 1)], ""),
        (
            "SELECT 1;\n\n SELECT\n2 ; ",
            [SqlStatement("SELECT 1", 1), SqlStatement("SELECT\n2", 3)],
            "",
        ),
        ("SELECT ';' , \"a;b\" /* ; */ -- ;\n", [], "SELECT ';' , \"a;b\" /* ; */ -- ;\n"),
        ("SELECT 'it''s;';", [SqlStatement("SELECT 'it''s;'", 1)], ""),
        ("SELECT 'open;", [], "SELECT 'open;"),
        ("SELECT 1 /* open ; ", [], "SELECT 1 /* open ; "),
        ("-- only a comment;\n", [], ""),
        (";;;", [], ""),
        ("-- about it\nSELECT 1;", [SqlStatement("SELECT 1", 2)], ""),
        ("\\d patients", [BackslashCommand("d", "patients", 1)], ""),
        (
            "\\d patients;\n\\dt\n",
            [BackslashCommand("d", "patients", 1), BackslashCommand("dt", "", 2)],
            "",
        ),
        (
            "SELECT 1\nFROM t \\gx\nSELECT 2;",
            [BackslashCommand("gx", "", 2, "SELECT 1\nFROM t"), SqlStatement("SELECT 2", 3)],
            "",
        ),
        (
            "SELECT 1; \\cost SELECT ';'\n",
            [SqlStatement("SELECT 1", 1), BackslashCommand("cost", "SELECT ';'", 1)],
            "",
        ),
        (".tables", [BackslashCommand("tables", "", 1)], ""),
        (
            "-- first\n.schema patients;\nSELECT 1; .help\nSELECT a\n.b;",
            [
                BackslashCommand("schema", "patients", 2),
                SqlStatement("SELECT 1", 3),
                BackslashCommand("help", "", 3),
                SqlStatement("SELECT a\n.b", 4),
            ],
            "",
        ),
        ("SELECT .5", [], "SELECT .5"),
        ("SELECT '\\d'", [], "SELECT '\\d'"),
        ("\\?", [BackslashCommand("?", "", 1)], ""),
    ],
)
def test_split(text: str, pieces: list[object], rest: str) -> None:
    assert split(text) == (pieces, rest)


@pytest.mark.parametrize(
    "text", ["SELECT 1;", "\\d", "", "  \n", "-- hm", "exit", " Quit ", "SELECT 1 \\g", "help"]
)
def test_enter_runs_what_is_finished(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize(
    "text", ["SELECT 1", "SELECT 1; SELECT 2", "SELECT ';", '"', "/* ;", "exit now"]
)
def test_enter_goes_on_with_what_is_not(text: str) -> None:
    assert not is_finished(text)


def test_bare_words_are_commands() -> None:
    assert (
        word("quit;") == BackslashCommand("q", "", 1)
        and word("HELP") == BackslashCommand("?", "", 1)
        and word("SELECT 1") is None
    )
