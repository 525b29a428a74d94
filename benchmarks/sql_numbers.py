"""How often an interval holds the number that SQL gives, where nobody tuned the data for it.

Run ``python benchmarks/sql_numbers.py``. Three databases are generated: subscriptions of a software
service, flights, and a hospital. Each statement is answered ``--runs`` times at ε = 0.1 and
compared, row by row, with plain DuckDB on the same data: rows are matched by the columns that have
no interval. *held* is how many intervals hold SQL's number, *missing* and *extra* how many of its
rows the answers lack or have besides, *wrong* the largest distance between SQL's number and an
interval that does not hold it, as a part of SQL's number. ``--epsilon`` sets another price,
``--only WORDS`` takes the statements with these words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from dpsql.errors import DatabaseError  # noqa: E402
from dpsql.session import Session, open_session  # noqa: E402

#: The databases: tables, statements and schemas.
FOLDER = Path(__file__).parent / "sql_numbers"
#: How numbers are drawn, the same ones each time.
DRAW = "CREATE TEMP MACRO draw(key, n) AS CAST(hash(key) % n AS INTEGER)"
#: A number is held by an interval also if it lies outside of it by so small a part:
#: doubles are #: added in another order.
ROUNDING = 1e-9


@dataclass
class Tally:
    """What one statement's answers are, against SQL's."""

    intervals: int = 0
    held: int = 0
    missing: int = 0
    extra: int = 0
    without: int = 0
    wrong: float = 0.0
    notices: set[str] = field(default_factory=set)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=0.1, help="what a statement costs")
    parser.add_argument("--runs", type=int, default=5, help="how often each statement is answered")
    parser.add_argument("--only", default="", help="statements with these words alone")
    parser.add_argument(
        "--notices", action="store_true", help="print what is said under the answers"
    )
    arguments = parser.parse_args()
    total = Tally()
    print(f"{'held':>12} {'missing':>8} {'extra':>6} {'none':>5} {'wrong':>8}  statement")
    for path in sorted(FOLDER.glob("*.sql")):
        for text, tally in tallies(path, arguments.epsilon, arguments.runs, arguments.only):
            if isinstance(tally, str):
                print(f"{'refused':>12} {'':>30}  {text}\n{'':>44}{tally}")
                continue
            held = f"{tally.held}/{tally.intervals}"
            print(
                f"{held:>12} {tally.missing:>8} {tally.extra:>6} {tally.without:>5} {tally.wrong:>8.1%}  {text}"
            )
            for notice in sorted(tally.notices) if arguments.notices else ():
                print(f"{'':>44}{notice}")
            total.held += tally.held
            total.intervals += tally.intervals
    print(
        f"{total.held} of {total.intervals} intervals hold SQL's number ({total.held / max(total.intervals, 1):.1%})"
    )


def tallies(path: Path, epsilon: float, runs: int, only: str) -> Iterator[tuple[str, Tally | str]]:
    """Each statement of a database with what its answers are, or with the reason of its refusal."""
    tables, _, statements = path.read_text(encoding="utf-8").partition("-- statements\n")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{path.stem}.duckdb"
        with duckdb.connect(str(source)) as connection:
            connection.execute(f"{DRAW};\n{tables}")
        schema = Path(folder) / f"{path.stem}.toml"
        schema.write_text(path.with_suffix(".toml").read_text(encoding="utf-8"), encoding="utf-8")
        session = open_session(schema, ledger=Path(folder) / "ledger")
        session.set("dpsql.reuse", "off")
        session.epsilon = Fraction(str(epsilon))
        with duckdb.connect(str(source), read_only=True) as plain:
            for text in (" ".join(each.split()) for each in statements.split(";")):
                if text and only in text:
                    yield text, tallied(session, plain, text, runs)
        session.close()


def tallied(
    session: Session, plain: duckdb.DuckDBPyConnection, text: str, runs: int
) -> Tally | str:
    """The answers to a statement, beside SQL's."""
    tally = Tally()
    true = plain.execute(text).fetchall()
    price = session.epsilon
    for number in range(runs):
        session.epsilon = price * (1 + Fraction(number, 10**6))  # another price is another release
        try:
            result = session.execute(text)
        except DatabaseError as refusal:
            return str(refusal).partition("\n")[0]
        numbers = [
            place for place in range(len(result.columns)) if _is_estimate(result.intervals, place)
        ]
        rows = {
            _key(row, numbers): (row, ends)
            for row, ends in zip(result.rows, result.intervals, strict=True)
        }
        wanted = {_key(row, numbers): row for row in true}
        tally.missing += len(wanted.keys() - rows.keys())
        tally.extra += len(rows.keys() - wanted.keys())
        tally.notices.update(result.notices)
        for key in wanted.keys() & rows.keys():
            for place in numbers:
                _compare(tally, wanted[key][place], rows[key][1][place])
    session.epsilon = price
    return tally


def _is_estimate(intervals: Sequence[Sequence[object]], place: int) -> bool:
    return any(row[place] is not None for row in intervals)


def _key(row: Sequence[object], numbers: Sequence[int]) -> tuple[str, ...]:
    """The row without its estimates; a moment at midnight is a date."""
    shown = []
    for place, value in enumerate(row):
        if place not in numbers:
            midnight = isinstance(value, datetime) and value == datetime(
                value.year, value.month, value.day
            )
            shown.append(str(value.date() if midnight and isinstance(value, datetime) else value))
    return tuple(shown)


def _compare(tally: Tally, true: object, ends: object) -> None:
    if ends is None or true is None:
        tally.without += 1
        return
    assert isinstance(ends, tuple)
    low, high = (float(end) if not isinstance(end, date) else end.toordinal() for end in ends)
    number = (
        true.toordinal()
        if isinstance(true, date)
        else float(true)
        if isinstance(true, int | float | Decimal)
        else None
    )
    assert number is not None
    slack = ROUNDING * abs(number)
    tally.intervals += 1
    if low - slack <= number <= high + slack:
        tally.held += 1
    else:
        beyond = low - number if number < low else number - high
        tally.wrong = max(tally.wrong, beyond / abs(number) if number else float("inf"))


if __name__ == "__main__":
    main()
