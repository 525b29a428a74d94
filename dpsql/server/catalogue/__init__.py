"""The catalogue: what tools ask about the database, answered from the schema file at no cost."""

import dpsql.sql  # noqa: F401  first, as it refuses a parser that does not fit
from dpsql.server.catalogue.answer import CatalogueAnswer, CatalogueColumn, ObjectName
from dpsql.server.catalogue.catalogue import Catalogue

__all__ = ["Catalogue", "CatalogueAnswer", "CatalogueColumn", "ObjectName"]
