"""The data of the corpora, and the same data in DuckDB itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from corpora import plain_connection, sampled_nafld


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory, nafld_folder: Path, tpch_folder: Path
) -> dict[str, Path]:
    sample = tmp_path_factory.mktemp("sample") / "nafld"
    sampled_nafld(nafld_folder, sample)
    return {"nafld": sample, "tpch": tpch_folder, "tpch_supplier": tpch_folder}


@pytest.fixture(scope="module")
def plain(data: dict[str, Path]) -> Iterator[dict[str, duckdb.DuckDBPyConnection]]:
    opened = {name: plain_connection(folder) for name, folder in data.items()}
    yield opened
    for connection in opened.values():
        connection.close()
