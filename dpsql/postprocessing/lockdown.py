"""What keeps an in-memory DuckDB from files, extensions and the network, and its answers from filling the memory."""

from __future__ import annotations

from typing import Any

import duckdb

from dpsql.engines.duckdb.optimizer import CAREFUL
from dpsql.errors import StatementError

SEALED: dict[str, Any] = {
    **CAREFUL,
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "memory_limit": "1GB",
    "temp_directory": "",
    "threads": 1,
    "max_expression_depth": "250",
}
#: How many values one answer may have, and how many rows are read at a time.
MOST_VALUES, AT_A_TIME = 5_000_000, 10_000


def fetched(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows of the query that the cursor runs; E_LIMITS where they are too many to be held."""
    width = len(cursor.description or ()) or 1
    rows: list[tuple[Any, ...]] = []
    while more := cursor.fetchmany(AT_A_TIME):
        rows += more
        if len(rows) * width > MOST_VALUES:
            raise StatementError("E_LIMITS", f"the answer has more than {MOST_VALUES:,} values; add LIMIT")
    return rows
