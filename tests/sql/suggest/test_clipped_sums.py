"""Where DP_CLIP stands inside a SUM, the suggested statement is answered,
and clips the rows that are added up.
"""

from __future__ import annotations

import pytest
import sqlglot
from untouched import planning_session

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.session import Session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("clipped") / "sums.ledger")


OLDEST = "30.0.1"
CLIPPED = "SUM(DP_CLIP(value)) FILTER (WHERE day > 3)"
SIZE = "(value) FILTER(WHERE day > 3)"
TOTALS = "(SELECT patient_id, DP_CLIP(value) FILTER (WHERE day > 3) AS t FROM labs GROUP BY patient_id) AS u"
JOINED = "labs AS l, patients AS p WHERE l.patient_id = p.patient_id GROUP BY l.test"

#: What is refused, and each size that is to be found, with its FILTER.
FORMS = (
    (f"SELECT {CLIPPED} FROM labs", [SIZE]),
    (
        f"SELECT AVG(DP_CLIP(value)) FILTER (WHERE day > 3) AS a, {CLIPPED} AS b, SUM(DP_CLIP(value)) AS c FROM labs",
        [SIZE, "(value) AS"],
    ),
    ("SELECT SUM(DP_CLIP(value) FILTER (WHERE day > 3)) FROM labs", [SIZE]),
    (
        "SELECT SUM(LEAST(value, DP_CLIP(value) FILTER (WHERE day > 3))) FILTER (WHERE test = 'hdl') FROM labs",
        [SIZE],
    ),
    (f"SELECT SUM(t) FILTER (WHERE t > 3) FROM {TOTALS}", ["(t) FILTER(WHERE t > 3)"]),
    (
        f"SELECT SUM(DP_CLIP(l.value)) FILTER (WHERE p.age > 50) FROM {JOINED}",
        ["(l.value) FILTER(WHERE p.age > 50)"],
    ),
    (f"SELECT test, {CLIPPED} AS s FROM labs GROUP BY ALL", [SIZE]),
    (f"SELECT test FROM labs GROUP BY test HAVING {CLIPPED} > 5 ORDER BY {CLIPPED}", [SIZE]),
    (f"WITH sizes AS (SELECT * FROM labs WHERE day < 9) SELECT {CLIPPED} FROM sizes", [SIZE]),
    (f"SELECT {CLIPPED} FROM labs AS sizes", [SIZE]),
    (
        "SELECT SUM(DP_CLIP(value)) FILTER (WHERE day > (SELECT AVG(day) FROM labs)) FROM labs",
        ["(value) FILTER(WHERE day > (SELECT AVG(day) FROM labs))"],
    ),
)


@pytest.mark.parametrize(("refused", "sizes"), FORMS)
def test_a_suggestion_is_answered_and_finds_the_size_of_the_rows_that_are_added_up(
    session: Session, refused: str, sizes: list[str]
) -> None:
    hint = suggestion(session, refused)
    session.plan(hint)
    assert hint.count("DP_CLIP") == len(sizes)
    for size in sizes:
        assert f"DP_CLIP{size}" in hint
    for condition in (part.split(")")[0] for part in refused.split("FILTER (")[1:]):
        assert f"FILTER({condition}" in hint


def test_a_suggestion_under_rollup_is_answered(session: Session) -> None:
    """The oldest parser writes a ROLLUP beside a key otherwise, another question:
    nothing is suggested.
    """
    refused = f"SELECT test, {CLIPPED} AS s FROM labs GROUP BY ROLLUP (test)"
    if sqlglot.__version__ == OLDEST:
        with pytest.raises(Refused) as caught:
            session.plan(refused)
        assert caught.value.hint is None
    else:
        session.plan(suggestion(session, refused))


@pytest.mark.parametrize(
    ("refused", "meant"),
    [
        (f"SELECT 100 / {CLIPPED} FROM labs", "100 / (sizes.size1 * SUM("),
        (f"SELECT -{CLIPPED} FROM labs", "-(sizes.size1 * SUM("),
        (f"SELECT {CLIPPED} > 5 AS b FROM labs", "(sizes.size1 * SUM("),
    ],
)
def test_the_product_is_one_operand_of_what_is_around_it(
    session: Session, refused: str, meant: str
) -> None:
    hint = suggestion(session, refused)
    assert meant in hint
    session.plan(hint)


def suggestion(session: Session, refused: str) -> str:
    """What is to be written instead."""
    with pytest.raises(DatabaseError) as caught:
        session.plan(refused)
    assert isinstance(caught.value, Refused | StatementError) and caught.value.hint is not None
    return caught.value.hint
