"""Relations that PostgreSQL computes from its catalogues,
each as one SELECT over the tables of the store.

Columns that a SELECT leaves out are NULL. ``pgc`` holds ``pg_catalog``, ``ifs`` the
``information_schema``; all names in the text are dpsql's own.
"""

from __future__ import annotations

_RELATIONS = """
SELECT c.oid, n.nspname, c.relname, c.relkind, c.relnamespace
FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v') AND n.nspname <> 'pg_toast'
"""
_KEYS = """
SELECT con.oid, con.conname, con.contype, con.conrelid, con.confrelid, con.conindid, r.nspname, r.relname,
       unnest(con.conkey) AS attnum, unnest(con.confkey) AS refnum, unnest(range(1, len(con.conkey) + 1)) AS place
FROM pgc.pg_constraint con JOIN ({relations}) r ON r.oid = con.conrelid WHERE r.nspname = 'public'
""".replace("{relations}", _RELATIONS)
#: The grants of a private database: everybody who may ask may read every table, and nothing else.
_GRANTS = (
    "'dpsql' AS grantor, 'PUBLIC' AS grantee, {database} AS table_catalog, r.nspname AS table_schema, "
    "r.relname AS table_name, 'SELECT' AS privilege_type, 'NO' AS is_grantable"
)

#: What PostgreSQL counts of a table's rows and blocks: here always 0,
#: since the true numbers are #: private.
_COUNTERS = {
    "": (
        "seq_scan seq_tup_read idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd n_live_tup "
        "n_dead_tup n_mod_since_analyze n_ins_since_vacuum vacuum_count autovacuum_count analyze_count "
        "autoanalyze_count"
    ).split(),
    "io": "heap_blks_read heap_blks_hit idx_blks_read idx_blks_hit".split(),
}

#: Relation, and the SELECT whose named columns it holds;
#: ``{database}`` stands for the database's #: name in quotes.
FILLS: dict[str, str] = {
    "pgc.pg_tables": f"""
        SELECT r.nspname AS schemaname, r.relname AS tablename, 'dpsql' AS tableowner, c.relhasindex AS hasindexes,
               c.relhasrules AS hasrules, c.relhastriggers AS hastriggers, c.relrowsecurity AS rowsecurity
        FROM ({_RELATIONS}) r JOIN pgc.pg_class c ON c.oid = r.oid WHERE r.relkind = 'r'""",
    "pgc.pg_views": f"""
        SELECT r.nspname AS schemaname, r.relname AS viewname, 'dpsql' AS viewowner
        FROM ({_RELATIONS}) r WHERE r.relkind = 'v'""",
    "pgc.pg_indexes": """
        SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname,
               pgc.pg_get_indexdef(i.oid) AS indexdef
        FROM pgc.pg_index x JOIN pgc.pg_class c ON c.oid = x.indrelid JOIN pgc.pg_class i ON i.oid = x.indexrelid
        JOIN pgc.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'pg_toast'""",
    **{
        f"pgc.pg_stat{io}_{which}_tables": f"""
        SELECT r.oid AS relid, r.nspname AS schemaname, r.relname,
        {", ".join(f"0 AS {counter}" for counter in counters)}
        FROM ({_RELATIONS}) r WHERE r.relkind = 'r' AND {condition}"""
        for which, condition in (
            ("user", "r.nspname = 'public'"),
            ("sys", "r.nspname <> 'public'"),
            ("all", "true"),
        )
        for io, counters in _COUNTERS.items()
    },
    **{
        f"pgc.pg_stat_{which}_indexes": f"""
        SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname, i.relname AS indexrelname,
               0 AS idx_scan, 0 AS idx_tup_read, 0 AS idx_tup_fetch
        FROM pgc.pg_index x JOIN pgc.pg_class c ON c.oid = x.indrelid JOIN pgc.pg_class i ON i.oid = x.indexrelid
        JOIN pgc.pg_namespace n ON n.oid = c.relnamespace WHERE {condition}"""
        for which, condition in (
            ("user", "n.nspname = 'public'"),
            ("sys", "n.nspname <> 'public'"),
            ("all", "true"),
        )
    },
    "ifs.information_schema_catalog_name": "SELECT {database} AS catalog_name",
    "ifs.schemata": """
        SELECT {database} AS catalog_name, nspname AS schema_name, 'dpsql' AS schema_owner FROM pgc.pg_namespace""",
    "ifs.tables": f"""
        SELECT {{database}} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               CASE r.relkind WHEN 'r' THEN 'BASE TABLE' ELSE 'VIEW' END AS table_type,
               'NO' AS is_insertable_into, 'NO' AS is_typed FROM ({_RELATIONS}) r""",
    "ifs.views": f"""
        SELECT {{database}} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               'NONE' AS check_option, 'NO' AS is_updatable, 'NO' AS is_insertable_into,
               'NO' AS is_trigger_updatable, 'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into
        FROM ({_RELATIONS}) r WHERE r.relkind = 'v'""",
    "ifs.columns": f"""
        SELECT {{database}} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               a.attname AS column_name, a.attnum AS ordinal_position,
               CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable,
               CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'ARRAY' WHEN bn.nspname = 'pg_catalog' THEN
                   pgc.format_type(b.oid, NULL) ELSE 'USER-DEFINED' END AS data_type,
               CASE WHEN b.oid IN (1042, 1043) AND a.atttypmod > 4 THEN a.atttypmod - 4 END
                   AS character_maximum_length,
               CASE WHEN b.oid IN (25, 1042, 1043) THEN 1073741824 END AS character_octet_length,
               CASE b.oid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
                   WHEN 1700 THEN CASE WHEN a.atttypmod > 4 THEN ((a.atttypmod - 4) >> 16) END END
                   AS numeric_precision,
               CASE WHEN b.oid IN (20, 21, 23, 700, 701) THEN 2 WHEN b.oid = 1700 THEN 10 END
                   AS numeric_precision_radix,
               CASE WHEN b.oid IN (20, 21, 23) THEN 0 WHEN b.oid = 1700 AND a.atttypmod > 4
                   THEN ((a.atttypmod - 4) & 65535) END AS numeric_scale,
               CASE b.oid WHEN 1082 THEN 0 WHEN 1083 THEN 6 WHEN 1114 THEN 6 WHEN 1184 THEN 6 WHEN 1186 THEN 6 END
                   AS datetime_precision,
               CASE WHEN t.typtype = 'd' THEN {{database}} END AS domain_catalog,
               CASE WHEN t.typtype = 'd' THEN tn.nspname END AS domain_schema,
               CASE WHEN t.typtype = 'd' THEN t.typname END AS domain_name,
               CASE WHEN a.attcollation NOT IN (0, 100) THEN {{database}} END AS collation_catalog,
               CASE WHEN a.attcollation NOT IN (0, 100) THEN 'pg_catalog' END AS collation_schema,
               CASE WHEN a.attcollation NOT IN (0, 100) THEN co.collname END AS collation_name,
               {{database}} AS udt_catalog, bn.nspname AS udt_schema, b.typname AS udt_name,
               CAST(a.attnum AS VARCHAR) AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity,
               'NO' AS identity_cycle, 'NEVER' AS is_generated, 'NO' AS is_updatable
        FROM pgc.pg_attribute a JOIN ({_RELATIONS}) r ON r.oid = a.attrelid
        JOIN pgc.pg_type t ON t.oid = a.atttypid JOIN pgc.pg_namespace tn ON tn.oid = t.typnamespace
        JOIN pgc.pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
        JOIN pgc.pg_namespace bn ON bn.oid = b.typnamespace
        LEFT JOIN pgc.pg_collation co ON co.oid = a.attcollation WHERE a.attnum > 0""",
    "ifs.table_constraints": """
        SELECT {database} AS constraint_catalog, k.nspname AS constraint_schema, k.conname AS constraint_name,
               {database} AS table_catalog, k.nspname AS table_schema, k.relname AS table_name,
               CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END
                   AS constraint_type,
               'NO' AS is_deferrable, 'NO' AS initially_deferred, 'YES' AS enforced,
               CASE WHEN k.contype = 'u' THEN 'YES' END AS nulls_distinct
        FROM ({keys}) k WHERE k.place = 1
        UNION ALL BY NAME
        SELECT {database} AS constraint_catalog, r.nspname AS constraint_schema,
               concat(r2.relnamespace, '_', a.attrelid, '_', a.attnum, '_not_null') AS constraint_name,
               {database} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               'CHECK' AS constraint_type, 'NO' AS is_deferrable, 'NO' AS initially_deferred, 'YES' AS enforced
        FROM pgc.pg_attribute a JOIN ({relations}) r ON r.oid = a.attrelid JOIN pgc.pg_class r2 ON r2.oid = r.oid
        WHERE a.attnotnull AND a.attnum > 0 AND r.relkind = 'r' AND r.nspname = 'public'""",
    "ifs.check_constraints": """
        SELECT {database} AS constraint_catalog, r.nspname AS constraint_schema,
               concat(r.relnamespace, '_', a.attrelid, '_', a.attnum, '_not_null') AS constraint_name,
               concat(a.attname, ' IS NOT NULL') AS check_clause
        FROM pgc.pg_attribute a JOIN ({relations}) r ON r.oid = a.attrelid
        WHERE a.attnotnull AND a.attnum > 0 AND r.relkind = 'r' AND r.nspname = 'public'""",
    "ifs.key_column_usage": """
        SELECT {database} AS constraint_catalog, k.nspname AS constraint_schema, k.conname AS constraint_name,
               {database} AS table_catalog, k.nspname AS table_schema, k.relname AS table_name,
               a.attname AS column_name, k.place AS ordinal_position,
               CASE WHEN k.contype = 'f' THEN list_position(i.indkey, k.refnum) END AS position_in_unique_constraint
        FROM ({keys}) k JOIN pgc.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.attnum
        LEFT JOIN pgc.pg_index i ON i.indexrelid = k.conindid""",
    "ifs.referential_constraints": """
        SELECT {database} AS constraint_catalog, 'public' AS constraint_schema, f.conname AS constraint_name,
               {database} AS unique_constraint_catalog, 'public' AS unique_constraint_schema,
               u.conname AS unique_constraint_name, 'NONE' AS match_option, 'NO ACTION' AS update_rule,
               'NO ACTION' AS delete_rule
        FROM pgc.pg_constraint f JOIN pgc.pg_constraint u ON u.conindid = f.conindid AND u.contype IN ('p', 'u')
        WHERE f.contype = 'f'""",
    "ifs.constraint_column_usage": """
        SELECT {database} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               a.attname AS column_name, {database} AS constraint_catalog, k.nspname AS constraint_schema,
               k.conname AS constraint_name
        FROM ({keys}) k
        JOIN ({relations}) r ON r.oid = CASE WHEN k.contype = 'f' THEN k.confrelid ELSE k.conrelid END
        JOIN pgc.pg_attribute a ON a.attrelid = r.oid
            AND a.attnum = CASE WHEN k.contype = 'f' THEN k.refnum ELSE k.attnum END""",
    "ifs.constraint_table_usage": """
        SELECT {database} AS table_catalog, r.nspname AS table_schema, r.relname AS table_name,
               {database} AS constraint_catalog, k.nspname AS constraint_schema, k.conname AS constraint_name
        FROM ({keys}) k
        JOIN ({relations}) r ON r.oid = CASE WHEN k.contype = 'f' THEN k.confrelid ELSE k.conrelid END
        WHERE k.place = 1""",
    **{
        f"ifs.{name}": f"SELECT {_GRANTS}, 'YES' AS with_hierarchy FROM ({_RELATIONS}) r"
        for name in ("table_privileges", "role_table_grants")
    },
    **{
        f"ifs.{name}": f"""
        SELECT {_GRANTS}, a.attname AS column_name FROM ({_RELATIONS}) r
        JOIN pgc.pg_attribute a ON a.attrelid = r.oid WHERE a.attnum > 0 AND r.nspname = 'public'"""
        for name in ("column_privileges", "role_column_grants")
    },
    "ifs.character_sets": """
        SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS form_of_use,
               {database} AS default_collate_catalog, 'pg_catalog' AS default_collate_schema,
               'ucs_basic' AS default_collate_name""",
    "ifs.collations": """
        SELECT {database} AS collation_catalog, 'pg_catalog' AS collation_schema, collname AS collation_name,
               'NO PAD' AS pad_attribute FROM pgc.pg_collation""",
    "ifs.routines": """
        SELECT {database} AS specific_catalog, n.nspname AS specific_schema,
               concat(p.proname, '_', p.oid) AS specific_name, {database} AS routine_catalog,
               n.nspname AS routine_schema, p.proname AS routine_name,
               CASE p.prokind WHEN 'f' THEN 'FUNCTION' WHEN 'p' THEN 'PROCEDURE' END AS routine_type,
               pgc.format_type(p.prorettype, NULL) AS data_type, {database} AS type_udt_catalog,
               'pg_catalog' AS type_udt_schema, t.typname AS type_udt_name, 'EXTERNAL' AS routine_body,
               'INTERNAL' AS external_language, 'GENERAL' AS parameter_style, 'YES' AS is_deterministic,
               'MODIFIES' AS sql_data_access, 'NO' AS schema_level_routine, 'INVOKER' AS security_type
        FROM pgc.pg_proc p JOIN pgc.pg_namespace n ON n.oid = p.pronamespace
        JOIN pgc.pg_type t ON t.oid = p.prorettype""",
}


def fill(relation: str, database: str) -> str:
    """The statement that fills a relation; ``database`` is an unquoted name."""
    quoted = "'" + database.replace("'", "''") + "'"
    query = (
        FILLS[relation]
        .replace("{keys}", _KEYS)
        .replace("{relations}", _RELATIONS)
        .replace("{database}", quoted)
    )
    return f"INSERT INTO {relation} BY NAME {query}"
