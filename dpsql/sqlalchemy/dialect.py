"""The dialect: its URLs, the databases that connections share,
and the execution option for prices.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine, event, pool, types
from sqlalchemy.engine import URL
from sqlalchemy.engine.characteristics import ConnectionCharacteristic
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import (
    ConnectArgsType,
    DBAPIConnection,
    DBAPICursor,
    Dialect,
    IsolationLevel,
)
from sqlalchemy.exc import ArgumentError
from sqlalchemy.util import immutabledict

from dpsql.dbapi.pep249 import with_dpsql_errors
from dpsql.session.database import Database, open_database
from dpsql.sqlalchemy.compiler import (
    DpsqlCompiler,
    DpsqlIdentifierPreparer,
    DpsqlTypeCompiler,
    ExactNumeric,
)
from dpsql.sqlalchemy.reflection import SCHEMA, Reflection

_FORM = "write dpsql:///path/to/schema.toml?analyst=ada (three slashes, four where the path starts with one)"
_KNOWN = ("analyst", "ledger", "intervals")


def connect_arguments(url: URL) -> dict[str, Any]:
    """The arguments of ``dpsql.connect`` in the URL,
    and whether answers have the ends of intervals as columns.

    >>> from sqlalchemy import make_url
    >>> connect_arguments(make_url("dpsql:///schemas/nafld.toml?analyst=ada"))
    {'schema': 'schemas/nafld.toml', 'analyst': 'ada'}
    """
    if url.host or url.port or url.password:
        raise ArgumentError(f"a dpsql address has no host, port or password; {_FORM}")
    if not url.database:
        raise ArgumentError(f"a dpsql address names a schema file; {_FORM}")
    unknown = [name for name in url.query if name not in _KNOWN]
    if unknown:
        raise ArgumentError(
            f"a dpsql address has no option {unknown[0]!r}; known are {', '.join(_KNOWN)}"
        )
    arguments = {name: value for name, value in url.query.items() if isinstance(value, str)}
    if len(arguments) < len(url.query) or (url.username and "analyst" in arguments):
        raise ArgumentError(f"a dpsql address names each option once; {_FORM}")
    if arguments.get("intervals", "on") not in ("on", "off"):
        raise ArgumentError("a dpsql address says intervals=on or intervals=off")
    by_name = {"analyst": url.username} if url.username else {}
    return {"schema": url.database, **by_name, **arguments}


class Databases:
    """The open databases of one SQLAlchemy engine; a forked process opens its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, str, str | None], Database] = {}

    def opened(self, schema: str | Path, ledger: str | Path | None) -> Database:
        """The database of a schema file,
        opened on first use and shared by all connections of this process.
        """
        key = (os.getpid(), str(schema), None if ledger is None else str(ledger))
        with self._lock:
            if key not in self._open:
                self._open[key] = with_dpsql_errors(lambda: open_database(schema, ledger))
            return self._open[key]

    def forget(self) -> None:
        """Release all databases; each closes with the last of its connections."""
        with self._lock:
            self._open.clear()


class EpsilonCharacteristic(ConnectionCharacteristic):
    """``execution_options(dpsql_epsilon=0.5)``; the pool resets it to the schema's price."""

    __slots__ = ()

    def reset_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> None:
        self.set_characteristic(dialect, dbapi_conn, None)

    def set_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection, value: Any) -> None:
        dbapi_conn.epsilon = value

    def get_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> Any:
        return dbapi_conn.epsilon


class IntervalsCharacteristic(ConnectionCharacteristic):
    """``execution_options(dpsql_intervals=True)``; the pool resets it to what the URL says."""

    __slots__ = ()

    def reset_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> None:
        dbapi_conn.intervals = dialect.intervals  # type: ignore[attr-defined]

    def set_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection, value: Any) -> None:
        dbapi_conn.intervals = value

    def get_characteristic(self, dialect: Dialect, dbapi_conn: DBAPIConnection) -> Any:
        return dbapi_conn.intervals


class DpsqlDialect(Reflection, DefaultDialect):
    """dpsql for SQLAlchemy: SELECT and reflection;
    DDL and DML are compiled by SQLAlchemy and refused by dpsql.
    """

    name = "dpsql"
    driver = "dpsql"
    default_paramstyle = "qmark"
    statement_compiler = DpsqlCompiler
    type_compiler_cls = DpsqlTypeCompiler
    preparer = DpsqlIdentifierPreparer
    max_identifier_length = 255
    colspecs = {types.Numeric: ExactNumeric, types.Float: types.Float}  # noqa: RUF012  # SQLAlchemy's own declaration is not a ClassVar
    connection_characteristics = immutabledict(
        {
            **DefaultDialect.connection_characteristics,
            "dpsql_epsilon": EpsilonCharacteristic(),
            "dpsql_intervals": IntervalsCharacteristic(),
        }
    )

    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_alter = False
    supports_comments = True
    supports_sane_rowcount = supports_sane_multi_rowcount = False
    postfetch_lastrowid = False
    div_is_floordiv = False
    tuple_in_values = False
    returns_native_bytes = True
    skip_autocommit_rollback = True
    default_schema_name = SCHEMA
    #: Read by PostgreSQL's compiler, whose spelling of statements dpsql reads.
    _backslash_escapes = _supports_jsonb_subscripting = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._databases = Databases()
        self.intervals = False

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The module ``dpsql``, which implements PEP 249."""
        import dpsql

        return dpsql

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        return pool.QueuePool

    def create_connect_args(self, url: URL) -> ConnectArgsType:
        """The arguments of ``dpsql.connect``; raises ArgumentError if the URL has others."""
        return (), connect_arguments(url)

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """A connection to the database, which the engine opens once,
        so that connecting again is cheap.
        """
        database = self._databases.opened(cparams.pop("schema"), cparams.pop("ledger", None))
        self.intervals = cparams.pop("intervals", "off") == "on"
        connection: DBAPIConnection = self.loaded_dbapi.connect(database, **cparams)
        if self.intervals:
            connection.intervals = True
        return connection

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Release the databases when the engine is disposed of; connections in use keep theirs."""
        dialect = engine.dialect
        assert isinstance(dialect, DpsqlDialect)
        event.listen(engine, "engine_disposed", lambda _: dialect._databases.forget())

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> Sequence[IsolationLevel]:
        return ("AUTOCOMMIT",)

    def get_isolation_level(self, dbapi_connection: DBAPIConnection) -> IsolationLevel:
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: DBAPIConnection, level: IsolationLevel) -> None:
        """Does nothing: each statement stands alone, and its charge stays."""

    def is_disconnect(
        self,
        e: Exception,
        connection: pool.PoolProxiedConnection | DBAPIConnection | None,
        cursor: DBAPICursor | None,
    ) -> bool:
        """Whether the pool has to reconnect: the connection was closed, or opened before a fork."""
        import dpsql

        return isinstance(e, dpsql.InterfaceError) and any(
            sign in str(e) for sign in ("the connection is closed", "opened by another process")
        )

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        import dpsql

        return tuple(int(number) for number in dpsql.__version__.split(".")[:3])

    def _get_default_schema_name(self, connection: Connection) -> str:
        return SCHEMA
