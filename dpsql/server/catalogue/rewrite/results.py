"""What PostgreSQL's catalogue functions give, by its own names of types."""

from __future__ import annotations

from collections.abc import Mapping

_BY_TYPE = {
    "name": "current_database current_schema pg_get_userbyid pg_encoding_to_char getdatabaseencoding current_user "
    "session_user user current_role current_catalog pg_client_encoding",
    "_name": "current_schemas",
    "_text": "pg_proc_argument_types parse_ident string_to_array",
    "text": "format format_type pg_get_expr pg_get_constraintdef pg_get_indexdef pg_get_viewdef version quote_ident "
    "array_to_string obj_description col_description shobj_description current_setting set_config pg_size_pretty",
    "regclass": "to_regclass",
    "regtype": "to_regtype pg_typeof",
    "regproc": "to_regproc to_regprocedure",
    "regnamespace": "to_regnamespace",
    "regrole": "to_regrole",
    "void": "pg_advisory_unlock_all pg_stat_clear_snapshot",
    "int4": "pg_backend_pid array_length array_upper array_lower array_ndims cardinality generate_subscripts length "
    "char_length octet_length strpos ascii",
    "json": "json_build_object row_to_json json_agg json_object_agg",
    "int8": "count pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size pg_database_size",
    "timestamptz": "now pg_postmaster_start_time clock_timestamp statement_timestamp transaction_timestamp",
    "oid": "lo_get pg_my_temp_schema",
}

#: The type of a function's result where clients tell it from what DuckDB says.
RESULTS: Mapping[str, str] = {name: kind for kind, names in _BY_TYPE.items() for name in names.split()}
