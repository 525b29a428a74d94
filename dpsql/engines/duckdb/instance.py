"""DuckDB in memory, which ends only in the process that opened it.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import duckdb

_OPEN: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()
_INHERITED: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()

#: DuckDB 1 opens an instance of its own when it is imported; DuckDB 2 does when a program first uses it.
_OF_IMPORT = [duckdb.default_connection()] if duckdb.__version__.startswith("1.") else []


def open_instance(config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """A connection to a new DuckDB in memory, to be given to ``close_instance``; duckdb.Error for a wrong setting."""
    connection = duckdb.connect(":memory:", config=dict(config))
    _OPEN.add(connection)
    return connection


def close_instance(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the memory back, except in a fork of the process that opened it."""
    if connection not in _INHERITED:
        connection.close()


def _keep_inherited() -> None:
    """A fork has the instances without their threads, and ends by a fault when one of them is taken down."""
    for connection in (*_OPEN, *_OF_IMPORT):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        _INHERITED.add(connection)
    _OPEN.clear()


os.register_at_fork(after_in_child=_keep_inherited)
