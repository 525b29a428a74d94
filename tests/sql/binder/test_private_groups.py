"""Counts and sums over groups of several units' rows: no unit changes more of them than the plan claims."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from built_worlds import world
from hand_world import hand_world
from neighbours import Tally, accepted, broken, faults, plan_of, planned, report
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
        texts = [plan.text for plan in plans if all(groups_in(core.core.relation) for core in plan.cores)]
        assert len(texts) >= len(STATEMENTS) - 2, set(STATEMENTS) - set(texts)
        assert faults(here, texts) == []


@pytest.mark.parametrize("promise", ["L1", "L2"])
def test_a_group_may_go_from_one_end_to_the_other(promise: str) -> None:
    here = hand_world("rows", promise)
    visits = here.table("visits")
    rows = (*visits.rows, ("90", "5", "1", "3.0", "'w1'", "1.00"))
    visits = replace(visits, rows=rows, limits=(("max_rows_per_unit", 1),))
    here = replace(here, tables=tuple(visits if each.name == "visits" else each for each in here.tables))
    texts = [
        f"SELECT {{}} FROM (SELECT word, {made}(signed) AS m FROM visits GROUP BY word) t" for made in ("MIN", "MAX")
    ]
    assert faults(here, [text.format(f"{sums}(m)") for text in texts for sums in ("SUM", "AVG")]) == []


#: Kinds of columns that have bounds.
BOUNDED = ("small", "signed", "share", "price", "wide", "above")
MADE = ("MAX({0})", "MIN({0})", "AVG({0})", "LEAST(SUM({0}), 50)")
HAVING = ("", "", " HAVING COUNT(*) > 1", " HAVING COUNT(*) <= 3", " HAVING COUNT(*) = 1")
WHERE = ("", "", " WHERE n < 5", " WHERE m > 1")
KEYS = ("", "n", "n > 2", "LEAST(n, 4)", "CASE WHEN m > 1 THEN 'a' ELSE 'b' END", "m IS NULL")
MEASURED = ("COUNT(*)", "COUNT(m), SUM(m)", "AVG(m)", "SUM(m) FILTER (WHERE n > 1)", "COUNT(*), AVG(m)")


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


#: What is read as before: public groups are released, and so are those of which nothing bounds what a unit changes.
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


@pytest.mark.parametrize("text", RELEASED)
def test_other_statements_are_read_as_before(text: str) -> None:
    assert not _reads_groups(text)


@pytest.mark.parametrize("text", STATEMENTS)
def test_groups_are_not_released(text: str) -> None:
    assert _reads_groups(text)
    assert all(core.selection is None for core in planned(hand_world(), text))


def test_a_failed_attempt_leaves_nothing_behind() -> None:
    plan = plan_of(hand_world(), RELEASED[1])
    assert len(plan.cores) == 1 and not plan.notices


def test_no_delta_is_needed() -> None:
    here = replace(hand_world("rows", "L1"))
    assert planned(here, STATEMENTS[3])
    with pytest.raises(DatabaseError):
        planned(here, "SELECT word, COUNT(*) FROM visits GROUP BY word")
