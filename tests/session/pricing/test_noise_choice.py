"""The noise that nobody names lets a budget, and a cap, pay for more;
what any noise pays for is answered.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from databases import clinic
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpsql import connect
from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.privacy.budget import Budget, Lifetime, Window
from dpsql.privacy.filter import FilterState, RemainingBudget
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.schema import Privacy
from dpsql.session.database import open_database
from dpsql.session.pricing.noise_choice import (
    MORE,
    chosen_noise,
    is_settled,
    ordinary_answers,
    usual_costs,
)

MICRO = Fraction("1e-6")
TENTH = Fraction(1, 10)
COUNT = "SELECT COUNT(DISTINCT patient) FROM patients WHERE ward < {}"


def promise(epsilon: Fraction, price: Fraction = TENTH, rule: str = "hybrid") -> Privacy:
    return Privacy(unit="t.id", epsilon=epsilon, delta=MICRO, query_epsilon=price, accountant=rule)


def whole(
    privacy: Privacy, cap: Fraction | None = None, cap_delta: Fraction = MICRO
) -> RemainingBudget:
    """What is left where nothing is spent, of the total and of a cap."""
    total = Budget(privacy.epsilon, privacy.delta, rule=privacy.accountant)
    caps = (
        ()
        if cap is None
        else (FilterState("ada", Budget(cap, cap_delta, rule=privacy.accountant), FREE),)
    )
    return RemainingBudget((FilterState(None, total, FREE), *caps), Lifetime(total, 1, FREE))


def answered(
    privacy: Privacy, left: RemainingBudget, prices: list[Fraction], most: int = 400
) -> int:
    """How many statements at these prices, one after the other and over again,
    are answered until one is refused.
    """
    for count in range(most):
        price = prices[count % len(prices)]
        after = left.after(usual_costs(privacy, price)[chosen_noise(privacy, price, left)])
        if after is None:
            return count
        left = after
    return most


@pytest.mark.parametrize(
    ("epsilon", "cap", "noise", "statements"),
    [
        ("1", None, "laplace", 10),
        ("2", None, "laplace", 20),
        ("3", None, "gaussian", 36),
        ("3", "0.5", "laplace", 5),
        ("3", "0.3", "laplace", 3),
        ("3", "1", "laplace", 10),
        ("10", "3", "gaussian", 36),
    ],
)
def test_the_noise_that_pays_for_more_is_chosen_also_under_a_cap(
    epsilon: str, cap: str | None, noise: str, statements: int
) -> None:
    privacy = promise(Fraction(epsilon))
    left = whole(privacy, None if cap is None else Fraction(cap))
    assert chosen_noise(privacy, TENTH, left) == noise
    assert (
        answered(privacy, left, [TENTH])
        == statements
        == ordinary_answers(privacy, TENTH, left).total
    )


@pytest.mark.parametrize(
    ("epsilon", "answers"), [("1", 10), ("1", 40), ("2", 17), ("3", 36), ("3", 10)]
)
def test_who_asks_for_so_many_answers_gets_them_with_the_narrower_noise(
    epsilon: str, answers: int
) -> None:
    """And an analyst whose cap would pay for fewer gets Laplace noise."""
    privacy = Privacy(unit="t.id", epsilon=Fraction(epsilon), delta=MICRO, answers=answers)
    price, left = privacy.query_epsilon, whole(privacy)
    assert chosen_noise(privacy, price, left) == "gaussian"
    assert answers <= answered(privacy, left, [price]) <= answers + 2
    capped = whole(privacy, 3 * price)
    assert (
        chosen_noise(privacy, price, capped) == "laplace"
        and answered(privacy, capped, [price]) == 3
    )


def test_a_cap_without_delta_gets_laplace_noise() -> None:
    privacy = promise(Fraction(3))
    assert chosen_noise(privacy, TENTH, whole(privacy, Fraction(2), Fraction(0))) == "laplace"


def test_a_dear_statement_of_a_full_budget_is_answered_and_so_is_what_is_left() -> None:
    privacy = promise(Fraction(3))
    left = whole(privacy)
    assert chosen_noise(privacy, Fraction(1), left) == "laplace"
    after = left.after(usual_costs(privacy, Fraction(1))["laplace"])
    assert after is not None and chosen_noise(privacy, TENTH, after) == "laplace"
    assert answered(privacy, after, [TENTH]) == 20


epsilons = st.integers(1, 60).map(lambda tenths: Fraction(tenths, 10))
prices = st.sampled_from([Fraction(1, 20), TENTH, Fraction(1, 4), Fraction(1, 2), Fraction(1)])
rules = st.sampled_from(["hybrid", "zcdp", "rdp", "basic"])


@settings(max_examples=150)
@given(
    epsilons,
    prices,
    st.none() | epsilons,
    rules,
    st.lists(st.tuples(prices, st.booleans()), max_size=5),
    prices,
)
def test_what_any_noise_pays_for_is_answered(
    epsilon: Fraction,
    ordinary: Fraction,
    cap: Fraction | None,
    rule: str,
    before: list[tuple[Fraction, bool]],
    price: Fraction,
) -> None:
    """Whatever was charged before, with whatever noise: where one noise is admitted,
    the chosen one is.
    """
    assume(max(ordinary, price) <= epsilon)
    privacy = promise(epsilon, ordinary, rule)
    left = whole(privacy, cap)
    for earlier, gaussian in before:
        costs = usual_costs(privacy, earlier)
        left = (
            left.after(costs.get("gaussian", costs["laplace"]) if gaussian else costs["laplace"])
            or left
        )
    costs = usual_costs(privacy, price)
    if any(left.after(cost) is not None for cost in costs.values()):
        assert left.after(costs[chosen_noise(privacy, price, left)]) is not None
    if is_settled(left):
        assert chosen_noise(privacy, price, left) == "gaussian"


def test_gaussian_noise_is_chosen_for_good_where_no_sum_of_epsilons_is_left_and_no_window_ends() -> (
    None
):
    left = whole(promise(Fraction(3)))
    after = left.after(Cost(None, Fraction(1, 1000)))
    assert after is not None and is_settled(after) and not is_settled(left)
    assert not is_settled(replace(after, window=Window("daily", 1)))


@settings(max_examples=60)
@given(epsilons, prices, st.none() | epsilons, rules)
def test_as_many_ordinary_statements_are_answered_as_by_the_better_noise(
    epsilon: Fraction, ordinary: Fraction, cap: Fraction | None, rule: str
) -> None:
    """But for a tenth, for which the narrower noise is taken."""
    assume(ordinary <= epsilon)
    privacy = promise(epsilon, ordinary, rule)
    left = whole(privacy, cap)
    best = max(map(left.affordable, usual_costs(privacy, ordinary).values()))
    assert best <= max(MORE * answered(privacy, left, [ordinary]), 1) or best > 400


@pytest.mark.parametrize(
    "rule", [Hybrid(), Basic(), Concentrated(), Renyi()], ids=lambda rule: rule.name
)
@settings(max_examples=40)
@given(epsilons, prices, st.booleans(), st.integers(0, 12))
def test_answers_add_up(
    rule: object, epsilon: Fraction, price: Fraction, pure: bool, asked: int
) -> None:
    """After k answers of one cost there are k fewer left, of as many as before."""
    cost = Cost(price if pure or isinstance(rule, Basic) else None, price**2 / 2)
    budget = Budget(epsilon, MICRO, rule=rule)  # type: ignore[arg-type]
    full, standing = (
        FilterState(None, budget, FREE).answers_left(cost),
        FilterState(None, budget, FREE),
    )
    assert full.left == full.total
    done = min(asked, full.total)
    for _ in range(done):
        standing = standing.after(cost.rounded_up())
    assert standing.holds
    found = standing.answers_left(cost)
    assert (found.left, found.total) == (full.total - done, full.total)


def test_answers_of_an_analyst_are_those_of_the_budget_that_has_fewer() -> None:
    privacy = promise(Fraction(3))
    cost = usual_costs(privacy, TENTH)["laplace"]
    left = whole(privacy, Fraction(1))
    assert str(left.answers_left(cost)) == "10 of 10 answers like this left"
    total, cap = left.standings
    for _ in range(31):
        total = total.after(cost)
    others = RemainingBudget((total, cap), left.lifetime)
    assert str(others.answers_left(cost)) == "5 of 36 answers like this left"


def _schema(folder: Path, lines: str) -> Path:
    schema = clinic(folder, epsilon="3", query_epsilon="0.1")
    schema.write_text(
        schema.read_text().replace("[tables.patients]\n", lines + "[tables.patients]\n", 1)
    )
    return schema


@pytest.mark.parametrize(
    ("cap", "count"), [("epsilon = 0.5", 5), ("epsilon = 0.3", 3), ("epsilon = 0.2\ndelta = 0", 2)]
)
def test_an_analyst_with_a_cap_is_answered_by_its_own_currency(
    cap: str, count: int, tmp_path: Path
) -> None:
    with connect(_schema(tmp_path, f"[analysts.ada]\n{cap}\n"), "ada") as connection:
        for number in range(count):
            left = connection.explain(COUNT.format(number)).answers
            assert (left.left, left.total) == (count - number, count)
            connection.execute(COUNT.format(number))
        with pytest.raises(BudgetExhausted):
            connection.execute(COUNT.format(count))
        assert connection.execute(COUNT.format(0)).price.stored  # what was paid for stays free
        assert connection.explain(COUNT.format(0)).cells[0].noise == "discrete Laplace"


def test_a_third_of_a_full_budget_is_answered_at_once(tmp_path: Path) -> None:
    with connect(_schema(tmp_path, "")) as connection:
        connection.execute("SET dpsql.reuse = off")
        connection.execute("SET dpsql.epsilon = 1")
        connection.execute(COUNT.format(1))
        connection.execute("RESET dpsql.epsilon")
        assert connection.explain(COUNT.format(2)).answers.left == 20
        clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {}) COUNT(*) FROM patients WHERE ward < 3"
        for price in ("1", "0.9"):
            assert connection.execute(clause.format(price)).price.charged == Fraction(price)


def test_a_target_that_only_laplace_noise_reaches_within_the_budget_is_bought(
    tmp_path: Path,
) -> None:
    """± 3.2 takes ε = 0.61 of Gaussian noise, whose ρ is more than the budget holds,
    or 0.93 of Laplace noise.
    """
    database = open_database(_schema(tmp_path, ""))
    session = database.session()
    session.target_error = 3.2
    assert session.explain(COUNT.format(1)).cells[0].noise == "discrete Laplace"
    assert Fraction(9, 10) < session.execute(COUNT.format(1)).price.charged < 1
    session.mechanism = "gaussian"
    with pytest.raises(BudgetExhausted, match="the budget does not admit it"):
        session.execute(COUNT.format(2))
    database.close()


def test_a_statement_that_names_its_price_has_the_noise_of_that_price(tmp_path: Path) -> None:
    database = open_database(_schema(tmp_path, ""))
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = {}) COUNT(*) FROM patients"
    for price, noise in (("0.1", Gaussian), ("1", Laplace)):
        (cell,) = database.session().plan(clause.format(price)).cores[0].cells
        assert isinstance(cell.mechanism, noise)
    database.close()
