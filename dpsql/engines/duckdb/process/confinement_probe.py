"""In the engine's place: tries what its process must not be able to do, under the same limits,
for the owner's audit.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dpsql.engines.duckdb.process.confinement import HEAD_ROOM
from dpsql.engines.duckdb.process.protocol import EngineMessage, MessagePipe
from dpsql.engines.source import ResourceLimits

#: What the interpreter sets by itself, and what the dynamic linker may need.
_ENVIRONMENT: Final = {
    "LC_CTYPE",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
    "__CF_USER_TEXT_ENCODING",
}
_PR_GET_PDEATHSIG: Final = 2
_Said = Mapping[str, Any]


def serve(pipe: MessagePipe, limits: ResourceLimits) -> None:
    """Answer each request with the attempts that succeeded; then leave."""
    with suppress(Exception):
        pipe.send(EngineMessage("ready", 0))
        while True:
            request = pipe.receive()
            said = {**request.said, "limits": limits}
            pipe.send(
                EngineMessage(
                    "done",
                    request.number,
                    {name: _succeeds(each, said) for name, each in _TRIED.items()},
                )
            )
    os._exit(0)


def _succeeds(attempt: Callable[[_Said], object], said: _Said) -> bool:
    try:
        return bool(attempt(said))
    except (OSError, MemoryError, ImportError):
        return False


def _reads(said: _Said) -> object:
    return Path(said["outside"], "secret.csv").read_bytes()


def _lists(said: _Said) -> object:
    return list(Path(said["outside"]).iterdir())


def _writes(said: _Said) -> object:
    return Path(said["outside"], "written").write_bytes(b"x")


def _changes_the_data(said: _Said) -> object:
    with Path(said["data"]).open("r+b") as file:
        return file.writable()


def _starts_a_program(said: _Said) -> object:
    program = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {})
    return os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]) == 0


def _connects(said: _Said) -> object:
    with socket.create_connection(("127.0.0.1", said["port"]), 1) as connected:
        return connected.getpeername()


def _sends_a_datagram(said: _Said) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        return datagrams.sendto(b"x", ("127.0.0.1", said["port"]))


def _signals(said: _Said) -> object:
    os.kill(os.getppid(), 0)
    return True


def _forks(said: _Said) -> object:
    child = os.fork()
    if not child:
        os._exit(0)
    return os.waitpid(child, 0)


def _takes_memory(said: _Said) -> object:
    return said["limits"].memory is not None and bytearray(said["limits"].memory + HEAD_ROOM)


def _leaves_a_core(said: _Said) -> object:
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE) != (0, 0)


def _writes_a_large_file(said: _Said) -> object:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    return not 0 <= soft <= said["limits"].spill or not 0 <= hard <= said["limits"].spill


def _outlives_dpsql(said: _Said) -> object:
    found = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_PDEATHSIG, ctypes.byref(found), 0, 0, 0)
    return found.value != signal.SIGKILL


_TRIED: Final[dict[str, Callable[[_Said], object]]] = {
    "reads another file": _reads,
    "lists another folder": _lists,
    "writes a file": _writes,
    "opens the data for writing": _changes_the_data,
    "starts a program": _starts_a_program,
    "connects to a server": _connects,
    "sends a datagram": _sends_a_datagram,
    "signals another process": _signals,
    "makes a copy of itself": _forks,
    "takes more memory": _takes_memory,
    "leaves a core": _leaves_a_core,
    "writes a larger file than it may spill": _writes_a_large_file,
    "outlives dpsql": _outlives_dpsql,
    "has dpsql's environment": lambda said: set(os.environ) - _ENVIRONMENT,
}
