"""Long texts of public tables are counted by their lengths where rows are multiplied,
or texts are made of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hand_world import hand_world
from neighbours import plan_of
from worlds import World

from dpsql.errors import Refused


def _long(characters: int) -> World:
    """`hand_world` with a region of so many characters."""
    here = hand_world()
    places = here.table("places")
    rows = (*places.rows, ("'far'", f"'{'x' * characters}'"))
    return replace(
        here,
        tables=tuple(replace(each, rows=rows) if each is places else each for each in here.tables),
    )


def test_rows_with_long_public_texts_are_fewer() -> None:
    """Each of them is made of the one row of a person,
    whose presence would decide over a gigabyte of texts.
    """
    listed = ", ".join(f"({number})" for number in range(100))
    rows = f"people p, places a, places c, places d, (VALUES {listed}) AS b(x)"
    text = f"SELECT COUNT(DISTINCT a.region || b.x || c.code || d.code) FROM {rows}"
    assert plan_of(_long(20), text).cores
    with pytest.raises(Refused, match=r"at most 30,000,000 are made"):
        plan_of(_long(5_000), text)


@pytest.mark.parametrize(
    "made",
    [
        "DISTINCT a.region || a.region || v.word) FROM visits v JOIN places a ON a.code = v.word",
        "DISTINCT (SELECT MAX(region) FROM places a WHERE a.code = v.word) || v.word) FROM visits v",
        "DISTINCT LOWER(a.region)) FROM visits v JOIN places a ON a.code = v.word",
        "*) FROM visits v JOIN places a ON a.code = v.word WHERE LENGTH(LOWER(a.region)) + 1 > 5",
    ],
)
def test_texts_that_are_made_of_long_public_ones_stand_together_up_to_a_limit(made: str) -> None:
    assert plan_of(_long(20), f"SELECT COUNT({made}").cores
    with pytest.raises(
        Refused, match=r"may have [\d,]+ characters, since those of public tables are long"
    ):
        plan_of(_long(70_000), f"SELECT COUNT({made}")


def test_public_texts_that_are_only_read_may_be_long() -> None:
    assert plan_of(
        _long(70_000), "SELECT COUNT(a.region) FROM visits v JOIN places a ON a.code = v.word"
    ).cores


def test_each_count_of_different_values_is_work_of_its_own() -> None:
    listed = ", ".join(f"({number})" for number in range(40))
    rows = f"FROM people p, (VALUES {listed}) AS a(x), (VALUES {listed}) AS b(x)"
    counts = [
        f"COUNT(DISTINCT LPAD(p.word || a.x, 490, 'x')) FILTER (WHERE b.x <> {number})"
        for number in range(52)
    ]
    assert plan_of(hand_world(), f"SELECT {counts[0]} {rows}").cores
    with pytest.raises(Refused, match=r"at most 30,000,000 are made"):
        plan_of(hand_world(), f"SELECT {', '.join(counts)} {rows}")


def test_public_texts_that_are_pairs_are_counted() -> None:
    text = "SELECT a.region, COUNT(*) FROM people p, places a, places b, places c WHERE a.region < b.region GROUP BY 1"
    assert plan_of(_long(20), text).cores
    with pytest.raises(Refused, match=r"at most 30,000,000 are made"):
        plan_of(_long(300_000), text)


def test_a_row_is_compared_with_each_value_that_is_listed() -> None:
    listed = ", ".join(f"({number})" for number in range(300))
    rows = f"FROM people p, (VALUES {listed}) AS a(x), (VALUES {listed}) AS b(x) WHERE a.x <> b.x"
    assert plan_of(hand_world(), f"SELECT HISTOGRAM((a.x + b.x) % 5) {rows}").cores
    with pytest.raises(Refused, match=r"at most 30,000,000 are made"):
        plan_of(hand_world(), f"SELECT HISTOGRAM((a.x + b.x) % 700) {rows}")
