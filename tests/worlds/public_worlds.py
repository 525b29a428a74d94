"""A database whose limits are just what units have,
beside public tables of which a row meets several rows.
"""

from __future__ import annotations

from functools import cache

from hand_world import PROMISES
from worlds import Column, Table, World

_PEOPLE = Table(
    "people",
    (
        Column("id", "INTEGER", None, role="unit"),
        Column("grade", "VARCHAR", "grade"),
        Column("small", "INTEGER", "small"),
        Column("word", "VARCHAR", "word"),
    ),
    tuple((str(n), f"'{'ABC'[n % 3]}'", str(n % 6), f"'{'xyz'[n % 3]}'") for n in range(1, 13)),
    limits=(("max_rows_per_unit", 1),),
)
_PLACES = Table(
    "places",
    (
        Column("code", "VARCHAR", "word"),
        Column("region", "VARCHAR", "word"),
        Column("level", "INTEGER", "loose"),
    ),
    (
        ("'x'", "'north'", "1"),
        ("'x'", "'south'", "2"),
        ("'y'", "'north'", "3"),
        ("'z'", "'south'", "4"),
        ("'z'", "'south'", "2"),
    ),
    public=True,
)
_MONTHS = Table(
    "months",
    (Column("month", "DATE", "birth"), Column("season", "VARCHAR", "word")),
    tuple((f"DATE '2020-{n:02}-01'", f"'{'abcd'[(n - 1) // 3]}'") for n in range(1, 13)),
    public=True,
)
_RATES = Table(
    "rates",
    (
        Column("first", "DATE", "birth"),
        Column("last", "DATE", "birth"),
        Column("currency", "VARCHAR", "word"),
        Column("rate", "DOUBLE", "signed"),
    ),
    tuple(
        (f"DATE '2020-{n:02}-01'", f"DATE '2020-{n:02}-28'", f"'{currency}'", f"{n / 8}::DOUBLE")
        for n in range(1, 13)
        for currency in ("eur", "usd")
    ),
    public=True,
)


def _stays(limits: tuple[tuple[str, int], ...]) -> Table:
    """Up to three stays of each person, of up to a year."""
    rows = []
    for person in range(1, 13):
        for number in range(1 + person % 3):
            first, last = 1 + (person + number) % 9, 1 + (person + number) % 9 + person % 4
            rows.append(
                (
                    str(10 * person + number),
                    str(person),
                    f"DATE '2020-{first:02}-10'",
                    f"DATE '2020-{last:02}-20'",
                    f"{person}.50",
                )
            )
    return Table(
        "stays",
        (
            Column("id", "INTEGER", None, role="key"),
            Column("pid", "INTEGER", None, role="parent"),
            Column("came", "DATE", "day"),
            Column("went", "DATE", "day"),
            Column("price", "DECIMAL(12,2)", "price"),
        ),
        tuple(rows),
        ("people", "id"),
        "pid",
        limits=limits,
    )


#: Limits that no unit is above, and some unit has.
TIGHT = {
    "rows": (("max_rows_per_unit", 3),),
    "groups": (("max_groups_per_unit", 3), ("max_rows_per_group", 3)),
}


@cache
def public_world(promise: str, limits: str = "rows") -> World:
    """The database under one promise."""
    privacy = {"epsilon": 1000, "query_epsilon": 1, **PROMISES[promise]}
    tables = (_PEOPLE, _stays(TIGHT[limits]), _PLACES, _MONTHS, _RATES)
    return World(0, tables, tuple(privacy.items()))
