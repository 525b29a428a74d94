"""What ``SHOW`` and ``pg_settings`` say of a server that answers privately."""

from __future__ import annotations

from collections.abc import Mapping

#: The PostgreSQL whose catalogues are answered.
SERVER_VERSION = "15.0"
VERSION = f"PostgreSQL {SERVER_VERSION} (dpsql), differentially private SQL"

#: Settings of every session; names in lower case as clients compare them.
DEFAULTS: Mapping[str, str] = {
    "server_version": f"{SERVER_VERSION} (dpsql)",
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "integer_datetimes": "on",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "search_path": '"$user", public',
    "application_name": "",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "default_transaction_read_only": "on",
    "transaction_deferrable": "off",
    "in_hot_standby": "off",
    "is_superuser": "off",
    "max_identifier_length": "63",
    "lc_collate": "C.UTF-8",
    "lc_ctype": "C.UTF-8",
    "lc_messages": "C.UTF-8",
    "lc_monetary": "C.UTF-8",
    "lc_numeric": "C.UTF-8",
    "lc_time": "C.UTF-8",
    "role": "none",
    "jit": "off",
    "wal_level": "replica",
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
    """The setting that SHOW names, spelled as PostgreSQL spells it.

    >>> setting_name("TRANSACTION  ISOLATION level"), setting_name("timezone")
    ('transaction_isolation', 'TimeZone')
    """
    plain = " ".join(words.lower().split())
    return _PHRASES.get(plain, plain)
