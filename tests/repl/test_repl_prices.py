"""Prices and the budget in words, as the toolbar,
the line behind an answer and a dry run say them.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from command_runs import BY_SEX

from dpsql.errors import BudgetExhausted
from dpsql.postprocessing import Price
from dpsql.repl import prices
from dpsql.repl.prices import (
    PriceList,
    budget_lines,
    cost_lines,
    left,
    meter,
    price_line,
    require_within,
)
from dpsql.repl.repl_session import ReplSession
from dpsql.session import Session

LIFE = "the whole life       ε = 3, δ = 0.000001"
ANSWER = "an answer is a count at dpsql.epsilon = 0.1; SET dpsql.epsilon = … changes it"
FULL = "the database         ██████████████████████████████ 36 of 36 answers left"


def test_the_budget_is_told_in_answers_and_with_details_in_figures(session: Session) -> None:
    assert budget_lines(session, Fraction(0), 0) == [
        FULL,
        LIFE,
        ANSWER,
        "this session paid for 0 statements",
    ]
    assert budget_lines(session, Fraction(1, 10), 1, details=True) == [
        FULL,
        f"{'':<20} ε = 3 of 3 left, ρ = 0 of 0.1836 spent, δ = 1e-7 left for keys",
        LIFE,
        ANSWER,
        "this session paid for 1 statement, ε = 0.1 together",
    ]
    session.set("dpsql.target_error", "5%")
    aimed = "a statement costs what reaches 5 %; RESET dpsql.target_error ends that"
    assert budget_lines(session, Fraction(1, 5), 2) == [
        FULL,
        LIFE,
        aimed,
        "this session paid for 2 statements",
    ]


def test_a_list_of_prices_adds_up_and_tells_a_second_answer_at_no_price(session: Session) -> None:
    paid, free, left = (
        session.plan(BY_SEX),
        session.plan("SELECT chapter FROM conditions"),
        session.remaining,
    )
    listed = PriceList()
    assert listed.summary == "0 statements, which take nothing in all; nothing was run"
    listed.add(free, None, left)
    assert listed.summary == "1 statement, which takes nothing in all; nothing was run"
    for _ in range(2):
        listed.add(paid, paid, left)
    assert (
        listed.summary == "3 statements, which take 1/36 in all; nothing was run"
        and listed.epsilon == Fraction(1, 10)
    )
    assert list(listed.rows.names) == [
        "statement",
        "takes",
        "epsilon",
        "rho",
        "delta",
        "epsilon_so_far",
    ]
    assert list(listed.rows.rows) == [
        ("SELECT chapter FROM conditions", "nothing", 0, 0, 0, 0),
        (BY_SEX, "1/36", 0.1, 0.005, 0, 0.1),
        (BY_SEX, "nothing", 0, 0, 0, 0.1),
    ]


def test_a_list_ends_where_the_budget_does(session: Session) -> None:
    session.set("dpsql.epsilon", "1.4")
    listed, plans = (
        PriceList(),
        [session.plan(f"SELECT COUNT(*) FROM patients WHERE age > {age}") for age in range(3)],
    )
    for plan in plans[:2]:
        listed.add(plan, plan, session.remaining)
    with pytest.raises(BudgetExhausted):
        listed.add(plans[2], plans[2], session.remaining)


@pytest.mark.parametrize(
    ("paid", "price", "over"),
    [("0", "1", False), ("0.5", "0.5", False), ("0.5", "0.51", True), ("2", "0.1", True)],
)
def test_no_more_is_spent_than_may_be(paid: str, price: str, over: bool) -> None:
    require_within(None, Fraction(paid), Fraction(price))
    if not over:
        return require_within(Fraction(1), Fraction(paid), Fraction(price))
    rest = max(1 - float(paid), 0)
    with pytest.raises(BudgetExhausted) as raised:
        require_within(Fraction(1), Fraction(paid), Fraction(price))
    assert str(raised.value).endswith(
        f"the statement costs ε = {price}, and of the most that may be spent, ε = 1, ε = {rest:g} is left"
    )


def test_the_line_behind_an_answer(session: Session) -> None:
    free = Price(Fraction(0))
    assert (
        price_line(1, free, False, session, None)
        == "1 row · free: no private row was read · 36 of 36 answers left"
    )
    assert price_line(None, free, False, session, 1.2346).endswith("answers left · 1,235 ms")
    stored = price_line(2, Price(Fraction(0), stored=True), False, session, 0.0)
    assert (
        stored == "2 rows · free: answered before, and paid for once · 36 of 36 answers left · 0 ms"
    )
    bought = Price(Fraction(1, 10), cost=session.plan(BY_SEX).cost)
    assert (
        price_line(2, bought, True, session, None)
        == "2 rows · this one took 1/36 · 36 of 36 answers like this left"
    )


def test_what_a_statement_would_cost_is_told_with_the_errors_of_its_columns(
    session: Session,
) -> None:
    exact = ["bmi  ± 1.2 with 1,000 rows, ± 0.012 with 100,000", "n    ± 33.95"]
    assert cost_lines(session.explain(BY_SEX)) == [
        *exact,
        "this one takes 1/36; 36 of 36 answers like this left",
    ]
    assert cost_lines(session.explain("SELECT chapter FROM conditions")) == [
        "free: it reads public tables only"
    ]
    session.execute(BY_SEX)
    again = "free now, for it was paid for already; otherwise this one takes 1/36; 35 of 36 answers like this left"
    assert cost_lines(session.explain(BY_SEX))[-1] == again


@pytest.mark.parametrize(
    ("share", "level"),
    [
        ("1", "full"),
        ("0.51", "full"),
        ("0.5", "half"),
        ("0.21", "half"),
        ("0.2", "low"),
        ("0", "low"),
    ],
)
def test_the_meter_warns_at_a_half_and_at_a_fifth(share: str, level: str) -> None:
    answers = SimpleNamespace(share=Fraction(share), describe=lambda _: "some left")
    told: Any = SimpleNamespace(
        ordinary_answers=lambda _: answers,
        remaining=None,
        analyst="ada",
        schema=SimpleNamespace(name="shop"),
    )
    name, bar, text = meter(told)
    assert name == ("class:meter.name", " ada at shop ") and text == (
        "class:meter",
        " some left │ \\? helps ",
    )
    assert bar == (f"class:meter.{level}", f" {prices.bar(Fraction(share), 12)}")


def test_what_is_left_is_told_in_answers(session: Session, repl: ReplSession) -> None:
    assert left(session) == "36 of 36 answers left"
    repl.feed(BY_SEX)
    assert left(session) == "35 of 36 answers left"
