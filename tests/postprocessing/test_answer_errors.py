"""The line that tells clients without intervals how far an answer may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from dpsql.postprocessing import Result, answer_errors
from dpsql.postprocessing.answer_errors import errors_in_words
from dpsql.sql.ir.interval import EVERYTHING, FROM_ZERO, Interval, as_number

UNIT = Interval(-1, 1)
YEAR = Interval(as_number(date(2024, 1, 1)), as_number(date(2024, 12, 31)))


def said(
    monkeypatch: pytest.MonkeyPatch,
    within: Interval,
    *cells: tuple[object, object],
    columns: int = 1,
) -> str:
    """What is said of a result whose every column has these values with these intervals."""
    monkeypatch.setattr(answer_errors, "ranges", lambda plan: [within] * columns)
    names = [SimpleNamespace(name=f"x{place}") for place in range(columns)]
    rows = [(value,) * columns for value, _ in cells]
    intervals: Sequence[Any] = [(ends,) * columns for _, ends in cells]
    plan: Any = SimpleNamespace(confidence=0.95)
    result: Any = Result(names, rows, intervals)  # type: ignore[arg-type]
    return errors_in_words(plan, result)


@pytest.mark.parametrize(
    ("within", "cells", "expected"),
    [
        (FROM_ZERO, [(100, (80.0, 120.0)), (300, (280.0, 320.0))], "x0 ± 20"),
        (FROM_ZERO, [(100, (80.0, 120.0)), (2, (0.0, 22.0))], "x0 ± 20"),
        (FROM_ZERO, [(2, (0.0, 22.0))], "x0 ± 20"),
        (EVERYTHING, [(1.5, (1.2, 1.8)), (2.5, (2.0, 3.1))], "x0 ± 0.3 to 0.6"),
        (UNIT, [(0.2, (-1.0, 1.0))], "x0 ± 1.2, which says nothing"),
        (UNIT, [(0.2, (-1.0, 1.0)), (0.5, (0.25, 0.75))], "x0 ± 0.25"),
        (EVERYTHING, [(4.0, (-math.inf, math.inf))], "x0 ± ∞, which says nothing"),
        (EVERYTHING, [(date(2024, 5, 10), (date(2024, 5, 7), date(2024, 5, 12)))], "x0 ± 3 days"),
        (
            EVERYTHING,
            [(datetime(2024, 5, 10), (datetime(2024, 5, 9, 12), datetime(2024, 5, 10, 1)))],
            "x0 ± 0.5 days",
        ),
        (
            YEAR,
            [(date(2024, 5, 10), (date(2024, 1, 1), date(2024, 12, 31)))],
            "x0 ± 235 days, which says nothing",
        ),
        (YEAR, [(date(2024, 1, 4), (date(2024, 1, 1), date(2024, 1, 5)))], "x0 ± 3 days"),
        (EVERYTHING, [(None, None), (7, (5.0, 9.0))], "x0 ± 2"),
    ],
)
def test_errors_in_words(
    monkeypatch: pytest.MonkeyPatch,
    within: Interval,
    cells: list[tuple[object, object]],
    expected: str,
) -> None:
    assert said(monkeypatch, within, *cells) == f"error with 95 %: {expected}"


def test_what_has_no_interval_is_not_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, EVERYTHING, ("f", None)) == ""
    assert said(monkeypatch, EVERYTHING, ([1.0], ([0.5], [1.5]))) == ""


def test_columns_beyond_the_first_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    line = said(monkeypatch, EVERYTHING, (7, (5.0, 9.0)), columns=15)
    assert "x11 ± 2, and those of 3 more columns" in line and "x12" not in line


def test_long_results_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [(place, (place - 2.0, place + 2.0)) for place in range(100, 5_100)]
    assert said(monkeypatch, EVERYTHING, *cells) == "error with 95 %: x0 ± 2"
