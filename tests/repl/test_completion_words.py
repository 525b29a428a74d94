"""Functions that front ends list are answered: each aggregate, called as it is written there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from databases import clinic

from dpsql.session import open_session
from dpsql.session.request.completion_words import AGGREGATES, functions


@pytest.mark.parametrize("example", AGGREGATES)
def test_an_aggregate_that_is_listed_has_a_plan(example: str, shared_clinic: Path) -> None:
    x = (
        "weight"
        if not example.startswith(("MODE", "HISTOGRAM", "APPROX_TOP_K", "STRING_AGG"))
        else "ward"
    )
    call = re.sub(
        r"\b([xyc])\b", lambda name: {"x": x, "y": "ward", "c": "weight > 3"}[name[0]], example
    )
    session = open_session(shared_clinic)
    try:
        assert session.plan(f"SELECT {call} FROM patients").cores
    finally:
        session.close()


@pytest.fixture(scope="module")
def shared_clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clinic, built once."""
    return clinic(tmp_path_factory.mktemp("clinic"))


def test_each_function_is_listed_once_with_a_call_of_it() -> None:
    names = [each.name for each in functions()]
    assert len(set(names)) == len(names) > 300
    assert all(each.example.upper().startswith(f"{each.name.upper()}(") for each in functions())
