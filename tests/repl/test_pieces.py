"""What is one statement, what is a command, and what still waits for its end."""

from __future__ import annotations

import pytest

from dpsql.repl.input import Command, Sql, is_finished, split, word


@pytest.mark.parametrize(
    ("text", "pieces", "rest"),
    [
        ("SELECT 1;", [Sql("SELECT 1", 1)], ""),
        ("SELECT 1;\n\n SELECT\n2 ; ", [Sql("SELECT 1", 1), Sql("SELECT\n2", 3)], ""),
        ("SELECT ';' , \"a;b\" /* ; */ -- ;\n", [], "SELECT ';' , \"a;b\" /* ; */ -- ;\n"),
        ("SELECT 'it''s;';", [Sql("SELECT 'it''s;'", 1)], ""),
        ("SELECT 'open;", [], "SELECT 'open;"),
        ("SELECT 1 /* open ; ", [], "SELECT 1 /* open ; "),
        ("-- only a comment;\n", [], ""),
        (";;;", [], ""),
        ("-- about it\nSELECT 1;", [Sql("SELECT 1", 2)], ""),
        ("\\d patients", [Command("d", "patients", 1)], ""),
        ("\\d patients;\n\\dt\n", [Command("d", "patients", 1), Command("dt", "", 2)], ""),
        ("SELECT 1\nFROM t \\gx\nSELECT 2;", [Command("gx", "", 2, "SELECT 1\nFROM t"), Sql("SELECT 2", 3)], ""),
        ("SELECT 1; \\cost SELECT ';'\n", [Sql("SELECT 1", 1), Command("cost", "SELECT ';'", 1)], ""),
        ("SELECT '\\d'", [], "SELECT '\\d'"),
        ("\\?", [Command("?", "", 1)], ""),
    ],
)
def test_split(text: str, pieces: list[object], rest: str) -> None:
    assert split(text) == (pieces, rest)


@pytest.mark.parametrize("text", ["SELECT 1;", "\\d", "", "  \n", "-- hm", "exit", " Quit ", "SELECT 1 \\g", "help"])
def test_enter_runs_what_is_finished(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize("text", ["SELECT 1", "SELECT 1; SELECT 2", "SELECT ';", '"', "/* ;", "exit now"])
def test_enter_goes_on_with_what_is_not(text: str) -> None:
    assert not is_finished(text)


def test_bare_words_are_commands() -> None:
    assert word("quit;") == Command("q", "", 1) and word("HELP") == Command("?", "", 1) and word("SELECT 1") is None
