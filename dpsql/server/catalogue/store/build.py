"""Builds the store's tables from the schema file and from PostgreSQL's facts,
which dpsql includes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from dpsql.schema import Schema
from dpsql.server.catalogue.default_settings import DEFAULTS
from dpsql.server.catalogue.store.catalogue_types import duckdb_type
from dpsql.server.catalogue.store.function_macros import (
    FIRST_MACROS,
    MACROS,
    TABLE_MACROS,
    definitions,
)
from dpsql.server.catalogue.store.objects import (
    CatalogueObjects,
    Row,
    TypeStorage,
    added_functions,
    allowed_functions,
)

#: PostgreSQL's spelling of a type, by its OID, if it is not the type's name.
_SPELLED = {
    16: "boolean",
    18: '"char"',
    20: "bigint",
    21: "smallint",
    23: "integer",
    700: "real",
    701: "double precision",
    1042: "character",
    1043: "character varying",
    1083: "time without time zone",
    1114: "timestamp without time zone",
    1184: "timestamp with time zone",
    1186: "interval",
    1266: "time with time zone",
    1560: "bit",
    1562: "bit varying",
    1700: "numeric",
}
#: Other names by which a cast may call a type.
_OTHER_NAMES = ((23, "int"), (701, "float"), (1700, "decimal"))
_SPELLING = " ".join(f"WHEN {oid} THEN '{name}'" for oid, name in _SPELLED.items())
_COLUMNS = """(SELECT string_agg(pgc.quote_ident(a.attname), ', ' ORDER BY list_position({places}, a.attnum))
    FROM pgc.pg_attribute a WHERE a.attrelid = {relation} AND list_contains({places}, a.attnum))"""
_OF_KEY = _COLUMNS.format(places="k.conkey", relation="k.conrelid")
_REFERRED = _COLUMNS.format(places="k.confkey", relation="k.confrelid")
_OF_INDEX = _COLUMNS.format(places="i.indkey", relation="i.indrelid")

#: Statements that make these tables, in this order.
SPELLED: tuple[str, ...] = (
    f"""CREATE TABLE pgc.spelled_types AS
    SELECT t.oid, CASE WHEN n.nspname NOT IN ('pg_catalog', 'public') THEN n.nspname || '.' ELSE '' END ||
           CASE b.oid {_SPELLING} ELSE b.typname END AS spelled,
           b.oid AS base, CASE WHEN b.oid = t.oid THEN '' ELSE '[]' END AS suffix
    FROM pgc.pg_type t JOIN pgc.pg_namespace n ON n.oid = t.typnamespace JOIN pgc.pg_type b ON b.oid =
        CASE WHEN t.typcategory = 'A' AND t.oid NOT IN (22, 30) AND t.typelem <> 0 THEN t.typelem ELSE t.oid END""",
    """CREATE TABLE pgc.spelled_classes AS
    SELECT c.oid, CASE WHEN n.nspname IN ('pg_catalog', 'public') THEN '' ELSE n.nspname || '.' END ||
           pgc.quote_ident(c.relname) AS spelled, n.nspname, c.relname
    FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace""",
    "CREATE TABLE pgc.constraint_definitions(oid BIGINT, definition VARCHAR)",
    "CREATE TABLE pgc.index_definitions(oid BIGINT, definition VARCHAR)",
    """CREATE TABLE pgc.procedure_types AS
    SELECT p.oid, list(s.spelled || s.suffix ORDER BY p.place) AS types
    FROM (SELECT oid, unnest(proargtypes) AS argument, unnest(range(len(proargtypes))) AS place FROM pgc.pg_proc) p
    JOIN pgc.spelled_types s ON s.oid = p.argument GROUP BY p.oid""",
)

#: Functions, and the statements that fill the tables which they look into; few tools call them,
#: and #: it takes a while.
LATE: Mapping[str, str] = {
    "pg_get_constraintdef": f"""INSERT INTO pgc.constraint_definitions
    SELECT k.oid, CASE k.contype WHEN 'p' THEN 'PRIMARY KEY (' || {_OF_KEY} || ')'
           WHEN 'u' THEN 'UNIQUE (' || {_OF_KEY} || ')'
           WHEN 'f' THEN 'FOREIGN KEY (' || {_OF_KEY} || ') REFERENCES ' || f.spelled || '(' || {_REFERRED} || ')'
           END AS definition
    FROM pgc.pg_constraint k LEFT JOIN pgc.spelled_classes f ON f.oid = k.confrelid""",
    "pg_get_indexdef": f"""INSERT INTO pgc.index_definitions
    SELECT i.indexrelid AS oid, 'CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END || 'INDEX ' ||
           pgc.quote_ident(x.relname) || ' ON ' || n.nspname || '.' || pgc.quote_ident(t.relname) ||
           ' USING btree (' || {_OF_INDEX} || ')' AS definition
    FROM pgc.pg_index i JOIN pgc.pg_class x ON x.oid = i.indexrelid JOIN pgc.pg_class t ON t.oid = i.indrelid
    JOIN pgc.pg_namespace n ON n.oid = t.relnamespace""",
}


FACTS = Path(__file__).with_name("facts")

#: The columns of every relation with PostgreSQL's names of their types,
#: by the relation's name in #: the store.
Shapes: TypeAlias = Mapping[str, Mapping[str, str]]
Run: TypeAlias = Callable[..., duckdb.DuckDBPyConnection]

#: Which row of PostgreSQL's own gives the values that a new row does not name,
#: and what is #: different for all.
_TEMPLATES: Mapping[str, tuple[str, Row]] = {
    "pg_class": (
        "oid = 2601",
        {
            "relnamespace": 2200,
            "relreplident": "d",
            "relpages": 0,
            "reltuples": -1.0,
            "reltoastrelid": 0,
        },
    ),
    "pg_attribute": ("attrelid = 2601 AND attnum = 1", {}),
    "pg_index": ("indexrelid = 112", {}),
    "pg_constraint": ("oid = 10115", {"connamespace": 2200}),
    "pg_proc": ("proname = 'upper' AND prorettype = 25", {}),
}
_ROW_TYPE: tuple[str, Row] = ("typname = 'pg_am'", {"typnamespace": 2200})
_ARRAY_TYPE: tuple[str, Row] = ("typname = '_pg_am'", {"typnamespace": 2200})
_PLAIN: Mapping[str, Row] = {
    "pg_database": {
        "datdba": 10,
        "encoding": 6,
        "datlocprovider": "c",
        "datistemplate": False,
        "datallowconn": True,
        "datconnlimit": -1,
        "datfrozenxid": 0,
        "datminmxid": 0,
        "dattablespace": 1663,
        "datcollate": "C.UTF-8",
        "datctype": "C.UTF-8",
    },
    "pg_description": {"classoid": 1259},
    "pg_roles": {
        "oid": 10,
        "rolname": "dpsql",
        "rolsuper": True,
        "rolinherit": True,
        "rolcreaterole": True,
        "rolcreatedb": True,
        "rolcanlogin": False,
        "rolreplication": False,
        "rolconnlimit": -1,
        "rolpassword": "********",
        "rolbypassrls": True,
    },
}
#: Relations without facts that rows are put into, or that functions look into.
_EARLY = frozenset(
    f"pgc.pg_{name}"
    for name in "database depend description shdescription roles settings statistic_ext".split()
)
_TYPE_NAMES = (
    (
        "CREATE TABLE pgc.type_names AS SELECT oid, typname AS spelled FROM pgc.pg_type UNION ALL "
        f"SELECT * FROM (VALUES {', '.join(map(str, (*_SPELLED.items(), *_OTHER_NAMES)))}) v(oid, spelled)"
    ),
    (
        "INSERT INTO pgc.type_names SELECT t.typarray, n.spelled || '[]' FROM pgc.type_names n "
        "JOIN pgc.pg_type t ON t.oid = n.oid WHERE t.typarray <> 0"
    ),
)
_SETTINGS = (
    "INSERT INTO pgc.pg_settings BY NAME SELECT name, setting, unit, category, context, vartype, 'default' AS source, "
    "min_val, max_val, enumvals, boot_val, setting AS reset_val, false AS pending_restart FROM pgc.settings"
)
#: Functions by which types are read and written: tools find out through them what a type is.
_OF_TYPES = (
    "SELECT unnest([typinput, typoutput, typreceive, typsend, typmodin, typmodout, "
    "typsubscript]) FROM pgc.pg_type"
)


def build(
    run: Run, schema: Schema, database: str, synopses: Sequence[tuple[str, str]] = ()
) -> Shapes:
    """Make all tables and macros except `dpsql.server.catalogue.store.views`;
    returns the columns of all relations.
    """
    run("CREATE SCHEMA pgc; CREATE SCHEMA ifs; BEGIN")
    for file in sorted(FACTS.glob("*.parquet")):
        quoted = str(file).replace("'", "''")
        run(f"CREATE TABLE pgc.\"{file.stem}\" AS FROM read_parquet('{quoted}')")
    run("SET enable_external_access = false")
    shapes = _shapes(run)
    for relation in shapes:
        if not is_late(relation):
            run(creation(relation, shapes))
    _RowWriter(run, shapes).put(_objects(run, schema, database, synopses).gather())
    for statement in (*definitions(FIRST_MACROS), *_TYPE_NAMES, *SPELLED, *definitions(MACROS)):
        run(statement)
    for head, body in TABLE_MACROS:
        run(f"CREATE MACRO pgc.{head} AS TABLE {body}")
    run("COMMIT; SET lock_configuration = true")
    return shapes


def is_late(relation: str) -> bool:
    """Whether a relation is made on first use: no other one is made from it."""
    return relation not in _EARLY


def creation(relation: str, shapes: Shapes) -> str:
    """The statement that creates an empty relation if it does not exist."""
    listed = ", ".join(f'"{name}" {duckdb_type(kind)}' for name, kind in shapes[relation].items())
    return f"CREATE TABLE IF NOT EXISTS {relation} ({listed})"


def _shapes(run: Run) -> dict[str, dict[str, str]]:
    rows = run(
        "SELECT CASE n.nspname WHEN 'pg_catalog' THEN 'pgc.' ELSE 'ifs.' END || c.relname, a.attname, t.typname "
        "FROM pgc.pg_attribute a JOIN pgc.pg_class c ON c.oid = a.attrelid "
        "JOIN pgc.pg_namespace n ON n.oid = c.relnamespace JOIN pgc.pg_type t ON t.oid = a.atttypid "
        "WHERE a.attnum > 0 AND c.relkind IN ('r', 'v') AND n.nspname <> 'pg_toast' ORDER BY c.oid, a.attnum"
    ).fetchall()
    shapes: dict[str, dict[str, str]] = {}
    for relation, column, kind in rows:
        shapes.setdefault(relation, {})[column] = kind
    return shapes


def _objects(
    run: Run, schema: Schema, database: str, synopses: Sequence[tuple[str, str]]
) -> CatalogueObjects:
    stored = run(
        "SELECT oid, typlen, typbyval, typalign, typstorage, typcollation FROM pgc.pg_type"
    ).fetchall()
    classes = run(
        "SELECT opcintype, oid FROM pgc.pg_opclass WHERE opcmethod = 403 AND opcdefault"
    ).fetchall()
    equals = run(
        "SELECT oprleft, oid FROM pgc.pg_operator WHERE oprname = '=' AND oprleft = oprright"
    ).fetchall()
    storages = {oid: TypeStorage(*rest) for oid, *rest in stored}
    return CatalogueObjects(
        schema, database, storages, dict(classes), equals=dict(equals), synopses=synopses
    )


class _RowWriter:
    """Inserts rows into the tables of the store."""

    def __init__(self, run: Run, shapes: Shapes) -> None:
        self._run = run
        self._shapes = shapes

    def put(self, rows: Mapping[str, Sequence[Row]]) -> None:
        """Insert the owner's objects, roles, settings,
        and the functions that statements may call.
        """
        types = rows.get("pg_type", [])
        self._insert(
            "pg_type",
            [row for row in types if "typelem" not in row],
            self._template("pg_type", _ROW_TYPE),
        )
        self._insert(
            "pg_type",
            [row for row in types if "typelem" in row],
            self._template("pg_type", _ARRAY_TYPE),
        )
        for relation, new in rows.items():
            if relation != "pg_type":
                self._insert(relation, new, self._default(relation))
        self._insert("pg_roles", [{}], _PLAIN["pg_roles"])
        self._run(_SETTINGS)
        self._run(
            "UPDATE pgc.pg_settings SET setting = d.setting, boot_val = d.setting, reset_val = d.setting "
            "FROM (SELECT unnest(?::VARCHAR[]) AS name, unnest(?::VARCHAR[]) AS setting) d "
            "WHERE lower(pg_settings.name) = d.name",
            [list(DEFAULTS), list(DEFAULTS.values())],
        )
        self._run(
            f"DELETE FROM pgc.pg_proc WHERE NOT list_contains(?, proname) AND oid NOT IN ({_OF_TYPES})",
            [sorted(allowed_functions())],
        )
        known = {name for (name,) in self._run("SELECT proname FROM pgc.pg_proc").fetchall()}
        self._insert("pg_proc", added_functions(known), self._default("pg_proc"))

    def _default(self, relation: str) -> Row:
        return (
            self._template(relation, _TEMPLATES[relation])
            if relation in _TEMPLATES
            else _PLAIN.get(relation, {})
        )

    def _template(self, relation: str, of: tuple[str, Row]) -> Row:
        which, changed = of
        cursor = self._run(f"SELECT * FROM pgc.{relation} WHERE {which}")
        names = [column[0] for column in cursor.description or ()]
        row: tuple[Any, ...] | None = cursor.fetchone()
        assert row is not None
        return {**dict(zip(names, row, strict=True)), **changed}

    def _insert(self, relation: str, rows: Sequence[Row], default: Row) -> None:
        full = [{**default, **row} for row in rows]
        if full:
            shape = self._shapes[f"pgc.{relation}"]
            names = [name for name in shape if name in full[0]]
            columns = {name: [row.get(name) for row in full] for name in names}
            # Older DuckDBs take long over lists unnested side by side:
            # what is the same in all rows # is given once.
            fixed = {
                name for name, values in columns.items() if values.count(values[0]) == len(values)
            } - {names[0]}
            parts = ", ".join(
                f'?::{duckdb_type(shape[name])} AS "{name}"'
                if name in fixed
                else f'unnest(?::{duckdb_type(shape[name])}[]) AS "{name}"'
                for name in names
            )
            arguments = [values[0] if name in fixed else values for name, values in columns.items()]
            self._run(f"INSERT INTO pgc.{relation} BY NAME SELECT {parts}", arguments)
