"""SQLAlchemy's own dialect suite, in a process of its own: it takes pytest over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

PROJECT = Path(__file__).parents[2]
SUITE = PROJECT / "tests" / "sqlalchemy" / "suite"
#: How many tests pass at least, so that closing them by accident shows.
PASSING = 500


@pytest.mark.slow
def test_the_suite_passes_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    report = tmp_path / "suite.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "setup.cfg",
        "-q",
        "--tb=short",
        f"--junitxml={report}",
        "suite.py",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SUITE), os.environ.get("PYTHONPATH", "")]),
    }
    ran = subprocess.run(command, cwd=SUITE, env=environment, capture_output=True, text=True)
    assert report.exists(), ran.stdout[-4000:] + ran.stderr[-4000:]
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        ended = next((each for each in case if each.tag in ("failure", "error", "skipped")), None)
        outcomes["passed" if ended is None else ended.tag] += 1
        if ended is not None and ended.tag == "skipped":
            reasons[ended.get("message", "").rpartition(" : ")[2]] += 1
    assert outcomes["failure"] == outcomes["error"] == 0, ran.stdout[-8000:]
    assert outcomes["passed"] >= PASSING
    page = (PROJECT / "docs" / "sqlalchemy.md").read_text(encoding="utf-8")
    ours = [
        line.split("|")[1].strip()
        for line in page.splitlines()
        if line.startswith("| ") and line.count("|") == 3
    ]
    ours = ours[ours.index("reason") + 1 :]
    assert len(ours) == 7
    unused = [reason for reason in ours if not reasons[reason]]
    assert unused == [], reasons
