"""What PostgreSQL says when it cannot be used, in our words, with the mend, and without address, role and database.

Analysts are told it too.

``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import re

#: What PostgreSQL says by SQLSTATE, or by its first two letters.
_BY_STATE = {
    "55P03": "another process holds it",
    "25006": "it is read-only",
    "53100": "the disk is full",
    "53300": "the server has too many connections",
    "42P01": "there is no ledger in it",
    "3F000": "there is no ledger in it",
    "42501": "the server does not permit it",
    "28": "the server does not let dpsql in",
    "3D000": "there is no such database on the server",
    "57": "the server is stopping, or ended the connection",
    "25P03": "the connection was idle for too long in the midst of a charge",
}

_PASSWORD = "libpq reads the password from PGPASSWORD or ~/.pgpass"

#: What a server says in English before it lets anybody in, where libpq keeps no SQLSTATE.
_BY_MESSAGE = {
    r'database ".+" does not exist': "the address names a database that the server does not have; make it with "
    "`createdb` and its name",
    r'role ".+" does not exist': "the address names a role that the server does not have; make it with `createuser` "
    "and its name, or name another: postgresql://user@host/database",
    r'role ".+" is not permitted to log in': "the role may not log in; ALTER ROLE … LOGIN lets it",
    r"password authentication failed": f"the server does not take the role's password; {_PASSWORD}",
    r"no password supplied": f"the server wants a password and has got none; {_PASSWORD}",
    r'permission denied for database ".+"': "the role may not connect to the database; GRANT CONNECT lets it",
    r"no pg_hba\.conf entry|pg_hba\.conf rejects": "the server does not let this role in from this machine; its "
    "pg_hba.conf says who may come from where",
    r'database ".+" is not currently accepting': "the database accepts no connections",
    r"too many (?:connections|clients)|connection slots": "the server has too many connections",
    r"the database system is ": "the server is starting or stopping",
    r"FATAL: ": "the server does not let dpsql in",
}


def reason(state: str | None, message: str) -> str:
    """Why a server cannot be used, by its SQLSTATE or, where none came, by what was said instead of a connection.

    >>> reason(None, 'connection failed: FATAL:  database "budgets" does not exist')
    'the address names a database that the server does not have; make it with `createdb` and its name'
    >>> reason("25006", ""), reason("XX000", ""), reason(None, "Connection refused")
    ('it is read-only', 'it cannot be read', 'the server cannot be reached')
    """
    if state:
        return _BY_STATE.get(state) or _BY_STATE.get(state[:2]) or "it cannot be read"
    for pattern, said in _BY_MESSAGE.items():
        if re.search(pattern, message) is not None:
            return said
    return "the server cannot be reached"
