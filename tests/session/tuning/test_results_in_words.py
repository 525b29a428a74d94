"""What a tuning says of the limits that it found, and of which columns it compares errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpsql.schema import Schema
from dpsql.schema.authoring.missing_limits import MissingLimits
from dpsql.schema.authoring.write_limits import Tuned
from dpsql.session.tuning.noisy_ladders import RowLimit
from dpsql.session.tuning.results import _of_rows, _part, _visible_groups, compared


def ledger(**columns: dict[str, Any]) -> Schema:
    """One table of entries with these columns."""
    return Schema.model_validate(
        {
            "name": "ledger",
            "source": "x.duckdb",
            "privacy": {"unit": "entries.id", "epsilon": 1, "delta": 0, "query_epsilon": 1},
            "tables": {
                "entries": {
                    "key": "id",
                    "max_rows_per_unit": 1,
                    "columns": {"id": {"type": "integer"}, **columns},
                }
            },
        }
    )


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (0.0, Fraction(0)),
        (0.1234, Fraction(123, 1000)),
        (0.0006, Fraction(1, 1000)),
        (0.5, Fraction(1, 2)),
        (0.989, Fraction(989, 1000)),
        (0.9996, Fraction(99, 100)),
        (1.0, Fraction(99, 100)),
    ],
)
def test_a_part_of_the_rows_has_three_digits_and_is_at_most_99_percent(
    part: float, written: Fraction
) -> None:
    assert _part(part) == written


def test_a_limit_is_said_with_what_it_leaves_out() -> None:
    """Numbers of units are whole; errors are rounded up."""
    limit = RowLimit(most=1000, beyond=0.02, beyond_at_most=0.05, units=12.4, units_error=3.2)
    assert _of_rows("visits", limit) == (
        "visits: about 12 ± 4 units have more than 1,000 rows; "
        "the limit leaves out about 2 % of all rows (at most about 5 %)"
    )
    few = RowLimit(most=7, beyond=0.02, beyond_at_most=0.05, units=-0.7, units_error=3.0)
    assert _of_rows("visits", few).startswith("visits: about 0 ± 3 units have more than 7 rows; ")


@pytest.mark.parametrize(
    ("keys", "groups"),
    [
        ((), 1),
        (("flag",), 2),
        (("seen",), 3),
        (("kind",), 3),
        (("kind", "seen"), 9),
        (("kind", "free"), None),
    ],
)
def test_as_many_groups_are_shown_as_keys_have_values(
    keys: tuple[str, ...], groups: int | None
) -> None:
    """NULL is a value, too."""
    schema = ledger(
        flag={"type": "boolean"},
        seen={"type": "boolean", "nullable": True},
        kind={"type": "text", "values": ["a", "b", "c"]},
        free={"type": "text"},
    )
    assert _visible_groups(schema.tables["entries"], keys) == groups


def test_errors_are_said_of_three_columns_those_that_were_found_first() -> None:
    """Of an average the error is said for the first of them alone."""
    numbers = {name: {"type": "double", "bounds": [0, 8]} for name in ("a", "b", "c", "d")}
    now = ledger(**numbers)
    before = MissingLimits(now, {}, {}, {}, frozenset(), ())
    ends = (Fraction(0), Fraction(8))
    lines = [line for line, _, _ in compared(before, now, Tuned({}, {"entries": {"c": ends}}))]
    assert lines == [
        "COUNT(*) FROM entries",
        "SUM(c) FROM entries",
        "SUM(a) FROM entries",
        "SUM(b) FROM entries",
        "AVG(c) FROM entries in a group of 1,000 rows",
    ]


def test_a_sum_without_bounds_has_no_error_before() -> None:
    now = ledger(a={"type": "double", "bounds": [-9, 3]})
    before = MissingLimits(ledger(a={"type": "double"}), {}, {}, {}, frozenset(), ())
    ends = (Fraction(-9), Fraction(3))
    count, total, mean = compared(before, now, Tuned({}, {"entries": {"a": ends}}))
    assert count[1] == count[2] is not None
    assert total[1] is None and total[2] == pytest.approx(9 * (count[2] or 0))
    assert mean[1] is None and mean[2] is not None
