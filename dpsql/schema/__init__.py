"""What the owner declares: the privacy unit, the budget,
and the tables with their bounds and limits.
"""

from dpsql.schema.authoring.check import Finding, check
from dpsql.schema.authoring.draft import draft
from dpsql.schema.catalog import Catalog, CatalogColumn, CatalogTable
from dpsql.schema.collected import Collected
from dpsql.schema.column import Column
from dpsql.schema.load import load, loads
from dpsql.schema.model import Schema, json_schema
from dpsql.schema.names import fold
from dpsql.schema.privacy import Analyst, Noise, Privacy
from dpsql.schema.table import Table
from dpsql.schema.types import Bound, Scalar, SqlType, Value
from dpsql.schema.unit_paths import ITS_UNIT, UNIT, Owner, PathStep

__all__ = [
    "ITS_UNIT",
    "UNIT",
    "Analyst",
    "Bound",
    "Catalog",
    "CatalogColumn",
    "CatalogTable",
    "Collected",
    "Column",
    "Finding",
    "Noise",
    "Owner",
    "PathStep",
    "Privacy",
    "Scalar",
    "Schema",
    "SqlType",
    "Table",
    "Value",
    "check",
    "draft",
    "fold",
    "json_schema",
    "load",
    "loads",
]
