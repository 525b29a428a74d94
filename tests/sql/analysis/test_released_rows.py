"""What is known of the noise of a core that reads released rows: these rows choose whole groups,
or anything else.
"""

from __future__ import annotations

import pytest
from hand_world import hand_world
from neighbours import planned

from dpsql.sql.analysis.released_rows import known_after
from dpsql.sql.ir.aggregate_properties import KnownNoise

GRADES = (
    "people JOIN (SELECT grade AS g, COUNT(*) AS n FROM people GROUP BY grade) AS t ON grade = g"
)
#: Statements of which the last core reads what the first one releases.
KNOWN = {
    # Released rows choose groups by keys, by what is equal to keys,
    # and by columns of the one row # that has these.
    f"SELECT grade, COUNT(*) FROM {GRADES} GROUP BY grade": KnownNoise.ENDS,
    f"SELECT g, SUM(above) FROM {GRADES} GROUP BY g": KnownNoise.ENDS,
    f"SELECT grade, COUNT(*) FROM {GRADES} AND n > 5 GROUP BY grade": KnownNoise.ENDS,
    f"SELECT grade, COUNT(*) FROM {GRADES} WHERE n BETWEEN 2 AND 9 AND above > 1000 GROUP BY grade": KnownNoise.ENDS,
    f"SELECT grade, above, COUNT(*) FROM {GRADES} AND n > above GROUP BY grade, above": KnownNoise.ENDS,
    "SELECT word, COUNT(*) FROM visits WHERE word IN (SELECT word FROM visits GROUP BY word HAVING COUNT(*) > 5) "
    "GROUP BY word": KnownNoise.ENDS,
    f"SELECT grade, region, COUNT(*) FROM {GRADES} JOIN places ON code = word GROUP BY grade, region": KnownNoise.ENDS,
    "SELECT small, SUM(r) FROM (SELECT pid, small, COUNT(*) AS r FROM visits GROUP BY pid, small) AS u JOIN "
    "(SELECT small AS s, COUNT(*) AS n FROM visits GROUP BY small) AS t ON small = s AND n > 5 GROUP BY small": (
        KnownNoise.ENDS
    ),
    # They choose rows inside of groups.
    f"SELECT grade, COUNT(*) FROM {GRADES} AND n > above GROUP BY grade": KnownNoise.NOTHING,
    f"SELECT word, COUNT(*) FROM {GRADES} GROUP BY word": KnownNoise.NOTHING,
    f"SELECT word, COUNT(*) FROM {GRADES} WHERE n > 5 AND word <> grade GROUP BY word": KnownNoise.NOTHING,
    # Their numbers are added up, or are keys.
    f"SELECT grade, SUM(LEAST(GREATEST(n, 0), 9)) FROM {GRADES} GROUP BY grade": KnownNoise.NOTHING,
    f"SELECT n, COUNT(*) FROM {GRADES} GROUP BY n": KnownNoise.NOTHING,
    # Totals, and groups that the schema or a public table lists, are shown whatever they choose.
    "SELECT grade, COUNT(*) FROM people WHERE grade IN (SELECT grade FROM people GROUP BY grade HAVING COUNT(*) > 5) "
    "GROUP BY grade": KnownNoise.NOTHING,
    "SELECT code, COUNT(*) FROM visits JOIN places ON code = word WHERE code IN "
    "(SELECT word FROM visits GROUP BY word HAVING COUNT(*) > 5) GROUP BY code": KnownNoise.NOTHING,
    f"SELECT COUNT(*) FROM {GRADES} AND n > 5": KnownNoise.NOTHING,
}


@pytest.mark.parametrize("text", KNOWN)
def test_what_is_known_after_released_rows(text: str) -> None:
    first, last = planned(hand_world(), text)
    assert known_after(first.core) is KnownNoise.FORM
    assert known_after(last.core) is KNOWN[text]
