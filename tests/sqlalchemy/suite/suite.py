"""All of SQLAlchemy's dialect suite."""

from sqlalchemy.testing.suite import *  # noqa: F403
