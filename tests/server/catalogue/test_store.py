"""The store behind a catalogue: its values, its numbers of objects,
and how many stores are kept.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest
from asked import values_of

from dpsql.errors import DataError
from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue
from dpsql.server.catalogue.store.catalogue_store import KEPT, _StoreCache
from dpsql.server.catalogue.store.catalogue_types import literal
from dpsql.server.catalogue.store.objects import FIRST_OID, CatalogueObjects


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (None, "NULL"),
        (True, "true"),
        (-7, "-7"),
        (0.1, "0.1::DOUBLE"),
        (float("-inf"), "'-Infinity'"),
        (Decimal("1.50"), "'1.50'"),
        ("it's '' \\", "'it''s '''' \\'"),
        (b"ab", "'ab'"),
        (date(2024, 7, 1), "'2024-07-01'"),
        (datetime(2024, 7, 1, 12, 30), "'2024-07-01T12:30:00'"),
        (["a", None], "['a', NULL]"),
        ((1, 2), "[1, 2]"),
    ],
)
def test_a_value_becomes_a_constant_that_duckdb_reads_as_it(value: object, same: str) -> None:
    (found,) = duckdb.execute(f"SELECT ({literal(value)}) IS NOT DISTINCT FROM ({same})").fetchall()
    assert found == (True,) or (value == float("-inf") and literal(value) == "'-inf'")


@pytest.mark.parametrize("value", ["a\0b", {1}, object()])
def test_what_is_no_constant_is_refused(value: object) -> None:
    with pytest.raises(DataError):
        literal(value)


def test_the_stores_that_were_used_last_are_kept(schema: Schema) -> None:
    cache = _StoreCache()
    try:
        names = [f"d{place}" for place in range(KEPT)]
        first = [cache.of(schema, name, ()) for name in names]
        assert cache.of(schema, names[0], ()) is first[0]
        assert cache.of(schema, names[0], (("s", ""),)) is not first[0], (
            "another set of synopses is another catalogue"
        )
        assert [
            cache.of(schema, name, ()) is made for name, made in zip(names, first, strict=True)
        ][:2] == [
            True,
            False,
        ]
    finally:
        cache.close()
    assert not cache._stores


def test_a_number_that_is_taken_gives_the_next_one(schema: Schema) -> None:
    objects = CatalogueObjects(schema, "demo", {}, {}, {})
    number = objects.oid_of("table", "a")
    assert [objects.oid("table", "a") for _ in range(3)] == [number, number + 1, number + 2]
    assert FIRST_OID <= number < 2**31 and objects.oid_of("type", "a") != number


def test_a_synopsis_is_a_materialized_view_without_columns(schema: Schema) -> None:
    seen = Catalogue(
        schema, database="demo", user="ada", synopses=lambda: [("ages", "of customers")]
    )
    text = "SELECT relname, relkind, relnatts, relhasindex, relhastriggers, obj_description(oid) FROM pg_class"
    assert seen.run(f"{text} WHERE relname = 'ages'").rows == (
        ("ages", "m", 0, False, False, "of customers"),
    )


def test_what_the_tables_are_like_is_said_of_each(catalogue: Catalogue) -> None:
    """Names, columns, keys, and whether something refers to it or it refers to something."""
    text = "SELECT relname, relnatts, relhasindex, relhastriggers FROM pg_class WHERE relnamespace = 2200"
    assert catalogue.run(f"{text} AND relkind = 'r' ORDER BY 1").rows == (
        ("customers", 7, True, True),
        ("order_totals", 2, False, False),
        ("orders", 9, True, True),
        ("visits", 5, True, True),
    )
    described = "SELECT objsubid, description FROM pg_description WHERE objoid = 'orders'::regclass ORDER BY 1"
    assert catalogue.run(described).rows == ((0, "customer orders"), (5, "In crowns, it's gross"))
    assert values_of(
        catalogue,
        "SELECT attname FROM pg_attribute WHERE attrelid = 'visits'::regclass AND attnotnull",
    ) == ["visit_id"]
