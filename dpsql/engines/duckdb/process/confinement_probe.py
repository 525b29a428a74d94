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
            fields = {**request.said, "limits": limits}
            pipe.send(
                EngineMessage(
                    "done",
                    request.number,
                    {name: _succeeds(attempt, fields) for name, attempt in _TRIED.items()},
                )
            )
    os._exit(0)


def _succeeds(attempt: Callable[[_Said], object], fields: _Said) -> bool:
    try:
        return bool(attempt(fields))
    except (OSError, MemoryError, ImportError):
        return False


def _reads(fields: _Said) -> object:
    return Path(fields["outside"], "secret.csv").read_bytes()


def _lists(fields: _Said) -> object:
    return list(Path(fields["outside"]).iterdir())


def _writes(fields: _Said) -> object:
    return Path(fields["outside"], "written").write_bytes(b"x")


def _changes_the_data(fields: _Said) -> object:
    with Path(fields["data"]).open("r+b") as file:
        return file.writable()


def _starts_a_program(fields: _Said) -> object:
    program = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {})
    return os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]) == 0


def _connects(fields: _Said) -> object:
    with socket.create_connection(("127.0.0.1", fields["port"]), 1) as connected:
        return connected.getpeername()


def _sends_a_datagram(fields: _Said) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        return datagrams.sendto(b"x", ("127.0.0.1", fields["port"]))


def _signals(fields: _Said) -> object:
    os.kill(os.getppid(), 0)
    return True


def _forks(fields: _Said) -> object:
    child = os.fork()
    if not child:
        os._exit(0)
    return os.waitpid(child, 0)


def _takes_memory(fields: _Said) -> object:
    return fields["limits"].memory is not None and bytearray(fields["limits"].memory + HEAD_ROOM)


def _leaves_a_core(fields: _Said) -> object:
    import resource

    return resource.getrlimit(resource.RLIMIT_CORE) != (0, 0)


def _writes_a_large_file(fields: _Said) -> object:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    return not 0 <= soft <= fields["limits"].spill or not 0 <= hard <= fields["limits"].spill


def _outlives_dpsql(fields: _Said) -> object:
    status = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_PDEATHSIG, ctypes.byref(status), 0, 0, 0)
    return status.value != signal.SIGKILL


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
    "has dpsql's environment": lambda fields: set(os.environ) - _ENVIRONMENT,
}
