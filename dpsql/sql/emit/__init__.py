"""Core → SQL of one engine dialect: unit joins, contribution bounding, quantisation,
key domains.
"""

from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.measurement.core import core_sql

__all__ = ["Dialect", "core_sql"]
