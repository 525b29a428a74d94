"""The types: one record of all that dpsql knows of each, and how stored types are read as them."""

from dpsql.schema.types.facts import Axis, Bound, Family, Scalar, StoredForm, TypeFacts, Value
from dpsql.schema.types.sql_type import (
    ALIASES,
    FAITHFUL,
    STORED_FORMS,
    STORED_TYPES,
    TYPES,
    Kind,
    Reading,
    SqlType,
    Stored,
    bounds_of,
    engine_kind,
    value_of,
)

__all__ = [
    "ALIASES",
    "FAITHFUL",
    "STORED_FORMS",
    "STORED_TYPES",
    "TYPES",
    "Axis",
    "Bound",
    "Family",
    "Kind",
    "Reading",
    "Scalar",
    "SqlType",
    "Stored",
    "StoredForm",
    "TypeFacts",
    "Value",
    "bounds_of",
    "engine_kind",
    "value_of",
]
