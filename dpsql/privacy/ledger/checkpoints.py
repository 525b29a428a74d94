"""What is remembered of ledgers outside the data: their databases, locations and last entries.

Proved in ``docs/proofs/ledger.md``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dpsql.errors import LedgerError
from dpsql.privacy.ledger.entries import Entry, KnownEntry, cost_of, cost_texts
from dpsql.privacy.ledger.stores.store import LedgerLocation
from dpsql.privacy.measure import Cost

#: Bytes of each of the two places of which one is written while the other holds what was there
#: before.
_SLOT = 4096
_DIGEST = 32
#: Bytes of an entry's digest among those of all entries.
_ENTRY_DIGEST = 32
#: Analysts with longer names have no sum of their own in what is remembered.
_LONGEST_NAME = 250

_FOLDER: ContextVar[Path | None] = ContextVar("state", default=None)


@dataclass(frozen=True)
class Checkpoint:
    """The newest entry that was written: its number, its digest, and a sum after it.

    The sum is everybody's or one analyst's.
    """

    seq: int
    digest: str
    sum: Cost
    analyst: str | None = None


def state_folder() -> Path:
    """The folder of remembered ledgers.

    DPSQL_STATE, the StateDirectory of a systemd unit, or ``dpsql`` in the user's state folder.
    """
    chosen = (
        _FOLDER.get()
        or os.environ.get("DPSQL_STATE")
        or os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    )
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dpsql"
    except RuntimeError as error:
        raise _state_error() from error


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """While this lasts, what this thread remembers of ledgers is kept in this folder."""
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)


class Checkpoints:
    """Files of a state folder: a database's names, a ledger's location and its newest entry.

    Only ``advance`` is called at each charge. It does not wait for the disk; after a loss of power
    what is read may be a little older than what was written, which shows less and is never wrong.
    """

    def __init__(self) -> None:
        self._folder = state_folder()

    def ledgers_of(self, names: Sequence[str]) -> set[str]:
        """The ids of the ledgers that databases with one of these names had."""
        stored = (_load_json(self._database(name)) for name in names)
        return {str(record["ledger"]) for record in stored if record is not None}

    def bind(self, names: Sequence[str], ledger: str) -> None:
        """From now on databases with these names have this ledger."""
        for name in names:
            if self.ledgers_of([name]) != {ledger}:
                _write(self._database(name), {"name": name, "ledger": ledger})

    def whereabouts(self, ledger: str) -> LedgerLocation | None:
        """The ledger's location when it was last opened; None if it is seen for the first time."""
        location = _load_json(self._ledger(ledger) / "place.json")
        if location is None:
            return None
        return LedgerLocation(
            str(location["place"]),
            None if location["file"] is None else (location["file"][0], location["file"][1]),
        )

    def set_location(self, ledger: str, at: LedgerLocation) -> None:
        """From now on the ledger lies here."""
        if self.whereabouts(ledger) != at:
            _write(self._ledger(ledger) / "place.json", {"place": at.place, "file": at.file})

    def newest(self, ledger: str) -> Checkpoint | None:
        """How far the ledger was written when something was last charged to it on this machine."""
        return _Slots(self._ledger(ledger) / "newest").newest()

    def owns(self, ledger: str) -> list[Checkpoint]:
        """How far each analyst's part of the ledger was written."""
        stored = (_Slots(path).newest() for path in sorted(self._ledger(ledger).glob("*.analyst")))
        return [checkpoint for checkpoint in stored if checkpoint is not None]

    def digests(self, ledger: str) -> EntryDigests:
        """The digests of the entries that the ledger had here, as far as they are known."""
        return EntryDigests(self._ledger(ledger) / "digests")

    def prepare(self, ledger: str, analyst: str) -> None:
        """Make sure that the next charge can be recorded; raises LedgerError if it cannot."""
        _Slots(self._ledger(ledger) / "newest").prepare()
        if len(analyst) <= _LONGEST_NAME:
            _Slots(self._analyst(ledger, analyst)).prepare()

    def advance(self, ledger: str, entry: Entry) -> None:
        """The entry is durable in the ledger."""
        _Slots(self._ledger(ledger) / "newest").write(
            Checkpoint(entry.seq, entry.digest, entry.total)
        )
        self.digests(ledger).add(entry.seq, entry.digest)
        if len(entry.analyst) <= _LONGEST_NAME:
            of_analyst = Checkpoint(entry.seq, entry.digest, entry.own, entry.analyst)
            _Slots(self._analyst(ledger, entry.analyst)).write(of_analyst)

    def begin_again(self, ledger: str, entries: Sequence[Entry]) -> None:
        """Replace all that is remembered of the ledger by these entries."""
        folder = self._ledger(ledger)
        for path in [*folder.glob("*.analyst"), folder / "newest", folder / "digests"]:
            path.unlink(missing_ok=True)
        for entry in entries:
            self.prepare(ledger, entry.analyst)
            self.advance(ledger, entry)

    def _database(self, name: str) -> Path:
        return self._folder / "databases" / f"{_hash(name)}.json"

    def _ledger(self, ledger: str) -> Path:
        return self._folder / "ledgers" / ledger

    def _analyst(self, ledger: str, analyst: str) -> Path:
        return self._ledger(ledger) / f"{_hash(analyst)}.analyst"


class EntryDigests:
    """A file with the digest of each entry in its place; zeros stand for one that is not known.

    What cannot be written is not known: a restore then charges more, and no charge waits for it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, seq: int, digest: str) -> None:
        """The entry was charged."""
        with suppress(OSError), self._opened() as file:
            os.pwrite(file, bytes.fromhex(digest), (seq - 1) * _ENTRY_DIGEST)

    def complete(self, after: Callable[[int], Iterable[KnownEntry]], at_most: int) -> None:
        """Take all that the ledger holds ``after`` a number: the first unknown, but those up to
        ``at_most`` alone may be known. What was known beyond them is of another history."""
        content = _content(self._path)
        unknown = content.find(bytes(_ENTRY_DIGEST))
        last = min(at_most, -(-(len(content) if unknown < 0 else unknown) // _ENTRY_DIGEST))
        with suppress(OSError), self._opened() as file:
            for seq, digest in after(last):
                os.pwrite(file, bytes.fromhex(digest), (seq - 1) * _ENTRY_DIGEST)
                last = seq
            if last * _ENTRY_DIGEST < os.fstat(file).st_size:
                os.ftruncate(file, last * _ENTRY_DIGEST)

    def first_known(self, entries: Iterable[KnownEntry]) -> int:
        """The first of the entries that is known; 0 if none is."""
        content = _content(self._path)
        for seq, digest in entries:
            if content[(seq - 1) * _ENTRY_DIGEST : seq * _ENTRY_DIGEST] == bytes.fromhex(digest):
                return seq
        return 0

    @contextmanager
    def _opened(self) -> Iterator[int]:
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)


class _Slots:
    """A file with two slots for a checkpoint, each with its digest; the older one is overwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def prepare(self) -> None:
        """Make the file if it does not exist, and check that it can be written."""
        try:
            if not self._path.exists():
                _put(self._path, bytes(2 * _SLOT), _linked)
            os.close(os.open(self._path, os.O_RDWR))
        except OSError as error:
            raise _state_error() from error

    def newest(self) -> Checkpoint | None:
        """The newest undamaged checkpoint; None if there is none."""
        return max(filter(None, self._slots()), key=lambda checkpoint: checkpoint.seq, default=None)

    def write(self, new: Checkpoint) -> None:
        """Put a newer checkpoint in the place of the older one."""
        slots = self._slots()
        if any(slot is not None and slot.seq >= new.seq for slot in slots):
            return
        at = min(
            range(2),
            key=lambda number: -1 if (checkpoint := slots[number]) is None else checkpoint.seq,
        )
        cells = json.dumps([new.seq, new.digest, *cost_texts(new.sum), new.analyst]).encode("ascii")
        try:
            handle = os.open(self._path, os.O_WRONLY)
            try:
                os.pwrite(
                    handle, (_hash_bytes(cells).encode() + cells).ljust(_SLOT, b"\0"), at * _SLOT
                )
            finally:
                os.close(handle)
        except OSError as error:
            raise _state_error() from error

    def _slots(self) -> list[Checkpoint | None]:
        content = _content(self._path)
        return [_checkpoint(content[at : at + _SLOT].rstrip(b"\0")) for at in (0, _SLOT)]


def _content(path: Path) -> bytes:
    """What is in a file; nothing if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _state_error() from error


def _checkpoint(slot: bytes) -> Checkpoint | None:
    digest = slot[:_DIGEST]
    cells = slot[_DIGEST:]
    if not cells or _hash_bytes(cells).encode() != digest:
        return None
    seq, newest, epsilon, rho, delta, analyst = json.loads(cells)
    return Checkpoint(seq, newest, cost_of(epsilon, rho, delta), analyst)


def _load_json(path: Path) -> dict[str, Any] | None:
    try:
        result: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _state_error() from error
    return result


def _write(path: Path, content: dict[str, Any]) -> None:
    try:
        _put(
            path,
            json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"),
        )
    except OSError as error:
        raise _state_error() from error


def _put(path: Path, content: bytes, put: Callable[[Path, Path], object] = os.replace) -> None:
    """The file with this content, on the disk, whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put(Path(draft), path)
    finally:
        Path(draft).unlink(missing_ok=True)


def _linked(draft: Path, path: Path) -> None:
    """Let the draft have the name, unless another process was first."""
    with suppress(FileExistsError):
        path.hardlink_to(draft)


def _hash(text: str) -> str:
    return _hash_bytes(text.encode("utf-8", "backslashreplace"))


def _hash_bytes(content: bytes) -> str:
    return blake2b(content, digest_size=_DIGEST // 2).hexdigest()


def _state_error() -> LedgerError:
    return LedgerError(
        "what is remembered of ledgers cannot be read or written; set DPSQL_STATE to a folder that dpsql may write, "
        "away from the data; nothing is released"
    )
