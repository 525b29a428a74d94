"""The SQLAlchemy dialect: ``create_engine("dpsql:///path/to/schema.toml?analyst=ada")``.

Named by the entry point ``dpsql`` of the group ``sqlalchemy.dialects``; it needs
``pip install "dpsql[sqlalchemy]"``.
"""

from dpsql.sqlalchemy.dialect import DpsqlDialect

__all__ = ["DpsqlDialect"]
