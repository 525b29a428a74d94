"""What DuckDB cannot read is not answered: each statement of the corpora without one token,
or with one twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb
import pytest
from corpora import clients, files, statements
from sqlglot import Dialect, Token

from dpsql.cli.demo import SCHEMA
from dpsql.errors import DatabaseError
from dpsql.session import Session, open_session

#: GoogleSQL's own clause is none of DuckDB's.
TEXTS = [each.text for path in files("nafld") for each in statements(path) if not each.refused]
TEXTS += [each.text for each in clients() if not each.refused]
TEXTS = [text for text in TEXTS if "DIFFERENTIAL_PRIVACY" not in text]


@pytest.fixture(scope="module")
def nafld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(SCHEMA, ledger=tmp_path_factory.mktemp("nafld") / "gaps.ledger")
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "word", ["THEN", "WHEN", "AND", "ON", "USING", "BETWEEN", "WITH", "AS", ",", ">", "GROUP BY"]
)
def test_what_duckdb_cannot_read_without_a_token_or_with_it_twice_is_refused(
    nafld: Session, word: str
) -> None:
    """In every statement of the corpora, in each place."""
    dialect, read = Dialect.get_or_raise("duckdb"), "SELECT json_serialize_sql(CAST(? AS VARCHAR))"
    tried, answered = 0, []
    with duckdb.connect() as connection:
        for text in TEXTS:
            for token in [each for each in dialect.tokenize(text) if _is(each, word, text)]:
                before, after = text[: token.start], text[token.end + 1 :]
                for mutant in (f"{before} {after}", f"{before}{token.text} {token.text}{after}"):
                    tried += 1
                    ((told,),) = connection.execute(read, [mutant]).fetchall()
                    if json.loads(told)["error"] and _is_answered(nafld, mutant):
                        answered.append(mutant)
    assert tried > 10
    assert answered == [], "\n".join(answered)


def _is(token: Token, word: str, text: str) -> bool:
    """Whether a token is that word; an AS only before brackets:
    fewer names need it in PostgreSQL than in DuckDB.
    """
    return token.text.upper() == word and (
        word != "AS" or text[token.end + 1 :].lstrip().startswith("(")
    )


def _is_answered(session: Session, text: str) -> bool:
    try:
        session.plan(text)
    except DatabaseError:
        return False
    return True
