"""The dialect of the sandbox in which post-processing runs: a DuckDB comes with dpsql, whatever engine holds the rows.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.duckdb import DUCKDB

SANDBOX: Final[Dialect] = DUCKDB
