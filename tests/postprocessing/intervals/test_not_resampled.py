"""Released values whose noise is not drawn again (maps, lists, modes, truth values): nothing is
claimed of what is made of them, and what stands beside them has its interval at no cost of theirs.
"""

from __future__ import annotations

import math

import pytest

from dpsql.errors import PostProcessingFailed
from dpsql.planning.estimators.linear_forms import EVERYTHING
from dpsql.postprocessing.intervals.exact_forms import _through_function
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.session import Session


@pytest.mark.parametrize(
    "number",
    [
        "HISTOGRAM(male)[TRUE]",
        "LIST_SUM(MAP_VALUES(HISTOGRAM(male))) / COUNT(*)",
        "QUANTILE_CONT(age, [0.25, 0.5])[1]",
        "QUANTILE_CONT(age, [0.25, 0.5])[1] * COUNT(*)",
        "MODE(age) + COUNT(*)",
        "CASE WHEN BOOL_OR(male) THEN COUNT(*) ELSE 0 END",
        "DP_CLIP(age) * COUNT(*)",
    ],
)
def test_what_is_made_of_it_has_no_interval(session: Session, number: str) -> None:
    session.execute("SET dpsql.epsilon = 0.01")
    result = session.execute(f"SELECT {number} AS x, SQRT(COUNT(*)) AS n FROM patients")
    assert result.intervals[0][0] is None
    assert result.intervals[0][1] is not None


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT male, HISTOGRAM(case_id % 200) AS h, SQRT(COUNT(*)) + LN(SUM(age)) AS x FROM patients GROUP BY male",
        "SELECT male, HISTOGRAM(case_id % 200) AS h, SQRT(COUNT(*)) AS x FROM patients GROUP BY male",
        "SELECT k, h, n / SUM(n) OVER () FROM (SELECT male k, HISTOGRAM(age) h, COUNT(*) n FROM patients GROUP BY 1)",
    ],
)
def test_what_stands_beside_a_map_is_resampled_without_it(
    session: Session, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled: list[object] = []
    insert = Sandbox.insert

    def seen(
        self: Sandbox,
        name: str,
        data: list[list[object]],
        types: dict[str, str],
        schema: str = "released",
    ) -> None:
        if "samples" in name or "points" in name:
            sampled.extend(value for column in data for value in column)
        insert(self, name, data, types, schema)

    monkeypatch.setattr(Sandbox, "insert", seen)
    result = session.execute(statement)
    assert sampled and not any(isinstance(value, dict) for value in sampled)
    assert all(row[2] is not None for row in result.intervals)


GROUPED = "SELECT male AS k, HISTOGRAM(age) AS h, BOOL_OR(age > 50) AS old, COUNT(*) AS n FROM patients GROUP BY 1"


@pytest.mark.parametrize(
    ("statement", "has_interval"),
    [
        (f"SELECT SUM(h[50] / n) FROM ({GROUPED}) AS t", False),
        (f"SELECT SUM(n) FROM ({GROUPED}) WHERE old", False),
        (
            f"SELECT SUM(CASE WHEN b THEN n END) FROM (SELECT old AS b, n FROM ({GROUPED}) AS t) AS u",
            False,
        ),
        (f"SELECT SUM(c) FROM ({GROUPED}) AS t(a, b, o, c)", True),
        (f"SELECT n / SUM(n) OVER (), h, old FROM ({GROUPED}) AS t ORDER BY old", True),
        (f"SELECT SUM(n) FROM ({GROUPED}) AS t", True),
    ],
)
def test_what_several_rows_make_with_it_has_no_interval(
    session: Session, statement: str, has_interval: bool
) -> None:
    result = session.execute(statement)
    assert all((row[0] is not None) is has_interval for row in result.intervals)


@pytest.mark.parametrize("function", ["SQRT", "LN", "LOG10"])
def test_an_end_is_a_number_where_the_function_has_none_for_a_part_of_the_interval(
    session: Session, function: str
) -> None:
    session.execute("SET dpsql.epsilon = 0.01")
    for bound in range(196, 200):
        statement = f"SELECT {function}(COUNT(*)) AS x FROM patients WHERE age > {bound - 100}"
        try:
            ends = session.execute(statement).intervals[0][0]
        except PostProcessingFailed:  # DuckDB 1 has no value for a number below 0
            continue
        assert ends is None or not any(math.isnan(end) for end in ends)


def test_where_a_function_has_no_value_at_an_end_nothing_is_known(session: Session) -> None:
    sandbox = Sandbox(session.schema, lambda _: ())
    ends = {0: (-3.0, 4.0), 1: (4.0, 9.0), 2: (-math.inf, 1.0)}
    assert _through_function(sandbox, 'SQRT("inner")', ends) == {
        0: EVERYTHING,
        1: (2.0, 3.0),
        2: EVERYTHING,
    }
    assert _through_function(sandbox, '10 - "inner"', ends) == {
        0: (6.0, 13.0),
        1: (1.0, 6.0),
        2: (9.0, math.inf),
    }
    sandbox.close()
