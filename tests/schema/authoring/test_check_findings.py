"""What an owner is told of a schema file, place by place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.schema.authoring.check import LOOSE_EPSILON, LOOSE_LIMIT, check

FILE = """
name = "shop"
source = "nowhere.duckdb"
{top}
[privacy]
unit = "people.id"
epsilon = {epsilon}
delta = {delta}
query_epsilon = 0.1
{privacy}
[tables.people]
key = "id"
max_rows_per_unit = {rows}
[tables.people.columns]
id = {{ type = "integer" }}
name = {{ type = "text", values = ["a"] }}
{column}
"""
QUIET = {
    "top": 'ledger = "l"',
    "epsilon": 1,
    "delta": 0,
    "privacy": "time_bucket = 1",
    "rows": 1,
    "column": "",
}
PURE = "note: privacy, delta: 0 is pure: keys that are not declared cannot be shown"


def found(tmp_path: Path, **changed: object) -> list[str]:
    (tmp_path / "shop.toml").write_text(FILE.format(**{**QUIET, **changed}))
    return [str(each) for each in check(tmp_path / "shop.toml")]


TIMES = """note: privacy, time_bucket: is off: how long an answer takes tells of the data; set it above what \
most statements take, such as 0.25"""
ROWS = """loose: table people, max_rows_per_unit: is 2, but a unit has one row here, as id is the key; 1 means less \
noise"""
NAN = "note: table people: NaN in size is read as NULL; write nullable = false in columns that hold neither"
BOUNDS = """loose: table people, column size: has no bounds, so SUM and AVG of it are refused; \
add bounds = [low, high], or have dpsql schema tune find them"""
VALUES = """note: table people, column note: has no values, so its keys are refused, since delta is 0; \
add values = […] if public"""
LEDGER = (
    "note: ledger: not set; name one file for this database, so that all who ask share a budget"
)
LARGE = f"loose: privacy, epsilon: more than {LOOSE_EPSILON} promises an individual very little"
WINDOWS = """loose: privacy, refresh: monthly: epsilon and delta are of each window, and n windows promise n times as \
much of people whose data stay; dpsql budget shows the sum"""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, [PURE]),
        ({"top": ""}, [PURE, LEDGER]),
        ({"epsilon": LOOSE_EPSILON}, [PURE]),
        ({"epsilon": LOOSE_EPSILON + 1}, [LARGE, PURE]),
        ({"privacy": ""}, [PURE, TIMES]),
        ({"privacy": 'time_bucket = 1\nrefresh = "monthly"'}, [WINDOWS, PURE]),
        ({"rows": 2}, [PURE, ROWS]),
        ({"column": 'size = { type = "double" }'}, [PURE, NAN, BOUNDS]),
        ({"column": 'size = { type = "double", bounds = "auto" }'}, [PURE, NAN]),
        ({"column": 'size = { type = "double", bounds = [0, 1] }'}, [PURE, NAN]),
        ({"column": 'size = { type = "double", bounds = [0, 1], nullable = false }'}, [PURE]),
        ({"column": 'note = { type = "text" }'}, [PURE, VALUES]),
    ],
)
def test_a_file_is_told_of_what_to_weigh_and_to_know(
    tmp_path: Path, changed: dict[str, object], said: list[str]
) -> None:
    assert found(tmp_path, **changed) == said


def test_with_a_delta_undeclared_keys_need_many_units(tmp_path: Path) -> None:
    told = found(tmp_path, delta="1e-6", column='note = { type = "text" }')
    assert told[0].startswith("note: privacy, delta: must be far below 1 / (number of units)")
    assert told[1].endswith(
        "its keys are shown only for groups of many units; add values = […] if public"
    )


def test_rows_without_a_unit_are_named(tmp_path: Path) -> None:
    unit = 'id = { type = "integer" }', 'id = { type = "integer", nullable = true }'
    for orphans, words in (
        ("drop", "belong to no unit and are in no answer"),
        ("each", "are each a unit of their own"),
    ):
        (tmp_path / "shop.toml").write_text(
            FILE.format(**{**QUIET, "privacy": f'time_bucket = 1\norphans = "{orphans}"'}).replace(
                *unit
            )
        )
        told = [str(each) for each in check(tmp_path / "shop.toml") if "NULL" in str(each)]
        assert (
            len(told) == 1
            and told[0].startswith("note: table people, column id: rows")
            and words in told[0]
        )
    assert not any("NULL" in each for each in found(tmp_path))


def test_limits_above_a_thousand_are_large(tmp_path: Path) -> None:
    large = f"loose: table people, max_rows_per_unit: {LOOSE_LIMIT + 1} is large, and noise grows with it"
    assert large in found(tmp_path, rows=LOOSE_LIMIT + 1)
    assert not any("is large" in each for each in found(tmp_path, rows=LOOSE_LIMIT))


def test_the_error_of_a_count_stands_beside_that_of_a_quarter_of_the_rows(tmp_path: Path) -> None:
    for rows, each, fewer in (
        (1, "1 row per people.id a count is ± 10", ""),
        (3, "3 rows per people.id a count is ± 30", ", with 1 ± 10"),
        (400, "400 rows per people.id a count is ± 4,000", ", with 100 ± 1,000"),
    ):
        (tmp_path / "shop.toml").write_text(FILE.format(**{**QUIET, "rows": rows}))
        told = check(tmp_path / "shop.toml", error_of=lambda privacy, limit: 10.0 * limit)
        assert (
            told[-1].where == "table people, max_rows_per_unit"
            and told[-1].message == f"with {each}{fewer}"
        )


def test_a_file_that_is_wrong_is_told_line_by_line(tmp_path: Path) -> None:
    (error,) = found(tmp_path, epsilon=-1)
    assert error.startswith("error: ") and "epsilon" in error
