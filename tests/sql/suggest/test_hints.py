"""Hints keep the question: aggregates, grouping, filters, joins and names stay,
and the hint says what it changed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sqlglot import exp
from star_statements import SCHEMA, STATEMENTS
from untouched import UntouchedEngine, planning_session

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.schema import loads
from dpsql.session import Session, open_accountant
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parse import parse

TESTS = Path(__file__).parents[2]
CORPUS = [
    each["statement"]
    for each in json.loads((TESTS / "corpus" / "clients.json").read_text(encoding="utf-8"))
]
REFUSED = [
    next(line for line in block.splitlines() if not line.startswith("-- "))
    for path in sorted((TESTS / "sql" / "refused").glob("*.sql"))
    for block in path.read_text(encoding="utf-8").strip().split("\n\n")
    if "-- schema: nafld\n" in block
]


@pytest.fixture(scope="module")
def retail(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("star")
    declared = loads(SCHEMA, folder / "retail.toml")
    return Session(
        declared, UntouchedEngine(), open_accountant(declared, folder / "retail.ledger"), "reader"
    )


@pytest.fixture(scope="module")
def nafld(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("hints") / "hints.ledger")


def hint_of(session: Session, text: str, values: tuple[object, ...] = ()) -> str | None:
    """What is suggested; None where nothing is, or where the statement is answered."""
    try:
        session.plan(text, values)
    except (Refused, StatementError) as refusal:
        return refusal.hint
    except DatabaseError:
        return None
    return None


def said(hint: str) -> list[str]:
    """What the hint says of its changes."""
    found = re.search(r"/\* (.*) \*/$", hint)
    return [] if found is None else found[1].split("; ")


def clauses(text: str, kind: str) -> list[str]:
    """The clauses of one kind in all queries of the statement,
    without the parts that hold queries.
    """
    found = []
    for select in parse(text).tree.find_all(exp.Select):
        parts = select.args.get("joins") or [] if kind == "joins" else [select.args.get(kind)]
        for part in parts:
            if part is not None and part.find(exp.Query) is None:
                found.append(STATEMENT.write(part).lower())
    return sorted(found)


def named(text: str) -> dict[str, str]:
    """What each name of a column stands for, in all SELECT lists."""
    items = [
        item for select in parse(text).tree.find_all(exp.Select) for item in select.expressions
    ]
    return {
        item.alias.lower(): STATEMENT.write(item.this).lower()
        for item in items
        if isinstance(item, exp.Alias)
    }


#: What is said of a sum that is clipped in another way, and is the same sum but for that.
CLIPPED_OTHERWISE = frozenset(
    {"the sizes found first", "without DP_CLIP", "each person clipped, not each row"}
)


def require_the_same_question(session: Session, text: str, hint: str) -> None:
    session.plan(hint)
    changes = said(hint)
    for kind in ("from_", "joins", "where", "group"):
        assert clauses(hint, kind) == clauses(text, kind) or changes, (kind, text, hint)
    corrected = [
        each.lower().split(" for ")
        for each in changes
        if re.fullmatch(r"'?\w+'? for \"?\w+\"?", each)
    ]
    before, after = named(text), named(hint)
    assert before.keys() <= after.keys() or any(
        "FILTER" in each or "a row for" in each for each in changes
    )
    for name in before.keys() & after.keys():
        wanted = before[name]
        for new, old in corrected:
            wanted = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, wanted)
        assert after[name] == wanted or CLIPPED_OTHERWISE.intersection(changes), (name, text, hint)


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_hint_of_a_star_schema_keeps_the_question(retail: Session, text: str) -> None:
    with pytest.raises((Refused, StatementError)):
        retail.plan(text)
    hint = hint_of(retail, text)
    if hint is not None:
        require_the_same_question(retail, text, hint)
    if "GROUP BY" in text and hint is not None:
        assert "GROUP BY" in hint


def test_hints_of_a_star_schema_are_tried(retail: Session) -> None:
    assert len(STATEMENTS) >= 30
    assert sum(hint_of(retail, text) is not None for text in STATEMENTS) >= 10


@pytest.mark.parametrize("text", [*REFUSED, *CORPUS])
def test_a_hint_keeps_the_question(nafld: Session, text: str) -> None:
    hint = hint_of(nafld, text)
    if hint is not None:
        require_the_same_question(nafld, text, hint)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "SELECT MAX(DISTINCT ws_price) AS most FROM web_sales WHERE ws_price > 1",
            (
                "SELECT MAX(ws_price) AS most FROM web_sales WHERE ws_price > 1 "
                "/* MAX(ws_price) for MAX(DISTINCT ws_price) */"
            ),
        ),
        (
            "SELECT APPROX_COUNT_DISTINCT(ws_device) AS n FROM web_sales WHERE ws_device IN (?, ?)",
            (
                "SELECT COUNT(DISTINCT ws_device) AS n FROM web_sales WHERE ws_device IN (?, ?) "
                "/* COUNT(DISTINCT ws_device) for APPROX_COUNT_DISTINCT(ws_device) */"
            ),
        ),
        (
            (
                "WITH d AS (SELECT ws_device, SEM(ws_price) AS e FROM web_sales WHERE ws_price > $2 AND ws_device = $1 "
                "GROUP BY ws_device) SELECT ws_device, e + 1 AS more FROM d ORDER BY e"
            ),
            (
                "WITH d AS (SELECT ws_device, STDDEV(ws_price) / SQRT(COUNT(ws_price)) AS e FROM web_sales "
                "WHERE ws_price > $2 AND ws_device = $1 GROUP BY ws_device) SELECT ws_device, e + 1 AS more FROM d "
                "ORDER BY e /* STDDEV(ws_price) / SQRT(COUNT(ws_price)) for SEM(ws_price) */"
            ),
        ),
    ],
)
def test_what_is_changed_is_said(retail: Session, text: str, hint: str) -> None:
    values = ("a", "b") if "?" in text else ("a", 3) if "$" in text else ()
    assert hint_of(retail, text, values) == hint


@pytest.mark.parametrize(
    "text",
    [
        "SELECT KURTOSIS(ws_price), SKEWNESS(ws_price) FROM web_sales",
        "SELECT COUNT(DISTINCT ws_device, ws_price) FROM web_sales",
        "SELECT ARG_MIN(ws_device, ws_price) AS first_device FROM web_sales WHERE ws_price > 1",
        "SELECT COUNT(*) AS n FROM (SELECT ws_price FROM web_sales LIMIT 10) AS first_ten",
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ws_device FROM web_sales) AS devices",
        "SELECT SUM(DISTINCT ws_price) FROM web_sales",
        "SELECT SUM(ws_device) FROM web_sales",
        "SELECT * FROM web_sales WHERE ws_price > 10",
        "SELECT ws_customer_sk, SUM(ws_price) AS spent FROM web_sales GROUP BY ws_customer_sk",
        "SELECT SUM(ss_profit) FROM store_sales",
        "SELECT STRING_AGG(ws_device, ',') FROM web_sales",
        (
            "SELECT COUNT(*) FROM web_sales a JOIN web_sales b ON a.ws_price = b.ws_price AND a.ws_customer_sk < "
            "b.ws_customer_sk"
        ),
        "SELECT COUNT(*) FROM web_sales WHERE ws_price > DP_INTERVAL_LOW(ws_price)",
    ],
)
def test_no_hint_asks_another_question(retail: Session, text: str) -> None:
    with pytest.raises((Refused, StatementError)):
        retail.plan(text)
    assert hint_of(retail, text) is None
