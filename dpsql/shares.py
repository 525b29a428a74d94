"""How the price of a statement is split over its cores and their cells, each of which gets its noise by its share.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.cells import Choice, choose_cells
from dpsql.errors import Refused
from dpsql.histogram import measured_histogram
from dpsql.plan import CorePlan, MeasuredCell
from dpsql.query.bind import Query
from dpsql.query.contribution import Norm, contribution, kept_groups, norm_of
from dpsql.query.relation import Core
from dpsql.schema import Privacy
from dpsql.sensitivity import key_threshold, mechanism

#: The part of a thresholded core's price that chooses its keys; its count of units, once bought, costs no more.
SELECTION_SHARE = Fraction(1, 5)
#: The part of a statement's price that counts what it leaves out, where that is asked for.
BESIDE_SHARE = Fraction(1, 10)
#: A thresholded statement may use this part of the δ that is set aside for thresholds.
DELTA_SHARE = Fraction(1, 100)


def plan_cores(
    query: Query, privacy: Privacy, epsilon: Fraction, delta_selection: Fraction, beside: tuple[Core, ...] = ()
) -> tuple[CorePlan, ...]:
    """The cores of a statement priced ``epsilon``, which is split over them by the weight of their cells.

    Those ``beside`` get `BESIDE_SHARE` of it together.
    """
    norm = norm_of(privacy)
    drafts = [_Draft(core, choose_cells(core)) for core in (*query.cores, *beside)]
    thresholded = sum(draft.thresholded for draft in drafts)
    if thresholded and delta_selection == 0:
        need = "a budget with delta" if privacy.delta == 0 else "a part of delta, and advanced composition leaves none"
        raise Refused("E_KEY", f"group keys that the schema does not declare need {need}; declare `values` "
                      "for the key's columns, or group by a public table")  # fmt: skip
    delta = privacy.query_delta if privacy.query_delta is not None else delta_selection * DELTA_SHARE
    if query.options is not None:
        if thresholded and query.options.public_groups:
            raise Refused("E_KEY", "PUBLIC_GROUPS needs public keys; declare `values` for the key's columns, or group "
                          "by a public table")  # fmt: skip
        delta = delta if query.options.delta is None else min(delta, query.options.delta)
    asked = len(query.cores)
    whole, other = (sum((draft.weight for draft in part), Fraction(0)) for part in (drafts[:asked], drafts[asked:]))
    shares = [draft.weight / whole * (1 - BESIDE_SHARE if beside else 1) for draft in drafts[:asked]]
    shares += [draft.weight / other * BESIDE_SHARE for draft in drafts[asked:]]
    return tuple(
        _plan_core(draft, norm, privacy, epsilon, share, delta / max(thresholded, 1))
        for draft, share in zip(drafts, shares, strict=True)
    )


@dataclass(frozen=True)
class _Draft:
    """A core with its cells chosen, before anything is priced."""

    core: Core
    choice: Choice

    @property
    def thresholded(self) -> bool:
        return bool(self.core.keys) and self.core.domain is None

    @property
    def selection_weight(self) -> Fraction:
        """The selection's weight beside that of the cells."""
        if not self.thresholded:
            return Fraction(0)
        cells = self.choice.bought
        return cells * SELECTION_SHARE / (1 - SELECTION_SHARE) if cells else Fraction(1)

    @property
    def weight(self) -> Fraction:
        return self.choice.bought + self.selection_weight


def _plan_core(
    draft: _Draft, norm: Norm, privacy: Privacy, epsilon: Fraction, share: Fraction, delta: Fraction
) -> CorePlan:
    core, each = draft.core, share / draft.weight
    contributions = tuple(contribution(core, cell, norm) for cell in draft.choice.cells)
    cells = tuple(
        MeasuredCell(bounded, mechanism(bounded, norm, privacy.neighbours, epsilon, each)) for bounded in contributions
    )
    binned = tuple(contribution(core, cell, norm) for cell in draft.choice.histograms)
    histograms = tuple(
        measured_histogram(
            bounded, draft.choice.asked(place), norm, privacy.neighbours, epsilon, each * draft.choice.weight(place)
        )
        for place, bounded in enumerate(binned)
    )
    groups = kept_groups(core) if draft.thresholded else None
    selection = None
    if groups is not None:
        part = each * draft.selection_weight
        selection = key_threshold(groups, norm, privacy.neighbours, epsilon, part, delta)
    return CorePlan(core, cells, histograms, selection, draft.choice.estimates, norm, groups)
