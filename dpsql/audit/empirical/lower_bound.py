"""Empirical ε: releases a statement many times on neighbouring databases and bounds its ε from
below.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.audit.clock import AuditClock, AuditTimeout
from dpsql.audit.empirical.distinguishing_events import Outputs, ReleaseClaim, features, lower_bound
from dpsql.audit.report import AuditCheck, CheckGroup, PrivateFigure
from dpsql.audit.sensitivity.claims import compare, counted, largest_claim_use
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import Planner
from dpsql.audit.sensitivity.statements import Exact, look
from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.errors import DatabaseError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism import Gaussian
from dpsql.release.noise_addition import release
from dpsql.schema import Schema

#: Releases on each side of a pair, and those that are made beforehand to tell how long all will
#: take.
DRAWS = 10_000
_TIMED = 100
#: Releases and the bound that is found in them take so many times what releases alone do.
_BOUND = 1.25
#: What all bounds of one audit together have, at most, of a chance to be above the true ε.
ALPHA = 1e-9
#: The ε at which a statement is released here: so many draws tell most of it.
PRICE = Fraction(1)
#: Pairs of the real data beside the made one.
PAIRS = 2
#: Groups of each core that are released: those that a unit changes most.
GROUPS = 8
#: Noise of at least this variance, in grid steps, is as good as normal.
_WIDE = 100


@dataclass(frozen=True)
class NeighbourRelease:
    """The exact rows of a plan's cores on two neighbours. They are private unless they were made
    from the claims.
    """

    name: str
    one: tuple[CoreRows, ...]
    other: tuple[CoreRows, ...]
    private: bool


def check_epsilon(
    schema: Schema,
    neighbours: NeighbourDatabases,
    planner: Planner,
    texts: Sequence[str],
    units: Sequence[int],
    clock: AuditClock,
    draws: int = DRAWS,
) -> CheckGroup:
    """One check for each statement and each pair of neighbours."""
    checks: list[AuditCheck] = []
    alpha = ALPHA / max(len(texts) * (PAIRS + 1), 1)
    for index, text in enumerate(texts, 1):
        shown = " ".join(text.split())
        step = f"empirical ε: statement {index} of {len(texts)}"
        clock.tell(step)
        try:
            plan = planner.plan(text, min(PRICE, schema.privacy.epsilon)).written()
            for pair in _pairs(schema, neighbours, planner, plan, units=units, clock=clock):
                clock.tell(f"{step}, {pair.name}")
                checks.append(_check(shown, plan, pair, draws, alpha=alpha, clock=clock))
                clock.tell(step)
        except AuditTimeout:
            checks.append(AuditCheck(shown, "skipped", "the time was up"))
        except DatabaseError as error:
            checks.append(
                AuditCheck(
                    shown,
                    "skipped",
                    f"not answered under this schema: {str(error).splitlines()[0]}",
                )
            )
    return CheckGroup(
        "empirical ε",
        f"{draws:,} releases on each of two neighbours prove no greater ε than the statement's price; a bound is wrong "
        f"by chance less than once in {1 / ALPHA:.0e} audits",
        tuple(checks),
    )


def seconds_of_releases(
    schema: Schema, planner: Planner, texts: Sequence[str], clock: AuditClock, draws: int
) -> float:
    """The expected seconds of the releases, from a few on made-up neighbours."""
    seconds = 0.0
    for text in texts:
        with suppress(DatabaseError):
            plan = planner.plan(text, min(PRICE, schema.privacy.epsilon)).written()
            pair = _worst_case_neighbours(plan)
            if pair is not None:
                started = time.perf_counter()
                _released(plan, pair.one, pair, _TIMED, clock=clock)
                seconds += (
                    (time.perf_counter() - started) / _TIMED * draws * 2 * (1 + PAIRS) * _BOUND
                )
    return seconds


def _check(
    shown: str, plan: Plan, pair: NeighbourRelease, draws: int, alpha: float, clock: AuditClock
) -> AuditCheck:
    claim = ReleaseClaim.of(plan.cost, all(_is_wide(core) for core in plan.cores))
    one = _released(plan, pair.one, pair, draws, clock=clock)
    other = _released(plan, pair.other, pair, draws, clock=clock)
    found = lower_bound(claim, one, other, alpha)
    what = f"{shown} — {pair.name}"
    beside = f" beside δ = {claim.delta:.3g}" if claim.delta else ""
    said = f"claimed ε = {claim.epsilon:.4g}{beside}"
    if not pair.private:
        said += f", proved ε ≥ {found:.4g}"
    if found > claim.epsilon:
        return AuditCheck(
            what, "failed", f"{said}; the outputs prove more", _figures(pair, found, claim)
        )
    return AuditCheck(what, "passed", said, _figures(pair, found, claim))


def _figures(
    pair: NeighbourRelease, found: float, claim: ReleaseClaim
) -> tuple[PrivateFigure, ...]:
    return (PrivateFigure("ε proved", found, claim.epsilon),) if pair.private else ()


def _pairs(
    schema: Schema,
    neighbours: NeighbourDatabases,
    planner: Planner,
    plan: Plan,
    units: Sequence[int],
    clock: AuditClock,
) -> Iterator[NeighbourRelease]:
    """First the neighbours that use the claims up,
    then the neighbours of the data that use most of them.
    """
    made = _worst_case_neighbours(plan)
    if made is not None:
        yield made
    if not plan.cores:
        return
    looked = look(neighbours, planner, plan, units, clock=clock)
    found: list[tuple[float, tuple[CoreRows, ...], tuple[CoreRows, ...]]] = []
    for one, other in looked.pairs(schema.privacy.neighbours == "replace"):
        left = _rows_if_complete(one)
        right = _rows_if_complete(other)
        if left is None or right is None:
            continue
        pairs = zip(plan.cores, left, right, strict=True)
        uses = [use for core, here, there in pairs for use in compare(core, here, there).uses]
        found.append((largest_claim_use(uses), left, right))
    found.sort(key=lambda each: each[0], reverse=True)
    for index, (_, left, right) in enumerate(found[:PAIRS], 1):
        sides = [
            _changed(core, here, there)
            for core, here, there in zip(plan.cores, left, right, strict=True)
        ]
        one_side = tuple(one for one, _ in sides)
        other_side = tuple(other for _, other in sides)
        yield NeighbourRelease(
            f"the data and a neighbour, {index} of {PAIRS}", one_side, other_side, private=True
        )


def _rows_if_complete(exact: Exact) -> tuple[CoreRows, ...] | None:
    rows = tuple(each for each in exact if each is not None)
    return rows if len(rows) == len(exact) else None


def _worst_case_neighbours(plan: Plan) -> NeighbourRelease | None:
    """Made-up rows of one group that differ by all that additive claims allow;
    None without additive noise.

    Both groups have enough units to be shown, so that only the noise can tell them apart.
    """
    if not any(core.cells or core.selection for core in plan.cores):
        return None
    near, far = (
        tuple(_apart(core, all_of_it) for core in plan.cores) for all_of_it in (False, True)
    )
    return NeighbourRelease("made neighbours, as far apart as is claimed", near, far, private=False)


def _apart(core: CorePlan, all_of_it: bool) -> CoreRows:
    """One made-up row, moved by all of the claims or by none."""
    share = 1 if all_of_it else 0
    cells: list[object] = [share * cell.mechanism.largest_change for cell in core.cells]
    if core.selection is not None:
        count = max(10**6, 100 * core.selection.threshold)
        cells.append(count + share * core.selection.noise.largest_change)
    return [(*(None,) * len(core.core.keys), *cells, *(None,) * len(core.histograms))]


def _changed(core: CorePlan, one: CoreRows, other: CoreRows) -> tuple[CoreRows, CoreRows]:
    """The groups that differ most; groups that are equal on both sides cannot distinguish them."""
    width, counts = len(core.core.keys), counted(core)
    left, right = ({repr(row[:width]): row for row in rows} for rows in (one, other))

    def change(key: str) -> tuple[bool, int]:
        here = left.get(key)
        there = right.get(key)
        if here is None or there is None:
            return True, 0
        numbers = zip(here[width : width + counts], there[width : width + counts], strict=True)
        moved = sum(abs(int(a) - int(b)) for a, b in numbers)  # type: ignore[call-overload]
        return here[width + counts :] != there[width + counts :], moved

    keys = sorted(left.keys() | right.keys(), key=lambda key: (change(key), key), reverse=True)[
        :GROUPS
    ]
    return [left[key] for key in keys if key in left], [right[key] for key in keys if key in right]


def _released(
    plan: Plan, rows: tuple[CoreRows, ...], pair: NeighbourRelease, draws: int, clock: AuditClock
) -> Outputs:
    """The features of many releases, made by the function that releases to analysts."""
    found = []
    for index in range(draws):
        if index % 256 == 0:
            clock.check()
        released = release(ExactRows([list(row) for row in rows]), plan.cores, plan.confidence)
        found.append(features(plan, released, pair.one, pair.other))
    return np.array(found, float)


def _is_wide(core: CorePlan) -> bool:
    """Whether all noise of the core is Gaussian and many grid steps wide."""
    noises = [cell.mechanism for cell in core.cells]
    wide = all(isinstance(noise, Gaussian) and noise.variance >= _WIDE for noise in noises)
    return wide and not core.histograms and core.selection is None
