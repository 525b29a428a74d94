"""Every DuckDB that runs what an analyst wrote has the settings that seal it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from databases import clinic

from dpsql.audit import completed_schema
from dpsql.engines.duckdb.in_memory import CAREFUL
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.server.catalogue.store.catalogue_store import CatalogueStore


def settings(connection: duckdb.DuckDBPyConnection) -> dict[str, object]:
    return dict(connection.execute("SELECT name, value FROM duckdb_settings()").fetchall())


@pytest.mark.parametrize("room", ["the sandbox", "the catalogue"])
def test_statistics_decide_nothing(tmp_path: Path, room: str) -> None:
    schema = completed_schema(clinic(tmp_path))
    made = (
        Sandbox(schema, lambda table: [])
        if room == "the sandbox"
        else CatalogueStore(schema, "clinic")
    )
    try:
        found = settings(made._connection)["disabled_optimizers"].split(",")
        assert "statistics_propagation" in found and set(found) == set(
            CAREFUL["disabled_optimizers"].split(",")
        )
    finally:
        made.close()
