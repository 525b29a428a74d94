"""Faults that break the promise, each a change of a line or two, with the tests that find it; a file for each room."""

from planted import (
    accountants,
    audit,
    expressions,
    front_ends,
    intervals,
    ledger,
    mechanisms,
    prices,
    process,
    relations,
    release,
    rewrite,
    workloads,
)
from planted.fault import Fault

__all__ = ["FAULTS", "Fault"]

FAULTS = (
    *rewrite.FAULTS,
    *relations.FAULTS,
    *expressions.FAULTS,
    *prices.FAULTS,
    *mechanisms.FAULTS,
    *accountants.FAULTS,
    *workloads.FAULTS,
    *ledger.FAULTS,
    *release.FAULTS,
    *process.FAULTS,
    *intervals.FAULTS,
    *front_ends.FAULTS,
    *audit.FAULTS,
)
