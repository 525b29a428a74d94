"""What the engine's process takes from itself before it opens anything, as far as the operating system lets it.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from dpsql.engines.duckdb.process import landlock
from dpsql.engines.source import ResourceLimits

#: Bytes beside DuckDB's own limit: Python, DuckDB's code and threads, and the rows on their way to dpsql.
HEAD_ROOM = 2 * 10**9
#: Where the system's libraries are, and what tells DuckDB of the machine.
_SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/proc/cpuinfo", "/proc/meminfo", "/proc/self/cgroup",
    "/proc/self/mountinfo", "/sys/fs/cgroup", "/sys/devices/system", "/dev/null", "/dev/urandom",
)  # fmt: skip
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


def confine(parent: int, read: Sequence[str], limits: ResourceLimits) -> None:
    """Die with the parent, leave no core, open nothing but what may be read, write and take no more than the limits.

    What is written nobody else may read.
    """
    _die_with(parent)
    os.umask(0o077)
    _open_many_files()
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", limits.spill)
    if limits.memory is not None:
        _limit("RLIMIT_DATA", limits.memory + HEAD_ROOM)
    landlock.restrict(read=[*read, *_modules(), *_SYSTEM], write=[] if limits.folder is None else [limits.folder])


def _modules() -> list[str]:
    """The folders of Python's modules, of DuckDB and of the engine."""
    return [str(Path(str(module.__file__)).parent) for module in (os, duckdb, landlock)]


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        call = ctypes.CDLL(None).prctl
        call(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        call(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        call(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.name == "posix" and os.getppid() != parent:
        os._exit(1)  # it died before the kernel was told


def _open_many_files() -> None:
    """Hold as many files open as the system lets this user: a table may have thousands."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _limit(name: str, most: int) -> None:
    """Set a limit that this system has, and that is not tighter already."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, least))
