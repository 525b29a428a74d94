"""What is kept of a released core, of which coarser answers may be made."""

from __future__ import annotations

import pytest
from untouched import planning_session

from dpsql.planning.view_matching import MOST_GROUPS, StoredView, is_view, view_of
from dpsql.session import Session


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return planning_session("nafld", tmp_path_factory.mktemp("views") / "ledger")


def _view(session: Session, text: str, groups: int = 10) -> StoredView | None:
    return view_of(session.plan(text).cores[0], "answer", 0, 7, groups)


@pytest.mark.parametrize(
    ("keys", "said", "beyond"),
    [
        ("age, male", "age, male", ("age", "")),
        ("age // 10, died", "an expression, died", ("an expression", "")),
        ("CASE WHEN age > 50 THEN 'old' ELSE 'young' END", "an expression", ("",)),
    ],
)
def test_keys_are_named_as_people_know_them(
    session: Session, keys: str, said: str, beyond: tuple[str, ...]
) -> None:
    view = _view(session, f"SELECT {keys}, COUNT(*) AS n FROM patients GROUP BY ALL")
    assert view is not None and (view.said, view.beyond) == (said, beyond)
    assert len(view.keys) == len(beyond) and (view.answer, view.core, view.entry, view.groups) == (
        "answer",
        0,
        7,
        10,
    )


def test_a_core_without_keys_is_a_view_of_one_group(session: Session) -> None:
    view = _view(session, "SELECT COUNT(*), SUM(age) FROM patients WHERE male", groups=1)
    assert view is not None and (view.said, view.keys, view.beyond) == ("no key", (), ())
    assert len(view.cells) == 2 and all(cell.conditions for cell in view.cells)


def test_what_lacks_groups_or_has_too_many_is_no_view(session: Session) -> None:
    ages, values = (
        "SELECT age, COUNT(*) FROM patients GROUP BY 1",
        "SELECT value, COUNT(*) FROM labs GROUP BY 1",
    )
    assert (
        _view(session, ages, MOST_GROUPS) is not None
        and _view(session, ages, MOST_GROUPS + 1) is None
    )
    assert _view(session, values) is None and not is_view(session.plan(values).cores[0])
    assert not is_view(session.plan("SELECT MODE(age) FROM patients").cores[0])
