"""Statements that PostgreSQL and dpsql both answer, of which each client sends its own."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

#: How many patients there are, and how far the noise of the tests' price may move a count;
#: missed #: once in 10^17.
PATIENTS, NOISE = 17_549, 40
#: Ten thousand million rows of a public table: ended by the client long before the answer.
SLOW = "SELECT SUM(LENGTH(a.name || b.name || c.name || d.name || e.name)) AS n FROM " + ", ".join(
    f"conditions {name}" for name in "abcdefghij"
)


def count(number: int) -> str:
    """One row with one whole number, about `PATIENTS`;
    the statement of a number is like no other.
    """
    return f"SELECT COUNT(*) AS n FROM patients WHERE followup_days >= -{number}"


def counts(number: int) -> str:
    """Four rows, one for each test, in order."""
    return f"SELECT test, COUNT(*) AS n FROM labs WHERE day >= {-8000 - number} GROUP BY test ORDER BY test"


TESTS = ("fib4", "hdl", "sbp", "smoke")


def every_type(number: int) -> str:
    """Two rows, women first, with a column of each type."""
    return f"""SELECT male AS sex, COUNT(*) AS n, CAST(AVG(age) AS double precision) AS age,
       CAST(AVG(bmi) AS decimal(10,2)) AS bmi, CASE WHEN male THEN 'man' END AS word, DATE '2024-02-29' AS day,
       TIMESTAMP '2024-02-29 12:30:00.25' AS moment, TIMESTAMPTZ '2024-02-29 12:30:00+00' AS instant,
       CAST(7 AS smallint) AS small, CAST(NULL AS integer) AS nothing, CAST(1.5 AS real) AS short
FROM patients WHERE followup_days >= -{number} GROUP BY male ORDER BY male"""


#: The columns of `every_type` and PostgreSQL's numbers of their types.
COLUMNS = {
    "sex": 16,
    "n": 20,
    "age": 701,
    "bmi": 1700,
    "word": 25,
    "day": 1082,
    "moment": 1114,
    "instant": 1184,
    "small": 21,
    "nothing": 23,
    "short": 700,
}


def check_every_type(rows: list[tuple[object, ...]]) -> None:
    """The two rows as a client for Python gives them."""
    assert [row[0] for row in rows] == [False, True]
    for row, word in zip(rows, (None, "man"), strict=True):
        sex, n, age, bmi, *rest = row
        assert isinstance(sex, bool)
        assert isinstance(n, int) and isinstance(age, float) and isinstance(bmi, Decimal)
        assert 8000 < n < 9600 and 45 < age < 60 and 25 < bmi < 35 and bmi.as_tuple().exponent == -2
        assert rest == [
            word,
            date(2024, 2, 29),
            datetime(2024, 2, 29, 12, 30, 0, 250_000),
            datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
            7,
            None,
            1.5,
        ]


def near(value: object) -> bool:
    """Whether a count is that of all patients, but for its noise."""
    return isinstance(value, int) and abs(value - PATIENTS) <= NOISE
