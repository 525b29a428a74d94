"""Blocks of neighbouring groups are evidence of groups that are too small to be seen alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from scipy import stats

from dpsql.planning.plan import APPEARS, GroupPresence
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width
from dpsql.privacy.partition_selection import shown_interval
from dpsql.release.block_evidence import RunEvidence, block_sizes
from dpsql.release.shown_groups import (
    BlockNoise,
    ShownGroups,
    block_counts,
    block_levels,
    block_tails,
    key_runs,
    shown_groups,
)
from dpsql.session.database import Database, open_database
from dpsql.sql.ir.expression import DATE, INTEGER, TEXT, Literal

CONFIDENCE = 0.95
#: Both have a deviation of about 40.
NOISES: tuple[Mechanism, ...] = (Gaussian(1, Fraction(1600)), Laplace(1, Fraction(28)))


def _block_noise(noise: Mechanism, candidates: int, chance: Fraction = APPEARS) -> BlockNoise:
    least = GroupPresence(0, noise, chance, True, True).threshold(candidates)

    def block_noise(places: Sequence[int], tail: float) -> tuple[float, float]:
        draws, variance = len(places), float(noise.standard_deviation) ** 2
        if draws == 1:
            return least - 1, variance
        return sum_half_width(
            [NoiseTerm(noise, Fraction(1), draws)], 1 - 2 * tail
        ), draws * variance

    return block_noise


def _shown(noise: Mechanism, counts: Sequence[int], within: float = 0) -> ShownGroups:
    block_noise = _block_noise(noise, len(counts))
    return shown_groups(
        [range(len(counts))], counts, block_noise, float(APPEARS), within, alike=True
    )


def _noisy(noise: Mechanism, counts: Sequence[int], random: np.random.Generator) -> list[int]:
    scale = float(noise.standard_deviation)
    drawn = (
        random.normal(0, scale, len(counts))
        if isinstance(noise, Gaussian)
        else random.laplace(0, scale / 2**0.5, len(counts))
    )
    return [int(count + round(each)) for count, each in zip(counts, drawn, strict=True)]


# -- how often an empty answer has a row -----------------------------------------------------------

LENGTHS = {
    "one run": [184],
    "runs of one length": [23] * 8,
    "runs of many lengths": [3, 37, 1, 143],
}


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_an_answer_without_any_row_is_empty_in_nineteen_of_twenty(
    noise: Mechanism, lengths: str
) -> None:
    random, tries = np.random.default_rng(1), 3000

    def seen(chance: Fraction) -> int:
        """In how many of the answers a group is shown, all answers at once."""
        block_noise, tails = (
            _block_noise(noise, 184, chance),
            block_tails(LENGTHS[lengths], float(chance)),
        )
        found = np.zeros(tries, np.bool_)
        for length in LENGTHS[lengths]:
            counts = np.array(_noisy(noise, [0] * (tries * length), random), np.float64)
            places = np.arange(tries * length).reshape(tries, length)
            found |= RunEvidence(
                block_levels(places, counts, block_noise, tails, True)
            ).visible_groups.any(axis=1)
        return int(found.sum())

    assert stats.binom.sf(seen(APPEARS) - 1, tries, 0.05) > 1e-9
    assert stats.binom.sf(seen(3 * APPEARS) - 1, tries, 0.05) < 1e-9


@pytest.mark.parametrize("lengths", [[1], [2], [5, 2], [184], [64, 1, 7, 7], []])
def test_all_blocks_of_two_parts_are_counted(lengths: list[int]) -> None:
    levels = [block_sizes(length) for length in lengths]
    most = max(map(len, levels), default=1)
    assert block_counts(lengths) == [
        sum(len(own[level - 1]) // 2 for own in levels if level < len(own))
        for level in range(1, most)
    ]


def test_the_chance_is_split_over_all_blocks() -> None:
    """Single groups have half of it, and all blocks together the other half."""
    asked = dict[tuple[int, ...], float]()

    def block_noise(places: Sequence[int], tail: float) -> tuple[float, float]:
        asked.setdefault(tuple(places), tail)
        return 1e9, 1.0

    shown_groups([range(11), range(11, 13)], [0] * 13, block_noise, 0.05, 0, alike=False)
    single = [tail for places, tail in asked.items() if len(places) == 1]
    blocks = [tail for places, tail in asked.items() if len(places) > 1]
    assert len(single) == 13 and 1 - np.prod([1 - tail for tail in single]) == pytest.approx(0.025)
    assert sum(blocks) <= 0.025 * (1 + 1e-9) and sum(blocks) > 0.02


# -- what is seen ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_days_that_no_single_count_tells_from_noise_are_all_shown(noise: Mechanism) -> None:
    """184 days of 38 rows, and as many without: nearly all of the first are shown,
    and few of the second.
    """
    random, tries = np.random.default_rng(2), 60
    full = [_shown(noise, _noisy(noise, [38] * 184, random)).places for _ in range(tries)]
    half = [
        _shown(noise, _noisy(noise, [38] * 192 + [0] * 192, random)).places for _ in range(tries)
    ]
    assert (
        np.mean([len(places) == 184 for places in full]) > 0.8 and np.mean([*map(len, full)]) > 180
    )
    assert np.mean([sum(place < 192 for place in places) for places in half]) > 180
    assert np.mean([sum(place >= 192 for place in places) for places in half]) < 20


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_a_peak_of_one_day_is_shown_alone(noise: Mechanism) -> None:
    random = np.random.default_rng(3)
    found = [
        _shown(noise, _noisy(noise, [0] * 90 + [600] + [0] * 93, random)).places for _ in range(50)
    ]
    assert all(90 in places for places in found) and np.mean([*map(len, found)]) < 4


def test_weekends_without_rows_are_not_shown_where_they_can_be_told() -> None:
    random, week = np.random.default_rng(4), [400] * 5 + [0] * 2
    found = [set(_shown(NOISES[0], _noisy(NOISES[0], week * 26, random)).places) for _ in range(50)]
    shown = np.array([[place in places for place in range(182)] for places in found])
    weekdays = np.array(week * 26) > 0
    assert shown[:, weekdays].mean() > 0.99 and shown[:, ~weekdays].mean() < 0.02


def test_without_noise_the_groups_with_rows_are_shown() -> None:
    random = np.random.default_rng(5)
    for noise in (Laplace(1, Fraction(1, 10**9)), Gaussian(1, Fraction(1, 10**12))):
        for _ in range(50):
            counts = [
                int(each) for each in random.integers(0, 3, 75) * random.integers(0, 2, 75) ** 2
            ]
            assert _shown(noise, counts).places == tuple(np.flatnonzero(counts))


def test_a_run_is_one_ordered_key_within_the_values_of_all_others() -> None:
    day, kind, hour = Literal(date(2024, 1, 1), DATE), Literal("a", TEXT), Literal(1, INTEGER)
    days = [date(2024, 1, 1) + timedelta(days) for days in range(5)]
    keys: list[tuple[object, ...]] = [
        (name, each, 7) for each in reversed(days) for name in "ba"
    ] + [("a", None, 7)]
    assert key_runs([kind, day, hour], keys) == [[8, 6, 4, 2, 0], [9, 7, 5, 3, 1], [10]]
    assert key_runs([kind], [("a",), ("b",)]) == [[0], [1]]


# -- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_the_slack_of_a_group_is_the_loss_that_hides_it(noise: Mechanism) -> None:
    """Against the rule itself with one count made smaller: by the slack, by one less,
    and by some losses in between.
    """
    random, within, compared = np.random.default_rng(6), 160, 0
    for level in (45, 60, 130, 45, 60, 130):
        counts = _noisy(noise, [int(level * random.integers(0, 3)) for _ in range(24)], random)
        found = _shown(noise, counts, within=within)
        for place in found.places:
            slack = round(found.slacks.get(place, within + 1))
            for loss in {slack, slack - 1, *random.integers(1, slack + 1, 2).tolist()} - {
                0,
                within + 1,
            }:
                less = [*counts[:place], counts[place] - loss, *counts[place + 1 :]]
                assert (place in _shown(noise, less).places) == (loss < slack)
            compared += slack <= within
    assert compared > 20


SIZES = {
    "days": [38] * 184,
    "a few small ones": [60 if day % 20 == 0 else 0 for day in range(184)],
    "two": [100, 100] + [0] * 182,
    "nothing": [0] * 60,
    "sixteen": [40] * 16 + [0] * 100,
}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_intervals_of_shown_groups_hold_their_counts(noise: Mechanism, sizes: str) -> None:
    random, half, held = np.random.default_rng(7), noise.half_width(CONFIDENCE), list[bool]()
    for _ in range(200 if len(SIZES[sizes]) < 184 else 60):
        counts = _noisy(noise, SIZES[sizes], random)
        found = _shown(noise, counts, within=2 * half)
        for place in found.places:
            low = counts[place] - half
            if place in found.slacks:
                least = counts[place] - round(found.slacks[place]) + 1
                low = min(low, shown_interval(noise, least, counts[place], CONFIDENCE, 0)[0])
            held.append(low <= SIZES[sizes][place] <= counts[place] + half)
    assert np.mean(held or [True]) >= 0.93 or stats.binom.cdf(sum(held), len(held), 0.95) > 1e-3


# -- statements ------------------------------------------------------------------------------------

SCHEMA = """
name = "shop"
source = "data"
ledger = "shop.ledger"
[privacy]
unit = "sales.id"
epsilon = 100
{promise}
query_epsilon = 0.05
[tables.sales]
key = "id"
max_rows_per_unit = 1
[tables.sales.columns]
id = {{ type = "integer" }}
country = {{ type = "text", values = ["a", "b"] }}
day = {{ type = "date", bounds = [2024-01-01, 2024-12-31] }}
sold = {{ type = "timestamp", bounds = [2024-01-01, 2024-12-31] }}
size = {{ type = "integer", bounds = [0, 999] }}
"""
#: 184 days of 38 rows, all in country a.
ROWS = """SELECT i AS id, 'a' AS country, DATE '2024-01-01' + (i % 184)::INTEGER AS day,
    TIMESTAMP '2024-01-01' + to_seconds((i % 184) * 86400 + i % 7200) AS sold, (100 + i % 400)::INTEGER AS size
    FROM range(184 * 38) t(i)"""


@pytest.fixture(
    scope="module", params=["delta = 0", 'delta = 1e-6\nmechanism = "gaussian"'], ids=["L1", "L2"]
)
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    home: Path = tmp_path_factory.mktemp("shop")
    (home / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{home}/data/sales.parquet'")
    (home / "shop.toml").write_text(SCHEMA.format(promise=request.param), encoding="utf-8")
    with closing(open_database(home / "shop.toml")) as opened:
        yield opened


@pytest.mark.parametrize(
    "text",
    [
        "SELECT day, COUNT(*) AS n FROM sales GROUP BY day",
        "SELECT day, country, COUNT(*) AS n FROM sales GROUP BY day, country",
        "SELECT size // 10 AS bin, COUNT(*) AS n FROM sales GROUP BY 1",
        "SELECT DATE_TRUNC('day', sold) AS d, COUNT(*) AS n FROM sales GROUP BY 1",
        "SELECT EXTRACT(doy FROM day) AS d, COUNT(*) AS n FROM sales GROUP BY 1",
        "SELECT day, SUM(size) / COUNT(*) AS mean, COUNT(*) AS n FROM sales GROUP BY day",
    ],
)
def test_statements_show_the_groups_that_sql_shows(text: str, shop: Database) -> None:
    session = shop.session("ada")
    shown = session.execute(text)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE sales AS {ROWS}")
        exact = {
            row[:-1] if len(row) == 3 and "mean" not in text else row[:1]: row[-1]
            for row in connection.execute(text).fetchall()
        }
    named = [
        (row[:-1] if len(row) == 3 and "mean" not in text else row[:1], row[-1])
        for row in shown.rows
    ]
    keys = {name for name, _ in named}
    assert len(keys & exact.keys()) > 0.8 * len(exact) and len(keys - exact.keys()) < 0.7 * len(
        exact
    )
    held = [
        bar[-1] is not None and bar[-1][0] <= exact.get(name, 0) <= bar[-1][1]
        for (name, _), bar in zip(named, shown.intervals, strict=True)
    ]
    assert np.mean(held) > 0.88


def test_a_chart_that_is_made_of_an_earlier_one_has_blocks_too(shop: Database) -> None:
    session = shop.session("ada")
    session.execute("SELECT day, country, COUNT(*) AS n FROM sales GROUP BY day, country")
    coarser = session.execute("SELECT day, COUNT(*) AS n FROM sales GROUP BY day")
    assert coarser.price.stored and len(coarser.rows) > 150
    bars = [bar[1] for bar in coarser.intervals]
    assert np.mean([bar is not None and bar[0] <= 38 <= bar[1] for bar in bars]) > 0.88


def test_a_count_that_its_noise_has_shown_has_an_interval_down_to_zero(
    shop: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One count of a year just reaches the threshold,
    in a released row and in what is read off it.
    """
    session = shop.session("ada")
    session.epsilon = Fraction(1, 31)
    session.set("dpsql.reuse", "off")
    text = "SELECT day, COUNT(*) AS n, COUNT(*) / 2 AS h, AVG(size) AS m FROM sales GROUP BY day"
    (core,) = session.plan(text).cores
    assert core.presence is not None
    noise, least = core.presence.noise, core.presence.threshold(366)
    half = float(noise.half_width(CONFIDENCE) * core.steps[core.presence.cell])
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(
            mechanism,
            "perturb",
            lambda _, values, *, _entropy: [
                least + 2 if n == 40 else -9 for n in range(len(values))
            ],
        )
    shown = session.execute(text)
    (row,), (bars,) = shown.rows, shown.intervals
    assert row[0] == date(2024, 2, 10) and bars[1] is not None and bars[2] is not None
    low, high = bars[1]
    assert low == 0 and high == pytest.approx(row[1] + half, abs=1) and bars[2][0] == 0  # type: ignore[operator]
