"""PostgreSQL's catalogue functions as DuckDB macros over the tables of the store.

A parameter ends in two underscores, since a macro's body takes the column of its caller for a name
of its own. A name may stand here several times with different numbers of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def _where(value: str, relation: str, condition: str) -> str:
    """A subquery for one value of the row that the condition finds; NULL if there is none."""
    return f"(SELECT any_value({value}) FROM pgc.{relation} z__ WHERE {condition})"


#: Those that `dpsql.server.catalogue.store.build` needs: head and body.
FIRST_MACROS: tuple[tuple[str, str], ...] = (
    (
        "quote_ident(q__)",
        """CASE WHEN regexp_full_match(q__, '[a-z_][a-z0-9_$]*') AND NOT EXISTS
        (SELECT 1 FROM pgc.keywords w__ WHERE w__.word = q__ AND w__.catcode <> 'U') THEN q__
        ELSE '"' || replace(q__, '"', '""') || '"' END""",
    ),
)

#: What the store says of a setting that is not there, before its name.
NO_SETTING = "no such setting: "
_INDEX = _where("z__.definition", "index_definitions", "z__.oid = o__")
_KEY = _where("z__.definition", "constraint_definitions", "z__.oid = o__")
_SPELLED_TYPE = _where(
    "pgc.modified(z__.spelled, z__.base, m__) || z__.suffix", "spelled_types", "z__.oid = q__"
)
_ARGUMENTS = _where("z__.types", "procedure_types", "z__.oid = o__")
_ABSENT = "CAST(NULL AS VARCHAR)"

_TYPES = (
    (
        "modified(n__, q__, m__)",
        """CASE WHEN m__ IS NULL OR m__ < 0 THEN n__ WHEN q__ IN (1042, 1043) THEN n__ || '(' || (m__ - 4) || ')'
        WHEN q__ = 1700 THEN n__ || '(' || ((m__ - 4) >> 16) || ',' || ((m__ - 4) & 65535) || ')'
        WHEN q__ IN (1083, 1114, 1184, 1266) THEN replace(n__, ' with', '(' || m__ || ') with')
        WHEN q__ IN (1560, 1562) THEN n__ || '(' || m__ || ')' ELSE n__ END""",
    ),
    (
        "format_type(q__, m__)",
        f"CASE WHEN q__ IS NULL THEN NULL WHEN q__ = 0 THEN '-' ELSE coalesce({_SPELLED_TYPE}, '???') END",
    ),
)
#: How objects print, and which number a printed one has: relation, and the column of the name.
_PRINTED = {
    "regclass": ("spelled_classes", "spelled"),
    "regproc": ("regproc", "proname"),
    "regtype": ("spelled_types", "spelled || suffix"),
    "regnamespace": ("pg_namespace", "nspname"),
    "regrole": ("pg_roles", "rolname"),
}
#: A name inside a text, without its quotes (no declared name needs them) and without a schema on
#: the search path.
_PLAIN_NAME = (
    """regexp_replace(replace(CAST(q__ AS VARCHAR), '"', ''), '^(public|pg_catalog)[.]', '')"""
)
_OBJECTS = tuple(
    pair
    for kind, (relation, name) in _PRINTED.items()
    for pair in (
        (
            f"{kind}_out(q__)",
            (
                f"CASE q__ WHEN 0 THEN '-' ELSE coalesce({_where(name, relation, 'z__.oid = q__')}, "
                "CAST(q__ AS VARCHAR)) END"
            ),
        ),
        (
            f"{kind}_in(q__)",
            (
                "coalesce(TRY_CAST(CAST(q__ AS VARCHAR) AS BIGINT), "
                f"{_where('z__.oid', relation, f'{name} = {_PLAIN_NAME}')})"
            ),
        ),
    )
)
#: What a database without views, triggers, rules, sequences, partitions,
#: statistics or defaults has #: none of.
_NEVER_DEFINED = (
    "pg_get_expr(a__,b__) pg_get_expr(a__,b__,c__) pg_get_viewdef(a__) pg_get_viewdef(a__,b__) "
    "pg_get_triggerdef(a__) pg_get_triggerdef(a__,b__) pg_get_ruledef(a__) pg_get_ruledef(a__,b__) "
    "pg_get_functiondef(a__) pg_get_function_sqlbody(a__) pg_get_function_arg_default(a__,b__) "
    "pg_get_statisticsobjdef(a__) pg_get_statisticsobjdef_columns(a__) pg_get_serial_sequence(a__,b__) "
    "pg_get_partkeydef(a__) pg_get_partition_constraintdef(a__) inet_server_addr() inet_client_addr()"
).split()
_DEFINITIONS = (
    ("pg_get_indexdef(o__)", _INDEX),
    (
        "pg_get_indexdef(o__, p__, y__)",
        f"""CASE WHEN p__ <> 0 THEN {_where("z__.attname", "pg_attribute", "z__.attrelid = o__ AND z__.attnum = p__")}
        WHEN y__ THEN regexp_replace({_INDEX}, ' ON (public|pg_catalog)[.]', ' ON ') ELSE {_INDEX} END""",
    ),
    ("pg_get_constraintdef(o__)", _KEY),
    ("pg_get_constraintdef(o__, y__)", _KEY),
    (
        "described(o__, c__)",
        _where(
            "z__.description",
            "pg_description",
            "z__.objoid = o__ AND z__.objsubid = 0 AND z__.classoid = c__",
        ),
    ),
    (
        "shared_description(o__, c__)",
        _where("z__.description", "pg_shdescription", "z__.objoid = o__ AND z__.classoid = c__"),
    ),
    (
        "col_description(o__, p__)",
        _where(
            "z__.description",
            "pg_description",
            "z__.objoid = o__ AND z__.objsubid = p__ AND p__ > 0",
        ),
    ),
    (
        "user_by_number(q__, u__)",
        """CASE WHEN q__ IS NULL THEN NULL WHEN q__ = 10 THEN 'dpsql' WHEN q__ = 16383 THEN u__
        WHEN q__ = 6171 THEN 'pg_database_owner' ELSE 'unknown (OID=' || q__ || ')' END""",
    ),
    ("pg_proc_argument_types(o__)", _ARGUMENTS),
    *(
        (f"pg_get_function_{name}(o__)", f"coalesce(array_to_string({_ARGUMENTS}, ', '), '')")
        for name in ("arguments", "identity_arguments")
    ),
    (
        "pg_get_function_result(o__)",
        _where(
            "CASE WHEN z__.proretset THEN 'SETOF ' ELSE '' END || pgc.format_type(z__.prorettype, NULL)",
            "pg_proc",
            "z__.oid = o__",
        ),
    ),
    ("pg_char_to_encoding(q__)", "CASE WHEN upper(q__) IN ('UTF8', 'UTF-8') THEN 6 ELSE -1 END"),
    ("pg_encoding_to_char(q__)", "CASE q__ WHEN 6 THEN 'UTF8' ELSE '' END"),
    ("pg_tablespace_location(q__)", "CASE WHEN q__ IS NULL THEN NULL ELSE '' END"),
    *((head, _ABSENT) for head in _NEVER_DEFINED),
    *((f"{name}()", "CAST(NULL AS INTEGER)") for name in ("inet_server_port", "inet_client_port")),
)
_VISIBLE = tuple(
    (
        f"pg_{kind}_is_visible(o__)",
        _where(f"z__.{namespace} IN (11, 2200)", catalogue, "z__.oid = o__"),
    )
    for kind, catalogue, namespace in (
        ("table", "pg_class", "relnamespace"),
        ("type", "pg_type", "typnamespace"),
        ("function", "pg_proc", "pronamespace"),
        ("operator", "pg_operator", "oprnamespace"),
        ("opclass", "pg_opclass", "opcnamespace"),
        ("opfamily", "pg_opfamily", "opfnamespace"),
        ("collation", "pg_collation", "collnamespace"),
        ("conversion", "pg_conversion", "connamespace"),
        ("ts_config", "pg_ts_config", "cfgnamespace"),
        ("ts_dict", "pg_ts_dict", "dictnamespace"),
        ("ts_parser", "pg_ts_parser", "prsnamespace"),
        ("ts_template", "pg_ts_template", "tmplnamespace"),
        ("statistics_obj", "pg_statistic_ext", "stxnamespace"),
    )
)
#: What everybody may do with an object of a kind; everything else nobody may.
_PRIVILEGES = {
    "table": "SELECT",
    "any_column": "SELECT",
    "schema": "USAGE",
    "database": "CONNECT",
    "function": "EXECUTE",
    "language": "USAGE",
    "type": "USAGE",
    "sequence": "",
    "tablespace": "",
    "server": "",
    "foreign_data_wrapper": "",
    "parameter": "",
}
_GRANTED = (
    "o__ IS NOT NULL AND list_has_any(string_split(upper(CAST(p__ AS VARCHAR)), ', '), {granted})"
)
_RIGHTS = (
    *(
        (f"has_{kind}_privilege({'u__, ' * users}o__, p__)", _GRANTED.format(granted=[word]))
        for kind, word in _PRIVILEGES.items()
        for users in (0, 1)
    ),
    *(
        (
            f"has_column_privilege({'u__, ' * users}o__, c__, p__)",
            _GRANTED.format(granted=["SELECT"]),
        )
        for users in (0, 1)
    ),
    ("row_security_active(o__)", "false"),
    ("pg_relation_is_publishable(o__)", "false"),
    *((f"{name}()", "false") for name in ("pg_is_in_recovery", "pg_is_wal_replay_paused")),
    ("pg_is_other_temp_schema(o__)", "false"),
    ("pg_my_temp_schema()", "0"),
    ("pg_trigger_depth()", "0"),
    (
        "setting_of(s__, n__, m__)",
        f"""CASE WHEN n__ IS NULL OR m__ OR map_contains(s__, lower(n__)) THEN s__[lower(n__)]
        ELSE error('{NO_SETTING}' || n__) END""",
    ),
    *((f"{name}()", "''") for name in ("pg_advisory_unlock_all", "pg_stat_clear_snapshot")),
    *(
        (f"{name}()", "current_localtimestamp()")
        for name in "now clock_timestamp statement_timestamp transaction_timestamp pg_postmaster_start_time "
        "pg_conf_load_time".split()
    ),
)
_SIZES = (
    *(
        (f"pg_{name}_size(o__)", "CASE WHEN o__ IS NULL THEN NULL ELSE CAST(0 AS BIGINT) END")
        for name in "relation total_relation table indexes database tablespace".split()
    ),
    (
        "pg_index_column_has_property(o__, n__, p__)",
        """CASE WHEN o__ IS NULL OR n__ IS NULL THEN NULL ELSE
        p__ IN ('asc', 'nulls_last', 'orderable', 'returnable', 'search_array', 'search_nulls') END""",
    ),
    (
        "pg_index_has_property(o__, p__)",
        "CASE WHEN o__ IS NULL THEN NULL ELSE p__ IN ('clusterable', 'index_scan', 'bitmap_scan', 'backward_scan') END",
    ),
    (
        "pg_indexam_has_property(o__, p__)",
        """CASE WHEN o__ IS NULL THEN NULL ELSE
        p__ IN ('can_order', 'can_unique', 'can_multi_col', 'can_exclude', 'can_include') END""",
    ),
    ("pg_relation_size(o__, f__)", "CASE WHEN o__ IS NULL THEN NULL ELSE CAST(0 AS BIGINT) END"),
    (
        "pg_size_pretty(q__)",
        """CASE WHEN q__ IS NULL THEN NULL WHEN abs(q__) < 10240 THEN q__ || ' bytes'
        WHEN abs(q__) < 10485760 THEN (q__ // 1024) || ' kB' ELSE (q__ // 1048576) || ' MB' END""",
    ),
)
#: The end of a series that is not too long to be held.
_SHORT = "CASE WHEN (b__ - a__) // nullif({step}, 0) > 1000000 THEN error('long') ELSE b__ END"
_ARRAYS = (
    (
        "array_to_string(q__, s__)",
        """CASE WHEN q__ IS NULL THEN NULL ELSE array_to_string(
        list_filter(CAST(q__ AS VARCHAR[]), lambda e__: e__ IS NOT NULL), s__) END""",
    ),
    ("array_length(q__, d__)", "CAST(nullif(len(q__), 0) AS INTEGER)"),
    ("array_ndims(q__)", "CASE WHEN len(q__) > 0 THEN 1 END"),
    ("cardinality(q__)", "CAST(len(q__) AS INTEGER)"),
    ("last_subscript(q__, f__)", "CAST(nullif(len(q__), 0) + f__ - 1 AS INTEGER)"),
    ("series(a__, b__)", f"generate_series(a__, {_SHORT.format(step=1)})"),
    ("series(a__, b__, s__)", f"generate_series(a__, {_SHORT.format(step='s__')}, s__)"),
    ("subscripts(q__, f__)", "CAST(range(f__, len(q__) + f__) AS INTEGER[])"),
    (
        "expanded(q__)",
        "list_transform(range(1, len(q__) + 1), lambda n__: {'x': q__[n__], 'n': CAST(n__ AS INTEGER)})",
    ),
    (
        "text_array(q__)",
        """CASE WHEN q__ IS NULL THEN NULL WHEN CAST(q__ AS VARCHAR) IN ('{}', '[]') THEN CAST([] AS VARCHAR[])
        ELSE list_transform(string_split(trim(CAST(q__ AS VARCHAR), '{}[]'), ','),
        lambda e__: trim(trim(e__), '"''')) END""",
    ),
    (
        "current_schemas(q__)",
        "CASE WHEN q__ THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    ),
    (
        "parse_ident(q__)",
        """list_transform(regexp_extract_all(q__, '"(?:[^"]|"")*"|[^."]+'),
        lambda p__: CASE WHEN p__[1] = '"' THEN replace(p__[2:-2], '""', '"') ELSE lower(trim(p__)) END)""",
    ),
    ("quote_literal(q__)", "'''' || replace(CAST(q__ AS VARCHAR), '''', '''''') || ''''"),
    ("_pg_char_max_length(t__, m__)", "CASE WHEN t__ IN (1042, 1043) AND m__ > 4 THEN m__ - 4 END"),
)

#: Head and body, in this order, since a body may call what stands before it.
MACROS: tuple[tuple[str, str], ...] = (
    *_TYPES,
    *_OBJECTS,
    *_DEFINITIONS,
    *_VISIBLE,
    *_RIGHTS,
    *_SIZES,
    *_ARRAYS,
)

_USER = """u__ AS rolname, false AS rolsuper, true AS rolinherit, false AS rolcreaterole, false AS rolcreatedb,
    true AS rolcanlogin, false AS rolreplication, -1 AS rolconnlimit, '********' AS rolpassword,
    false AS rolbypassrls, CAST(16383 AS BIGINT) AS oid"""

#: Relations whose rows depend on who asks.
TABLE_MACROS: tuple[tuple[str, str], ...] = (
    (
        "roles_of(u__)",
        f"SELECT * FROM pgc.pg_roles UNION ALL BY NAME SELECT {_USER} WHERE u__ <> 'dpsql'",
    ),
    (
        "users_of(u__)",
        """SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper,
        rolreplication AS userepl, rolbypassrls AS usebypassrls, rolpassword AS passwd, rolvaliduntil AS valuntil,
        rolconfig AS useconfig FROM pgc.roles_of(u__)""",
    ),
    (
        "settings_of(s__)",
        "SELECT * REPLACE (coalesce(s__[lower(name)], setting) AS setting) FROM pgc.pg_settings",
    ),
)


def _arities(macros: tuple[tuple[str, str], ...]) -> dict[str, set[int]]:
    arities: dict[str, set[int]] = {}
    for head, _ in macros:
        name, _, parameters = head.rstrip(")").partition("(")
        arities.setdefault(name, set()).add(len(parameters.split(",")) if parameters else 0)
    return arities


#: With how many arguments each macro may be called.
ARITIES: Mapping[str, set[int]] = _arities((*FIRST_MACROS, *MACROS))


def definitions(macros: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """The statements that create the macros; those of one name are created together."""
    bodies: dict[str, list[str]] = {}
    for head, body in macros:
        name, opening, parameters = head.partition("(")
        bodies.setdefault(name, []).append(f"{opening}{parameters} AS {body}")
    for name, forms in bodies.items():
        yield f"CREATE MACRO pgc.{name}{', '.join(forms)}"
