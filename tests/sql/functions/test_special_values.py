"""NULL, NaN, infinities, −0.0 and empty groups each have one meaning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from databases import clinic, without_noise

from dpsql.schema import SqlType
from dpsql.session import Session, open_session
from dpsql.sql.analysis.quantisation import quantum
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.emit.quantise import at_least, quantised
from dpsql.sql.emit.scalar import native
from dpsql.sql.ir.expression import INTEGER, Cast, ColumnRef


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    without_noise(monkeypatch)
    opened = open_session(clinic(tmp_path))
    yield opened
    opened.close()


def _quantised(column: ColumnRef, values: str) -> list[int | None]:
    sql = quantised(DUCKDB, column, quantum(column)).sql(dialect="duckdb")
    with duckdb.connect() as connection:
        rows = connection.execute(f'SELECT {sql} FROM (VALUES {values}) AS "t"("x")').fetchall()
    return [row[0] for row in rows]


def test_doubles_are_clamped_to_their_grid_and_null_stays_null() -> None:
    column = ColumnRef("t", "x", SqlType("double"), True, (-10, 16))  # type: ignore[arg-type]
    values = "(1e300::DOUBLE), ('nan'), ('inf'), ('-inf'), (NULL), (3.25), (-0.0), (5e-324), (16), (-10), (-1e308)"
    top, bottom = 16 * 2**20, -10 * 2**20
    expected = [top, top, top, bottom, None, 3_407_872, 0, 0, top, bottom, bottom]
    assert _quantised(column, values) == expected


def test_integers_and_decimals_are_clamped_exactly() -> None:
    whole = ColumnRef("t", "x", SqlType("integer"), True, (-3, 2**32))  # type: ignore[arg-type]
    values = (
        "(9223372036854775807), (-9223372036854775808), (NULL), (4294967295), (4294967297), (7)"
    )
    assert _quantised(whole, values) == [2**32, -3, None, 2**32 - 1, 2**32, 7]
    cents = ColumnRef("t", "x", SqlType("decimal", 12, 2), True, (0, 500))  # type: ignore[arg-type]
    values = "(500.01::DECIMAL(12,2)), (-0.01), (NULL), (0.01), (19.99), (499.99)"
    assert _quantised(cents, values) == [50_000, 0, None, 1, 1_999, 49_999]


@pytest.mark.parametrize("bounds", [(-10, 16), (0, 16), (3, 300), (-7, 10**9)])
@pytest.mark.parametrize("sql_type", [SqlType("double"), SqlType("decimal", 12, 2)])
def test_sizes_of_doubles_are_no_smaller_than_those_of_the_grid(
    sql_type: SqlType, bounds: tuple[int, int]
) -> None:
    column = ColumnRef("t", "x", sql_type, False, bounds)  # type: ignore[arg-type]
    grid = quantum(column)
    near = [
        step + part
        for step in (0, 1, 2, 3, grid.high - 1, grid.low, grid.low + 1)
        for part in (0.25, 0.5, 0.5625, 0.75)
    ]
    numbers = [
        1e9,
        -1e9,
        0,
        16,
        300,
        0.005,
        0.015,
        -0.005,
        3.14,
        *(float(each * grid.size) for each in near),
    ]
    special = (
        ["('nan'::DOUBLE)", "('inf')", "('-inf')", "(1e308)", "(5e-324)"]
        if sql_type.kind == "double"
        else []
    )
    size = at_least(DUCKDB, column, grid)
    assert size is not None
    whole, most = quantised(DUCKDB, column, grid).sql(dialect="duckdb"), size.sql(dialect="duckdb")
    values = ", ".join(
        [f"({number!r}::{'DOUBLE' if special else 'DECIMAL(12,2)'})" for number in numbers]
        + special
    )
    least = f"ABS({whole}) * {float(grid.size) * (1 - 1e-12)!r}::DOUBLE"
    compared = f'SELECT BOOL_AND({most} >= {least}), COUNT(*) FROM (VALUES {values}) AS "t"("x")'
    with duckdb.connect() as connection:
        assert connection.execute(compared).fetchone() == (True, len(numbers) + len(special))


def test_sums_clamp_and_skip_null(session: Session) -> None:
    (row,) = session.execute("SELECT SUM(weight), COUNT(weight), COUNT(*) FROM patients").rows
    # 3.25 + inf→16 + −inf→−10 + −0.0 + 1e308→16; NaN and NULL are left out
    assert row[0] == pytest.approx(25.25, abs=0.01) and row[1:] == (5, 7)


def test_declared_keys_without_rows_still_appear_and_others_never(session: Session) -> None:
    rows = session.execute("SELECT sex, COUNT(*) FROM patients WHERE ward = 3 GROUP BY sex").rows
    assert rows == [("f", 0), ("m", 1), (None, 0)]


def test_an_empty_sum_is_zero_and_an_empty_average_null(session: Session) -> None:
    (row,) = session.execute("SELECT SUM(weight), COUNT(*) FROM patients WHERE ward = 44").rows
    assert row == (0.0, 0)
    (row,) = session.execute("SELECT AVG(weight) FROM patients WHERE ward = 44").rows
    assert row == (None,)


def test_zero_and_negative_zero_are_one_key_and_nan_is_null(session: Session) -> None:
    keys = [
        row[0]
        for row in session.execute("SELECT weight, COUNT(*) FROM patients GROUP BY weight").rows
    ]
    assert len(keys) == 6 and str(keys[1:3]) == "[0.0, 3.25]" and keys[-1] is None, keys


def test_rows_of_nobody_count_nowhere(session: Session) -> None:
    assert session.execute("SELECT COUNT(*) FROM visits WHERE note = 'nobody'").rows == [(0,)]
    assert (
        session.execute(
            "SELECT note, COUNT(*) FROM visits WHERE note = 'nobody' GROUP BY note"
        ).rows
        == []
    )


def test_rows_of_nobody_are_taken_back_in_every_sum_and_group(session: Session) -> None:
    (row,) = session.execute(
        "SELECT COUNT(*), COUNT(cost), SUM(cost), SUM(cost * cost) FROM visits WHERE visit = 4"
    ).rows
    assert row == (0, 0, 0, 0)
    who = "CASE WHEN visit = 4 THEN 'nobody' ELSE 'others' END"
    session.set("dpsql.empty_groups", "show")
    rows = session.execute(
        f"SELECT {who} AS who, COUNT(*), SUM(cost) FROM visits GROUP BY who"
    ).rows
    assert ("nobody", 0, 0) in rows and len(rows) == 2


@pytest.mark.parametrize("bounds", [(-300, 0), (0, 300)])
def test_a_column_that_ends_at_zero_has_sizes_where_it_may_be_null(bounds: tuple[int, int]) -> None:
    column = ColumnRef("t", "x", SqlType("double"), True, bounds)  # type: ignore[arg-type]
    size, grid = at_least(DUCKDB, column, quantum(column)), quantum(column)
    assert size is not None
    most, whole = size.sql(dialect="duckdb"), quantised(DUCKDB, column, grid).sql(dialect="duckdb")
    values = (
        "(-300.0::DOUBLE), (300), (-1e-5), (1e-5), ('nan'), ('inf'), ('-inf'), (1e308), (-1e308)"
    )
    compared = f'SELECT BOOL_AND({most} >= ABS({whole}) * {float(grid.size)!r}) FROM (VALUES {values}) AS "t"("x")'
    with duckdb.connect() as connection:
        assert connection.execute(compared).fetchone() == (True,)


@pytest.mark.parametrize(
    "digits, scale", [(3, 0), (5, 2), (18, 0), (18, 17), (38, 37), (19, 0), (38, 2)]
)
def test_a_whole_number_that_is_too_large_for_a_decimal_is_not_tried(
    digits: int, scale: int
) -> None:
    """DuckDB takes 25 µs to say that it does not fit,
    which a person's rows could make it do for each condition.
    """
    cast = Cast(ColumnRef("t", "x", INTEGER), SqlType("decimal", digits, scale))
    sql, most = native(DUCKDB, cast).sql(dialect="duckdb"), 10 ** (digits - scale)
    ends = [each for each in (most, most - 1, 2**63 - 1) if each < 2**63]
    values = ", ".join(f"({each}::BIGINT)" for end in ends for each in (end, -end))
    with duckdb.connect() as connection:
        source = f'(VALUES {values}, (NULL), (0)) AS "t"("x")'
        rows = connection.execute(
            f'SELECT {sql}, TRY_CAST("t"."x" AS DECIMAL({digits}, {scale})) FROM {source}'
        ).fetchall()
        tried = sql.replace(
            "TRY_CAST(", "CAST("
        )  # which fails where it is asked of what does not fit
        assert connection.execute(f"SELECT {tried} FROM {source}").fetchall() == [
            (ours,) for ours, _ in rows
        ]
    assert all(ours == theirs for ours, theirs in rows) and len(rows) >= 4
