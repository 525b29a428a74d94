"""What an audit found: rooms of checks, each with a verdict that anybody may see and figures for the owner alone.

A report names the versions of what dpsql rests on, too. Proved in ``docs/proofs/audit.md``.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Final, Literal

import dpsql
from dpsql.engines.opening import ENGINE_KINDS

Verdict = Literal["passed", "failed", "note", "skipped"]

#: What stands on every form of a report.
FOR_THE_OWNER = "for the owner: verdicts only, --details adds figures computed from the data"
WITH_FIGURES = "for the owner: holds figures computed from the data, do not publish"


@dataclass(frozen=True)
class Figure:
    """A number that was computed from private rows: how much of a claim they use, or an ε that they show."""

    name: str
    value: float
    most: float


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; ``said`` holds no figure of the data, and ``figures`` do."""

    what: str
    verdict: Verdict
    said: str = ""
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Room:
    """Checks of one kind, and what it shows that they pass."""

    name: str
    shows: str
    checks: tuple[Check, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(check.verdict == verdict for check in self.checks)


@dataclass(frozen=True)
class Report:
    """A whole audit of one database."""

    schema: str
    promise: str
    at: datetime
    versions: tuple[tuple[str, str], ...]
    rooms: tuple[Room, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(room.count(verdict) for room in self.rooms)

    @property
    def passed(self) -> bool:
        """Whether nothing failed; what was not looked at is told, and fails nothing."""
        return self.count("failed") == 0

    @property
    def closing(self) -> str:
        """The report in one line."""
        failed, done = self.count("failed"), self.count("failed") + self.count("passed")
        whole = f"all {done} checks passed" if failed == 0 else f"{failed} of {done} checks failed"
        skipped, notes = self.count("skipped"), self.count("note")
        rest = [f"{skipped} not looked at"] * (skipped > 0) + [f"{notes} notes"] * (notes > 0)
        return "; ".join([whole, *rest])


def as_data(report: Report, details: bool) -> dict[str, object]:
    """The report for programs; figures of the data only with ``details``."""
    return {
        "schema": report.schema,
        "promise": report.promise,
        "at": report.at.isoformat(timespec="seconds"),
        "versions": dict(report.versions),
        "for": WITH_FIGURES if details else FOR_THE_OWNER,
        "passed": report.passed,
        "closing": report.closing,
        "rooms": [
            {"name": room.name, "shows": room.shows, "checks": [_check(check, details) for check in room.checks]}
            for room in report.rooms
        ],
    }


def _check(check: Check, details: bool) -> dict[str, object]:
    whole: dict[str, object] = {"what": check.what, "verdict": check.verdict, "said": check.said}
    if details:
        whole["figures"] = [
            {"name": figure.name, "value": figure.value, "most": figure.most} for figure in check.figures
        ]
    return whole


#: The oldest and the newest versions of engines and parser that the tests run on.
TESTED: Final = {
    **{kind.package: kind.tested_versions for kind in ENGINE_KINDS.values()},
    "sqlglot": ("30.0.1", "30.30.0"),
}


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
