"""Interval rules give the ends of what plain DuckDB says over a grid of arguments,
or wider ones, which are stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from math import inf, isclose

import duckdb
import pytest
from ordinary import read

from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.ir.expression import ColumnRef, Expression, columns

#: Integers of each sign, by their names; every number of the range is tried.
WHOLE = {
    "minus": (-7, -2),
    "mixed": (-5, 3),
    "plus": (2, 9),
    "zero": (0, 4),
    "below": (-3, 0),
    "few": (3, 4),
    "odd": (1, 2),
    "nought": (0, 0),
}
#: Doubles, in steps of a quarter.
REAL = {
    "real": (-2.5, 9.0),
    "small": (-1.5, 1.5),
    "steep": (-1.75, 1.0),
    "past": (-1.0, 1.75),
    "share": (0.0, 0.75),
}
DAYS = {
    "days": (date(2020, 1, 30), date(2020, 3, 2)),
    "one": (date(2020, 2, 3), date(2020, 2, 26)),
    "year": (date(2021, 2, 3), date(2021, 11, 26)),
    "ages": (date(1899, 12, 31), date(2001, 1, 1)),
}
HOURS = {"hours": (datetime(2020, 2, 27, 22, 30), datetime(2020, 3, 1, 5))}
GRID = {
    **{name: f"range({low}, {high} + 1)::INTEGER[]" for name, (low, high) in WHOLE.items()},
    **{
        name: f"list_transform(range({int(low * 4)}, {int(high * 4)} + 1), lambda n: n / 4)"
        for name, (low, high) in REAL.items()
    },
    **{
        name: f"list_append(range(DATE '{low}', DATE '{high}', INTERVAL {max((high - low).days // 300, 1)} DAY), "
        f"TIMESTAMP '{high}')::DATE[]"
        for name, (low, high) in DAYS.items()
    },
    **{
        name: f"list_append(range(TIMESTAMP '{low}', TIMESTAMP '{high}', INTERVAL 27 MINUTE), TIMESTAMP '{high}')"
        for name, (low, high) in HOURS.items()
    },
    "free": "range(-50, 51)",
    "word": "['b', 'ab', 'abc']",
    "text": "['', 'b', 'a longer text']",
    "truth": "[true, false]",
}
COLUMNS = {
    **{
        name: ColumnRef("t", name, SqlType("integer"), False, (Fraction(low), Fraction(high)))
        for name, (low, high) in WHOLE.items()
    },
    **{
        name: ColumnRef("t", name, SqlType("double"), False, (Fraction(low), Fraction(high)))
        for name, (low, high) in REAL.items()
    },
    **{name: ColumnRef("t", name, SqlType("date"), False, ends) for name, ends in DAYS.items()},
    **{
        name: ColumnRef("t", name, SqlType("timestamp"), False, ends)
        for name, ends in HOURS.items()
    },
    "free": ColumnRef("t", "free", SqlType("integer"), False),
    "word": ColumnRef("t", "word", SqlType("text"), False, None, ("b", "ab", "abc")),
    "text": ColumnRef("t", "text", SqlType("text"), False),
    "truth": ColumnRef("t", "truth", SqlType("boolean"), False),
}

#: Their values reach both ends of their intervals.
EXACT = (
    "mixed + plus",
    "mixed - plus",
    "minus * plus",
    "mixed * minus",
    "plus / few",
    "minus / few",
    "plus / minus",
    "-mixed",
    "~mixed",
    "nought * free",
    "free * nought",
    "0 * plus",
    "ABS(mixed)",
    "ABS(plus)",
    "ABS(minus)",
    "ABS(zero)",
    "ABS(below)",
    "ABS(share + 0.25)",
    "SIGN(share + 0.25)",
    "SIGN(-share - 0.25)",
    "SIGN(mixed)",
    "SIGN(plus)",
    "SIGN(minus)",
    "SIGN(zero)",
    "SIGN(below)",
    "SIGN(nought)",
    "SIGN(ABS(free))",
    "SIGN(-ABS(free))",
    "SIGN(free)",
    "POWER(mixed, 2)",
    "POWER(mixed, 3)",
    "POWER(minus, 2)",
    "POWER(plus, few)",
    "POWER(plus, mixed)",
    "POWER(zero, odd)",
    "POWER(zero, 0.5)",
    "POWER(minus, 0)",
    "POWER(plus, -1)",
    "POWER(mixed, 1)",
    "POWER(odd, 64)",
    "POWER(minus, 64)",
    "POWER(small, 4)",
    "FLOOR(real)",
    "CEIL(real)",
    "TRUNC(real)",
    "TRUNC(real, 1)",
    "TRUNC(mixed, -1)",
    "TRUNC(plus * 37, -2)",
    "ROUND(plus * 1.13, 1)",
    "ROUND(minus * 37, -1)",
    "plus // few",
    "minus // few",
    "FDIV(minus, few)",
    "TAN(small)",
    "COSH(small)",
    "COSH(plus)",
    "SINH(real)",
    "SQRT(plus)",
    "LN(plus)",
    "EXP(real)",
    "ASIN(share)",
    "ATANH(share)",
    "CBRT(mixed)",
    "ATAN(real)",
    "ACOSH(plus)",
    "ASINH(mixed)",
    "LOG10(plus)",
    "LOG2(plus)",
    "DEGREES(real)",
    "RADIANS(real)",
    "mixed >> 1",
    "plus >> 2",
    "minus >> 1",
    "plus << 0",
    "minus >> 31",
    "LENGTH(word)",
    "LENGTH(UPPER(word))",
    "LENGTH(word || 'xy')",
    "LENGTH(LEFT(word, 2))",
    "LENGTH(LEFT(word, 9))",
    "LENGTH(RIGHT(word, 0))",
    "LENGTH(LPAD(word, 5, 'x'))",
    "LENGTH(RPAD(text, 2, 'x'))",
    "LENGTH(LEFT(text, 3))",
    "STRPOS(word, 'c')",
    "LENGTH(SUBSTRING(text, 2, 3))",
    "COALESCE(NULLIF(mixed, 0), plus)",
    "GREATEST(mixed, plus)",
    "LEAST(mixed, plus)",
    "GREATEST(few, mixed, 2)",
    "LEAST(mixed, -1, 7)",
    "CASE WHEN truth THEN minus ELSE plus END",
    "CASE WHEN truth THEN plus END",
    "CASE WHEN mixed >= 1 THEN mixed ELSE 2 END",
    "CASE WHEN mixed <= -2 THEN mixed ELSE -3 END",
    "CASE WHEN mixed > 0 THEN 0 ELSE mixed END",
    "CASE WHEN mixed < 1 THEN 1 ELSE mixed END",
    "CASE WHEN 1 <= mixed THEN mixed ELSE 2 END",
    "CASE WHEN -2 >= mixed THEN mixed ELSE -3 END",
    "CASE WHEN mixed = 2 THEN mixed ELSE 1 END",
    "CASE WHEN 2 = mixed THEN mixed ELSE 1 END",
    "CASE WHEN mixed IN (1, 3, -2) THEN mixed ELSE 0 END",
    "CASE WHEN mixed BETWEEN 1 AND 2 THEN mixed ELSE 1 END",
    "CASE WHEN mixed < 1 OR plus > 5 THEN 1 ELSE mixed END",
    "CASE WHEN mixed < 1 OR plus > 5 THEN 4 ELSE plus END",
    "CASE WHEN NOT (mixed < 1) THEN mixed ELSE 1 END",
    "CASE WHEN mixed >= 1 AND mixed <= 2 THEN mixed ELSE 2 END",
    "CASE WHEN mixed >= 1 THEN 0 WHEN mixed >= 0 THEN 1 ELSE mixed END",
    "CASE WHEN mixed = 2 THEN 0 ELSE mixed END",
    "CASE WHEN mixed + 1 >= 2 THEN mixed + 1 ELSE 2 END",
    "CASE WHEN truth AND mixed >= 0 THEN mixed ELSE 0 END",
    "CASE WHEN days >= DATE '2020-02-10' THEN days END",
    "CAST(real * 1.1 AS DECIMAL(9,1))",
    "CAST(mixed AS DOUBLE)",
    "CAST(hours AS DATE)",
    "CAST(truth AS INTEGER)",
    "YEAR(days)",
    "YEAR(ages)",
    "EXTRACT(DECADE FROM ages)",
    "EXTRACT(CENTURY FROM ages)",
    "EXTRACT(MILLENNIUM FROM ages)",
    "EXTRACT(ISOYEAR FROM ages)",
    "YEARWEEK(year)",
    "MONTH(days)",
    "MONTH(year)",
    "QUARTER(days)",
    "QUARTER(year)",
    "DAYOFYEAR(year)",
    "DAYOFYEAR(days)",
    "DAY(one)",
    "MONTH(ages)",
    "DAY(days)",
    "EPOCH(days)",
    "EPOCH(hours)",
    "DAYOFWEEK(year)",
    "HOUR(hours)",
    "days + INTERVAL 3 DAY",
    "hours - INTERVAL 5 HOUR",
    "hours + mixed * INTERVAL '1' MINUTE",
    "days - plus",
)
#: Their values stay within wider intervals than they need.
WIDER: dict[str, tuple[float | None, float | None]] = {
    "ABS(free)": (0, None),
    "ABS(-ABS(free))": (0, None),
    "-ABS(free) - 1": (None, -1),
    "ABS(free) + plus": (2, None),
    "ABS(free) * ABS(free)": (0, None),
    "ABS(free) * plus": (0, None),
    "ABS(free) * mixed": (None, None),
    "mixed * mixed": (-15, 25),
    "free + plus": (None, None),
    "free - plus": (None, None),
    "ABS(free) - ABS(free)": (None, None),
    "plus / mixed": (None, None),
    "plus / zero": (None, None),
    "plus / below": (None, None),
    "plus / free": (None, None),
    "real * 1e200 * 1e101": (None, None),
    "CASE WHEN truth THEN free ELSE plus END": (None, None),
    "COALESCE(NULLIF(ABS(free), 2), plus)": (0, None),
    "COALESCE(NULLIF(-ABS(free), 2), plus)": (None, 9),
    "plus % few": (0, 4),
    "minus % few": (-4, 0),
    "mixed % few": (-4, 3 + 1),
    "odd % plus": (0, 2),
    "mixed % 17": (-5, 5),
    "free % few": (-4, 4),
    "few % free": (0, 4),
    "free % free": (None, None),
    "zero % few": (0, 4),
    "below % few": (-3, 0),
    "ABS(free) % few": (0, 4),
    "-ABS(free) % few": (-4, 0),
    "FMOD(mixed, few)": (-4, 4),
    "FMOD(mixed, free)": (None, None),
    "POWER(mixed, odd)": (None, None),
    "POWER(mixed, -1)": (None, None),
    "POWER(minus, 0.5)": (None, None),
    "POWER(mixed, 65)": (None, None),
    "POWER(zero, below)": (None, None),
    "POWER(free, 2)": (None, None),
    "POWER(plus, free)": (None, None),
    "POWER(zero, zero)": (None, None),
    "ROUND(real)": (-3, 9),
    "ROUND(real, -1)": (0, 10),
    "ROUND(free * 1.5, 1)": (None, None),
    "ROUND(small, 1)": (-1.5, 1.5),
    "TRUNC(ABS(free) * 0.5)": (0, None),
    "ROUND(ABS(free) * 0.5)": (0, None),
    "ROUND(-ABS(free) * 0.5)": (None, 0),
    "EVEN(real)": (-4.5, 11),
    "TAN(steep)": (None, None),
    "TAN(past)": (None, None),
    "TAN(free)": (None, None),
    "COSH(free / 10)": (1, None),
    "SIN(real)": (-1, 1),
    "COT(small)": (None, None),
    "SQRT(mixed)": (0, 3**0.5),
    "LN(zero)": (None, 1.3862943611198906),
    "ASIN(mixed)": (-1.5707963267948966, 1.5707963267948966),
    "SQRT(minus)": (None, None),
    "ACOS(share)": (0, 3.141592653589793),
    "ATAN2(real, mixed)": (-3.141592653589793, 3.141592653589793),
    "EXP(real * 1e3)": (0, None),
    "mixed & zero": (0, 4),
    "plus & zero": (0, 4),
    "zero & few": (0, 4),
    "mixed & minus": (None, None),
    "plus | few": (0, 15),
    "zero | odd": (0, 7),
    "mixed | few": (None, None),
    "few | mixed": (None, None),
    "XOR(plus, few)": (0, 15),
    "XOR(plus, minus)": (None, None),
    "free | few": (None, None),
    "free & free": (None, None),
    "mixed << 3": (-40, 24),
    "plus << 62": (2**63, 9 * 2**62),
    "plus << odd": (None, None),
    "free >> 1": (None, None),
    "BIT_COUNT(plus)": (0, 64),
    "LENGTH(LEFT(word, -1))": (0, 3),
    "LENGTH(TRIM(word))": (0, 3),
    "LENGTH(SUBSTRING(word, 2, 1))": (0, 1),
    "LENGTH(SUBSTRING(word, 2))": (0, 3),
    "LENGTH(SUBSTRING(word, 1, 7))": (0, 3),
    "STRLEN(word)": (1, 12),
    "STRPOS(word, 'b')": (0, 3),
    "STRPOS(text, 'b')": (0, None),
    "LENGTH(text)": (0, None),
    "BIT_LENGTH(word)": (8, 96),
    "LENGTH(SUBSTRING(text, 2))": (0, None),
    "STRPOS(LEFT(word, 0), '')": (0, 1),
    "LENGTH(UPPER(text))": (0, None),
    "LENGTH(REPLACE(word, 'ab', 'x'))": (0, 3),
    "LENGTH(LPAD(text, 3, 'x'))": (3, 3),
    "ASCII(word)": (0, 0x10FFFF),
    "GREATEST(mixed, free)": (-5, None),
    "LEAST(mixed, free)": (None, 3),
    "GREATEST(NULLIF(plus, 3), mixed)": (-5, 9),
    "LEAST(NULLIF(minus, -3), mixed)": (-7, 3),
    "GREATEST(free, free)": (None, None),
    "CASE WHEN mixed > 1 THEN mixed ELSE 3 END": (1, 3),
    "CASE WHEN mixed < -1 THEN mixed ELSE -5 END": (-5, -1),
    "CASE WHEN mixed <> 2 THEN mixed END": (-5, 3),
    "CASE WHEN mixed IN (1, few) THEN mixed ELSE 0 END": (-5, 3),
    "CASE WHEN free >= 4 THEN free ELSE 5 END": (4, None),
    "CASE WHEN free <= 4 THEN free ELSE 3 END": (None, 4),
    "CASE WHEN mixed > plus THEN mixed ELSE 3 END": (-5, 3),
    "CASE WHEN mixed > 7 THEN mixed ELSE 1 END": (-5, 3),
    "CASE WHEN mixed = 7 THEN 0 ELSE mixed END": (-5, 3),
    "CASE WHEN mixed IN (1, 2) THEN 0 ELSE mixed END": (-5, 3),
    "CASE WHEN truth OR mixed >= 1 THEN mixed ELSE 0 END": (-5, 3),
    "CASE WHEN mixed > 7 THEN NULL END": (None, None),
    "CASE WHEN mixed >= 1 THEN NULL ELSE mixed END": (-5, 1),
    "CAST(real AS INTEGER)": (-3, 9),
    "days + mixed * INTERVAL '1' MONTH": (
        date(2020, 1, 30).toordinal() - 5 * 30.436875 - 6,
        date(2020, 3, 2).toordinal() + 3 * 30.436875 + 6,
    ),
    "MINUTE(hours)": (0, 59),
    "DATE_TRUNC('day', days)": (date(2020, 1, 29).toordinal(), date(2020, 3, 2).toordinal()),
    "CASE WHEN truth AND mixed >= 1 THEN 2 ELSE mixed END": (-5, 3),
    "CAST(word AS INTEGER) * 0": (0, 0),
    "CAST(text AS DOUBLE)": (None, None),
    "LENGTH(CAST(mixed AS TEXT))": (1, 20),
    "LENGTH(CAST(days AS TEXT))": (1, 20),
    "CAST(free AS DECIMAL(9,1))": (None, None),
    "EXTRACT(YEARWEEK FROM days)": (202005, 202010),
    "EXTRACT(WEEK FROM days)": (1, 53),
    "EXTRACT(MILLISECOND FROM hours)": (0, 59_999),
    "YEAR(CAST(text AS DATE))": (1, 9999),
    "DATE_DIFF('month', days, year)": (9, 25),
    "DATE_DIFF('day', days, one)": (-29, 28),
    "DATE_SUB('hour', hours, hours)": (-55 - 1, 55 + 1),
    "EXTRACT(YEAR FROM AGE(days, ages))": (19, 120),
    "EXTRACT(MONTH FROM AGE(days, ages))": (-11, 11),
    "EXTRACT(DAY FROM AGE(days, ages))": (-31, 31),
    "LENGTH(DAYNAME(days))": (6, 9),
    "LENGTH(MONTHNAME(days))": (3, 9),
    "LENGTH(STRFTIME(days, '%Y'))": (0, None),
    "ISFINITE(days)": (0, 1),
}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        if opened.execute(
            "FROM duckdb_settings() WHERE name = 'error_on_division_by_zero'"
        ).fetchone():
            opened.execute("SET error_on_division_by_zero = false")
        for name, points in GRID.items():
            opened.execute(f'CREATE TABLE of_{name} AS SELECT unnest({points}) AS "{name}"')
        yield opened


def _found(
    connection: duckdb.DuckDBPyConnection, text: str, expression: Expression
) -> tuple[float, float] | None:
    """The least and the greatest value over all arguments;
    None where DuckDB has none for some of them.
    """
    tables = ", ".join(sorted({f"of_{each.name}" for each in columns(expression)}))
    value = (
        f"epoch(v) / 86400.0 + {date(1970, 1, 1).toordinal()}"
        if expression.type.is_temporal
        else "v"
    )
    try:
        row = connection.execute(
            f"SELECT min(o), max(o) FROM (SELECT ({value})::DOUBLE AS o FROM "
            f"(SELECT {text} AS v FROM {tables})) WHERE isfinite(o)"
        ).fetchone()
    except (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException):
        return None
    return None if row is None or None in row else row


@pytest.mark.parametrize("text", EXACT)
def test_an_interval_ends_where_the_values_do(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    expression = read(text, COLUMNS)
    interval, found = bounds(expression), _found(connection, text, expression)
    assert found is not None and interval.low is not None and interval.high is not None
    assert isclose(interval.low, found[0], rel_tol=1e-9, abs_tol=1e-9), (interval, found)
    assert isclose(interval.high, found[1], rel_tol=1e-9, abs_tol=1e-9), (interval, found)


@pytest.mark.parametrize("text", WIDER)
def test_a_wider_interval_is_the_stated_one(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    expression, (low, high) = read(text, COLUMNS), WIDER[text]
    interval, found = bounds(expression), _found(connection, text, expression)
    for end, wanted in ((interval.low, low), (interval.high, high)):
        assert end == wanted or isclose(end or inf, wanted or inf, rel_tol=1e-9), interval
    assert found is None or low is None or low <= found[0] + 1e-9, found
    assert found is None or high is None or found[1] <= high + 1e-9, found
