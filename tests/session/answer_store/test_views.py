"""What is answered of earlier answers is what DuckDB says, where noise vanishes;
what they do not tell is bought.
"""

from __future__ import annotations

import itertools
import math
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import cast

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people import SCHEMA, TABLES, opened, require_same, session_of

from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width
from dpsql.release.combined_tables import CombinedTable
from dpsql.release.grouping_sets import cube_table
from dpsql.session import Session
from dpsql.session.answer_store.view_index import _family
from dpsql.session.database import Database

KEYS = (
    "kind",
    "flag",
    "y",
    "y % 2",
    "CASE WHEN flag THEN 'yes' ELSE 'no' END",
    "day",
    "kind = 'a'",
    "y IS NULL",
)
CONDITIONS = (
    "flag",
    "NOT NOT flag",
    "flag = false",
    "kind = 'a'",
    "kind <> 'a'",
    "kind IN ('a', 'c')",
    "kind IS NULL",
    "y >= 4",
    "y BETWEEN 2 AND 6",
    "NOT y < 3",
    "y IS NOT NULL",
    "day >= DATE '2024-02-01'",
    "flag OR y = 3",
    "id IS NOT NULL",
    "y NOT IN (1, 2)",
    "w > 0",
)
AGGREGATES = (
    "COUNT(*)",
    "COUNT(y)",
    "SUM(w)",
    "AVG(w)",
    "SUM(1)",
    "COUNT(DISTINCT id)",
    "COUNT_IF(flag)",
    "SUM(y)",
    "VAR_POP(y)",
    "COUNT(*) FILTER (WHERE kind = 'b')",
    "SUM(CASE WHEN flag THEN 1 ELSE 0 END)",
    "AVG(y)",
    "COUNT(DISTINCT kind)",
)
#: Times at which files are written.
MOMENTS = itertools.count(10**18, 10**9)


@pytest.fixture
def database(data: Path, tmp_path: Path) -> Iterator[Database]:
    with closing(opened(data, tmp_path)) as found:
        yield found


@pytest.fixture(scope="module")
def many(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Database]]:
    folder = tmp_path_factory.mktemp("many")
    with closing(opened(data, folder)) as found:
        yield folder, found


@st.composite
def statements(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=2, unique=True))
    where = draw(st.lists(st.sampled_from(CONDITIONS), max_size=2, unique=True))
    asked = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2, unique=True))
    text = f"SELECT {', '.join([*keys, *asked])} FROM people AS p"
    text += f" WHERE {' AND '.join(where)}" if where else ""
    sets = draw(
        st.sampled_from(("{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"))
    )
    return text + (
        f" GROUP BY {sets.format(', '.join(f'({key})' for key in keys))}" if keys else ""
    )


@settings(max_examples=20)
@given(
    first=st.lists(statements(), min_size=1, max_size=3),
    asked=st.lists(statements(), min_size=2, max_size=4),
)
def test_what_is_made_of_earlier_answers_in_whole_or_in_part_is_what_duckdb_says(
    first: list[str],
    asked: list[str],
    many: tuple[Path, Database],
    truth: duckdb.DuckDBPyConnection,
) -> None:
    folder, database = many
    os.utime(
        folder / "data" / "people.parquet", ns=(next(MOMENTS),) * 2
    )  # of this version nothing is released yet
    session = session_of(database)
    for text in [*first, *asked]:
        result = session.execute(text)
        if result.price.stored or any("bought:" in notice for notice in result.notices):
            require_same(result.rows, truth.execute(text).fetchall())


BOUGHT = (
    "SELECT kind, flag, y, COUNT(*), COUNT(w), SUM(w), SUM(y) FROM people GROUP BY kind, flag, y",
    "SELECT place, COUNT(*), SUM(cost), COUNT(DISTINCT id) FROM visits GROUP BY place",
    "SELECT day, COUNT(*) FROM people GROUP BY day",
    "SELECT free, COUNT(*) FROM people GROUP BY free",
    "SELECT COUNT(*) FROM people WHERE z > 3",
    "SELECT COUNT(*) FROM people WHERE z > 3 AND w > 3",
    "SELECT COUNT(*) FROM people WHERE z > 3 AND flag",
    "SELECT COUNT(*) FROM people WHERE day < DATE '2024-02-02' AND flag",
    "SELECT place, COUNT(*) FROM (SELECT id, place, COUNT(*) AS n FROM visits GROUP BY id, place) AS v GROUP BY place",
)
TOLD = (
    "SELECT flag, kind, y, COUNT(1) AS n, SUM(w) FROM people p GROUP BY ALL",
    "SELECT COUNT(*), COUNT(DISTINCT id), COUNT(id), SUM(1) FROM people",
    "SELECT kind, AVG(w), SUM(w), COUNT_IF(flag) FROM people GROUP BY kind",
    "SELECT AVG(y), AVG(w) FROM people WHERE NOT flag OR kind = 'a'",
    "SELECT y // 3 AS third, COUNT(*) FROM people WHERE y IS NOT NULL GROUP BY 1",
    "SELECT COUNT(*) FROM people WHERE kind IS NULL",
    "SELECT COUNT(*) FROM people WHERE kind <> 'a'",
    "SELECT COUNT(*) FROM people WHERE z > 3 AND NOT flag",
    "SELECT COUNT(*) FROM people WHERE kind IS DISTINCT FROM 'a'",
    "SELECT kind FROM people GROUP BY kind HAVING COUNT(*) > 130",
    "SELECT SUM(cost), COUNT(*) FROM visits WHERE place <> 'p'",
    "SELECT COUNT(DISTINCT id) FROM visits WHERE place = 'q'",
    "SELECT MONTH(day) AS m, COUNT(*) FROM people WHERE day > DATE '2024-01-20' GROUP BY 1",
    "SELECT COUNT(*) FROM people WHERE (z > 3 AND w > 3) AND 1 = 1",
    "SELECT 1.0 * (SELECT COUNT(*) FROM people WHERE flag) / (SELECT COUNT(*) FROM people)",
    "SELECT kind, flag, COUNT(*), SUM(w), AVG(y) FROM people GROUP BY ROLLUP (kind, flag)",
    "SELECT flag, y, COUNT(*), GROUPING(flag) FROM people WHERE kind = 'a' GROUP BY CUBE (flag, y)",
    "SELECT kind, flag, AVG(w) FROM people GROUP BY GROUPING SETS ((kind), (flag), ())",
    "SELECT kind, COUNT(DISTINCT id), SUM(w) FROM people GROUP BY ROLLUP (kind)",
    "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY CUBE (place)",
)
#: What earlier answers do not tell: counts of units in several groups, groups that a threshold left
#: out, other columns, what a condition leaves out that is NULL for some rows, sums of squares, what
#: clipping by groups would make less, and sums of groups that may lack rows, less a total that
#: lacks none.
NOT_TOLD = (
    "SELECT COUNT(DISTINCT id) FROM visits",
    "SELECT COUNT(*) FROM people WHERE free = 'u'",
    "SELECT COUNT(*) FROM people WHERE w > 3",
    "SELECT MAX(y) FROM people",
    "SELECT VAR_POP(y) FROM people",
    "SELECT kind, COUNT(*) FROM people WHERE day >= DATE '2024-02-02' GROUP BY kind",
    "SELECT COUNT(*) FROM visits JOIN people USING (id)",
    "SELECT COUNT(*) FROM people WHERE z > 3 AND w <= 3",
    "SELECT COUNT(*) FROM people WHERE day < DATE '2024-02-02' AND NOT flag",
    "SELECT place, COUNT(DISTINCT id) FROM visits WHERE place <> 'r' GROUP BY ROLLUP (place)",
    "SELECT kind, day, COUNT(*) FROM people GROUP BY GROUPING SETS ((kind), (day), (kind, day))",
    "SELECT COUNT(*) FROM (SELECT id, place, COUNT(*) AS n FROM visits GROUP BY id, place) AS v",
)


@pytest.fixture(scope="module")
def filled(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with closing(opened(data, tmp_path_factory.mktemp("filled"))) as found:
        for text in BOUGHT:
            assert not session_of(found).execute(text).price.stored
        yield found


@pytest.mark.parametrize("text", TOLD)
def test_what_earlier_answers_tell_is_free(
    text: str, filled: Database, truth: duckdb.DuckDBPyConnection
) -> None:
    result = session_of(filled).execute(text)
    assert result.price.stored and result.price.charged == 0
    require_same(result.rows, truth.execute(text).fetchall())
    assert any("made of earlier answers" in notice for notice in result.notices)


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_they_do_not_tell_is_bought(text: str, filled: Database) -> None:
    assert not session_of(filled).execute(text).price.stored


def test_they_are_found_by_another_process_and_not_for_other_data(
    data: Path, tmp_path: Path
) -> None:
    total = "SELECT COUNT(*) FROM people"
    with closing(opened(data, tmp_path)) as database:
        session_of(database).execute(BOUGHT[0])
    with closing(opened(data, tmp_path)) as database:
        assert session_of(database).execute(total).price.stored
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({TABLES['people']} WHERE i % 2 = 0) TO '{tmp_path}/data/people.parquet'"
        )
    with closing(opened(data, tmp_path)) as database:
        result = session_of(database).execute(total)
        assert not result.price.stored and result.rows == [(200,)]


def test_a_session_may_want_new_answers(database: Database) -> None:
    session = session_of(database)
    session.execute(BOUGHT[0])
    session.set("dpsql.reuse", "off")
    assert not session.execute("SELECT COUNT(*) FROM people").price.stored
    assert session.execute("SELECT COUNT(*) FROM people").price.stored, (
        "what was bought itself is free as ever"
    )


def test_totals_that_do_not_add_up_are_told_for_themselves(
    database: Database, truth: duckdb.DuckDBPyConnection
) -> None:
    session, asked = (
        session_of(database),
        "SELECT place, COUNT(DISTINCT id), SUM(cost) FROM visits GROUP BY {}",
    )
    session.execute(asked.format("place"))
    session.execute("SELECT COUNT(DISTINCT id) FROM visits WHERE place IN ('p', 'q', 'r')")
    result = session.execute(asked.format("ROLLUP (place)"))
    assert result.price.stored
    require_same(result.rows, truth.execute(asked.format("ROLLUP (place)")).fetchall())


def test_views_are_found_behind_those_that_the_ledger_forgot(data: Path, tmp_path: Path) -> None:
    with closing(opened(data, tmp_path)) as database:
        session = session_of(database)
        for text in (BOUGHT[2], BOUGHT[0]):
            session.execute(text)
        version = session._execution.version
        assert version is not None
        oldest = f"{_family(session.plan(BOUGHT[2]).cores[0], version)}/0"
        assert database.accountant.ledger.kept(oldest) is not None
        place = database.accountant.ledger.location
    with closing(sqlite3.connect(place)) as ledger, ledger:
        ledger.execute("DELETE FROM answers WHERE key = ?", (oldest,))
    with closing(opened(data, tmp_path)) as database:
        session = session_of(database)
        assert session.execute("SELECT COUNT(*) FROM people WHERE flag").price.stored
        session.execute("SELECT COUNT(*) FROM people WHERE w > 3")
        assert database.accountant.ledger.kept(oldest) is not None, (
            "the place is free for another one"
        )


# -- with noise ------------------------------------------------------------------------------------

COUNTS = "SELECT kind, flag, COUNT(*) AS n FROM people GROUP BY kind, flag"
#: Six groups and two in which every row is, whatever its values.
BANDS, HALVES = (
    f"SELECT {keys}, COUNT(*) FROM people GROUP BY ALL"
    for keys in (
        "flag, CASE WHEN y > 6 THEN 2 WHEN y > 3 THEN 1 ELSE 0 END",
        "CASE WHEN z > 4 THEN 1 ELSE 0 END",
    )
)


@pytest.fixture
def noisy(data: Path, tmp_path: Path) -> Iterator[Session]:
    with closing(
        opened(data, tmp_path, SCHEMA.replace("1e20", "1000").replace("1e8", "0.5"))
    ) as database:
        yield database.session("ada")


def test_the_interval_has_the_noise_of_all_cells_that_are_added(noisy: Session) -> None:
    noisy.execute(COUNTS)
    noise = noisy.plan(COUNTS).cores[0].cells[0].mechanism
    result = noisy.execute(
        "SELECT COUNT(*) + 1000000 AS n FROM people WHERE NOT flag"
    )  # in none of which it is cut
    ((ends,),) = result.intervals
    assert result.price.stored and ends is not None
    step = noisy.plan(COUNTS).cores[0].steps[0]
    wanted = sum_half_width([NoiseTerm(noise, step, 4)], 0.95)
    assert (ends[1] - ends[0]) / 2 == pytest.approx(wanted, rel=1e-6)


def test_numbers_of_one_answer_share_the_noise_that_they_have_in_common(noisy: Session) -> None:
    noisy.execute(COUNTS)
    part = "(SELECT COUNT(*) FROM people WHERE flag)"
    result = noisy.execute(f"SELECT (SELECT COUNT(*) FROM people) - {part} AS n")
    rest = noisy.execute("SELECT COUNT(*) FROM people WHERE NOT flag")
    assert result.price.stored and result.rows == rest.rows
    ((found,),), ((ends,),) = result.intervals, rest.intervals
    assert found is not None and ends is not None
    assert 0.8 < (found[1] - found[0]) / (ends[1] - ends[0]) < 1.35, (
        "independent noises would have 1.73 times as much"
    )


def test_several_answers_are_weighed_by_how_exact_they_are(noisy: Session) -> None:
    total = "SELECT COUNT(*) FROM people"
    noisy.execute(BANDS)
    first = noisy.execute(total)
    noisy.execute(HALVES)
    assert noisy.execute(total).rows == first.rows, "what was given stays"
    both = noisy.execute("SELECT SUM(1) FROM people")
    assert first.price.stored and both.price.stored and first.rows != both.rows
    shorter, longer = (each.intervals[0][0] for each in (both, first))
    assert shorter is not None and longer is not None
    assert (
        0.85 < (shorter[1] - shorter[0]) / (longer[1] - longer[0]) / math.sqrt(2 / (6 + 2)) < 1.15
    )


def test_hidden_groups_are_in_every_sum(noisy: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    days = "SELECT day, COUNT(*) FROM people GROUP BY day"
    noisy.epsilon = Fraction(1, 20)
    assert len(noisy.execute(days).rows) < 91
    assert noisy.execute("SELECT COUNT(*) + 100000 FROM people").price.stored
    found = noisy._answering.of_views(noisy.plan("SELECT COUNT(*) FROM people"))
    (table,) = found.released.tables  # type: ignore[union-attr]
    assert isinstance(table, CombinedTable) and [atom.times for atom in table.noise.atoms] == [91]
    monkeypatch.setattr("dpsql.release.noise_addition.MOST_HIDDEN", 50)
    noisy.execute("SELECT day, COUNT(*) FROM people WHERE w > 0 GROUP BY day")
    assert not noisy.execute("SELECT COUNT(*) FROM people WHERE w > 0").price.stored


def test_refine_buys_what_is_missing(noisy: Session) -> None:
    total = "SELECT COUNT(*) FROM people"
    noisy.execute(BANDS)
    first = noisy.execute(total)
    assert any("REFINE" in notice for notice in first.notices)
    refined = noisy.execute(f"REFINE {total}")
    assert 0.9 < refined.price.charged / noisy.epsilon < 1 and not refined.price.stored
    ((ends,),) = refined.intervals
    half = float(noisy.plan(total).cores[0].half_widths(0.95)[0])
    assert ends is not None and (ends[1] - ends[0]) / 2 == pytest.approx(half, rel=0.06)
    for text in (total, f"REFINE {total}"):
        again = noisy.execute(text)
        assert again.price.stored and again.rows == refined.rows


def test_refine_buys_a_new_answer_if_groups_may_lack_rows(noisy: Session) -> None:
    noisy.execute(COUNTS)
    first = noisy.execute("SELECT COUNT(*) FROM people")
    assert first.price.stored and any(
        "REFINE before the statement buys a new answer" in each for each in first.notices
    )
    assert noisy.execute("REFINE SELECT COUNT(*) FROM people").price.charged == noisy.epsilon


def test_explain_says_what_an_answer_is_made_of(noisy: Session) -> None:
    noisy.execute(BANDS)
    found = noisy.explain("SELECT COUNT(*) FROM people")
    assert found.stored and "entry 1 of the ledger (flag, an expression)" in str(found)
    refined = noisy.explain("REFINE SELECT COUNT(*) FROM people")
    assert not refined.stored and 0 < refined.epsilon < noisy.epsilon


def test_a_target_is_not_met_by_a_less_exact_answer(noisy: Session) -> None:
    noisy.execute(COUNTS)
    noisy.target_error = 20
    assert not noisy.execute("SELECT COUNT(*) FROM people").price.stored


def test_totals_of_grouping_sets_are_the_sums_of_their_parts_with_the_noise_of_all_of_them(
    noisy: Session,
) -> None:
    fine = "SELECT kind, flag, COUNT(*), COUNT(w), SUM(w) FROM people GROUP BY kind, flag"
    noisy.execute(fine)
    noisy.execute("SELECT kind, COUNT(*) FROM people GROUP BY kind")
    plan = noisy.plan("SELECT kind, flag, COUNT(*), AVG(w) FROM people GROUP BY CUBE (kind, flag)")
    found = noisy._answering.of_views(plan)
    assert found is not None and noisy.execute(plan.text).price.stored
    table = cube_table(plan.cubes[0], found.released.tables, 0.95)
    whole, counts = table.totals.index((1, 1)), [row[0] for row in table.aggregates]
    parts = [row for row, totals in enumerate(table.totals) if totals == (0, 0)]
    assert len(parts) == 8 and counts[whole] == sum(cast(int, counts[row]) for row in parts)
    cell = noisy.plan(fine).cores[0].cells[0]
    half = sum_half_width([NoiseTerm(cell.mechanism, cell.contribution.step, 8)], 0.95)
    ends = table.intervals[whole][0]
    assert ends is not None and (ends[1] - ends[0]) / 2 == pytest.approx(half, rel=1e-6)
    spread = float(np.std(table.draws(whole, 4000, 0.95)[0])) / (
        float(cell.mechanism.standard_deviation) / 2048
    )
    assert 0.8 < spread / 8**0.5 < 1.2
    assert found.ratio > 1.9, "the totals of new answers would have the noise of cells of their own"


def test_what_earlier_answers_tell_of_a_workload_is_not_in_its_block(noisy: Session) -> None:
    noisy.execute(COUNTS)
    texts = [
        "SELECT flag, COUNT(*) FROM people GROUP BY flag",
        "SELECT COUNT(*) FROM people WHERE w > 3",
    ]
    workload = noisy.workload([*texts, texts[0]])
    assert workload.statuses == ("paid for already", "bought", "paid for already")
    told, bought, again = noisy.run(workload)
    assert told.rows == again.rows == noisy.execute(texts[0]).rows and bought.price.charged > 0
    for result in (told, again):
        assert result.price.stored and any(
            "made of earlier answers" in each for each in result.notices
        )
    noisy.set("dpsql.reuse", "off")
    assert noisy.workload(["SELECT kind, COUNT(*) FROM people GROUP BY kind"]).statuses == (
        "bought",
    )
