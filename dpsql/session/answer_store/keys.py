"""Keys of stored answers: digests of all that a release depends on. Proved in ``docs/proofs/answers.md``."""

from __future__ import annotations

from dataclasses import replace

from dpsql.planning.plan import CorePlan, Plan
from dpsql.sql.ir.canonical import canonical, text_digest

#: Raised whenever the same cores come to mean another release, or are written in another way.
FORMAT = 6


def answer_key(plan: Plan, version: str) -> str:
    """A digest of all that the release of a plan depends on: cores with their SQL and noise, derived tables, data.

    The text of the statement, its analyst and its post-processing do not change the release, and are not in the digest.
    """
    cores = [[core.sql, canonical(_as_released(core))] for core in plan.cores]
    read = [canonical(core.presence) for core in plan.cores] + [canonical(plan.evident)]
    later = [canonical(plan.derived), canonical(plan.cubes), *read] if plan.derived else []
    whole = ["dpsql answer", FORMAT, version, repr(plan.confidence), cores, later]
    return text_digest(whole)


def _as_released(core: CorePlan) -> CorePlan:
    """The core without the evidence of its groups, where these are released with it or without."""
    return core if core.presence is not None and core.presence.released else replace(core, presence=None)


def kin_key(plan: Plan, version: str) -> str:
    """A digest that all releases of the same exact rows share: it leaves out noise, price and confidence."""
    cores = [
        [core.sql, canonical(core.core), canonical([cell.contribution for cell in core.cells]),
         canonical([histogram.contribution for histogram in core.histograms]), canonical(core.estimates)]
        for core in plan.cores
    ]  # fmt: skip
    whole = ["dpsql kin", FORMAT, version, cores, canonical(plan.derived), canonical(plan.cubes)]
    return text_digest(whole)
