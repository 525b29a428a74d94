"""What about the machine and its files weakens a server;
its owner is told of it when the server starts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpsql.engines.opening import engine_kind
from dpsql.errors import InterfaceError, LedgerError
from dpsql.privacy.ledger import ledger_path
from dpsql.privacy.ledger.opening import is_address
from dpsql.schema import Schema
from dpsql.server.listener import is_loopback

#: What others and the group may not do with a key: anything, and write.
_OPEN = 0o037


@dataclass(frozen=True)
class HostWarning:
    """One thing to mend; ``confinement`` is true if it lets a fault of the engine reach further."""

    said: str
    confinement: bool = False


def host_warnings(
    schema: Schema, key: Path | None = None, metrics_host: str | None = None
) -> list[HostWarning]:
    """What the owner of a server of this schema, with this TLS key and figures on this host,
    should mend.
    """
    result = []
    if os.geteuid() == 0:
        result.append(
            HostWarning(
                "runs as root: a fault of the server would be one of the machine; "
                "run it as a user of its own",
                confinement=True,
            )
        )
    result += [
        HostWarning(weakness, confinement=True)
        for weakness in engine_kind(schema).weaknesses(schema)
    ]
    if key is not None and key.stat().st_mode & _OPEN:
        result.append(
            HostWarning(
                f"{key.name}: others may read or write the TLS key; give it the mode 600 (chmod 600)"
            )
        )
    if ledger_is_with_data(schema):
        result.append(HostWarning(LEDGER_WITH_DATA))
    if metrics_host is not None and not is_loopback(metrics_host):
        result.append(
            HostWarning("the metrics are not on the loopback; see that no analyst reaches them")
        )
    return result


#: What the owner is told of such a ledger.
LEDGER_WITH_DATA = (
    "the ledger lies in the folder of the data: who replaces or restores the folder takes charges back with it; "
    "name a place elsewhere with `ledger` in the schema"
)


def ledger_is_with_data(schema: Schema) -> bool:
    """Whether the ledger is a file somewhere below the folder of the data."""
    if schema.is_elsewhere:
        return False
    with suppress(LedgerError, OSError, RuntimeError):
        ledger = schema.ledger_place or ledger_path(schema.source_path)
        source = schema.source_path.resolve()
        return (
            not is_address(ledger)
            and source.is_dir()
            and Path(ledger).resolve().is_relative_to(source)
        )
    return False


def require_confined(warnings: Sequence[HostWarning]) -> None:
    """InterfaceError where one of the weaknesses is of the engine's confinement."""
    missing = [warning.said for warning in warnings if warning.confinement]
    if missing:
        raise InterfaceError("--require-confinement: " + "; ".join(missing))
