"""Which values are clamped, by name and ends:
those that may lie beyond the ends between which they are added up.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hand_world import hand_world
from neighbours import planned

from dpsql.schema import SqlType
from dpsql.sql.analysis.clamping import Clamped, _of_type, clamped_values
from dpsql.sql.ir.interval import EVERYTHING, Interval

PER_UNIT = "SELECT {} FROM (SELECT pid, {} FROM visits GROUP BY pid) AS t"
PER_WORD = "SELECT {} FROM (SELECT word, {} FROM visits GROUP BY word) AS t"
BOTH = (
    "SELECT {} FROM (SELECT pid, small AS x, signed AS y FROM visits "
    "UNION ALL SELECT id, above, signed FROM people) AS t"
)


def clamped(name: str, low: int | None, high: int | None, released: bool = True) -> Clamped:
    low_end, high_end = (None if end is None else Fraction(end) for end in (low, high))
    return Clamped(name, low_end, high_end, released)


SMALL = clamped("small", 0, 5)
UNDER = clamped("small", 0, 5, released=False)
#: Of small the bounds are 0 to 5, of signed −5 to 3, of above 1000 to 1010;
#: a unit has three #: visits.
CLAMPED: dict[str, tuple[Clamped, ...]] = {
    "SELECT SUM(small), AVG(small), COUNT(*) FROM visits": (SMALL,),
    "SELECT COUNT(small), COUNT(DISTINCT small) FROM visits": (),
    # A condition, a type or the expression itself holds one end or both.
    "SELECT SUM(small) FROM visits WHERE small >= 0": (clamped("small", None, 5),),
    "SELECT SUM(small) FROM visits WHERE small <= 5": (clamped("small", 0, None),),
    "SELECT SUM(small) FROM visits WHERE small >= -1 AND small <= 6": (SMALL,),
    "SELECT SUM(small) FROM visits WHERE small BETWEEN 1 AND 4": (),
    "SELECT SUM(small) FILTER (WHERE small > 0) FROM visits": (clamped("small", None, 5),),
    "SELECT SUM(GREATEST(LEAST(small, 5), 0)) FROM visits": (),
    "SELECT SUM(LEAST(small, 3)) FROM visits": (clamped("what is made of small", 0, None),),
    "SELECT SUM(small * above) FROM visits JOIN people ON people.id = pid": (
        clamped("what is made of small and above", 0, 5050),
    ),
    "SELECT SUM(price), SUM(signed) FROM visits": (
        clamped("price", 0, 500),
        clamped("signed", -5, 3),
    ),
    # Aggregates of a unit's rows, or of a group's.
    PER_UNIT.format("AVG(a)", "AVG(small) AS a"): (UNDER,),
    PER_UNIT.format("AVG(a)", "STDDEV(small) AS a"): (UNDER,),
    PER_UNIT.format("SUM(a)", "SUM(small) AS a"): (
        UNDER,
        clamped("SUM(small) of a unit", None, 15),
    ),
    PER_UNIT.format("SUM(a)", "MAX(small) AS a"): (clamped("MAX(small) of a unit", 0, 5),),
    PER_UNIT.format("SUM(a)", "COUNT(*) AS a"): (clamped("COUNT(*) of a unit", None, 3),),
    PER_UNIT.format("COUNT(*)", "SUM(small) AS a") + " WHERE a > 9": (UNDER,),
    PER_UNIT.format("COUNT(*)", "MAX(small) AS a") + " WHERE a > 3": (),
    PER_UNIT.format("AVG(s * m)", "STDDEV(signed) AS s, MIN(small) AS m"): (
        clamped("signed", -5, 3, released=False),
        clamped("what is made of STDDEV(signed) of a unit and MIN(small) of a unit", 0, 30),
    ),
    PER_WORD.format("SUM(m)", "MAX(small) AS m"): (clamped("MAX(small) of a group", 0, 5),),
    PER_UNIT.format("SUM(a)", "SUM(signed) AS a"): (
        clamped("signed", -5, 3, released=False),
        clamped("SUM(signed) of a unit", -15, 9),
    ),
    "SELECT SUM(small) FROM (SELECT pid, small, COUNT(*) FROM visits WHERE small > 0 GROUP BY pid, small) AS t": (
        clamped("small", None, 5),
    ),
    "SELECT AVG((SELECT AVG(small) FROM visits WHERE pid = p.id)) FROM people AS p": (UNDER,),
    "SELECT AVG((SELECT MAX(small) FROM visits WHERE pid = p.id)) FROM people AS p": (
        clamped("MAX(small) of a unit", 0, 5),
    ),
    # Unions.
    BOTH.format("SUM(x)"): (clamped("small or above", 0, 1010),),
    BOTH.format("SUM(y)"): (clamped("signed", -5, 3),),
}


@pytest.mark.parametrize("text", CLAMPED)
def test_values_that_may_lie_beyond_their_ends_are_clamped(text: str) -> None:
    (plan,) = planned(hand_world(), text)
    assert clamped_values(plan.core) == CLAMPED[text]


def test_a_decimal_has_as_many_digits_as_its_type() -> None:
    assert _of_type(SqlType("decimal", 4, 2)) == Interval(Fraction(-9999, 100), Fraction(9999, 100))
    assert _of_type(SqlType("decimal", 2, 0)) == Interval(Fraction(-99), Fraction(99))
    assert _of_type(SqlType("integer")) == EVERYTHING
