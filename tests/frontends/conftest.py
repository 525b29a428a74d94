"""The command, in a checkout of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Dpsql, Run

from dpsql import cli


@pytest.fixture
def dpsql(checkout: Path, capsys: pytest.CaptureFixture[str]) -> Dpsql:
    """The command as a terminal runs it, in a checkout of its own."""

    def run(*arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            cli.commands(list(arguments), prog_name="dpsql")
        streams = capsys.readouterr()
        assert "Traceback" not in streams.out + streams.err
        return Run(int(ended.value.code or 0), streams.out, streams.err)

    return run
