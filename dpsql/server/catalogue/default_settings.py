"""Default values of PostgreSQL's settings, for ``SHOW`` and ``pg_settings``."""

from __future__ import annotations

from collections.abc import Mapping

#: The PostgreSQL whose catalogues are answered.
SERVER_VERSION = "15.0"
VERSION = f"PostgreSQL {SERVER_VERSION} (dpsql), differentially private SQL"

#: Settings that nobody changes, by their names in lower case as clients compare them.
FIXED: Mapping[str, str] = {
    "server_version": f"{SERVER_VERSION} (dpsql)",
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "is_superuser": "off",
    "integer_datetimes": "on",
    "in_hot_standby": "off",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "max_function_args": "100",
    "max_connections": "100",
    "block_size": "8192",
    "segment_size": "131072",
    "lc_collate": "C.UTF-8",
    "lc_ctype": "C.UTF-8",
    "wal_level": "replica",
    "transaction_read_only": "on",
}
#: Settings of every session, those that may be changed with what they are at the start.
DEFAULTS: Mapping[str, str] = {
    **FIXED,
    "application_name": "",
    "array_nulls": "on",
    "backslash_quote": "safe_encoding",
    "bytea_output": "hex",
    "check_function_bodies": "on",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "constraint_exclusion": "partition",
    "cursor_tuple_fraction": "0.1",
    "datestyle": "ISO, MDY",
    "debug_print_plan": "off",
    "default_statistics_target": "100",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_text_search_config": "pg_catalog.english",
    "default_toast_compression": "pglz",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "enable_bitmapscan": "on",
    "enable_hashagg": "on",
    "enable_hashjoin": "on",
    "enable_indexscan": "on",
    "enable_mergejoin": "on",
    "enable_nestloop": "on",
    "enable_seqscan": "on",
    "enable_sort": "on",
    "escape_string_warning": "on",
    "extra_float_digits": "1",
    "from_collapse_limit": "8",
    "geqo": "on",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "intervalstyle": "postgres",
    "jit": "off",
    "join_collapse_limit": "8",
    "lc_messages": "C.UTF-8",
    "lc_monetary": "C.UTF-8",
    "lc_numeric": "C.UTF-8",
    "lc_time": "C.UTF-8",
    "lock_timeout": "0",
    "log_min_duration_statement": "-1",
    "log_statement": "none",
    "max_parallel_workers_per_gather": "0",
    "parallel_setup_cost": "1000",
    "plan_cache_mode": "auto",
    "quote_all_identifiers": "off",
    "random_page_cost": "4",
    "role": "none",
    "row_security": "on",
    "search_path": '"$user", public',
    "session_replication_role": "origin",
    "ssl_renegotiation_limit": "0",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "synchronize_seqscans": "on",
    "synchronous_commit": "on",
    "tcp_keepalives_count": "0",
    "tcp_keepalives_idle": "0",
    "tcp_keepalives_interval": "0",
    "temp_tablespaces": "",
    "timezone": "UTC",
    "timezone_abbreviations": "Default",
    "track_activities": "on",
    "transaction_deferrable": "off",
    "transaction_isolation": "read committed",
    "transform_null_equals": "off",
    "work_mem": "4096",
    "xmlbinary": "base64",
    "xmloption": "content",
}
#: Units of time in milliseconds and of memory in kilobytes, as values are written with them.
DURATIONS: dict[str, int] = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
MEMORY: dict[str, int] = {"kB": 1, "MB": 1024, "GB": 1024**2, "TB": 1024**3}
#: The settings that have a unit: how much one of it is, and the units that SHOW tells it in.
_MEASURED: Mapping[str, tuple[int, dict[str, int]]] = {
    **{
        f"{name}_timeout": (1, DURATIONS)
        for name in "statement lock idle_session idle_in_transaction_session".split()
    },
    "log_min_duration_statement": (1, DURATIONS),
    "tcp_keepalives_idle": (1000, DURATIONS),
    "tcp_keepalives_interval": (1000, DURATIONS),
    "work_mem": (1, MEMORY),
    "segment_size": (8, MEMORY),
}

_PHRASES = {
    "transaction isolation level": "transaction_isolation",
    "time zone": "TimeZone",
    "session authorization": "session_authorization",
    "timezone": "TimeZone",
    "datestyle": "DateStyle",
    "intervalstyle": "IntervalStyle",
}


def setting_name(words: str) -> str:
    """The setting of that name, in PostgreSQL's spelling.

    >>> setting_name("TRANSACTION  ISOLATION level"), setting_name("timezone")
    ('transaction_isolation', 'TimeZone')
    """
    plain = " ".join(words.lower().split())
    return _PHRASES.get(plain, plain)


def setting_text(name: str, value: str) -> str:
    """A setting as SHOW and ``current_setting`` write it:
    durations in the longest unit that divides them.

    >>> [setting_text("statement_timeout", value) for value in ("300", "5000", "120000", "0")]
    ['300ms', '5s', '2min', '0']
    >>> setting_text("work_mem", "4096"), setting_text("segment_size", "131072")
    ('4MB', '1GB')
    >>> setting_text("log_min_duration_statement", "-1")
    '-1'
    """
    measured = _MEASURED.get(name.lower())
    if measured is None or not value.isascii() or not value.isdigit() or int(value) == 0:
        return value
    amount = int(value) * measured[0]
    unit, size = next(
        (unit, size) for unit, size in reversed(measured[1].items()) if amount % size == 0
    )
    return f"{amount // size}{unit}"
