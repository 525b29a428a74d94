"""The report of an audit: groups of checks, verdicts for everybody, figures for the owner alone.

It also names the versions of the engine and the parser. Proved in ``docs/proofs/audit.md``.
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
class PrivateFigure:
    """A number computed from private rows: the use of a claim, or an ε that releases prove."""

    name: str
    value: float
    most: float


@dataclass(frozen=True)
class AuditCheck:
    """One check and its verdict. ``said`` holds no figure of the data; ``figures`` do."""

    what: str
    verdict: Verdict
    said: str = ""
    figures: tuple[PrivateFigure, ...] = ()


@dataclass(frozen=True)
class CheckGroup:
    """Checks of one kind, and what they show if they pass."""

    name: str
    shows: str
    checks: tuple[AuditCheck, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(check.verdict == verdict for check in self.checks)


@dataclass(frozen=True)
class AuditReport:
    """The report of the audit of one database."""

    schema: str
    promise: str
    at: datetime
    versions: tuple[tuple[str, str], ...]
    groups: tuple[CheckGroup, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(group.count(verdict) for group in self.groups)

    @property
    def passed(self) -> bool:
        """Whether no check failed; a skipped check does not fail the audit."""
        return self.count("failed") == 0

    @property
    def closing(self) -> str:
        """A summary in one line."""
        failed = self.count("failed")
        done = self.count("failed") + self.count("passed")
        summary = (
            f"all {done} checks passed" if failed == 0 else f"{failed} of {done} checks failed"
        )
        skipped = self.count("skipped")
        notes = self.count("note")
        rest = [f"{skipped} not looked at"] * (skipped > 0) + [f"{notes} notes"] * (notes > 0)
        return "; ".join([summary, *rest])


def as_data(report: AuditReport, details: bool) -> dict[str, object]:
    """The report as JSON values; figures of the data only with ``details``."""
    return {
        "schema": report.schema,
        "promise": report.promise,
        "at": report.at.isoformat(timespec="seconds"),
        "versions": dict(report.versions),
        "for": WITH_FIGURES if details else FOR_THE_OWNER,
        "passed": report.passed,
        "closing": report.closing,
        "rooms": [
            {
                "name": group.name,
                "shows": group.shows,
                "checks": [_check(check, details) for check in group.checks],
            }
            for group in report.groups
        ],
    }


def _check(check: AuditCheck, details: bool) -> dict[str, object]:
    record: dict[str, object] = {"what": check.what, "verdict": check.verdict, "said": check.said}
    if details:
        record["figures"] = [
            {"name": figure.name, "value": figure.value, "most": figure.most}
            for figure in check.figures
        ]
    return record


#: The oldest and the newest versions of engines and parser that the tests run on.
TESTED: Final = {
    **{kind.package: kind.tested_versions for kind in ENGINE_KINDS.values()},
    "sqlglot": ("30.0.1", "30.30.0"),
}


def versions() -> tuple[tuple[str, str], ...]:
    """The installed versions of dpsql, Python, and the libraries that results depend on."""
    names = (*TESTED, "numpy")
    return (
        ("dpsql", dpsql.__version__),
        ("Python", platform.python_version()),
        *((n, version(n)) for n in names),
    )


def in_tested_range() -> list[AuditCheck]:
    """Whether the versions of engine and parser are in the tested range; others are a note."""
    checks = []
    for name, (oldest, newest) in TESTED.items():
        installed = version(name)
        known = _numbers(oldest) <= _numbers(installed) <= _numbers(newest)
        sentence = f"{installed}, tested are {oldest} to {newest}"
        checks.append(AuditCheck(f"version of {name}", "passed" if known else "note", sentence))
    return checks


def _numbers(text: str) -> tuple[int, ...]:
    """
    >>> _numbers("30.4.0") < _numbers("30.30.0")
    True
    """
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
