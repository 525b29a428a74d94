"""A sum of whole numbers goes beyond 63 bits in every front end;
its type follows from the schema and the statement.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import dpsql
from dpsql.cli import commands
from dpsql.planning.cell_choice import sum_type
from dpsql.schema import SqlType
from dpsql.sql.ir.expression import ColumnRef

_SCHEMA = """
name = "d"
source = "{folder}/data.duckdb"
ledger = "{folder}/ledger"
[privacy]
unit = "p.id"
epsilon = 1000000000
delta = 1e-6
query_epsilon = 10000
[tables.p]
max_rows_per_unit = 1
[tables.p.columns]
id = {{ type = "integer" }}
bytes = {{ type = "integer", bounds = [0, 10000000000000000] }}
age = {{ type = "integer", bounds = [0, 100] }}
k = {{ type = "text", values = ["x", "y"] }}
"""
_TRUE = 3_000 * 9 * 10**15


@pytest.fixture(name="schema")
def _schema(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT i AS id, 9000000000000000 AS bytes, i % 90 AS age, ['x', 'y'][1 + i % 2] AS k "
            "FROM range(3000) t(i)"
        )
    path = tmp_path / "schema.toml"
    path.write_text(_SCHEMA.format(folder=tmp_path), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("statement", "share"),
    [
        ("SELECT SUM(bytes) FROM p", 1),
        ("SELECT SUM(bytes * 10) / 10 FROM p", 1),
        ("SELECT SUM(bytes) FROM p GROUP BY k", 0.5),
        ("SELECT SUM(bytes) FROM p GROUP BY ROLLUP (k) HAVING GROUPING(k) = 1", 1),
        ("SELECT SUM(s) FROM (SELECT k, SUM(bytes) AS s FROM p GROUP BY k)", 1),
        ("SELECT -SUM(-bytes) FROM p", 1),
    ],
)
def test_a_sum_goes_beyond_63_bits_and_lies_in_its_interval(
    schema: Path, statement: str, share: float
) -> None:
    with dpsql.connect(schema) as connection:
        answer = connection.sql(statement)
        for row in answer.rows:
            assert float(row[0]) == pytest.approx(_TRUE * share, rel=1e-3)
            interval = row.interval(answer.columns[0])
            assert interval is None or interval.low <= float(row[0]) <= interval.high


def test_the_type_is_the_same_before_and_after_and_in_every_front_end(
    schema: Path, tmp_path: Path
) -> None:
    statement = "SELECT SUM(bytes) AS s, SUM(age) AS a, SUM(bytes % 7) AS r FROM p"
    wide = 0
    with dpsql.connect(schema) as connection:
        cursor = connection.cursor()
        cursor.execute(statement)
        assert [column[1] for column in cursor.description] == ["HUGEINT", "BIGINT", "BIGINT"]
        (row,) = cursor.fetchall()
        assert [type(value) for value in row] == [int, int, int] and row[0] > 2**63
        wide = row[0]
        table = connection.sql(statement).arrow()
        assert str(table.schema.field("s").type) == "decimal128(38, 0)" and table[
            "s"
        ].to_pylist() == [wide]
        assert str(wide)[-3:] in str(connection.sql(statement)).replace(",", "")
    with dpsql.connect(schema) as connection:  # the stored answer
        assert connection.sql(statement).rows[0][0] == wide
    runner = CliRunner()
    for style in ("json", "csv"):
        told = runner.invoke(commands, ["query", str(schema), statement, "--format", style]).stdout
        assert str(wide) in told, style
    told = runner.invoke(commands, ["query", str(schema), statement, "--format", "json"]).stdout
    assert (
        json.JSONDecoder().raw_decode(told)[0][0]["s"] == wide
    )  # notices follow where click mixes both streams
    runner.invoke(
        commands,
        [
            "query",
            str(schema),
            statement,
            "--format",
            "parquet",
            "--output",
            str(tmp_path / "s.parquet"),
        ],
    )
    assert duckdb.sql(f"SELECT s FROM '{tmp_path}/s.parquet'").fetchall() == [(wide,)]


def test_a_later_stage_reads_a_wide_sum(schema: Path) -> None:
    with dpsql.connect(schema) as connection:
        sums = "SELECT k, SUM(bytes) AS s FROM p GROUP BY k"
        statement = f"WITH m AS ({sums}) SELECT COUNT(*) FROM p JOIN m USING (k) WHERE s > bytes"
        assert connection.sql(statement).rows[0][0] == pytest.approx(3_000, abs=1)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0, 2**32), "BIGINT"),
        ((-(2**32), 5), "BIGINT"),
        ((0, 2**32 + 1), "HUGEINT"),
        (None, "HUGEINT"),
    ],
)
def test_the_type_depends_on_the_bounds_alone(
    bounds: tuple[int, int] | None, expected: str
) -> None:
    assert sum_type(ColumnRef("t", "x", SqlType("integer"), False, bounds)) == expected  # type: ignore[arg-type]
