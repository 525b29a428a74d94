"""Statements whose work one person's row was to decide:
databases that differ by it answer alike, and as quickly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest

from dpsql.engines.duckdb import opening
from dpsql.errors import Error
from dpsql.schema import loads
from dpsql.session import Session, open_session

SCHEMA = """
name = "people"
source = "people.duckdb"
[privacy]
unit = "person.pid"
epsilon = 1
delta = 1e-6
query_epsilon = 0.000001
[tables.person]
max_rows_per_unit = 1
[tables.person.columns]
pid = { type = "integer" }
age = { type = "integer", bounds = [0, 120] }
name = { type = "text" }
[tables.visit]
references = { pid = "person.pid" }
max_rows_per_unit = 12
[tables.visit.columns]
pid = { type = "integer" }
day = { type = "integer", bounds = [0, 3650] }
[tables.days]
public = true
[tables.days.columns]
day = { type = "integer" }
"""
SIXTY = ", ".join(f"({number})" for number in range(60))
PADDED = " || ".join(["LPAD(p.name || a.x, 1000, 'a')"] * 9)
IF_OLD = "CASE WHEN p.pid = 17 AND p.age > 63"
OF_ONE = "(SELECT pid, name FROM person WHERE pid % 100000 = 17 AND age > 63) AS p"


def _crossed(count: int) -> str:
    return " ".join(f"CROSS JOIN (VALUES {SIXTY}) AS b{place}(x)" for place in range(count))


def _visited(count: int) -> str:
    return " ".join(
        f"JOIN visit v{place + 1} ON v{place + 1}.pid = v{place}.pid" for place in range(count)
    )


def _doubled(text: str, times: int) -> str:
    """The text joined with itself, so often that it would be a gigabyte."""
    for _ in range(times):
        text = f"(SELECT pid, s || s AS s FROM {text})"
    return text


#: The two that were found by a stranger, and their like.
ATTACKS = {
    "a product that nothing reads": f"SELECT COUNT(DISTINCT p.pid) FROM {OF_ONE} {_crossed(7)}",
    "a product that is counted": f"SELECT COUNT(*) FROM {OF_ONE} {_crossed(7)}",
    "a product that is a key": f"SELECT b0.x, COUNT(*) FROM {OF_ONE} {_crossed(5)} GROUP BY b0.x",
    "rows of one unit, again": f"SELECT COUNT(DISTINCT v0.pid) FROM visit v0 {_visited(11)} WHERE v0.pid = 17",
    "rows of one unit, counted": f"SELECT COUNT(*) FROM visit v0 {_visited(11)} WHERE v0.pid = 17",
    "rows of one unit in a subquery": "SELECT COUNT(*) FROM person p WHERE age > 63 AND (SELECT COUNT(*) FROM visit v0 "
    f"{_visited(9)} WHERE v0.pid = p.pid AND v0.day < p.age) > 1",
    "LATERAL": f"SELECT COUNT(*) FROM {OF_ONE} JOIN LATERAL (SELECT v0.day FROM visit v0 {_visited(9)} "
    "WHERE v0.pid = p.pid) AS l ON true",
    "a public table, again and again": f"SELECT COUNT(*) FROM {OF_ONE} CROSS JOIN days a CROSS JOIN days b",
    "UNNEST": f"SELECT COUNT(*) FROM {OF_ONE} "
    + " ".join(
        f"CROSS JOIN UNNEST([{', '.join(map(str, range(60)))}]) AS u{place}(x)"
        for place in range(6)
    ),
    "a recursive query": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000000) "
    f"SELECT COUNT(*) FROM {OF_ONE} CROSS JOIN r",
    "a long text": f"SELECT COUNT(*) FROM {_doubled('(SELECT pid, name AS s FROM person WHERE age > 63)', 30)} "
    "WHERE s LIKE '%a%b'",
    "a long padded text": f"SELECT COUNT(*) FROM {OF_ONE} WHERE LPAD(name, 1000000000, 'ab') LIKE '%aab%'",
    "padded texts of many rows": f"SELECT COUNT(DISTINCT {PADDED} || b.x) "
    f"FROM {OF_ONE} CROSS JOIN (VALUES {SIXTY}) AS a(x) {_crossed(2).replace('b0', 'c', 1).replace('b1', 'b', 1)}",
    "numbers that cannot be, of many rows": f"SELECT COUNT(*) FROM {OF_ONE} CROSS JOIN days a CROSS JOIN "
    f"(VALUES {SIXTY}) AS b(x) WHERE MAKE_DATE(p.pid::INT, a.day, b.x) > DATE '2000-01-01' OR p.pid << b.x > 5",
    "one number of many that cannot be": f"SELECT COUNT(p.pid::INT << ({IF_OLD} THEN 70 ELSE 1 END + d.day * 0)) "
    "FROM person p CROSS JOIN days d WHERE d.day < 300",
    "one day of many that cannot be": f"SELECT COUNT(MAKE_DATE(2020, {IF_OLD} THEN 13 ELSE 1 END, 1 + d.day % 9)) "
    "FROM person p CROSS JOIN days d WHERE d.day < 300",
    "one moment of many that cannot be": f"SELECT COUNT(DATE '2020-01-01' + INTERVAL '1' YEAR * ({IF_OLD} THEN 500000 "
    "ELSE 1 END + d.day * 0)) FROM person p CROSS JOIN days d WHERE d.day < 300",
    "a text that is replaced": f"SELECT COUNT(*) FROM {OF_ONE} WHERE REPLACE(REPLACE(REPLACE(name, 'a', "
    f"'{'a' * 900}'), 'a', '{'a' * 900}'), 'a', '{'a' * 900}') LIKE '%ab%'",
    "a regular expression": f"SELECT COUNT(*) FROM {OF_ONE} WHERE name ~ '^((a{{1,100}}){{1,100}}){{1,100}}$'",
    "a regular expression on a long text": "SELECT COUNT(*) FROM "
    f"{_doubled('(SELECT pid, name AS s FROM person WHERE age > 63)', 8)} WHERE s ~ '(a|aa)*[ab]*(a|b)*c$'",
    "a search behind each match": f"SELECT COUNT(*) FROM {OF_ONE} CROSS JOIN days d WHERE "
    "REGEXP_REPLACE(LPAD(name, 1000, 'a') || LPAD(d.day::TEXT, 1000, 'a'), 'a*b|a', '', 'g') = 'zz'",
    "states that the texts of others leave no room for": "SELECT COUNT(*) FROM (SELECT pid, "
    f"{IF_OLD} THEN '{'abbabaab' * 12}' ELSE TRANSLATE((1000003 + (p.pid % 1063) * 7919 % 999983)::TEXT, "
    "'0123456789', 'aabbababba') END AS s FROM person p) AS t CROSS JOIN (VALUES ('b'), ('b'), ('b')) AS d(x) "
    "WHERE " + " OR ".join(f"(t.s || d.x) ~ 'a.{{20}}{last}'" for last in "cdefgh"),
    "a sort": f"SELECT MEDIAN(b0.x) FROM {OF_ONE} {_crossed(6)}",
    "a sort of one unit": f"SELECT MEDIAN(v1.day) FROM visit v0 {_visited(9)} WHERE v0.pid = 17",
    "work that one row is to spare": "SELECT COUNT(*) FROM (SELECT v.pid, COUNT(*) AS n FROM visit v CROSS JOIN days d "
    f"GROUP BY v.pid) AS h JOIN {OF_ONE} ON p.pid = h.pid",
    "work that a subquery is to spare": "SELECT COUNT(*) FROM (SELECT v.pid, COUNT(*) AS n FROM visit v, days AS d "
    f"GROUP BY v.pid) AS h WHERE EXISTS (SELECT 1 FROM {OF_ONE} WHERE p.pid = h.pid)",
}
#: A second of work on a text of each person,
#: for an engine that does not do it once for all that #: are alike.
_SLOW = " OR ".join(
    f"LPAD({{0}}, 1000, 'ab') ~ '(a|b|aa)*[xyz]{{{{{place}}}}}'" for place in range(1, 13)
)
_HEAVY = f"CASE WHEN {_SLOW} THEN 'x' ELSE 'y' END"
_OLD = "(SELECT pid, MAX(name) AS name FROM person WHERE pid = 17 AND age > 63 GROUP BY pid)"
#: As many persons as days, or one less:
#: of a product the engine hands on the smaller side as #: constants.
_THREE_HUNDRED = (
    "(SELECT pid, name FROM person WHERE pid BETWEEN 18 AND 316 OR (pid = 17 AND age > "
    "63) OR pid IS NULL) AS p"
)
_DAYS = f"(VALUES {', '.join(f'({day})' for day in range(300))}) AS d(day)"
_TURNED = "REVERSE(LPAD(p.name, 1000, 'é')) = 'zz'"
#: An engine computes nothing for a join that has no right side.
ALIKE = {
    "a side of INTERSECT": f"SELECT COUNT(*) FROM (SELECT pid, {_HEAVY.format('name')} AS n FROM person INTERSECT "
    "SELECT pid, name FROM person WHERE pid = 17 AND age > 63) AS t",
    "a product with fewer rows than it is multiplied by": f"SELECT SUM(CASE WHEN {_TURNED} THEN 1 ELSE 2 END) "
    f"FROM {_THREE_HUNDRED} CROSS JOIN {_DAYS}",
    "a key of a product": f"SELECT COUNT(*) FROM {_THREE_HUNDRED} CROSS JOIN {_DAYS} WHERE {_TURNED} = (d.day > 5)",
    "a product that is a LEFT JOIN": f"SELECT SUM(CASE WHEN {_TURNED} THEN 1 ELSE 2 END) "
    f"FROM {_THREE_HUNDRED} LEFT JOIN {_DAYS} ON true",
}
#: What the engine may need more for a million rows of one unit,
#: with much to spare for a busy #: machine.
MOST_SECONDS = 1.5


def _session(folder: Path, age: int, persons: int = 3_000) -> Session:
    """A database in which person 17 is so old."""
    folder.mkdir()
    with duckdb.connect(str(folder / "people.duckdb")) as data:
        data.execute(
            "CREATE TABLE person AS SELECT i AS pid, 30 + i % 30 AS age, repeat('a', 40) AS name "
            "FROM range(?) t(i)",
            [persons],
        )
        data.execute("UPDATE person SET age = ? WHERE pid = 17", [age])
        data.execute(
            "CREATE TABLE visit AS SELECT i % 3000 AS pid, i % 3650 AS day FROM range(30000) t(i)"
        )
        data.execute("CREATE TABLE days AS SELECT i AS day FROM range(3650) t(i)")
    return open_session(loads(SCHEMA, folder / "people.toml"))


@pytest.fixture(scope="module")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    folder = tmp_path_factory.mktemp("work")
    one, other = _session(folder / "old", 64), _session(folder / "young", 40)
    yield one, other
    one.close()
    other.close()


def _outcome(session: Session, text: str) -> tuple[str, float]:
    """How the statement ends, and the processor's time that it took."""
    begun = time.process_time()
    try:
        result = session.execute(text)
        said = f"answered with {len(result.rows)} rows"
    except Error as error:
        said = str(error)
    return said, time.process_time() - begun


def _engine_seconds(session: Session, text: str) -> float:
    """The processor's time that the answer of a statement takes behind its plan,
    which is made before.
    """
    plan = session.plan(text)
    begun = time.process_time()
    assert len(session.answer(plan).rows) == 1
    return time.process_time() - begun


@pytest.mark.parametrize("name", ATTACKS)
def test_neighbours_end_alike_and_take_as_long(
    neighbours: tuple[Session, Session], name: str
) -> None:
    (one, seconds), (other, more) = (_outcome(session, ATTACKS[name]) for session in neighbours)
    assert one == other
    assert "could not be completed" not in one
    assert abs(seconds - more) < MOST_SECONDS


@pytest.mark.parametrize("name", ALIKE)
def test_no_row_decides_whether_others_are_computed(
    neighbours: tuple[Session, Session], name: str
) -> None:
    seconds, more = (_engine_seconds(session, ALIKE[name]) for session in neighbours)
    assert max(seconds, more) < 4 * min(seconds, more)


#: The same with what is light enough to be computed of all rows that a person has.
_LIGHT = "CASE WHEN REVERSE(LPAD({}, 500, 'é')) = 'zz' THEN 'x' ELSE 'y' END"
ALIKE_AND_LIGHT = {
    "a row unlike its block": f"(SELECT {IF_OLD} THEN 'b' ELSE 'a' END AS y FROM person p) AS t "
    f"WHERE {_LIGHT.format('y')} = 'x'",
    **{
        f"a condition of {join}": f"person p {join} {_OLD} AS v ON p.pid = v.pid AND {_LIGHT.format('p.name')} = v.name"
        for join in ("LEFT JOIN", "JOIN", "FULL JOIN")
    },
}


@pytest.fixture(scope="module")
def many_neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    folder = tmp_path_factory.mktemp("light")
    with (
        closing(_session(folder / "old", 64, 20_000)) as one,
        closing(_session(folder / "young", 40, 20_000)) as other,
    ):
        yield one, other


@pytest.mark.parametrize("name", ALIKE_AND_LIGHT)
def test_no_row_decides_whether_a_block_is_computed(
    many_neighbours: tuple[Session, Session], name: str
) -> None:
    text = f"SELECT COUNT(*) FROM {ALIKE_AND_LIGHT[name]}"
    seconds, more = (_engine_seconds(session, text) for session in many_neighbours)
    assert max(seconds, more) < 1.6 * min(seconds, more)


def test_what_would_be_multiplied_is_refused_before_it_is_charged(
    neighbours: tuple[Session, Session],
) -> None:
    session, _ = neighbours
    before = session.remaining
    for name in (
        "a product that is counted",
        "rows of one unit, counted",
        "LATERAL",
        "a public table, again and again",
    ):
        with pytest.raises(Error, match="the rows of one unit may become"):
            session.execute(ATTACKS[name])
    assert session.remaining == before


#: What is made of a text, as often as an engine keeps it meanwhile.
MADE_OF_A_TEXT = {
    "joined": "LENGTH(((name || name) || (name || name)) || ((name || name) || (name || name))) > 5",
    "converted": "TRY_CAST(name AS INTEGER) = 1",
    "read as a day": "TRY_STRPTIME(name, '%Y') = DATE '2020-01-01'",
    "translated": "LENGTH(TRANSLATE(name, 'ab', 'xy')) > 3",
    "in a row of functions": "LENGTH(LOWER(UPPER(REVERSE(name) || name))) > 5",
}


@pytest.fixture(scope="module")
def long_text(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Person 17 has a text of 40 million characters and many visits; the engine has a process of
    its own and 256 MiB of memory."""
    folder = tmp_path_factory.mktemp("long")
    with duckdb.connect(str(folder / "people.duckdb")) as data:
        data.execute(
            "CREATE TABLE person AS SELECT i AS pid, 30 AS age, CASE WHEN i = 17 "
            "THEN repeat('ab c1', 8000000) ELSE 'name ' || i END AS name FROM range(1000) t(i)"
        )
        data.execute(
            "CREATE TABLE visit AS SELECT CASE WHEN i < 1000 THEN i ELSE 17 END AS pid, i % 3650 AS day "
            "FROM range(1200) t(i)"
        )
        data.execute("CREATE TABLE days AS SELECT i AS day FROM range(365) t(i)")
    with _in_256_mib(folder) as session:
        yield session


@contextmanager
def _in_256_mib(folder: Path) -> Iterator[Session]:
    engine = '[engine]\nmemory = "256MiB"\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "OWN_PROCESS", True)
        session = open_session(loads(SCHEMA + engine, folder / "people.toml"))
    yield session
    session.close()


@pytest.mark.parametrize("condition", MADE_OF_A_TEXT.values(), ids=MADE_OF_A_TEXT)
def test_one_person_s_text_is_not_too_long_for_the_memory(
    long_text: Session, condition: str
) -> None:
    assert (
        _outcome(long_text, f"SELECT COUNT(*) FROM person WHERE {condition}")[0]
        == "answered with 1 rows"
    )


def test_one_person_s_texts_have_not_too_many_pieces_for_the_memory(tmp_path: Path) -> None:
    """Person 17 fills blocks of rows with texts of 31,250 characters, each of which is a piece."""
    with duckdb.connect(str(tmp_path / "people.duckdb")) as data:
        data.execute(
            "CREATE TABLE person AS SELECT if(i < 1000, i, 17) AS pid, 30 AS age, if(i < 1000, 'name ' || i, "
            "repeat('a', 31250)) AS name FROM range(5096) t(i)"
        )
        data.execute("CREATE TABLE visit AS SELECT 1 AS pid, 1 AS day")
        data.execute("CREATE TABLE days AS SELECT 1 AS day")
    with _in_256_mib(tmp_path) as session:
        text = "SELECT COUNT(*) FROM person WHERE SPLIT_PART(name, 'a', 3) = 'x'"
        assert _outcome(session, text)[0] == "answered with 1 rows"


#: Texts that are made of small rows, and kept of each.
MADE_OF_SMALL_ROWS = {
    "counted": "COUNT(DISTINCT day || '{long}')",
    "a key": "day || '{long}' AS k, COUNT(*)",
    "padded": "COUNT(DISTINCT LPAD(day::TEXT, 1000, 'a') || LPAD(day::TEXT, 1000, 'b') || LPAD(day::TEXT, 1000, 'c') "
    "|| LPAD(day::TEXT, 1000, 'd') || LPAD(day::TEXT, 1000, 'e') || LPAD(day::TEXT, 1000, 'f'))",
}


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Person 17 has 60,000 small visits where 12 are allowed."""
    folder = tmp_path_factory.mktemp("many")
    with duckdb.connect(str(folder / "people.duckdb")) as data:
        data.execute(
            "CREATE TABLE person AS SELECT i AS pid, 30 AS age, 'name' AS name FROM range(1000) t(i)"
        )
        data.execute(
            "CREATE TABLE visit AS SELECT if(i < 1000, i, 17) AS pid, i AS day FROM range(61000) t(i)"
        )
        data.execute("CREATE TABLE days AS SELECT 1 AS day")
    with _in_256_mib(folder) as session:
        yield session


@pytest.mark.parametrize("items", MADE_OF_SMALL_ROWS.values(), ids=MADE_OF_SMALL_ROWS)
def test_one_person_s_many_rows_do_not_become_too_long_for_the_memory(
    many_rows: Session, items: str
) -> None:
    text = f"SELECT {items.replace('{long}', 'z' * 6000)} FROM visit{' GROUP BY 1' if ' AS k' in items else ''}"
    assert _outcome(many_rows, text)[0].startswith("answered")


#: What is made of a text that is joined with each of a person's rows.
MADE_OF_JOINED_ROWS = {
    "counted": "COUNT(DISTINCT p.name || v.day) FROM person p JOIN visit v ON v.pid = p.pid",
    "a key": "p.name || v.day AS k, COUNT(*) FROM person p JOIN visit v ON v.pid = p.pid GROUP BY 1",
    "a key beside another": "p.name, v.day, COUNT(*) FROM visit v JOIN person p ON v.pid = p.pid GROUP BY 1, 2",
    "rows that differ": "COUNT(*) FROM (SELECT DISTINCT v.pid, p.name || v.day AS k FROM visit v JOIN person p "
    "ON v.pid = p.pid) AS t",
    "a condition": "COUNT(*) FROM visit v LEFT JOIN person p ON v.pid = p.pid WHERE p.name || v.day ~ 'q+z'",
    "a condition behind an outer join": "COUNT(*) FROM visit v LEFT JOIN person p ON v.pid = p.pid "
    "WHERE COALESCE(p.name, 'z') || 'x' <> 'q'",
    "EXISTS": "COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.pid = p.pid AND name || day > 'q')",
    "ALL": "COUNT(*) FROM person p WHERE p.name > ALL (SELECT v.day::TEXT FROM visit v WHERE v.pid = p.pid)",
    "IN": "COUNT(*) FROM person p WHERE p.name IN (SELECT p.name || v.day FROM visit v WHERE v.pid = p.pid)",
    "the value of a subquery": "COUNT(DISTINCT (SELECT MAX(name) FROM person p WHERE p.pid = v.pid) || v.day) "
    "FROM visit v",
    "the value of a subquery as a key": "(SELECT MAX(name) FROM person p WHERE p.pid = v.pid) AS k, v.day, COUNT(*) "
    "FROM visit v GROUP BY 1, 2",
}


@pytest.mark.parametrize("text", MADE_OF_JOINED_ROWS.values(), ids=MADE_OF_JOINED_ROWS)
def test_one_person_s_text_may_stand_in_each_of_their_rows(long_text: Session, text: str) -> None:
    assert _outcome(long_text, f"SELECT {text}")[0].startswith("answered")
