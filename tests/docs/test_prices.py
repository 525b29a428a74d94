"""The statements of docs/prices.md do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpsql.session import open_session

HOUSE = Path(__file__).parents[2]
PRICES, _, EARLIER = (
    (HOUSE / "docs" / "prices.md").read_text("utf-8").partition("## Answers of earlier answers")
)
BLOCKS = re.findall(r"```(?:sql)?\n(.*?)```", PRICES, re.DOTALL)
LINES = [line.rstrip(";") for block in BLOCKS for line in block.strip().splitlines()]


def test_every_statement_of_the_page_is_taken(tmp_path: Path) -> None:
    session = open_session(HOUSE / "schemas" / "nafld.toml", ledger=tmp_path / "ledger")
    try:
        for line in LINES:
            session.execute(line)
        explained = [line for line in LINES if line.startswith("EXPLAIN")]
        assert len(explained) == 4 and len(LINES) == 7
        for line in explained[1:]:
            reached = session.explain(line.removeprefix("EXPLAIN PRIVACY")).reached
            assert reached is not None and reached.share is not None and not reached.free
        assert session.accountant.remaining().spent.rho == 0
    finally:
        session.close()


@pytest.mark.parametrize("word", ["TO REACH", "OF 4000", "AT 4000 ROWS", "most_epsilon"])
def test_the_page_knows_all_words(word: str) -> None:
    assert any(word in line for line in LINES)


def test_statements_that_earlier_answers_tell_are_free(tmp_path: Path) -> None:
    session = open_session(HOUSE / "schemas" / "nafld.toml", ledger=tmp_path / "ledger")
    (first, refined) = re.findall(r"```sql\n(.*?)```", EARLIER, re.DOTALL)
    try:
        for line in filter(None, first.splitlines()):
            statement, _, said = line.partition(";")
            assert session.execute(statement).price.stored == ("free" in said), line
        assert 0 < session.execute(refined.strip().rstrip(";")).price.charged < session.epsilon
    finally:
        session.close()
