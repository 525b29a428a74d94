"""A workload is priced by theorems that hold for it, charged once before a row is read, and all or nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shops import costs_of_one_person, opened, shop

import dpsql
from dpsql.database import open_database
from dpsql.errors import BudgetExhausted, DataError, ExecutionFailed, InternalError, OperationalError
from dpsql.plan import Plan
from dpsql.privacy.accountant import Charge, divided
from dpsql.privacy.loss import GaussianLoss, GaussianVectorLoss, Leak, Loss
from dpsql.privacy.measure import epsilon_of_rho
from dpsql.privacy.mechanism.choice import pure_rho
from dpsql.session import Session, open_session
from dpsql.shell import Price, Result
from dpsql.workload import Block, Workload
from dpsql.workload.block import Invalid, LossBlock, Parallel, Sequential
from dpsql.workload.disjoint import conditions as conditions_of
from dpsql.workload.disjoint import points
from dpsql.workload.losses import losses

MICRO = Fraction("1e-6")
LAPLACE = 'mechanism = "laplace"'
COUNT = "SELECT COUNT(*) FROM people WHERE {}"
VISITS = "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE {}"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    found = opened(tmp_path, LAPLACE)
    yield found
    found.close()


def counts(*conditions: str) -> list[str]:
    return [COUNT.format(each) for each in conditions]


def valid(workload: Workload) -> dict[str, bool]:
    return {offer.accountant: offer.valid for offer in workload.offers}


def why(workload: Workload, accountant: str) -> str:
    offer = workload.offer(accountant)
    assert offer is not None and not offer.valid and offer.epsilon is None and offer.cost is None
    return offer.why


# prices


def test_prices_are_those_of_the_theorems(session: Session) -> None:
    workload = session.workload(counts(*(f"age > {age}" for age in range(20, 50))))
    plans, offers = workload.plans, {offer.accountant: offer for offer in workload.offers}
    total = sum((plan.cost.rho for plan in plans), Fraction(0))
    for name in ("hybrid", "basic", "zcdp"):
        assert offers[name].cost == sum((plan.cost for plan in plans[1:]), plans[0].cost).rounded_up()
    assert offers["basic"].epsilon == 3
    assert offers["zcdp"].epsilon == epsilon_of_rho(total, MICRO).limit_denominator(10**40) or offers["zcdp"].epsilon
    assert offers["hybrid"].epsilon == min(offers["basic"].epsilon or 9, offers["zcdp"].epsilon or 9)
    assert offers["advanced"].epsilon == 3
    order = [offers[name].epsilon for name in ("pld", "rdp", "zcdp", "basic")]
    assert all(each is not None for each in order) and order == sorted(order, key=lambda each: each or 0)
    for name in ("advanced", "rdp", "pld"):
        cost = offers[name].cost
        assert cost is not None and cost.epsilon is not None
        assert cost.delta == MICRO / 100 and cost.rho >= pure_rho(cost.epsilon)
        assert cost.epsilon >= (offers[name].epsilon or 0)


def test_a_block_may_use_another_delta(session: Session) -> None:
    asked = counts(*(f"age > {age}" for age in range(20, 50)))
    small, large = (session.workload(asked, delta).offer("pld") for delta in (MICRO / 100, MICRO / 12))
    assert small is not None and large is not None and small.cost is not None and large.cost is not None
    assert (small.cost.delta, large.cost.delta) == (MICRO / 100, (MICRO / 12).limit_denominator(10**12))
    assert (small.cost.epsilon or 0) > (large.cost.epsilon or 0) and small.epsilon == large.epsilon


def test_a_table_for_people_and_rows_for_tools(session: Session) -> None:
    workload = session.workload([COUNT.format("age > 3"), "SELECT city, COUNT(*) FROM people GROUP BY city"])
    shown = str(workload).splitlines()
    assert shown[0] == "a workload of 2 statements" and shown[1].split()[0] == "accountant"
    assert [line.split()[0] for line in shown[2:-1]] == [row[0] for row in workload.rows]
    assert workload.rows[0][:2] == ("hybrid", pytest.approx(0.2)) and workload.rows[0][6] == ""
    assert "*" in next(line for line in shown if line.startswith("hybrid")) and shown[-1].startswith("* is what")
    assert workload.rows[2][:2] == ("parallel", None) and "may belong to one unit" in workload.rows[2][6]
    json.dumps(workload.rows)
    with pytest.raises(AttributeError):
        workload.delta = Fraction(0)  # type: ignore[misc]


def test_pricing_reads_and_charges_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session._river.engine, "run", lambda charge: pytest.fail("a row would be read"))
    session.workload(counts("member", "NOT member"))
    assert session.accountant.ledger.verify() == 0


def test_the_best_valid_offer_is_the_one_that_leaves_the_most(session: Session) -> None:
    workload = session.workload(counts("member", "NOT member"))
    best = workload.best
    assert best is not None and best.accountant == "parallel" and best.left is not None
    assert best.left == max(offer.left for offer in workload.offers if offer.left is not None)


# conditions that are violated


def test_each_accountant_says_why_it_is_not_valid(tmp_path: Path) -> None:
    gaussian, laplace = opened(tmp_path), opened(tmp_path, LAPLACE)
    workload = gaussian.workload(["SELECT city, COUNT(*) FROM people GROUP BY city", *counts("age > 3")])
    assert "Gaussian noise has no pure" in why(workload, "basic")
    assert "pure, without thresholds" in why(workload, "advanced")
    chosen = gaussian.workload(["SELECT age, QUANTILE_CONT(age, 0.5) FROM people GROUP BY age"])
    assert "priced in zCDP have no dominating pair" in why(chosen, "pld")
    two_prices = laplace.workload(["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) COUNT(*) FROM people",
                                   *counts("age > 3")])  # fmt: skip
    assert "of one price" in why(two_prices, "advanced") and valid(two_prices)["pld"]


def test_what_needs_a_delta_is_not_valid_without(tmp_path: Path) -> None:
    file = shop(tmp_path)
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0"), "utf-8")
    with dpsql.connect(file) as connection:
        workload = connection.workload(counts("age > 3", "age > 4"))
        assert {offer.accountant for offer in workload.offers if offer.valid} == {"hybrid", "basic"}
        assert workload.best is not None and workload.best.accountant == "hybrid"


def test_without_the_extra_pld_says_what_to_install(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsql.privacy import loss

    monkeypatch.setattr(loss, "is_installed", lambda: False)
    session.epsilon = Fraction(7, 91)  # whatever was composed before is remembered
    assert 'pip install "dpsql[pld]"' in why(session.workload(counts("age > 41", "age > 4")), "pld")


def test_thresholds_are_part_of_what_a_block_leaks(tmp_path: Path) -> None:
    file = shop(tmp_path, LAPLACE)
    file.write_text(file.read_text("utf-8").replace('values = ["Rome", "Oslo", "Bern"], ', ""), "utf-8")
    with dpsql.connect(file) as connection:
        workload = connection.workload(["SELECT city, COUNT(*) FROM people GROUP BY city", *counts("age > 3")])
        for offer in workload.offers:
            if offer.accountant in ("rdp", "pld"):
                assert offer.cost is not None and offer.cost.delta == MICRO / 100 + MICRO / 1000
        assert "without thresholds" in next(offer.why for offer in workload.offers if offer.accountant == "advanced")


# parallel composition: of units, not of rows

DISJOINT = [
    ("member", "NOT member"),
    ("age < 30", "age >= 30"),
    ("age BETWEEN 0 AND 29", "age BETWEEN 30 AND 60", "age > 60", "age IS NULL"),
    ("city = 'Rome'", "city IN ('Oslo', 'Bern')", "city IS NULL"),
    ("id < 4", "id >= 4"),
    ("30 > age AND member", "age > 30 OR age = 30"),
]
MEETING = [
    ("age < 31", "age > 29"),
    ("age <= 30", "age >= 30"),
    ("city = 'Rome'", "city = 'rome'"),
    ("city = 'Rome'", "city = 'Rôme'"),
    ("city = 'Rome'", "city <> 'Rome'"),
    ("city < 'M'", "city >= 'M'"),
    ("age < 30", "member"),
    ("age < 30", "age IS NOT NULL"),
    ("NOT (age > 30)", "NOT (age < 30)"),
    ("age % 2 = 0", "age % 2 = 1"),
    ("age < 30 OR member", "age >= 30"),
]


@pytest.mark.parametrize("conditions", DISJOINT, ids=" | ".join)
@pytest.mark.parametrize("statement", [COUNT, VISITS], ids=["people", "visits"])
def test_units_that_conditions_part_cost_the_most_of_them(
    session: Session, statement: str, conditions: tuple[str, ...]
) -> None:
    offer = session.workload([statement.format(each) for each in conditions]).offer("parallel")
    assert offer is not None and offer.cost is not None, offer
    assert offer.cost.epsilon == Fraction(1, 10)


@pytest.mark.parametrize("conditions", MEETING, ids=" | ".join)
def test_units_that_may_meet_both_conditions_are_not_parted(session: Session, conditions: tuple[str, ...]) -> None:
    assert "no conditions show" in why(session.workload(counts(*conditions)), "parallel")


@pytest.mark.parametrize(
    "statements",
    [
        ["SELECT COUNT(*) FROM visits WHERE shop = 'north'", "SELECT COUNT(*) FROM visits WHERE shop = 'south'"],
        ["SELECT COUNT(*) FROM visits WHERE paid < 9", "SELECT COUNT(*) FROM visits WHERE paid >= 9"],
        [
            "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE v.shop = 'north'",
            "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE v.shop = 'south'",
        ],
        [
            "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id AND p.age > 40 WHERE p.age IS NULL",
            "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id WHERE p.age = 30",
        ],
        ["SELECT COUNT(*) FILTER (WHERE member) FROM people", "SELECT COUNT(*) FILTER (WHERE NOT member) FROM people"],
        [COUNT.format("member"), "SELECT COUNT(*) FROM people"],
    ],
    ids=["rows of visits", "numbers of visits", "joined", "left joined", "filtered aggregates", "one without"],
)
def test_rows_that_are_apart_are_not_units_that_are(session: Session, statements: list[str]) -> None:
    assert "rows that are apart may belong to one unit" in why(session.workload(statements), "parallel")


def test_columns_of_the_units_table_need_a_key_that_was_checked(tmp_path: Path) -> None:
    loose = opened(tmp_path, LAPLACE, key="")
    assert 'the schema must say key = "id"' in why(loose.workload(counts("member", "NOT member")), "parallel")
    assert valid(loose.workload(counts("id < 4", "id >= 4")))["parallel"]
    loose.close()
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as data:
        data.execute("INSERT INTO people VALUES (0, 60, 'Oslo', false)")
    with pytest.raises(dpsql.Error, match="not unique"):
        opened(tmp_path, LAPLACE)


def test_a_unit_that_is_replaced_may_be_in_two_parts(tmp_path: Path) -> None:
    replaced = opened(tmp_path, LAPLACE + '\nneighbours = "replace"')
    assert "in one part and the one in its place in another" in why(
        replaced.workload(counts("member", "NOT member")), "parallel"
    )


def test_statements_of_one_part_are_added_up(session: Session) -> None:
    """Two about members, one about others, one about everybody: 0.3 for a member, who is in three of them."""
    asked = [*counts("member", "member AND age > 3", "NOT member"), "SELECT SUM(age) FROM people"]
    offer = session.workload(asked).offer("parallel")
    assert offer is not None and offer.cost is not None and offer.cost.epsilon == Fraction(3, 10)


atoms = st.sampled_from(
    "member;NOT member;age < 30;age >= 30;age = 31;age IS NULL;NOT age > 30;age BETWEEN 12 AND 30;city = 'Rome';"
    "city <> 'Rome';city IN ('Oslo', 'Bern');city IS NOT NULL;id < 4;id >= 4;4 <= id;id IN (1, 2, 8);member IS NULL;"
    "age = 31 OR age = 55;age <> 30;member = true;age > 12.5".split(";")
)
shapes = st.sampled_from(
    [
        COUNT,
        VISITS,
        "SELECT SUM(v.paid) FROM people p LEFT JOIN visits v ON v.person = p.id WHERE {}",
        "SELECT COUNT(*) FROM (SELECT p.id, COUNT(*) AS n FROM people p WHERE {} GROUP BY p.id) s",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.id = v.person AND {})",
        "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id AND {}",
        "SELECT city, COUNT(*) FROM people WHERE {} GROUP BY city",
    ]
)
conditions = st.lists(atoms, min_size=1, max_size=2).map(lambda each: "(" + ") AND (".join(each) + ")")
asked = st.lists(st.tuples(shapes, conditions), min_size=2, max_size=4)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked)
def test_no_person_moves_cores_that_cost_more_than_the_block(session: Session, asked: list[tuple[str, str]]) -> None:
    """The exact rows of every core with and without each person, against what parallel composition charges."""
    try:
        plans = tuple(session.plan(shape.format(condition)) for shape, condition in asked)
    except dpsql.Error:
        return  # some conditions do not tie a subquery to its unit
    whole = Block(plans, Sequential()).cost
    try:
        claimed = Block(plans, Parallel(session.schema)).cost.rho
    except Invalid:
        return
    assert claimed < whole.rho
    assert max(costs_of_one_person(plans, session.schema.source_path.parent)) <= claimed


def test_three_valued_logic(session: Session) -> None:
    """NULL AND TRUE is not TRUE, and NULL OR FALSE is not FALSE: what is not true for a unit does not admit it."""
    (core,) = session.plan(COUNT.format("NOT (age > 30 AND age < 60) AND (age > 20 OR age < 5)")).cores
    demanded = conditions_of(core.core, session.schema)
    ages = [None, *map(Fraction, (3, 9, 25, 45, 70))]
    admitted = [demanded.admits("people.age", age) for age in ages]
    assert admitted == [False, True, False, True, False, True]
    assert points([demanded], "people.age")[-1] is None and len(points([demanded], "people.age")) == 4 + 3 + 2 + 1


# execution


def test_a_block_is_charged_once_and_before_a_row_is_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    run, lines = session._river.engine.run, list[int]()

    def watched(charge: object) -> object:
        lines.append(session.accountant.ledger.verify())
        return run(charge)  # type: ignore[arg-type]

    monkeypatch.setattr(session._river.engine, "run", watched)
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


@pytest.mark.parametrize("accountant", ["hybrid", "basic", "parallel", "advanced", "zcdp", "rdp", "pld"])
def test_the_accountant_that_is_named_is_charged(session: Session, accountant: str) -> None:
    workload = session.workload(counts("member", "NOT member"))
    session.run(workload, accountant)
    (entry,) = session.accountant.ledger.history()
    offer = workload.offer(accountant)
    assert offer is not None and entry.cost == offer.cost == session.remaining.spent


def test_one_that_does_not_hold_is_refused_and_nothing_is_charged(session: Session) -> None:
    workload = session.workload(counts("age > 3", "age > 4"))
    with pytest.raises(DataError, match="parallel is not valid for this workload: no conditions show"):
        session.run(workload, "parallel")
    with pytest.raises(DataError, match="known are hybrid, basic, parallel, advanced, zcdp, rdp, pld"):
        session.run(workload, "moments")
    assert session.accountant.ledger.verify() == 0


def test_all_or_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counts(*(f"age > {age}" for age in range(20, 60)))
    monkeypatch.setattr(session._river.engine, "run", lambda charge: pytest.fail("a row would be read"))
    workload = session.workload(asked)
    assert workload.best is not None and workload.best.left is None and "too much" in str(workload)
    with pytest.raises(BudgetExhausted):
        session.run(workload)
    assert session.accountant.ledger.verify() == 0


def test_what_fails_in_the_midst_stays_charged_and_what_was_answered_is_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, times = session._river.engine.run, itertools.count()

    def failing(charge: object) -> object:
        if next(times) == 1:
            raise RuntimeError("no")
        return run(charge)  # type: ignore[arg-type]

    monkeypatch.setattr(session._river.engine, "run", failing)
    asked = counts("age > 3", "age > 4", "age > 5")
    with pytest.raises(ExecutionFailed):
        session.run(session.workload(asked))
    assert session.accountant.ledger.verify() == 1
    again = session.workload(asked)
    assert again.statuses == ("paid for already", "bought", "bought")
    assert len(session.run(again)) == 3 and session.accountant.ledger.verify() == 2


def test_what_was_paid_for_and_what_is_the_same_is_bought_once(session: Session) -> None:
    first = session.execute(COUNT.format("member"))
    same, keys = "SELECT COUNT(*) AS n FROM people WHERE age > 4", "SELECT city, 1 AS one FROM people GROUP BY city"
    asked = [*counts("member", "age > 4"), same, "SELECT 1", keys]
    workload = session.workload(asked)
    assert workload.statuses == ("paid for already", "bought", "the same as one before", "public", "public")
    best = workload.best
    assert best is not None and best.cost is not None and best.cost.epsilon == Fraction(1, 10)
    results = session.run(workload)
    assert results[0].rows == first.rows and results[1].rows == results[2].rows and results[3].rows == [(1,)]
    assert [result.price.stored for result in results[:3]] == [True, False, True]
    free = session.workload(asked)
    assert free.offers == () and free.best is None and "nothing is charged" in str(free)
    assert [each.rows for each in session.run(free)] == [each.rows for each in results]


@pytest.mark.parametrize("accountant", ["hybrid", "basic", "parallel", "advanced", "zcdp", "rdp", "pld"])
def test_the_prices_of_the_answers_add_up_to_what_the_block_was_charged(tmp_path: Path, accountant: str) -> None:
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
    parted, together = (session.workload(counts(*each)) for each in (("member", "NOT member"), ("age > 4", "age > 5")))
    assert parted.best is not None and parted.best.accountant == "parallel"
    assert [result.price.charged for result in session.run(parted)] == [Fraction(1, 20)] * 2
    assert [result.price.charged for result in session.run(together, "zcdp")] == [Fraction(1, 10)] * 2


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
    answers = session._river.answers
    assert answers is not None
    answers._memory.clear()
    with session.accountant.ledger._store.transaction(write=True) as tables:
        tables.execute("DELETE FROM answers")
    with pytest.raises((DataError, OperationalError), match="price"):
        session.run(late)
    assert session.accountant.ledger.verify() == 1


def test_what_another_buys_while_the_block_is_charged_was_paid_for_in_the_block(tmp_path: Path) -> None:
    """Its answer is the one that was there first; its price is what the block was charged for it."""
    database = open_database(shop(tmp_path, LAPLACE))
    session, other = database.session("ada"), database.session("bob")
    asked, river = counts("age > 3", "age > 4"), session._river
    workload, together = session.workload(asked), river.charged_together
    first: list[Result] = []

    def charged(block: Block) -> dict[int, Charge[Plan]]:
        first.append(other.execute(asked[0]))
        return together(block)

    river.charged_together = charged  # type: ignore[method-assign]
    one, two = session.run(workload, "basic")
    assert one.rows == first[0].rows
    assert [(each.price.charged, each.price.stored) for each in (one, two)] == [(Fraction(1, 10), False)] * 2
    assert session.remaining.spent.epsilon == Fraction(3, 10) and session.accountant.ledger.verify() == 2
    assert session.execute(asked[0]).price == Price(Fraction(0), True)
    database.close()


def test_a_charge_is_divided_once(session: Session) -> None:
    plans = tuple(session.plan(each) for each in counts("member", "age > 4"))
    charge = session.accountant.spend(Block(plans, Sequential()), analyst="ada", statement="w")
    parts = divided(charge)
    assert [part.plan for part in parts] == list(plans) and {part.entry for part in parts} == {1}
    with pytest.raises(InternalError, match="already used"):
        divided(charge)
    assert parts[0].redeem() is plans[0]
    with pytest.raises(InternalError, match="already used"):
        parts[0].redeem()


def test_under_the_ledgers_own_accountant_a_block_is_an_entry_like_any_other(tmp_path: Path) -> None:
    for rule in ("basic", "zcdp", "rdp"):
        (tmp_path / rule).mkdir()
        session = opened(tmp_path / rule, LAPLACE + f'\naccountant = "{rule}"')
        for accountant in (None, "pld"):
            session.run(session.workload(counts(f"age > {len(accountant or '')}", "age < 30")), accountant)
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
        assert [len(cursor.fetchall()) for cursor in cursors] == [1, 1, 4]
        assert cursors[2].description is not None and cursors[2].description[1][0] == "n"
        assert connection.workload([COUNT.format("member")]).statuses == ("paid for already",)
        with pytest.raises(dpsql.Error):
            connection.workload(["SELECT name FROM people"])
        with pytest.raises(dpsql.Error, match="delta"):
            connection.workload([COUNT.format("member")], delta=0)


def test_a_block_cannot_use_more_delta_than_is_set_aside(tmp_path: Path) -> None:
    with dpsql.connect(shop(tmp_path, LAPLACE)) as connection:
        asked = counts("age > 3", "age > 4")
        assert connection.workload(asked, delta=1e-7).best is not None
        for delta in (1.1e-7, 0.5, 0.9, 1, 3):
            with pytest.raises(DataError, match="sets δ = 1e-7 aside for thresholds and blocks"):
                connection.workload(asked, delta=delta)
    file = shop(tmp_path, LAPLACE, name="pure")
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0"), "utf-8")
    with dpsql.connect(file) as connection, pytest.raises(DataError, match="sets δ = 0 aside"):
        connection.workload(asked, delta=1e-9)


def test_a_large_delta_of_the_schema_makes_no_epsilon_below_nothing(tmp_path: Path) -> None:
    file = shop(tmp_path, LAPLACE)
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0.9"), "utf-8")
    with dpsql.connect(file) as connection:
        for offer in connection.workload(counts("age > 3", "age > 4")).offers:
            assert offer.epsilon is None or offer.epsilon >= 0


def test_losses_cover_every_release_of_a_plan(tmp_path: Path) -> None:
    """At a small δ one plan's losses say about what it costs: a release that was left out would show."""
    session = opened(tmp_path, LAPLACE)
    for text in (
        "SELECT COUNT(*), SUM(age), AVG(age) FROM people",
        "SELECT city, MEDIAN(age), QUANTILE_CONT(age, [0.1, 0.2, 0.3, 0.9]) FROM people GROUP BY city",
        "SELECT HISTOGRAM(city), MODE(city) FROM people",
        "SELECT MODE(city) FROM people",
        "SELECT city, DP_CLIP(age) FROM people GROUP BY city",
        "SELECT age, COUNT(*) FROM people GROUP BY age",
    ):
        plan = session.plan(text)
        epsilon = Block((plan,), LossBlock(MICRO / 100)).cost.epsilon
        assert epsilon is not None and Fraction(95, 1000) < epsilon <= Fraction(1001, 10000)


def undeclared(folder: Path, privacy: str = "") -> Session:
    """With shops and cities that only a threshold may show."""
    file = shop(folder, privacy, name="undeclared")
    declared = [', values = ["Rome", "Oslo", "Bern"]', ', values = ["north", "south"]']
    for each in declared:
        assert each in file.read_text("utf-8")
        file.write_text(file.read_text("utf-8").replace(each, ""), "utf-8")
    return open_session(file)


@pytest.mark.parametrize("privacy", ["", 'neighbours = "replace"'])
def test_gaussian_losses_are_of_the_distance_and_the_noise_of_every_release(tmp_path: Path, privacy: str) -> None:
    """Σ distance²/(2·variance) over the pairs is what the plan's releases cost in ρ."""
    session = undeclared(tmp_path, privacy)
    for text in (
        "SELECT COUNT(*), SUM(age), AVG(age) FROM people",
        "SELECT member, COUNT(*), AVG(age) FROM people GROUP BY member",
        "SELECT age, COUNT(*) FROM people GROUP BY age",
        "SELECT city, COUNT(*), AVG(age) FROM people GROUP BY city",
        "SELECT shop, SUM(paid) FROM visits GROUP BY shop",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.8) shop, COUNT(*) FROM visits GROUP BY shop",
    ):
        plan = session.plan(text)
        pairs = [loss for loss in losses((plan,)) if not isinstance(loss, Leak)]
        assert sum((_rho(loss) for loss in pairs), Fraction(0)) == plan.cost.rho, text
    dear = session.workload(["SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 3) shop FROM visits GROUP BY shop"])
    assert "known by its zCDP alone" in why(dear, "pld")
    session.close()


def _rho(loss: Loss) -> Fraction:
    assert isinstance(loss, GaussianLoss | GaussianVectorLoss)
    square = loss.distance**2 if isinstance(loss, GaussianLoss) else loss.l2_squared
    return square / (2 * loss.variance)


def test_a_gaussian_dashboard_is_cheaper_by_its_losses(tmp_path: Path) -> None:
    """Groups, averages and thresholds among them."""
    session = undeclared(tmp_path)
    block = [f"SELECT {by}, COUNT(*), AVG(age) FROM people WHERE age > {age} GROUP BY {by}"
             for by in ("city", "member", "age") for age in range(20, 30)]  # fmt: skip
    offers = {offer.accountant: offer for offer in session.workload(block, MICRO / 100).offers}
    pld, zcdp, rdp = (offers[name].epsilon for name in ("pld", "zcdp", "rdp"))
    assert pld is not None and zcdp is not None and rdp is not None and pld < 0.97 * zcdp and pld < 0.97 * rdp
