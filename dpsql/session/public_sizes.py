"""How many rows of public tables have equal values: each number is asked for once of a version of the data.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from typing import Protocol


class Counts(Protocol):
    """What counts public rows."""

    def version(self) -> str | None: ...

    def public_count(self, sql: str, tables: frozenset[str]) -> int: ...


class PublicSizes:
    """The sizes of the public tables that ``counts`` reads."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._known: dict[tuple[str, tuple[str, ...]], int] = {}
        self._version: str | None = None

    @property
    def version(self) -> str | None:
        """The version of the data whose sizes are told; None where it is not known."""
        return self._counts.version()

    def __call__(self, table: str, columns: tuple[str, ...]) -> int:
        """The most rows of a public table that have equal values in these columns; all of its rows without any."""
        version = self.version
        if version is None or version != self._version:
            self._known, self._version = {}, version
        asked = table, columns
        if asked not in self._known:
            self._known[asked] = self._counts.public_count(fanout_sql(table, columns), frozenset({table}))
        return self._known[asked]


def fanout_sql(table: str, columns: tuple[str, ...]) -> str:
    """The SQL that counts them, over tables and columns of the schema.

    >>> fanout_sql("days", ())
    'SELECT COALESCE(MAX(g."n"), 0) FROM (SELECT COUNT(*) AS "n" FROM "source"."main"."days" AS t) AS g'
    """
    names = ", ".join(f't."{column}"' for column in columns)
    counted = f'SELECT COUNT(*) AS "n" FROM "source"."main"."{table}" AS t'
    grouped = f"{counted} GROUP BY {names}" if names else counted
    return f'SELECT COALESCE(MAX(g."n"), 0) FROM ({grouped}) AS g'
