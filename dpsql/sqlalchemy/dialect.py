"""What SQLAlchemy asks of a database that only reads, and whose statements are charged for good before they run."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine, event, pool, types
from sqlalchemy.engine import URL
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.interfaces import ConnectArgsType, DBAPIConnection, DBAPICursor, IsolationLevel
from sqlalchemy.util import immutabledict

from dpsql.sqlalchemy.compiler import DpsqlCompiler, DpsqlIdentifierPreparer, DpsqlTypeCompiler
from dpsql.sqlalchemy.databases import Databases
from dpsql.sqlalchemy.place import place_of
from dpsql.sqlalchemy.price import EpsilonCharacteristic
from dpsql.sqlalchemy.reflection import SCHEMA, Reflection
from dpsql.sqlalchemy.result_types import ExactNumeric


class DpsqlDialect(Reflection, DefaultDialect):
    """dpsql for SQLAlchemy: SELECT and reflection; DDL and DML are compiled by SQLAlchemy and refused by dpsql."""

    name, driver = "dpsql", "dpsql"
    default_paramstyle = "qmark"
    statement_compiler = DpsqlCompiler
    type_compiler_cls = DpsqlTypeCompiler
    preparer = DpsqlIdentifierPreparer
    max_identifier_length = 255
    colspecs = {types.Numeric: ExactNumeric, types.Float: types.Float}  # noqa: RUF012  # SQLAlchemy's own declaration is not a ClassVar
    connection_characteristics = immutabledict(
        {**DefaultDialect.connection_characteristics, "dpsql_epsilon": EpsilonCharacteristic()}
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

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """dpsql itself, which is PEP 249."""
        import dpsql

        return dpsql

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        return pool.QueuePool

    def create_connect_args(self, url: URL) -> ConnectArgsType:
        """The arguments of ``dpsql.connect``; ArgumentError where the URL says what they do not have."""
        return (), place_of(url)

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """A connection to the database, which the engine opens once: a pool, or none, reconnects at no cost."""
        database = self._databases.opened(cparams.pop("schema"), cparams.pop("ledger", None))
        connection: DBAPIConnection = self.loaded_dbapi.connect(database, **cparams)
        return connection

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """An engine that is disposed of lets go of its databases; connections that are out keep theirs."""
        dialect = engine.dialect
        assert isinstance(dialect, DpsqlDialect)
        event.listen(engine, "engine_disposed", lambda _: dialect._databases.forget())

    def get_isolation_level_values(self, dbapi_conn: DBAPIConnection) -> Sequence[IsolationLevel]:
        return ("AUTOCOMMIT",)

    def get_isolation_level(self, dbapi_connection: DBAPIConnection) -> IsolationLevel:
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: DBAPIConnection, level: IsolationLevel) -> None:
        """Nothing: each statement stands alone, and what it costs stays charged."""

    def is_disconnect(
        self, e: Exception, connection: pool.PoolProxiedConnection | DBAPIConnection | None, cursor: DBAPICursor | None
    ) -> bool:
        """Whether the pool should connect again: the connection was closed, or opened before a fork."""
        import dpsql

        return isinstance(e, dpsql.InterfaceError) and any(
            sign in str(e) for sign in ("the connection is closed", "opened by another process")
        )

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        import dpsql

        return tuple(int(part) for part in dpsql.__version__.split(".")[:3])

    def _get_default_schema_name(self, connection: Connection) -> str:
        return SCHEMA
