"""What the engine's process takes from itself before it opens anything,
as far as the operating system lets it.

On Linux files, programs and the network are given up for good by Landlock (kernel 5.13 and later);
elsewhere `restrict` does nothing, and tells so. Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from dpsql.engines.source import ResourceLimits

#: Bytes beside DuckDB's own limit: Python, DuckDB's code and threads,
#: and the rows on their way to #: dpsql.
HEAD_ROOM = 2 * 10**9
#: Where the system's libraries are, and what tells DuckDB of the machine.
_SYSTEM = (
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/sys/fs/cgroup",
    "/sys/devices/system",
    "/dev/null",
    "/dev/urandom",
)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def confine(parent: int, readable: Sequence[str], limits: ResourceLimits) -> None:
    """Die with the parent, leave no core, open nothing but what may be read,
    write and take no more than the limits.

    What is written nobody else may read.
    """
    _die_with(parent)
    os.umask(0o077)
    _open_many_files()
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", limits.spill)
    if limits.memory is not None:
        _limit("RLIMIT_DATA", limits.memory + HEAD_ROOM)
    restrict(
        readable=[*readable, *_modules(), *_SYSTEM],
        write=[] if limits.folder is None else [limits.folder],
    )


def _modules() -> list[str]:
    """The folders of Python's modules, of DuckDB and of the engine."""
    return [str(Path(file).parent) for file in (str(os.__file__), str(duckdb.__file__), __file__)]


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


_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_PATH_BENEATH = 1
#: The file system's rights by the version of Landlock that brought them;
#: the later ones are bits #: that follow.
_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
#: Write, remove and make ordinary files, truncate them, and make folders.
_WRITE = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 14
#: Rights that a rule on a file, rather than on a folder, may give.
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
#: TCP connections and listening (version 4); signals and abstract sockets of others (version 6).
_NETWORK = 0b11
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    """What is forbidden but for the rules: rights on files, on the network,
    and towards other processes.
    """

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    """Rights on a file, or on all that lies in a folder."""

    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("place", ctypes.c_int32))


def restrict(readable: Sequence[str], write: Sequence[str]) -> bool:
    """Whether this thread, and all that it begins,
    can open nothing but these for reading and writing any more.

    Nor can it start a program or connect to anything. Places that do not exist are left out. False
    without Landlock.
    """
    version = landlock_version()
    if version < 1:
        return False
    rights = (1 << max(bits for first, bits in _RIGHTS.items() if first <= version)) - 1
    ruleset = _Ruleset(rights, _NETWORK if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    if version < 4:
        size = 8
    elif version < 6:
        size = 16
    else:
        size = 24
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if rules < 0:
        return False
    try:
        allowed = [_allow(rules, path, rights & (_READ_FILE | _READ_DIR)) for path in readable]
        allowed += [
            _allow(rules, path, rights & (_READ_FILE | _READ_DIR | _WRITE)) for path in write
        ]
        return all(allowed) and _call(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def landlock_version() -> int:
    """The version of Landlock that the kernel has; below 1 if it has none."""
    return _call(_CREATE_RULESET, None, 0, _VERSION) if sys.platform == "linux" else 0


def _allow(rules: int, path: str, rights: int) -> bool:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        return (
            _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_PathBeneath(rights, opened)), 0)
            == 0
        )
    finally:
        os.close(opened)


def _call(number: int, *values: object) -> int:
    """Make a system call; -1 if it fails."""
    words = [ctypes.c_long(value) if isinstance(value, int) else value for value in values]
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *words))
