"""The catalogue: what tools ask about the database, answered from the schema file at no cost."""

from dpsql.pgcatalog.answer import CatalogueAnswer, CatalogueColumn, ObjectName
from dpsql.pgcatalog.catalogue import Catalogue

__all__ = ["Catalogue", "CatalogueAnswer", "CatalogueColumn", "ObjectName"]
