"""DP_CLIP: every row has the place of its size, whatever its value,
and what is chosen leaves few rows above.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from exact_rows import exact_rows
from seeded_entropy import Seeded

import dpsql
from dpsql.errors import DatabaseError
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.session import open_session

SCHEMA = """
name = "incomes"
source = "incomes.duckdb"
[privacy]
unit = "people.person"
epsilon = 1000
delta = {delta}
query_epsilon = 1
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 1000000], nullable = true }}
income = {{ type = "double", bounds = [-1000000, 100000000], nullable = true }}
paid = {{ type = "decimal(12,2)", bounds = [0, 10000000] }}
huge = {{ type = "double", bounds = [0, 1e40] }}
town = {{ type = "text", values = ["a", "b"] }}
"""
#: Incomes far below their bounds, with every strange value among them.
ROWS = """
CREATE TABLE people AS SELECT CAST(i AS INTEGER) AS person, CAST(i % 90 AS INTEGER) AS age,
    CAST(exp(3 + 2.0 * ((i * 7919) % 10007) / 10007) AS DOUBLE) AS income,
    CAST((i * 7919) % 5000 / 100 AS DECIMAL(12, 2)) AS paid, ['a', 'b'][1 + i % 2] AS town,
    1e30::DOUBLE AS huge
FROM range(20000) AS t(i);
INSERT INTO people VALUES (-1, NULL, 'nan', 0, 'a', 1), (-2, 5, 'inf', 0, 'a', 1), (-3, 5, '-inf', 0, 'a', 1),
    (-4, 5, NULL, 0, 'a', 1), (-5, 5, -0.0, 0, 'a', 1), (-6, 5, 1e308, 0, 'a', 1), (-7, 5, 5e-324, 0, 'a', 1);
"""


@pytest.fixture(params=["0", "1e-6"])
def schema(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "incomes.duckdb")) as connection:
        connection.execute(ROWS)
    (tmp_path / "incomes.toml").write_text(SCHEMA.format(delta=request.param))
    return tmp_path / "incomes.toml"


def exact(schema: Path, text: str) -> float:
    with duckdb.connect(str(schema.with_name("incomes.duckdb")), read_only=True) as connection:
        return connection.execute(text).fetchall()[0][0]


@pytest.mark.parametrize("column", ["age", "income", "paid"])
def test_few_rows_are_above_the_size_and_not_fewer_than_need_be(schema: Path, column: str) -> None:
    """8 rows of one unit each at ε = 1, but for noise of scales of 1.4 and 3.3."""
    session = open_session(schema, "ada")
    session._execution.entropy = Seeded(5)
    ((size,),) = session.execute(f"SELECT DP_CLIP({column}) FROM people").rows
    session.close()
    strange = 4 if column == "income" else 0
    counted = "SELECT COUNT(*) FROM people WHERE ABS({0}) > {1} OR isnan(CAST({0} AS DOUBLE))"
    above, before = (exact(schema, counted.format(column, each)) for each in (size, size / 1.1**2))
    assert above <= 8 + strange + 100 and before >= 1, size
    assert size < {"age": 120, "income": 200, "paid": 65}[column]


def test_every_row_has_the_place_of_its_size(schema: Path) -> None:
    """What the engine counts: each row at the first size that it does not exceed,
    strange values at the ends.
    """
    session = open_session(schema, "ada")
    (core,) = session.plan("SELECT DP_CLIP(income), DP_CLIP(age), DP_CLIP(paid) FROM people").cores
    session.close()
    sizes = [aggregate.values for aggregate in core.core.aggregates]
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{schema.with_name('incomes.duckdb')}' AS source (READ_ONLY)")
        (lists,) = exact_rows(connection, core)
        rows = connection.execute("SELECT income, age, paid FROM source.people").fetchall()
    for place, values in enumerate(sizes):
        bins, counts = lists[place]
        step = core.histograms[place].contribution.fine
        expected: dict[int, int] = {}
        for row in rows:
            at = _place(row[place], values)
            expected[at] = expected.get(at, 0) + step
        found = dict(zip(bins, counts, strict=True))
        off = (
            sum(abs(found.get(at, 0) - expected.get(at, 0)) for at in found.keys() | expected)
            // step
        )
        assert off <= 2 * len(values), "but for values that are a size, up to the last bit"
        assert min(found) >= 0 and max(found) < len(values)


def _place(value: object, sizes: tuple[object, ...]) -> int:
    number = 0.0 if value is None else abs(float(value))  # type: ignore[arg-type]
    if not math.isfinite(number):
        return len(sizes) - 1
    ratio = number / float(sizes[0])  # type: ignore[arg-type]
    return min(math.ceil(math.log(max(ratio, 1)) / math.log(1.1) - 1e-12), len(sizes) - 1)


def test_a_sum_is_clipped_at_it_in_one_statement(schema: Path) -> None:
    """Declared bounds of 10⁸ cost a noise of 10⁸; found ones of about 150, next to nothing."""
    clipped = (
        "WITH c AS (SELECT DP_CLIP(income) AS c FROM people WHERE income < 1000) "
        "SELECT c.c * SUM(GREATEST(LEAST(income / c.c, 1), -1)) AS s FROM people, c WHERE income < 1000 GROUP BY c.c"
    )
    with dpsql.connect(str(schema), analyst="ada") as connection:
        cursor = connection.execute(clipped)
        ((found,),) = cursor.fetchall()
        ((ends,),) = cursor.intervals
        wide = connection.explain("SELECT SUM(income) FROM people")
    true = exact(schema, "SELECT SUM(income) FROM people WHERE abs(income) < 1000")
    assert abs(found - true) < 0.02 * true
    assert ends is not None and 0 < ends[1] - ends[0] < 5_000
    assert wide.cells[0].half_width > 10**8


TOTALS = "(SELECT person, SUM(income) AS t FROM people WHERE income < 1000 GROUP BY person) totals"


@pytest.mark.parametrize(
    "refused",
    [
        "SELECT SUM(DP_CLIP(income)) FROM people WHERE income < 1000",
        "SELECT SUM(LEAST(income, DP_CLIP(income))) FROM people WHERE income < 1000",
        f"SELECT SUM(DP_CLIP(t)) FROM {TOTALS}",
        f"SELECT SUM(t) FROM {TOTALS.replace('SUM', 'DP_CLIP')}",
        "SELECT SUM(DP_CLIP(income)) FILTER (WHERE income < 1000) FROM people",
        "SELECT SUM(LEAST(income, DP_CLIP(income))) FILTER (WHERE income < 1000) FROM people",
        "SELECT SUM(t) FROM (SELECT person, DP_CLIP(income) FILTER (WHERE income < 1000) AS t FROM people GROUP BY 1)",
    ],
)
def test_a_size_inside_of_a_sum_is_refused_with_the_statement_that_finds_it_first(
    schema: Path, refused: str
) -> None:
    with dpsql.connect(str(schema), analyst="ada") as connection:
        with pytest.raises(dpsql.Error) as caught:
            connection.execute(refused)
        assert isinstance(caught.value, DatabaseError) and caught.value.hint is not None
        cursor = connection.execute(caught.value.hint)
        ((found,),) = cursor.fetchall()
        ((ends,),) = cursor.intervals
    true = exact(schema, "SELECT SUM(income) FROM people WHERE abs(income) < 1000")
    assert isinstance(found, float) and abs(found - true) < 0.02 * true
    assert ends is not None and 0 < ends[1] - ends[0] < 5_000


def test_each_group_has_a_size_of_its_own(schema: Path) -> None:
    with dpsql.connect(str(schema), analyst="ada") as connection:
        rows = connection.execute(
            "SELECT town, DP_CLIP(age), COUNT(*) FROM people GROUP BY town"
        ).fetchall()
        assert [town for town, _, _ in rows] == ["a", "b"] and all(
            40 < size < 120 for _, size, _ in rows
        )
        first = connection.execute("SELECT DP_CLIP(paid) AS c FROM people").fetchall()
        again = connection.execute("SELECT DP_CLIP(paid) AS c FROM people")
        assert again.fetchall() == first and again.price.stored


def test_a_size_beyond_the_largest_integer_is_a_number_all_the_same(schema: Path) -> None:
    """What is paid for is given: sizes that no BIGINT holds are doubles."""
    session = open_session(schema, "ada")
    session.epsilon = Fraction(10)
    ((size,),) = session.execute("SELECT DP_CLIP(huge) FROM people").rows
    ((same,),) = session.execute(
        "SELECT MAX(c) FROM (SELECT DP_CLIP(huge) AS c FROM people) t"
    ).rows
    session.close()
    assert isinstance(size, float) and isinstance(same, float) and size > 1e29


def test_a_scan_costs_a_quarter_of_it_and_the_sum(schema: Path) -> None:
    session = open_session(schema, "ada")
    clipped = (
        "WITH c AS (SELECT DP_CLIP(income) AS c FROM people) "
        "SELECT c.c * SUM(GREATEST(LEAST(income / c.c, 1), -1)) AS s FROM people, c GROUP BY c.c"
    )
    first, second = session.plan(clipped).cores
    beside = session.plan("SELECT DP_CLIP(income), COUNT(*), SUM(age) FROM people").cores[0]
    alone = session.plan("SELECT DP_CLIP(income) FROM people").cores[0]
    session.close()

    def paid(*costs: object) -> Fraction:
        return sum(
            (each.rho if each.epsilon is None else each.epsilon for each in costs), Fraction(0)
        )  # type: ignore[attr-defined]

    whole = paid(first.cost, second.cost)
    assert whole == paid(alone.cost) and paid(first.cost) == whole / 4
    assert paid(beside.histograms[0].mechanism.cost) == whole / 7 and paid(beside.cost) == whole
    scan = first.histograms[0].mechanism
    assert (
        isinstance(scan, ClippingBoundSearch)
        and scan.each.threshold_noise.scale * 7 == scan.each.query_noise.scale * 3
    )
