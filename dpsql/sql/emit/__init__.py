"""Core → SQL of one engine dialect: unit joins, contribution bounding, quantisation, key domains."""

from dpsql.sql.emit.core import core_sql
from dpsql.sql.emit.dialect import Dialect

__all__ = ["Dialect", "core_sql"]
