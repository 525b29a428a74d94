"""The part of a table's rows that its limit leaves out, as the schema declares it."""

from __future__ import annotations

import pytest

from dpsql.errors import SchemaError
from dpsql.schema import Table, loads

SCHEMA = """
name = "players"
source = "x.duckdb"
[privacy]
unit = "people.id"
epsilon = 1
delta = 0
query_epsilon = 1
[tables.people]
key = "id"
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
[tables.awards]
{limits}
references = {{ person = "people.id" }}
[tables.awards.columns]
person = {{ type = "integer" }}
"""


def _awards(limits: str) -> Table:
    return loads(SCHEMA.format(limits=limits)).tables["awards"]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("rows_beyond_limit = 1", "rows_beyond_limit: must be at least 0 and less than 1"),
        ("rows_beyond_limit = -0.1", "rows_beyond_limit: must be at least 0 and less than 1"),
        ('rows_beyond_limit = "0.7"', "rows_beyond_limit: must be a number"),
        (
            "rows_beyond_limit = 0.7\nrows_beyond_limit_at_most = 0.6",
            "is the most that rows_beyond_limit may be",
        ),
        (
            "rows_beyond_limit_at_most = 0.6",
            "is the most that rows_beyond_limit may be; declare both",
        ),
    ],
)
def test_a_part_is_a_number_below_1(declared: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        _awards(f"max_rows_per_unit = 6\n{declared}")


@pytest.mark.parametrize("part", [0, 0.25])
def test_the_most_may_be_the_part_itself(part: float) -> None:
    """As `dpsql schema tune` writes if it finds that nothing is left out:
    the schema is read after the charge.
    """
    awards = _awards(
        f"max_rows_per_unit = 6\nrows_beyond_limit = {part}\nrows_beyond_limit_at_most = {part}"
    )
    assert awards.rows_beyond_limit == awards.rows_beyond_limit_at_most == part


def test_a_part_needs_the_limit_that_leaves_it_out() -> None:
    with pytest.raises(
        SchemaError, match="is what max_rows_per_unit leaves out, which is not declared"
    ):
        _awards("max_groups_per_unit = 2\nmax_rows_per_group = 3\nrows_beyond_limit = 0.7")
