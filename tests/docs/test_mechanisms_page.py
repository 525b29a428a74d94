"""The examples of the page of mechanisms run, and its table has all of them."""

from __future__ import annotations

import doctest
from pathlib import Path

import dpsql.privacy.mechanism as mechanism

PAGE = Path(__file__).parents[2] / "docs" / "mechanisms.md"
#: Unions of types, for signatures.
UNIONS = {"Exponential", "Mechanism"}


def test_the_examples_run() -> None:
    found = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.attempted > 20 and found.failed == 0


def test_the_table_has_every_mechanism() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    missing = [
        name
        for name in mechanism.__all__
        if name not in UNIONS and not any(f"`{name}`" in row for row in rows)
    ]
    assert missing == []
