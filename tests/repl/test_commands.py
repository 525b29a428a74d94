"""Backslash commands as a person meets them: each does what the help says,
and none costs what it need not.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from command_runs import BY_SEX

from dpsql.output import OutputRows
from dpsql.repl.command_list import COMMANDS, find
from dpsql.repl.commands import _ACTIONS
from dpsql.repl.repl_session import ReplSession
from dpsql.session import Session

Capture = pytest.CaptureFixture[str]


def test_every_command_of_the_help_is_done_or_refused() -> None:
    assert {command.names[0] for command in COMMANDS if not command.refused} == set(_ACTIONS)
    assert all(find(name) is command for command in COMMANDS for name in command.names)


def test_a_dot_does_what_a_backslash_does(repl: ReplSession, capsys: Capture) -> None:
    repl.feed("\\dt\n")
    tables = capsys.readouterr().out
    repl.feed(".tables\n")
    assert capsys.readouterr().out == tables and "patients" in tables
    repl.feed(".help")
    assert "\\cost" in (listed := capsys.readouterr().out) and ".tables" in listed
    repl.feed(".schema patients\n.tabels\n.exit\n")
    out = capsys.readouterr().out
    assert "bmi" in out and "try \\tables" in out and repl.over


def test_the_last_result_is_drawn_and_written_at_no_cost(
    repl: ReplSession, capsys: Capture, checkout: Path
) -> None:
    repl.feed(BY_SEX)
    before = repl.session.remaining
    repl.feed("\\chart\n\\chart n\n\\chart male\n\\copy TO 'last.json'\n\\copy TO last.md\n")
    out = capsys.readouterr().out
    assert "┼" in out and "those that can be drawn: bmi, n" in out
    assert [record["male"] for record in json.loads((checkout / "last.json").read_text())] == [
        False,
        True,
    ]
    assert (checkout / "last.md").read_text().startswith("| male")
    assert repl.session.remaining == before and repl.statements == 1


def test_explain_is_short_and_verbose_says_all(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(f"\\explain {BY_SEX}\n")
    brief = capsys.readouterr().out
    assert (
        len(brief.splitlines()) <= 12
        and "takes: " in brief.splitlines()[0]
        and "engine SQL:" not in brief
    )
    repl.feed(f"\\explain verbose {BY_SEX}\n{BY_SEX} \\explain VERBOSE\n")
    assert capsys.readouterr().out.count("engine SQL:") == 2
    repl.feed(f"EXPLAIN {BY_SEX};EXPLAIN VERBOSE {BY_SEX};")
    said = capsys.readouterr().out
    assert said.startswith("Private Answer") and said.count("engine SQL:") == 1 and repl.paid == 0


def test_chart_before_anything_was_asked(repl: ReplSession, capsys: Capture) -> None:
    repl.feed("\\chart")
    assert "ask something first" in capsys.readouterr().out


def test_copy_pays_once_and_only_if_the_file_can_be_written(
    repl: ReplSession, capsys: Capture, checkout: Path
) -> None:
    repl.feed(
        f"\\copy ({BY_SEX}) TO 'no/such.csv'\n\\copy patients FROM 'x.csv'\n"
        f"\\copy ({BY_SEX}) TO x.csv WITH (FORMAT xml)"
    )
    assert repl.paid == 0 and "dpsql never changes data" in capsys.readouterr().out
    repl.feed(
        f"\\copy ({BY_SEX}) TO 'x.tsv' WITH (FORMAT csv, HEADER true);\n\\copy conditions TO y.parquet"
    )
    assert (checkout / "x.tsv").read_text().splitlines()[
        0
    ] == "male,bmi,bmi_low,bmi_high,n,n_low,n_high"
    assert repl.paid == Fraction(1, 10) and (checkout / "y.parquet").stat().st_size > 0
    assert "this one took 1/36" in capsys.readouterr().out


def test_prices_are_told_at_no_cost(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(
        f"\\cost {BY_SEX}\n\\explain SELECT COUNT(*) FROM labs\nSELECT chapter FROM conditions \\cost\n"
        "\\cost SELECT AVG(nothing) FROM labs\n"
    )
    out = capsys.readouterr().out
    assert "this one takes 1/36; 36 of 36 answers like this left" in out and "n    ± " in out
    assert "engine SQL" in out and "free: it reads public" in out
    assert repl.session.remaining.share == 1 and "42703" in out


def test_the_budget_says_what_this_session_paid(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(f"{BY_SEX}; \\budget")
    out = capsys.readouterr().out
    assert (
        "this session paid for 1 statement\n" in out
        and "35 of 36 answers left\n" in out
        and "█" in out
    )


def test_settings_are_shown_changed_and_checked(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(
        "\\pset format csv\n\\pset intervals off\n\\pset null '∅'\n\\pset ask 0.5\n\\x auto\n\\timing\n\\pset"
    )
    out = capsys.readouterr().out
    assert all(
        said in out
        for said in (
            "format     csv",
            "intervals  off",
            "null       ∅",
            "ask        0.5",
            "timing     on",
        )
    )
    repl.feed(
        "\\pset format xml\n\\pset nonsense 1\n\\pset ask much\n\\x maybe\n\\pset format parquet"
    )
    out = capsys.readouterr().out
    assert out.count("one of") == 3 and "\\pset knows" in out and "such as 0.5" in out
    repl.feed("SELECT NULL AS x \\g\n")
    assert capsys.readouterr().out.startswith("x\n")


def test_intervals_stand_beside_values_until_they_are_switched_off(
    repl: ReplSession, capsys: Capture
) -> None:
    repl.feed(f"{BY_SEX}; \\pset intervals\n{BY_SEX};")
    shown, hidden = capsys.readouterr().out.split("intervals is off")
    assert shown.count(" ± ") == 4 and " ± " not in hidden


def test_wide_rows_become_records_where_that_is_wanted(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(
        "\\x auto\nSELECT 1 AS a;\nSELECT "
        + ", ".join(f"{n} AS a_rather_long_name_{n}" for n in range(9))
        + ";"
    )
    out = capsys.readouterr().out
    assert "[ 1. row ]" in out.partition("a_rather")[0] and out.index("a\n") < out.index(
        "[ 1. row ]"
    )


def test_the_last_statement_can_be_run_printed_and_edited(
    repl: ReplSession, capsys: Capture, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repl.feed("\\g")
    assert "which statement?" in capsys.readouterr().out
    repl.feed("SELECT 41 AS x; \\p\n\\gx")
    out = capsys.readouterr().out
    assert "SELECT 41 AS x\n" in out and "x | 41" in out
    (checkout / "editor").write_text("#!/bin/sh\nsed -i s/41/42/ $1\n")
    (checkout / "editor").chmod(0o700)
    monkeypatch.setenv("DPSQL_EDITOR", str(checkout / "editor"))
    repl.feed("\\e")
    assert repl.draft.strip() == "SELECT 42 AS x"
    monkeypatch.setenv("DPSQL_EDITOR", "/no/such/editor")
    repl.feed("\\e")
    assert "Editing failed" in capsys.readouterr().out or repl.draft == ""


def test_results_go_to_a_file_and_back(repl: ReplSession, capsys: Capture, checkout: Path) -> None:
    repl.feed("\\o out.txt\nSELECT 1 AS a; \\o\nSELECT 2 AS b; \\o |sh\n\\o no/such/file\n")
    assert (
        "a" in (checkout / "out.txt").read_text() and "b" not in (checkout / "out.txt").read_text()
    )
    out = capsys.readouterr().out
    assert "not to a program" in out and "No such file" in out


def test_lists(repl: ReplSession, capsys: Capture) -> None:
    repl.feed(
        "\\d\n\\dt c*\n\\df date_tr*\n\\dn\n\\l\n\\conninfo\n\\?\n\\d public.labs\n\\d nowhere\n"
    )
    out = capsys.readouterr().out
    for said in (
        "conditions",
        "DATE_TRUNC(",
        "public",
        'as analyst "ada"',
        "\\timing",
        "smoke",
        "E_TABLE",
    ):
        assert said in out


def test_a_price_above_the_limit_is_asked_about(
    repl: ReplSession, session: Session, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(repl.screen, "confirms", no)
    repl.feed(f"\\pset ask 0.05\nSELECT 1; {BY_SEX};")
    assert len(asked) == 1 and "This one takes 1/36; 36 of 36 answers like this left" in asked[0]
    assert session.remaining.share == 1 and "nothing was charged" in capsys.readouterr().out
    monkeypatch.setattr(repl.screen, "confirms", lambda _: True)
    repl.feed("\\g")
    assert session.remaining.share < 1
    repl.feed(f"\\pset ask off\n{BY_SEX};")
    assert repl.display.ask is None


@pytest.mark.parametrize("style", ["table", "vertical", "csv", "tsv", "json", "jsonl", "markdown"])
def test_a_terminal_is_told_nothing_that_it_would_obey(
    repl: ReplSession, capsys: pytest.CaptureFixture[str], style: str
) -> None:
    """Texts of the data, of names and of messages may hold what clears a screen or types for the
    person.
    """
    hostile = "a\x1b[2J\x9b5n\u202eb\rc\x07"
    repl.display = repl.display.with_option("format", style)
    repl.show_rows(OutputRows.exact([hostile], [(hostile,)]))
    repl.screen.notify(hostile, "error")
    repl.feed(f"\\echo {hostile}\n")
    said = capsys.readouterr()
    assert not {"\x1b", "\x9b", "\u202e", "\r", "\x07"} & set(said.out + said.err)
    assert "\n" in said.out
