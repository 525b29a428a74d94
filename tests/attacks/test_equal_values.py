"""Equal values that can be told apart, −0.0 and 0.0 or two NaN:
whose value an engine takes for all is not told.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from math import copysign, nan
from pathlib import Path

import duckdb
import pytest
from databases import without_noise

from dpsql.engines.exact_rows import ExactRows
from dpsql.release.noise_addition import release
from dpsql.session import Session, open_session

SCHEMA = """
name = "equal"
source = "equal.duckdb"
[privacy]
unit = "people.id"
epsilon = 1000
delta = 1e-3
query_epsilon = 1
[engine]
process = false
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
x = { type = "double", bounds = [0, 1] }
[tables.codes]
public = true
[tables.codes.columns]
code = { type = "text" }
k = { type = "integer" }
"""
#: Person 0 has −0.0, all others 0.0.
DATA = """
CREATE TABLE people AS SELECT i::INT AS id, IF(i = 0, '-0.0', '0.0')::DOUBLE AS x FROM range(60) t(i);
CREATE TABLE codes AS SELECT * FROM (VALUES ('-0.0', 1), ('0.0', 2)) t(code, k);
"""
ASKED = {
    "exists": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM codes c WHERE ATAN2(p.x, -c.k) < 0)",
    "a text": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM codes c WHERE CAST(p.x AS TEXT) = c.code "
    "AND c.k = 1)",
    "a value": "SELECT COUNT(*) FROM people p WHERE (SELECT MAX(k) FROM codes c WHERE c.code = CAST(p.x AS TEXT)) = 1",
    "its argument": "SELECT COUNT(*) FROM people p WHERE (SELECT MIN(ATAN2(p.x, -c.k)) FROM codes c) < 0",
    "its filter": "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FILTER (WHERE ATAN2(p.x, -c.k) < 0) "
    "FROM codes c) > 0",
    "nested": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM codes c WHERE c.k = 1 AND EXISTS (SELECT 1 "
    "FROM codes d WHERE ATAN2(p.x, -d.k) < 0 AND d.k > c.k))",
    "in": "SELECT COUNT(*) FROM people p WHERE 1 IN (SELECT c.k FROM codes c WHERE ATAN2(p.x, -1) < 0)",
    "all": "SELECT COUNT(*) FROM people p WHERE 1 <> ALL (SELECT c.k FROM codes c WHERE ATAN2(p.x, -1) < 0)",
    "lateral": "SELECT COUNT(*) FROM people p, LATERAL (SELECT MIN(ATAN2(p.x, -c.k)) AS m FROM codes c) t WHERE m < 0",
    "semi join": "SELECT COUNT(*) FROM people p SEMI JOIN codes c ON c.code = CAST(p.x AS TEXT) AND c.k = 1",
}


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str, bool], list[tuple[object, ...]]]]:
    """The answer without noise to a statement, of everybody or without person 0."""
    sessions: dict[bool, Session] = {}
    for everybody in (True, False):
        folder: Path = tmp_path_factory.mktemp("equal")
        with duckdb.connect(str(folder / "equal.duckdb")) as connection:
            connection.execute(DATA if everybody else f"{DATA}; DELETE FROM people WHERE id = 0")
        (folder / "equal.toml").write_text(SCHEMA, encoding="utf-8")
        sessions[everybody] = open_session(folder / "equal.toml", ledger=folder / "ledger")
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        yield lambda text, everybody: sessions[everybody].execute(text).rows
    for session in sessions.values():
        session.close()


@pytest.mark.parametrize("name", ASKED)
def test_a_subquery_that_is_asked_once_for_equal_values_tells_them_not_apart(
    name: str, asked: Callable[[str, bool], list[tuple[int, ...]]]
) -> None:
    ((whole,),), ((rest,),) = asked(ASKED[name], True), asked(ASKED[name], False)
    assert abs(whole - rest) <= 1


def test_a_key_that_is_no_number_has_one_spelling(tmp_path: Path) -> None:
    """inf − inf is a NaN with a sign, which − turns:
    that of the first row would tell one person's bit.
    """
    with duckdb.connect(str(tmp_path / "equal.duckdb")) as connection:
        connection.execute(DATA)
    (tmp_path / "equal.toml").write_text(SCHEMA, encoding="utf-8")
    session = open_session(tmp_path / "equal.toml", ledger=tmp_path / "ledger")
    cores = session.plan("SELECT x, COUNT(*) FROM people GROUP BY x").cores
    session.close()
    spelled = set()
    for sign in (1.0, -1.0):
        (table,) = release(ExactRows([[(copysign(nan, sign), 10**9, 10**6)]]), cores, 0.95).tables
        spelled |= {struct.pack("d", key) for (key,) in table.keys}
    assert len(spelled) == 1


def test_a_unit_keeps_rows_that_cannot_be_told_apart(tmp_path: Path) -> None:
    """Of −0.0 and 0.0 of one unit either may come first: what stays is 0.0."""
    with duckdb.connect(str(tmp_path / "equal.duckdb")) as connection:
        connection.execute(f"{DATA}; INSERT INTO people SELECT id, '-0.0' FROM people")
    (tmp_path / "equal.toml").write_text(SCHEMA.replace('key = "id"', ""), encoding="utf-8")
    session = open_session(tmp_path / "equal.toml", ledger=tmp_path / "ledger")
    with pytest.MonkeyPatch.context() as patch:
        without_noise(patch)
        text = (
            "SELECT COUNT(*) FROM people, GENERATE_SERIES(1, 2) g(k) WHERE CAST(x AS TEXT) = '-0.0'"
        )
        assert session.execute(text).rows == [(0,)]
    session.close()
