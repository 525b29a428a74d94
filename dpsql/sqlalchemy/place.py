"""What an address such as ``dpsql:///schemas/nafld.toml?analyst=ada`` says: which schema file, and who asks."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

_FORM = "write dpsql:///path/to/schema.toml?analyst=ada (three slashes, four where the path starts with one)"
_KNOWN = ("analyst", "ledger")


def place_of(url: URL) -> dict[str, Any]:
    """The arguments of ``dpsql.connect`` that the URL names.

    >>> from sqlalchemy import make_url
    >>> place_of(make_url("dpsql:///schemas/nafld.toml?analyst=ada"))
    {'schema': 'schemas/nafld.toml', 'analyst': 'ada'}
    """
    if url.host or url.port or url.password:
        raise ArgumentError(f"a dpsql address has no host, port or password; {_FORM}")
    if not url.database:
        raise ArgumentError(f"a dpsql address names a schema file; {_FORM}")
    unknown = [name for name in url.query if name not in _KNOWN]
    if unknown:
        raise ArgumentError(f"a dpsql address has no option {unknown[0]!r}; known are {', '.join(_KNOWN)}")
    said = {name: value for name, value in url.query.items() if isinstance(value, str)}
    if len(said) < len(url.query) or (url.username and "analyst" in said):
        raise ArgumentError(f"a dpsql address names each option once; {_FORM}")
    by_name = {"analyst": url.username} if url.username else {}
    return {"schema": url.database, **by_name, **said}
