"""What the place of a parameter says of its type, where nothing else does."""

from __future__ import annotations

import pytest

from dpsql.errors import StatementError
from dpsql.schema import loads
from dpsql.sql.parser.parameter_types import WHOLE, parameter_types
from dpsql.sql.parser.parse import parse

SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "people.id"
epsilon = 1
delta = 0
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = { type = "integer" }
name = { type = "text" }
born = { type = "date" }
seen = { type = "timestamp" }
weight = { type = "double" }
paid = { type = "decimal(9,2)" }
ok = { type = "boolean" }
"""


def types(text: str) -> tuple[str, ...]:
    return parameter_types(parse(text).tree, loads(SCHEMA))


#: Conditions by the type that their only parameter has.
CONDITIONS = {
    "BIGINT": (
        "id = ?",
        "id IN (?, 3)",
        "? IN (1, 2)",
        "id BETWEEN ? AND 3",
        "id + ? > 3",
        "id % ? = 1",
        "NULLIF(?, 0) = 1",
        "born + ? > '2020-01-01'",
        "born - ? > 3",
        "? + born > '2020-01-01'",
        "(id, name) = (?, 'x')",
        "(name, id) IN (('x', 1), ('y', ?))",
        "(?, name) = (3, name)",
        "? = ANY(ARRAY[1, 2])",
        "id IS NOT DISTINCT FROM ?",
        "CASE WHEN ok THEN ? ELSE id END = 3",
        "CASE WHEN ok THEN id ELSE ? END = 3",
        "CASE id WHEN ? THEN 1 END = 3",
        "ROUND(weight, ?) = 1",
        "RIGHT(name, ?) = 'x'",
        "SUBSTRING(name FROM ? FOR 2) = 'x'",
        "$1 = id OR $1 = 3",
    ),
    "DOUBLE": (
        "? < weight",
        "weight - ? > 3",
        "weight * ? > 1",
        "GREATEST(?, weight) = 1",
        "-(?) > weight",
        "id = $1 AND weight = $1",
    ),
    "DECIMAL(9,2)": (
        "-? > paid",
        "CAST(? AS DECIMAL(9,2)) > 3",
        "id = $1 AND paid = $1",
        "EXISTS (SELECT 1 FROM people q WHERE q.paid = ?)",
    ),
    "DATE": (
        "COALESCE(?, born) = '2020-01-01'",
        "? IN (SELECT born FROM people)",
        "(SELECT MAX(born) FROM people) = ?",
        "? BETWEEN born AND seen",
        "? - born > 3",
        "?::DATE = born",
        "? = ANY(SELECT born FROM people)",
    ),
    "TIMESTAMP": (
        "DATE_TRUNC('month', ?) = seen",
        "EXTRACT(year FROM ?) = 2020",
        "born = $1 OR seen = $1",
    ),
    "BOOLEAN": (
        "? AND ok",
        "NOT ?",
        "ok OR ?",
        "?",
        "CASE WHEN ? THEN 1 ELSE id END = 3",
        "CASE ok WHEN ? THEN 1 END = 3",
    ),
    "VARCHAR": (
        "name LIKE ?",
        "? ILIKE name",
        "UPPER(?) = name",
        "name || ? = 'x'",
        "CONCAT(name, ?) = 'x'",
        "LENGTH(?) = 2",
        "LEFT(?, 2) = name",
        "SUBSTRING(? FROM 2) = name",
        "POSITION(? IN name) = 1",
        "? IS NULL",
        "frob(?) = 1",
        "name = REPLACE(name, ?, 'x')",
        "name = $1 OR $1 = UPPER(name)",
        "CAST(? AS JSON) = name",
    ),
    "BIGINT[]": ("id = ANY(?)", "CAST(? AS BIGINT[])[1] = id"),
    "VARCHAR[]": ("name <> ALL(?)",),
    "DATE[]": ("born = some(?)",),
}


@pytest.mark.parametrize(
    ("kind", "where"), [(kind, each) for kind, texts in CONDITIONS.items() for each in texts]
)
def test_a_parameter_has_the_type_of_what_stands_beside_it(kind: str, where: str) -> None:
    assert types(f"SELECT COUNT(*) FROM people AS p WHERE {where}") == (kind,)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("SELECT COUNT(*) FROM people LIMIT ? OFFSET ?", (WHOLE, WHOLE)),
        ("SELECT COUNT(*) FROM people FETCH FIRST ? ROWS ONLY", (WHOLE,)),
        (
            "SELECT ok, COUNT(*) FROM people GROUP BY ok HAVING COUNT(*) > ? OR ?",
            (WHOLE, "BOOLEAN"),
        ),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM people) AS t WHERE n > ?", (WHOLE,)),
        ("WITH t AS (SELECT born FROM people) SELECT COUNT(*) FROM t WHERE born = ?", ("DATE",)),
        ("SELECT COUNT(*) FROM public.people WHERE public.people.paid = ?", ("DECIMAL(9,2)",)),
        (
            "SELECT COUNT(*) FROM people WHERE (id, born) IN ((?, ?), (1, ?))",
            (WHOLE, "DATE", "DATE"),
        ),
        ("SELECT COUNT(*) FROM people WHERE (?, ?) = (born, ok)", ("DATE", "BOOLEAN")),
        ("SELECT COUNT(*) FROM people WHERE id = $2 AND name = $3", ("VARCHAR", WHOLE, "VARCHAR")),
        ("SELECT COUNT(*) FROM nowhere WHERE x = ? AND 3 < ?", ("VARCHAR", WHOLE)),
        ("SELECT COUNT(*) FROM (VALUES (?, 1)) AS v(a, b)", ("VARCHAR",)),
        ("SELECT ?, ?::INT", ("VARCHAR", WHOLE)),
        ("SELECT COUNT(*) FROM people WHERE id = 3", ()),
    ],
)
def test_parameters_are_typed_in_their_order(text: str, kinds: tuple[str, ...]) -> None:
    assert types(text) == kinds


def test_what_the_client_declares_goes_before_what_stands_beside() -> None:
    tree = parse("SELECT COUNT(*) FROM people WHERE id = $1 OR name = $2").tree
    assert parameter_types(tree, loads(SCHEMA), ["DOUBLE", None]) == ("DOUBLE", "VARCHAR")
    assert parameter_types(tree, loads(SCHEMA), ["DOUBLE"]) == ("DOUBLE", "VARCHAR")


def test_two_uses_of_a_parameter_agree() -> None:
    with pytest.raises(
        StatementError,
        match="parameter 2 is used as BIGINT and as VARCHAR; CAST it where it stands",
    ):
        types("SELECT COUNT(*) FROM people WHERE $1 AND (id = $2 OR name = $2)")
    with pytest.raises(StatementError, match="E_PARAM"):
        types("SELECT COUNT(*) FROM people WHERE born = $1 OR id = $1")


@pytest.mark.parametrize(
    "call", ["left(name, ?)", "substring(name, ?)", "split_part(name, ' ', ?)", "lpad(name, ?)"]
)
def test_a_number_of_characters_is_whole(call: str) -> None:
    text = f"SELECT COUNT(*) FROM people WHERE {call} = 'a'"
    assert parameter_types(parse(text).tree, loads(SCHEMA)) == (WHOLE,)


@pytest.mark.parametrize("call", ["split_part(name, ?, 1)", "lpad(name, 5, ?)"])
def test_a_text_to_split_by_or_to_fill_with_is_none(call: str) -> None:
    text = f"SELECT COUNT(*) FROM people WHERE {call} = 'a'"
    assert parameter_types(parse(text).tree, loads(SCHEMA)) != (WHOLE,)
