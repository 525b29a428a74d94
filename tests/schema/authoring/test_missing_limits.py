"""What a schema file leaves open, by what it declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.errors import SchemaError
from dpsql.schema.authoring.missing_limits import (
    GROUPS,
    ROWS,
    ROWS_PER_GROUP,
    MissingLimits,
    missing_limits,
)
from dpsql.schema.table import MAX_LIMIT

HEAD = """
name = "shop"
source = "nowhere.duckdb"
[privacy]
unit = "people.id"
epsilon = 1
delta = 0
query_epsilon = 1
[tables.people]
{people}
[tables.people.columns]
id = {{ type = "integer" }}
age = {{ type = "integer" }}
height = {{ type = "double", bounds = [0, 3] }}
[tables.orders]
references = {{ person = "people.id", place = "places.name" }}
{orders}
[tables.orders.columns]
person = {{ type = "integer" }}
place = {{ type = "text" }}
{column}
[tables.places]
public = true
[tables.places.columns]
name = {{ type = "text" }}
"""
ALL = (ROWS, GROUPS, ROWS_PER_GROUP)


def missing(
    tmp_path: Path,
    people: str = 'key = "id"',
    orders: str = "",
    column: str = "",
    named: tuple[str, ...] = (),
) -> MissingLimits:
    file = tmp_path / "shop.toml"
    file.write_text(HEAD.format(people=people, orders=orders, column=column))
    return missing_limits(file, named)


@pytest.mark.parametrize(
    ("orders", "named", "asked"),
    [
        ("", (), ALL),
        ("max_rows_per_unit = 60", (), (GROUPS, ROWS_PER_GROUP)),
        ("max_rows_per_unit = 60\nmax_groups_per_unit = 3", (), (ROWS_PER_GROUP,)),
        ("max_rows_per_unit = 60\nmax_rows_per_group = { sum = 3 }", (), (GROUPS,)),
        ("max_rows_per_unit = 60\nmax_rows_per_group = { avg = 3 }", (), (GROUPS,)),
        ("max_groups_per_unit = 3\nmax_rows_per_group = 2", (), ()),
        ("max_groups_per_unit = 3\nmax_rows_per_group = 2", ("orders",), ALL),
        (
            "max_rows_per_unit = 60\nmax_groups_per_unit = 3\nmax_rows_per_group = 2",
            ("orders",),
            ALL,
        ),
        ("max_rows_per_unit = 1", (), ()),
        ("max_rows_per_unit = 1", ("orders",), ALL),
        ("", ("people",), None),
    ],
)
def test_limits_are_looked_for_where_none_is_declared_or_the_table_is_named(
    tmp_path: Path, orders: str, named: tuple[str, ...], asked: tuple[str, ...] | None
) -> None:
    found = missing(tmp_path, orders=orders, named=named)
    assert found.limits.get("orders") == asked
    lacks = "max_rows_per_unit" not in orders and "max_rows_per_group = 2" not in orders
    assert found.lacking == {"people", *(["orders"] if lacks else [])}
    assert (found.schema.tables["orders"].max_rows_per_unit == MAX_LIMIT) is lacks
    assert all(
        each.max_rows_per_unit == MAX_LIMIT
        for each in found.unlimited.tables.values()
        if not each.public
    )


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("", ("place",)),
        ('kind = { type = "text", values = ["a"] }', ("place", "kind")),
        ('paid = { type = "boolean" }', ("place", "paid")),
        ('note = { type = "text" }', ("place",)),
        ('n = { type = "integer", bounds = [0, 9] }', ("place",)),
    ],
)
def test_groups_are_made_by_declared_values_truth_values_and_references_to_public_tables(
    tmp_path: Path, column: str, keys: tuple[str, ...]
) -> None:
    assert missing(tmp_path, column=column).keys == {"people": (), "orders": keys}


@pytest.mark.parametrize(
    ("column", "bounds"),
    [
        ("", ()),
        ('price = { type = "decimal(9,2)" }', ("price",)),
        ('price = { type = "double", bounds = "auto" }', ("price",)),
        ('price = { type = "double", bounds = [0, 1] }', ()),
        ('price = { type = "integer", values = [1, 2] }', ()),
        ('day = { type = "date" }', ()),
    ],
)
def test_bounds_are_looked_for_of_numbers_that_have_none(
    tmp_path: Path, column: str, bounds: tuple[str, ...]
) -> None:
    found = missing(tmp_path, column=column)
    assert found.bounds == {"people": ("age",), "orders": bounds} and found.tables == [
        "people",
        "orders",
    ]
    file = tmp_path / "shop.toml"
    assert missing_limits(file, bounds=False).bounds == {"people": (), "orders": ()}
    only = missing_limits(file, limits=False)
    assert only.limits == {"people": (), "orders": ()} and only.alone == ()
    assert only.tables == ["people", *(["orders"] if bounds else [])]


def test_a_table_whose_key_is_the_unit_has_one_row_of_each(tmp_path: Path) -> None:
    assert missing(tmp_path).alone == ("people",) and missing(tmp_path).limits["people"] == ()
    assert missing(tmp_path, people='key = "id"\nmax_rows_per_unit = 1').alone == ()
    assert missing(tmp_path, people="").alone == () and missing(tmp_path, people="").limits[
        "people"
    ] == (ROWS,)


@pytest.mark.parametrize("named", ["places", "nowhere"])
def test_only_private_tables_can_be_named(tmp_path: Path, named: str) -> None:
    with pytest.raises(
        SchemaError, match=f"there is no private table {named}; private are people, orders"
    ):
        missing(tmp_path, named=(named,))


def test_columns_can_be_named_and_nothing_else_is_looked_for_then(tmp_path: Path) -> None:
    missing(tmp_path, people="", column='price = { type = "double" }\nweight = { type = "double" }')
    file = tmp_path / "shop.toml"
    found = missing_limits(file, columns=("orders.price", "people.age", "orders.price"))
    assert found.bounds == {"people": ("age",), "orders": ("price",)} and found.tables == [
        "people",
        "orders",
    ]
    assert set(found.limits.values()) == {()} and found.alone == ()
    one = missing_limits(file, columns=("orders.weight",))
    assert one.bounds == {"orders": ("weight",)} and one.tables == ["orders"]
    assert set(missing_limits(file).limits.values()) != {()}


@pytest.mark.parametrize(
    "named",
    [
        "age",
        "people.height",
        "people.id",
        "people.nothing",
        "nobody.age",
        "places.name",
        "orders.place",
    ],
)
def test_only_numbers_without_bounds_can_be_named(tmp_path: Path, named: str) -> None:
    missing(tmp_path)
    with pytest.raises(
        SchemaError, match=f"{named} is no column of numbers without bounds in a private table"
    ):
        missing_limits(tmp_path / "shop.toml", columns=(named,))
