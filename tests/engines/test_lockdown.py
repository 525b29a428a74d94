"""DuckDB as dpsql opens it: read-only, locked, reading nothing but the schema's own tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import clinic

from dpsql.engines.data import Data
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process.data import ProcessData
from dpsql.engines.duckdb.tables.views import file_name
from dpsql.engines.source import DataSource
from dpsql.errors import ExecutionFailed, OperationalError, SchemaError
from dpsql.schema import Schema, load

#: What must not run on the engine's connection even if it got past everything before it.
HOSTILE = (
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET threads = 1",
    "RESET memory_limit",
    "SET allowed_directories = ['/']",
    "ATTACH 'other.duckdb' AS other",
    "COPY source.main.patients TO 'patients.csv'",
    "EXPORT DATABASE 'somewhere'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM '/etc/passwd.csv'",
    "SELECT * FROM secret_rows",
    "INSTALL httpfs",
    "LOAD httpfs",
)
WRITES = (
    "INSERT INTO source.main.places VALUES ('a', 'b')",
    "UPDATE source.main.patients SET weight = 0",
    "DELETE FROM source.main.patients",
    "DROP TABLE source.main.patients",
    "CREATE TABLE source.main.copy AS SELECT * FROM source.main.patients",
    "CREATE VIEW source.main.seen AS SELECT * FROM source.main.patients",
    "CREATE MACRO source.main.sum(x) AS max(x)",
)


@pytest.fixture(params=[False, True], ids=["file", "parquet"])
def schema(request: pytest.FixtureRequest, tmp_path: Path) -> Schema:
    return load(clinic(tmp_path, parquet=request.param))


@pytest.fixture
def engine(schema: Schema) -> Iterator[DuckDBEngine]:
    opened = DuckDBEngine(schema)
    yield opened
    opened.close()


@pytest.fixture(params=[LocalData, ProcessData], ids=["here", "process"])
def opens(request: pytest.FixtureRequest) -> Callable[[DataSource], Data]:
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("statement", HOSTILE)
def test_settings_files_and_extensions_are_out_of_reach(
    engine: DuckDBEngine, statement: str
) -> None:
    secret_rows = [1]  # a Python variable is a table in an unlocked DuckDB
    assert secret_rows
    with pytest.raises(duckdb.Error):
        engine._data.connection.cursor().execute(statement)


@pytest.mark.parametrize("statement", WRITES)
def test_a_file_is_attached_read_only(tmp_path: Path, statement: str) -> None:
    schema = load(clinic(tmp_path))
    engine = DuckDBEngine(schema)
    name = file_name(data_source_of(schema))
    assert name == "stored"  # behind views, in which NaN is NULL
    with pytest.raises(duckdb.Error, match="read-only"):
        engine._data.connection.cursor().execute(statement.replace("source.main", f"{name}.main"))
    with pytest.raises(duckdb.Error):
        engine._data.connection.cursor().execute(f"DELETE FROM {name}.main.patients")
    engine.close()


def test_a_folder_opens_no_other_parquet_file(tmp_path: Path) -> None:
    schema = load(clinic(tmp_path, parquet=True))
    other = tmp_path / "clinic" / "salaries.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1 AS salary) TO '{other}' (FORMAT parquet)")
    engine = DuckDBEngine(schema)
    with pytest.raises(duckdb.Error):
        engine._data.connection.cursor().execute(f"SELECT * FROM read_parquet('{other}')")
    engine.close()


def test_the_settings_are_those_of_a_locked_engine(engine: DuckDBEngine) -> None:
    wanted = {
        "enable_external_access": False,
        "lock_configuration": True,
        "autoload_known_extensions": False,
        "autoinstall_known_extensions": False,
        "allow_community_extensions": False,
        "allow_unsigned_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
    }
    for setting, value in wanted.items():
        (found,) = engine._data.connection.execute(
            "SELECT current_setting(?)", [setting]
        ).fetchone() or (None,)
        assert str(found).lower() == str(value).lower(), setting


def test_private_tables_have_no_public_rows(
    schema: Schema, opens: Callable[[DataSource], Data]
) -> None:
    engine = DuckDBEngine(schema, opens)
    assert engine.public_rows("places") == [("ward", "north"), ("yard", "south")]
    with pytest.raises(ExecutionFailed):
        engine.public_rows("patients")
    with pytest.raises(Exception):  # noqa: B017
        engine._data.hold().public_rows("patients")
    engine.close()


def test_a_parent_key_that_is_not_unique_is_refused_without_its_value(
    tmp_path: Path, opens: Callable[[DataSource], Data]
) -> None:
    text = clinic(tmp_path).read_text()
    text += '[tables.bills]\nreferences = { visit = "visits.visit" }\nmax_rows_per_unit = 2\n'
    text += '[tables.bills.columns]\nvisit = { type = "integer" }\n'
    (tmp_path / "clinic.toml").write_text(text)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE bills(visit INTEGER); UPDATE visits SET visit = 1 WHERE visit = 2"
        )
    with pytest.raises(SchemaError, match="not unique") as raised:
        DuckDBEngine(load(tmp_path / "clinic.toml"), opens)
    assert "visits" in str(raised.value)


def test_what_the_engine_cannot_read_in_parquet_is_refused_at_the_opening(
    tmp_path: Path, opens: Callable[[DataSource], Data]
) -> None:
    """Else whoever has one fails each statement that reads the column, and is seen to be there."""
    file = clinic(tmp_path, parquet=True)
    patients = tmp_path / "clinic" / "patients.parquet"
    table = pq.read_table(patients)
    name = pa.Array.from_buffers(
        pa.utf8(),
        7,
        [None, pa.py_buffer(np.arange(8, dtype=np.int32).tobytes()), pa.py_buffer(b"abcde\xffg")],
    )
    pq.write_table(table.set_column(table.column_names.index("name"), "name", name), patients)
    with pytest.raises(SchemaError, match=r"patients, column name: .*UTF-8") as raised:
        DuckDBEngine(load(file), opens)
    assert "abcde" not in str(raised.value)
    without = file.read_text().replace('name = { type = "text", nullable = true }\n', "")
    file.write_text(without)
    DuckDBEngine(load(file), opens).close()
    moments = pa.array([-(2**62)] * 7, pa.timestamp("ms"))
    pq.write_table(table.set_column(table.column_names.index("name"), "name", moments), patients)
    file.write_text(
        without.replace("sex =", 'name = { type = "timestamp", nullable = true }\nsex =')
    )
    with pytest.raises(SchemaError, match=r"patients, column name: .*moment"):
        DuckDBEngine(load(file), opens)


def test_a_source_that_cannot_be_opened_says_nothing_of_the_engine(
    tmp_path: Path, opens: Callable[[DataSource], Data]
) -> None:
    schema = load(clinic(tmp_path))
    (tmp_path / "clinic.duckdb").write_bytes(b"no database" * 500)
    with pytest.raises(OperationalError) as raised:
        DuckDBEngine(schema, opens)
    assert str(tmp_path) not in str(raised.value)


GUARDS = {
    "GREATEST skips NULL": ("SELECT greatest(NULL, 0) = 0", True),
    "LEAST skips NULL": ("SELECT least(NULL, 3) = 3", True),
    "a cast rounds halves to even": (
        "SELECT [CAST(x AS BIGINT) FOR x IN [0.5::DOUBLE, 1.5, 2.5]]",
        [0, 2, 2],
    ),
    "a sum of BIGINT is HUGEINT": (
        "SELECT typeof(sum(x)) FROM (VALUES (1::BIGINT)) t(x)",
        "HUGEINT",
    ),
    "NaN is above every number": ("SELECT 'nan'::DOUBLE > 1e308", True),
    "NaN equals NaN": ("SELECT 'nan'::DOUBLE = 'nan'::DOUBLE", True),
    "integer division cuts towards zero": ("SELECT (-7)::HUGEINT // 2", -3),
    "CASE does not compute the branch it leaves": (
        "SELECT CASE WHEN x > 1 THEN 1 ELSE CAST(x AS BIGINT) END FROM (VALUES (1e300::DOUBLE)) t(x)",
        1,
    ),
}


@pytest.mark.parametrize("fact", GUARDS)
def test_what_the_rewriting_relies_on_holds_in_this_duckdb(fact: str) -> None:
    sql, expected = GUARDS[fact]
    with duckdb.connect() as connection:
        assert connection.execute(sql).fetchone() == (expected,)
