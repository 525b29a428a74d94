"""SET dpsql.target_error: statements are priced by how exact their answers shall be,
from what is public alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from databases import clinic
from seeded_entropy import Seeded

import dpsql
from dpsql.errors import BudgetExhausted, DataError, Refused
from dpsql.planning.plan import Plan
from dpsql.repl.statement_execution import answer
from dpsql.session import Session
from dpsql.session.database import Database, open_database
from dpsql.session.pricing.expected_errors import expected

COUNT = "SELECT COUNT(*) AS n FROM visits"
MEAN = "SELECT AVG(weight) AS a FROM patients"
SEXES = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(clinic(tmp_path, epsilon="2000", query_epsilon="1"))
    yield opened
    opened.close()


@pytest.fixture
def session(database: Database) -> Session:
    return database.session("ada")


def entries(session: Session) -> int:
    return len(list(session.accountant.ledger.history()))


def test_an_absolute_target_is_priced_before_it_runs(session: Session) -> None:
    session.execute("SET dpsql.target_error = '± 2'")
    plan = session.plan(COUNT)
    assert not plan.pilot and entries(session) == 0
    (error,) = expected(plan)
    assert error is not None and error.half_width <= 2
    (smaller,) = expected(plan.at(plan.price * Fraction(98, 100)))
    assert smaller is not None and smaller.half_width > 2
    result = session.execute(COUNT)
    assert result.price.charged == plan.price and entries(session) == 1
    assert any("to reach ± 2" in notice for notice in result.notices)
    ((low, high),) = result.intervals[0]
    assert (high - low) / 2 == pytest.approx(error.half_width)


def test_every_statement_has_its_own_price(session: Session) -> None:
    session.execute("SET dpsql.target_error = 2")
    one, three = (
        session.plan(COUNT),
        session.plan("SELECT COUNT(*) AS n, SUM(ward) AS s FROM patients"),
    )
    assert one.price != three.price
    session.execute("RESET dpsql.target_error")
    assert session.plan(COUNT).price == 1
    assert session.execute("SHOW dpsql.target_error").rows == [("off",)]


def test_a_pilot_tells_the_price_of_the_better_answer(session: Session) -> None:
    """Two charges: the session's price, then the one that follows from what the first released."""
    session.execute("SET dpsql.most_epsilon = 2000")
    session.execute("SET dpsql.epsilon = 0.5")
    session.execute("SET dpsql.target_error = '3 %'")
    plan = session.plan(COUNT)
    assert plan.pilot and plan.price == Fraction(1, 2)
    result = session.execute(COUNT)
    history = list(session.accountant.ledger.history())
    if (
        len(history) == 1
    ):  # the first answer happened to be large enough, or the price to be too large
        assert any(
            "reaches 3 %" in notice or "a first answer only" in notice for notice in result.notices
        )
        return
    assert len(history) == 2
    assert result.price.charged > Fraction(1, 2)
    assert any("to reach 3 %" in notice for notice in result.notices)
    assert history[0].cost.rho == plan.cost.rounded_up().rho


def test_the_second_price_follows_from_released_values_alone(session: Session) -> None:
    """It is what TO REACH says with the size that the pilot released,
    whatever the exact size is.
    """
    session.execute("SET dpsql.most_epsilon = 2000")
    pilot = session.execute("SELECT COUNT(*) AS n FROM patients")
    size = abs(float(str(pilot.rows[0][0])))
    said = session.explain("SELECT COUNT(*) AS n FROM patients TO REACH 10 %").reached
    session.execute("SET dpsql.target_error = '10 %'")
    if size == 0:
        assert session.plan("SELECT COUNT(*) AS n FROM patients").pilot
        return
    assert said is not None and said.known == 1
    plan = session.plan("SELECT COUNT(*) AS n FROM patients")
    assert plan.price == said.epsilon
    (error,) = expected(plan)
    (smaller,) = expected(plan.at(plan.price * Fraction(98, 100)))
    assert error is not None and smaller is not None
    assert error.half_width <= size / 10 < smaller.half_width


def test_what_was_paid_for_and_is_near_enough_is_given_again(session: Session) -> None:
    session.execute("SET dpsql.epsilon = 9")
    first = session.execute(COUNT)
    session.execute("SET dpsql.epsilon = 1")
    session.execute("SET dpsql.target_error = 100")
    again = session.execute(COUNT)
    assert again.rows == first.rows and again.price.stored and entries(session) == 1
    assert session.explain(f"{COUNT} TO REACH 100").reached.free  # type: ignore[union-attr]


def test_asking_again_pays_nothing_more(session: Session) -> None:
    session.execute("SET dpsql.target_error = 1")
    first = session.execute(SEXES)
    again = session.execute(SEXES)
    assert again.rows == first.rows and again.price.charged == 0 and entries(session) == 1


def test_what_one_may_cost_is_bounded(session: Session) -> None:
    """Ten times the session's price, unless somebody says otherwise;
    refused before anything is charged.
    """
    session.execute("SET dpsql.target_error = 0.3")
    with pytest.raises(
        BudgetExhausted,
        match=r"more than one statement may cost here, ε = 10; SET dpsql.most_epsilon = ",
    ):
        session.execute(COUNT)
    assert entries(session) == 0
    assert session.execute("SHOW dpsql.most_epsilon").rows == [("10",)]
    session.execute("SET dpsql.most_epsilon = 1000")
    assert session.execute(COUNT).price.charged > 10


def test_a_pilot_and_its_better_answer_together_cost_no_more_than_one_may(session: Session) -> None:
    """Whatever the pilot finds; and where one may cost less than the session's statements do,
    so does a pilot.
    """
    session._execution.entropy = Seeded(8)
    session.execute("SET dpsql.epsilon = 0.5")
    charged = []
    for place, most in enumerate(("0.05", "0.6", "0.7", "0.8", "0.9", "1", "1.5", "3", "6")):
        session.execute(f"SET dpsql.most_epsilon = {most}")
        for percent in (5, 20, 40):
            session.execute(f"SET dpsql.target_error = '{percent} %'")
            before = entries(session)
            result = session.execute(
                f"SELECT COUNT(*) AS n FROM visits WHERE visit <> {100 * place + percent}"
            )
            assert result.price.charged <= Fraction(most)
            charged.append(entries(session) - before)
    assert charged.count(1) >= 2 and charged.count(2) >= 2


def test_a_pilot_is_reckoned_in_what_its_better_answer_may_cost(session: Session) -> None:
    session._execution.entropy = Seeded(8)
    session.execute("SET dpsql.target_error = '2 %'")
    plan = session.plan(COUNT)
    result, released = session._answering.answer(plan)

    def better(most: Fraction) -> Plan | None:
        return session._targets.better(
            plan, result, released, replace(session.settings, most_epsilon=most)
        )[1]

    dear = better(Fraction(2000))
    assert dear is not None and result.price.charged == 1
    assert (
        better(dear.price + 1) is not None
        and better(dear.price) is None
        and better(dear.price + Fraction(1, 2)) is None
    )


def test_what_one_may_cost_is_above_nothing(session: Session) -> None:
    with pytest.raises(DataError, match="above 0"):
        session.execute("SET dpsql.most_epsilon = 0")
    assert session.execute("SHOW dpsql.most_epsilon").rows == [("10",)]


def test_what_the_budget_does_not_admit_is_refused_with_what_it_admits(tmp_path: Path) -> None:
    database = open_database(clinic(tmp_path, epsilon="2", query_epsilon="1"))
    session = database.session("ada")
    session.execute("SET dpsql.target_error = 0.5")
    with pytest.raises(
        BudgetExhausted, match=r"the budget does not admit it; it admits ε = .* which gives n ± "
    ):
        session.execute(COUNT)
    assert entries(session) == 0
    database.close()


def test_a_pilot_whose_better_answer_is_too_dear_is_the_answer(session: Session) -> None:
    session.execute("SET dpsql.most_epsilon = 1")
    session.execute("SET dpsql.target_error = '0.001 %'")
    result = session.execute(COUNT)
    assert entries(session) == 1 and result.price.charged == 1
    assert any(notice.startswith("a first answer only: ") for notice in result.notices)


def test_who_does_not_consent_keeps_the_first_answer(session: Session) -> None:
    """In the terminal, which asks before the second charge as before the first,
    and says what is paid by then.
    """
    session.execute("SET dpsql.most_epsilon = 2000")
    session.execute("SET dpsql.target_error = '10 %'")
    asked: list[tuple[Fraction, Fraction]] = []

    def consent(plan: Plan, charged: Fraction) -> None:
        asked.append((plan.price, charged))
        if charged:
            raise BudgetExhausted("no")

    for limit in range(100, 130):  # until noise is small beside what it hides
        found = answer(
            session, f"SELECT SUM(cost) AS s FROM visits WHERE cost < {limit}", consent
        ).result
        if len(asked) > 1:
            break
        asked.clear()
    assert [charged for _, charged in asked] == [0, 1] and asked[1][0] > 1
    assert found.price.charged == 1 and any(
        "a first answer only: no" in notice for notice in found.notices
    )


def test_where_another_was_faster_the_first_answer_stands(session: Session) -> None:
    plan = session.plan(COUNT)
    first, better = session.first(plan)
    assert better is None
    dear = replace(plan.at(Fraction(2000)), notices=("never",))
    assert (
        session.second(first, dear)
        .notices[0]
        .startswith("a first answer only: no budget for an answer like this: the statement costs")
    )


def test_statements_without_intervals_and_with_their_own_price_keep_it(session: Session) -> None:
    session.execute("SET dpsql.target_error = '5 %'")
    assert session.plan("SELECT BOOL_AND(ward > 1) AS b FROM patients").price == 1
    own = session.plan(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 3) COUNT(*) AS n FROM visits"
    )
    assert own.price == 3 and not own.pilot
    assert session.plan("SELECT COUNT(*) FROM places").cores == ()


def test_an_average_by_an_absolute_target_needs_a_pilot(session: Session) -> None:
    session.execute("SET dpsql.target_error = 2.5")
    assert session.plan(MEAN).pilot
    result = session.execute(MEAN)
    assert 1 <= entries(session) <= 2
    assert result.notices


@pytest.mark.parametrize(
    "text", ["SET dpsql.target_error = 'x'", "SET dpsql.target_error = 0", "SET dpsql.aim = 5"]
)
def test_what_is_no_target_is_refused(session: Session, text: str) -> None:
    with pytest.raises(Refused):
        session.execute(text)


def test_in_python(tmp_path: Path) -> None:
    with dpsql.connect(clinic(tmp_path)) as connection:
        for target, shown in ((200, "± 200"), ("5 %", "5 %"), (0.5, "± 0.5"), ("± 3", "± 3")):
            connection.target_error = target
            assert str(connection.target_error) == shown
        with pytest.raises(DataError):
            connection.target_error = "exactly"
        cursor = connection.execute(COUNT)
        assert any("to reach ± 3" in notice for notice in cursor.notices)
        connection.target_error = None
        assert connection.target_error is None
        explanation = connection.explain(COUNT, to_reach="± 7")
        assert explanation.reached is not None and explanation.expected[0] is not None
        with pytest.raises(DataError):
            connection.explain(COUNT, to_reach="soon")
