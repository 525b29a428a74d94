"""The events data of the benchmarks: deterministic Parquet of any size,
and the schema file that describes it.

Run ``python benchmarks/events.py FOLDER --events 1000000``. A fifteenth as many users as events; 5
% of the users are heavy and own 37 % of the events. (With so many users, keeping 50 rows of each
loses about a fifth of the total, as in the published figures.) Each event has one of 20 countries,
one of 1,000 categories by Zipf's law, and an amount.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb
import numpy as np

HEAVY_SHARE, HEAVY_ROWS = 0.05, 0.37
COUNTRIES = tuple("AT BE CH CZ DE DK ES FI FR GB GR HU IE IT NL NO PL PT SE SK".split())
SEGMENTS = ("business", "family", "private", "student")
CATEGORIES = 1_000
#: What the owner declares an amount to be; larger ones occur and are clamped.
MOST_AMOUNT = 100

SCHEMA = """\
name = "events"
source = "data"

# The people are made up, so the total leaves room for as many runs as a benchmark likes.
[privacy]
unit = "users.user_id"
epsilon = 1000000
delta = 0.01
query_epsilon = 1
query_delta = 1e-6
mechanism = "{mechanism}"

[tables.users]
key = "user_id"
max_rows_per_unit = 1
[tables.users.columns]
user_id = {{ type = "integer" }}
segment = {{ type = "text", values = [{segments}] }}
joined = {{ type = "date" }}

[tables.events]
references = {{ user_id = "users.user_id" }}
max_rows_per_unit = 80
max_groups_per_unit = {groups}
[tables.events.columns]
user_id = {{ type = "integer" }}
country = {{ type = "text", values = [{countries}] }}
category = {{ type = "integer" }}
amount = {{ type = "double", bounds = [0, {most}] }}
"""


def generate(folder: Path, events: int) -> None:
    """Write ``folder/data/{users,events}.parquet``, the same for the same number of events."""
    draw = np.random.default_rng(events)
    users = max(events // 15, 20)
    heavy = max(round(users * HEAVY_SHARE), 1)
    by_heavy = draw.random(events) < HEAVY_ROWS
    owner = np.where(by_heavy, draw.integers(0, heavy, events), draw.integers(heavy, users, events))
    names = draw.permutation(10 * users)[
        :users
    ]  # heavy users have no names of their own, nor have they a range
    country = draw.choice(len(COUNTRIES), events, p=_zipf(len(COUNTRIES), 0.7))
    category = 1 + draw.choice(CATEGORIES, events, p=_zipf(CATEGORIES, 1.0))
    amount = np.round(draw.lognormal(2.8, 0.6, events), 2)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.register(
            "event_columns",
            {
                "user_id": names[owner],
                "country": country.astype(np.int32),
                "category": category,
                "amount": amount,
            },
        )
        connection.register(
            "user_columns",
            {
                "user_id": names,
                "segment": draw.integers(0, len(SEGMENTS), users).astype(np.int32),
                "joined": draw.integers(0, 3_000, users).astype(np.int32),
            },
        )
        chosen = "list_extract({names!r}, {column} + 1)"
        connection.execute(
            f"COPY (SELECT user_id, {chosen.format(names=list(COUNTRIES), column='country')} AS country, category, "
            f"amount FROM event_columns) TO '{data / 'events.parquet'}'"
        )
        connection.execute(
            f"COPY (SELECT user_id, {chosen.format(names=list(SEGMENTS), column='segment')} AS segment, "
            f"DATE '2015-01-01' + joined AS joined FROM user_columns) TO '{data / 'users.parquet'}'"
        )


def write_schema(folder: Path, mechanism: str, groups: int) -> Path:
    """The schema file under one kind of noise,
    with a user held to ``groups`` groups of an answer.
    """
    path = folder / f"events-{mechanism}-{groups}.toml"
    quoted = {
        name: ", ".join(f'"{each}"' for each in names)
        for name, names in (("countries", COUNTRIES), ("segments", SEGMENTS))
    }
    path.write_text(
        SCHEMA.format(mechanism=mechanism, groups=groups, most=MOST_AMOUNT, **quoted),
        encoding="utf-8",
    )
    return path


def _zipf(size: int, exponent: float) -> np.ndarray:
    weights = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    return weights / weights.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    arguments = parser.parse_args()
    generate(arguments.folder, arguments.events)
    print(
        f"{arguments.events:,} events in {arguments.folder}",
        write_schema(arguments.folder, "gaussian", 20).name,
    )


if __name__ == "__main__":
    main()
