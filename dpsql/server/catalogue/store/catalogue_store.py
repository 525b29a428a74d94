"""The catalogue's own in-memory DuckDB: PostgreSQL's facts,
the owner's tables and the functions that tools call.

It is made from the schema file and from facts that dpsql includes;
it has no access to the engine of the data."""

from __future__ import annotations

import atexit
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import duckdb

from dpsql.engines.duckdb.in_memory import close_instance, open_instance
from dpsql.postprocessing.pool import Slots
from dpsql.postprocessing.sandbox import SEALED, fetched
from dpsql.schema import Schema
from dpsql.server.catalogue.store.build import LATE, build, creation, is_late
from dpsql.server.catalogue.store.catalogue_types import OIDS
from dpsql.server.catalogue.store.views import FILLS, fill

_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


def name_parts(written: str) -> list[str]:
    """The parts of a qualified name, folded where they stand without quotes.

    >>> name_parts('public."My T"'), name_parts("Pg_Class")
    (['public', 'My T'], ['pg_class'])
    """
    matches = _PART.findall(written.strip())
    return [
        plain.strip().lower() if plain else quoted.replace('""', '"') for quoted, plain in matches
    ]


def type_words(written: str) -> str:
    """The name of a type without schema, modifier and quotes.

    >>> type_words("pg_catalog.int4"), type_words("character varying(10)[]"), type_words('"char"')
    ('int4', 'character varying[]', 'char')
    """
    plain = re.sub(r"\s*\([0-9, ]*\)", "", written.strip().lower())
    plain = re.sub(r'^"?(?:pg_catalog|public)"?\.', "", plain).replace('"', "")
    return re.sub(r"\s+", " ", plain)


#: Seconds after which a statement over the catalogue is stopped.
TIME_LIMIT = 10.0
#: How many statements may run over one catalogue at the same time.
MOST = 8
#: How many catalogues a process keeps.
KEPT = 8

#: The names by which objects print, by the number of their type.
_NAMES = {
    OIDS["regclass"]: "SELECT oid, pgc.regclass_out(oid) FROM pgc.pg_class",
    OIDS["regtype"]: "SELECT oid, pgc.format_type(oid, NULL) FROM pgc.pg_type",
    OIDS["regproc"]: "SELECT oid, proname FROM pgc.regproc",
    OIDS["regnamespace"]: "SELECT oid, pgc.quote_ident(nspname) FROM pgc.pg_namespace",
    OIDS["regrole"]: "SELECT oid, rolname FROM pgc.pg_roles",
}
#: The numbers of objects by what they are called,
#: with and without their schema where it is on the #: search path.
_BY_NAME = {
    "regclass": "SELECT nspname || '.' || relname, oid FROM pgc.spelled_classes UNION ALL "
    "SELECT relname, max(oid) FROM pgc.spelled_classes WHERE nspname IN ('pg_catalog', 'public') GROUP BY ALL",
    "regtype": "SELECT spelled, oid FROM pgc.type_names",
    "regproc": "SELECT proname, min(oid) FROM (FROM pgc.regproc UNION ALL SELECT oid, proname FROM pgc.pg_proc) "
    "GROUP BY ALL",
    "regnamespace": "SELECT nspname, oid FROM pgc.pg_namespace",
    "regrole": "SELECT rolname, oid FROM pgc.pg_roles",
}


class CatalogueStore:
    """The relations of ``pg_catalog`` under the schema ``pgc`` and those of ``information_schema``
    under ``ifs``.

    ``columns`` has the columns of each with PostgreSQL's names of their types, ``kinds`` the type
    of every column by its name alone, where all relations agree: PostgreSQL names its columns so
    that most do.
    """

    def __init__(
        self, schema: Schema, database: str, synopses: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.schema = schema
        self._database = database
        self._lock = threading.Lock()
        self._connection = open_instance({**SEALED, "enable_external_access": "true"})
        self.columns = build(self._connection.execute, schema, database, synopses)
        self.kinds = _kinds(self.columns)
        self._ready: set[str] = set()
        self._places = Slots(MOST)
        self._names: dict[int, Mapping[int, str]] = {}
        self._found: dict[str, Mapping[str, int]] = {}

    def run(
        self,
        sql: str,
        relations: Collection[str] = (),
        user: str = "",
        begun: Callable[[Callable[[], None]], None] = lambda _: None,
    ) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
        """Run a query over these relations.

        Returns the names and DuckDB types of its columns, and its rows. ``begun`` is called with a
        function that interrupts the query. Raises duckdb.Error if the query fails.
        """
        self._require(sql, relations)
        ended = threading.Event()
        cursor = self._connection.cursor()

        def check() -> None:
            if ended.is_set():
                raise duckdb.InterruptException

        def end() -> None:
            ended.set()
            cursor.interrupt()

        begun(end)
        watchdog = threading.Timer(TIME_LIMIT, cursor.interrupt)
        watchdog.daemon = True
        try:
            with self._places.slot(user, check):
                check()
                watchdog.start()
                cursor.execute(sql)
                return [
                    (column[0], str(column[1])) for column in cursor.description or ()
                ], fetched(cursor)
        finally:
            watchdog.cancel()
            cursor.close()

    def describe(self, sql: str, relations: Collection[str] = ()) -> list[tuple[str, str]]:
        """The names and DuckDB types of the columns of a query, without running it."""
        self._require(sql, relations)
        with self._connection.cursor() as cursor:
            bound = cursor.sql(sql)
            return list(zip(bound.columns, map(str, bound.types), strict=True))

    def names_of(self, type_oid: int) -> Mapping[int, str] | None:
        """The names of the objects of a type such as ``regclass``, by OID; None for other types."""
        if type_oid not in _NAMES:
            return None
        if type_oid not in self._names:
            self._names[type_oid] = dict(self.run(_NAMES[type_oid])[1]) | {0: "-"}
        return self._names[type_oid]

    def find(self, kind: str, written: str) -> int | None:
        """The OID of the object of a type such as ``regclass`` that a text names;
        None if there is none.
        """
        if written.strip().isdigit():
            return int(written)
        if kind not in self._found:
            self._found[kind] = dict(self.run(_BY_NAME[kind])[1])
        if kind == "regtype":
            return self._found[kind].get(type_words(written))
        parts = name_parts(written)
        return self._found[kind].get(".".join(parts[-2:] if kind == "regclass" else parts[-1:]))

    def close(self) -> None:
        """Free the memory."""
        close_instance(self._connection)

    def _require(self, sql: str, relations: Collection[str]) -> None:
        """Create and fill relations that the query or its functions read for the first time."""
        with self._lock, self._connection.cursor() as cursor:
            filled = sql
            for relation in set(relations) & self.columns.keys() - self._ready:
                if is_late(relation):
                    cursor.execute(creation(relation, self.columns))
                if relation in FILLS:
                    filled += FILLS[relation]
            for function in LATE.keys() - self._ready:
                if function in filled.lower():
                    cursor.execute(LATE[function])
                    self._ready.add(function)
            for relation in set(relations) & self.columns.keys() - self._ready:
                if relation in FILLS:
                    cursor.execute(fill(relation, self._database))
                self._ready.add(relation)


def _kinds(shapes: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for columns in shapes.values():
        for name, kind in columns.items():
            kinds[name] = kind if kinds.get(name, kind) == kind else ""
    return kinds


class _StoreCache:
    """The stores of this process, least recently used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: OrderedDict[tuple[object, ...], CatalogueStore] = OrderedDict()

    def of(
        self, schema: Schema, database: str, synopses: Sequence[tuple[str, str]]
    ) -> CatalogueStore:
        """The store of a schema, made on first use.

        It holds the schema, so that no other object can get its ``id``.
        """
        key = (id(schema), database, *synopses)
        with self._lock:
            if key not in self._stores:
                self._stores[key] = CatalogueStore(schema, database, synopses)
                if len(self._stores) > KEPT:
                    self._stores.popitem(last=False)
            self._stores.move_to_end(key)
            return self._stores[key]

    def close(self) -> None:
        """Close every store, before Python unloads DuckDB."""
        with self._lock:
            while self._stores:
                self._stores.popitem()[1].close()


_STORES = _StoreCache()
atexit.register(_STORES.close)


def store_of(
    schema: Schema, database: str, synopses: Sequence[tuple[str, str]] = ()
) -> CatalogueStore:
    """The store of a schema under a database name with these synopses, shared by the process."""
    return _STORES.of(schema, database, synopses)
