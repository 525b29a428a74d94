"""Files that differ, and codes that are not whole, are found when the data are opened."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import duckdb
import pytest
from one_table import HEAD, copy, rows_of, schema_of

from dpsql.engines.duckdb.tables.views import _SQL
from dpsql.errors import SchemaError
from dpsql.schema import loads
from dpsql.session import open_session


def test_files_of_one_table_that_differ_are_refused(tmp_path: Path) -> None:
    copy("SELECT 1 AS id, 1 AS x, 'a' AS only", tmp_path / "t" / "a.parquet")
    copy("SELECT 1.5 AS x, 2 AS id", tmp_path / "t" / "b.parquet")
    columns = '[tables.t.columns]\nid = { type = "integer" }\n'
    columns = f'table = "t"\n{columns}'
    assert rows_of(schema_of(tmp_path, columns)) == [(1,), (2,)]
    session = loads(
        HEAD.format(source=tmp_path, ledger=tmp_path / "l") + columns + 'x = { type = "integer" }'
    )
    for own in (False, True):
        with pytest.raises(
            SchemaError, match="column x: is not in all files of the table with one type"
        ):
            open_session(
                session.model_copy(
                    update={"engine": session.engine.model_copy(update={"process": own})}
                )
            )


def test_codes_that_are_stored_as_double_are_integers_where_all_are_whole(tmp_path: Path) -> None:
    columns = '[tables.t.columns]\nid = { type = "integer" }\ncode = { type = "integer", values = [0, 1] }'
    copy(
        "SELECT i::DOUBLE AS id, CASE i WHEN 1 THEN 0.0 WHEN 2 THEN 1.0 WHEN 3 THEN 'nan'::DOUBLE END::DOUBLE AS code "
        "FROM range(1, 5) r(i)",
        tmp_path / "t.parquet",
    )
    assert rows_of(schema_of(tmp_path / "t.parquet", columns)) == [
        (1, 0),
        (2, 1),
        (3, None),
        (4, None),
    ]
    for wrong in ("0.5", "'inf'", "9007199254740994"):
        copy(f"SELECT 1 AS id, {wrong}::DOUBLE AS code", tmp_path / "t.parquet")
        with pytest.raises(
            SchemaError, match="column code: is declared integer and stored as DOUBLE"
        ):
            open_session(schema_of(tmp_path / "t.parquet", columns))
    with pytest.raises(SchemaError, match="declare it as integer where"):
        schema_of(tmp_path / "t.parquet", columns.replace('"integer", values', '"double", values'))


def test_a_code_is_read_alike_for_every_double_and_fails_for_none() -> None:
    chance = random.Random(17)
    doubles = [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(5000)]
    whole = [
        float(chance.getrandbits(53) >> chance.choice([0, 30, 50])) * chance.choice([1, -1])
        for _ in range(5000)
    ]
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT unnest(?::DOUBLE[]) AS x, false AS whole",
            [[*doubles, math.inf]],
        )
        connection.execute(
            "INSERT INTO t SELECT unnest(?::DOUBLE[]), true", [[*whole, 2.0**53, -(2.0**53), -0.0]]
        )
        sql = _SQL["its whole number"].format("x")
        counted = f"SELECT count(DISTINCT x), count(DISTINCT {sql}), count(*) = count({sql}) FROM t WHERE whole"
        one, two, none_is_null = connection.execute(counted).fetchone() or (0, 1, False)
        assert one == two and none_is_null
        assert connection.execute(
            f"SELECT count({sql}) FROM t WHERE abs(x) > 9007199254740992"
        ).fetchone() == (0,)
