"""The work property: no step of the engine sees more of one unit than the plan claims,
whatever rows the unit has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest
from built_worlds import world
from hand_world import hand_world
from neighbours import given, plan_of, without
from statements import statement
from worlds import NULL, World

from dpsql.errors import DatabaseError, StatementError
from dpsql.planning.plan import CorePlan
from dpsql.sql.analysis.work.limits import MOST_ROWS
from dpsql.sql.analysis.work.rows import unit_work

#: A step of a core joins rows with what clipping changes of them,
#: and with those that are taken #: back.
STEPS = 4
#: Conditions of a scan of which no least or greatest value tells that no row fulfils them.
HARMLESS = r"\w+ IS (NOT )?NULL|NOT|AND|[() ]"
#: A subquery in an expression, as it is emitted: where it has a join,
#: one side may not be read if #: the other has no row.
FOR_A_ROW = r"EXISTS\(|(?<!FROM )(?<!JOIN )(?<!AS )(?<!MATERIALIZED )\(SELECT"
#: How the engine's plan names the condition by which rows are looked up among those above a limit.
LOOKED_UP = " IS NOT DISTINCT FROM u'"
#: Statements whose joins multiply rows, over `hand_world`.
MULTIPLIED = (
    "SELECT COUNT(*) FROM visits v JOIN visits w ON v.pid = w.pid",
    "SELECT COUNT(*) FROM visits v JOIN visits w USING (pid) JOIN visits x ON x.pid = w.pid WHERE v.small < x.small",
    "SELECT p.grade, COUNT(*) FROM visits v JOIN people p ON p.id = v.pid JOIN items i ON i.visit = v.id GROUP BY 1",
    "SELECT COUNT(*) FROM visits v CROSS JOIN (VALUES (1), (2), (3)) AS b(x) WHERE v.small < b.x",
    "SELECT b.x, COUNT(*) FROM people p CROSS JOIN (VALUES (1), (2), (3)) AS b(x) GROUP BY b.x",
    "SELECT COUNT(*) FROM visits v JOIN places c ON c.code = v.word",
    "SELECT COUNT(*) FROM visits v JOIN places c ON c.code < v.word",
    "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.id AND v.small < p.above) > 1",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.pid = v.pid AND w.small < v.small)",
    "SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM places c WHERE c.code <= v.word) > 1",
    "SELECT SUM(n % 9) FROM (SELECT v.pid, COUNT(*) AS n FROM visits v JOIN visits w ON w.pid = v.pid GROUP BY v.pid)",
    "SELECT COUNT(DISTINCT v.pid) FROM visits v JOIN visits w ON w.pid = v.pid CROSS JOIN places c",
    "SELECT COUNT(*) FROM visits v LEFT JOIN visits w ON w.pid = v.pid AND w.small < v.small",
    "SELECT COUNT(*) FROM items i JOIN items j ON i.visit = j.visit",
    "SELECT v.word, COUNT(*) FROM visits v JOIN visits w USING (pid) GROUP BY 1",
    "SELECT COUNT(DISTINCT w.word) FROM visits v JOIN visits w USING (pid)",
    "SELECT COUNT(*) FROM people p JOIN visits v ON v.pid = p.id AND p.id % 1000 = 1 JOIN items i ON i.visit = v.id",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = v.pid AND w.small = 1",
    "SELECT COUNT(*) FROM people p RIGHT JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = p.id",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.id, visits w WHERE w.pid = v.pid AND w.small = 1",
    "SELECT COUNT(*) FROM people LEFT JOIN (SELECT DISTINCT pid FROM visits) c ON c.pid = id JOIN visits w USING (pid)",
    "SELECT COUNT(*) FROM visits v LEFT JOIN people q ON q.id = v.pid JOIN visits w ON w.pid = q.id",
    "SELECT COUNT(*) FROM visits v JOIN visits w ON w.pid = v.pid JOIN visits x ON x.pid = w.pid AND x.word = v.word",
)


def operators(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[str, int]]:
    """Each operator of the engine's plan, and how many rows it made."""
    return [(_kind(each), _own_rows(each)) for each in _made(connection, sql)]


def excess(
    here: World,
    connection: duckdb.DuckDBPyConnection,
    core: CorePlan,
    one: list[tuple[str, int]],
    unit: str,
    own: int | None = None,
) -> list[str]:
    """Steps of the core with more rows of the unit than are claimed: ``one`` are those on all rows,
    and ``own`` is how many it has, at the most.
    """
    for_each_row = own is None and re.search(FOR_A_ROW, core.sql) is not None
    own = own or max(
        sum(here.owner(table, row) == unit for row in table.rows)
        for table in here.tables
        if not table.public
    )
    claimed = STEPS * max(own, unit_work(core.core, here.public_fanout).most.rows)
    with without(connection, here, unit):
        other = operators(connection, core.sql)
    if [kind for kind, _ in one] != [kind for kind, _ in other]:
        return ["the engine's plan is another one"]
    if for_each_row:
        claimed += max(rows for _, rows in other)
    pairs = zip(one, other, strict=True)
    return [
        f"{kind} {more} {less} {claimed}"
        for (kind, more), (_, less) in pairs
        if abs(more - less) > claimed
    ]


def faults(here: World, text: str) -> list[str]:
    plan = plan_of(here, text)
    found: list[str] = []
    with here.connect() as connection:
        given(here, connection, plan)
        for core in plan.cores:
            whole = operators(connection, core.sql)
            for unit in here.units:
                found += excess(here, connection, core, whole, unit)
    return found


@pytest.mark.parametrize("text", MULTIPLIED)
def test_rows_that_are_multiplied_are_as_many_as_is_claimed(text: str) -> None:
    assert faults(hand_world(), text) == []


@pytest.mark.slow
def test_no_step_has_more_rows_of_a_unit_than_is_claimed() -> None:
    tried = 0
    for seed in range(6):
        here = world(seed)
        for number in range(10):
            text = statement(here, number)
            try:
                plan_of(here, text)
            except DatabaseError:
                continue
            tried += 1
            assert faults(here, text) == [], (seed, text)
    assert tried >= 20


def test_a_unit_with_very_many_rows_is_held_to_its_limit_before_it_is_multiplied() -> None:
    here = hand_world()
    visits = here.table("visits")
    many = tuple(
        (str(1000 + n), "1", str(n % 6), "3.0", f"'w{n % 8}'", "1.00") for n in range(2000)
    )
    heavy = replace(
        here,
        tables=tuple(
            replace(each, rows=each.rows + many) if each is visits else each for each in here.tables
        ),
    )
    (core,) = plan_of(heavy, "SELECT COUNT(*) FROM visits v JOIN visits w ON v.pid = w.pid").cores
    with heavy.connect() as connection:
        assert max(rows for _, rows in operators(connection, core.sql)) < 3 * len(
            visits.rows
        ) + 2 * len(many)
        assert not excess(heavy, connection, core, operators(connection, core.sql), "1")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits a "
        + " ".join(f"JOIN visits b{n} ON b{n}.pid = a.pid" for n in range(13)),
        "SELECT COUNT(*) FROM people p "
        + " ".join(
            f"CROSS JOIN (VALUES {', '.join(f'({m})' for m in range(60))}) AS b{n}(x)"
            for n in range(4)
        ),
        "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM visits v JOIN visits w ON v.pid = w.pid "
        + " ".join(f"JOIN visits x{n} ON x{n}.pid = w.pid" for n in range(11))
        + " WHERE v.pid = p.id) > 1",
    ],
)
def test_what_would_make_too_many_rows_is_refused(text: str) -> None:
    with pytest.raises(
        DatabaseError, match=rf"rows of one unit may become [\d,]+ here .* at most {MOST_ROWS:,}"
    ):
        plan_of(hand_world(), text)


@pytest.mark.parametrize(
    "text, kept",
    [
        (
            "SELECT COUNT(DISTINCT p.id) FROM people p "
            + " ".join(
                f"CROSS JOIN (VALUES {', '.join(f'({m})' for m in range(60))}) AS b{n}(x)"
                for n in range(7)
            ),
            1,
        ),
        (
            "SELECT COUNT(DISTINCT v0.pid) FROM visits v0 "
            + " ".join(f"JOIN visits v{n + 1} ON v{n + 1}.pid = v{n}.pid" for n in range(11)),
            1,
        ),
        ("SELECT COUNT(DISTINCT v.pid) FROM visits v LEFT JOIN visits w ON w.pid = v.pid", 1),
        ("SELECT COUNT(DISTINCT v.word) FROM visits v JOIN visits w ON w.pid = v.pid", 1),
        (
            "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v, places c WHERE v.pid = p.id)",
            1,
        ),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT v.pid FROM visits v CROSS JOIN places c) t", 1),
        ("SELECT COUNT(*) FROM visits v JOIN visits w ON w.pid = v.pid", 9),
        ("SELECT COUNT(*) FROM visits v JOIN places c ON c.code < v.word", 15),
        ("SELECT COUNT(*) FROM people p CROSS JOIN places c", 5),
        (
            "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM places c WHERE c.code > p.word) > 1",
            5,
        ),
        ("SELECT COUNT(*) FROM visits v JOIN places c ON c.code = v.word", 6),
        (
            "SELECT COUNT(*) FROM visits WHERE (SELECT COUNT(d.code) FROM places c, places d WHERE c.code=word) > 1",
            30,
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.pid = v.pid)",
            1,
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.pid = v.pid AND w.id < v.id)",
            9,
        ),
    ],
)
def test_rows_become_as_many_as_is_read(text: str, kept: int) -> None:
    (core,) = plan_of(hand_world(), text).cores
    assert unit_work(core.core, hand_world().public_fanout).most.rows == kept


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE small = 3 AND word LIKE 'v%'",
        "SELECT COUNT(*) FROM visits WHERE word IN ('v1', 'v2') OR small IS NULL",
        "SELECT COUNT(*) FROM people p JOIN visits v ON pid = p.id AND small > 2 WHERE p.word = 'x' AND v.word > 'a'",
        "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.id AND v.small BETWEEN 1 AND 2",
        "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id AND v.small = 3)",
        "SELECT COUNT(*) FROM people p WHERE id IN (SELECT pid FROM visits WHERE small = 3)",
        "SELECT COUNT(*) FROM (SELECT pid, MAX(small) AS m FROM visits WHERE word = 'v' GROUP BY pid) AS t WHERE m > 2",
        "SELECT COUNT(*) FROM visits v JOIN visits w USING (pid) WHERE v.small = 3 AND w.word = 'v1'",
        "SELECT COUNT(*) FROM (SELECT pid FROM visits WHERE small = 1 UNION ALL SELECT id FROM people WHERE id > 3)",
        "SELECT code, COUNT(*) FROM visits JOIN places ON code = word AND small > 2 GROUP BY code",
        "SELECT COUNT(*) FROM items i JOIN visits v ON v.id = visit WHERE i.visit > 5",
    ],
)
def test_no_block_of_private_rows_is_left_out_for_what_it_holds(text: str) -> None:
    """A scan has no condition, from the least and the greatest value of a block it would know
    whether to read it.
    """
    with hand_world().connect() as connection:
        for core in plan_of(hand_world(), text).cores:
            row = connection.execute(f"EXPLAIN (FORMAT JSON) {core.sql}").fetchone()
            assert row is not None
            scans = [each for each in _plan(json.loads(row[1])) if "SCAN" in each["name"]]
            private = [each for each in scans if "places" not in str(each)]
            filters = [found for each in private for found in _filters(each)]
            assert private and [each for each in filters if re.sub(HARMLESS, "", each)] == []


def _filters(scan: dict[str, Any]) -> list[str]:
    found = scan.get("extra_info", {}).get("Filters", [])
    return [found] if isinstance(found, str) else found


def _plan(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for each in nodes:
        yield each
        yield from _plan(each.get("children", []))


def _crowd(people: int, visits: int) -> World:
    """`hand_world` among so many others, each with as many visits; only unit 6 has the word v0."""
    here = hand_world()
    others = tuple(
        (str(n), "'A'", "1.0", "1010", "DATE '2020-02-29'", "'x'", NULL)
        for n in range(100, 100 + people)
    )
    theirs = tuple(
        (str(1000 + n), str(100 + n % people), "5", "3.0", f"'w{n % 8}'", "1.00")
        for n in range(visits)
    )
    six = ("6", "'A'", "1.0", "1010", "DATE '2020-02-29'", "'sixth'", NULL)
    more = {"people": (*others, six), "visits": theirs}
    tables = tuple(replace(each, rows=each.rows + more.get(each.name, ())) for each in here.tables)
    return replace(here, tables=tables)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits v JOIN people p ON p.id = v.pid WHERE p.word = 'sixth'",
        "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.pid JOIN visits w USING (pid) WHERE p.word = 'sixth'",
        "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.pid WHERE p.word = 'sixth'",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.id = v.pid AND p.word = 'sixth')",
        "SELECT COUNT(*) FROM (SELECT pid FROM visits GROUP BY pid) h JOIN people p ON p.id = h.pid AND word = 'sixth'",
        (
            "SELECT COUNT(*) FROM (SELECT pid FROM visits, places WHERE code = visits.word GROUP BY pid) h "
            "WHERE pid IN (SELECT id FROM people WHERE word = 'sixth')"
        ),
        "SELECT COUNT(*) FROM items i JOIN visits v ON v.id = visit JOIN people p ON p.id = v.pid AND p.word = 'sixth'",
        "SELECT COUNT(*) FROM items i JOIN visits v ON v.id = i.visit WHERE v.pid = 6",
        (
            "SELECT COUNT(*) FROM (SELECT pid, word FROM visits INTERSECT SELECT id, word FROM people "
            "WHERE word = 'sixth') AS t"
        ),
    ],
)
def test_whether_one_person_is_there_does_not_decide_what_else_is_read(text: str) -> None:
    here = _crowd(300, 12_000)
    (core,) = plan_of(here, text).cores
    with here.connect() as connection:
        assert excess(here, connection, core, operators(connection, core.sql), "6", own=4) == []
        assert sum(rows for _, rows in operators(connection, core.sql)) > 12_000


@pytest.mark.parametrize(
    "condition",
    [
        "STARTS_WITH(p.word, v.word)",
        "p.word LIKE v.word || '%'",
        "COALESCE(p.word, v.word) = 'sixth'",
        "CASE WHEN p.word = 'sixth' THEN v.word ELSE 'v' END = 'v1'",
        "LOWER(p.word) = UPPER(v.word)",
    ],
)
def test_what_is_computed_of_the_pairs_of_a_join_is_answered(condition: str) -> None:
    here = hand_world()
    for text in (
        f"SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.pid WHERE {condition}",
        f"SELECT COUNT(*) FROM visits v, people p WHERE p.id = v.pid AND {condition}",
        f"SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.id = v.pid AND {condition}",
    ):
        (core,) = plan_of(here, text).cores
        with here.connect() as connection:
            (mine,) = [row[-1] for row in connection.execute(core.sql).fetchall()]
            assert mine is not None


def test_a_condition_of_several_tables_before_an_outer_join_is_refused() -> None:
    joined = "people p JOIN visits v ON p.id = v.pid LEFT JOIN visits w ON w.pid = p.id"
    with pytest.raises(StatementError, match="several tables"):
        plan_of(hand_world(), f"SELECT COUNT(*) FROM {joined} AND CONCAT(p.word, v.word) = w.word")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT SUM(CASE WHEN pid = 6 THEN 1.5 ELSE 0.25 END) FROM visits",
        "SELECT word, SUM(small), COUNT(*) FROM visits GROUP BY word",
        "SELECT COUNT(DISTINCT pid), AVG(small) FROM visits WHERE small > 0",
        "SELECT MEDIAN(small) FROM visits",
        "SELECT COUNT(*) FROM visits v JOIN visits w USING (pid)",
        "SELECT small, COUNT(*) FROM visits GROUP BY small",
    ],
)
def test_a_unit_above_a_limit_has_nothing_read_again(text: str) -> None:
    """Neither one with more rows, nor with more groups, than it may have,
    nor one whose values lie at their bound.
    """
    here = _crowd(1_000, 3_000)
    mine = tuple((str(20_000 + n), "6", str(n % 6), "3.0", f"'w{n}'", "1.00") for n in range(40))
    others = here.table("visits").rows[-3_000:]  # each of them has as many as it may
    heavy = replace(
        here,
        tables=tuple(
            replace(each, rows=others + mine) if each.name == "visits" else each
            for each in here.tables
        ),
    )
    with heavy.connect() as connection:
        plan = plan_of(heavy, text)
        given(heavy, connection, plan)
        for core in plan.cores:
            assert (
                excess(heavy, connection, core, operators(connection, core.sql), "6", own=40) == []
            )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "SELECT word, SUM(small), COUNT(*) FROM visits GROUP BY word",
        "SELECT small, COUNT(*) FROM visits GROUP BY small",
        "SELECT AVG(small), SUM(small), MEDIAN(small), COUNT(DISTINCT pid) FROM visits",
        "SELECT word, MEDIAN(small), COUNT(DISTINCT pid) FROM visits GROUP BY word",
        "SELECT COUNT(*) FROM visits v JOIN visits w USING (pid)",
    ],
)
def test_rows_are_looked_up_whether_or_not_somebody_is_above_a_limit(text: str) -> None:
    """DuckDB looks no row up where it finds the list of those above a limit empty."""
    here = _crowd(300, 300)
    nobody = replace(
        here,
        tables=tuple(
            replace(each, rows=each.rows[-300:]) if each.name == "visits" else each
            for each in here.tables
        ),
    )
    with nobody.connect() as connection:
        plan = plan_of(nobody, text)
        given(nobody, connection, plan)
        for core in plan.cores:
            joins = [
                each for each in _made(connection, core.sql) if LOOKED_UP in str(each["extra_info"])
            ]
            assert joins
            assert [each for each in joins if _rows(each["children"][1]) == 0] == []


@pytest.mark.parametrize(
    "text",
    ["SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits v JOIN visits w USING (pid)"],
)
def test_rows_without_a_unit_are_not_looked_up_twice(text: str) -> None:
    """However many there are, the answer is the one without them."""
    here = hand_world()
    nobodys = tuple((str(n), NULL, "1", "3.0", "'w1'", "1.00") for n in range(7_000, 7_040))
    more = replace(
        here,
        tables=tuple(
            replace(each, rows=each.rows + nobodys) if each.name == "visits" else each
            for each in here.tables
        ),
    )
    (core,) = plan_of(here, text).cores
    with here.connect() as one, more.connect() as other:
        assert one.execute(core.sql).fetchall() == other.execute(core.sql).fetchall()


@pytest.mark.parametrize("word", ["sixth", "nobody"])
def test_both_sides_of_an_intersection_are_grouped_anew_whether_or_not_both_have_a_row(
    word: str,
) -> None:
    """DuckDB groups the rows of several sources anew, and those of a single one not."""
    some = f"SELECT id, word FROM people WHERE word = '{word}'"
    text = f"SELECT COUNT(*) FROM (SELECT pid, word FROM visits INTERSECT {some}) AS t"
    here = _crowd(300, 3_000)
    (core,) = plan_of(here, text).cores
    with here.connect() as connection:
        sides = [
            [_rows(each) for each in union["children"]]
            for union in _made(connection, core.sql)
            if _kind(union) == "UNION"
        ]
        read = [side for side in sides if side[0] > 3_000]
        assert read and all(sum(rows > 0 for rows in side) > 1 for side in read)


def _made(connection: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    """The operators of the engine's plan, with the rows that they made."""
    row = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}").fetchone()
    assert row is not None
    whole = json.loads(row[1])
    return list(_plan(whole.get("operator") or whole["children"]))


def _kind(operator: dict[str, Any]) -> str:
    return operator.get("type") or operator["operator_type"]


def _rows(operator: dict[str, Any]) -> int:
    """The rows that an operator made; of a union, which is none itself, those of its sides."""
    if _kind(operator) == "UNION":
        return sum(map(_rows, operator["children"]))
    return _own_rows(operator)


def _own_rows(operator: dict[str, Any]) -> int:
    return int(operator.get("intermediate_rows", operator.get("operator_cardinality", 0)))
