"""Core → SQL of one engine dialect: unit joins, contribution bounding, quantisation, key domains."""

from dpsql.sql.emit.core import core_sql, readable

__all__ = ["core_sql", "readable"]
