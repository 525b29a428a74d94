"""The charge of a tuning that read nothing is noted under all that its release depends on,
and taken up once.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from untouched import planning_session

from dpsql.errors import OperationalError
from dpsql.planning.tuning import TuningPlan
from dpsql.session.tuning.resumption import Resumption


class Accounts:
    """Remembers the charges that were given up."""

    def __init__(self) -> None:
        self.charges: dict[str, Any] = {}

    def given_up(self, key: str) -> int | None:
        return 7 if key in self.charges else None

    def resumed(
        self, plan: TuningPlan, key: str, *, analyst: str, statement: str, cells: str
    ) -> Any:
        assert (analyst, statement, cells) == ("ada", plan.reading.text, "note")
        return self.charges.pop(key, None)

    def give_up(self, charge: Any, key: str) -> None:
        self.charges[key] = charge


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> TuningPlan:
    session = planning_session("nafld", tmp_path_factory.mktemp("tuning") / "ledger")
    return TuningPlan(session.plan("SELECT COUNT(*) FROM patients"), (), Fraction(1))


def _resumption(
    accounts: Accounts, note: str = "note", is_required: bool = False
) -> Resumption[TuningPlan]:
    return Resumption(accounts, "ada", note, is_required)  # type: ignore[arg-type]


def test_a_charge_is_taken_up_on_the_same_version_with_the_same_noise(plan: TuningPlan) -> None:
    accounts, charge = Accounts(), SimpleNamespace(plan=plan)
    assert _resumption(accounts).entry(plan, "v1") is None
    _resumption(accounts).give_up(charge, "v1")  # type: ignore[arg-type]
    assert _resumption(accounts).entry(plan, "v1") == 7
    for other, version in (
        (_resumption(accounts), "v2"),
        (_resumption(accounts, "other noise"), "v1"),
    ):
        assert other.entry(plan, version) is None
    assert _resumption(accounts).taken_up(plan, "v2") is None
    assert _resumption(accounts).taken_up(plan, "v1") is charge
    assert _resumption(accounts).taken_up(plan, "v1") is None


def test_nothing_is_given_up_or_taken_up_if_the_version_is_not_known(plan: TuningPlan) -> None:
    accounts = Accounts()
    _resumption(accounts).give_up(SimpleNamespace(plan=plan), None)  # type: ignore[arg-type]
    assert accounts.charges == {}
    assert (
        _resumption(accounts).entry(plan, None) is None
        and _resumption(accounts).taken_up(plan, None) is None
    )


@pytest.mark.parametrize("version", ["v2", None])
def test_what_has_to_be_taken_up_and_is_not_there_is_refused(
    plan: TuningPlan, version: str | None
) -> None:
    accounts = Accounts()
    _resumption(accounts).give_up(SimpleNamespace(plan=plan), "v1")  # type: ignore[arg-type]
    with pytest.raises(OperationalError, match="nothing was charged"):
        _resumption(accounts, is_required=True).taken_up(plan, version)
    assert _resumption(accounts, is_required=True).taken_up(plan, "v1") is not None
