"""How PostgreSQL spells types, relations, keys and indexes: tables of the store that its functions look into."""

from __future__ import annotations

from collections.abc import Mapping

#: PostgreSQL's spelling of a type where it is not the type's name.
_SPELLED = {
    16: "boolean", 18: '"char"', 20: "bigint", 21: "smallint", 23: "integer", 700: "real", 701: "double precision",
    1042: "character", 1043: "character varying", 1083: "time without time zone", 1114: "timestamp without time zone",
    1184: "timestamp with time zone", 1186: "interval", 1266: "time with time zone", 1560: "bit",
    1562: "bit varying", 1700: "numeric",
}  # fmt: skip
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

#: Functions, and the statements that fill the tables which they look into; few tools call them, and it takes a while.
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
