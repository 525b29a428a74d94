"""A block is charged once, before a row is read, and all or nothing;
what its answers cost adds up to it.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest
from shops import COUNT, LAPLACE, MICRO, counts, opened, shop, valid, why

import dpsql
from dpsql.errors import (
    BudgetExhausted,
    DataError,
    ExecutionFailed,
    InternalError,
    OperationalError,
)
from dpsql.planning.plan import Plan
from dpsql.planning.workload import Block
from dpsql.postprocessing import Price, Result
from dpsql.privacy.accountant import Charge, divided
from dpsql.privacy.accountants.basic_and_zcdp import Hybrid
from dpsql.session import Session
from dpsql.session.database import open_database


def test_a_block_is_charged_once_and_before_a_row_is_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, lines = session._execution.engine.run, list[int]()

    def watched(*charge_and_version: object) -> object:
        lines.append(session.accountant.ledger.verify())
        return run(*charge_and_version)  # type: ignore[arg-type]

    monkeypatch.setattr(session._execution.engine, "run", watched)
    workload = session.workload(counts("member", "NOT member", "age > 30"))
    results = session.run(workload)
    assert lines == [1, 1, 1] and session.accountant.ledger.verify() == 1
    assert [len(result.rows) for result in results] == [1, 1, 1]
    (entry,) = session.accountant.ledger.history()
    best = workload.best
    assert best is not None and entry.cost == best.cost
    assert entry.statement == "-- a workload of 3 statements, by parallel\n" + ";\n".join(
        counts("member", "NOT member", "age > 30")
    )
    assert len(json.loads(entry.cells)) == 3


@pytest.mark.parametrize(
    "accountant", ["hybrid", "basic", "parallel", "advanced", "zcdp", "rdp", "pld"]
)
def test_the_accountant_that_is_named_is_charged(session: Session, accountant: str) -> None:
    workload = session.workload(counts("member", "NOT member"))
    session.run(workload, accountant)
    (entry,) = session.accountant.ledger.history()
    offer = workload.offer(accountant)
    assert offer is not None and entry.cost == offer.cost == session.remaining.spent


def test_one_that_does_not_hold_is_refused_and_nothing_is_charged(session: Session) -> None:
    workload = session.workload(counts("age > 3", "age > 4"))
    with pytest.raises(
        DataError, match="parallel is not valid for this workload: no conditions show"
    ):
        session.run(workload, "parallel")
    with pytest.raises(
        DataError, match="known are hybrid, basic, parallel, advanced, zcdp, rdp, pld"
    ):
        session.run(workload, "moments")
    assert session.accountant.ledger.verify() == 0


def test_all_or_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counts(*(f"age > {age}" for age in range(20, 60)))
    monkeypatch.setattr(
        session._execution.engine, "run", lambda charge: pytest.fail("a row would be read")
    )
    workload = session.workload(asked)
    assert workload.best is not None and workload.best.left is None and "too much" in str(workload)
    with pytest.raises(BudgetExhausted):
        session.run(workload)
    assert session.accountant.ledger.verify() == 0


def test_what_fails_in_the_midst_stays_charged_and_what_was_answered_is_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, times = session._execution.engine.run, itertools.count()

    def failing(*charge_and_version: object) -> object:
        if next(times) == 1:
            raise RuntimeError("no")
        return run(*charge_and_version)  # type: ignore[arg-type]

    monkeypatch.setattr(session._execution.engine, "run", failing)
    asked = counts("age > 3", "age > 4", "age > 5")
    with pytest.raises(ExecutionFailed):
        session.run(session.workload(asked))
    assert session.accountant.ledger.verify() == 1
    again = session.workload(asked)
    assert again.statuses == ("paid for already", "bought", "bought")
    assert len(session.run(again)) == 3 and session.accountant.ledger.verify() == 2


def test_what_was_paid_for_and_what_is_the_same_is_bought_once(session: Session) -> None:
    first = session.execute(COUNT.format("member"))
    same, keys = (
        "SELECT COUNT(*) AS n FROM people WHERE age > 4",
        "SELECT city, 1 AS one FROM people GROUP BY city",
    )
    asked = [*counts("member", "age > 4"), same, "SELECT 1", keys]
    workload = session.workload(asked)
    assert workload.statuses == (
        "paid for already",
        "bought",
        "the same as one before",
        "public",
        "public",
    )
    best = workload.best
    assert best is not None and best.cost is not None and best.cost.epsilon == Fraction(1, 10)
    results = session.run(workload)
    assert (
        results[0].rows == first.rows
        and results[1].rows == results[2].rows
        and results[3].rows == [(1,)]
    )
    assert [result.price.stored for result in results[:3]] == [True, False, True]
    free = session.workload(asked)
    assert free.offers == () and free.best is None and "nothing is charged" in str(free)
    assert [each.rows for each in session.run(free)] == [each.rows for each in results]


@pytest.mark.parametrize(
    "accountant", ["hybrid", "basic", "parallel", "advanced", "zcdp", "rdp", "pld"]
)
def test_the_prices_of_the_answers_add_up_to_what_the_block_was_charged(
    tmp_path: Path, accountant: str
) -> None:
    asked = [*counts("member", "NOT member", "member AND age > 4"), "SELECT 1", *counts("member")]
    with dpsql.connect(shop(tmp_path, LAPLACE)) as connection:
        workload = connection.workload(asked)
        cost = next(offer.cost for offer in workload.offers if offer.accountant == accountant)
        prices = [cursor.price for cursor in workload.execute(accountant)]
    assert cost is not None and cost.epsilon is not None
    charged = [price.charged for price in prices]
    assert charged[0] == charged[1] == charged[2] > 0 == charged[3] == charged[4]
    assert cost.epsilon - MICRO**5 < sum(charged) <= cost.epsilon  # which is rounded up
    assert [price.stored for price in prices] == [False, False, False, False, True]


def test_statements_of_a_gaussian_block_that_are_parted_cost_their_part(tmp_path: Path) -> None:
    session = opened(tmp_path)
    parted, together = (
        session.workload(counts(*each))
        for each in (("member", "NOT member"), ("age > 4", "age > 5"))
    )
    assert parted.best is not None and parted.best.accountant == "parallel"
    assert [result.price.charged for result in session.run(parted)] == [Fraction(1, 20)] * 2
    assert [result.price.charged for result in session.run(together, "zcdp")] == [
        Fraction(1, 10)
    ] * 2


def test_equal_statements_are_bought_once_where_no_answers_are_kept(tmp_path: Path) -> None:
    session = opened(tmp_path, LAPLACE + "\nkeep_answers = false")
    workload = session.workload([COUNT.format("member")] * 3)
    one, two, three = session.run(workload)
    assert one.rows == two.rows == three.rows and session.remaining.spent.epsilon == Fraction(1, 10)


def test_a_price_that_was_told_is_not_passed_behind_ones_back(session: Session) -> None:
    asked = counts("member", "age > 4")
    early = session.workload(asked)
    session.execute(asked[0])
    with pytest.raises(DataError, match="price it again"):
        session.run(early)
    late = session.workload(asked)
    answers = session._execution.answers
    assert answers is not None
    answers._released._values.clear()
    with session.accountant.ledger._store.transaction(write=True) as tables:
        tables.execute("DELETE FROM answers")
    with pytest.raises((DataError, OperationalError), match="price"):
        session.run(late)
    assert session.accountant.ledger.verify() == 1


def test_what_another_buys_while_the_block_is_charged_was_paid_for_in_the_block(
    tmp_path: Path,
) -> None:
    """Its answer is the one that was there first;
    its price is what the block was charged for it.
    """
    database = open_database(shop(tmp_path, LAPLACE))
    session, other = database.session("ada"), database.session("bob")
    asked, execution = counts("age > 3", "age > 4"), session._execution
    workload, together = session.workload(asked), execution.charged_together
    first: list[Result] = []

    def charged(block: Block) -> dict[int, Charge[Plan]]:
        first.append(other.execute(asked[0]))
        return together(block)

    execution.charged_together = charged  # type: ignore[method-assign]
    one, two = session.run(workload, "basic")
    assert one.rows == first[0].rows
    assert [(each.price.charged, each.price.stored) for each in (one, two)] == [
        (Fraction(1, 10), False)
    ] * 2
    assert (
        session.remaining.spent.epsilon == Fraction(3, 10)
        and session.accountant.ledger.verify() == 2
    )
    assert session.execute(asked[0]).price == Price(Fraction(0), True)
    database.close()


def test_a_charge_is_divided_once(session: Session) -> None:
    plans = tuple(session.plan(each) for each in counts("member", "age > 4"))
    charge = session.accountant.spend(
        Block(plans, Hybrid, session.schema), analyst="ada", statement="w"
    )
    parts = divided(charge)
    assert [part.plan for part in parts] == list(plans) and {part.entry for part in parts} == {1}
    with pytest.raises(InternalError, match="already used"):
        divided(charge)
    assert parts[0].redeem() is plans[0]
    with pytest.raises(InternalError, match="already used"):
        parts[0].redeem()


def test_under_the_ledgers_own_accountant_a_block_is_an_entry_like_any_other(
    tmp_path: Path,
) -> None:
    for rule in ("basic", "zcdp", "rdp"):
        (tmp_path / rule).mkdir()
        session = opened(tmp_path / rule, LAPLACE + f'\naccountant = "{rule}"')
        for accountant in (None, "pld"):
            session.run(
                session.workload(counts(f"age > {len(accountant or '')}", "age < 30")), accountant
            )
        assert session.accountant.ledger.verify() == 2 and session.remaining.share < 1
        session.close()


def test_advanced_composition_of_the_ledger_takes_no_block(tmp_path: Path) -> None:
    session = opened(tmp_path, 'accountant = { name = "advanced", statements = 9, epsilon = 0.1 }')
    workload = session.workload(counts("age > 3", "age > 4"))
    assert not valid(workload)["pld"] and "has none for it" in why(workload, "pld")
    with pytest.raises(BudgetExhausted, match="costs exactly"):
        session.run(workload)
    session.run(session.workload(counts("member", "NOT member")), "parallel")


def test_a_dashboard_in_python(tmp_path: Path) -> None:
    with dpsql.connect(shop(tmp_path, LAPLACE)) as connection:
        workload = connection.workload(
            [
                COUNT.format("member"),
                (COUNT.format("age > ?"), (30,)),
                "SELECT city, COUNT(*) AS n FROM people GROUP BY city",
            ]
        )
        assert str(workload).startswith("a workload of 3 statements\naccountant")
        assert repr(workload) == "Workload(3 statements, best='hybrid')" and len(workload.rows) == 7
        cursors = workload.execute()
        assert [len(cursor.fetchall()) for cursor in cursors] == [1, 1, 3]
        assert cursors[2].description is not None and cursors[2].description[1][0] == "n"
        assert connection.workload([COUNT.format("member")]).statuses == ("paid for already",)
        with pytest.raises(dpsql.Error):
            connection.workload(["SELECT name FROM people"])
        with pytest.raises(dpsql.Error, match="delta"):
            connection.workload([COUNT.format("member")], delta=0)
