"""A small database made by hand so that each claim is reached: heavy units, twins,
rows of nobody, hostile values.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from worlds import NULL, Column, Table, World

_PEOPLE = Table(
    "people",
    (
        Column("id", "INTEGER", None, role="unit"),
        Column("grade", "VARCHAR", "grade", True),
        Column("signed", "DOUBLE", "signed", True),
        Column("above", "INTEGER", "above"),
        Column("birth", "DATE", "birth", True),
        Column("word", "VARCHAR", "word", True),
        Column("seen", "TIMESTAMP", "moment", True),
    ),
    (
        (
            "1",
            "'A'",
            "'-0.0'::DOUBLE",
            "1010",
            "'5881580-07-10'::DATE",
            "'x'",
            "'infinity'::TIMESTAMP",
        ),
        ("2", "'B'", "0.0", "5000", "'4714-01-01 (BC)'::DATE", "'x'", "'-infinity'::TIMESTAMP"),
        (
            "3",
            "'C'",
            "'nan'::DOUBLE",
            "1000",
            "DATE '2020-02-29'",
            "'y'",
            "TIMESTAMP '2020-03-01 12:30:45'",
        ),
        (
            "4",
            "'C'",
            "'inf'::DOUBLE",
            "1000",
            "DATE '2020-02-29'",
            "'y'",
            "TIMESTAMP '2020-03-01 12:30:45'",
        ),
        (
            "5",
            "'a'",
            "'-inf'::DOUBLE",
            "-7",
            "'infinity'::DATE",
            "'alone'",
            "TIMESTAMP '290000-01-01'",
        ),
        (NULL, "'A'", "1.0", "1010", NULL, "'x'", NULL),
    ),
    limits=(("max_rows_per_unit", 1),),
)


def _visits(limits: tuple[tuple[str, int], ...]) -> Table:
    """Unit 1 has 24 visits over many words, unit 2 six in one, 3 and 4 are twins,
    6 has one row too many.

    One visit is nobody's, and one of somebody whom the table of people does not have.
    """
    rows = [
        (str(n), "1", str(n % 6), "1e300::DOUBLE" if n % 2 else "3.0", f"'w{n % 8}'", "499.99")
        for n in range(24)
    ]
    rows += [(str(30 + n), "2", "5", "-1e300::DOUBLE", "'w1'", "9999999999.99") for n in range(6)]
    rows += [
        (str(40 + n), unit, "127", "-1000.0", "'twin'", "9999999999.99")
        for n, unit in enumerate(["3", "4"])
    ]
    rows += [(str(60 + n), "6", "5", "-5.0", f"'v{n}'", "500.00") for n in range(4)]
    rows += [
        ("50", NULL, "5", "3.0", "'nobody'", "500.00"),
        ("51", "77", "5", "3.0", "'stranger'", "500.00"),
    ]
    return Table(
        "visits",
        (
            Column("id", "INTEGER", None, role="key"),
            Column("pid", "INTEGER", None, role="parent"),
            Column("small", "INTEGER", "small", True),
            Column("signed", "DOUBLE", "signed", True),
            Column("word", "VARCHAR", "word", True),
            Column("price", "DECIMAL(12,2)", "price", True),
        ),
        tuple(rows),
        ("people", "id"),
        "pid",
        limits=limits,
    )


_ITEMS = Table(
    "items",
    (Column("visit", "INTEGER", None, role="parent"), Column("share", "DOUBLE", "share", True)),
    tuple((str(n % 26), "0.9::DOUBLE") for n in range(60)),
    ("visits", "id"),
    "visit",
    limits=(("max_rows_per_unit", 4),),
)
_PLACES = Table(
    "places",
    (Column("code", "VARCHAR", "word"), Column("region", "VARCHAR", "word", True)),
    (
        ("'w1'", "'north'"),
        ("'w1'", "'south'"),
        ("'w2'", "'north'"),
        ("'x'", "'east'"),
        ("'zero'", "'empty'"),
    ),
    public=True,
)

#: Ways to bound a unit's visits, and promises under which every statement is tried.
LIMITS: dict[str, tuple[tuple[str, int], ...]] = {
    "rows": (("max_rows_per_unit", 3),),
    "groups": (("max_groups_per_unit", 2), ("max_rows_per_group", 2)),
    "all": (("max_rows_per_unit", 5), ("max_groups_per_unit", 3), ("max_rows_per_group", 2)),
}
#: A way in which averages have a limit of their own, beside it the one that sums have.
AVERAGES: dict[str, Any] = {
    "averages": (
        ("max_rows_per_unit", 5),
        ("max_groups_per_unit", 3),
        ("max_rows_per_group", {"avg": 1, "sum": 2}),
    )
}
PROMISES: dict[str, dict[str, Any]] = {
    "L1": {"delta": 0},
    "L2": {"delta": Decimal("1e-6")},
    "L1 with delta": {"delta": Decimal("1e-6"), "mechanism": "laplace"},
    "replace": {"delta": Decimal("1e-6"), "neighbours": "replace"},
}


@cache
def hand_world(limits: str = "rows", promise: str = "L2") -> World:
    """The database under one way to bound visits and one promise."""
    privacy = {"epsilon": 1000, "query_epsilon": 1, **PROMISES[promise]}
    return World(
        0,
        (_PEOPLE, _visits({**LIMITS, **AVERAGES}[limits]), _ITEMS, _PLACES),
        tuple(privacy.items()),
    )


@cache
def tame_world() -> World:
    """A database that keeps all its owner declares, with limits that do not bind:
    answers without noise are exact.

    Unit 5 has no visit, unit 6 no items, words and visits' words are NULL here and there.
    """
    words = {n: NULL if n == 4 else f"'w{n % 2}'" for n in range(1, 7)}
    people = tuple(
        (
            str(n),
            f"'{'ABC'[n % 3]}'",
            f"{n % 3}.0",
            str(1000 + n),
            f"DATE '20{n:02}-01-01'",
            word,
            f"TIMESTAMP '2020-0{n}-01 10:00:00'",
        )
        for n, word in words.items()
    )
    owners = [1, 1, 1, 2, 2, 3, 4, 4, 6]
    visits = tuple(
        (
            str(10 + n),
            str(unit),
            str(n % 4),
            f"{n % 3}.0",
            NULL if n % 5 == 4 else f"'w{n % 3}'",
            f"{n}.50",
        )
        for n, unit in enumerate(owners)
    )
    items = tuple((str(10 + n % 8), f"0.{n % 9}") for n in range(20))
    few, loose = (("max_rows_per_unit", 10),), (("max_rows_per_unit", 100),)
    tables = (
        replace(_PEOPLE, rows=people, limits=few),
        replace(_visits(loose), rows=visits),
        replace(_ITEMS, rows=items, limits=loose),
        _PLACES,
    )
    privacy = {"epsilon": 1000, "query_epsilon": 1, **PROMISES["L2"]}
    return World(0, tables, tuple(privacy.items()))
