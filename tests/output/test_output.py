"""How rows are written: the same rows in every style, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from dpsql.errors import DataError
from dpsql.output import STYLES, OutputRows, as_text, chart, reserved, write

SALES = OutputRows(
    ("city", "day", "n", "mean"),
    ("VARCHAR", "DATE", "BIGINT", "DECIMAL(10,2)"),
    [("Zürich|1", date(2026, 1, 2), 9345, Decimal("29.76")), ("東京", None, -3, Decimal("0.21"))],
    [(None, None, (9325.0, 9365.0), (29.56, 29.96)), (None, None, (-23.0, 17.0), None)],
)


def test_people_see_what_noise_leaves() -> None:
    header, rule, first, second = as_text(SALES, "table", True).splitlines()
    assert header.split() == ["city", "day", "n", "mean"] and set(rule) == {"-", " "}
    assert "9,345 ± 20  29.76 ± 0.20" in first and "−3 ± 20          0.21" in second
    assert "±" not in as_text(SALES, "table", False)
    assert "∅" in as_text(SALES, "table", True, null="∅")


def test_vertical_has_a_line_a_column() -> None:
    lines = as_text(SALES, "vertical", True).splitlines()
    assert len(lines) == 10 and lines[3] == "n    | 9,345 ± 20"


def test_markdown_escapes_what_would_end_a_cell() -> None:
    lines = as_text(SALES, "markdown", True).splitlines()
    assert lines[1].count(":") == 4 and "Zürich\\|1" in lines[2]


def test_programs_get_every_digit_and_the_ends() -> None:
    names = ["city", "day", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]
    first = ["Zürich|1", "2026-01-02", "9345", "9325.0", "9365.0", "29.76", "29.56", "29.96"]
    for style, delimiter in (("csv", ","), ("tsv", "\t")):
        found = list(csv.reader(io.StringIO(as_text(SALES, style, True)), delimiter=delimiter))
        assert found[:2] == [names, first] and found[2][1] == ""
    array = json.loads(as_text(SALES, "json", True))
    assert [json.loads(line) for line in as_text(SALES, "jsonl", True).splitlines()] == array
    assert array[0] == dict(
        zip(names, [*first[:2], 9345, 9325.0, 9365.0, 29.76, 29.56, 29.96], strict=True)
    )
    assert array[1]["day"] is None and array[1]["mean_low"] is None
    assert list(json.loads(as_text(SALES, "json", False))[0]) == ["city", "day", "n", "mean"]


def test_parquet_keeps_the_types(tmp_path: Path) -> None:
    write(SALES, "parquet", True, tmp_path / "sales.parquet")
    with duckdb.connect(":memory:") as plain:
        described = plain.execute(f"DESCRIBE FROM '{tmp_path}/sales.parquet'").fetchall()
    assert [row[1] for row in described] == [
        "VARCHAR",
        "DATE",
        "BIGINT",
        "DOUBLE",
        "DOUBLE",
        "DECIMAL(10,2)",
        "DOUBLE",
        "DOUBLE",
    ]


@pytest.mark.parametrize("before", [None, "before"])
def test_a_file_for_which_nothing_came_is_as_before_behind_its_link(
    tmp_path: Path, before: str | None
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    if before is not None:
        target.write_text(before)
    with pytest.raises(DataError), reserved(link):
        raise DataError("nothing came")
    assert link.is_symlink() and target.exists() == (before is not None)
    assert before is None or target.read_text() == before


def test_a_file_that_vanishes_does_not_hide_the_trouble(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing came"), reserved(tmp_path / "gone"):
        (tmp_path / "gone").unlink()
        raise DataError("nothing came")


def test_rows_without_rows_have_names() -> None:
    empty = OutputRows(("a", "b"), ("BIGINT", "VARCHAR"), [], [])
    for style in set(STYLES) - {"parquet", "chart", "json", "jsonl", "vertical"}:
        assert "a" in as_text(empty, style, True)
    assert json.loads(as_text(empty, "json", True)) == []


def test_a_terminal_is_not_obeyed() -> None:
    hostile = OutputRows.exact(["a\x1b[2J"], [("b\x1b]0;c\x07",)])
    for style in ("table", "vertical", "markdown"):
        assert "\x1b" not in as_text(hostile, style, True)
    assert "\x1b" not in chart(OutputRows.exact(["k", "a"], [("\x1b[2J", 1)]), 60)


def test_a_chart_draws_bars_from_zero_and_points_far_from_it() -> None:
    lines = chart(SALES, 80).splitlines()
    assert (
        lines[0] == "n" and "█" in lines[1] and lines[1].endswith("9,345 ± 20") and len(lines) == 3
    )
    near = OutputRows(
        ("k", "mean"),
        ("VARCHAR", "DOUBLE"),
        [("a", 29.8), ("b", 30.1)],
        [(None, (29.6, 30.0)), (None, (29.9, 30.3))],
    )
    drawn = chart(near, 60).splitlines()
    assert all("┼" in line and "█" not in line for line in drawn[1:3]) and drawn[3].split() == [
        "29.6",
        "30.3",
    ]
    assert drawn[1].index("┼") < drawn[2].index("┼")
    assert all(len(line) <= 60 for line in drawn)


def test_a_chart_takes_whatever_rows_there_are() -> None:
    odd = OutputRows(
        ("k", "x"),
        ("VARCHAR", "DOUBLE"),
        [("nan", float("nan")), ("none", None), ("minus", -5.0), ("open", 7.0), ("zero", 0.0)],
        [
            (None, None),
            (None, None),
            (None, (-8.0, -2.0)),
            (None, (float("-inf"), float("inf"))),
            (None, None),
        ],
    )
    lines = chart(odd, 50).splitlines()
    assert len(lines) == 6 and "├" in lines[3] and "█" in lines[4]
    assert chart(OutputRows.exact(["k", "x"], [("a", 0)]), 30).splitlines()[1].split() == ["a", "0"]
    assert len(chart(SALES, 10).splitlines()) == 3


@pytest.mark.parametrize(
    ("rows", "column", "reason"),
    [
        (OutputRows.exact(["k"], [("a",)]), None, "no column holds figures"),
        (SALES, "city", "those that can be drawn: n, mean"),
        (OutputRows.exact(["x"], []), None, "no column holds figures"),
        (OutputRows.exact(["x"], [(float("nan"),)]), None, "no row has a value"),
    ],
)
def test_what_cannot_be_drawn_says_why(rows: OutputRows, column: str | None, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        chart(rows, 80, column)
