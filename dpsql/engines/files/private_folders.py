"""Folders of this user alone for private data that lie there for a while:
gone with whoever made them, however it ends.

An engine may write what its memory does not hold into one of them. Proved in
``docs/proofs/process.md`` and ``docs/proofs/remote.md``.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from dpsql.engines.source import ResourceLimits

try:
    import fcntl
except ImportError:  # a system without it keeps what a dpsql that was killed has left
    fcntl = None  # type: ignore[assignment]

#: How the names of such folders begin, by what they are for.
_PREFIXES: Final = {"spill": "dpsql-spill-", "copies": "dpsql-copies-"}
_LOCK = "lock"
_FILES = "files"
#: The lock of each folder that this process has made, and the process, which a fork of it is not.
_HELD: Final[dict[str, tuple[int, int]]] = {}


def private_folder(holds: Literal["spill", "copies"]) -> str:
    """A new folder below the one for temporary files that nobody else may look into.

    Folders of earlier processes that were killed are removed first.
    """
    _remove_left()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIXES[holds]))
        lock = _locked(folder / _LOCK)
        if lock is None:
            continue  # another one has taken it for left behind
        _HELD[str(folder / _FILES)] = (lock, os.getpid())
        (folder / _FILES).mkdir(mode=0o700)
        return str(folder / _FILES)


def remove_folder(folder: str | None) -> None:
    """Remove the folder with what is in it,
    unless it belongs to the process that this one was forked from.
    """
    if folder is None:
        return
    lock, maker = _HELD.pop(folder, (None, os.getpid()))
    if lock is None or maker != os.getpid():
        return
    shutil.rmtree(Path(folder).parent, ignore_errors=True)
    os.close(lock)


def _locked(path: Path) -> int | None:
    """The file, made and locked until this process ends; None where another one has it,
    or has removed it.
    """
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    with suppress(OSError):
        if fcntl is not None:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(opened).st_nlink:
            return opened
    os.close(opened)
    return None


def _remove_left() -> None:
    """Remove the folders of this user whose lock nobody holds any more."""
    if fcntl is None:
        return
    with suppress(OSError):
        for folder in (
            path
            for prefix in _PREFIXES.values()
            for path in Path(tempfile.gettempdir()).glob(f"{prefix}*")
        ):
            with suppress(OSError):
                facts = folder.lstat()
                if (
                    not stat.S_ISDIR(facts.st_mode)
                    or facts.st_uid != os.geteuid()
                    or not (folder / _LOCK).exists()
                ):
                    continue
                lock = _locked(folder / _LOCK)
                if lock is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    os.close(lock)


def most_spilled(requested: int | None) -> int:
    """The bytes that may be spilled: as many as are wanted,
    else the half of what is free when the data are opened.
    """
    if requested is not None:
        return requested
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free // 2
    except OSError:
        return 0


def spill_folder(limits: ResourceLimits) -> str | None:
    """A new folder that nobody else may look into; None if nothing may be spilled."""
    return private_folder("spill") if limits.spill else None
