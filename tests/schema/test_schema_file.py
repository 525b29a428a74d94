"""A schema file is loaded whole, or refused with file, table, column and mend."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from datetime import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpsql.errors import SchemaError
from dpsql.schema import Owner, PathStep, Schema, json_schema, load, loads
from dpsql.schema.load import validated
from dpsql.schema.table import CsvFormat

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMAS = REPOSITORY / "schemas"

GOOD = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "people.id"
epsilon = 3.0
delta = 1e-6
[analysts.ada]
epsilon = 1
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
mail = { type = "text" }
[tables.visits]
references = { person = "people.id", shop = "shops.id" }
max_groups_per_unit = 3
max_rows_per_group = 5
[tables.visits.columns]
id = { type = "integer" }
person = { type = "integer" }
shop = { type = "integer" }
[tables.items]
references = { visit = "visits.id" }
max_rows_per_unit = 9
[tables.items.columns]
visit = { type = "integer" }
price = { type = "double", bounds = [0, 10] }
[tables.letters]
references = { mail = "people.mail" }
max_rows_per_unit = 9
[tables.letters.columns]
mail = { type = "text" }
[tables.shops]
public = true
"""


def test_numbers_are_exact_and_defaults_are_those_documented() -> None:
    privacy = loads(GOOD).privacy
    assert (privacy.epsilon, privacy.delta) == (Fraction(3), Fraction(1, 10**6))
    assert (privacy.query_epsilon, privacy.query_delta, privacy.confidence) == (
        Fraction(1, 10),
        None,
        Fraction(19, 20),
    )
    assert (privacy.neighbours, privacy.mechanism) == ("add-remove", "auto")


def test_each_private_table_knows_its_owner() -> None:
    schema = loads(GOOD)
    assert (schema.unit_table, schema.unit_column) == ("people", "id")
    assert schema.owner("people") == Owner((), "id")
    assert schema.owner("visits") == Owner((), "person")
    assert schema.owner("items") == Owner((PathStep("visit", "visits", "id"),), "person")
    assert schema.owner("LETTERS") == Owner((PathStep("mail", "people", "mail"),), "id")
    with pytest.raises(KeyError):
        schema.owner("shops")


def test_names_are_looked_up_whatever_their_case() -> None:
    schema = loads(GOOD)
    people = schema.table("PEOPLE")
    assert people is schema.tables["people"]
    assert (
        people is not None
        and people.column("Id") is people.columns["id"]
        and people.column("x") is None
    )
    assert schema.table("nothing") is None


def test_the_key_of_a_table_is_the_declared_one_or_that_of_the_unit() -> None:
    schema = loads(GOOD.replace("[tables.items]\n", '[tables.items]\nkey = ["visit", "price"]\n'))
    assert schema.primary_key("ITEMS") == ("visit", "price") and schema.primary_key("people") == (
        "id",
    )
    assert schema.primary_key("visits") == ()
    with pytest.raises(KeyError):
        schema.primary_key("nothing")


def test_a_mark_of_csv_is_one_character_of_ascii() -> None:
    assert (CsvFormat().delimiter, CsvFormat(delimiter=";", quote="'").delimiter) == (",", ";")
    for mark in ("", ";;", "\n", "ä"):
        with pytest.raises(ValueError, match="must be one character of ASCII"):
            CsvFormat(delimiter=mark)


def test_places_are_relative_to_the_file() -> None:
    schema = loads('ledger = "shop.ledger"\n' + GOOD, Path("some/where/shop.toml"))
    assert schema.path == Path("some/where/shop.toml")
    assert schema.source_path == Path("some/where/shop.duckdb")
    assert schema.ledger_place == Path("some/where/shop.ledger")
    assert loads(GOOD).ledger_place is None
    assert (
        loads('ledger = "postgresql://ada@host/db"\n' + GOOD).ledger_place
        == "postgresql://ada@host/db"
    )
    for address in (
        "ada:secret@host/db",
        "host/db?user=ada&password=secret",
        "host/db?sslpassword=secret",
    ):
        with pytest.raises(SchemaError, match="and with it a password"):
            loads(f'ledger = "postgresql://{address}"\n' + GOOD)
    with pytest.raises(SchemaError, match="is no file"):
        _ = loads(GOOD.replace("shop.duckdb", "postgresql://me:secret@host")).source_path


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def replace(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return replace


VISITS = 'references = { person = "people.id", shop = "shops.id" }'

WRONG: list[tuple[Callable[[str], str], str]] = [
    (_replaced('name = "shop"', ""), "f.toml: name: is missing; add it"),
    (_replaced('name = "shop"', 'name = "My Shop"'), "name `My Shop` is not a plain name"),
    (_replaced("[privacy]", "[secrecy]"), "f.toml: privacy: is missing; add it"),
    (_replaced('source = "shop.duckdb"', 'source = ""'), "f.toml: source:"),
    (
        _replaced("epsilon = 3.0", "epsilom = 3.0"),
        "privacy, epsilom: there is no such field; did you mean `epsilon`?",
    ),
    (_replaced("epsilon = 3.0", "epsilon = 0"), "privacy, epsilon: must be greater than 0"),
    (_replaced("epsilon = 3.0", "epsilon = nan"), "privacy, epsilon: must be a finite number"),
    (_replaced("epsilon = 3.0", "epsilon = -inf"), "privacy, epsilon: must be a finite number"),
    (_replaced("epsilon = 3.0", "epsilon = true"), "privacy, epsilon: must be a number"),
    (_replaced("epsilon = 3.0", 'epsilon = "3"'), "privacy, epsilon: must be a number"),
    (_replaced("epsilon = 3.0", "epsilon = 0.05"), "query_epsilon is more than the total"),
    (_replaced("delta = 1e-6", "delta = 1"), "privacy, delta: must be at least 0 and less than 1"),
    (
        _replaced("delta = 1e-6", "delta = -1e-9"),
        "privacy, delta: must be at least 0 and less than 1",
    ),
    (
        _replaced("delta = 1e-6", "delta = 1e-6\nquery_delta = 1e-5"),
        "query_delta is more than the total",
    ),
    (
        _replaced("delta = 1e-6", "delta = 0\nmechanism = 'gaussian'"),
        'mechanism "gaussian" needs delta > 0',
    ),
    (
        _replaced("delta = 1e-6", "delta = 0\nconfidence = 1"),
        "privacy, confidence: must be greater than 0 and less",
    ),
    (_replaced("delta = 1e-6", "delta = 0\nneighbours = 'both'"), "'add-remove' or 'replace'"),
    (
        _replaced('unit = "people.id"', 'unit = "people"'),
        "privacy, unit: unit `people` must be written as `table.column`",
    ),
    (
        _replaced('unit = "people.id"', 'unit = "persons.id"'),
        "there is no table persons; declare [tables.persons]",
    ),
    (_replaced('unit = "people.id"', 'unit = "shops.id"'), "table shops is public"),
    (
        _replaced('unit = "people.id"', 'unit = "people.idd"'),
        "the unit column `idd` is not declared",
    ),
    (
        _replaced("[analysts.ada]\nepsilon = 1", "[analysts.ada]\nepsilon = 4"),
        "analyst ada: epsilon is more than",
    ),
    (_replaced("[analysts.ada]", "[analysts.'a\\b']"), "is not a plain name; use letters"),
    (
        _replaced("[analysts.ada]", "[analysts.ada]\nrho = 1"),
        "analyst ada, rho: there is no such field",
    ),
    (
        _replaced("[tables.shops]", "[tables.Shops]"),
        "table `Shops` has upper-case letters; write `shops`",
    ),
    (_replaced("price = {", "'pri ce' = {"), "table items: column `pri ce` is not a plain name"),
    (_replaced("price = {", "Price = {"), "table items: column `Price` has upper-case letters"),
    (
        _replaced("bounds = [0, 10]", "bound = [0, 10]"),
        "table items, column price, bound: there is no such field; did",
    ),
    (
        _replaced("bounds = [0, 10]", "bounds = [0, inf]"),
        "table items, column price: bounds: must be a finite number",
    ),
    (
        _replaced('price = { type = "double"', 'price = { type = "money"'),
        "table items, column price, type: type `money`",
    ),
    (
        _replaced('price = { type = "double"', "price = { type = 3"),
        "table items, column price, type: must be the name",
    ),
    (
        _replaced('mail = { type = "text" }', 'mail = "text"'),
        'table people, column mail: must be a table of fields; write it as { type = "integer" }',
    ),
    (
        _replaced('price = { type = "double",', "price = {"),
        "table items, column price, type: is missing",
    ),
    (
        _replaced("max_rows_per_unit = 1", "max_rows_per_unit = 0"),
        "table people, max_rows_per_unit:",
    ),
    (
        _replaced("max_rows_per_unit = 1", "max_rows_per_unit = 1048577"),
        "table people, max_rows_per_unit:",
    ),
    (
        _replaced("max_rows_per_unit = 1", "max_rows_per_unit = true"),
        "table people, max_rows_per_unit:",
    ),
    (
        _replaced("max_rows_per_unit = 1", "max_rows_per_unit = 1.0"),
        "table people, max_rows_per_unit:",
    ),
    (
        _replaced("max_rows_per_unit = 1", ""),
        "table people: nothing limits how much one unit contributes; set",
    ),
    (_replaced("max_rows_per_group = 5", ""), "table visits: nothing limits how much"),
    (
        _replaced("max_rows_per_group = 5", "max_rows_per_group = { avg = 5 }"),
        "table visits: nothing limits how much",
    ),
    (
        _replaced("per_group = 5", "per_group = 0"),
        "table visits, max_rows_per_group: must be a whole number from 1 to",
    ),
    (
        _replaced("per_group = 5", "per_group = true"),
        "table visits, max_rows_per_group: must be a whole number",
    ),
    (
        _replaced("per_group = 5", "per_group = {}"),
        "table visits, max_rows_per_group: must be a whole number",
    ),
    (
        _replaced("per_group = 5", "per_group = { mean = 5 }"),
        "one for each of { avg = …, sum = … }",
    ),
    (
        _replaced("per_group = 5", "per_group = { sum = 5, avg = 0.5 }"),
        "table visits, max_rows_per_group: must be",
    ),
    (
        _replaced("public = true", "public = true\nmax_rows_per_unit = 1"),
        "table shops: max_rows_per_unit limits what",
    ),
    (_replaced("public = true", "public = 1"), "table shops, public:"),
    (
        _replaced("public = true", "public = true\nkey = []"),
        "table shops: key: must name at least one",
    ),
    (_replaced(VISITS, ""), "does not lead to the unit people.id (chain: items -> visits -> ?)"),
    (
        _replaced(VISITS, 'references = { person = "persons.id" }'),
        "table visits, references person: there is no table",
    ),
    (_replaced(VISITS, 'references = { person = "people" }'), "must be written as `table.column`"),
    (
        _replaced(VISITS, 'references = { person = "people.key" }'),
        "people.key is not declared; add `key",
    ),
    (
        _replaced(VISITS, 'references = { person = "people.mail" }'),
        "integer cannot refer to people.mail, which is text",
    ),
    (
        _replaced(VISITS, 'references = { who = "people.id" }'),
        "table visits: column `who` is used but not declared; add",
    ),
    (
        _replaced(VISITS, 'references = { person = "people.id", id = "items.visit" }'),
        "table visits: leads to the unit in several ways (chain: visits; person -> people.id and id -> items.visit)",
    ),
    (
        _replaced(VISITS, 'references = { id = "items.visit" }'),
        "run in a circle (items -> visits -> items)",
    ),
    (_replaced(VISITS, 'references = { id = "visits.id" }'), "run in a circle (visits -> visits)"),
    (
        _replaced("[tables.people]", '[tables.people]\nreferences = { mail = "letters.mail" }'),
        "table people, references mail: the unit's own table leads no further",
    ),
    (
        _replaced("[tables.people]", '[tables.people]\nkey = "id"'),
        "table letters, references mail: people.mail is not the key of people",
    ),
    (
        _replaced("public = true", 'public = true\nreferences = { owner = "people.id" }'),
        "a public table cannot refer to the private table people",
    ),
    (lambda text: text + "colour = 1", "table shops, colour: there is no such field"),
    (lambda text: text + "[tables.shops]", "f.toml: is not valid TOML"),
    (lambda text: "tables = []\n" + text.partition("[tables")[0], "f.toml: tables:"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_mend(change: Callable[[str], str], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        loads(change(GOOD), Path("f.toml"))
    assert message in str(caught.value)
    assert all(line.startswith("f.toml: ") for line in str(caught.value).splitlines())


JUNK = [
    3,
    True,
    -1,
    "x",
    "a.b",
    [],
    {},
    [[1]],
    {"type": "text"},
    {"a": "b.c"},
    Decimal("nan"),
    10**400,
    time(1),
]


def test_a_damaged_file_is_a_schema_or_a_schema_error() -> None:
    """Each field in turn is removed, renamed and given values of other types."""
    refused = 0
    for place in _places(tomllib.loads(GOOD)):
        for damage in (None, *JUNK):
            document = tomllib.loads(GOOD, parse_float=Decimal)
            parent = document
            for key in place[:-1]:
                parent = parent[key]
            value = parent.pop(place[-1])
            if damage is None:
                parent["columns"] = value
            else:
                parent[place[-1]] = damage
            try:
                validated(document, "f.toml")
            except SchemaError as error:
                refused += 1
                assert all(line.startswith("f.toml: ") for line in str(error).splitlines())
    assert refused > 400


def _places(node: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in node.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _places(value, (*above, key))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SchemaError, match="UTF-8"):
        load(tmp_path / "bytes.toml")


def test_a_schema_cannot_be_changed() -> None:
    schema = loads(GOOD)
    with pytest.raises(ValueError, match="frozen"):
        schema.privacy.epsilon = Fraction(100)
    with pytest.raises(ValueError, match="frozen"):
        schema.tables["people"].public = True


@pytest.mark.parametrize("file", sorted(SCHEMAS.glob("*.toml")), ids=lambda file: file.stem)
def test_the_schemas_of_the_repository_load_and_stand_in_its_list(file: Path) -> None:
    assert load(file).name
    assert f"`{file.name}`" in (SCHEMAS / "README.md").read_text(encoding="utf-8")


def test_tpch_lines_find_their_customer_through_their_order() -> None:
    schema = load(SCHEMAS / "tpch.toml")
    assert schema.owner("lineitem") == Owner(
        (PathStep("l_orderkey", "orders", "o_orderkey"),), "o_custkey"
    )
    assert schema.owner("orders") == Owner((), "o_custkey")


def test_the_packaged_schema_is_that_of_the_repository_but_for_its_source(
    nafld_folder: Path,
) -> None:
    packaged, published = load(nafld_folder.with_suffix(".toml")), load(SCHEMAS / "nafld.toml")
    assert packaged.source_path.resolve() == nafld_folder.resolve()
    assert published.source_path.resolve() == REPOSITORY / "dpsql" / "data" / "nafld"
    lines = [
        [
            line
            for line in schema.path.read_text(encoding="utf-8").splitlines()[1:]
            if not line.startswith("source")
        ]
        for schema in (packaged, published)
        if schema.path is not None
    ]
    assert lines[0] == lines[1]


def test_the_published_json_schema_is_the_current_one() -> None:
    assert json.loads((SCHEMAS / "dpsql.schema.json").read_text(encoding="utf-8")) == json_schema()


def test_the_json_schema_names_every_field_and_closes_every_object() -> None:
    document = json_schema()
    objects = [document, *document["$defs"].values()]
    assert all(each["additionalProperties"] is False for each in objects)
    assert set(document["properties"]) == set(Schema.model_fields)
    assert '"null"' not in json.dumps(document)


def test_every_field_is_documented() -> None:
    page = (REPOSITORY / "docs" / "schema.md").read_text(encoding="utf-8")
    document = json_schema()
    for each in (document, *document["$defs"].values()):
        for field in each["properties"]:
            assert f"`{field}`" in page, field


def test_rows_per_group_may_have_a_limit_for_averages_and_one_for_sums() -> None:
    for written, sums, averages in (
        ("5", 5, 5),
        ("{ sum = 5 }", 5, 5),
        ("{ avg = 1, sum = 5 }", 5, 1),
    ):
        visits = loads(GOOD.replace("per_group = 5", f"per_group = {written}")).tables["visits"]
        assert (visits.rows_per_group, visits.averaged_rows_per_group) == (sums, averages)
    alone = loads(
        GOOD.replace(
            "max_rows_per_group = 5", "max_rows_per_unit = 9\nmax_rows_per_group = { avg = 2 }"
        )
    )
    assert (
        alone.tables["visits"].rows_per_group,
        alone.tables["visits"].averaged_rows_per_group,
    ) == (None, 2)
