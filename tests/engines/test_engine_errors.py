"""Whatever the engine says when it fails, the analyst reads one constant message,
and the charge stays.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from databases import CANARIES, clinic

import dpsql
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.engines.exact_rows import ExactRows
from dpsql.errors import ExecutionFailed, InternalError, LedgerError
from dpsql.session import Session, open_session

HOME = str(Path(dpsql.__file__).parent)
SECRET = "Could not convert string 'CANARY_7f3a' to INT32 in /home/owner/clinic.duckdb"


def _subclasses(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for child in root.__subclasses__():
        yield from _subclasses(child)


CLASSES = sorted(
    {
        *_subclasses(duckdb.Error),
        ValueError,
        TypeError,
        MemoryError,
        RecursionError,
        OSError,
        OverflowError,
        AssertionError,
        UnicodeDecodeError,
    },
    key=lambda each: each.__name__,
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    opened = open_session(clinic(tmp_path))
    yield opened
    opened.close()


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and every error that it came from or that it came up in."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _exception(kind: type[Exception]) -> Exception:
    if issubclass(kind, UnicodeDecodeError):
        return kind("utf-8", SECRET.encode(), 0, 1, SECRET)
    return kind(SECRET)


@pytest.mark.parametrize("kind", [duckdb.Error, OSError, MemoryError])
def test_an_engine_that_cannot_count_public_rows_says_that_nothing_was_charged(
    session: Session, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    """How many groups there are is asked before the charge; the next statement asks it again."""
    text = "SELECT region, COUNT(*) FROM visits JOIN places USING (place) GROUP BY region"

    def fail(*_: object) -> None:
        raise _exception(kind)

    before = session.remaining.spent
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.engines.duckdb.engine.started_watchdog", fail)
        with pytest.raises(ExecutionFailed) as raised:
            session.execute(text)
    assert str(raised.value).startswith("E_EXEC ") and str(raised.value).endswith(
        "; nothing was charged"
    )
    assert [str(each) for each in chain(raised.value)] == [str(raised.value)]
    assert session.remaining.spent == before
    session.execute(text)
    assert session.remaining.spent != before


@pytest.mark.parametrize("kind", CLASSES)
def test_an_engine_error_is_one_constant_message_and_is_paid_for(
    session: Session, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def fail(*_: object) -> None:
        raise _exception(kind)

    monkeypatch.setattr(DuckDBReading, "_rows", fail)
    plan = session.plan("SELECT COUNT(*) FROM patients")
    before = session.remaining.spent
    with pytest.raises(ExecutionFailed) as raised:
        session.answer(plan)
    assert str(raised.value) == "E_EXEC query could not be completed"
    assert raised.value.sqlstate == "XX000"
    assert [str(each) for each in chain(raised.value)] == [str(raised.value)]
    assert session.remaining.spent.rho == before.rho + plan.cost.rho


ROOMS = {
    "the reading begins": "dpsql.engines.duckdb.engine.DuckDBEngine.run",
    "rows are read": "dpsql.engines.duckdb.reading.DuckDBReading._rows",
    "a table is derived": "dpsql.postprocessing.answer.PostProcessor.derive",
    "rows are released": "dpsql.session.execution.release",
    "noise is drawn": "dpsql.privacy.mechanism.Gaussian.perturb",
    "the reading ends": "dpsql.engines.duckdb.reading.DuckDBReading.__exit__",
}


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(
    "kind", [duckdb.InternalException, MemoryError, AssertionError, InternalError, LedgerError]
)
def test_trouble_anywhere_after_the_charge_is_the_same_and_leads_nowhere(
    session: Session, monkeypatch: pytest.MonkeyPatch, room: str, kind: type[Exception]
) -> None:
    """Neither its chain nor a variable of a frame that its trace holds has what the engine said,
    or a row.
    """

    def fail(*_: object, **__: object) -> None:
        raise kind(SECRET)

    monkeypatch.setattr(ROOMS[room], fail)
    staged = "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"
    text = (
        staged
        if room == "a table is derived"
        else "SELECT name, COUNT(*) FROM patients GROUP BY name"
    )
    plan = session.plan(text)
    before = session.remaining.spent
    with pytest.raises(ExecutionFailed) as raised:
        session.answer(plan)
    assert session.remaining.spent.rho == before.rho + plan.cost.rho
    assert [str(each) for each in chain(raised.value)] == ["E_EXEC query could not be completed"]
    assert type(raised.value) is ExecutionFailed and raised.value.sqlstate == "XX000"
    frames = [frame for frame, _ in traceback.walk_tb(raised.value.__traceback__)]
    frames = [frame for frame in frames if frame.f_code.co_filename.startswith(HOME)]
    assert frames and not any("engines" in frame.f_code.co_filename for frame in frames)
    for frame in frames:
        assert not any(isinstance(value, ExactRows) for value in frame.f_locals.values())
        assert not [canary for canary in CANARIES if canary in repr(list(frame.f_locals.values()))]


def test_the_engine_itself_says_nothing(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise duckdb.ConversionException(SECRET)

    monkeypatch.setattr(DuckDBReading, "_rows", fail)
    plan = session.plan("SELECT COUNT(*) FROM patients")
    charge = session.accountant.spend(plan, analyst="ada", statement=plan.text)
    with session._execution.engine.run(charge) as reading, pytest.raises(ExecutionFailed) as raised:
        reading.stage(())
    assert [str(each) for each in chain(raised.value)] == ["E_EXEC query could not be completed"]


def test_an_engine_error_over_public_rows_says_nothing_either(session: Session) -> None:
    session._execution.engine.close()
    with pytest.raises(ExecutionFailed) as raised:
        session.execute("SELECT region FROM places")
    assert [str(each) for each in chain(raised.value)] == ["E_EXEC query could not be completed"]


STATEMENTS = (
    "SELECT sex, COUNT(*), SUM(weight), AVG(weight) FROM patients GROUP BY sex",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT p.ward, COUNT(DISTINCT p.patient) FROM patients p JOIN visits v ON p.patient = v.patient GROUP BY p.ward",
    "SELECT SUM(cost) FROM visits WHERE note LIKE 'CAN%'",
    "SELECT MAX(name) FROM patients",
    "SELECT * FROM patients",
    "SELECT COUNT(*) FROM patients WHERE CAST(name AS INTEGER) = 1",
    "SELECT COUNT(*) FROM patients WHERE 1 / ward = 1 AND SQRT(weight) > 1",
    "SELECT name FROM patients ORDER BY weight LIMIT 1",
    "SELECT region, COUNT(*) FROM visits JOIN places USING (place) GROUP BY region ORDER BY 2",
    "SELECT SUM(x) FROM (SELECT patient, MAX(cost) AS x FROM visits GROUP BY patient) AS s",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
)


def test_canaries_and_exact_answers_stay_inside_at_a_tiny_epsilon(tmp_path: Path) -> None:
    session = open_session(clinic(tmp_path, query_epsilon="1e-6"))
    for text in STATEMENTS:
        try:
            result = session.execute(text)
            said = repr((result.columns, result.rows, result.intervals))
        except Exception as error:
            said = " ".join(f"{each!r} {each}" for each in chain(error))
            said = said.replace(text, "")
        assert not [canary for canary in CANARIES if canary in said], (text, said)
    session.close()


def test_counts_at_a_tiny_epsilon_are_far_from_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a scale above 10^5, three of twenty releases within 1 of the truth have a probability
    below 1e-9.
    """
    monkeypatch.setattr(
        "dpsql.postprocessing.answer.shown_within", lambda plan, rows, found: (rows, found)
    )  # as released
    session, found = open_session(clinic(tmp_path)), []
    session.set("dpsql.reuse", "off")
    for number in range(20):
        session.epsilon = Fraction(1, 1_000_000 + number)  # another price is another release
        found.append(session.execute("SELECT COUNT(*) FROM patients").rows[0][0])
    assert len(set(found)) > 10 and sum(abs(int(str(each)) - 7) <= 1 for each in found) <= 2
    session.close()
