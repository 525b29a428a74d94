"""A conversation over the NAFLD study whose output is caught, and the command itself as a script runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from repl_runs import NAFLD, Dpsql, Run

from dpsql import cli
from dpsql.repl.conversation import Conversation
from dpsql.repl.display import Display
from dpsql.repl.screen import Screen
from dpsql.session import Session, open_session


@pytest.fixture
def dpsql(checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Dpsql:
    """The command in a checkout of its own; ``stdin`` is what is piped into it."""

    def run(*arguments: str, stdin: str = "") -> Run:
        (checkout / "piped").write_text(stdin, encoding="utf-8")
        with (checkout / "piped").open(encoding="utf-8") as piped, monkeypatch.context() as patch:
            patch.setattr("sys.stdin", piped)
            with pytest.raises(SystemExit) as ended:
                cli.commands(list(arguments), prog_name="dpsql")
        streams = capsys.readouterr()
        assert "Traceback" not in streams.out + streams.err
        return Run(int(ended.value.code or 0), streams.out, streams.err)

    return run


@pytest.fixture
def session(checkout: Path) -> Iterator[Session]:
    """A session on the study, with a ledger of its own."""
    opened = open_session(NAFLD, "ada")
    yield opened
    opened.close()


@pytest.fixture
def talk(session: Session) -> Conversation:
    """A conversation as a person holds it, with both streams caught by capsys."""
    return Conversation(lambda: session, Screen(interactive=True), Display(pager=False))
