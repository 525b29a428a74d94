"""A database of people and their visits, what is asked of it, and what one person moves in it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import duckdb
from exact_rows import exact_rows

from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.workload import PricedWorkload
from dpsql.session import Session, open_session

SCHEMA = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 3
delta = 1e-6
query_epsilon = 0.1
{privacy}
[tables.people]
{key}
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 100], nullable = true }}
city = {{ type = "text", values = ["Rome", "Oslo", "Bern"], nullable = true }}
member = {{ type = "boolean", nullable = true }}
born = {{ type = "date", bounds = [1930-01-01, 2020-12-31], nullable = true }}
joined = {{ type = "timestamp", bounds = [2024-01-01T00:00:00, 2024-12-31T23:59:59], nullable = true }}
[tables.visits]
references = {{ person = "people.id" }}
max_rows_per_unit = 6
[tables.visits.columns]
person = {{ type = "integer" }}
shop = {{ type = "text", values = ["north", "south"] }}
paid = {{ type = "integer", bounds = [0, 50] }}
"""

PEOPLE = [
    (0, 30, "Rome", True),
    (1, 31, "Rome", False),
    (2, 30, "Oslo", True),
    (3, None, "Oslo", None),
    (4, 55, "rome", True),
    (5, 12, "Rôme", False),
    (6, 99, None, True),
    (7, 31, "Parisian", None),
    (8, 70, "Bern", False),
]
#: Everybody was born on one day and joined on another, in the morning.
BORN, JOINED = "DATE '1990-06-01'", "TIMESTAMP '2024-03-05 09:30:00'"
MICRO = Fraction("1e-6")
LAPLACE = 'mechanism = "laplace"'
#: Statements about the people, and about the visits of the people, for whom a condition holds.
COUNT = "SELECT COUNT(*) FROM people WHERE {}"
VISITED = "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE {}"

VISITS = [
    (person, shop, paid)
    for person in (*range(10), 2, 2)
    for shop, paid in (("north", 3), ("south", 40))
]


def shop(folder: Path, privacy: str = "", key: str = 'key = "id"', name: str = "shop") -> Path:
    """The schema's file, with the data beside it."""
    source = folder / "shop.duckdb"
    if not source.exists():
        with duckdb.connect(str(source)) as data:
            data.execute(
                "CREATE TABLE people (id INTEGER, age INTEGER, city VARCHAR, member BOOLEAN, born DATE, "
                "joined TIMESTAMP)"
            )
            data.execute("CREATE TABLE visits (person INTEGER, shop VARCHAR, paid INTEGER)")
            data.executemany(f"INSERT INTO people VALUES (?, ?, ?, ?, {BORN}, {JOINED})", PEOPLE)
            data.executemany("INSERT INTO visits VALUES (?, ?, ?)", VISITS)
    file = folder / f"{name}.toml"
    file.write_text(SCHEMA.format(privacy=privacy, key=key), "utf-8")
    return file


def opened(folder: Path, privacy: str = "", key: str = 'key = "id"') -> Session:
    return open_session(shop(folder, privacy, key))


@lru_cache(maxsize=64)
def database_without(person: int | None, folder: Path) -> duckdb.DuckDBPyConnection:
    """The database without one person."""
    data = duckdb.connect()
    data.execute(f"ATTACH '{folder / 'shop.duckdb'}' AS original (READ_ONLY)")
    data.execute("ATTACH ':memory:' AS source")
    for table, column in (("people", "id"), ("visits", "person")):
        kept = "" if person is None else f" WHERE {column} <> {person}"
        data.execute(
            f"CREATE TABLE source.main.{table} AS SELECT * FROM original.main.{table}{kept}"
        )
    data.execute("DETACH original")
    return data


def rows_without(
    cores: Iterable[CorePlan], person: int | None, folder: Path
) -> list[list[tuple[object, ...]]]:
    """The exact rows of each core, in the database without one person."""
    data = database_without(person, folder)
    return [sorted(exact_rows(data, core), key=repr) for core in cores]


def costs_of_one_person(plans: Iterable[Plan], folder: Path) -> list[Fraction]:
    """For each person, what the cores cost together whose exact rows that person moves."""
    cores = [core for plan in plans for core in plan.cores]
    whole = rows_without(cores, None, folder)
    found = []
    for person in range(10):
        less = rows_without(cores, person, folder)
        moved = [core.cost.rho for core, a, b in zip(cores, whole, less, strict=True) if a != b]
        found.append(sum(moved, Fraction(0)))
    return found


def counts(*conditions: str) -> list[str]:
    return [COUNT.format(each) for each in conditions]


def valid(workload: PricedWorkload) -> dict[str, bool]:
    return {offer.accountant: offer.valid for offer in workload.offers}


def why(workload: PricedWorkload, accountant: str) -> str:
    """Why the accountant is not valid for the workload."""
    offer = workload.offer(accountant)
    assert offer is not None and not offer.valid and offer.epsilon is None and offer.cost is None
    return offer.why
