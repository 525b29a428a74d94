"""Faults that break the promise, each a change of a line or two, with the tests that find it; a file for each room."""

from planted import (
    accountants,
    audit,
    charging,
    expressions,
    front_ends,
    intervals,
    ledger,
    local,
    mechanisms,
    presence,
    prices,
    process,
    relations,
    release,
    rewrite,
    server,
    synopsis,
    synthetic,
    versions,
    views,
    work,
    workloads,
)
from planted.fault import Fault

__all__ = ["FAULTS", "Fault"]

FAULTS = (
    *rewrite.FAULTS,
    *relations.FAULTS,
    *work.FAULTS,
    *expressions.FAULTS,
    *presence.FAULTS,
    *prices.FAULTS,
    *mechanisms.FAULTS,
    *local.FAULTS,
    *accountants.FAULTS,
    *workloads.FAULTS,
    *ledger.FAULTS,
    *release.FAULTS,
    *synthetic.FAULTS,
    *views.FAULTS,
    *process.FAULTS,
    *versions.FAULTS,
    *charging.FAULTS,
    *intervals.FAULTS,
    *front_ends.FAULTS,
    *server.FAULTS,
    *audit.FAULTS,
    *synopsis.FAULTS,
)
