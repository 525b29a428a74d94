"""The syntax of the statements that analysts write,
and the dialect of the sandbox in which post-processing runs.

Neither depends on the engine that holds the rows. Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from dpsql.sql.emit.dialect import Dialect, Syntax
from dpsql.sql.emit.duckdb import DUCKDB

#: What analysts write is read as DuckDB's SQL.
STATEMENT: Final = Syntax("duckdb")
#: A DuckDB comes with dpsql, which runs post-processing.
SANDBOX: Final[Dialect] = DUCKDB
