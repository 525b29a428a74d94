"""The versions of what dpsql rests on, beside those that its tests run on."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from typing import Final

import dpsql
from dpsql.audit.report import Check

#: The oldest and the newest versions of engine and parser that the tests run on.
TESTED: Final = {"duckdb": ("1.5.6", "2.0.1"), "sqlglot": ("30.0.1", "30.30.0")}


def versions() -> tuple[tuple[str, str], ...]:
    """What is installed, by name."""
    names = (*TESTED, "numpy")
    return (("dpsql", dpsql.__version__), ("Python", platform.python_version()), *((n, version(n)) for n in names))


def in_tested_range() -> list[Check]:
    """Whether engine and parser are of versions that were tested; others may answer, and nobody has looked."""
    checks = []
    for name, (oldest, newest) in TESTED.items():
        here = version(name)
        known = _numbers(oldest) <= _numbers(here) <= _numbers(newest)
        said = f"{here}, tested are {oldest} to {newest}"
        checks.append(Check(f"version of {name}", "passed" if known else "note", said))
    return checks


def _numbers(text: str) -> tuple[int, ...]:
    """
    >>> _numbers("30.4.0") < _numbers("30.30.0")
    True
    """
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
