"""A conversation over the NAFLD study whose output is caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_runs import NAFLD

from dpsql.repl.display import DisplaySettings
from dpsql.repl.repl_session import ReplSession
from dpsql.repl.screen import Screen
from dpsql.session import Session, open_session


@pytest.fixture
def session(checkout: Path) -> Iterator[Session]:
    """A session on the study, with a ledger of its own."""
    opened = open_session(NAFLD, "ada")
    yield opened
    opened.close()


@pytest.fixture
def repl(session: Session) -> ReplSession:
    """A conversation as a person holds it, with both streams caught by capsys."""
    return ReplSession(lambda: session, Screen(interactive=True), DisplaySettings(pager=False))
