"""What is asked of a store of files elsewhere, and how its trouble is told.

Proved in ``docs/proofs/remote.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from dpsql.errors import OperationalError

#: Seconds that a store has to answer, and bytes that are taken from it at a time.
PATIENCE: Final = 10.0
CHUNK: Final = 2**20


@dataclass(frozen=True)
class RemoteFile:
    """A file elsewhere as a look finds it.

    ``place`` is the path of its copy below the folder of all copies, with ``/``. ``state`` is what
    the store tells of its content, and another one once that is written; ``size`` is in bytes,
    if the store tells it.
    """

    address: str
    place: str
    state: tuple[str, ...]
    size: int


class FileStore(Protocol):
    """The files of one source elsewhere; whatever it raises is an OperationalError,
    with no word of the store in it.

    ``source`` is the path of the whole source below the folder of copies: a file,
    a folder or a glob.
    """

    @property
    def source(self) -> str: ...

    def look(self) -> Sequence[RemoteFile]:
        """The files that are there now; no content is read."""
        ...

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """The content of a file in the state that was found, whole."""
        ...


def store_error(address: str, reason: str) -> OperationalError:
    """The error for a remote file that cannot be read."""
    return OperationalError(f"{address}: {reason}")


#: What is said of names that cannot be those of files,
#: or would lie outside of the folder of #: copies.
_NO_PLACE: Final = "cannot be the name of a file of this machine; rename it"


def checked_place(address: str, path: str) -> str:
    """The path, which must stay below the folder of copies."""
    for name in path.split("/"):
        if name in ("", ".", "..") or "\0" in name or "\\" in name or len(name.encode()) > 255:
            raise store_error(address, _NO_PLACE)
    return path
