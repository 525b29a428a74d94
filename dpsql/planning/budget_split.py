"""The split of a statement's price over its cores and their cells.

Each cell gets its noise by its share. Proved in ``docs/proofs/execution.md`` and
``docs/proofs/key_weights.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import Refused
from dpsql.planning.calibration import key_threshold, mechanism
from dpsql.planning.cell_choice import COUNTS, EVIDENCE_SHARE, CellChoice, choose_cells
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.estimators.histogram import measured_histogram
from dpsql.planning.plan import APPEARS, ORDERED_KINDS, CorePlan, GroupPresence, MeasuredCell
from dpsql.privacy.partition_selection import WHOLE, KeyWeights
from dpsql.schema import Privacy
from dpsql.sql.analysis.contribution import Contribution, Norm, contribution, kept_groups, norm_of
from dpsql.sql.binder.bind import Query
from dpsql.sql.emit import Dialect
from dpsql.sql.ir.core import Cell, Core, UnitCount
from dpsql.sql.ir.relation import groups_in

#: The part of a thresholded core's price that chooses its keys. Where its count of units is asked
#: for, it is an aggregate like others, and gets no less than a cell.
SELECTION_SHARE = Fraction(1, 3)
#: In how many groups a unit weighs at least, where keys are chosen by weight.
WEIGHED_GROUPS = 128
#: The part of a statement's price that counts what it leaves out, where that is asked for.
BESIDE_SHARE = Fraction(1, 10)
#: A count of units is bought beside one of rows where its noise is so many times smaller:
#: it tells #: of smaller groups.
CLEARER = 3
#: A thresholded statement may use this part of the δ that is set aside for thresholds.
DELTA_SHARE = Fraction(1, 100)


def plan_cores(
    query: Query,
    dialect: Dialect,
    privacy: Privacy,
    epsilon: Fraction,
    delta_selection: Fraction,
    attached: tuple[Core, ...] = (),
) -> tuple[CorePlan, ...]:
    """The planned cores of a query, with ``epsilon`` split over them by the weight of their cells.

    The cores ``attached`` get `BESIDE_SHARE` of it together. ``dialect`` is that of the engine that
    will run them. Key thresholds share the ``query_delta`` of ``privacy``, or `DELTA_SHARE` of
    ``delta_selection`` if there is none, and no more than the statement itself allows. Raises
    Refused (E_KEY) if keys need a threshold and ``delta_selection`` is 0, or the statement wants
    public keys.
    """
    norm = norm_of(privacy)
    needed = query.evident
    drafts = [
        _CoreDraft(
            core, choose_cells(core, norm, _evidence(core, norm) if index in needed.counted else ())
        )
        for index, core in enumerate(query.cores)
    ]
    drafts += [_CoreDraft(core, choose_cells(core, norm)) for core in attached]
    thresholded = sum(draft.thresholded for draft in drafts)
    if thresholded and delta_selection == 0:
        need = (
            "a budget with delta"
            if privacy.delta == 0
            else f"a part of delta, and {privacy.accountant.title} leaves none"
        )
        raise Refused(
            "E_KEY",
            f"group keys that the schema does not declare need {need}; declare `values` "
            "for the key's columns, or group by a public table",
        )
    delta = (
        privacy.query_delta if privacy.query_delta is not None else delta_selection * DELTA_SHARE
    )
    if query.options is not None:
        if thresholded and query.options.public_groups:
            raise Refused(
                "E_KEY",
                "PUBLIC_GROUPS needs public keys; declare `values` for the key's columns, or group "
                "by a public table",
            )
        delta = delta if query.options.delta is None else min(delta, query.options.delta)
    asked = len(query.cores)
    total, other = (
        sum((draft.weight for draft in group), Fraction(0))
        for group in (drafts[:asked], drafts[asked:])
    )
    shares = [
        draft.weight / total * (1 - BESIDE_SHARE if attached else 1) for draft in drafts[:asked]
    ]
    shares += [draft.weight / other * BESIDE_SHARE for draft in drafts[asked:]]
    cores = tuple(
        _plan_core(
            draft,
            dialect,
            norm=norm,
            privacy=privacy,
            epsilon=epsilon,
            share=share,
            delta=delta / max(thresholded, 1),
        )
        for draft, share in zip(drafts, shares, strict=True)
    )
    counted = [index for index in sorted(needed.asked) if drafts[index].choice.counts]
    presences = {
        index: _presence(drafts[index], cores[index], len(counted), index in needed.released)
        for index in counted
    }
    return tuple(replace(core, presence=presences.get(index)) for index, core in enumerate(cores))


@dataclass(frozen=True)
class _CoreDraft:
    """A core with its cells chosen, before anything is priced."""

    core: Core
    choice: CellChoice

    @property
    def thresholded(self) -> bool:
        return bool(self.core.keys) and self.core.domain is None

    @property
    def counts_units(self) -> bool:
        """Whether the count of units that chooses the keys is asked for."""
        return self.thresholded and SingleCell(len(self.choice.cells)) in self.choice.estimates

    @property
    def selection_weight(self) -> Fraction:
        """The selection's weight beside that of the cells."""
        if not self.thresholded:
            return Fraction(0)
        share = self.choice.bought * SELECTION_SHARE / (1 - SELECTION_SHARE)
        return max(share, Fraction(1)) if self.counts_units or not share else share

    def weights(self, groups: int, norm: Norm) -> KeyWeights | None:
        """The weights by which keys are chosen, if they are weighed.

        They are if a unit has several keys and no number of units is asked for.
        """
        if self.counts_units or groups == 1:
            return None
        return KeyWeights(min(max(groups, WEIGHED_GROUPS), WHOLE), norm == "l2")

    @property
    def weight(self) -> Fraction:
        return self.choice.bought + self.selection_weight


def _plan_core(
    draft: _CoreDraft,
    dialect: Dialect,
    norm: Norm,
    privacy: Privacy,
    epsilon: Fraction,
    share: Fraction,
    delta: Fraction,
) -> CorePlan:
    core = draft.core
    unit_share = share / draft.weight
    contributions = tuple(contribution(core, cell, norm) for cell in draft.choice.cells)
    cells = tuple(
        MeasuredCell(
            bounded,
            mechanism(bounded, norm, privacy.neighbours, epsilon, share=unit_share * weight),
        )
        for bounded, weight in zip(contributions, draft.choice.weights, strict=True)
    )
    binned = tuple(contribution(core, cell, norm) for cell in draft.choice.histograms)
    histograms = tuple(
        measured_histogram(
            bounded,
            draft.choice.asked(index),
            norm,
            privacy.neighbours,
            epsilon=epsilon,
            share=unit_share * draft.choice.weight(index),
        )
        for index, bounded in enumerate(binned)
    )
    groups = kept_groups(core) if draft.thresholded else None
    selection = None
    if groups is not None:
        selection_share = unit_share * draft.selection_weight
        weights = draft.weights(groups, norm)
        selection = key_threshold(
            groups,
            norm,
            neighbours=privacy.neighbours,
            epsilon=epsilon,
            share=selection_share,
            delta=delta,
            weights=weights,
        )
        groups = groups if weights is None else weights.most
    return CorePlan(
        core,
        cells,
        histograms=histograms,
        selection=selection,
        estimates=draft.choice.estimates,
        norm=norm,
        kept_groups=groups,
        dialect=dialect,
    )


def _evidence(core: Core, norm: Norm) -> tuple[Cell, ...]:
    """The counts that are good evidence of the core's groups if an aggregate measures them.

    A count of rows is not good evidence if a count of units has much less noise for its part of the
    price. If all keys are declared, a count of rows is good enough, so that those who read the
    groups together share a release with others.
    """
    if groups_in(core.relation) is not None:
        return COUNTS[:1]
    if core.domain is not None and all(core.domain.declared):
        return COUNTS
    rows, units = (_moved(contribution(core, cell, norm), norm) for cell in (COUNTS[0], COUNTS[-1]))
    times = CLEARER if norm == "l1" else CLEARER**2
    return COUNTS if rows * EVIDENCE_SHARE < units * times else COUNTS[-1:]


def _moved(bounded: Contribution, norm: Norm) -> Fraction:
    """By how much a unit moves a count, in L1 or squared in L2.

    The noise of the count at a price grows with this.
    """
    return Fraction(bounded.limit, bounded.fine ** (1 if norm == "l1" else 2))


def _presence(draft: _CoreDraft, plan: CorePlan, among: int, released: bool) -> GroupPresence:
    """The evidence of one core: the count that one unit moves least.

    ``among`` is the number of its statement's cores that have evidence.
    """
    moved = {
        count: _moved(plan.cells[count].contribution, plan.norm) for count in draft.choice.counts
    }
    cell = min(
        moved,
        key=lambda candidate: (
            moved[candidate],
            isinstance(plan.cells[candidate].contribution.cell, UnitCount),
        ),
    )
    blocks = any(key.type.kind in ORDERED_KINDS for key in draft.core.keys)
    return GroupPresence(cell, plan.cells[cell].mechanism, APPEARS / among, released, blocks=blocks)
