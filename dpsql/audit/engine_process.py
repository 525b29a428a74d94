"""Checks what the engine's confined process can do: files, programs, the network, memory.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dpsql.audit.report import AuditCheck
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.process import confinement
from dpsql.engines.duckdb.process.client import EngineProcess, ProcessDied
from dpsql.errors import OperationalError
from dpsql.schema import Schema

#: The Linux that brought a version of Landlock.
_LINUX: Final = {1: "5.13", 4: "6.7", 6: "6.12"}
#: It must be kept from what Landlock knows up to this version, files and TCP;
#: of the rest owners #: are told.
_NEEDED: Final = 4
#: The version of Landlock that keeps the process from it; 0 for what every Linux does,
#: None for #: what none does.
_KEPT_BY: Final[dict[str, int | None]] = {
    "reads another file": 1,
    "lists another folder": 1,
    "writes a file": 1,
    "opens the data for writing": 1,
    "starts a program": 1,
    "connects to a server": 4,
    "sends a datagram": None,
    "signals another process": 6,
    "makes a copy of itself": None,
    "takes more memory": 0,
    "leaves a core": 0,
    "writes a larger file than it may spill": 0,
    "outlives dpsql": 0,
    "has dpsql's environment": 0,
}
_PROCESS: Final = "the engine's process"


def process_checks(schema: Schema) -> list[AuditCheck]:
    """One check for the kernel, and one for each thing that the process tries.

    A check fails if the process can open files or connect, for whatever reason; what no kernel
    prevents is a note. The process runs with the schema's limits on an empty stand-in of the data,
    so it can harm nothing.
    """
    if not schema.engine.process:
        message = "the data are opened by dpsql's own process, which can open what its user can, and connect"
        return [
            AuditCheck(
                _PROCESS, "failed", f"{message}; take process = false out of the schema's [engine]"
            )
        ]
    limits = data_source_of(schema).limits
    with TemporaryDirectory(prefix="dpsql-audit-") as folder:
        data = Path(folder, "data")
        outside = Path(folder, "outside")
        outside.mkdir()
        for file in (data, outside / "secret.csv"):
            file.write_text("secret", encoding="utf-8")
        try:
            could = _could(
                EngineProcess(str(data), limits, serves="confinement_probe"), data, outside
            )
        except (ProcessDied, OperationalError):
            return [
                AuditCheck(
                    _PROCESS,
                    "failed",
                    "it cannot be begun, or ends where it tries what it must not do",
                )
            ]
    return [_kernel(), *_checks(could, limits.memory is not None)]


def _kernel() -> AuditCheck:
    """Whether the kernel can confine the process."""
    version = confinement.landlock_version()
    if version >= 1:
        return AuditCheck("the kernel's Landlock", "passed", f"version {version}")
    message = "there is none, so that the engine's process can open what its user can, and connect"
    return AuditCheck("the kernel's Landlock", "failed", f"{message}; {_landlock_advice(_NEEDED)}")


def _could(process: EngineProcess, data: Path, outside: Path) -> dict[str, bool]:
    """For each attempt, whether the process could do it."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            return process.ask(
                "attempts", {"outside": str(outside), "data": str(data), "port": port}
            ).said
    finally:
        process.end()


def _checks(could: dict[str, bool], limited: bool) -> Iterator[AuditCheck]:
    version = confinement.landlock_version()
    for name, least in _KEPT_BY.items():
        title = f"its process {name}"
        if name == "takes more memory" and not limited:
            yield AuditCheck(
                title,
                "note",
                "weigh: [engine] in the schema has no memory; DuckDB's own limit stands alone",
            )
        elif could.get(name) is False:
            yield AuditCheck(title, "passed", "it cannot")
        elif could.get(name) and (
            least is None or (least == 0 and not sys.platform.startswith("linux"))
        ):
            yield AuditCheck(title, "note", "it can: nothing on this machine keeps it from that")
        elif could.get(name) and least and version < least:
            yield AuditCheck(
                title,
                "failed" if least <= _NEEDED else "note",
                f"it can; {_landlock_advice(least)}",
            )
        else:
            yield AuditCheck(title, "failed", "it can")


def _landlock_advice(least: int) -> str:
    """Advice that names the Linux version with this version of Landlock."""
    return (
        f"run dpsql on Linux {_LINUX[least]} or later, with landlock in "
        "/sys/kernel/security/lsm and its calls allowed"
    )
