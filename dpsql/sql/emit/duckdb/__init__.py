"""The dialect of DuckDB: its words, and its total form of each function of the allow-list."""

from dpsql.sql.emit.duckdb.dialect import DUCKDB, DuckDB

__all__ = ["DUCKDB", "DuckDB"]
