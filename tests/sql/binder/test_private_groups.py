"""Counts and sums over groups of several units' rows:
no unit changes more of them than the plan claims.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from built_worlds import world
from hand_world import hand_world
from neighbours import Tally, accepted, broken, faults, planned, report
from untouched import planning_session
from worlds import World

from dpsql.errors import DatabaseError
from dpsql.sql.ir.relation import groups_in

STATEMENTS = (
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT DISTINCT word FROM visits) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY word HAVING COUNT(*) >= 2) t",
    "SELECT n, COUNT(*) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t GROUP BY n",
    "SELECT n > 1 k, COUNT(*), AVG(m) FROM (SELECT word, COUNT(*) n, MAX(small) m FROM visits GROUP BY 1) GROUP BY k",
    "SELECT SUM(m), AVG(m), COUNT(m) FROM (SELECT word, MIN(signed) AS m FROM visits GROUP BY word) t",
    "SELECT n, SUM(m) FROM (SELECT word, COUNT(*) n, MAX(signed) m FROM visits GROUP BY 1) t WHERE n < 9 GROUP BY n",
    "SELECT AVG(n) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word HAVING COUNT(*) <= 4) t",
    "SELECT SUM(LEAST(s, 100)) FROM (SELECT word, SUM(price) AS s FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word, COUNT(DISTINCT pid) AS p FROM visits GROUP BY word) t WHERE p > 1",
    "SELECT b, COUNT(*) FROM (SELECT word, BOOL_AND(small > 2) AS b FROM visits GROUP BY word) t GROUP BY b",
    "SELECT COUNT(*) FROM (SELECT v.word, p.word AS w FROM visits v JOIN people p ON p.id = v.pid GROUP BY 1, 2) t",
    (
        "SELECT g, COUNT(*) FROM (SELECT p.grade g, v.word FROM visits v JOIN people p ON p.id = v.pid GROUP BY 1, 2) t"
        " GROUP BY g"
    ),
)


@pytest.mark.parametrize("promise", ["L1", "L2", "L1 with delta", "replace"])
@pytest.mark.parametrize("limits", ["rows", "groups", "all"])
def test_claims_hold_of_groups(limits: str, promise: str) -> None:
    for here in (hand_world(limits, promise), hand_world(limits, promise).with_orphans()):
        tally = Tally()
        plans = accepted(here, STATEMENTS, tally)
        texts = [
            plan.text for plan in plans if all(groups_in(core.core.relation) for core in plan.cores)
        ]
        assert len(texts) >= len(STATEMENTS) - 2, set(STATEMENTS) - set(texts)
        assert faults(here, texts) == []


@pytest.mark.parametrize("promise", ["L1", "L2"])
def test_a_group_may_go_from_one_end_to_the_other(promise: str) -> None:
    here = hand_world("rows", promise)
    visits = here.table("visits")
    rows = (*visits.rows, ("90", "5", "1", "3.0", "'w1'", "1.00"))
    visits = replace(visits, rows=rows, limits=(("max_rows_per_unit", 1),))
    here = replace(
        here, tables=tuple(visits if each.name == "visits" else each for each in here.tables)
    )
    texts = [
        f"SELECT {{}} FROM (SELECT word, {made}(signed) AS m FROM visits GROUP BY word) t"
        for made in ("MIN", "MAX")
    ]
    assert (
        faults(here, [text.format(f"{sums}(m)") for text in texts for sums in ("SUM", "AVG")]) == []
    )


#: Kinds of columns that have bounds.
BOUNDED = ("small", "signed", "share", "price", "wide", "above")
MADE = ("MAX({0})", "MIN({0})", "AVG({0})", "LEAST(SUM({0}), 50)")
HAVING = ("", "", " HAVING COUNT(*) > 1", " HAVING COUNT(*) <= 3", " HAVING COUNT(*) = 1")
WHERE = ("", "", " WHERE n < 5", " WHERE m > 1")
KEYS = ("", "n", "n > 2", "LEAST(n, 4)", "CASE WHEN m > 1 THEN 'a' ELSE 'b' END", "m IS NULL")
MEASURED = (
    "COUNT(*)",
    "COUNT(m), SUM(m)",
    "AVG(m)",
    "SUM(m) FILTER (WHERE n > 1)",
    "COUNT(*), AVG(m)",
)


def written(random: Random, here: World) -> str:
    """A statement over groups of a private table by a text that nobody declares."""
    table = random.choice([each for each in here.tables if not each.public])
    value = random.choice([each.name for each in table.columns if each.kind in BOUNDED] or ["1"])
    made = random.choice(MADE).format(value)
    inner = f"SELECT code, COUNT(*) AS n, {made} AS m FROM {table.name} GROUP BY code{random.choice(HAVING)}"
    key = random.choice(KEYS)
    shown = f"{key} AS k, {random.choice(MEASURED)}" if key else random.choice(MEASURED)
    return f"SELECT {shown} FROM ({inner}) t{random.choice(WHERE)}{' GROUP BY 1' if key else ''}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_unit_changes_more_groups_than_is_claimed(seed: int) -> None:
    tally, here, random = Tally(), world(900 + seed), Random(seed)
    plans = accepted(here, (written(random, here) for _ in range(16)), tally)
    plans = [plan for plan in plans if any(groups_in(core.core.relation) for core in plan.cores)]
    for text, problem in broken(here, plans, tally):
        pytest.fail(report(here, text, problem))
    assert len(plans) >= 5, tally


def _reads_groups(text: str) -> bool:
    return all(groups_in(core.core.relation) is not None for core in planned(hand_world(), text))


#: What is read as before: public groups are released,
#: and so are those of which nothing bounds what #: a unit changes.
RELEASED = (
    "SELECT COUNT(*) FROM (SELECT grade, COUNT(*) AS n FROM people GROUP BY grade) t",
    "SELECT MEDIAN(n) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word HAVING COUNT(*) < 9) t",
    "SELECT MAX(n) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t",
    "SELECT SUM(n) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t",
    "SELECT n // 100 AS k, COUNT(*) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t GROUP BY 1",
    "SELECT COUNT(*) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word LIMIT 3) t",
    "SELECT COUNT(*) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t JOIN places p ON p.code = t.word",
    "SELECT COUNT(DISTINCT n) FROM (SELECT word, COUNT(*) AS n FROM visits GROUP BY word) t",
    "SELECT word, COUNT(*) FROM (SELECT word, small, COUNT(*) AS n FROM visits GROUP BY 1, 2) t GROUP BY word",
    "SELECT COUNT(*) FROM (SELECT word, STDDEV(small) AS s FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits WHERE small > (SELECT AVG(small) FROM visits) GROUP BY word) t",
)


#: The groups that further statements read, and those whose grammar asks for the groups themselves.
GROUPS = "(SELECT word, COUNT(*) AS n, MAX(small) AS m FROM visits GROUP BY word)"
READ = (
    "WITH t AS {groups} SELECT COUNT(*) FROM t WHERE n > 1",
    "SELECT COUNT(*) FROM {groups} t HAVING COUNT(*) > 1",
    "SELECT n, COUNT(*) AS k FROM {groups} t GROUP BY n HAVING COUNT(*) > 3 ORDER BY k LIMIT 2 OFFSET 1",
    "SELECT a, COUNT(*) FROM {groups} t(w, a, c) WHERE c > 1 GROUP BY a",
    "SELECT n + 1 AS k, COUNT(*) FROM {groups} t WHERE n < 7 GROUP BY 1",
    "SELECT SUM(n), SUM(m + n), AVG(m), COUNT(*) FROM {groups} t WHERE n < 5",
    "SELECT COUNT(*) FROM (SELECT word FROM (SELECT * FROM visits) v GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY ALL ORDER BY COUNT(*)) t",
    "SELECT COUNT(*) FROM (SELECT visits.word FROM visits JOIN places ON code = word GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT v.word FROM visits v LEFT JOIN people p ON p.id = v.pid GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT word || 'x' AS w FROM visits GROUP BY 1) t",
    "SELECT SUM(s) FROM (SELECT word, SUM(small) AS s FROM visits GROUP BY 1) t WHERE s BETWEEN 0 AND 50",
    "SELECT n, COUNT(*) FROM (SELECT word, COUNT(DISTINCT pid) AS n FROM visits GROUP BY word) t GROUP BY n",
)
OTHERWISE = (
    "WITH t AS {groups} SELECT COUNT(*) FROM visits",
    "WITH t AS {groups}, u AS (SELECT * FROM t) SELECT COUNT(*) FROM u",
    "SELECT DISTINCT COUNT(*) FROM {groups} t",
    "SELECT COUNT(*) AS k FROM {groups} t QUALIFY ROW_NUMBER() OVER () = 1",
    "SELECT n, COUNT(*) OVER () AS k FROM {groups} t",
    "SELECT COUNT(*), SUM(COUNT(*)) OVER () FROM {groups} t",
    "SELECT n, COUNT(*) FROM {groups} t GROUP BY n ORDER BY SUM(COUNT(*)) OVER ()",
    "SELECT n, COUNT(*) FROM {groups} t GROUP BY ROLLUP (n)",
    "SELECT COUNT(*), (SELECT COUNT(*) FROM people) FROM {groups} t",
    "SELECT COUNT(*) FROM {groups} t WHERE m > (SELECT AVG(small) FROM visits)",
    "SELECT n FROM {groups} t",
    "SELECT word, COUNT(*) FROM {groups} t GROUP BY word",
    "SELECT n + 1 AS k, COUNT(*) FROM {groups} t GROUP BY 1",
    "SELECT n, n + 1 AS k, COUNT(*) FROM {groups} t GROUP BY 1, 2",
    "SELECT STDDEV(m) FROM {groups} t",
    "SELECT SUM(s) FROM (SELECT word, SUM(small) AS s FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (WITH v AS (SELECT * FROM visits) SELECT word FROM v GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word FROM (SELECT pid, word FROM visits GROUP BY 1, 2) v GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word FROM (SELECT DISTINCT pid, word FROM visits) v GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY word QUALIFY ROW_NUMBER() OVER () < 3) t",
    "SELECT COUNT(*) FROM (SELECT word, COUNT(*) OVER () AS n FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY word ORDER BY SUM(COUNT(*)) OVER ()) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY word HAVING SUM(COUNT(*)) OVER () > 1) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits GROUP BY ROLLUP (word)) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits WHERE pid IN (SELECT id FROM people) GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT word, (SELECT COUNT(*) FROM people) AS c FROM visits GROUP BY word) t",
    "SELECT COUNT(*) FROM (SELECT region FROM visits JOIN places ON code = word GROUP BY region) t",
    "SELECT COUNT(*) FROM (SELECT word FROM visits) t",
    "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits) t",
    "SELECT COUNT(*) FROM (SELECT word, pid FROM visits GROUP BY 1, 2) t",
)


@pytest.mark.parametrize("text", [*RELEASED, *OTHERWISE])
def test_other_statements_are_read_as_before(text: str) -> None:
    assert not _reads_groups(text.format(groups=GROUPS))


@pytest.mark.parametrize("text", [*STATEMENTS, *READ])
def test_groups_are_not_released(text: str) -> None:
    text = text.format(groups=GROUPS)
    assert _reads_groups(text)
    assert all(core.selection is None for core in planned(hand_world(), text))


#: What is said of groups that a unit has rows in, and of numbers beyond those that are listed.
TOUCHED = "each unit counts in at most 4 groups of day: its rows in others are left out"
LARGE = "groups of more than 999 rows are in no row"
LABS = "(SELECT day, COUNT(*) AS n FROM labs GROUP BY day) t"
#: What is said of groups that are released since nothing bounds what is added up over them.
UNBOUNDED = (
    "nothing bounds {what}: groups of day are released first, and small ones are missing; "
    "{function}(LEAST({argument}, 20)), with an end of your own, is asked of all groups and counts "
    "a larger {argument} as 20"
)
NOTICES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (f"SELECT COUNT(*) FROM {LABS}", (TOUCHED,)),
    (f"SELECT n, COUNT(*) FROM {LABS} GROUP BY n", (TOUCHED, LARGE)),
    (f"SELECT n, COUNT(*) FROM {LABS} WHERE n < 9 GROUP BY n", (TOUCHED,)),
    ("SELECT COUNT(*) FROM (SELECT case_id FROM patients WHERE age > 50 GROUP BY case_id) t", ()),
    (
        f"SELECT SUM(n) FROM {LABS}",
        (UNBOUNDED.format(what="n", function="SUM", argument="n"),),
    ),
    (
        f"SELECT AVG(n + 1) FROM {LABS}",
        (UNBOUNDED.format(what="n + 1", function="AVG", argument="n + 1"),),
    ),
    (
        f"SELECT SUM(n), AVG(n) FROM {LABS}",
        (UNBOUNDED.format(what="a number that is added up", function="SUM", argument="x"),),
    ),
    (f"SELECT SUM(LEAST(n, 20)) FROM {LABS}", (TOUCHED,)),
)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    session = planning_session("nafld", tmp_path / "ledger")
    for text, notices in NOTICES:
        assert session.plan(text).notices[: len(notices) or None] == notices


def test_a_failed_attempt_leaves_nothing_behind(tmp_path: Path) -> None:
    plan = planning_session("nafld", tmp_path / "ledger").plan(
        "SELECT MAX(n) FROM (SELECT value, COUNT(*) AS n FROM labs GROUP BY value) t"
    )
    assert len(plan.cores) == 1 and plan.notices == ()


def test_no_delta_is_needed() -> None:
    here = replace(hand_world("rows", "L1"))
    assert planned(here, STATEMENTS[3])
    with pytest.raises(DatabaseError):
        planned(here, "SELECT word, COUNT(*) FROM visits GROUP BY word")
