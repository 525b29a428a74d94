"""How long a process has worked, as the system tells it."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from dpsql.engines.duckdb.process import processor_time
from dpsql.engines.duckdb.process.processor_time import processor_seconds


def test_linux_tells_the_time_of_a_process_without_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two readings of the process itself; other systems ask ps."""
    monkeypatch.setattr(processor_time, "of_ps", lambda pid: -1.0)
    before = time.process_time()
    seconds = processor_seconds(os.getpid())
    after = time.process_time()
    assert seconds is not None
    if sys.platform == "linux":
        assert before <= seconds <= after
    else:
        assert seconds == -1.0


def test_a_process_that_has_ended_has_no_time() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert processor_seconds(process.pid) is None
