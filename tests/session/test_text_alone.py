"""Nothing that a statement's text alone decides fails after its charge: it is answered,
or refused at no cost.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence

import duckdb
import pytest
from databases import clinic

from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.errors import DatabaseError, ExecutionFailed, StatementError
from dpsql.session import Session, open_session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = open_session(clinic(tmp_path_factory.mktemp("clinic"), epsilon="1000000"))
    yield opened
    opened.close()


def answered(session: Session, text: str, parameters: Sequence[object] = ()) -> bool:
    """Whether the statement was answered; False where it was refused,
    for which nothing may be charged.
    """
    before = session.remaining.spent
    try:
        session.execute(text, parameters)
    except DatabaseError:
        assert session.remaining.spent == before, f"charged for nothing: {text[:200]}"
        return False
    return True


def nested(form: str, inner: str, times: int) -> str:
    for _ in range(times):
        inner = form.format(inner)
    return inner


LONG_TEXTS = {
    "emoji": "\U0001f600" * 500,
    "letters beyond ASCII": "é" * 600,
    "combining marks": "e\u0301\u0323" * 300,
    "both, by turns": "aé" * 700,
    "from right to left, and no width": "\u202e\u200b\ufeff" * 200,
    "C1 controls and private characters": "\u0080\u009f\ue000\U0010ffff" * 100,
    "quotes and percent signs": "'%_\\\"é" * 200,
    "plain": "a" * 9_000,
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_long_texts_are_answered(session: Session, name: str) -> None:
    text = LONG_TEXTS[name]
    for statement in (
        "SELECT COUNT(*) FROM patients WHERE name = ?",
        "SELECT COUNT(*) FROM patients WHERE name LIKE ?",
        "SELECT COUNT(*) FROM patients WHERE name IN ('b', ?)",
        "SELECT CASE WHEN name = ? THEN 1 ELSE 2 END AS k, COUNT(*) FROM patients GROUP BY 1",
    ):
        if (
            "LIKE" not in statement or "\\" not in text
        ):  # a backslash escapes, and some patterns have none
            assert answered(session, statement, [text]), statement


def test_long_texts_are_compared_as_they_are(session: Session) -> None:
    """The parts of a long text come together in their order."""
    text = "".join(chr(0x4E00 + place) + ("ab" if place % 7 == 0 else "") for place in range(900))
    (core,) = session.plan("SELECT COUNT(*) FROM patients WHERE name = ?", [text]).cores
    start = core.sql.index("((((")
    level, end = 0, start
    while level or end == start:
        level += {"(": 1, ")": -1}.get(core.sql[end], 0)
        end += 1
    assert duckdb.connect().execute(f"SELECT {core.sql[start:end]}").fetchall() == [(text,)]


WIDE = {
    "a text of a million characters": (
        "SELECT COUNT(*) FROM patients WHERE name = ?",
        ["é" * 10**6],
    ),
    "a plain text of a million characters": (
        "SELECT COUNT(*) FROM patients WHERE name = ?",
        ["e" * 10**6],
    ),
    "a long list of numbers": (
        f"SELECT COUNT(*) FROM patients WHERE ward IN ({', '.join(map(str, range(1400)))})",
        (),
    ),
    "100 conditions": (
        "SELECT COUNT(*) FROM patients WHERE " + " AND ".join(f"ward <> {n}" for n in range(100)),
        (),
    ),
    "100 alternatives": (
        "SELECT COUNT(*) FROM patients WHERE " + " OR ".join(f"ward = {n}" for n in range(100)),
        (),
    ),
    "100 summands": ("SELECT SUM(ward" + " + 1" * 100 + ") FROM patients", ()),
    "100 texts put together": (
        "SELECT COUNT(*) FROM patients WHERE name = " + " || ".join(["name"] * 100),
        (),
    ),
    "200 keys": (
        "SELECT COUNT(*) FROM patients GROUP BY " + ", ".join(f"ward + {n}" for n in range(200)),
        (),
    ),
    "30 aggregates": (
        "SELECT " + ", ".join(f"SUM(ward * {n + 1})" for n in range(30)) + " FROM patients",
        (),
    ),
    "15 subqueries, one in the other": (
        nested(
            "SELECT patient, x FROM ({}) AS s", "SELECT patient, ward AS x FROM patients", 15
        ).replace("SELECT patient, x", "SELECT SUM(x)", 1),
        (),
    ),
    "10 branches": (
        "SELECT COUNT(*) FROM ("
        + " UNION ALL ".join(f"SELECT patient, ward + {n} AS w FROM patients" for n in range(10))
        + ") AS t",
        (),
    ),
    "20 tables": (
        "SELECT COUNT(*) FROM patients p "
        + " ".join(f"JOIN places q{n} ON q{n}.place = p.name" for n in range(20)),
        (),
    ),
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_and_deep_statements_are_answered_or_refused_at_no_cost(
    session: Session, name: str
) -> None:
    text, parameters = WIDE[name]
    assert answered(session, text, parameters) == ("million" not in name)


#: Functions whose total forms repeat their argument, and what an engine makes of NULLIF:
#: 3 to the #: power of the depth.
REPEATING = (
    ("sqrt({})", "weight"),
    ("sin({})", "weight"),
    ("nullif({}, 1)", "ward"),
    ("1 / (1 + {})", "weight"),
    ("last_day({})", "CAST(name AS DATE)"),
)


@pytest.mark.parametrize(("form", "inner"), REPEATING)
def test_what_grows_with_each_level_is_refused_before_it_is_large(
    session: Session, form: str, inner: str
) -> None:
    refused = 0
    for times in (3, 40):
        statement = f"SELECT COUNT(*) FROM patients WHERE {nested(form, inner, times)} IS NOT NULL"
        refused += not answered(session, statement)
    assert refused == 1


def test_what_an_engine_makes_larger_is_counted_as_it_will_be(session: Session) -> None:
    """NULLIF in NULLIF is short in SQL, and is doubled at each level by the engine;
    nothing is run here.
    """
    plan = session.plan(
        f"SELECT COUNT(*) FROM patients WHERE {nested('nullif({}, 1)', 'ward', 18)} > 1"
    )
    with pytest.raises(StatementError, match="E_LIMITS it becomes more than 50,000 parts"):
        plan.written()


def test_a_statement_that_the_engine_would_not_plan_is_not_charged(session: Session) -> None:
    """What no rule foresees is found by the dry run: here the emitted SQL itself is wrong."""
    plan = session.plan("SELECT COUNT(*) FROM patients WHERE ward = 3")
    for wrong in (
        plan.cores[0].sql.replace('"ward"', '"warp"'),
        plan.cores[0].sql.replace("SELECT", "SELEC", 1),
        plan.cores[0].sql.replace('"source"."main"."patients"', '"source"."main"."visits"'),
        f'{plan.cores[0].sql} LIMIT (SELECT COUNT(*) FROM "source"."main"."visits" AS "t1")',
        f"SELECT {'(' * 400}1{')' * 400} + "
        + " + ".join(["1"] * 900)
        + ' FROM "source"."main"."patients" AS "t0"',
    ):
        plan.cores[0].__dict__["sql"] = wrong
        before = session.remaining.spent
        with pytest.raises(StatementError, match="E_LIMITS the engine cannot plan"):
            session.answer(plan)
        assert session.remaining.spent == before


def test_the_dry_run_comes_before_the_charge_of_a_block(session: Session) -> None:
    workload = session.workload(
        ["SELECT COUNT(*) FROM patients", "SELECT SUM(ward) FROM patients WHERE ward > 1"]
    )
    workload.plans[1].cores[0].__dict__["sql"] = "SELECT nothing"
    before = session.remaining.spent
    with pytest.raises(StatementError, match="E_LIMITS"):
        session.run(workload)
    assert session.remaining.spent == before


def test_the_dry_run_knows_no_row(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs nothing of the data: they may be closed, and it says what it said."""
    engine = session._execution.engine
    assert isinstance(engine, DuckDBEngine)

    class Nothing:
        version = engine.version  # which files are open

        def __getattr__(self, name: str) -> object:
            raise AssertionError("the data were asked")

    monkeypatch.setattr(engine, "_data", Nothing())
    plan = session.plan(
        "SELECT sex, AVG(weight) FROM patients WHERE weight > (SELECT AVG(weight) FROM patients) "
        "GROUP BY sex"
    )
    engine.dry_run(plan)
    assert len(plan.stages) == 2


@pytest.mark.parametrize("free", [40, 90, 200])
def test_how_deep_the_caller_stands_does_not_decide_after_the_charge(
    session: Session, free: int
) -> None:
    """A program may call dpsql from deep inside of itself:
    where that is too deep it is told before the charge.
    """
    text = "SELECT SUM(ward" + " + 1" * 100 + f") FROM patients WHERE ward < {free}"
    plan = session.plan(text)
    plan.written()

    def called(levels: int) -> None:
        if levels:
            called(levels - 1)
            return
        before = session.remaining.spent
        try:
            session.answer(plan)
        except ExecutionFailed:
            pytest.fail("it failed after its charge")
        except (StatementError, RecursionError):
            assert session.remaining.spent == before

    depth = len(list(_frames()))
    called(max(sys.getrecursionlimit() - depth - 370 - free, 0))


def _frames() -> Iterator[object]:
    frame: object = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[attr-defined]


FORMS = {
    "number": (
        "abs({})",
        "{} + 1",
        "- ({})",
        "round({}, 1)",
        "sqrt({})",
        "coalesce({}, 2)",
        "nullif({}, 1)",
        "greatest({}, 3)",
        "CASE WHEN {} > 1 THEN 2 ELSE 3 END",
        "{} * weight",
        "mod({}, 3)",
        "ln({})",
        "CAST({} AS DECIMAL(9, 2))",
        "power({}, 2)",
        "floor({})",
        "{} / 7",
    ),
    "text": (
        "lower({})",
        "{} || 'é'",
        "replace({}, 'a', '\U0001f600')",
        "left({}, 3)",
        "trim({})",
        "coalesce({}, '\u0301')",
        "nullif({}, 'ß')",
        "substring({}, 1, 2)",
        "split_part({}, 'é', 1)",
    ),
}


def test_whatever_fails_after_its_charge_did_not_fail_for_its_text(session: Session) -> None:
    """Random expressions, deep and wide, with texts of all kinds:
    none ends in a failure that was paid for.
    """
    random_ = random.Random(14)
    answers = 0
    for _ in range(40):
        kind = random_.choice(list(FORMS))
        inner = random_.choice(["weight", "ward"] if kind == "number" else ["name", "sex"])
        for _ in range(random_.choice([1, 3, 8, 20])):
            inner = random_.choice(FORMS[kind]).format(inner)
        name = random_.choice(list(LONG_TEXTS.values()))[:40].replace("'", "")
        condition = f"{inner} > 1" if kind == "number" else f"{inner} = '{name}'"
        conditions = [condition] * random_.choice([1, 1, 5])
        group = random_.choice(["", " GROUP BY sex", " GROUP BY sex, ward"])
        text = f"SELECT COUNT(*), AVG(weight) FROM patients WHERE {' AND '.join(conditions)}{group}"
        answers += answered(session, text)
    assert answers >= 12
