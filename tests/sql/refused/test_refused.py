"""What is refused: each statement with its code,
its reason and a statement that is answered instead.

A file is a code. An entry is the schema, the statement, what dpsql says, and what to write instead:
``-- instead:`` is dpsql's own suggestion, ``-- answered:`` one of ours where dpsql has none to
make. ``--update-golden`` writes anew what dpsql says and suggests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import sqlglot
from untouched import planning_session

from dpsql.errors import SQLSTATES, Refused, StatementError
from dpsql.session import Session

FOLDER = Path(__file__).parent
#: Codes whose refusals have SQLSTATEs of their own: those of the engine,
#: and PostgreSQL's of #: constants in quotes.
OTHER_STATES = ("E_SHELL", "E_TYPE")
SCHEMAS = ("nafld", "tpch", "nafld, delta = 0")


@dataclass(frozen=True)
class Entry:
    """One refused statement."""

    code: str
    schema: str
    statement: str
    says: str = ""
    instead: str = ""
    answered: str = ""

    def __str__(self) -> str:
        lines = [f"-- schema: {self.schema}", self.statement]
        said = (("says", self.says), ("instead", self.instead), ("answered", self.answered))
        return "\n".join([*lines, *(f"-- {name}: {text}" for name, text in said if text)])


def entries(path: Path) -> list[Entry]:
    """The entries of one file: blocks with an empty line between them."""
    return [
        _entry(path.stem, block) for block in path.read_text(encoding="utf-8").strip().split("\n\n")
    ]


def _entry(code: str, block: str) -> Entry:
    fields: dict[str, str] = {}
    statement: list[str] = []
    for line in block.splitlines():
        name, found, text = line.removeprefix("-- ").partition(": ")
        if line.startswith("-- ") and found and name in ("schema", "says", "instead", "answered"):
            fields[name] = text
        else:
            statement.append(line)
    return Entry(code, statement="\n".join(statement), **fields)


FILES = sorted(FOLDER.glob("*.sql"))
ENTRIES = [(path, entry) for path in FILES for entry in entries(path)]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Session]:
    folder = tmp_path_factory.mktemp("refused")
    return {
        name: planning_session(name, folder / f"{place}.ledger")
        for place, name in enumerate(SCHEMAS)
    }


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_refused(path: Path, sessions: dict[str, Session], request: pytest.FixtureRequest) -> None:
    found = []
    for entry in entries(path):
        with pytest.raises((Refused, StatementError)) as caught:
            sessions[entry.schema].plan(entry.statement)
        refusal = caught.value
        assert isinstance(refusal, Refused | StatementError)
        assert refusal.code == entry.code, entry.statement
        assert refusal.sqlstate == SQLSTATES[entry.code] or entry.code in OTHER_STATES, (
            entry.statement
        )
        place = f" ({refusal.position})" if refusal.position else ""
        found.append(replace(entry, says=f"{refusal.reason}{place}", instead=refusal.hint or ""))
    text = "\n\n".join(map(str, found)) + "\n"
    if request.config.getoption("--update-golden", default=False):
        path.write_text(text, encoding="utf-8")
    assert _said(text) == _said(path.read_text(encoding="utf-8"))


def _said(text: str) -> str:
    """The text; without columns where an older sqlglot remembers another part of a function as its
    place.
    """
    newest = tuple(map(int, sqlglot.__version__.split(".")[:2])) >= (30, 30)
    return text if newest else re.sub(r", column \d+\)", ")", text)


@pytest.mark.parametrize(
    ("path", "entry"), ENTRIES, ids=[f"{p.stem}-{e.statement[:40]}" for p, e in ENTRIES]
)
def test_what_to_write_instead_is_answered(
    path: Path, entry: Entry, sessions: dict[str, Session]
) -> None:
    assert entry.instead or entry.answered, "nothing is said of what to write instead"
    for text in (entry.instead, entry.answered):
        if text:
            sessions[entry.schema].plan(text)


def test_there_are_refusals_of_every_code() -> None:
    assert len(ENTRIES) >= 40
    assert {path.stem for path in FILES} >= set(SQLSTATES)
