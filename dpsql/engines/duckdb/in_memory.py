"""DuckDB in memory: what its optimizer may decide,
and that it ends only in the process that opened it.

Proved in ``docs/proofs/process.md`` and ``docs/proofs/work.md``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakSet

import duckdb

_OPEN: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()
_INHERITED: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()

#: DuckDB 1 opens an instance of its own when it is imported;
#: DuckDB 2 does when a program first #: uses it.
_OF_IMPORT = [duckdb.default_connection()] if duckdb.__version__.startswith("1.") else []


def open_instance(config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection to a new DuckDB in memory, to be given to ``close_instance``;
    duckdb.Error for a wrong setting.
    """
    connection = duckdb.connect(":memory:", config=dict(config))
    _OPEN.add(connection)
    return connection


def close_instance(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the memory back, except in a fork of the process that opened it."""
    if connection not in _INHERITED:
        connection.close()


def _keep_inherited() -> None:
    """A fork has the instances without their threads,
    and ends by a fault when one of them is taken down.
    """
    for connection in (*_OPEN, *_OF_IMPORT):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        _INHERITED.add(connection)
    _OPEN.clear()


os.register_at_fork(after_in_child=_keep_inherited)


#: Nothing is decided by how many rows there are, which would tell by its time whether there is one
#: more: joins are made in the order in which they are written, each with its right side in memory,
#: and what one side holds does not choose what is read of the other. Nor are comparisons made
#: beforehand: DuckDB 2.0 may take a SUM for smaller than it can be, and leaves out what holds a
#: unit to its limits where a scalar subquery stands in WHERE. DuckDB 1.5 ends in a fault of its own
#: where it turns a window that keeps the first rows into an aggregate without the orders of joins.
CAREFUL: Mapping[str, str] = MappingProxyType(
    {
        "disabled_optimizers": "statistics_propagation,join_order,build_side_probe_side,join_filter_pushdown,"
        "top_n_window_elimination"
    }
)
