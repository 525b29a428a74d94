"""What a process that is begun and confined as the engine's can do: files, programs, the network, memory.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dpsql.audit.report import Check
from dpsql.engines.duckdb import source_of
from dpsql.engines.process import landlock
from dpsql.engines.process.client import Died, EngineProcess
from dpsql.errors import OperationalError
from dpsql.schema import Schema

#: The version of Landlock that keeps the process from it; 0 for what every Linux does, None for what none does.
_KEPT_BY: Final[dict[str, int | None]] = {
    "reads another file": 1, "lists another folder": 1, "writes a file": 1, "opens the data for writing": 1,
    "starts a program": 1, "connects to a server": 4, "sends a datagram": None, "signals another process": 6,
    "makes a copy of itself": None, "takes more memory": 0, "leaves a core": 0,
    "writes a larger file than it may spill": 0, "outlives dpsql": 0, "has dpsql's environment": 0,
}  # fmt: skip


def confinement(schema: Schema) -> list[Check]:
    """One check for each thing that the process tries; a note where this machine cannot keep it from that.

    It is begun with the schema's limits, beside a stand-in for the data, so that what it can do harms nothing.
    """
    if not schema.engine.process:
        return [Check("the engine's process", "note", "process = false: the data are opened by dpsql's own process")]
    limits = source_of(schema).limits
    with TemporaryDirectory(prefix="dpsql-audit-") as folder:
        data, outside = Path(folder, "data"), Path(folder, "outside")
        outside.mkdir()
        for file in (data, outside / "secret.csv"):
            file.write_text("secret", encoding="utf-8")
        try:
            could = _could(EngineProcess(str(data), limits, serves="attempted"), data, outside)
        except (Died, OperationalError):
            return [
                Check(
                    "the engine's process", "failed", "it cannot be begun, or ends where it tries what it must not do"
                )
            ]
    return list(_checks(could, limits.memory is not None))


def _could(process: EngineProcess, data: Path, outside: Path) -> dict[str, bool]:
    """Whether it could do each thing that it tried."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            return process.ask("attempts", {"outside": str(outside), "data": str(data), "port": port}).said
    finally:
        process.end()


def _checks(could: dict[str, bool], limited: bool) -> Iterator[Check]:
    version = landlock.version()
    for name, least in _KEPT_BY.items():
        what = f"its process {name}"
        if name == "takes more memory" and not limited:
            yield Check(what, "note", "weigh: [engine] in the schema has no memory; DuckDB's own limit stands alone")
        elif could.get(name) is False:
            yield Check(what, "passed", "it cannot")
        elif could.get(name) and (least is None or not sys.platform.startswith("linux") or version < least):
            yield Check(what, "note", "it can: nothing on this machine keeps it from that")
        else:
            yield Check(what, "failed", "it can")
