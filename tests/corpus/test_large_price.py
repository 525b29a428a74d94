"""At a price at which noise vanishes statements of the corpora, every third,
are answered as DuckDB answers them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import pytest
from compared import compared
from corpora import SCHEMAS, Asked, clients, files, loose_schema, statements, tpch22

from dpsql.session import Session, open_session

#: Statements that say their own price, which is not the large one.
WITH_A_PRICE = {"Every option", "Bounds per row of a value that has none"}
#: Statements whose keys only the data hold, each with one unit alone: no price shows these.
OF_ONE_UNIT = {("tpch", "A list of customers"), ("supplier", "q11")}


pytestmark = pytest.mark.slow

#: Of a file's statements every third: test_corpus.py compares all of them, without noise.
EVERY = 3

PATHS = [*files("nafld"), *files("tpch")]


@pytest.fixture(scope="module")
def priced(
    data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Session]]:
    """Sessions with noise, at a price at which it vanishes."""
    ledgers = tmp_path_factory.mktemp("priced")
    opened = {
        name: open_session(
            loose_schema(name, folder, "1e20", "1e8"), ledger=ledgers / f"{name}.ledger"
        )
        for name, folder in data.items()
    }
    yield opened
    for session in opened.values():
        session.close()


@pytest.mark.parametrize("path", PATHS, ids=[f"{path.parent.name}-{path.stem}" for path in PATHS])
def test_a_file_of_statements_is_answered_as_duckdb_does(
    path: Path, priced: dict[str, Session], plain: dict[str, duckdb.DuckDBPyConnection]
) -> None:
    _check_priced(statements(path), priced, plain)


@pytest.mark.parametrize("unit", ["customer", "supplier"])
def test_tpch_is_answered_as_duckdb_does(
    unit: str, priced: dict[str, Session], plain: dict[str, duckdb.DuckDBPyConnection]
) -> None:
    _check_priced(tpch22(unit), priced, plain)


def test_what_clients_send_is_answered_as_duckdb_does(
    priced: dict[str, Session], plain: dict[str, duckdb.DuckDBPyConnection]
) -> None:
    _check_priced(clients(), priced, plain)


def _check_priced(
    asked: Sequence[Asked],
    sessions: dict[str, Session],
    plain: dict[str, duckdb.DuckDBPyConnection],
) -> None:
    """Answer and compare those of a file's statements that are planned."""
    problems = []
    for each in asked[::EVERY]:
        session = sessions[SCHEMAS[each.corpus]]
        if each.refused or each.title in WITH_A_PRICE:
            continue
        difference = compared(
            each, session.plan(each.text), session, plain[SCHEMAS[each.corpus]], noisy=True
        )
        if (each.corpus, each.title) in OF_ONE_UNIT:
            difference = None if difference is not None else "is answered as DuckDB does now"
        if difference is not None:
            problems.append(f"{each.title}: {difference}")
    assert not problems, "\n".join(problems)
