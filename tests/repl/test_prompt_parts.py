"""Where the history lies, what the toolbar shows,
and how values and options are completed and set.
"""

from __future__ import annotations

import stat
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpsql.errors import DataError, LedgerError
from dpsql.repl import prompt
from dpsql.repl.commands import _style_of
from dpsql.repl.completion import _inside_text, _literal, _quoted
from dpsql.repl.display import DisplaySettings
from dpsql.repl.prompt import Toolbar, history, history_file


@pytest.mark.parametrize(
    ("named", "state", "wanted"),
    [
        (None, None, "home/.local/state/dpsql/history"),
        (None, "state", "state/dpsql/history"),
        (None, "RELATIVE", "home/.local/state/dpsql/history"),
        ("~/my.history", "state", "home/my.history"),
        ("other", None, None),
        (" OFF ", None, ""),
        ("0", None, ""),
        ("", "state", ""),
    ],
)
def test_the_history_lies_where_it_is_named_or_in_the_state_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str | None,
    state: str | None,
    wanted: str | None,
) -> None:
    folder = "relative" if state == "RELATIVE" else str(tmp_path / (state or ""))
    for name, value in (
        (prompt.VARIABLE, named),
        ("XDG_STATE_HOME", state and folder),
        ("HOME", str(tmp_path / "home")),
    ):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    found = history_file()
    assert found == (Path(str(named)) if wanted is None else tmp_path / wanted if wanted else None)


def test_nobody_else_reads_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "all" / "made" / "history"
    monkeypatch.setenv(prompt.VARIABLE, str(file))
    history().store_string("SELECT 1")
    assert [stat.S_IMODE(each.stat().st_mode) for each in (file.parent, file)] == [0o700, 0o600]
    file.chmod(0o644)
    assert (
        list(history().load_history_strings()) == ["SELECT 1"]
        and stat.S_IMODE(file.stat().st_mode) == 0o600
    )
    for forgotten in (str(file / "x"), "off"):
        monkeypatch.setenv(prompt.VARIABLE, forgotten)
        assert list(history().load_history_strings()) == []


def test_the_toolbar_asks_the_ledger_each_second_and_a_broken_one_after_ten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, asked = [100.0], list[float]()
    opening: Any = SimpleNamespace(ready=None)

    def meter(session: object) -> list[tuple[str, str]]:
        asked.append(now[0])
        if session == "broken":
            raise LedgerError("cannot be read")
        return [("", f"read at {now[0]}")]

    monkeypatch.setattr(prompt, "meter", meter)
    monkeypatch.setattr(prompt.time, "monotonic", lambda: now[0])
    toolbar = Toolbar(opening)
    assert toolbar() == [("class:meter", " opening the database … ")] and not asked
    opening.ready = "session"
    for now[0] in (100.0, 100.9, 101.0, 101.1):
        shown = toolbar()
    assert asked == [100.0, 101.1] and shown == [("", "read at 101.1")]
    toolbar.refresh()
    assert toolbar() == shown and asked == [100.0, 101.1, 101.1]
    opening.ready = "broken"
    for now[0] in (110.0, 121.0, 121.1):
        assert toolbar() == [("class:meter.low", " the ledger cannot be read ")]
    assert asked[3:] == [110.0, 121.1]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        (7, "7"),
        ("it's", "'it''s'"),
        (date(2024, 7, 1), "'2024-07-01'"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_a_declared_value_is_completed_as_a_constant(value: Any, written: str) -> None:
    assert _literal(value) == written


@pytest.mark.parametrize(
    ("name", "written"), [("a_1", "a_1"), ("A", '"A"'), ("1a", '"1a"'), ("a b", '"a b"')]
)
def test_a_name_is_quoted_where_sql_needs_it(name: str, written: str) -> None:
    assert _quoted(name) == written


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("'a", True),
        ("'a'", False),
        ("'it''s", True),
        ('"a', True),
        ('"a" ', False),
        ("-- x", True),
        ("-- x\n", False),
        ("/* x", True),
        ("/* x */", False),
        ("/* */ /*", True),
        ("'--' ", False),
    ],
)
def test_nothing_is_completed_in_texts_and_comments(before: str, inside: bool) -> None:
    assert _inside_text(before) is inside


@pytest.mark.parametrize(
    ("options", "file", "style"),
    [
        ("", "x.ndjson", "jsonl"),
        ("", "x.TSV", "tsv"),
        ("", "x.unknown", "csv"),
        ("", "x.txt", "table"),
        (" WITH (FORMAT json)", "x.csv", "json"),
        (" csv header true", "x.md", "csv"),
        (" (FORMAT xml)", "x", None),
        (" csv json", "x", None),
    ],
)
def test_a_file_has_the_style_that_is_said_or_that_of_its_name(
    options: str, file: str, style: str | None
) -> None:
    if style is not None:
        assert _style_of(options, Path(file)) == style
        return
    with pytest.raises(DataError, match="csv, json, jsonl, markdown, parquet, table, tsv"):
        _style_of(options, Path(file))


def test_what_is_set_at_first() -> None:
    assert DisplaySettings().option_texts() == [
        ("format", "table"),
        ("intervals", "on"),
        ("expanded", "off"),
        ("null", "NULL"),
        ("pager", "on"),
        ("footer", "on"),
        ("timing", "off"),
        ("ask", "off"),
    ]


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("expanded", "", "on"),
        ("expanded", "AUTO", "auto"),
        ("null", "'-'", "-"),
        ("timing", "", True),
        ("timing", "no", False),
        ("timing", "1", True),
        ("pager", "OFF", False),
        ("ask", "0.25", Fraction(1, 4)),
        ("ask", "0", Fraction(0)),
        ("ask", "1e-15", Fraction(1, 10**15)),
        ("ask", "Never", None),
        ("format", "CSV", "csv"),
    ],
)
def test_an_option_takes_what_is_typed_and_a_switch_alone_turns_over(
    name: str, typed: str, value: object
) -> None:
    changed = DisplaySettings().with_option(name, typed)
    assert getattr(changed, name) == value
    if name == "expanded" and not typed:
        assert changed.with_option(name, "").expanded == "off"


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("ask", "-0.1"),
        ("ask", "1000000"),
        ("ask", "nan"),
        ("ask", "1e-16"),
        ("ask", "x"),
        ("timing", "maybe"),
        ("expanded", "wide"),
        ("format", "parquet"),
        ("colour", "on"),
    ],
)
def test_an_option_that_cannot_be_is_refused(name: str, typed: str) -> None:
    with pytest.raises(DataError):
        DisplaySettings().with_option(name, typed)
