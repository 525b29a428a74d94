"""The plan of a synthetic table: the marginals that are read and measured, their noise and price.

Proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from dpsql.errors import Refused
from dpsql.planning.calibration import l1_sensitivity
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.ledger_note import choice_note, noise_note
from dpsql.planning.plan import CorePlan, MeasuredCell, Plan
from dpsql.planning.synthetic.model_columns import ModelColumn
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    Mechanism,
)
from dpsql.schema import Privacy
from dpsql.sql.analysis.contribution import Contribution, contribution, norm_of
from dpsql.sql.ir.core import Core, RowCount

#: The part of the price that measures each column alone,
#: and the part of the rest that chooses #: pairs.
ALONE_SHARE = Fraction(1, 4)
CHOICE_SHARE = Fraction(1, 10)
#: In how many rounds pairs are chosen, how many of them at most,
#: and how many columns a synthetic #: table may have.
ROUNDS = 3
MOST_PAIRS = 16
MOST_COLUMNS = 12


@dataclass(frozen=True)
class SyntheticPlan:
    """Everything that is read, chosen and measured for a synthetic table.

    `cost` is that of all mechanisms together. ``reading`` has a core for each column and then one
    for each pair of columns. ``alone`` is the noise of a column's counts, ``together`` that of a
    pair's. ``rounds`` tells how many pairs are measured in each round. ``choice`` chooses each of
    them; None if all pairs are measured. Counts are in steps of ``step``.
    """

    reading: Plan
    columns: tuple[ModelColumn, ...]
    pairs: tuple[tuple[int, int], ...]
    rounds: tuple[int, ...]
    alone: Mechanism
    together: Mechanism | None
    choice: Exponential | None
    step: Fraction

    @property
    def cost(self) -> Cost:
        """The sum over the counts of columns, the choices and the counts of pairs."""
        pair_cost = FREE if self.together is None else self.together.cost
        if self.choice is not None:
            pair_cost += self.choice.cost
        return sum([self.alone.cost] * len(self.columns) + [pair_cost] * self.measured, FREE)

    @property
    def measured(self) -> int:
        """How many pairs are measured at most."""
        return sum(self.rounds)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is read under the one charge."""
        return (self.reading,)

    def cells(self, marginal: Sequence[int]) -> int:
        """How many counts the marginal of these columns has."""
        result = 1
        for index in marginal:
            result *= self.columns[index].size
        return result


def synthetic_plan(
    text: str,
    columns: Sequence[ModelColumn],
    core_of: Callable[[Sequence[ModelColumn]], CorePlan],
    privacy: Privacy,
    price: Fraction,
) -> SyntheticPlan:
    """The plan of a synthetic table at a price.

    Args:
        text: The statement.
        columns: The columns of the table.
        core_of: The core that counts the rows for each value of some columns.
        privacy: With the noise of the statement.
        price: The ε of the statement: of Gaussian noise ρ = ε²/2, of Laplace noise ε.

    Raises:
        Refused: There are too many columns,
            or the price asks for noise that cannot be drawn exactly.
    """
    if len(columns) > MOST_COLUMNS:
        raise Refused("E_LIMITS", f"a synthetic table has at most {MOST_COLUMNS} columns")
    pairs = tuple(combinations(range(len(columns)), 2))
    measured = min(len(pairs), 2 * (len(columns) - 1), MOST_PAIRS)
    drafts = [
        core_of([columns[index] for index in marginal]) for marginal in (*_single(columns), *pairs)
    ]
    bounds = [contribution(draft.core, RowCount(None, None), "l1") for draft in drafts]
    assert len({bound.step for bound in bounds}) == 1, "all counts have the same steps"
    moved = max(l1_sensitivity(bound, privacy.neighbours) for bound in bounds)
    pure = norm_of(privacy) == "l1"
    chooses = measured < len(pairs)
    pairs_share = Fraction(1) - (ALONE_SHARE if pairs else 1)
    try:
        alone = _noise(moved, price, (1 - pairs_share) / len(columns), pure)
        together = None
        choice = None
        if pairs:
            pair_share = pairs_share / measured
            together = _noise(
                moved, price, pair_share * (1 - CHOICE_SHARE) if chooses else pair_share, pure
            )
            choice = _choice(moved, price, pair_share * CHOICE_SHARE, pure) if chooses else None
    except ValueError:
        raise Refused(
            "E_BOUNDS", "the noise at this price is beyond exact sampling; raise PRICE"
        ) from None
    noises = [alone] * len(columns) + [together or alone] * len(pairs)
    cores = tuple(
        _counting(*draft_bound_noise)
        for draft_bound_noise in zip(drafts, bounds, noises, strict=True)
    )
    reading = Plan(
        text,
        cores,
        derived=(),
        postprocessing="",
        public=(),
        columns=(),
        price=price,
        confidence=float(privacy.confidence),
    )
    return SyntheticPlan(
        reading,
        tuple(columns),
        pairs=pairs,
        rounds=_rounds(measured, chooses),
        alone=alone,
        together=together,
        choice=choice,
        step=bounds[0].step,
    )


def _single(columns: Sequence[ModelColumn]) -> list[tuple[int]]:
    return [(index,) for index in range(len(columns))]


def _rounds(measured: int, chooses: bool) -> tuple[int, ...]:
    """How many pairs each round measures; one round measures all where none is chosen."""
    if not chooses:
        return (measured,) if measured else ()
    pairs_per_round = -(-measured // ROUNDS)
    return tuple(
        min(pairs_per_round, measured - start) for start in range(0, measured, pairs_per_round)
    )


def _counting(draft: CorePlan, bounded: Contribution, noise: Mechanism) -> CorePlan:
    """The core with its count of rows alone, in which a unit's part is held to a norm in L1."""
    core: Core = draft.core
    return CorePlan(
        core,
        (MeasuredCell(bounded, noise),),
        histograms=(),
        selection=None,
        estimates=(SingleCell(0),),
        norm="l1",
        kept_groups=None,
        dialect=draft.dialect,
    )


def _noise(moved: int, price: Fraction, share: Fraction, pure: bool) -> Mechanism:
    """The noise of the counts of a marginal.

    One unit moves them by at most ``moved`` in L1, and so in L2.
    """
    if pure:
        return Laplace.for_epsilon(moved, price * share)
    return Gaussian.for_rho(moved**2, price**2 / 2 * share)


def _choice(moved: int, price: Fraction, share: Fraction, pure: bool) -> Exponential:
    """The choice of a pair.

    One unit moves each score by at most ``moved``, up or down, so two move apart by twice that.
    """
    if pure:
        return ExponentialMechanism.for_epsilon(2 * moved, price * share)
    return ConcentratedExponential((2 * moved) ** 2, price**2 / 2 * share)


def marginals_note(plan: SyntheticPlan) -> list[dict[str, object]]:
    """The ledger's note of a synthetic table: counts of columns, choices and counts of pairs."""
    step = str(plan.step)
    alone = f"counts of each of {len(plan.columns)} columns"
    cells: list[dict[str, object]] = [{"measures": alone, **noise_note(plan.alone), "step": step}]
    if plan.choice is not None:
        chosen = f"choice of {plan.measured} of {len(plan.pairs)} pairs of columns"
        cells.append({"measures": chosen, **choice_note(plan.choice), "step": step})
    if plan.together is not None:
        cells.append(
            {
                "measures": f"counts of {plan.measured} pairs of columns",
                **noise_note(plan.together),
                "step": step,
            }
        )
    return [{"cells": cells, "threshold": None}]
