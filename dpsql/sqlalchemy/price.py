"""What the statements of a SQLAlchemy connection cost: the execution option ``dpsql_epsilon``."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine.characteristics import ConnectionCharacteristic
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect


class EpsilonCharacteristic(ConnectionCharacteristic):
    """``execution_options(dpsql_epsilon=0.5)``; given back to the pool, a connection has the schema's price again."""

    __slots__ = ()

    def reset_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> None:
        self.set_characteristic(dialect, dbapi_conn, None)

    def set_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection, value: Any) -> None:
        dbapi_conn.epsilon = value

    def get_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> Any:
        return dbapi_conn.epsilon
