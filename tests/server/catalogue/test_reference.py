"""Every statement that we captured from tools is answered as a real PostgreSQL with the same tables
answers it.
"""

from __future__ import annotations

import re

import psycopg
import pytest
from postgres_reference import Asked, ask_catalogue, ask_real, real_oids, statements

from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue

#: Statements whose answers differ, by the reason; every one of them must really differ.
DIFFERENCES = {
    "dpsql's own settings": "asyncpg 1, psql_more 10",
    "PostgreSQL 18 has more relations, types and words than 15, and its tables have TOAST tables": (
        "jdbc 7, jdbc 15, jdbc 16, jdbc 20, pgcli 6, psql 4, psql_more 2, psql_more 4, psql_more 6, "
        "psql_more 11, psql_more 23, psql_more 29, psql_more 75, psql_more 78"
    ),
    "the server's zone of time": "pgcli 2",
    "there is one database": "pgcli 9, pgcli 21, superset 8",
    "only functions that may be called are listed": "pgcli 10",
    "roles say nothing but who asks and who owns": "psql 9, psql_more 25, psql_more 26",
    "sizes are always 0, and owners dpsql": "psql 12, psql_more 8, psql_more 27, psql_more 31, psql_more 40",
    "there are no extensions and no text search": "psql 41, psql_more 21, psql_more 22, psql_more 24, psql_more 43",
    "PostgreSQL comments on its own objects and grants rights to its owner": "further 1, further 7, further 24",
    "the server's version": "sqlalchemy 1, superset 2, further 15",
}
#: Statements that PostgreSQL 18 refuses since its catalogue has another column,
#: or a name that #: means two functions.
REFUSED = "psql 1, psql_more 33, psql_more 46, psql_more 87, psql_more 89"
#: Statements that the catalogue refuses, by the reason.
UNANSWERED = {"operators are not printed with their arguments": "psql_more 5"}


def _names(listed: str) -> set[str]:
    return set(listed.split(", "))


_DIFFERENT = {name: reason for reason, listed in DIFFERENCES.items() for name in _names(listed)}
_UNANSWERED = set().union(*map(_names, UNANSWERED.values()))


def _is_constant(text: str) -> bool:
    """Whether the statement asks nothing at all, so that the session answers it."""
    return re.match(r"select\s+1\b", text, re.IGNORECASE) is not None


@pytest.fixture(scope="module")
def numbers(
    catalogue: Catalogue, schema: Schema, postgres: psycopg.Connection
) -> tuple[dict[str, int], dict[str, int]]:
    ours = {
        name: int(catalogue.run(f"SELECT '{name}'::regclass::oid").rows[0][0])
        for name in schema.tables
    }
    return ours, real_oids(postgres, schema)


@pytest.mark.parametrize(
    "asked", [each for each in statements() if each.name not in _UNANSWERED], ids=lambda a: a.name
)
def test_it_answers_as_postgresql_does(
    asked: Asked,
    catalogue: Catalogue,
    postgres: psycopg.Connection,
    numbers: tuple[dict[str, int], dict[str, int]],
) -> None:
    text, values = asked.on(numbers[0])
    assert catalogue.claims(text) is not _is_constant(text)
    ours = ask_catalogue(catalogue, text, values)
    assert ours.columns == tuple((each.name, each.oid) for each in catalogue.describe(text))
    assert len(catalogue.parameters(text)) == len(values)
    if asked.name in _names(REFUSED):
        with pytest.raises(psycopg.Error):
            ask_real(postgres, *asked.on(numbers[1]))
        return
    real = ask_real(postgres, *asked.on(numbers[1]))
    if asked.name in _DIFFERENT:
        assert ours != real, f"no longer differs: {_DIFFERENT[asked.name]}"
        assert [name for name, _ in ours.columns] == [name for name, _ in real.columns]
    else:
        assert ours == real


def test_nearly_all_statements_are_answered_alike() -> None:
    asked = list(statements())
    apart = len(_DIFFERENT) + len(_names(REFUSED)) + len(_UNANSWERED)
    print(
        f"{len(asked) - apart} of {len(asked)} captured statements are answered exactly as PostgreSQL answers them"
    )
    assert len(asked) - apart >= 0.85 * len(asked)
