"""Run by its path in a fresh interpreter: makes dpsql's engines importable,
without all the rest, and serves.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from types import ModuleType


def start() -> None:
    """Read where modules lie from the first line of standard input;
    then the pipes belong to the protocol alone.
    """
    reads = os.dup(0)
    writes = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    request = json.loads(_line(reads))
    sys.path[:] = request["path"]
    # dpsql/__init__.py imports the compiler, which has no business here.
    package = ModuleType("dpsql")
    package.__path__ = [request["home"]]
    sys.modules["dpsql"] = package
    from dpsql.engines.duckdb.process.confinement import confine
    from dpsql.engines.duckdb.process.protocol import MessagePipe
    from dpsql.engines.source import ResourceLimits

    serve = import_module(f"dpsql.engines.duckdb.process.{request['serves']}").serve
    limits = ResourceLimits(**request["limits"])
    confine(request["parent"], request["read"], limits)
    serve(MessagePipe(reads, writes), limits)


def _line(reads: int) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        more = os.read(reads, 1)
        if not more:
            os._exit(1)
        line += more
    return bytes(line)


if __name__ == "__main__":
    start()
