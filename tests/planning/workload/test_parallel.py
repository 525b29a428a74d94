"""Parallel composition is of units, not of rows: conditions part them,
or the block costs the sum.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shops import COUNT, LAPLACE, VISITED, costs_of_one_person, counts, opened, valid, why

import dpsql
from dpsql.planning.workload import Block
from dpsql.planning.workload.disjoint import conditions as conditions_of
from dpsql.planning.workload.disjoint import points
from dpsql.privacy.accountants.basic_and_zcdp import Hybrid
from dpsql.privacy.accountants.composition_theorem import TheoremInvalid
from dpsql.privacy.accountants.workloads import Parallel
from dpsql.session import Session

DISJOINT = [
    ("member", "NOT member"),
    ("age < 30", "age >= 30"),
    ("age BETWEEN 0 AND 29", "age BETWEEN 30 AND 60", "age > 60", "age IS NULL"),
    ("city = 'Rome'", "city IN ('Oslo', 'Bern')", "city IS NULL"),
    ("id < 4", "id >= 4"),
    ("30 > age AND member", "age > 30 OR age = 30"),
    ("born < DATE '1990-06-01'", "born >= DATE '1990-06-01'"),
    (
        "born BETWEEN DATE '1990-01-01' AND DATE '1990-12-31'",
        "born > DATE '1990-12-31'",
        "born IS NULL",
    ),
    ("born = DATE '1990-06-01'", "born IN (DATE '1990-06-02', DATE '1990-06-03')"),
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
    ("born <= DATE '1990-06-01'", "born >= DATE '1990-06-01'"),
    ("born < DATE '1990-06-02'", "born > DATE '1990-05-31'"),
    ("joined < TIMESTAMP '2024-03-05 12:00:00'", "joined >= TIMESTAMP '2024-03-05 08:00:00'"),
    ("joined = TIMESTAMP '2024-03-05 09:30:00'", "joined > TIMESTAMP '2024-03-05 09:00:00'"),
    ("joined < TIMESTAMP '2024-03-05 12:00:00'", "joined > TIMESTAMP '2024-03-05 00:00:00'"),
    ("joined < TIMESTAMP '2024-03-05 12:00:00'", "joined >= DATE '2024-03-05'"),
    ("born < TIMESTAMP '1990-06-01 12:00:00'", "born >= DATE '1990-06-01'"),
]


@pytest.mark.parametrize("conditions", DISJOINT, ids=" | ".join)
@pytest.mark.parametrize("statement", [COUNT, VISITED], ids=["people", "visits"])
def test_units_that_conditions_part_cost_the_most_of_them(
    session: Session, statement: str, conditions: tuple[str, ...]
) -> None:
    offer = session.workload([statement.format(each) for each in conditions]).offer("parallel")
    assert offer is not None and offer.cost is not None, offer
    assert offer.cost.epsilon == Fraction(1, 10)


@pytest.mark.parametrize("conditions", MEETING, ids=" | ".join)
def test_units_that_may_meet_both_conditions_are_not_parted(
    session: Session, conditions: tuple[str, ...]
) -> None:
    assert "no conditions show" in why(session.workload(counts(*conditions)), "parallel")


@pytest.mark.parametrize(
    "statements",
    [
        [
            "SELECT COUNT(*) FROM visits WHERE shop = 'north'",
            "SELECT COUNT(*) FROM visits WHERE shop = 'south'",
        ],
        [
            "SELECT COUNT(*) FROM visits WHERE paid < 9",
            "SELECT COUNT(*) FROM visits WHERE paid >= 9",
        ],
        [
            "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE v.shop = 'north'",
            "SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.id WHERE v.shop = 'south'",
        ],
        [
            "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id AND p.age > 40 WHERE p.age IS NULL",
            "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id WHERE p.age = 30",
        ],
        [
            "SELECT COUNT(*) FILTER (WHERE member) FROM people",
            "SELECT COUNT(*) FILTER (WHERE NOT member) FROM people",
        ],
        [COUNT.format("member"), "SELECT COUNT(*) FROM people"],
    ],
    ids=[
        "rows of visits",
        "numbers of visits",
        "joined",
        "left joined",
        "filtered aggregates",
        "one without",
    ],
)
def test_rows_that_are_apart_are_not_units_that_are(
    session: Session, statements: list[str]
) -> None:
    assert "rows that are apart may belong to one unit" in why(
        session.workload(statements), "parallel"
    )


def test_a_long_text_may_be_in_two_parts_where_one_of_them_reads_less_of_it(
    session: Session,
) -> None:
    """A join reads five characters of a city, one more than declared ones have:
    Parisian is Paris there.
    """
    asked = [COUNT.format("city = 'Parisian'"), VISITED.format("city = 'Paris'")]
    assert "no conditions show" in why(session.workload(asked), "parallel")
    plans = tuple(map(session.plan, asked))
    whole = Block(plans, Hybrid, session.schema).cost.rho
    assert max(costs_of_one_person(plans, session.schema.source_path.parent)) == whole
    assert valid(
        session.workload([COUNT.format("city = 'Rome'"), VISITED.format("city = 'Oslo'")])
    )["parallel"]


def test_columns_of_the_units_table_need_a_key_that_was_checked(tmp_path: Path) -> None:
    loose = opened(tmp_path, LAPLACE, key="")
    assert 'the schema must say key = "id"' in why(
        loose.workload(counts("member", "NOT member")), "parallel"
    )
    assert valid(loose.workload(counts("id < 4", "id >= 4")))["parallel"]
    loose.close()
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as data:
        data.execute("INSERT INTO people (id, age, city, member) VALUES (0, 60, 'Oslo', false)")
    with pytest.raises(dpsql.Error, match="not unique"):
        opened(tmp_path, LAPLACE)


def test_a_unit_that_is_replaced_may_be_in_two_parts(tmp_path: Path) -> None:
    replaced = opened(tmp_path, LAPLACE + '\nneighbours = "replace"')
    assert "in one part and the one in its place in another" in why(
        replaced.workload(counts("member", "NOT member")), "parallel"
    )


def test_statements_of_one_part_are_added_up(session: Session) -> None:
    """Two about members, one about others, one about everybody: 0.3 for a member,
    who is in three of them.
    """
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
        VISITED,
        "SELECT SUM(v.paid) FROM people p LEFT JOIN visits v ON v.person = p.id WHERE {}",
        "SELECT COUNT(*) FROM (SELECT p.id, COUNT(*) AS n FROM people p WHERE {} GROUP BY p.id) s",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.id = v.person AND {})",
        "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.person = p.id AND {}",
        "SELECT city, COUNT(*) FROM people WHERE {} GROUP BY city",
    ]
)


conditions = st.lists(atoms, min_size=1, max_size=2).map(
    lambda each: "(" + ") AND (".join(each) + ")"
)


asked = st.lists(st.tuples(shapes, conditions), min_size=2, max_size=4)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked)
def test_no_person_moves_cores_that_cost_more_than_the_block(
    session: Session, asked: list[tuple[str, str]]
) -> None:
    """The exact rows of every core with and without each person,
    against what parallel composition charges.
    """
    try:
        plans = tuple(session.plan(shape.format(condition)) for shape, condition in asked)
    except dpsql.Error:
        return  # some conditions do not tie a subquery to its unit
    whole = Block(plans, Hybrid, session.schema).cost
    try:
        claimed = Block(plans, Parallel, session.schema).cost.rho
    except TheoremInvalid:
        return
    assert claimed < whole.rho
    assert max(costs_of_one_person(plans, session.schema.source_path.parent)) <= claimed


def test_three_valued_logic(session: Session) -> None:
    """NULL AND TRUE is not TRUE, and NULL OR FALSE is not FALSE:
    what is not true for a unit does not admit it.
    """
    (core,) = session.plan(
        COUNT.format("NOT (age > 30 AND age < 60) AND (age > 20 OR age < 5)")
    ).cores
    demanded = conditions_of(core.core, session.schema)
    ages = [None, *map(Fraction, (3, 9, 25, 45, 70))]
    admitted = [demanded.admits("people.age", age) for age in ages]
    assert admitted == [False, True, False, True, False, True]
    assert (
        points([demanded], "people.age")[-1] is None
        and len(points([demanded], "people.age")) == 4 + 3 + 2 + 1
    )
