"""Counts and sums over collected columns have the right mean,
the stated variance and the right price.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import NormalDist

import duckdb
import numpy as np
import pytest
from databases import without_noise
from seeded_entropy import Seeded

from dpsql import local
from dpsql.errors import DatabaseError
from dpsql.privacy.measure import FREE
from dpsql.session.database import open_database
from dpsql.session.session import Session

KIND = local.RandomizedCategories(("a", "b", "c"), Fraction(1, 2))
COIN = local.RandomizedCategories((False, True), Fraction(3, 4))
BITS = local.UnaryEncoding(("a", "b"), Fraction(3, 4), Fraction(1, 4))
HOURS = local.Piecewise.for_epsilon((0, 24), 2)
NOISY = local.LocalLaplace.for_epsilon((0, 24), 2)
#: What three people would say: kind, coin, and an amount that is public or protected centrally.
PEOPLE = (("a", True, 2.0), ("b", True, 5.0), ("a", False, 1.5))
WORLDS, EACH = 100, 200
COLUMNS = """
person = { type = "integer" }
world = { type = "integer", WORLDS }
kind = { type = "text", values = ["a", "b", "c"], collected = { mechanism = "randomized_response", truth = 0.5 } }
coin = { type = "boolean", collected = { mechanism = "randomized_response", truth = 0.75 } }
bits = { type = "text", values = ["a", "b"], collected = { mechanism = "symmetric_unary_encoding", truth = 0.75 } }
hours = { type = "double", bounds = [0, 24], collected = { mechanism = "piecewise", epsilon = 2 } }
noisy = { type = "double", bounds = [0, 24], collected = { mechanism = "laplace", epsilon = 2 } }
amount = { type = "double", bounds = [0, 8] }
"""
#: The outcomes of the enumeration stand in a table of many worlds;
#: ``crowd`` has reports of many #: people in 200 worlds.
SCHEMA = f"""
name = "survey"
source = "survey.duckdb"
ledger = "survey.ledger"
[privacy]
unit = "people.person"
epsilon = 1000
delta = 1e-6
query_epsilon = 1
mechanism = "laplace"
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
{COLUMNS.replace("WORLDS", f"values = {list(range(WORLDS))}")}
town = {{ type = "text" }}
[tables.reports]
public = true
[tables.reports.columns]
{COLUMNS.replace("WORLDS", "bounds = [0, 100000]")}
[tables.crowd]
public = true
[tables.crowd.columns]
{COLUMNS.replace("WORLDS", "bounds = [0, 100000]")}
"""
TYPES = (
    "(person BIGINT, world BIGINT, kind VARCHAR, coin BOOLEAN, bits VARCHAR, hours "
    "DOUBLE, noisy DOUBLE, amount DOUBLE"
)
Z = NormalDist().inv_cdf(0.975)


def outcomes() -> list[tuple[float, list[tuple[str, bool, str]]]]:
    """All reports that the first two people may give, each with its exact probability."""

    def of(kind: str, coin: bool) -> list[tuple[Fraction, tuple[str, bool, str]]]:
        found = []
        for k, c, b in product(KIND.values, COIN.values, ("00", "01", "10", "11")):
            chance = (KIND.truth if k == kind else KIND.other) * (
                COIN.truth if c == coin else COIN.other
            )
            for bit, value in zip(b, BITS.values, strict=True):
                one = BITS.truth if value == kind else BITS.other
                chance *= one if bit == "1" else 1 - one
            found.append((chance, (k, c, b)))
        return found

    pairs = product(*(of(kind, coin) for kind, coin, _ in PEOPLE[:2]))
    return [(float(one[0] * other[0]), [one[1], other[1]]) for one, other in pairs]


def crowd(entropy: Seeded) -> list[tuple[object, ...]]:
    rng = np.random.default_rng(5)
    n = WORLDS * EACH
    kinds = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2]).tolist()
    coins = (rng.random(n) < 0.3).tolist()
    hours = np.where(np.array(kinds) == "a", 18.0, 6.0).tolist()
    bits = BITS.perturb(["a" if kind == "a" else "b" for kind in kinds], _entropy=entropy)
    columns = (
        KIND.perturb(kinds, _entropy=entropy),
        COIN.perturb(coins, _entropy=entropy),
        bits,
        HOURS.perturb(hours, _entropy=entropy),
        NOISY.perturb(hours, _entropy=entropy),
    )
    rows = enumerate(zip(*columns, kinds, coins, hours, strict=True))
    return [
        (place, place // EACH, *each, 4.0, kind, coin, hour)
        for place, (*each, kind, coin, hour) in rows
    ]


def copied(
    data: duckdb.DuckDBPyConnection, folder: Path, table: str, rows: list[tuple[object, ...]]
) -> None:
    """Put rows into a table in one go."""
    with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    data.execute(f"COPY {table} FROM '{folder}/{table}.csv' (HEADER false)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    with duckdb.connect(str(folder / "survey.duckdb")) as data:
        data.execute(f"CREATE TABLE reports{TYPES})")
        data.execute(f"CREATE TABLE people{TYPES}, town VARCHAR)")
        data.execute(
            f"CREATE TABLE truth{TYPES}, kind_true VARCHAR, coin_true BOOLEAN, hours_true DOUBLE)"
        )
        rows = [
            (person, world, *report, 0.0, 0.0, PEOPLE[person][2])
            for world, (_, reports) in enumerate(outcomes())
            for person, report in enumerate(reports)
        ]
        copied(data, folder, "reports", rows)
        copied(data, folder, "truth", crowd(Seeded(11)))
        data.execute(
            "CREATE TABLE crowd AS SELECT * EXCLUDE (kind_true, coin_true, hours_true) FROM truth"
        )
        data.execute("INSERT INTO people SELECT *, 'x' FROM crowd")
    (folder / "survey.toml").write_text(SCHEMA, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    opened = open_database(folder / "survey.toml")
    yield opened.session("ada")
    opened.close()


#: What is asked of the enumerated worlds, and what is true of the first two people.
EXACT = [
    ("SUM(CASE WHEN kind = 'a' THEN 1 ELSE 0 END)", "", 1),
    ("SUM(CASE WHEN kind IN ('b', 'c') THEN amount ELSE 0 END)", "", 5),
    ("SUM(1)", "WHERE kind = 'a' AND coin", 1),
    ("SUM(1)", "WHERE NOT (kind = 'a' OR NOT coin)", 1),
    ("SUM(amount)", "WHERE kind = 'b'", 5),
    ("SUM(amount) FILTER (WHERE coin AND amount > 3)", "", 5),
    ("SUM(1)", "WHERE bits = 'a'", 1),
    ("SUM(amount)", "WHERE bits = 'b' AND kind <> 'a'", 5),
    ("SUM(1) FILTER (WHERE kind = 'a')", "WHERE bits IS NOT NULL AND person >= 0", 1),
]


@pytest.mark.parametrize(
    ("item", "where", "true"), EXACT, ids=[f"{item} {where}" for item, where, _ in EXACT]
)
def test_over_all_reports_the_mean_is_true_and_the_variance_is_the_stated_one(
    session: Session, item: str, where: str, true: float
) -> None:
    """By the exact law of the reports of two people,
    each possible outcome in a world of its own.
    """
    result = session.execute(
        f"SELECT world, {item} FROM reports {where} GROUP BY world ORDER BY world"
    )
    chances = np.array([chance for chance, _ in outcomes()])
    worlds = np.array([row[0] for row in result.rows])
    values, ends = np.zeros(len(chances)), np.zeros(len(chances))
    values[worlds] = [float(row[1]) for row in result.rows]  # type: ignore[arg-type]
    # the variance is estimated without bias too; where it is below 0 the interval shows 0,
    # so the # columns are asked
    ends[worlds] = [((high - low) / 2 / Z) ** 2 for _, (low, high) in result.intervals]  # type: ignore[misc]
    assert chances.sum() == pytest.approx(1)
    assert (chances * values).sum() == pytest.approx(true, abs=1e-9)
    variance = (chances * values**2).sum() - true**2
    assert (chances * ends).sum() >= variance * (1 - 1e-9)
    if "bits" not in where and "amount" not in item and "AND" not in where:
        assert (chances * ends).sum() == pytest.approx(variance, rel=1e-9)
    assert result.price.cost == FREE


AGAIN = """SELECT kind AS k, COUNT(*) FROM crowd WHERE coin AND person >= ? GROUP BY k HAVING COUNT(*) > ?
    ORDER BY COUNT(*) DESC"""
GROUPED = "SELECT kind, COUNT(*) FILTER (WHERE coin) AS n FROM crowd GROUP BY kind"


def test_names_parameters_and_clauses_mean_what_they_say(session: Session) -> None:
    plain = session.execute(
        "SELECT kind, COUNT(*) AS n FROM crowd WHERE coin GROUP BY kind ORDER BY n DESC"
    )
    for statement, parameters in (
        (
            "SELECT c.kind, COUNT(*) AS n FROM crowd AS c WHERE coin = ? GROUP BY KIND ORDER BY 2 DESC",
            (True,),
        ),
        (
            'SELECT "kind", SUM(CASE WHEN coin THEN 1 END) AS coin FROM crowd GROUP BY 1 ORDER BY coin DESC',
            (),
        ),
        (AGAIN, (0, -9)),
        (
            "SELECT * FROM (SELECT kind, COUNT_IF(coin) AS n FROM crowd GROUP BY ALL) AS t ORDER BY n DESC",
            (),
        ),
        (f"WITH t AS ({GROUPED}) SELECT * FROM t ORDER BY n DESC LIMIT 3", ()),
    ):
        found = session.execute(statement, parameters)
        assert [(row[0], round(float(row[1]))) for row in found.rows] == plain.rows  # type: ignore[arg-type]
    inner = "SELECT world, COUNT(*) FILTER (WHERE coin) AS n FROM crowd GROUP BY world"
    outer = f"SELECT c.kind, COUNT(*) AS n FROM crowd AS c JOIN ({inner}) AS t ON t.world = c.world WHERE c.coin "
    joined = session.execute(f"{outer} AND t.n > -1000 GROUP BY c.kind ORDER BY n DESC")
    assert joined.rows == plain.rows
    shown = session.execute(
        "SELECT UPPER(kind) AS k, RANK() OVER (ORDER BY COUNT(*) DESC) FROM crowd GROUP BY kind"
    )
    assert {row[0] for row in shown.rows} == {"A", "B", "C"} and {row[1] for row in shown.rows} == {
        1,
        2,
        3,
    }


def test_groups_and_totals_fit_together(session: Session) -> None:
    rows = dict(session.execute("SELECT kind, COUNT(*) FROM crowd GROUP BY kind").rows)
    total = session.execute(
        "SELECT COUNT(*), COUNT(kind), SUM(1) FILTER (WHERE kind IS NOT NULL) FROM crowd"
    ).rows[0]
    assert set(rows) == {"a", "b", "c"} and abs(sum(rows.values()) - WORLDS * EACH) <= 2
    assert [round(float(each)) for each in total] == [WORLDS * EACH] * 3


def test_an_aggregate_is_no_less_exact_beside_one_of_another_column(session: Session) -> None:
    alone = session.execute("SELECT COUNT(*) FILTER (WHERE kind = 'a'), COUNT(*) FROM crowd")
    both = session.execute(
        "SELECT COUNT(*) FILTER (WHERE kind = 'a'), COUNT(*), SUM(1) FILTER (WHERE bits = 'a') FROM crowd"
    )
    assert both.rows[0][:2] == alone.rows[0] and both.intervals[0][0] == pytest.approx(
        alone.intervals[0][0]
    )
    assert both.intervals[0][1] == (WORLDS * EACH, WORLDS * EACH)


COVERED = [
    ("COUNT(*)", "WHERE kind = 'b'", "count(*) FILTER (WHERE kind_true = 'b')"),
    ("AVG(CASE WHEN coin THEN 1 ELSE 0 END)", "", "avg(coin_true::INT)"),
    (
        "100.0 * COUNT(*) FILTER (WHERE kind = 'a') / COUNT(*)",
        "WHERE coin",
        "100 * avg((kind_true = 'a')::INT) FILTER (WHERE coin_true)",
    ),
    ("ROUND(-2 * AVG(hours) + 1, 6)", "", "1 - 2 * avg(hours_true)"),
    ("SUM(noisy)", "", "sum(hours_true)"),
    ("AVG(hours)", "WHERE kind = 'a'", "avg(hours_true) FILTER (WHERE kind_true = 'a')"),
    ("AVG(noisy) FILTER (WHERE coin)", "", "avg(hours_true) FILTER (WHERE coin_true)"),
    (
        "COUNT(*)",
        "WHERE bits = 'a' AND coin",
        "count(*) FILTER (WHERE kind_true = 'a' AND coin_true)",
    ),
]


@pytest.mark.parametrize(
    ("item", "where", "truth"), COVERED, ids=[f"{item} {where}" for item, where, _ in COVERED]
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    session: Session, folder: Path, item: str, where: str, truth: str
) -> None:
    result = session.execute(
        f"SELECT world, {item} FROM crowd {where} GROUP BY world ORDER BY world"
    )
    with duckdb.connect(str(folder / "survey.duckdb"), read_only=True) as data:
        true = dict(data.execute(f"SELECT world, {truth} FROM truth GROUP BY world").fetchall())
    ends = [each[1] for each in result.intervals]
    held = [low <= true[row[0]] <= high for row, (low, high) in zip(result.rows, ends, strict=True)]  # type: ignore[misc]
    assert len(held) == WORLDS
    assert np.mean(held) >= 0.9  # of 100 at 95 %; the draws are fixed
    pairs = zip(result.rows, ends, strict=True)
    halves = [(row[1], row[1] - low, high - row[1]) for row, (low, high) in pairs]  # type: ignore[operator,misc]
    narrow = [
        value - 0.5 * below <= true[row[0]] <= value + 0.5 * above
        for row, (value, below, above) in zip(result.rows, halves, strict=True)
    ]
    assert np.mean(narrow) < 0.88


@pytest.mark.parametrize("price", [0.3, 3])
def test_intervals_beside_private_columns_hold_as_often(
    session: Session, folder: Path, price: float
) -> None:
    with duckdb.connect(str(folder / "survey.duckdb"), read_only=True) as data:
        sql = "SELECT world, count(*) FILTER (WHERE kind_true = 'a'), avg(coin_true::INT) FROM truth GROUP BY world"
        true = {row[0]: row[1:] for row in data.execute(sql).fetchall()}
    session.set("dpsql.epsilon", str(price))
    held, items = (
        [],
        ("COUNT(*) FILTER (WHERE kind = 'a')", "AVG(CASE WHEN coin THEN 1 ELSE 0 END)"),
    )
    for place, item in enumerate(items):
        result = session.execute(f"SELECT world, {item} FROM people GROUP BY world")
        for row, (_, (low, high)) in zip(result.rows, result.intervals, strict=True):  # type: ignore[misc]
            held.append(low <= true[row[0]][place] <= high)
    session.set("dpsql.epsilon", None)
    assert len(held) == 2 * WORLDS and 0.92 < np.mean(held) < 0.99


@pytest.mark.parametrize(
    ("statement", "counted"),
    [
        (
            "SELECT COUNT(*) FROM people WHERE kind = 'a'",
            "SELECT kind, COUNT(*) FROM people GROUP BY kind",
        ),
        (
            "SELECT world, AVG(CASE WHEN coin THEN 1 ELSE 0 END) FROM people GROUP BY world",
            "SELECT coin, world, COUNT(*) FROM people GROUP BY coin, world",
        ),
        (
            "SELECT SUM(amount) FROM people WHERE kind = 'b' AND person > 3",
            "SELECT kind, SUM(amount), COUNT(amount) FROM people WHERE person > 3 GROUP BY kind",
        ),
    ],
)
def test_beside_private_columns_the_reports_are_counted_at_the_ordinary_price(
    session: Session, statement: str, counted: str
) -> None:
    mixed, ordinary = session.plan(statement), session.plan(counted)
    assert mixed.cost == ordinary.cost != FREE
    assert [core.core for core in mixed.cores] == [core.core for core in ordinary.cores]


def test_a_synopsis_by_reports_is_debiased_for_each_statement(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "survey.duckdb").write_bytes((folder / "survey.duckdb").read_bytes())
    (tmp_path / "survey.toml").write_text(SCHEMA, encoding="utf-8")
    database = open_database(tmp_path / "survey.toml")
    session = database.session("ada")
    session.execute("CREATE SYNOPSIS both AS SELECT kind, coin, COUNT(*) FROM people PRICE 5")
    for item in ("COUNT(*) FILTER (WHERE kind = 'a')", "SUM(CASE WHEN coin THEN 1 ELSE 0 END)"):
        found, wanted = (
            session.execute(f"SELECT {item} FROM {table}") for table in ("people", "crowd")
        )
        assert found.price.cost == FREE and found.price.stored
        assert abs(float(found.rows[0][0]) - float(wanted.rows[0][0])) < 30  # type: ignore[arg-type]
        low, high = found.intervals[0][0]  # type: ignore[misc]
        assert high - low > wanted.intervals[0][0][1] - wanted.intervals[0][0][0] > 100  # type: ignore[index,operator]
    database.close()


def test_reports_that_a_join_may_repeat_have_no_interval(session: Session) -> None:
    """Ten rows of one client have one draw of its coin: ten independent ones would vary less."""
    alone = session.execute("SELECT COUNT(*) FROM crowd WHERE kind = 'a'")
    joined = session.execute(
        "SELECT COUNT(*) AS n FROM crowd c, (VALUES (1), (2)) AS t(n) WHERE c.kind = 'a' AND t.n > 0"
    )
    assert alone.intervals[0][0] is not None and joined.intervals[0][0] is None
    assert any(
        "one that stands in several rows counts several times" in said for said in joined.notices
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT kind, COUNT(*) FROM people GROUP BY kind",
        "SELECT c.kind, COUNT(*) FROM crowd c JOIN (SELECT person FROM people) p USING (person) GROUP BY c.kind",
        "WITH p AS (SELECT person FROM people) SELECT c.kind, COUNT(*) FROM crowd c JOIN p USING (person) GROUP BY 1",
    ],
)
def test_reports_without_rows_are_counted_whatever_is_shown(
    session: Session, statement: str
) -> None:
    session.set("dpsql.empty_groups", "hide")
    plan = session.plan(statement)
    session.set("dpsql.empty_groups", None)
    assert not plan.evident.cores and not plan.evident.released


def test_without_noise_a_private_table_says_what_a_public_one_does(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "survey.duckdb").write_bytes((folder / "survey.duckdb").read_bytes())
    (tmp_path / "survey.toml").write_text(SCHEMA, encoding="utf-8")
    without_noise(monkeypatch)
    database = open_database(tmp_path / "survey.toml")
    session = database.session("ada")
    for item in (
        "kind, COUNT(*)",
        "kind, coin, SUM(amount)",
        "coin, AVG(hours)",
        "kind, SUM(noisy)",
    ):
        keys = item.rpartition(",")[0]
        public = session.execute(f"SELECT {item} FROM crowd GROUP BY {keys} ORDER BY ALL")
        private = session.execute(f"SELECT {item} FROM people GROUP BY {keys} ORDER BY ALL")
        assert [row[:-1] for row in private.rows] == [row[:-1] for row in public.rows]
        found, wanted = ([float(row[-1]) for row in each.rows] for each in (private, public))  # type: ignore[arg-type]
        assert found == pytest.approx(wanted, rel=1e-3)
        assert len(private.rows) >= 2
    database.close()


def test_an_interval_never_holds_the_noise_alone(session: Session) -> None:
    """What is computed of debiased numbers has none,
    rather than one that forgets the clients' randomness.
    """
    for statement in (
        "SELECT COUNT(*) FILTER (WHERE kind = 'a') - COUNT(*) FILTER (WHERE kind = 'b') FROM people",
        "SELECT n + 1 FROM (SELECT COUNT(*) AS n FROM people WHERE kind = 'a') AS t",
    ):
        assert session.execute(statement).intervals == [(None,)]
    both = session.execute("SELECT kind, COUNT(*) FROM people GROUP BY kind")
    counts = session.execute("SELECT kind, COUNT(*) FROM crowd GROUP BY kind")
    widths = [[ends[1][1] - ends[1][0] for ends in each.intervals] for each in (both, counts)]  # type: ignore[index,operator]
    assert all(wide > 0.9 * alone for wide, alone in zip(*widths, strict=True))


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("SELECT COUNT(DISTINCT kind) FROM crowd", "E_AGG"),
        ("SELECT MAX(hours) FROM crowd", "E_AGG"),
        ("SELECT COUNT(*) FROM crowd WHERE hours > 3", "E_AGG"),
        ("SELECT hours, COUNT(*) FROM crowd GROUP BY hours", "E_AGG"),
        ("SELECT SUM(2 * hours) FROM crowd", "E_AGG"),
        ("SELECT COUNT(*) FROM (SELECT * FROM crowd) AS t WHERE kind = 'a'", "E_AGG"),
        ("WITH t AS (SELECT kind FROM crowd) SELECT kind, COUNT(*) FROM t GROUP BY kind", "E_AGG"),
        (
            "WITH crowd AS (SELECT kind FROM crowd) SELECT kind, COUNT(*) FROM crowd GROUP BY kind",
            "E_TABLE",
        ),
        ("SELECT COUNT(*) FROM (SELECT crowd FROM crowd) AS t", "E_AGG"),
        ("SELECT kind, COUNT(*) OVER (PARTITION BY kind) FROM crowd", "E_AGG"),
        ("SELECT kind FROM crowd UNION SELECT 'a'", "E_AGG"),
        (
            "SELECT COUNT(*) FROM crowd WHERE EXISTS (SELECT 1 FROM reports WHERE kind = 'a')",
            "E_SUBQ",
        ),
        ("SELECT COUNT(*) FROM crowd JOIN reports USING (kind)", "E_JOIN"),
        ("SELECT COUNT(*) FROM crowd JOIN reports ON crowd.kind = reports.kind", "E_JOIN"),
        (
            "SELECT coin, COUNT(*) FROM crowd JOIN reports ON crowd.kind = reports.kind GROUP BY crowd.coin",
            "E_JOIN",
        ),
        ("SELECT kind, COUNT(*) FROM crowd GROUP BY ROLLUP (kind)", "E_GROUPING"),
        ("SELECT * FROM crowd PIVOT (COUNT(*) FOR kind IN ('a', 'b'))", "E_PIVOT"),
        (
            "SELECT world, COUNT(*) FROM crowd WHERE kind = (SELECT MIN(world) FROM reports) GROUP BY world",
            "E_SUBQ",
        ),
        ("SELECT amount, COUNT(*) FROM crowd WHERE kind = 'a'", "E_KEY"),
        ("SELECT bits, COUNT(*) FROM people GROUP BY bits", "E_AGG"),
        ("SELECT town, kind, COUNT(*) FROM people GROUP BY town, kind", "E_KEY"),
        ("SELECT kind FROM people", "E_RAW"),
    ],
)
def test_what_no_weight_debiases_is_refused(session: Session, statement: str, code: str) -> None:
    spent = session.remaining
    with pytest.raises(DatabaseError) as refusal:
        session.execute(statement)
    assert getattr(refusal.value, "code", None) == code, str(refusal.value)
    assert session.remaining == spent


@pytest.mark.parametrize(
    "part", ["kind, amount FROM people", "amount FROM people WHERE kind = 'a' AND person > 0"]
)
def test_a_synthetic_table_is_not_made_of_reports(session: Session, part: str) -> None:
    with pytest.raises(DatabaseError, match="hold reports"):
        session.execute(f"EXPLAIN CREATE SYNTHETIC TABLE twins AS SELECT {part}")


def test_single_reports_of_a_public_table_are_shown_as_what_they_are(session: Session) -> None:
    result = session.execute("SELECT kind, hours FROM crowd ORDER BY person LIMIT 3")
    assert len(result.rows) == 3 and "reports, not values" in result.notices[0]
    assert not session.execute("SELECT COUNT(*), AVG(amount) FROM crowd").notices
