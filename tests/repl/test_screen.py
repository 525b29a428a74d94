"""How wide and high what is shown may be."""

from __future__ import annotations

import pytest

from dpsql.repl.screen import Screen


def test_where_nobody_looks_a_line_has_100_characters() -> None:
    assert Screen(interactive=False).width == 100


def test_a_terminal_says_how_wide_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert (Screen(interactive=True).width, Screen(interactive=False).width) == (57, 100)
