"""The exact rows of a planned core, as an engine gathers them."""

from __future__ import annotations

from typing import Any

import duckdb

from dpsql.engines.duckdb.attached_source import run_core
from dpsql.engines.duckdb.reading import core_sql
from dpsql.planning.plan import CorePlan


def exact_rows(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> list[tuple[Any, ...]]:
    """The rows of a core, by the very SQL of its plan."""
    return run_core(connection, core_sql(core))
