"""The digests that are known of a ledger's entries: each in its own place,
and none of another history.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.privacy.ledger.checkpoints import EntryDigests

#: Bytes of a digest.
SIZE = 32


def digest(seq: int, history: str = "a") -> str:
    """The digest of an entry of a history, which no other entry has; its last bytes are 0,
    as an unknown one's are.
    """
    return f"{history}{seq:x}".ljust(2 * SIZE, "0")


class History:
    """The entries of a ledger, and after which of them they were last asked for."""

    def __init__(self, count: int, name: str = "a") -> None:
        self.entries = [(seq, digest(seq, name)) for seq in range(1, count + 1)]
        self.asked_after: int | None = None

    def after(self, seq: int) -> Iterator[tuple[int, str]]:
        self.asked_after = seq
        yield from self.entries[seq:]

    @property
    def content(self) -> bytes:
        return b"".join(bytes.fromhex(text) for _, text in self.entries)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "digests"


def test_each_digest_has_its_own_place(path: Path) -> None:
    known = EntryDigests(path)
    known.add(3, digest(3))
    known.add(1, digest(1))
    history = History(3).content
    assert path.read_bytes() == history[:SIZE] + bytes(SIZE) + history[2 * SIZE :]


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("held", range(4))
@pytest.mark.parametrize("at_most", range(4))
def test_after_it_the_entries_of_the_ledger_are_known_and_no_others(
    before: int, held: int, at_most: int, path: Path
) -> None:
    """What was known beyond ``at_most`` is of another history,
    whether the ledger is shorter now or longer.
    """
    shared = min(before, held, at_most)
    ledger = History(held, "c")
    ledger.entries[:shared] = History(shared).entries
    path.write_bytes(History(before).content)
    EntryDigests(path).complete(ledger.after, min(held, at_most))
    assert ledger.asked_after == shared, "what is known is not read again"
    assert path.read_bytes() == ledger.content


@pytest.mark.parametrize(
    ("known", "last"), [((1, 2, 4), 2), ((2,), 0), ((), 0), ((1, 2, 3, 4, 5), 5)]
)
def test_it_begins_at_the_first_unknown_entry(
    known: tuple[int, ...], last: int, path: Path
) -> None:
    ledger = History(5)
    digests = EntryDigests(path)
    for seq in known:
        digests.add(seq, digest(seq))
    digests.complete(ledger.after, 5)
    assert ledger.asked_after == last and path.read_bytes() == ledger.content


def test_the_first_of_the_entries_that_is_known_in_its_place(path: Path) -> None:
    known = EntryDigests(path)
    assert known.first_known(History(3).entries) == 0
    path.write_bytes(History(3).content)
    assert known.first_known(reversed(History(5).entries)) == 3
    assert known.first_known([(2, digest(3)), (3, digest(2)), (1, digest(1))]) == 1
    assert known.first_known(History(3, "c").entries) == 0
