"""A budget that is renewed, as a session meets it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from databases import clinic

from dpsql.errors import BudgetExhausted
from dpsql.privacy.ledger.stores.sqlite import LedgerFile
from dpsql.session import Session
from dpsql.session.database import TOOLS, Database, open_database

COUNT = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets the clock of the machine, as far as the ledger looks at it."""

    shown: list[datetime] = []
    monkeypatch.setattr(LedgerFile, "now", lambda self, tables: shown[-1])

    def show(*moment: int) -> None:
        shown.append(datetime(*moment, tzinfo=UTC))  # type: ignore[misc, arg-type]

    return show


@pytest.fixture
def session(tmp_path: Path, show: Callable[..., None]) -> Iterator[Session]:
    show(2026, 3, 10)
    path = clinic(tmp_path, epsilon="1", query_epsilon="0.1")
    text = path.read_text("utf-8").replace("[privacy]", '[privacy]\nrefresh = "daily"')
    path.write_text(text, "utf-8")
    database: Database = open_database(path)
    yield database.session("ada", TOOLS)
    database.close()


def test_answers_that_were_paid_for_are_free_in_every_window(
    session: Session, show: Callable[..., None]
) -> None:
    first = session.execute(COUNT)
    assert first.price.charged and not first.price.stored
    for moment in ((2026, 3, 11), (2026, 4, 1), (2026, 3, 1)):
        show(*moment)
        again = session.execute(COUNT)
        assert again.rows == first.rows and again.price.stored
    assert session.accountant.ledger.verify() == 1


def test_the_day_after_there_is_a_budget_again(session: Session, show: Callable[..., None]) -> None:
    with pytest.raises(BudgetExhausted, match=r"renewed on 2026-03-11 \(UTC\)"):
        for least in range(20):
            session.execute(f"SELECT COUNT(*) FROM patients WHERE ward > {least}")
    left = session.remaining
    assert (left.lifetime.windows, left.renewal) == (1, date(2026, 3, 11))
    show(2026, 3, 11)
    assert session.execute("SELECT COUNT(*) FROM visits").price.charged
    assert session.remaining.lifetime.windows == 2


def test_what_is_left_is_told_with_the_lifetime(
    session: Session, show: Callable[..., None]
) -> None:
    session.execute(COUNT)
    show(2026, 3, 12)
    left, told = session.remaining, ("lifetime_epsilon", "lifetime_delta", "renewed_on")
    whole = (float(left.lifetime.epsilon or 0), float(left.lifetime.delta), date(2026, 3, 13))
    assert left.lifetime.windows == 2 and whole[0] == 2
    assert session.execute(f"SELECT {', '.join(told)} FROM dpsql.budget").rows == [whole]
    shown = session.execute("SHOW dpsql.budget")
    assert (
        tuple(column.name for column in shown.columns)[-3:] == told and shown.rows[0][-3:] == whole
    )
    assert f", renewed on 2026-03-13 (lifetime: {left.lifetime})" in str(session.explain(COUNT))
