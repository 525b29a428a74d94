"""Every attack of the corpus, through a session,
with every check that applies to what came of it.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator

import duckdb
import pytest
from attacked_session import Shop
from attacked_shop import CANARY, CANARY_NUMBERS, UNITS
from claims import Run, broken_claims, broken_histograms, cells_and_bins, charged_rho, filled
from corpus import ANSWERED, CASES, LATER, NEVER_ANSWERED, Case

from dpsql.errors import Error, OperationalError, PostProcessingFailed
from dpsql.planning.estimators.estimate import MeanEstimate
from dpsql.planning.plan import CorePlan, Plan
from dpsql.postprocessing import Result
from dpsql.session import Session, request


@pytest.fixture(autouse=True)
def _uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers as they are released: cut to what can be, half of them are 0,
    and so are true counts of nothing.
    """
    monkeypatch.setattr(
        "dpsql.postprocessing.answer.shown_within", lambda plan, rows, found: (rows, found)
    )


def attempt(shop: Shop, case: Case) -> Result | Error:
    """What a session makes of the case;
    anything but a result or an error of dpsql's own fails the test.
    """
    return execute(shop.fresh(), case)


def execute(session: Session, case: Case) -> Result | Error:
    try:
        return session.execute(case.sql, case.parameters)
    except Error as error:
        return error


def planned(session: Session, case: Case) -> Plan | None:
    """The plan of a query; None for the words that speak to the session."""
    match request.parse_request(case.sql):
        case request.Select(text=text):
            return session.plan(text, case.parameters)
        case _:
            return None


def is_refusal(outcome: Result | Error) -> bool:
    """Whether the statement was refused; trouble in the sandbox comes later,
    speaks of released rows, and is paid.
    """
    return isinstance(outcome, Error) and not isinstance(
        outcome, OperationalError | PostProcessingFailed
    )


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_attack(case: Case, shop: Shop, neighbours: dict[str, Shop], plain: dict[str, Run]) -> None:
    before = shop.session.accountant.ledger.totals()[0]
    readings = (shop.engine.private_readings, shop.engine.public_readings)
    outcome = attempt(shop, case)
    spent = shop.session.accountant.ledger.totals()[0]
    assert_no_canary(outcome)
    assert_parity(outcome, case, neighbours)
    if is_refusal(outcome):
        assert case.expect != "answer", f"must be answered: {outcome}"
        assert case.id not in ANSWERED, f"{case.id} is refused; it is no longer an exception"
        assert (shop.engine.private_readings, shop.engine.public_readings) == readings, (
            "refused after reading"
        )
        assert spent == before, "refused and charged"
        return
    assert case.may_be_answered, f"must be refused: {outcome}"
    plan = planned(shop.fresh(), case)
    if plan is None or not plan.cores:
        assert spent == before and shop.engine.private_readings == readings[0], (
            "free, and it touched private rows"
        )
        return
    assert spent == before + plan.cost.rounded_up(), "the ledger's change is not the plan's cost"
    assert sum(map(charged_rho, plan.cores)) <= plan.cost.rho, (
        "charged less than noise and sensitivity say"
    )
    assert plan.cost.rho <= plan.price**2 / 2, "costs more than its price"
    if isinstance(outcome, Result):
        assert_not_exact(outcome, plan, case, plain["whole"])
    assert_claims(plan, plain)
    realistic = shop.fresh()
    realistic.epsilon = plan.price * 10**6
    assert_no_canary(execute(realistic, case))


#: A planted number may be told in cents, or in the finest steps of a cell.
CANARY_UNITS = (1, 100, 2048)
#: Among the digits of the intervals of more rows, five that were planted are found by chance.
MOST_TOLD_BY_DIGITS = 100


def texts(outcome: Result | Error) -> Iterator[str]:
    """Everything that a client can see of an outcome."""
    if isinstance(outcome, Result):
        yield from (column.name for column in outcome.columns)
        yield from (column.type for column in outcome.columns)
        yield from (
            repr(cell)
            for row in outcome.rows
            for cell in row
            if not isinstance(cell, numbers.Number)
        )
        if len(outcome.rows) <= MOST_TOLD_BY_DIGITS:
            yield repr(outcome.intervals)
        return
    seen: BaseException | None = outcome
    while seen is not None:
        assert (
            seen is outcome
            or not isinstance(seen, duckdb.Error)
            or outcome.args[0].startswith("E_SHELL")
        )
        yield repr(seen) + str(seen) + repr(getattr(seen, "__dict__", {}))
        seen = seen.__cause__ or seen.__context__


def assert_no_canary(outcome: Result | Error) -> None:
    """No planted value may be seen in rows, names, types, messages or what caused them."""
    for text in texts(outcome):
        assert not re.search(CANARY, text), text
    if isinstance(outcome, Result):
        cells = [
            float(cell) for row in outcome.rows for cell in row if isinstance(cell, numbers.Number)
        ]  # type: ignore[arg-type]
        assert not set(cells) & set(CANARY_NUMBERS)
        ends = [
            end for row in outcome.intervals for pair in row if pair is not None for end in pair
        ]
        for canary in (number * unit for number in CANARY_NUMBERS for unit in CANARY_UNITS):
            assert not any(abs(end - canary) < 1 for end in ends), (
                "an interval ends at a planted value"
            )


def assert_parity(outcome: Result | Error, case: Case, neighbours: dict[str, Shop]) -> None:
    """The same words on every database;
    the same bytes of the result where the engine's answer is frozen.
    """
    others = {name: attempt(each, case) for name, each in neighbours.items()}
    for name, other in others.items():
        if isinstance(outcome, Error) and is_refusal(outcome):
            assert isinstance(other, Error), f"refused, and answered on the database {name}"
            assert (type(other), str(other), other.sqlstate) == (
                type(outcome),
                str(outcome),
                outcome.sqlstate,
            )
        else:
            assert not is_refusal(other), f"answered, and on the database {name}: {other}"
            assert (
                isinstance(outcome, Error)
                or isinstance(other, Error)
                or other.columns == outcome.columns
            )
            assert bytes_of(other) == bytes_of(others["without 1"]), (
                f"the database {name} shows around the engine's answer"
            )
    charged = {each.session.accountant.ledger.totals()[0] for each in neighbours.values()}
    assert len(charged) == 1, "the charge depends on the data"


def bytes_of(outcome: Result | Error) -> str:
    """The outcome as text, with the intervals that are read off the release:
    others draw fresh noise around it.
    """
    if isinstance(outcome, Error):
        return repr(outcome)
    kept = [
        place
        for place, column in enumerate(outcome.columns)
        if column.aggregate is not None and column.computed is None
    ]
    intervals = [[row[place] for place in kept] for row in outcome.intervals]
    return repr((outcome.columns, outcome.rows, intervals))


def assert_not_exact(outcome: Result, plan: Plan, case: Case, run: Run) -> None:
    """At a tiny price no released number is the true one."""
    try:
        exact = run(case.sql)
    except duckdb.Error:
        return
    for place, column in enumerate(plan.columns):
        if column.aggregate is None or is_constant(plan.cores[0], column.aggregate):
            continue
        truths = [
            row[place] for row in exact if len(row) == len(plan.columns) and is_number(row[place])
        ]
        for row in outcome.rows:
            near = is_number(row[place]) and any(
                abs(float(row[place]) - float(t)) <= 1 for t in truths
            )  # type: ignore[arg-type]
            assert not near, f"{column.name} = {row[place]} is the exact answer"


def is_constant(core: CorePlan, aggregate: int) -> bool:
    """Whether the aggregate is the average of a constant, which is known without any data."""
    estimate = core.estimates[aggregate]
    return isinstance(estimate, MeanEstimate) and estimate.reach == 0


def is_number(cell: object) -> bool:
    return isinstance(cell, numbers.Number) and not isinstance(cell, bool)


#: Many attacks come to the same core; each is run on the neighbours once.
_CHECKED: list[CorePlan] = []


def assert_claims(plan: Plan, plain: dict[str, Run]) -> None:
    """The exact vectors move by no more than the plan says, whichever unit leaves,
    and not with the order of rows.
    """
    for core in plan.cores:
        if core in _CHECKED:
            continue
        _CHECKED.append(core)
        for run in plain.values():
            for table in plan.derived:
                for text in filled(table):
                    run(text)
        whole, binned = cells_and_bins(core, plain["whole"])
        assert (whole, binned) == cells_and_bins(core, plain["reversed"]), (
            "exact rows depend on the order of rows or on threads"
        )
        for unit in UNITS:
            lacking, lacking_bins = cells_and_bins(core, plain[f"without {unit}"])
            assert broken_histograms(core, binned, lacking_bins) == [], f"unit {unit}"
            assert broken_claims(core, whole, lacking) == [], f"unit {unit}"
        empty, _ = cells_and_bins(core, plain["empty"])
        assert core.selection is not None or set(empty) == set(whole), (
            "keys are lost on the empty database"
        )


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case.id for case in CASES]
    assert len(names) == len(set(names))
    assert set(ANSWERED) <= set(names)
    assert all(any(name.startswith(start) for name in names) for start in LATER)


def test_injections_other_statements_table_functions_and_metadata_are_never_answered() -> None:
    excepted = {
        case.id for case in CASES if case.category in NEVER_ANSWERED and case.id in ANSWERED
    }
    explained, names, series = (
        {"D02-meta-009", "D02-meta-011"},
        {"D02-meta-006"},
        {"D01-tablefn-062", "D01-tablefn-063"},
    )
    assert (
        excepted == explained | names | series
    )  # prices, names of tables, lists of constants: no row is read
