"""At a price at which noise vanishes the rows, names and values of an answer are DuckDB's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from retailer import SCHEMA, build, plain_tables
from sqlglot import exp, parse_one

from dpsql.schema import loads
from dpsql.session import Session, open_session

Row = tuple[Any, ...]

#: What the values of an answer may be away from DuckDB's: doubles are rounded to a grid,
#: row by #: row.
RELATIVE, ABSOLUTE = 1e-5, 1e-3
PRICE = "1e8"


@dataclass(frozen=True)
class Statement:
    """A statement and, where its answer is documented to be another than DuckDB's, why."""

    title: str
    text: str
    differs: str | None


def statements() -> list[Statement]:
    found = []
    for block in (
        (Path(__file__).parent / "statements.sql").read_text(encoding="utf-8").strip().split("\n\n")
    ):
        title, *lines = block.splitlines()
        differs = re.fullmatch(r"-- differs: (.+)", lines[0])
        text = "\n".join(lines[1:] if differs else lines)
        found.append(Statement(title.removeprefix("-- "), text, differs and differs[1]))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("retailer") / "data"
    build(home)
    return home


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Session]:
    opened = open_session(
        loads(SCHEMA.format(folder=folder.as_posix(), epsilon=PRICE)), ledger=folder / "ledger"
    )
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with plain_tables(folder) as connection:
        yield connection


@pytest.mark.parametrize("statement", statements(), ids=lambda each: each.title)
def test_the_answer_is_duckdbs(
    statement: Statement, session: Session, plain: duckdb.DuckDBPyConnection
) -> None:
    result = session.execute(statement.text)
    expected = plain.execute(statement.text)
    names, theirs = [column[0] for column in expected.description or ()], expected.fetchall()
    assert theirs, "a statement that finds nothing shows nothing"
    difference = _difference(
        statement.text, [each.name for each in result.columns], result.rows, names, theirs
    )
    assert (difference is None) == (statement.differs is None), (statement.differs, difference)


def test_there_are_sixty_statements_and_each_has_a_title_of_its_own() -> None:
    titles = [each.title for each in statements()]
    assert len(titles) == len(set(titles)) >= 60


@pytest.mark.parametrize("more", [(), ((9, 0),), ((2, 5.1),)])
def test_a_difference_is_seen(more: tuple[Row, ...]) -> None:
    rows = [(1, 4.0), (2, 5.0), (3, None)]
    text = "SELECT k, v FROM t ORDER BY k"
    changed = [row for row in rows if row[0] not in {each[0] for each in more}] + list(more)
    found = _difference(text, ["k", "v"], sorted(changed), ["k", "v"], rows)
    assert (found is None) == (not more)
    assert _difference(text, ["k", "w"], rows, ["k", "v"], rows) is not None
    assert _difference(text, ["k", "v"], rows[::-1], ["k", "v"], rows) is not None


def _difference(
    text: str, own: Sequence[str], ours: Sequence[Row], names: Sequence[str], theirs: Sequence[Row]
) -> str | None:
    """How two answers differ: in names, in rows in any order,
    or in the order that the statement asks for.
    """
    if list(own) != list(names):
        return f"columns {own} where DuckDB has {names}"
    left = list(ours)
    for row in theirs:
        found = next((place for place, mine in enumerate(left) if _alike(mine, row)), None)
        if found is None:
            return f"DuckDB has {row}; ours are {left[:3]} …, {len(ours)} to its {len(theirs)}"
        left.pop(found)
    if left:
        return f"DuckDB has not {left[:3]}, {len(left)} rows of {len(ours)}"
    order = parse_one(text, dialect="duckdb").args.get("order")
    for item in () if order is None else order.expressions:
        place = (
            int(item.this.this) - 1
            if isinstance(item.this, exp.Literal)
            else names.index(item.this.name)
        )
        if not all(
            _alike((mine[place],), (their[place],))
            for mine, their in zip(ours, theirs, strict=True)
        ):
            return f"in another order by {names[place]}"
    return None


def _alike(mine: Row, their: Row) -> bool:
    return all(map(_same, mine, their))


def _same(mine: Any, their: Any) -> bool:
    numbers = (int, float, Decimal)
    if isinstance(mine, numbers) and isinstance(their, numbers) and not isinstance(mine, bool):
        return math.isclose(float(mine), float(their), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(_moment(mine) == _moment(their))


def _moment(value: Any) -> Any:
    """A date and the midnight that begins it are one:
    versions of DuckDB differ in which DATE_TRUNC gives.
    """
    return datetime(value.year, value.month, value.day) if type(value) is date else value
