"""Empirical ε: many releases of a statement on neighbouring databases bound its ε from below.

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
    """The exact rows of a plan's cores on two neighbours; private unless made from the claims."""

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
        statement = " ".join(text.split())
        step = f"empirical ε: statement {index} of {len(texts)}"
        clock.tell(step)
        try:
            plan = planner.plan(text, min(PRICE, schema.privacy.epsilon)).written()
            for pair in _pairs(schema, neighbours, planner, plan, units=units, clock=clock):
                clock.tell(f"{step}, {pair.name}")
                checks.append(_check(statement, plan, pair, draws, alpha=alpha, clock=clock))
                clock.tell(step)
        except AuditTimeout:
            checks.append(AuditCheck(statement, "skipped", "the time was up"))
        except DatabaseError as error:
            checks.append(
                AuditCheck(
                    statement,
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
    statement: str, plan: Plan, pair: NeighbourRelease, draws: int, alpha: float, clock: AuditClock
) -> AuditCheck:
    claim = ReleaseClaim.of(plan.cost, all(_is_wide(core) for core in plan.cores))
    one = _released(plan, pair.one, pair, draws, clock=clock)
    other = _released(plan, pair.other, pair, draws, clock=clock)
    proved = lower_bound(claim, one, other, alpha)
    title = f"{statement} — {pair.name}"
    given_delta = f" beside δ = {claim.delta:.3g}" if claim.delta else ""
    sentence = f"claimed ε = {claim.epsilon:.4g}{given_delta}"
    if not pair.private:
        sentence += f", proved ε ≥ {proved:.4g}"
    if proved > claim.epsilon:
        return AuditCheck(
            title, "failed", f"{sentence}; the outputs prove more", _figures(pair, proved, claim)
        )
    return AuditCheck(title, "passed", sentence, _figures(pair, proved, claim))


def _figures(
    pair: NeighbourRelease, proved: float, claim: ReleaseClaim
) -> tuple[PrivateFigure, ...]:
    return (PrivateFigure("ε proved", proved, claim.epsilon),) if pair.private else ()


def _pairs(
    schema: Schema,
    neighbours: NeighbourDatabases,
    planner: Planner,
    plan: Plan,
    units: Sequence[int],
    clock: AuditClock,
) -> Iterator[NeighbourRelease]:
    """Pairs of neighbours: made-up ones that use the claims up, then those of the data."""
    worst_case = _worst_case_neighbours(plan)
    if worst_case is not None:
        yield worst_case
    if not plan.cores:
        return
    looked = look(neighbours, planner, plan, units, clock=clock)
    candidates: list[tuple[float, tuple[CoreRows, ...], tuple[CoreRows, ...]]] = []
    for one, other in looked.pairs(schema.privacy.neighbours == "replace"):
        first = _rows_if_complete(one)
        second = _rows_if_complete(other)
        if first is None or second is None:
            continue
        pairs = zip(plan.cores, first, second, strict=True)
        uses = [
            use
            for core, one_rows, other_rows in pairs
            for use in compare(core, one_rows, other_rows).uses
        ]
        candidates.append((largest_claim_use(uses), first, second))
    candidates.sort(key=lambda candidate: candidate[0], reverse=True)
    for index, (_, first, second) in enumerate(candidates[:PAIRS], 1):
        sides = [
            _changed(core, one_rows, other_rows)
            for core, one_rows, other_rows in zip(plan.cores, first, second, strict=True)
        ]
        one_side = tuple(one for one, _ in sides)
        other_side = tuple(other for _, other in sides)
        yield NeighbourRelease(
            f"the data and a neighbour, {index} of {PAIRS}", one_side, other_side, private=True
        )


def _rows_if_complete(exact: Exact) -> tuple[CoreRows, ...] | None:
    rows = tuple(core_rows for core_rows in exact if core_rows is not None)
    return rows if len(rows) == len(exact) else None


def _worst_case_neighbours(plan: Plan) -> NeighbourRelease | None:
    """Made-up rows of one group that differ by all that additive claims allow.

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
    one_by_key, other_by_key = ({repr(row[:width]): row for row in rows} for rows in (one, other))

    def change(key: str) -> tuple[bool, int]:
        one_row = one_by_key.get(key)
        other_row = other_by_key.get(key)
        if one_row is None or other_row is None:
            return True, 0
        numbers = zip(
            one_row[width : width + counts], other_row[width : width + counts], strict=True
        )
        moved = sum(abs(int(a) - int(b)) for a, b in numbers)  # type: ignore[call-overload]
        return one_row[width + counts :] != other_row[width + counts :], moved

    keys = sorted(
        one_by_key.keys() | other_by_key.keys(), key=lambda key: (change(key), key), reverse=True
    )[:GROUPS]
    return [one_by_key[key] for key in keys if key in one_by_key], [
        other_by_key[key] for key in keys if key in other_by_key
    ]


def _released(
    plan: Plan, rows: tuple[CoreRows, ...], pair: NeighbourRelease, draws: int, clock: AuditClock
) -> Outputs:
    """The features of many releases, made by the function that releases to analysts."""
    samples = []
    for index in range(draws):
        if index % 256 == 0:
            clock.check()
        released = release(ExactRows([list(row) for row in rows]), plan.cores, plan.confidence)
        samples.append(features(plan, released, pair.one, pair.other))
    return np.array(samples, float)


def _is_wide(core: CorePlan) -> bool:
    """Whether all noise of the core is Gaussian and many grid steps wide."""
    noises = [cell.mechanism for cell in core.cells]
    wide = all(isinstance(noise, Gaussian) and noise.variance >= _WIDE for noise in noises)
    return wide and not core.histograms and core.selection is None
