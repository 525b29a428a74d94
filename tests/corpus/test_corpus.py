"""Every statement of the corpora is answered as DuckDB answers it,
where no limit binds and no noise is added.

A statement that is refused says so in its file, with the code;
``pytest tests/corpus --update-golden`` writes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import pytest
from compared import compared
from corpora import (
    FOLDER,
    SCHEMAS,
    Asked,
    clients,
    files,
    loose_schema,
    marked,
    rewritten,
    statements,
    tpch22,
    update_clients,
    update_tpch22,
)
from databases import without_noise

from dpsql.errors import Refused, StatementError
from dpsql.session import Session, open_session


@pytest.fixture(scope="module")
def sessions(
    data: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Session]]:
    ledgers = tmp_path_factory.mktemp("ledgers")
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        opened = {
            name: open_session(loose_schema(name, folder), ledger=ledgers / f"{name}.ledger")
            for name, folder in data.items()
        }
        yield opened
        for session in opened.values():
            session.close()


def _check(
    asked: Sequence[Asked],
    sessions: dict[str, Session],
    plain: dict[str, duckdb.DuckDBPyConnection],
    write: Callable[[Sequence[Asked]], None] | None,
) -> None:
    """Answer and compare a file's statements; all that differ are told together."""
    found, problems = [], []
    for each in asked:
        session = sessions[SCHEMAS[each.corpus]]
        try:
            plan = session.plan(each.text)
        except (Refused, StatementError) as refusal:
            found.append(marked(each, refusal.code))
            if each.refused != refusal.code and write is None:
                problems.append(f"{each.title}: {refusal}")
            continue
        found.append(marked(each, None))
        if each.refused and write is None:
            problems.append(
                f"{each.title}: is answered now; run pytest tests/corpus --update-golden"
            )
        problem = compared(each, plan, session, plain[SCHEMAS[each.corpus]])
        problems += [] if problem is None else [f"{each.title}: {problem}"]
    if write is not None:
        write(found)
    assert not problems, "\n".join(problems)


@pytest.fixture
def updates(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden", default=False))


PATHS = [*files("nafld"), *files("tpch")]


@pytest.mark.parametrize("path", PATHS, ids=[f"{path.parent.name}-{path.stem}" for path in PATHS])
def test_a_file_of_statements_is_answered_as_duckdb_does(
    path: Path,
    sessions: dict[str, Session],
    plain: dict[str, duckdb.DuckDBPyConnection],
    updates: bool,
) -> None:
    _check(
        statements(path),
        sessions,
        plain,
        (lambda found: rewritten(path, found)) if updates else None,
    )


@pytest.mark.parametrize("unit", ["customer", "supplier"])
def test_tpch_is_answered_as_duckdb_does(
    unit: str,
    sessions: dict[str, Session],
    plain: dict[str, duckdb.DuckDBPyConnection],
    updates: bool,
) -> None:
    _check(
        tpch22(unit),
        sessions,
        plain,
        (lambda found: update_tpch22(unit, found)) if updates else None,
    )


def test_what_clients_send_is_answered_as_duckdb_does(
    sessions: dict[str, Session], plain: dict[str, duckdb.DuckDBPyConnection], updates: bool
) -> None:
    _check(clients(), sessions, plain, update_clients if updates else None)


def test_a_refused_statement_is_listed_once() -> None:
    titles = [each.name for path in PATHS for each in statements(path)]
    assert len(titles) == len(set(titles))
    assert json.loads((FOLDER / "tpch22.json").read_text(encoding="utf-8")).keys() == {
        "customer",
        "supplier",
    }
