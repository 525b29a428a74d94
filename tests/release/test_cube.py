"""Grouping sets: totals are the sums of what is shown below them,
and as exact as their intervals say.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from neighbours import planned
from world_session import session_on, without_noise
from worlds import Column, Table, World

from dpsql.errors import Refused
from dpsql.planning.estimators.columnar_rows import as_type
from dpsql.planning.estimators.least_squares import MeasuredLevel, consistent
from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import Laplace
from dpsql.release.grouping_sets import cube_table
from dpsql.release.grouping_sets.totals import carried
from dpsql.release.released_tables import ReleasedTable

_KINDS = {
    "grade": "VARCHAR",
    "small": "INTEGER",
    "flag": "BOOLEAN",
    "price": "DECIMAL(12,2)",
    "word": "VARCHAR",
}


def _world(promise: str = "L2", rows: int = 60) -> World:
    """A tame database: sixty people with one row each, whom no limit touches;
    a NULL grade is not a total.
    """
    columns = (
        Column("id", "INTEGER", None, role="unit"),
        *(Column(name, engine, name, name == "grade") for name, engine in _KINDS.items()),
    )
    people = tuple(
        (
            str(n),
            ("'A'", "'B'", "NULL")[n % 3],
            str(n * n % 6),
            ("true", "false")[n % 7 < 4],
            f"{n}.25",
            ("'x'", "'y'")[n % 2],
        )
        for n in range(rows)
    )
    home = Table("people", columns, people, limits=(("max_rows_per_unit", 1),))
    delta = {"L1": 0, "L2": Decimal("1e-6")}[promise]
    return World(0, (home,), (("epsilon", 1000), ("query_epsilon", 1), ("delta", delta)))


#: Statements whose finest set is listed from the schema.
STATEMENTS = {
    "rollup": "SELECT grade, small, {} FROM people GROUP BY ROLLUP (grade, small)",
    "rollup of one": "SELECT flag, {} FROM people GROUP BY ROLLUP (flag)",
    "cube": "SELECT grade, flag, {} FROM people GROUP BY CUBE (grade, flag)",
    "cube of three": "SELECT grade, small, flag, {} FROM people GROUP BY CUBE (1, 2, 3)",
    "sets": "SELECT grade, small, {} FROM people GROUP BY GROUPING SETS ((grade, small), (small), ())",
    "sets twice": "SELECT grade, flag, {} FROM people GROUP BY GROUPING SETS ((grade, flag), (flag), (flag), ())",
    "two parts": "SELECT grade, flag, {} FROM people GROUP BY flag, ROLLUP (grade)",
    "keys together": "SELECT grade, flag, small, {} FROM people GROUP BY ROLLUP ((grade, flag), small)",
    "nested": "SELECT grade, flag, {} FROM people GROUP BY GROUPING SETS (ROLLUP (grade, flag), flag)",
    "an expression": "SELECT small // 2 AS half, flag, {} FROM people GROUP BY ROLLUP (half, flag)",
    "a condition": "SELECT price > 30 AS dear, grade, {} FROM people WHERE small < 4 GROUP BY CUBE (dear, grade)",
}
#: Statements whose sets are measured each for itself.
APART = {
    "thresholded": "SELECT word, flag, {} FROM people GROUP BY ROLLUP (word, flag)",
    "no finest": "SELECT grade, flag, {} FROM people GROUP BY GROUPING SETS ((grade), (flag), ())",
}
VALUES = (
    "COUNT(*) AS n, SUM(small) AS s, SUM(price) AS p, AVG(price) AS a, COUNT(DISTINCT id) AS u, "
    "COUNT(DISTINCT small) AS d"
)
SUMS = "COUNT(*) AS n, SUM(small) AS s, SUM(price) AS p, AVG(small) AS a"


def _flags(text: str) -> str:
    """The statement with a column for each key that tells totals from keys that are NULL."""
    keys = text.removeprefix("SELECT ").split(", {}")[0]
    names = [f"({key.partition(' AS ')[0]})" for key in keys.split(", ")]
    return text.replace(
        "{}", ", ".join(f"GROUPING{name} AS g{place}" for place, name in enumerate(names)) + ", {}"
    )


def _rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(
        (
            tuple(
                round(float(v), 6)
                if isinstance(v, int | float | Decimal) and not isinstance(v, bool)
                else v
                for v in row
            )
            for row in rows
        ),
        key=repr,
    )


@pytest.mark.parametrize(
    ("name", "promise"),
    [
        (name, promise)
        for name in [*STATEMENTS, *APART]
        for promise in ("L1", "L2")
        if (name, promise) != ("thresholded", "L1")
    ],  # thresholds need a delta
)
def test_without_noise_the_answer_is_that_of_duckdb(
    name: str, promise: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_noise(monkeypatch)
    text = _flags((STATEMENTS | APART)[name]).replace("{}", VALUES)
    with session_on(_world(promise), tmp_path / "ledger") as (session, engine):
        found = session.execute(text)
        plain = _rows(engine.plain(text))
        count = [column.name for column in found.columns].index("n")
        answered = _rows([row for row in found.rows if row[count] > 0])
    assert answered == plain


def _sums(
    rows: list[tuple[Any, ...]], keys: int, values: range
) -> dict[tuple[Any, ...], list[Any]]:
    """What rows of the finest level add up to, for every combination of totals."""
    sums: dict[tuple[Any, ...], list[Any]] = {}
    finest = [row for row in rows if not any(row[keys : 2 * keys])]
    parts: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
    for mask in {row[keys : 2 * keys] for row in rows}:
        for row in finest:
            name = tuple(None if total else key for key, total in zip(row, mask, strict=False))
            parts[(*name, *mask)].append(row)
    for name, members in parts.items():
        sums[name] = [sum(row[place] for row in members) for place in values]
    return sums


@pytest.mark.parametrize("promise", ["L1", "L2"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_totals_are_the_sums_of_their_parts(name: str, promise: str, tmp_path: Path) -> None:
    text = _flags(STATEMENTS[name]).replace("{}", SUMS)
    with session_on(_world(promise), tmp_path / "ledger") as (session, _):
        session.set("dpsql.empty_groups", "show")
        rows = session.execute(text).rows
    keys = (len(rows[0]) - 4) // 2
    values = range(2 * keys, 2 * keys + 3)
    sums = _sums(rows, keys, values)
    for row in rows:
        assert list(row[2 * keys : 2 * keys + 3]) == sums[row[: 2 * keys]], row


#: Rows with a value that the schema does not give in each column, and in all of them.
_BEYOND = (
    ("'Q'", "3", "true", "7.25"),
    ("'A'", "40", "false", "8.25"),
    ("'B'", "2", "true", "99999.25"),
    ("'Q'", "-9", "false", "-7.25"),
)


def _world_with_rows_beyond(promise: str) -> World:
    world = _world(promise)
    (home,) = world.tables
    beyond = tuple((str(1_000 + n), *_BEYOND[n % 4], "'x'") for n in range(40))
    return replace(world, tables=(replace(home, rows=home.rows + beyond),))


@pytest.mark.parametrize("promise", ["L1", "L2"])
@pytest.mark.parametrize("name", [*STATEMENTS, "no finest"])
def test_all_levels_leave_out_the_rows_that_the_finest_one_does(
    name: str, promise: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without noise: each level adds up to one number, and COUNT(DISTINCT unit) to the same,
    as units have one row.
    """
    without_noise(monkeypatch)
    text = _flags((STATEMENTS | APART)[name]).replace(
        "{}", "COUNT(*) AS n, COUNT(DISTINCT id) AS u"
    )
    with session_on(_world_with_rows_beyond(promise), tmp_path / "ledger") as (session, engine):
        rows = session.execute(text).rows
        everyone = engine.plain("SELECT COUNT(*) FROM people")[0][0]
    keys = (len(rows[0]) - 2) // 2
    levels = defaultdict(set)
    for row in dict.fromkeys(rows):
        levels[row[keys : 2 * keys]].add(row)
    totals = {
        (sum(row[-2] for row in level), sum(row[-1] for row in level)) for level in levels.values()
    }
    ((count, units),) = totals
    assert count == units
    assert (count < everyone) == (name != "rollup of one")


@pytest.mark.parametrize("promise", ["L1", "L2"])
@pytest.mark.parametrize("name", [*STATEMENTS, *APART])
def test_a_cube_costs_what_was_asked(name: str, promise: str) -> None:
    text = (STATEMENTS | APART)[name].replace("{}", VALUES)
    if (name, promise) == ("thresholded", "L1"):  # a threshold needs a delta
        with pytest.raises(Refused, match=r"E_KEY .* need a budget with delta"):
            planned(_world(promise), text)
        return
    cores = planned(_world(promise), text)
    cost = sum((core.cost for core in cores), Cost(Fraction(0), Fraction(0)))
    assert (cost.epsilon == 1) if promise == "L1" else (cost.rho == Fraction(1, 2))


def test_repeated_sets_are_released_once() -> None:
    once = planned(_world(), "SELECT flag, COUNT(*) FROM people GROUP BY ROLLUP (flag)")
    sets = "GROUPING SETS ((flag), (flag), (), (), ())"
    assert planned(_world(), f"SELECT flag, COUNT(*) FROM people GROUP BY {sets}") == once


@pytest.mark.parametrize(
    ("promise", "name", "cores"),
    [
        ("L1", "rollup of one", 1),
        ("L2", "rollup of one", 2),
        ("L1", "rollup", 3),
        ("L1", "two parts", 2),
    ],
)
def test_small_domains_are_released_once_at_the_finest_level(
    promise: str, name: str, cores: int
) -> None:
    assert (
        len(planned(_world(promise), STATEMENTS[name].replace("{}", "COUNT(*), AVG(price)")))
        == cores
    )


@pytest.mark.parametrize(
    ("promise", "name"), [("L1", "rollup"), ("L2", "rollup"), ("L2", "cube"), ("L1", "two parts")]
)
def test_intervals_hold_and_totals_are_more_exact_than_bought_apart(
    promise: str, name: str, tmp_path: Path
) -> None:
    """On 400 releases whose noise comes from a fixed seed."""
    text = _flags(STATEMENTS[name]).replace("{}", "COUNT(*) AS n")
    with session_on(_world(promise), tmp_path / "ledger") as (session, engine):
        plan = session.plan(text)
        (cube,) = plan.cubes
        exact = [engine._connection.execute(core.sql).fetchall() for core in plan.cores]
    widths, missed, errors, trials, random = [], 0, [], 0, np.random.default_rng(11)
    for _ in range(400):
        tables = [_noisy(core, rows, random) for core, rows in zip(plan.cores, exact, strict=True)]
        table = cube_table(cube, tables, 0.95)
        truth = cube_table(
            cube,
            [_noisy(core, rows, None) for core, rows in zip(plan.cores, exact, strict=True)],
            0.95,
        )
        for keys, found, right, (low, high) in zip(
            table.totals,
            table.aggregates,
            truth.aggregates,
            (each[0] for each in table.intervals),
            strict=True,
        ):
            missed += not low <= float(right[0]) <= high  # type: ignore[arg-type]
            trials += 1
            if all(keys):
                errors.append(float(found[0]) - float(right[0]))  # type: ignore[arg-type]
                widths.append((high - low) / 2)
    assert missed <= 0.06 * trials
    if errors:
        step = plan.cores[0].steps[0]
        apart = float(plan.cores[-1].cells[0].mechanism.standard_deviation * float(step))
        assert np.std(errors) < apart * (
            1.0 if len(plan.cores) > 1 else math.sqrt(len(exact[0])) * 1.2
        )
        assert widths[0] < plan.cores[-1].half_widths(0.95)[0] * (
            1 if len(plan.cores) > 1 else len(exact[0])
        )


def _noisy(
    plan: Any, rows: list[tuple[Any, ...]], random: np.random.Generator | None
) -> ReleasedTable:
    """The core's released table of one count, made without the session."""
    width = len(plan.core.keys)
    rows = sorted(rows, key=lambda row: repr(row[:width]))
    mechanism, noise = plan.cells[0].mechanism, np.zeros(len(rows))
    if random is not None:
        laplace = isinstance(mechanism, Laplace)
        draw = random.laplace(0, float(mechanism.scale), len(rows)) if laplace else None
        noise = random.normal(0, mechanism.standard_deviation, len(rows)) if draw is None else draw
    cells = tuple(
        ((row[width] + round(drawn)) * plan.steps[0],)
        for row, drawn in zip(rows, noise.tolist(), strict=True)
    )
    values = tuple((round(cell),) for (cell,) in cells)
    keys, none = tuple(tuple(row[:width]) for row in rows), ((None,),) * len(rows)
    return ReleasedTable(plan, keys, values, (((0.0, 0.0),),) * len(rows), cells, none)


@pytest.mark.parametrize("promise", ["L1", "L2"])
def test_very_large_and_very_small_values_have_totals(promise: str, tmp_path: Path) -> None:
    """The squares of their noise are no doubles;
    what would not be released is released all the same.
    """
    columns = (
        Column("id", "INTEGER", None, role="unit"),
        Column("grade", "VARCHAR", "grade"),
        Column("great", "DOUBLE", "great"),
        Column("tiny", "DOUBLE", "tiny"),
    )
    people = tuple(
        (str(n), ("'A'", "'B'")[n % 2], f"{n % 3}e89::DOUBLE", "5e-291::DOUBLE") for n in range(9)
    )
    home = Table("people", columns, people, limits=(("max_rows_per_unit", 1),))
    delta = {"L1": 0, "L2": Decimal("1e-6")}[promise]
    world = World(0, (home,), (("epsilon", 10**7), ("query_epsilon", 1000), ("delta", delta)))
    text = (
        "SELECT grade, SUM(great * 1e9), AVG(great), VAR_POP(great * 1e9), VAR_POP(tiny), CORR(great, tiny) / 2 "
        "FROM people GROUP BY {}"
    )
    with session_on(world, tmp_path / "ledger") as (session, _):
        for sets in ("ROLLUP (grade)", "GROUPING SETS ((grade), ())"):
            rows = session.execute(text.replace("{}", sets)).rows
            (total,) = [row for row in rows if row[0] is None]
            assert total[1] == pytest.approx(9e98, rel=0.5) and total[2] == pytest.approx(
                1e89, rel=0.5
            )


def test_least_squares_are_those_of_the_whole_system() -> None:
    """Against numpy's dense solution, on a lattice of two keys with unequal variances."""
    random = np.random.default_rng(7)
    one, two = np.repeat(np.arange(4), 5), np.tile(np.arange(5), 4)
    finest, none = random.normal(size=20) * 100, np.zeros(20, dtype=np.int64)
    levels = [
        MeasuredLevel(one, random.normal(size=4) * 100, 2.0),
        MeasuredLevel(two, random.normal(size=5) * 100, 0.5),
        MeasuredLevel(none, random.normal(size=1) * 100, 3.0),
    ]
    rows, wanted = [np.eye(20)], [finest]
    for level in levels:
        matrix = np.zeros((len(level.numbers), 20))
        matrix[level.group, np.arange(20)] = 1
        rows.append(matrix / math.sqrt(level.variance))
        wanted.append(level.numbers / math.sqrt(level.variance))
    dense = np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted), rcond=None)[0]
    assert np.allclose(consistent(finest, 1.0, levels), dense, atol=1e-8)


def test_rounding_is_carried_so_that_sums_stay_near() -> None:
    numbers = [Fraction(n % 7, 10) for n in range(100)]
    shown = carried(numbers, "BIGINT")
    assert all(
        abs(sum(shown[a:b]) - sum(numbers[a:b])) <= 1
        for a in range(0, 100, 9)
        for b in range(a, 100, 7)
    )


@pytest.mark.parametrize("number", [10**40, -(10**40), Fraction(10**38 - 1, 1000)])
def test_released_decimals_stay_within_their_digits(number: Fraction | int) -> None:
    shown = as_type(Fraction(number), "DECIMAL(38,3)")
    assert len(shown.as_tuple().digits) == 38  # type: ignore[union-attr]
    assert duckdb.connect().execute("SELECT ?::DECIMAL(38,3)", [shown]).fetchone() == (shown,)
