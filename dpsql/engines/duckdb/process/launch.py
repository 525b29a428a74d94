"""How the engine's process is begun: with nothing of this one, and told what it may read;
and what ended it.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from dpsql.engines.duckdb.process import start
from dpsql.engines.duckdb.process.protocol import MessagePipe
from dpsql.engines.files.table_files import files_of, found_tables, root_of, with_journal
from dpsql.engines.source import ResourceLimits

#: What the dynamic linker may need to find Python's own libraries;
#: nothing else of the environment #: is passed on.
_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


def end_of(code: int) -> str:
    """What ended a process that has this exit code: the name of a signal, or that it left."""
    with suppress(ValueError):
        return signal.Signals(-code).name
    return "Exited"


def begun() -> subprocess.Popen[bytes]:
    """A fresh interpreter, with nothing of this one: no environment, no descriptor,
    no terminal, and unheard.
    """
    if not sys.executable:
        raise OSError
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", start.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=tempfile.gettempdir(),
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        start_new_session=True,
    )


def pipe_to(
    process: subprocess.Popen[bytes], setup: bytes, waits: Callable[[], None]
) -> MessagePipe:
    """The pipes to and from the process, which has been told its first line;
    OSError if it is gone already.
    """
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(setup)
        reads = os.dup(process.stdout.fileno())
        try:
            return MessagePipe(reads, os.dup(process.stdin.fileno()), waits)
        except OSError:
            os.close(reads)
            raise


def setup_line(source: str, limits: ResourceLimits, serves: str) -> bytes:
    """The line that tells the process where modules lie, what it may read, its limits,
    and what it serves as.
    """
    home = str(Path(start.__file__).parents[3])
    path = [str(Path(entry or ".").absolute()) for entry in sys.path]
    first = {
        "path": path,
        "home": home,
        "parent": os.getpid(),
        "read": _readable(source),
        "limits": asdict(limits),
        "serves": serves,
    }
    return json.dumps(first).encode() + b"\n"


def _readable(source: str) -> list[str]:
    """The source, with its journals if it is a database,
    and the targets of links to data files in a folder.
    """
    path = Path(source)
    root = root_of(path)
    if not root.is_dir():
        return [str(file) for file in with_journal(path)]
    files = {
        path,
        *(file for _, table in found_tables(path) for file in files_of(table)),
        *files_of(root),
    }
    return [
        str(root),
        *(str(file.resolve()) for file in files if file.resolve() != file.absolute()),
    ]
