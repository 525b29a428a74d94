"""What was found is written into the owner's file, of which all else stays as it was written."""

from __future__ import annotations

import difflib
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.errors import SchemaError
from dpsql.schema import Catalog, CatalogColumn, CatalogTable, draft, load, loads
from dpsql.schema.authoring.draft import Choices
from dpsql.schema.authoring.missing_limits import GROUPS, ROWS, ROWS_PER_GROUP, missing_limits
from dpsql.schema.authoring.write_limits import Tuned, lines, literal, with_found
from dpsql.schema.table import MAX_LIMIT, RowsPerGroup

OPEN = """\
# Mine; all of it.
name = "shop"
source = "shop.duckdb"   # beside

[privacy]
unit = "people.id"
epsilon = 3   # for ever
delta = 1e-6

[tables.people]
key = "id"
# max_rows_per_unit = 1  # FILL IN: the most rows of one unit that may count
[tables.people.columns]
id = { type = "integer" }
mail = { type = "text" }

# What they bought.
[tables.buys]
references = { person = "people.id", shop = "shops.id" }
max_rows_per_group = 3     # a guess
[tables.buys.columns]
person = { type = "integer" }
shop = { type = "integer" }
gift = { type = "boolean" }
price = { type = "double", comment = "In euros" }  # bounds = [low, high] allows SUM and AVG
weight = { type = "decimal(5,1)", nullable = true }  # in grams
[tables.buys.columns.size]
type = "integer"

[tables.shops]
public = true
"""


def changed(before: str, after: str) -> list[str]:
    return [
        line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"
    ]


FOUND = Tuned(
    {"buys": {ROWS: 60, GROUPS: 7, ROWS_PER_GROUP: 2}, "people": {ROWS: 1}},
    {
        "buys": {
            "price": (Fraction(0), Fraction(25, 2)),
            "weight": (Fraction(-1, 10), Fraction(800)),
            "size": (Fraction(1), Fraction(40)),
        }
    },
)


def test_only_what_was_found_is_changed() -> None:
    after = with_found(OPEN, FOUND, "found")
    assert changed(OPEN, after) == [
        "- # max_rows_per_unit = 1  # FILL IN: the most rows of one unit that may count",
        "+ max_rows_per_unit = 1  # found",
        "- max_rows_per_group = 3     # a guess",
        "+ max_rows_per_group = { avg = 2, sum = 3 }  # found",
        "+ max_rows_per_unit = 60  # found",
        "+ max_groups_per_unit = 7  # found",
        '- price = { type = "double", comment = "In euros" }  # bounds = [low, high] allows SUM and AVG',
        '+ price = { type = "double", comment = "In euros", bounds = [0, 12.5] }  # bounds found',
        '- weight = { type = "decimal(5,1)", nullable = true }  # in grams',
        '+ weight = { type = "decimal(5,1)", nullable = true, bounds = [-0.1, 800] }  # in grams; bounds found',
        "+ bounds = [1, 40]  # bounds found",
    ]


def test_the_file_declares_what_was_found() -> None:
    buys = loads(with_found(OPEN, FOUND, "found")).tables["buys"]
    assert (buys.max_rows_per_unit, buys.max_groups_per_unit) == (60, 7)
    assert buys.max_rows_per_group == RowsPerGroup(avg=2, sum=3)
    assert (
        buys.columns["weight"].bounds is not None
        and float(buys.columns["weight"].bounds[0]) == -0.1
    )  # type: ignore[arg-type]
    again = with_found(
        with_found(OPEN, FOUND, "found before"), Tuned({"buys": {ROWS: 9}}, {}), "found now"
    )
    assert "max_rows_per_unit = 9  # found now\n" in again and again.count("found before") == 6


def test_what_a_limit_leaves_out_stands_beside_it() -> None:
    beyond = Tuned(
        {"buys": {ROWS: 60, GROUPS: 7}}, {}, {"buys": (Fraction(31, 1000), Fraction(1, 4))}
    )
    after = with_found(OPEN, beyond, "found")
    assert changed(OPEN, after) == [
        "+ max_rows_per_unit = 60  # found",
        "+ rows_beyond_limit = 0.031  # found",
        "+ rows_beyond_limit_at_most = 0.25  # found",
        "+ max_groups_per_unit = 7  # found",
    ]
    assert loads(with_found(after, FOUND, "again")).tables["buys"].rows_beyond_limit == Fraction(
        31, 1000
    )
    nothing = with_found(
        after, Tuned({"buys": {ROWS: 90}}, {}, {"buys": (Fraction(0), Fraction(1, 8))}), "now"
    )
    assert (
        "max_rows_per_unit = 90  # now\n" in nothing and "rows_beyond_limit = 0  # now\n" in nothing
    )
    assert "rows_beyond_limit_at_most = 0.125  # now\n" in nothing
    assert lines(beyond)[2:] == [
        "[tables.buys] rows_beyond_limit = 0.031",
        "[tables.buys] rows_beyond_limit_at_most = 0.25",
    ]


def test_a_dotted_table_and_a_file_without_an_end_are_written() -> None:
    text = 'tables.buys.columns.x = { type = "integer" }'
    found = with_found(
        text, Tuned({"buys": {ROWS: 2}}, {"buys": {"x": (Fraction(0), Fraction(9))}}), "found"
    )
    read = tomllib.loads(found)["tables"]["buys"]
    assert read["max_rows_per_unit"] == 2 and read["columns"]["x"]["bounds"] == [0, 9]


def test_a_table_that_is_gone_is_told() -> None:
    with pytest.raises(SchemaError, match=r"has no .*gone.* to write to"):
        with_found(OPEN, Tuned({"gone": {ROWS: 2}}), "found")


def test_lines_say_what_was_found() -> None:
    assert lines(
        Tuned(
            {"buys": {ROWS_PER_GROUP: 2}}, {"buys": {"price": (Fraction(-1, 8), Fraction(10**15))}}
        )
    ) == [
        "[tables.buys] max_rows_per_group = { avg = 2 }",
        "[tables.buys.columns] price: bounds = [-0.125, 1000000000000000]",
    ]
    assert literal(Fraction(5, 10**6)) == "0.000005"


def test_what_a_file_leaves_open(tmp_path: Path) -> None:
    """Limits that are not declared, and numbers without bounds;
    a unit that has one row needs none looked for.
    """
    file = tmp_path / "shop.toml"
    file.write_text(OPEN)
    wanted = missing_limits(file)
    assert wanted.lacking == {"people", "buys"} and wanted.alone == ("people",)
    assert wanted.limits == {"people": (), "buys": (ROWS, GROUPS)}
    assert wanted.bounds == {"people": (), "buys": ("price", "weight", "size")}
    assert wanted.keys["buys"] == ("shop", "gift")
    assert wanted.tables == ["buys"]
    loose = wanted.unlimited.tables["buys"]
    assert (loose.max_rows_per_unit, loose.max_rows_per_group) == (MAX_LIMIT, None)
    assert wanted.schema.tables["buys"].max_rows_per_group == 3
    assert missing_limits(file, limits=False).limits == {"people": (), "buys": ()}
    assert missing_limits(file, bounds=False).bounds == {"people": (), "buys": ()}
    assert missing_limits(file, ["buys"]).limits["buys"] == (ROWS, GROUPS, ROWS_PER_GROUP)
    with pytest.raises(SchemaError, match="no private table shops; private are people, buys"):
        missing_limits(file, ["shops"])
    with pytest.raises(SchemaError, match="nothing limits how much one unit contributes"):
        load(file)


def test_what_is_declared_is_left(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_text(with_found(OPEN, FOUND, "found"))
    wanted = missing_limits(file)
    assert not wanted.tables and not wanted.alone and not wanted.lacking
    assert missing_limits(file, ["buys"]).limits["buys"] == (ROWS, GROUPS, ROWS_PER_GROUP)
    assert not missing_limits(file, ["buys"]).bounds["buys"]


def test_a_draft_can_be_tuned(tmp_path: Path) -> None:
    """Where the owner has filled in the rest,
    the lines that ask for limits go as these are written.
    """
    columns = [
        CatalogColumn("id", "INTEGER", False),
        CatalogColumn("n", "INTEGER", False),
    ]
    catalog = Catalog(
        "shop.duckdb", (CatalogTable("people", "table", tuple(columns), key=("id",)),)
    )
    text = draft(catalog, Choices(unit="people.id", epsilon="1", delta="0"))
    assert "FILL IN: the most rows" in text
    file = tmp_path / "shop.toml"
    file.write_text(text)
    assert missing_limits(file).bounds == {"people": ("n",)} and missing_limits(file).alone == (
        "people",
    )
    after = with_found(
        text, Tuned({"people": {ROWS: 1}}, {"people": {"n": (Fraction(0), Fraction(9))}}), "found"
    )
    assert "FILL IN: the most rows" not in after
    assert loads(after).tables["people"].max_rows_per_unit == 1
