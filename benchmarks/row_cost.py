"""What functions and conversions of the allow-list take for a row,
against the steps that are counted of it.

    python benchmarks/row_cost.py [--seed 1] [--step 20]

Each is computed of columns that hold one value in every row, of the pool of
``tests/sql/functions/test_total.py``: numbers at the ends of their types, infinity, texts,
impossible dates. A person chooses the values of their own rows, so the slowest counts. A line names
each that took longer than its steps, which ``docs/proofs/work.md`` needs to be none.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "sql" / "functions"), str(ROOT)]

from test_total import _KINDS, TABLES, TARGETS, _calls, _columns  # noqa: E402

from dpsql.sql.analysis.work.row_cost import steps  # noqa: E402
from dpsql.sql.emit.duckdb import DUCKDB  # noqa: E402
from dpsql.sql.emit.scalar import native  # noqa: E402
from dpsql.sql.functions import FUNCTIONS  # noqa: E402
from dpsql.sql.functions.call import castable  # noqa: E402
from dpsql.sql.ir.expression import Cast, ColumnRef, Expression, columns  # noqa: E402
from dpsql.sql.ir.interval import Interval  # noqa: E402

ROWS, CALLS, VALUES = 16_384, 5, 5
#: Texts beside those of the pool, as others may store them.
TEXTS = [
    f"repeat({text}, {times})"
    for times in (50, 1_000)
    for text in (
        "'a'",
        "' '",
        "'%'",
        "'9'",
        "'Ä'",
        "chr(128512)",
        "'e' || chr(769)",
        "chr(0)",
        "chr(304)",
        "'0.1'",
    )
]
TEXTS.append("'0.' || repeat('1', 98)")


@cache
def pool(column: ColumnRef) -> tuple[tuple[str, str, int], ...]:
    """The values that a column may hold,
    with their type in the engine and how many characters each has.
    """
    _, engine, values = TABLES[column.relation.split()[0]]
    if column.type.kind != "text":
        return tuple((each, engine, 0) for each in values)
    texts = [each for each in (*values, *TEXTS) if "40000" not in each]
    lengths = duckdb.execute(
        f"SELECT UNNEST([{', '.join(f'LENGTH({each})' for each in texts)}])"
    ).fetchall()
    return tuple((each, engine, length) for each, (length,) in zip(texts, lengths, strict=True))


def expressions(dice: random.Random) -> Iterator[tuple[str, Expression]]:
    """Each conversion, and some calls of each function, over columns of the pool."""
    for target in TARGETS:
        for column in _columns(0, *_KINDS["any"]):
            if castable(column.type, target):
                yield f"CAST({column.type} AS {target})", Cast(column, target)
    for name, entry in FUNCTIONS.items():
        calls = list(_calls(name, entry))
        yield from ((name, each) for each in dice.sample(calls, min(CALLS, len(calls))))


def seconds(connection: duckdb.DuckDBPyConnection, value: str) -> float:
    """The processor time of a row, the lesser of two runs."""
    found = []
    for _ in range(2):
        began = time.process_time()
        connection.execute(f"SELECT COUNT({value}) FROM q").fetchall()
        found.append(time.process_time() - began)
    return min(found) / ROWS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step", type=float, default=20, help="nanoseconds of a step")
    asked = parser.parse_args()
    dice, tried, slow = random.Random(asked.seed), 0, dict[str, str]()
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, expression in expressions(dice):
            read, value = (
                list(dict.fromkeys(columns(expression))),
                native(DUCKDB, expression).sql(dialect="duckdb"),
            )
            for place, column in enumerate(read):
                value = value.replace(f'"{column.relation}"."x"', f"x{place}")
            for _ in range(VALUES if read else 0):
                values = [dice.choice(pool(column)) for column in read]
                known = {
                    column: Interval(Fraction(0), Fraction(length))
                    for column, (_, _, length) in zip(read, values, strict=True)
                    if column.type.kind == "text"
                }
                # so that the engine does not know that all rows are alike
                one = "1 + CAST(RANDOM() < 0 AS INT)"
                items = [
                    f"LIST_EXTRACT(LIST_VALUE(CAST({each} AS {engine})), {one}) AS x{place}"
                    for place, (each, engine, _) in enumerate(values)
                ]
                connection.execute(
                    f"CREATE OR REPLACE TABLE q AS SELECT {', '.join(items)} FROM range({ROWS})"
                )
                took, counted = (
                    seconds(connection, value) - seconds(connection, "x0"),
                    steps([expression], known),
                )
                tried += 1
                if took > 1e-9 * asked.step * counted and took > 0.25e-6:
                    said = ", ".join(each for each, _, _ in values)
                    slow[name] = f"{name:32} {took * 1e6:8.2f} µs {counted:6} steps   {said}"
    print(*slow.values(), sep="\n", end="\n" if slow else "")
    print(
        f"{len(slow)} functions and conversions took longer than {asked.step:g} ns for a step, of {tried:,} tries"
    )


if __name__ == "__main__":
    main()
