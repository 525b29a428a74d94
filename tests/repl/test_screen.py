"""Where results and messages go, how wide and high what is shown may be,
and what an error looks like.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dpsql.errors import DataError, Error, OperationalError, Position, Refused, StatementError
from dpsql.repl import screen
from dpsql.repl.screen import Screen, complaint, file_errors, has_colour


def test_where_nobody_looks_a_line_has_100_characters() -> None:
    assert Screen(interactive=False).width == 100


def test_a_terminal_says_how_wide_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert (Screen(interactive=True).width, Screen(interactive=False).width) == (57, 100)


@pytest.mark.parametrize(
    ("text", "place", "lines"),
    [
        ("SELECT x", Position(1, 8), ["LINE 1: SELECT x", "               ^"]),
        ("SELECT\n\tx, y\r", Position(2, 5), ["LINE 2:  x, y", "            ^"]),
        (
            "é日x",
            Position(1, 3),
            ["LINE 1: é日x", "           ^"],
        ),  # the second character is two columns wide
        ("SELECT x", Position(2, 1), []),
        ("SELECT x", Position(0, 1), []),
    ],
)
def test_a_caret_stands_under_the_place(text: str, place: Position, lines: list[str]) -> None:
    error = StatementError("E_COLUMN", "no such column", position=place)
    more = "More: docs/refusals.md#e_column"
    assert complaint(error, text).split("\n") == ["42703 E_COLUMN no such column", *lines, more]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DataError("x.csv: is not there"), "x.csv: is not there"),
        (OperationalError("the disk is full"), f"{OperationalError.sqlstate} the disk is full"),
        (
            Refused("E_STMT", "not done", hint="SELECT 1"),
            f"{Refused('E_STMT', '').sqlstate} E_STMT not done\nWrite instead: SELECT 1\nMore: docs/refusals.md#e_stmt",
        ),
    ],
)
def test_an_error_says_what_to_write_instead_and_where_more_stands(error: Error, said: str) -> None:
    assert complaint(error) == said


def test_notes_stand_below_an_error() -> None:
    error = DataError("no")
    error.add_note("because")
    assert complaint(error) == "no\nbecause"


@pytest.mark.parametrize(
    ("lines", "width", "paged"),
    [(22, 40, False), (23, 40, True), (1, 41, True), (1, 40, False), (0, 0, False)],
)
def test_what_fits_no_screen_goes_through_the_pager(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: int,
    width: int,
    paged: bool,
) -> None:
    """A terminal of 24 lines: the prompt takes one, and the line below the result another."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "24")
    seen: list[str] = []
    monkeypatch.setattr(screen, "_paged", lambda text: not seen.append(text))
    text = f"{'x' * width}\n" * lines
    Screen(interactive=True).result(text, pager=True)
    assert (seen, capsys.readouterr().out) == (([text], "") if paged else ([], text))
    for other, pager in ((Screen(interactive=False), True), (Screen(interactive=True), False)):
        other.result(text, pager)
        assert capsys.readouterr().out == text


def test_a_pager_is_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pager").write_text(
        f"#!/bin/sh\necho $# > {tmp_path / 'said'}; cat >> {tmp_path / 'said'}\n"
    )
    (tmp_path / "pager").chmod(0o700)
    monkeypatch.setenv("PAGER", "/no/such/pager")
    monkeypatch.setenv("DPSQL_PAGER", f"{tmp_path / 'pager'} -a -b")
    assert screen._paged("é\n") and (tmp_path / "said").read_text() == "2\né\n"
    monkeypatch.delenv("DPSQL_PAGER")
    assert not screen._paged("é\n")


@pytest.mark.parametrize(
    ("named", "options"), [("less", "-SRXF"), ("less -N", "-N"), ("more", ""), (None, "-SRXF")]
)
def test_less_alone_is_told_to_leave_what_fits_on_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None, options: str
) -> None:
    for program in ("less", "more"):
        (tmp_path / program).write_text(
            f"#!/bin/sh\necho $* > {tmp_path / 'said'}; while read -r line; do :; done\n"
        )
        (tmp_path / program).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, value in (("DPSQL_PAGER", ""), ("PAGER", named or "")):
        monkeypatch.setenv(name, value)
    assert screen._paged("x\n") and (tmp_path / "said").read_text().strip() == options


@pytest.mark.parametrize(
    ("terminal", "no_colour", "term", "colours"),
    [
        (True, "", "xterm", True),
        (False, "", "xterm", False),
        (True, "1", "xterm", False),
        (True, "", "dumb", False),
        (True, "", None, False),
    ],
)
def test_colours_are_for_terminals_that_have_them(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, no_colour: str, term: str | None, colours: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    assert bool(has_colour(stream)) is colours


def test_messages_stand_beside_results_unless_somebody_looks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Screen(interactive=False).notify("said", "error")
    assert capsys.readouterr() == ("", "said\n")
    Screen(interactive=True).notify("said", "error")
    assert capsys.readouterr() == ("said\n", "")


def test_results_go_to_the_file_as_they_are_until_it_is_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, file = Screen(interactive=True), tmp_path / "out.csv"
    shown.write_to(file)
    shown.result("a\x1b\r\n", pager=True)
    assert file.read_bytes() == b"a\x1b\r\n" and shown.target == file
    shown.write_to(None)
    shown.result("b\x1b\n", pager=False)
    assert shown.target is None and "\x1b" not in capsys.readouterr().out
    with pytest.raises(DataError, match="No such file"):
        shown.write_to(tmp_path / "none" / "out.csv")
    assert shown.target is None


@pytest.mark.parametrize(
    ("typed", "yes"), [("y", True), (" YES ", True), ("", False), ("yep", False), (None, False)]
)
def test_only_yes_is_yes(monkeypatch: pytest.MonkeyPatch, typed: str | None, yes: bool) -> None:
    def answered(question: str) -> str:
        assert question == "Pay? [y/N] "
        if typed is None:
            raise EOFError
        return typed

    monkeypatch.setattr("builtins.input", answered)
    assert Screen(interactive=True).confirms("Pay?") is yes


def test_what_is_wrong_with_a_file_is_said_in_words() -> None:
    for raised, said in (
        (PermissionError(13, "Permission denied"), "f: Permission denied"),
        (OSError(), "f: cannot be used"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, ""), "f: is not text in UTF-8"),
    ):
        with pytest.raises(DataError) as error, file_errors(Path("f")):
            raise raised
        assert str(error.value) == said
