"""Statistics of moments: what is measured for them, what DuckDB says,
and how often their intervals hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import duckdb
import numpy as np
import pytest
from databases import without_noise

from dpsql.planning.cells_in_words import cell_in_words
from dpsql.planning.estimators.moment_intervals import moment_interval
from dpsql.planning.estimators.moments import CentredVariable, MomentEstimate, statistic
from dpsql.schema import loads
from dpsql.session import Session, open_session
from dpsql.sql.ir.aggregate_properties import Statistic
from dpsql.sql.ir.core import ProductSum

SCHEMA = """
name = "trial"
source = "{source}"
[privacy]
unit = "people.person"
epsilon = 100
delta = {delta}
query_epsilon = 1
[tables.people]
key = "person"
max_rows_per_unit = {rows}
[tables.people.columns]
person = {{ type = "integer" }}
arm = {{ type = "text", values = ["a", "b"] }}
age = {{ type = "integer", bounds = [18, 98] }}
dose = {{ type = "double", bounds = [-2, 14], nullable = true }}
paid = {{ type = "decimal(15,2)", bounds = [0, 900000], nullable = true }}
well = {{ type = "boolean", nullable = true }}
born = {{ type = "date", bounds = [1940-01-01, 2010-01-01] }}
seen = {{ type = "date", bounds = [2020-01-01, 2024-01-01] }}
[tables.visits]
references = {{ person = "people.person" }}
max_rows_per_unit = 9
[tables.visits.columns]
person = {{ type = "integer" }}
visit = {{ type = "integer", bounds = [1, 9] }}
cost = {{ type = "decimal(8,2)", bounds = [0, 40], nullable = true }}
"""
STATISTICS = (
    "VAR_POP(age)",
    "VAR_SAMP(dose)",
    "VARIANCE(paid)",
    "STDDEV_POP(age)",
    "STDDEV_SAMP(paid)",
    "STDDEV(dose)",
    "COVAR_POP(dose, age)",
    "COVAR_SAMP(paid, dose)",
    "CORR(dose, age)",
    "CORR(paid, dose)",
    "CORR(age, age)",
    "COVAR_POP(age, age)",
    "REGR_SLOPE(dose, age)",
    "REGR_SLOPE(paid, dose)",
    "REGR_INTERCEPT(dose, age)",
    "REGR_R2(paid, dose)",
    "REGR_COUNT(paid, dose)",
    "REGR_AVGX(dose, age)",
    "REGR_AVGY(paid, dose)",
    "REGR_SXX(dose, age)",
    "REGR_SYY(paid, dose)",
    "REGR_SXY(dose, age)",
    "VAR_POP(seen - born)",
    "CORR(age, seen - born)",
    "AVG(seen - born)",
    "REGR_SLOPE(dose * 2, ln(age))",
    "SUM(paid)",
    "BOOL_OR(age < 19)",
    "BOOL_AND(age >= 18)",
    "BOOL_AND(well)",
    "BOOL_OR(dose > 3)",
    "COUNT_IF(well)",
)
REGRESSION = (
    "CORR",
    "REGR_SLOPE",
    "REGR_INTERCEPT",
    "REGR_R2",
    "REGR_COUNT",
    "REGR_AVGX",
    "REGR_AVGY",
    "COVAR_SAMP",
)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database that all sessions of these tests read."""
    folder = tmp_path_factory.mktemp("people")
    random = Random(7)
    table = []
    for person in range(1, 401):
        age = random.randint(18, 98)
        dose = None if random.random() < 0.1 else round(age / 20 + random.gauss(2, 0.7), 3)
        paid = (
            None
            if random.random() < 0.1
            else round((dose or 0) * 40_000 + random.random() * 90_000, 2)
        )
        well = random.choice([True, False, None])
        born, seen = (
            f"19{random.randint(40, 99)}-0{random.randint(1, 9)}-11",
            f"202{random.randint(0, 3)}-05-30",
        )
        table.append((person, random.choice("ab"), age, dose, paid, well, born, seen))
    with duckdb.connect(str(folder / "trial.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people(person INTEGER, arm VARCHAR, age INTEGER, dose DOUBLE, "
            "paid DECIMAL(15,2), well BOOLEAN, born DATE, seen DATE)"
        )
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)", table)
        visits = [
            (person, visit, random.choice([None, round(random.random() * 40, 2), 12.5]))
            for person in range(1, 401)
            for visit in range(1, random.choice([1, 2, 4, 10]))
        ]
        connection.execute("CREATE TABLE visits(person INTEGER, visit INTEGER, cost DECIMAL(8,2))")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", visits)
    return folder / "trial.duckdb"


@pytest.fixture
def session(people: Path, tmp_path: Path) -> Iterator[Session]:
    opened = open_session(
        loads(SCHEMA.format(source=people, delta="1e-6", rows=1)), ledger=tmp_path / "ledger"
    )
    yield opened
    opened.close()


@pytest.mark.parametrize("suffix", ["", " FILTER (WHERE age > 30)"])
def test_without_noise_a_statistic_is_that_of_duckdb(
    suffix: str, session: Session, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    for each in STATISTICS:
        text = f"SELECT arm, {each}{suffix} AS a FROM people GROUP BY arm ORDER BY arm"
        ours = session.execute(text).rows
        with duckdb.connect(str(people), read_only=True) as connection:
            theirs = connection.execute(text).fetchall()
        for (_, mine), (_, plain) in zip(ours, theirs, strict=True):
            assert isinstance(mine, bool) == isinstance(plain, bool), each
            assert float(mine) == pytest.approx(float(plain), rel=1e-6, abs=1e-9), each  # type: ignore[arg-type]


PER_UNIT = (
    "VAR_POP(cost)",
    "VAR_SAMP(cost)",
    "STDDEV(cost)",
    "STDDEV_POP(visit - 4)",
    "VAR_POP(cost) FILTER (WHERE visit > 2)",
    "MEAN(cost)",
)


def test_without_noise_the_spread_of_each_unit_is_that_of_duckdb(
    session: Session, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of one row have no sample variance, which AVG leaves out."""
    without_noise(monkeypatch)
    rows = "COUNT(*) AS n, BOOL_OR(cost > 30) AS dear, BOOL_AND(cost > 1) AS never_free, COUNT_IF(cost > 9) AS nine"
    for each in PER_UNIT:
        inner = f"SELECT person, {each} AS v, {rows} FROM visits GROUP BY person"
        text = f"SELECT AVG(v), COUNT(v), COUNT_IF(dear), COUNT_IF(never_free), SUM(nine) FROM ({inner}) AS each"
        (ours,) = session.execute(text).rows
        with duckdb.connect(str(people), read_only=True) as connection:
            (theirs,) = connection.execute(text).fetchall()
        assert ours == pytest.approx(theirs, rel=1e-4), each


def test_postgres_spells_bool_and_every(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    without_noise(monkeypatch)
    assert session.execute("SELECT EVERY(age >= 18), EVERY(age > 40) FROM people").rows == [
        (True, False)
    ]


@pytest.mark.parametrize(
    ("aggregates", "cells"),
    [
        ("AVG(age), SUM(age), COUNT(age), VAR_POP(age)", 3),
        ("AVG(age), SUM(age), COUNT(*), VARIANCE(age), STDDEV(age), STDDEV_POP(age), MEAN(age)", 3),
        ("AVG(dose), SUM(dose), COUNT(dose), VAR_SAMP(dose)", 3),
        ("VAR_POP(age)", 3),
        ("COVAR_POP(dose, age)", 4),
        ("CORR(dose, age), CORR(age, dose)", 6),
        (
            ", ".join(f"{name}(dose, age)" for name in REGRESSION)
            + ", VAR_POP(dose), COUNT(dose), SUM(dose)",
            6,
        ),
        ("CORR(paid, dose), REGR_COUNT(dose, paid), REGR_SXX(paid, dose), REGR_SYY(paid, dose)", 6),
        ("CORR(age, age)", 3),
        ("BOOL_AND(well), COUNT(*) FILTER (WHERE NOT well)", 1),
    ],
)
def test_what_statistics_share_is_bought_once(
    aggregates: str, cells: int, session: Session
) -> None:
    (core,) = session.plan(f"SELECT {aggregates} FROM people").cores
    assert len(core.cells) == cells, [cell_in_words(each.contribution.cell) for each in core.cells]


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("rows", [1, 4])
def test_one_row_moves_a_product_by_no_more_than_half_the_largest_square(
    delta: str, rows: int, people: Path, tmp_path: Path
) -> None:
    """Half of A² for squares, A·B for products: A and B are half the width of the bounds."""
    session = open_session(
        loads(SCHEMA.format(source=people, delta=delta, rows=rows)), ledger=tmp_path / "ledger"
    )
    (core,) = session.plan("SELECT CORR(dose, age) FROM people").cores
    found = {}
    for each in core.cells:
        cell, limit = each.contribution.cell, each.contribution.limit
        if isinstance(cell, ProductSum):
            norm = float(limit) if delta == "0" else math.sqrt(limit)
            found[cell.left == cell.right, cell.left] = norm * float(each.contribution.step) / rows
    session.close()
    assert sorted(found.values()) == pytest.approx(
        [32.0, 320.0, 800.0], rel=1e-6
    )  # 8²/2, 8·40, 40²/2


@pytest.mark.parametrize(
    "text",
    [
        "SELECT VAR_POP(DISTINCT age) FROM people",
        "SELECT EVERY(DISTINCT age > 3) FROM people",
        "SELECT CORR(age) FROM people",
        "SELECT EVERY(age) FROM people",
        "SELECT VAR_POP(arm) FROM people",
        "SELECT VAR_POP(age, dose) FROM people",
        "SELECT CORR(age, person) FROM people",
    ],
)
def test_refused(text: str, session: Session) -> None:
    with pytest.raises(Exception, match=r"E_(AGG|TYPE|BOUNDS|PARSE)"):
        session.plan(text)


def test_answers_lie_where_they_can(session: Session) -> None:
    """With noise, on a few rows: no negative variance, no correlation beyond ±1,
    no interval beyond them.
    """
    seen = 0
    for number in range(20):
        session.epsilon = Fraction(1 + number, 4)  # another price is another release
        result = session.execute(
            "SELECT VAR_POP(age), STDDEV(age), CORR(dose, age), REGR_R2(dose, age), "
            "BOOL_OR(well), REGR_SLOPE(dose, age) FROM people WHERE age < 25"
        )
        values, bars = result.rows[0], result.intervals[0]
        ends = ((0, 40**2), (0, 40 * math.sqrt(2)), (-1, 1), (0, 1))
        for value, bar, (least, most) in zip(values, bars, ends, strict=False):
            assert (value is None) == (bar is None), (
                "what may have no rows is NULL, without an interval"
            )
            if value is not None and bar is not None:
                seen += 1
                assert least <= value <= most and bar[0] <= bar[1]  # type: ignore[operator]
        for bar, (least, most) in ((bars[0], (0, 1600)), (bars[2], (-1, 1))):
            assert bar is None or (bar[0] >= least and bar[1] <= most)
        assert isinstance(values[4], bool) and bars[4] is None
    assert seen


def test_bool_and_is_true_unless_counterexamples_are_clear(session: Session) -> None:
    """All-true groups are called true as often as the interval of a count of nothing holds 0."""
    answers = []
    session.set("dpsql.reuse", "off")
    for number in range(60):
        session.epsilon = 1 + Fraction(number, 10_000)  # another price is another release
        text = "SELECT BOOL_AND(age >= 18), BOOL_AND(age > 70), BOOL_OR(age < 18) FROM people"
        answers += session.execute(text).rows
    assert len(set(answers)) > 1
    first, second, third = zip(*answers, strict=True)
    assert (
        sum(first) >= 40 and sum(third) <= 20
    )  # a false alarm below 1e-9: each is right with 97.5 %
    assert sum(second) == 0


def test_explain_says_what_to_expect(session: Session) -> None:
    said = str(
        session.explain(
            "SELECT AVG(age) AS a, VAR_POP(age) AS v, STDDEV(age) AS s, CORR(dose, age) AS c FROM people"
        )
    )
    assert (
        said.count("sum of squares from the middle of the bounds") == 3
    )  # of age, of age where there is a dose, of dose
    for name in "avsc":
        assert re.search(
            rf"column {name}: (±|nothing is told)[ 0-9.e+]*with 1,000 rows, ± [0-9.e-]+ with 100,000",
            said,
        ), said


#: Moments of n rows around known means, in a unit of 1 for each variable.
X = CentredVariable(1, 3, Fraction(3), Fraction(1), Fraction(1, 2))
Y = CentredVariable(2, 4, Fraction(5), Fraction(1), Fraction(1, 2))
LOOKED_AT = tuple(
    each for each in Statistic if each not in (Statistic.STDDEV_POP, Statistic.COVAR_SAMP)
)
DRAWS = 600


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("rows", "correlation"), [(20, 0.5), (150, 0.0), (1_000, 0.9), (5_000, 0.3)]
)
def test_intervals_hold_as_often_as_they_say(law: str, rows: int, correlation: float) -> None:
    """Measured coverage is 94 % to 100 %; it must be above 89 % (a false alarm below 1e-9), and
    without noise there is none; with half the noise's widths it must fall below 89 %."""
    random = np.random.default_rng(rows)
    x = np.clip(random.normal(0.1, 0.25, rows), -1, 1)
    y = np.clip(
        correlation * x + math.sqrt(1 - correlation**2) * random.normal(0, 0.25, rows), -1, 1
    )
    true = np.array(
        [rows, x.sum(), y.sum(), (x * x).sum() - rows / 2, (y * y).sum() - rows / 2, (x * y).sum()]
    )
    scale = np.array([1, 1, 1, 0.5, 0.5, 1]) * (6 if law == "laplace" else math.sqrt(6))
    drawn = random.laplace(size=(DRAWS, 6)) if law == "laplace" else random.normal(size=(DRAWS, 6))
    halves = scale * (math.log(20) if law == "laplace" else 1.96)
    for name in LOOKED_AT:
        moment = (
            MomentEstimate(name, 0, X)
            if name.startswith(("var", "std"))
            else MomentEstimate(name, 0, X, Y, 5)
        )
        exact = float(statistic(moment, [np.array([cell]) for cell in true])[0])

        def covered(
            widths: np.ndarray, moment: MomentEstimate = moment, exact: float = exact
        ) -> int:
            ends = [
                moment_interval(
                    moment,
                    [
                        (Fraction(float(c)), Fraction(float(w)))
                        for c, w in zip(cells, widths, strict=True)
                    ],
                )
                for cells in true + drawn * scale
            ]
            return sum(low - 1e-9 <= exact <= high + 1e-9 for low, high in ends)

        assert covered(halves) >= 0.89 * DRAWS, name
        if rows == 5_000:
            assert covered(halves / 2) < 0.89 * DRAWS, name
