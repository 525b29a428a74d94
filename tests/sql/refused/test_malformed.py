"""Calls with too few or too many arguments are refused in dpsql's words,
whatever tree the parser makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import Dialect, exp

from dpsql.cli.demo import SCHEMA
from dpsql.errors import DatabaseError
from dpsql.session import Session, open_session
from dpsql.sql.binder.aggregates import aggregate
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.ir.aggregate import AGGREGATE_FUNCTIONS

PARSER = Dialect.get_or_raise("duckdb").parser_class
AGGREGATES = aggregate._WITHOUT_FORM.union(*(each.spellings for each in AGGREGATE_FUNCTIONS))
NAMES = sorted(
    {
        name.lower()
        for name in {
            *exp.FUNCTION_BY_NAME,
            *PARSER.FUNCTIONS,
            *PARSER.FUNCTION_PARSERS,
            *FUNCTIONS,
            *AGGREGATES,
        }
        if name.replace("_", "").isalnum()
    }
)
FORMS = (
    "SELECT {}() FROM labs",
    "SELECT {}(DISTINCT ) FROM labs",
    "SELECT {}() WITHIN GROUP (ORDER BY value) FROM labs",
    "SELECT COUNT(*) FROM labs WHERE {}() > 1",
    "SELECT COUNT(*) FROM labs WHERE {}(value, day, 'x') IS NULL",
    "SELECT {}(n) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) t",
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(SCHEMA, ledger=tmp_path_factory.mktemp("malformed") / "calls.ledger")
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_call_with_any_arguments_is_planned_or_refused(session: Session, form: str) -> None:
    refused = 0
    for name in NAMES:
        try:
            session.plan(form.format(name))
        except DatabaseError:
            refused += 1
    assert len(NAMES) > 600 and refused > len(NAMES) * 0.8
