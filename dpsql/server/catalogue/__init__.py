"""The catalogue: answers what tools ask about the database, from the schema file and at no cost."""

import dpsql.sql  # noqa: F401  first, as it refuses a parser that does not fit
from dpsql.server.catalogue.catalogue import Catalogue
from dpsql.server.catalogue.catalogue_answer import CatalogueAnswer, CatalogueColumn, ObjectName

__all__ = ["Catalogue", "CatalogueAnswer", "CatalogueColumn", "ObjectName"]
