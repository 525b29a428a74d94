"""Rows without a unit as units of their own: no statement lets one of them,
or what hangs on it, move more than is claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from built_worlds import world
from hand_world import hand_world
from neighbours import Tally, accepted, broken, faults, report
from statements import statement
from worlds import NULL, World

#: Two rows alike, of which each is a unit; items of a visit without a person;
#: and a visit that is #: missing.
TWINS = ("70", NULL, "5", "3.0", "'w1'", "500.00"), (NULL, NULL, "5", "3.0", "'w2'", "500.00")
STATEMENTS = (
    "SELECT COUNT(*) FROM visits",
    "SELECT word, COUNT(*) FROM visits GROUP BY word",
    "SELECT COUNT(*), SUM(price) FROM visits v JOIN places p ON v.word = p.code",
    "SELECT region, COUNT(*) FROM visits v JOIN places p ON v.word = p.code GROUP BY 1",
    "SELECT SUM(share) FROM items i JOIN visits v ON i.visit = v.id",
    "SELECT COUNT(*) FROM items a JOIN items b ON a.visit = b.visit",
    "SELECT COUNT(*) FROM (SELECT visit, COUNT(*) AS n FROM items GROUP BY 1) t",
    "SELECT COUNT(*) FROM (SELECT small FROM visits UNION ALL SELECT small FROM visits) t",
    "SELECT MEDIAN(price) FROM visits WHERE pid IS NULL",
    "SELECT COUNT(DISTINCT small) FROM visits",
    "SELECT COUNT(DISTINCT pid) FROM visits",
    "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.pid = p.id",
    "SELECT COUNT(*) FROM people p FULL JOIN visits v ON v.pid = p.id",
)


def _twins(limits: str, promise: str) -> World:
    """The world made by hand with twins among the rows without a unit."""
    here = hand_world(limits, promise).with_orphans()
    visits = here.table("visits")
    rows = (*visits.rows, *TWINS, (*TWINS[1],))
    items = replace(
        here.table("items"),
        rows=(*here.table("items").rows, *((each, "0.5") for each in "70 70 70 99 99".split())),
    )
    tables = {"visits": replace(visits, rows=rows), "items": items}
    return replace(here, tables=tuple(tables.get(each.name, each) for each in here.tables))


@pytest.mark.parametrize("promise", ["L1", "L2", "L1 with delta", "replace"])
@pytest.mark.parametrize("limits", ["rows", "all"])
def test_claims_hold_of_rows_without_a_unit(limits: str, promise: str) -> None:
    tally, here = Tally(), _twins(limits, promise)
    texts = [plan.text for plan in accepted(here, STATEMENTS, tally)]
    assert len(texts) >= len(STATEMENTS) - 2
    assert faults(here, texts) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_row_without_a_unit_moves_a_cell_by_more_than_is_claimed(seed: int) -> None:
    tally, here = Tally(), world(300 + seed).with_orphans()
    plans = accepted(here, (statement(here, number) for number in range(14)), tally)
    for text, problem in broken(here, plans, tally):
        pytest.fail(report(here, text, problem))
    assert any(unit.startswith(("row", "key")) for unit in here.units)
    assert tally.answered >= tally.statements * 0.4, tally
