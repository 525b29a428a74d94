"""Groups with public keys are shown by the evidence of a released count,
and an empty one seldom passes for another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from math import expm1, log1p
from pathlib import Path
from typing import Any

import duckdb
import mpmath
import pytest
from scipy import stats

from dpsql.engines.exact_rows import ExactRows
from dpsql.planning.plan import APPEARS, CorePlan, GroupPresence, MeasuredCell
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.release.noise_addition import release
from dpsql.session import Session
from dpsql.session.database import Database, open_database
from dpsql.sql.ir.core import RowCount, UnitCount

SCHEMA = """
name = "people"
source = "data"
ledger = "people.ledger"
[privacy]
unit = "people.id"
epsilon = {epsilon}
{promise}
query_epsilon = {price}
[tables.people]
key = "id"
max_rows_per_unit = 1
references = {{ place = "places.place" }}
[tables.people.columns]
id = {{ type = "integer" }}
kind = {{ type = "text", values = ["a", "b", "c"] }}
flag = {{ type = "boolean" }}
day = {{ type = "date", bounds = [2024-01-01, 2024-03-31] }}
x = {{ type = "double", bounds = [0, 100], nullable = false }}
y = {{ type = "integer", bounds = [0, 9], nullable = true }}
place = {{ type = "text" }}
[tables.visits]
max_rows_per_unit = 20
references = {{ id = "people.id" }}
[tables.visits.columns]
id = {{ type = "integer" }}
at = {{ type = "date", bounds = [2024-01-01, 2024-12-31] }}
cost = {{ type = "double", bounds = [0, 10], nullable = false }}
[tables.clicks]
max_rows_per_unit = 400
references = {{ id = "people.id" }}
[tables.clicks.columns]
id = {{ type = "integer" }}
at = {{ type = "date", bounds = [2024-01-01, 2024-12-31] }}
[tables.places]
public = true
key = "place"
[tables.places.columns]
place = {{ type = "text" }}
region = {{ type = "text" }}
"""
#: Nobody is of kind c, nor came in March, nor from the west; all have the flag.
TABLES = {
    "people": """SELECT i AS id, ['a', 'b'][1 + i % 2] AS kind, true AS flag, DATE '2024-01-01' + (i % 60)::INTEGER AS
        day, (i % 100)::DOUBLE AS x, CASE WHEN i % 2 = 0 THEN i % 5 END AS y, ['p', 'q'][1 + i % 2] AS place
        FROM range(300) t(i)""",
    "visits": "SELECT i % 300 AS id, DATE '2024-02-01' + (i % 59)::INTEGER AS at, 1.5::DOUBLE AS cost "
    "FROM range(900) t(i)",
    "clicks": "SELECT i % 300 AS id, DATE '2024-02-01' + (i % 59)::INTEGER AS at FROM range(900) t(i)",
    "places": "SELECT * FROM (VALUES ('p', 'north'), ('q', 'south'), ('r', 'west')) AS t(place, region)",
}
PROMISES = {"L1": "delta = 0", "L2": 'delta = 1e-6\nmechanism = "gaussian"'}
#: What admits many statements priced 10⁸: under zCDP each costs half of the square.
BUDGETS = {"L1": "1e15", "L2": "1e20"}


def _opened(home: Path, promise: str, epsilon: str, price: str) -> Database:
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        for table, rows in TABLES.items():
            connection.execute(f"COPY ({rows}) TO '{home}/data/{table}.parquet'")
    text = SCHEMA.format(promise=PROMISES[promise], epsilon=epsilon, price=price)
    (home / "people.toml").write_text(text, encoding="utf-8")
    return open_database(home / "people.toml")


@pytest.fixture(scope="module", params=PROMISES)
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    with closing(
        _opened(tmp_path_factory.mktemp("ordinary"), request.param, "1e10", "1")
    ) as opened:
        yield opened


@pytest.fixture(scope="module", params=PROMISES)
def exact(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Prices at which noise vanishes, from a budget that admits them."""
    with closing(
        _opened(tmp_path_factory.mktemp("exact"), request.param, BUDGETS[request.param], "1e8")
    ) as opened:
        yield opened


@pytest.fixture
def session(database: Database) -> Session:
    return database.session("ada")


# -- the threshold ---------------------------------------------------------------------------------

NOISES: tuple[Mechanism, ...] = (
    Laplace(1, Fraction(1, 10**9)),
    Laplace(1, Fraction(10)),
    Laplace(7, Fraction(100_003, 7)),
    Gaussian(1, Fraction(1, 10**12)),
    Gaussian(3, Fraction(100)),
    Gaussian(5, Fraction(10**8, 3)),
)


def _reaches(noise: Mechanism, least: int) -> float:
    """The exact probability that one noise reaches the number."""
    with mpmath.workdps(60):
        if isinstance(noise, Laplace):
            q = mpmath.exp(-mpmath.mpf(noise.scale.denominator) / noise.scale.numerator)
            return float(q**least / (1 + q))
        assert isinstance(noise, Gaussian)
        v = mpmath.mpf(noise.variance.numerator) / noise.variance.denominator
        if v > 10**6:  # beyond σ = 1000 the normal law, at half a step
            return float(mpmath.erfc((least - mpmath.mpf(1) / 2) / mpmath.sqrt(2 * v)) / 2)
        reach = int(30 * mpmath.sqrt(v)) + 30
        whole = 1 + 2 * sum(mpmath.exp(-k * k / (2 * v)) for k in range(1, reach))
        return float(sum(mpmath.exp(-k * k / (2 * v)) for k in range(least, least + reach)) / whole)


@pytest.mark.parametrize("candidates", [1, 12, 1_000, 1_000_000])
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_empty_groups_appear_in_one_answer_of_twenty_at_most(
    noise: Mechanism, candidates: int
) -> None:
    """By the exact law; and one step less would be too little,
    but for what the bounds on tails give away.
    """
    least = GroupPresence(0, noise, APPEARS, True).threshold(candidates)
    appears = -expm1(candidates * log1p(-_reaches(noise, least)))
    assert least >= 1 and appears <= 0.05 * (1 + 1e-9)
    if least > 1:
        before = least - 1 - (least > 20)
        assert -expm1(candidates * log1p(-_reaches(noise, before))) > 0.05 * (1 - 1e-3)


#: Statements with counts of their own and without, with one core and with several.
EVIDENT = {
    "rows": "SELECT day, COUNT(*) FROM people GROUP BY day",
    "units": "SELECT MONTH(at) AS m, COUNT(DISTINCT id) FROM visits GROUP BY 1",
    "an average": "SELECT day, AVG(x) FROM people GROUP BY day",
    "a sum": "SELECT MONTH(at) AS m, SUM(cost) FROM visits GROUP BY 1",
    "values": "SELECT day, COUNT(y) FROM people GROUP BY day",
    "a filter": "SELECT day, COUNT(*) FILTER (WHERE x > 3) FROM people GROUP BY day",
    "a median": "SELECT MONTH(day), MEDIAN(x) FROM people GROUP BY 1",
    "keys": "SELECT DISTINCT MONTH(day) FROM people",
    "a public table": "SELECT region, SUM(x) FROM people JOIN places ON people.place = places.place GROUP BY region",
    "a stage": "SELECT AVG(s) FROM (SELECT kind, SUM(x) AS s FROM people GROUP BY kind) AS t",
    "two": "SELECT a.m, n, s FROM (SELECT MONTH(day) AS m, COUNT(*) AS n FROM people GROUP BY 1) AS a "
    "JOIN (SELECT MONTH(at) AS m, SUM(cost) AS s FROM visits GROUP BY 1) AS b ON a.m = b.m",
    "a rollup": "SELECT MONTH(day), kind, SUM(x) FROM people GROUP BY ROLLUP (1, 2)",
}


@pytest.mark.parametrize("name", EVIDENT)
def test_all_evidence_of_an_answer_together_is_wrong_in_one_of_twenty_at_most(
    name: str, session: Session
) -> None:
    session.epsilon = Fraction(1)
    told = [
        core.presence for core in session.plan(EVIDENT[name]).cores if core.presence is not None
    ]
    assert told and sum(each.chance for each in told) <= Fraction(1, 20)


@pytest.mark.parametrize("name", EVIDENT)
def test_where_noise_vanishes_one_row_is_enough(name: str, session: Session) -> None:
    session.epsilon = Fraction(10**8)
    for core in session.plan(EVIDENT[name]).cores:
        if core.presence is not None:
            least = core.presence.threshold(10**6) * core.steps[core.presence.cell]
            assert 0 < least < 1 and core.cells[core.presence.cell].mechanism == core.presence.noise
            assert core.cells[core.presence.cell].contribution.cell in (
                RowCount(None, None),
                UnitCount(None),
            )


@pytest.mark.parametrize("name", EVIDENT)
def test_evidence_is_paid_for_within_the_price(name: str, session: Session) -> None:
    session.epsilon = Fraction(1, 2)
    plan = session.plan(EVIDENT[name])
    pure = session.schema.privacy.delta == 0
    assert (plan.cost.epsilon == Fraction(1, 2)) if pure else (plan.cost.rho == Fraction(1, 8))


def test_a_bought_count_takes_a_tenth_and_one_that_is_asked_for_takes_nothing(
    session: Session,
) -> None:
    session.epsilon = Fraction(1)
    (bought,), (asked,) = (
        session.plan(EVIDENT["a sum"]).cores,
        session.plan(EVIDENT["an average"]).cores,
    )
    assert len(bought.cells) == 2 and len(asked.cells) == 2

    def part(core: CorePlan) -> Fraction:
        assert core.presence is not None
        cost, whole = core.cells[core.presence.cell].mechanism.cost, core.cost
        if cost.epsilon is not None and whole.epsilon is not None:
            return cost.epsilon / whole.epsilon
        return cost.rho / whole.rho

    assert part(bought) == Fraction(1, 10) and part(asked) == Fraction(1, 2)
    session.set("dpsql.empty_groups", "show")
    assert len(session.plan(EVIDENT["a sum"]).cores[0].cells) == 1


def test_where_units_may_have_many_rows_a_count_of_units_tells_of_smaller_groups(
    session: Session,
) -> None:
    session.epsilon = Fraction(1)
    (core,) = session.plan("SELECT at, COUNT(*) FROM clicks GROUP BY at").cores
    assert core.presence is not None
    told, rows = core.cells[core.presence.cell], core.cells[0]
    assert isinstance(rows.contribution.cell, RowCount)

    def spread(cell: MeasuredCell) -> float:
        return float(cell.mechanism.standard_deviation * cell.contribution.step)

    if session.schema.privacy.delta:  # √400 of units to 400 of rows, for a tenth of the price
        assert isinstance(told.contribution.cell, UnitCount) and spread(told) * 3 < spread(rows)
    else:  # 400 of either
        assert told is rows


# -- the release -----------------------------------------------------------------------------------


def _with_groups(core: CorePlan, counts: Sequence[int]) -> ExactRows:
    """Exact rows of groups of such sizes, in steps of the cells."""
    fine = [cell.contribution.fine for cell in core.cells]
    return ExactRows(
        [[(place, *(count * each for each in fine)) for place, count in enumerate(counts)]]
    )


@pytest.mark.parametrize("name", ["rows", "units", "a sum"])
def test_empty_groups_appear_as_seldom_as_is_claimed(name: str, session: Session) -> None:
    """On 600 releases of 40 groups without rows, from seeds;
    they would have to appear in far more to pass by luck.
    """
    session.epsilon = Fraction(1)
    (core,) = session.plan(EVIDENT[name]).cores
    assert core.presence is not None and core.presence.released
    exact = _with_groups(core, [0] * 40)
    seen = sum(bool(release(exact, [core], 0.95).tables[0].keys) for _ in range(600))
    assert stats.binom.sf(seen - 1, 600, 0.05) > 1e-9
    often = replace(core, presence=replace(core.presence, chance=Fraction(9, 10)))
    assert (
        stats.binom.sf(
            sum(bool(release(exact, [often], 0.95).tables[0].keys) for _ in range(600)) - 1,
            600,
            0.05,
        )
        < 1e-9
    )


@pytest.mark.parametrize("name", ["rows", "units", "a sum"])
def test_which_groups_are_released_depends_on_noisy_counts_alone(
    name: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the mechanisms' outputs frozen, groups of any size are shown alike."""
    session.epsilon = Fraction(1)
    (core,) = session.plan(EVIDENT[name]).cores
    assert core.presence is not None
    least = core.presence.threshold(30)
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(
            mechanism,
            "perturb",
            lambda _, values, *, _entropy: [
                least - 15 + n if n >= 15 else -least for n in range(len(values))
            ],
        )
    found = [
        release(_with_groups(core, counts), [core], 0.95).tables[0]
        for counts in ([0] * 30, [0, 10**6] * 15, list(range(30)))
    ]
    assert [row[0] for row in found[0].keys] == list(range(15, 30))
    assert (
        found[0].keys == found[1].keys == found[2].keys
        and found[0].cells == found[1].cells == found[2].cells
    )


# -- the groups ------------------------------------------------------------------------------------

COUNTED = "SELECT kind, COUNT(*) AS n FROM people GROUP BY kind"
MONTHS = "SELECT MONTH(day) AS m, COUNT(*) AS n FROM people GROUP BY 1"
#: How many groups are seen where SQL has some of them only: under auto, show, hide.
GROUPS: dict[str, tuple[int, int, int]] = {
    COUNTED: (3, 3, 2),
    "SELECT kind, SUM(x) AS s FROM people GROUP BY kind": (3, 3, 2),
    f"SELECT * FROM ({COUNTED}) AS v ORDER BY 1 LIMIT 1000": (3, 3, 2),
    f"WITH g AS ({COUNTED}) SELECT kind, n / 2 AS h FROM (SELECT * FROM g WHERE n > -50000) AS t": (
        3,
        3,
        2,
    ),
    f"{COUNTED} UNION ALL {COUNTED.replace('kind', 'flag::TEXT')}": (5, 5, 3),
    f"SELECT COUNT(*) FROM ({COUNTED}) AS v": (2, 3, 2),
    f"SELECT a.kind FROM ({COUNTED}) AS a JOIN ({COUNTED}) AS b ON a.kind = b.kind": (2, 3, 2),
    "SELECT kind, SUM(COUNT(*)) OVER () AS s FROM people GROUP BY kind": (2, 3, 2),
    "SELECT kind, COUNT(*) AS n FROM people GROUP BY kind QUALIFY RANK() OVER (ORDER BY n) < 9": (
        2,
        3,
        2,
    ),
    f"SELECT kind FROM ({COUNTED}) AS v GROUP BY kind": (2, 3, 2),
    f"SELECT (SELECT COUNT(*) FROM ({COUNTED}) AS v) AS n": (2, 3, 2),
    f"SELECT COUNT(DISTINCT kind) FROM ({COUNTED}) AS v": (2, 3, 2),
    f"SELECT COUNT(*) FROM (SELECT p.kind, SUM(x) AS s FROM people p JOIN ({COUNTED}) AS v ON p.kind = v.kind "
    "GROUP BY p.kind) AS t": (2, 3, 2),
    "SELECT flag, COUNT(*) AS n FROM people GROUP BY flag": (2, 2, 1),
    "SELECT x > 1000 AS f, COUNT(*) AS n FROM people GROUP BY 1": (1, 2, 1),
    "SELECT y > 3 AS f, COUNT(*) AS n FROM people GROUP BY 1": (3, 3, 3),
    MONTHS: (2, 3, 2),
    "SELECT MONTH(day) AS m, SUM(x) AS n FROM people GROUP BY 1": (2, 3, 2),
    "SELECT kind, MONTH(day) AS m, COUNT(*) AS n FROM people GROUP BY 1, 2": (4, 9, 4),
    "SELECT MONTH(day) AS m, COUNT(*) AS n FROM people WHERE MONTH(day) IN (1, 3) GROUP BY 1": (
        2,
        2,
        1,
    ),
    "SELECT v.m, COUNT(*) AS n FROM people JOIN (VALUES (1), (3)) AS v(m) ON v.m = MONTH(day) GROUP BY v.m": (
        2,
        2,
        1,
    ),
    "SELECT CASE WHEN x < 50 THEN 'low' WHEN x < 100 THEN 'high' ELSE 'more' END AS c, COUNT(*) AS n FROM people "
    "GROUP BY 1": (2, 3, 2),
    "SELECT UPPER(kind) AS k, COUNT(*) AS n FROM people GROUP BY 1": (2, 3, 2),
    "SELECT region, COUNT(*) AS n FROM people JOIN places ON people.place = places.place GROUP BY region": (
        2,
        3,
        2,
    ),
    "SELECT region, COUNT(p.id) AS n FROM places LEFT JOIN people p ON p.place = places.place GROUP BY region": (
        3,
        3,
        2,
    ),
    "SELECT AVG(n) < 150, COUNT(*) FROM (SELECT region, COUNT(p.id) AS n FROM places LEFT JOIN people p "
    "ON p.place = places.place GROUP BY region) AS t": (1, 1, 1),
    "SELECT day, COUNT(*) AS n FROM people GROUP BY day": (60, 91, 60),
    "SELECT DISTINCT MONTH(day) AS m FROM people": (2, 3, 2),
    "SELECT DISTINCT kind FROM people": (3, 3, 2),
    "SELECT MONTH(day), kind, COUNT(*) FROM people GROUP BY ROLLUP (1, 2)": (7, 13, 7),
    "SELECT kind, flag, COUNT(*) FROM people GROUP BY CUBE (1, 2)": (12, 12, 6),
    "SELECT kind, MONTH(day), SUM(x) FROM people GROUP BY GROUPING SETS ((1), (2))": (5, 6, 4),
    "SELECT COUNT(*) FROM (SELECT kind, flag, COUNT(*) AS n FROM people GROUP BY CUBE (1, 2)) AS v": (
        6,
        12,
        6,
    ),
    f"SELECT v.kind, region FROM ({COUNTED}) AS v CROSS JOIN places": (6, 9, 6),
    f"WITH g AS ({COUNTED}) SELECT kind, n FROM g UNION ALL SELECT 'all', COUNT(*) FROM people WHERE kind IN "
    "(SELECT kind FROM g)": (3, 4, 3),
    "SELECT CASE WHEN x < 50 THEN 'low' ELSE 'high' END, flag, COUNT(*) FROM people GROUP BY ROLLUP (1, 2)": (
        5,
        7,
        5,
    ),
    "SELECT SUM(x) AS s, 1 AS one FROM people WHERE x > 99.5": (1, 1, 1),
}


@pytest.mark.parametrize("text", GROUPS)
def test_groups_are_shown_as_the_setting_says(text: str, exact: Database) -> None:
    session, found = exact.session("ada"), []
    for choice in ("auto", "show", "hide"):
        session.set("dpsql.empty_groups", choice)
        rows: list[Any] = session.execute(text).rows
        found.append(rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else len(rows))
    assert tuple(found) == GROUPS[text]


@pytest.mark.parametrize("seed", range(4))
def test_the_total_of_a_present_part_is_present_and_so_is_the_grand_total(
    seed: int, session: Session
) -> None:
    """At a price at which some parts are seen and others are not."""
    session.epsilon = Fraction(2) + Fraction(seed, 1000)
    rows: list[Any] = session.execute(
        "SELECT MONTH(day) AS m, day AS d, COUNT(*) AS n, GROUPING(MONTH(day), day) AS g FROM people "
        "GROUP BY ROLLUP (1, 2)"
    ).rows
    months = {row[0] for row in rows if row[3] == 1}
    assert {row[0] for row in rows if row[3] == 0} <= months and sum(
        row[3] == 3 for row in rows
    ) == 1
    session.epsilon = Fraction(1, 100)
    tiny = session.execute(
        "SELECT MONTH(day), day, COUNT(*) FROM people GROUP BY ROLLUP (1, 2)"
    ).rows
    assert (None, None) in {row[:2] for row in tiny}


# -- what was paid for -----------------------------------------------------------------------------


def test_a_statement_that_shows_more_of_the_same_cells_is_free(database: Database) -> None:
    session = database.session("ada")
    session.epsilon = Fraction(12345)
    first = session.execute(COUNTED)
    over = session.execute(f"SELECT COUNT(*) FROM ({COUNTED}) AS v")
    session.set("dpsql.empty_groups", "show")
    shown = session.execute(f"SELECT COUNT(*) FROM ({COUNTED}) AS v")
    assert not first.price.stored and over.price.stored and shown.price.stored
    assert (over.rows, shown.rows) == ([(2,)], [(3,)])


def test_a_release_without_absent_groups_is_not_taken_for_one_with_them(database: Database) -> None:
    session = database.session("ada")
    session.epsilon = Fraction(54321)
    assert len(session.execute(MONTHS).rows) == 2
    session.set("dpsql.empty_groups", "show")
    again = session.execute(MONTHS)
    assert again.price.stored and len(again.rows) == 3, "hidden groups are kept with the release"
    session.set("dpsql.empty_groups", "auto")
    assert session.execute(MONTHS).price.stored


# -- what is told ----------------------------------------------------------------------------------


def test_explain_tells_which_groups_are_shown(session: Session) -> None:
    session.epsilon = Fraction(1)
    (said,) = session.explain(EVIDENT["a sum"]).groups
    (core,) = session.plan(EVIDENT["a sum"]).cores
    assert core.presence is not None
    least = float(core.presence.threshold(12) * core.steps[core.presence.cell])
    assert (
        f"noisy count of units (cell 1) is {least:.4g} or more" in said
        and "all 12 together" in said
    )
    assert "at most 5 % of answers; the count costs 10 % of this part's price" in said
    (said,) = session.explain(EVIDENT["a public table"]).groups
    assert "(of 100 groups) or " in said
    (said,) = session.explain(COUNTED).groups
    assert said.startswith(
        "groups: all 3 are shown, with rows or without; rows with keys that the schema's bounds"
    )
    assert session.explain("SELECT COUNT(*) FROM people").groups == ()
    assert "groups: shown where" in str(session.explain(MONTHS))


def test_an_answer_without_rows_says_why(session: Session) -> None:
    session.epsilon = Fraction(1, 100)
    result = session.execute(
        "SELECT MONTH(day), COUNT(*) FROM people WHERE x > 98.5 AND x < 99 GROUP BY 1"
    )
    (said,) = result.notices
    assert result.rows == []
    assert said.startswith(
        "no row is shown; groups are shown where the noisy count of rows (cell 0) is "
    )
    session.set("dpsql.reuse", "off")
    assert session.execute("SELECT day, COUNT(*) FROM people GROUP BY day LIMIT 0").notices == ()
    hidden = session.execute(
        "SELECT kind, COUNT(*) AS n FROM people GROUP BY kind HAVING n < -1000000"
    ).notices
    assert "no row is shown" not in str(hidden)


def test_the_setting_is_set_shown_and_refused(session: Session) -> None:
    assert session.execute("SHOW dpsql.empty_groups").rows == [("auto",)]
    session.execute("SET dpsql.empty_groups = 'HIDE'")
    assert session.execute("SHOW dpsql.empty_groups").rows == [("hide",)]
    session.execute("RESET dpsql.empty_groups")
    assert session.settings.empty_groups == "auto"
    with pytest.raises(ValueError, match="auto, show, hide"):
        session.set("dpsql.empty_groups", "maybe")
