"""What the place of a parameter says of its type, where nothing else does."""

from __future__ import annotations

import pytest

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
"""


@pytest.mark.parametrize("call", ["left(name, ?)", "substring(name, ?)", "split_part(name, ' ', ?)", "lpad(name, ?)"])
def test_a_number_of_characters_is_whole(call: str) -> None:
    text = f"SELECT COUNT(*) FROM people WHERE {call} = 'a'"
    assert parameter_types(parse(text).tree, loads(SCHEMA)) == (WHOLE,)


@pytest.mark.parametrize("call", ["split_part(name, ?, 1)", "lpad(name, 5, ?)"])
def test_a_text_to_split_by_or_to_fill_with_is_none(call: str) -> None:
    text = f"SELECT COUNT(*) FROM people WHERE {call} = 'a'"
    assert parameter_types(parse(text).tree, loads(SCHEMA)) != (WHOLE,)
