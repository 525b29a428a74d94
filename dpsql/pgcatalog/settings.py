"""What ``SHOW`` and ``pg_settings`` say of a server that answers privately."""

from __future__ import annotations

from collections.abc import Mapping

#: The PostgreSQL whose catalogues are answered.
SERVER_VERSION = "15.0"
VERSION = f"PostgreSQL {SERVER_VERSION} (dpsql), differentially private SQL"

#: Settings that nobody changes, by their names in lower case as clients compare them.
FIXED: Mapping[str, str] = {
    "server_version": f"{SERVER_VERSION} (dpsql)", "server_version_num": "150000", "server_encoding": "UTF8",
    "is_superuser": "off", "integer_datetimes": "on", "in_hot_standby": "off", "max_identifier_length": "63",
    "max_index_keys": "32", "max_function_args": "100", "max_connections": "100", "block_size": "8192",
    "segment_size": "131072", "lc_collate": "C.UTF-8", "lc_ctype": "C.UTF-8", "wal_level": "replica",
    "transaction_read_only": "on",
}  # fmt: skip
#: Settings of every session, those that may be changed with what they are at the start.
DEFAULTS: Mapping[str, str] = {
    **FIXED,
    "application_name": "", "array_nulls": "on", "backslash_quote": "safe_encoding", "bytea_output": "hex",
    "check_function_bodies": "on", "client_encoding": "UTF8", "client_min_messages": "notice", "constraint_exclusion":
    "partition", "cursor_tuple_fraction": "0.1", "datestyle": "ISO, MDY", "debug_print_plan": "off",
    "default_statistics_target": "100", "default_table_access_method": "heap", "default_tablespace": "",
    "default_text_search_config": "pg_catalog.english", "default_toast_compression": "pglz",
    "default_transaction_deferrable": "off", "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on", "enable_bitmapscan": "on", "enable_hashagg": "on", "enable_hashjoin": "on",
    "enable_indexscan": "on", "enable_mergejoin": "on", "enable_nestloop": "on", "enable_seqscan": "on", "enable_sort":
    "on", "escape_string_warning": "on", "extra_float_digits": "1", "from_collapse_limit": "8", "geqo": "on",
    "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "intervalstyle": "postgres", "jit": "off",
    "join_collapse_limit": "8", "lc_messages": "C.UTF-8", "lc_monetary": "C.UTF-8", "lc_numeric": "C.UTF-8", "lc_time":
    "C.UTF-8", "lock_timeout": "0", "log_min_duration_statement": "-1", "log_statement": "none",
    "max_parallel_workers_per_gather": "0", "parallel_setup_cost": "1000", "plan_cache_mode": "auto",
    "quote_all_identifiers": "off", "random_page_cost": "4", "role": "none", "row_security": "on", "search_path":
    '"$user", public', "session_replication_role": "origin", "ssl_renegotiation_limit": "0",
    "standard_conforming_strings": "on", "statement_timeout": "0", "synchronize_seqscans": "on", "synchronous_commit":
    "on", "tcp_keepalives_count": "0", "tcp_keepalives_idle": "0", "tcp_keepalives_interval": "0", "temp_tablespaces":
    "", "timezone": "UTC", "timezone_abbreviations": "Default", "track_activities": "on", "transaction_deferrable":
    "off", "transaction_isolation": "read committed", "transform_null_equals": "off", "work_mem": "4MB", "xmlbinary":
    "base64", "xmloption": "content",
}  # fmt: skip

_PHRASES = {
    "transaction isolation level": "transaction_isolation",
    "time zone": "TimeZone",
    "session authorization": "session_authorization",
    "timezone": "TimeZone",
    "datestyle": "DateStyle",
    "intervalstyle": "IntervalStyle",
}


def setting_name(words: str) -> str:
    """The setting that SHOW names, spelled as PostgreSQL spells it.

    >>> setting_name("TRANSACTION  ISOLATION level"), setting_name("timezone")
    ('transaction_isolation', 'TimeZone')
    """
    plain = " ".join(words.lower().split())
    return _PHRASES.get(plain, plain)
