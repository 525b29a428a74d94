"""A Parquet file that is not as its footer says is not opened,
so that no statement is charged for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from databases import clinic

from dpsql.engines.duckdb.attached_source import _CHUNKS
from dpsql.engines.files.parquet_integrity import is_whole
from dpsql.errors import Error
from dpsql.session import open_session

_ROWS = 30_000
SUM = "SELECT SUM(weight) FROM patients"


def table() -> pa.Table:
    """Columns of all kinds, and those of the clinic's patients."""
    rows = range(_ROWS)
    columns = {
        "patient": pa.array(rows, pa.int32()),
        "name": [f"n{row}" * 5 for row in rows],
        "sex": ["f", "m"] * (_ROWS // 2),
        "ward": pa.array([row % 5 for row in rows], pa.int32()),
        "nothing": pa.array([None] * _ROWS, pa.int32()),
        "lists": [[row, 2] for row in rows],
        "empty": [[]] * _ROWS,
        "struct": [{"a": row, "b": "x"} for row in rows],
        "long": ["z" * 30_000 if row % 5000 == 0 else None for row in rows],
        "weight": [row / 7 for row in rows],
    }
    return pa.table(columns)


def whole(path: Path) -> bool:
    chunks = duckdb.connect().execute(_CHUNKS.format(f"'{path}'")).fetchall()
    with path.open("rb") as file:
        return is_whole(file, path.stat().st_size, chunks)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none", "gzip"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_what_others_write_is_whole(tmp_path: Path, compression: str, version: str) -> None:
    path, made = tmp_path / "x.parquet", table()
    pq.write_table(
        made, path, compression=compression, data_page_version=version, row_group_size=7000
    )
    assert whole(path)
    pq.write_table(made.slice(0, 0), path, compression=compression, data_page_version=version)
    assert whole(path)
    codec = "uncompressed" if compression == "none" else compression
    with duckdb.connect() as connection:
        connection.register("made", made)
        connection.execute(
            f"COPY made TO '{path}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION V{version[0]})"
        )
    assert whole(path)


def _without_the_end_of_the_last_column(path: Path, content: bytes) -> bytes:
    footer = 8 + int.from_bytes(content[-8:-4], "little")
    return content[: -footer - 5_000] + content[-footer:]


def _with_zeros_in_the_last_column(path: Path, content: bytes) -> bytes:
    group = pq.ParquetFile(path).metadata.row_group(0)
    chunk = group.column(group.num_columns - 1)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    return content[:at] + bytes(4_096) + content[at + 4_096 :]


@pytest.mark.parametrize(
    "damage", [_without_the_end_of_the_last_column, _with_zeros_in_the_last_column]
)
def test_what_is_not_as_the_footer_says_is_refused_before_the_charge(
    tmp_path: Path, damage: Callable[[Path, bytes], bytes]
) -> None:
    schema = clinic(tmp_path, parquet=True)
    path = tmp_path / "clinic" / "patients.parquet"
    pq.write_table(table(), path)
    content = path.read_bytes()
    session = open_session(schema)
    spent = session.remaining.spent.rho
    path.write_bytes(damage(path, content))
    for _ in range(3):
        with pytest.raises(Error, match="cannot be opened any more"):
            session.execute(SUM)
    assert session.remaining.spent.rho == spent
    with pytest.raises(Error, match="cannot be opened"):
        open_session(schema)
    path.write_bytes(content)
    assert session.execute(SUM).rows and session.remaining.spent.rho > spent
    session.close()
