"""What ``\\d`` and its relatives show of a schema, word for word."""

from __future__ import annotations

from datetime import date

import pytest

from dpsql.errors import StatementError
from dpsql.repl import describe
from dpsql.schema import Schema

SCHEMA = Schema.model_validate(
    {
        "name": "shop",
        "source": "nowhere.duckdb",
        "privacy": {"unit": "people.id", "epsilon": 1, "delta": 0, "query_epsilon": 1},
        "tables": {
            "people": {
                "key": "id",
                "max_rows_per_unit": 1,
                "comment": "who buys",
                "columns": {
                    "id": {"type": "integer"},
                    "day": {"type": "date", "bounds": [date(2024, 1, 1), date(2024, 3, 31)]},
                    "size": {
                        "type": "double",
                        "bounds": [0.5, 1e7],
                        "nullable": True,
                        "comment": "in metres",
                    },
                    "twelve": {"type": "integer", "values": list(range(12))},
                    "many": {"type": "integer", "values": list(range(13))},
                    "found": {"type": "double", "bounds": "auto"},
                },
            },
            "orders": {
                "key": ["person", "number"],
                "references": {"person": "people.id"},
                "max_rows_per_unit": 60,
                "max_groups_per_unit": 1,
                "max_rows_per_group": {"avg": 2, "sum": 3},
                "columns": {
                    "person": {"type": "integer"},
                    "number": {"type": "integer"},
                    "place": {"type": "text"},
                },
            },
            "places": {"public": True, "comment": "where", "columns": {"name": {"type": "text"}}},
        },
    }
)

PEOPLE = [
    ("id", "integer", "never", "", "key", ""),
    ("day", "date", "never", "2024-01-01 to 2024-03-31", "", ""),
    ("size", "double", "", "0.5 to 1e+07", "", "in metres"),
    ("twelve", "integer", "never", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11", "", ""),
    ("many", "integer", "never", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 … (13 values)", "", ""),
    ("found", "double", "never", "found when they are needed", "", ""),
]


@pytest.mark.parametrize("name", ["people", '"people"', "public.people", 'main."people"', "PEOPLE"])
def test_columns_are_told_with_what_is_known_of_them(name: str) -> None:
    rows, about = describe.columns(SCHEMA, name)
    assert list(rows.names) == ["column", "type", "null", "known values", "references", "comment"]
    assert list(rows.rows) == PEOPLE
    assert about == [
        "people: who buys",
        "Its rows are private: they belong to a people.id.",
        "At most 1 row of one unit counts.",
    ]


def test_limits_are_told_in_words_and_references_beside_keys() -> None:
    rows, about = describe.columns(SCHEMA, "orders")
    assert [row[4] for row in rows.rows] == ["key people.id", "key", ""]
    assert about == [
        "Its rows are private: they belong to a people.id.",
        "At most 60 rows of one unit count.",
        "At most 1 group of one unit counts.",
        "At most 3 rows of one unit in a group count.",
        "At most 2 rows of one unit in a group of an average count.",
    ]
    assert describe.columns(SCHEMA, "places")[1] == [
        "places: where",
        "Its rows are public: they cost nothing.",
    ]


TABLES = {
    "people": ("people", "private", "the unit itself", "who buys"),
    "orders": ("orders", "private", "at most 60 count", ""),
    "places": ("places", "public", "any number", "where"),
    "sold": ("sold", "synopsis", "", "of orders"),
}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", "people orders places sold"),
        ("p*", "people places"),
        ('"P?????"', "people places"),
        ("s*", "sold"),
        ("orders", "orders"),
        ("*D*", "orders sold"),
        ("x", ""),
    ],
)
def test_tables_and_synopses_are_those_that_the_pattern_fits(pattern: str, names: str) -> None:
    found = describe.tables(SCHEMA, pattern, [("sold", "of orders")])
    assert list(found.names) == ["table", "rows", "of one unit", "comment"]
    assert list(found.rows) == [TABLES[name] for name in names.split()]


def test_a_pattern_without_signs_stands_for_itself() -> None:
    assert describe.named(SCHEMA, "nowhere") == ["nowhere"] and describe.named(SCHEMA, '"P*"') == [
        "people",
        "places",
    ]
    for ask in (lambda: describe.named(SCHEMA, "x*"), lambda: describe.columns(SCHEMA, "nowhere")):
        with pytest.raises(StatementError, match=r"\\d lists") as raised:
            ask()
        assert raised.value.code == "E_TABLE"


def test_functions_are_those_that_the_pattern_fits_with_a_call_of_each() -> None:
    (row,) = describe.allowed("DATE_TRUN?").rows
    assert row[0] == "date_trunc" and str(row[2]).startswith("DATE_TRUNC(")
    assert len(describe.allowed().rows) > 300
