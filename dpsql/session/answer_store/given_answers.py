"""Which views an answer was made of when it was given, so that it is given again as it was.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from dpsql.errors import LedgerError
from dpsql.planning.view_matching import StoredView
from dpsql.privacy.ledger import Ledger

#: How often at most the answer of a statement becomes another one on one version of the data.
MOST_GIVEN = 16
_UNREADABLE = (ValueError, TypeError, KeyError, IndexError)

#: The answer under whose key the rows of a view are kept, and the place of its core there.
ViewName: TypeAlias = tuple[str, int]


def name_of(view: StoredView) -> ViewName:
    """The name of a view, in every process the same."""
    return view.answer, view.core


@dataclass(frozen=True)
class CellSources:
    """What a cell was told by: the views, in order of their names,
    and whether they were combined or read as they are.

    A cell that was bought with the answer is the one of its view,
    whatever else that view tells of it.
    """

    combined: bool
    views: tuple[ViewName, ...]


#: Those of each cell of each core of a plan.
Sources: TypeAlias = tuple[tuple[CellSources, ...], ...]


@dataclass(frozen=True)
class Given:
    """What is kept of the answers to one statement: how many there were,
    and the sources of the last.

    ``sources`` is None if the statement was bought itself after the others, or none was given.
    """

    number: int
    sources: Sources | None


class GivenAnswers:
    """The sources of given answers, kept in the ledger under the key that the answer would have if
    it was bought.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def find(self, key: str) -> Given:
        """What is kept under a key."""
        stored = self._ledger.kept_among([_entry_key(key, number) for number in range(MOST_GIVEN)])
        if not stored:
            return Given(0, None)
        number = max(number for number in range(MOST_GIVEN) if _entry_key(key, number) in stored)
        with suppress(*_UNREADABLE):
            return Given(number + 1, _parse_sources(stored[_entry_key(key, number)]))
        return Given(number + 1, None)

    def keep(self, key: str, number: int, entry: int, sources: Sources | None) -> Sources | None:
        """Keep the sources of the answer of this number, and return those that are kept:
        the first count.
        """
        with suppress(LedgerError, *_UNREADABLE):
            stored = (
                self._ledger.keep(_entry_key(key, number), entry, _written(sources))
                if number < MOST_GIVEN
                else None
            )
            return sources if stored is None else _parse_sources(stored)
        return sources


def _entry_key(key: str, number: int) -> str:
    return f"{key}/given/{number}"


def _written(sources: Sources | None) -> bytes:
    if sources is None:
        return b"null"
    names = sorted({name for core in sources for cell in core for name in cell.views})
    cells = [
        [[cell.combined, *(names.index(name) for name in cell.views)] for cell in core]
        for core in sources
    ]
    return json.dumps([names, cells], separators=(",", ":")).encode("ascii")


def _parse_sources(text: bytes) -> Sources | None:
    fields = json.loads(text)
    if fields is None:
        return None
    names = [(str(release_key), int(core)) for release_key, core in fields[0]]
    return tuple(
        tuple(
            CellSources(bool(combined), tuple(names[index] for index in places))
            for combined, *places in core
        )
        for core in fields[1]
    )
