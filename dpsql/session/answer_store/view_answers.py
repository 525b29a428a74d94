"""Answers cores from views: finds them, evaluates conditions over their keys,
and combines their noisy cells.

The cells of a coarser GROUP BY are added up in `view_estimates`;
`planning.view_matching` says whether they may be.

Which views are read is decided from plans alone. Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.view_matching import is_asked_of_views
from dpsql.release.combined_tables import combined_table
from dpsql.release.linear_estimates import NO_ROWS, LinearEstimate, added, shared_noise
from dpsql.release.released_tables import Released, ReleasedTable
from dpsql.session.answer_store.given_answers import Sources
from dpsql.session.answer_store.view_estimates import EstimatedCore, Estimates, Evaluate, GroupKey
from dpsql.session.answer_store.view_index import ViewIndex
from dpsql.sql.analysis.grouping_levels import Cube, KeyPlaces
from dpsql.sql.ir.core import ClampedSum, ProductSum, RowCount

#: People are told how to buy a better answer where the noise of the free one is more than so many
#: times as large.
LESS_EXACT = 2
#: REFINE buys nothing where the noise is at most so many times that which the price buys;
#: prices #: are so fine.
NEARLY_AS_EXACT = 1.05
PRICE_STEPS = 1000


@dataclass(frozen=True)
class ViewAnswer:
    """A released plan that is made of earlier answers: their ledger entries, and its precision.

    ``ratio`` is the largest standard deviation of a cell, as a multiple of what the plan's price
    would buy. ``bought`` names the cells that were bought because no earlier answer tells them.
    ``cell_sources`` are the views that tell each cell, ``last_entry`` is the last of their ledger
    entries. ``was_given`` is true if the same answer was given before; ``offer`` is the notice that
    newer answers tell it more exactly.
    """

    released: Released
    said: tuple[str, ...]
    ratio: float
    may_clip: bool
    bought: tuple[str, ...] = ()
    cell_sources: Sources = ()
    last_entry: int = 0
    left_out: frozenset[str] = frozenset()
    was_given: bool = False
    offer: tuple[str, ...] = ()

    @property
    def missing(self) -> Fraction:
        """The part of the plan's price that buys the missing precision; 0 if next to nothing is missing.

        Precision grows with the square of the price, and the precisions of independent estimates
        add up.
        """
        if self.ratio <= NEARLY_AS_EXACT:
            return Fraction(0)
        return Fraction(math.ceil(PRICE_STEPS * math.sqrt(1 - 1 / self.ratio**2)), PRICE_STEPS)

    @property
    def sources(self) -> str:
        """Which earlier answers it is made of."""
        return f"made of earlier answers: {'; '.join(self.said)}"

    def said_before(self, refine: bool) -> tuple[str, ...]:
        """What EXPLAIN says of it: which answers tell it, and how exactly."""
        if refine and self.missing:
            return (f"what is missing is bought and combined with what is {self.sources}",)
        exact = f"errors below are those of a new answer; its own are up to {self.ratio:.2g} times as large"
        return f"free, as it is {self.sources}", exact, *self.offer

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for the analyst: the answers it is made of, its precision, and what buys a better one."""
        notices = [
            f"{self.sources}; bought: {', '.join(self.bought)}" if self.bought else self.sources
        ]
        if self.left_out:
            keys = " and ".join(sorted(self.left_out))
            notices.append(
                f"rows with values of {keys} that the schema does not give, if there are any, are in no group that is "
                "added up; SET dpsql.reuse = off before the statement buys an answer that counts them"
            )
        if self.may_clip:
            notices.append("units above the limits of the schema are clipped as in these answers")
        if self.ratio > LESS_EXACT:
            better = "a new answer" if self.left_out else "the difference"
            notices.append(
                f"its noise is {self.ratio:.2g} times what the price of a new answer buys; REFINE before the "
                f"statement buys {better}"
            )
        return (*notices, *self.offer)

    def given_before(self, present: ViewAnswer) -> ViewAnswer:
        """The answer as one that was given before,
        with an offer if the answers at present tell it more exactly.
        """
        if (
            self.ratio <= NEARLY_AS_EXACT * present.ratio or present.left_out
        ):  # of which REFINE reads nothing
            return replace(self, was_given=True)
        effect = "buys what is missing to it" if present.missing else "gives it for nothing"
        notice = (
            "this is the answer that was given before; by later ones it is told with "
            f"{present.ratio / self.ratio:.2g} times its noise: REFINE before the statement {effect}"
        )
        return replace(self, was_given=True, offer=(notice,))


@dataclass(frozen=True)
class FoundCore:
    """What is known of one core: estimates of all of its cells, in its groups,
    whose keys go by their ranks.
    """

    core: EstimatedCore
    cells: tuple[Estimates, ...]
    groups: Mapping[Any, GroupKey]

    @property
    def evidence(self) -> Estimates | None:
        """The count by which groups without rows are told, where they are."""
        presence = self.core.plan.presence
        return None if presence is None else self.cells[presence.cell]


def answer_of_views(
    plan: Plan,
    index: ViewIndex,
    version: str,
    evaluate: Evaluate,
    given_sources: Sources | None = None,
    complete: bool = False,
) -> ViewAnswer | None:
    """The plan's release as views tell it; None where some cell of it is told by none.

    With ``given_sources`` it is told by these views, as far as they are still kept. If it shall be
    ``complete``, no view is read that may leave out rows which the plan counts.
    """
    if plan.derived or not plan.cores:
        return None
    found_cores: list[FoundCore] = []
    if given_sources is not None and len(given_sources) != len(plan.cores):
        return None
    for number, core in enumerate(plan.cores):
        if not is_asked_of_views(core):
            return None
        known = None if given_sources is None else given_sources[number]
        first = EstimatedCore(core, index.views(core, version), index, evaluate, given=known)
        of_core = _found(first)
        for beyond in [] if complete or of_core is not None else sorted(first.others, key=sorted):
            of_core = of_core or _found(
                EstimatedCore(core, first.views, index, evaluate, given=known, beyond=beyond)
            )
        if of_core is None:
            return None
        found_cores.append(of_core)
    for cube in plan.cubes:
        for level in cube.levels:
            if cube.finest is not None and level.core is not None and level.core != cube.finest:
                found_cores[level.core] = _summed(
                    found_cores[level.core], found_cores[cube.finest], _places(cube, level.keys)
                )
    sources = tuple(
        tuple(found_core.core.sources[cell_index] for cell_index in range(len(found_core.cells)))
        for found_core in found_cores
    )
    return assembled(plan, found_cores, sources)


def _found(asked: EstimatedCore) -> FoundCore | None:
    """What views tell of a core; None where some cell of it is told by none."""
    cells = asked.cells() if asked.views else [None]
    known_cells = tuple(cell for cell in cells if cell is not None)
    return FoundCore(asked, known_cells, asked.groups) if len(known_cells) == len(cells) else None


def _places(cube: Cube, keys: KeyPlaces) -> tuple[int, ...]:
    """The indexes of a level's keys among those of the finest level."""
    finest_keys = next(level.keys for level in cube.levels if level.core == cube.finest)
    return tuple(finest_keys.index(key) for key in keys)


def _summed(coarse: FoundCore, finest: FoundCore, places: tuple[int, ...]) -> FoundCore:
    """A level of a cube whose counts and sums of rows are those of the groups of the finest
    level.
    """
    known = [measurement.contribution.cell for measurement in finest.core.plan.cells]
    groups = dict(coarse.groups)
    cells = list(coarse.cells)
    for name, key in finest.groups.items():
        groups.setdefault(
            tuple(name[index] for index in places), tuple(key[index] for index in places)
        )
    for index, measured in enumerate(coarse.core.plan.cells):
        cell = measured.contribution.cell
        if cell in known and isinstance(cell, RowCount | ClampedSum | ProductSum):
            estimates_of_group = {name: list[LinearEstimate]() for name in groups}
            for name, estimate in finest.cells[known.index(cell)].items():
                estimates_of_group[tuple(name[at] for at in places)].append(estimate)
            cells[index] = {name: added(parts) for name, parts in estimates_of_group.items()}
    return FoundCore(coarse.core, tuple(cells), groups)


def assembled(
    plan: Plan,
    tables_of_cores: Sequence[FoundCore | ReleasedTable],
    sources: Sources,
    bought: tuple[str, ...] = (),
) -> ViewAnswer:
    """The tables of all cores, whose noise is told in parts that they share;
    those that were bought whole as they are.

    ``bought`` are the cells that no view told, in words.
    """
    found_cores = [
        found_core for found_core in tables_of_cores if isinstance(found_core, FoundCore)
    ]
    listed: list[LinearEstimate] = []
    shapes: list[tuple[list[Any], list[list[LinearEstimate]], list[LinearEstimate]]] = []
    for found_core in found_cores:
        names = sorted(found_core.groups)
        cells = [[cell.get(name, NO_ROWS) for cell in found_core.cells] for name in names]
        evidence = (
            []
            if found_core.evidence is None
            else [found_core.evidence.get(name, NO_ROWS) for name in names]
        )
        shapes.append((names, cells, evidence))
        listed += [estimate for row in cells for estimate in row] + evidence
    noise, weights = shared_noise(listed)
    at = 0
    tables = list[ReleasedTable]()
    ratio = 0.0
    for found_core, (names, cells, evidence) in zip(found_cores, shapes, strict=True):
        core = found_core.core.plan
        width = len(found_core.cells)
        cell_weights = [
            tuple(weights[at + width * row : at + width * (row + 1)]) for row in range(len(names))
        ]
        at += width * len(names)
        evidence_weights = weights[at : at + len(evidence)]
        at += len(evidence)
        keys = [found_core.groups[name] for name in names]
        tables.append(
            combined_table(
                core,
                keys,
                cells=[tuple(row) for row in cells],
                evidence=evidence,
                noise=noise,
                weights=cell_weights,
                evidence_weights=evidence_weights,
                confidence=plan.confidence,
            )
        )
        ratio = max(ratio, _ratio(core, cells))
    made_of = iter(tables)
    all_tables = tuple(
        next(made_of) if isinstance(found_core, FoundCore) else found_core
        for found_core in tables_of_cores
    )
    may_clip = any(not found_core.core.normal.unit_has_one_row for found_core in found_cores)
    entries = entries_said([found_core.core for found_core in found_cores])
    last = max(
        (view.entry for found_core in found_cores for view in found_core.core.used), default=0
    )
    left_out = frozenset(name for found_core in found_cores for name in found_core.core.left_out)
    return ViewAnswer(
        Released(all_tables),
        entries,
        ratio=ratio,
        may_clip=may_clip,
        bought=bought,
        cell_sources=sources,
        last_entry=last,
        left_out=left_out,
    )


def _ratio(core: CorePlan, cells: Sequence[Sequence[LinearEstimate]]) -> float:
    """The largest standard deviation of a cell as a multiple of that of the plan's own noise."""
    return max(
        (ratio(core, index, [row[index] for row in cells]) for index in range(len(core.cells))),
        default=0.0,
    )


def ratio(core: CorePlan, index: int, estimates: Iterable[LinearEstimate]) -> float:
    """The largest standard deviation of one cell's estimates as a multiple of that of the plan's
    own noise.
    """
    measured = core.cells[index]
    noise = float(measured.mechanism.standard_deviation) * float(measured.contribution.step)
    variance = max((estimate.variance for estimate in estimates), default=0.0)
    if noise:
        return float(variance**0.5 / noise)
    return math.inf if variance else 0.0


def entries_said(cores: Iterable[EstimatedCore]) -> tuple[str, ...]:
    """The ledger entries whose releases tell of the cores, each with the keys of its groups."""
    views = sorted({(view.entry, view.said) for core in cores for view in core.used})
    return tuple(f"entry {entry} of the ledger ({description})" for entry, description in views)
