"""The plan of a synopsis: marginals of its keys, their parts of the price, and errors of queries.

A query's variance is 1 / Σ precision · weight, over the marginals that tell it. The sum of the
logarithms of the variances is convex in the weights. ResidualPlanner (Xiao, He, Zhang, Kifer: An
optimal and scalable matrix mechanism for noisy marginals under convex loss functions, NeurIPS 2023)
minimises convex functions of the variances over all linear Gaussian mechanisms; here one is
minimised over noisy marginals that are measured as they are.

Decided from plans alone. Proved in ``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.calibration import mechanism
from dpsql.planning.plan import CorePlan, MeasuredCell, Plan
from dpsql.planning.view_matching import CellMatch, StoredView, match
from dpsql.privacy.mechanism import Gaussian, Mechanism
from dpsql.schema import Privacy
from dpsql.sql.analysis.normal_form import NormalCell, NormalCore, counted
from dpsql.sql.analysis.quantisation import quantum

#: How often weights are improved, and how often queries that came off worse are given more
#: importance.
STEPS = 400
ROUNDS = 60
#: Weights are multiples of this; a marginal of a smaller weight is not measured.
GRAIN = Fraction(1, 4096)
_TRIED = 64


def least_variances(
    precisions: NDArray[np.float64], importance: NDArray[np.float64], power: int = 1
) -> NDArray[np.float64]:
    """The weights, with the sum 1, that make the queries' variances small, by their importance.

    ``precisions`` has a row for each query, with the precision that each marginal gives it at the
    whole price. With ``power`` 1 the geometric mean is made small, by expectation maximisation for
    the weights of a mixture, and with 2 the sum, by the multiplicative algorithm for designs (Yu:
    Monotonic convergence of a general algorithm for computing optimal designs, 2010). No step of
    either makes it larger.

    >>> [round(float(each), 3) for each in least_variances(np.array([[1, 0], [4, 0], [0, 9.0]]), np.ones(3))]
    [0.667, 0.333]
    """
    weights = np.full(precisions.shape[1], 1.0 / precisions.shape[1])
    for _ in range(STEPS):
        matched_cell = precisions @ weights
        weights *= ((importance / matched_cell**power) @ precisions) ** (1 / power)
        weights /= weights.sum()
    return weights


def variances(
    precisions: NDArray[np.float64], weights: NDArray[np.float64], power: int, most: int
) -> NDArray[np.float64]:
    """The variance of each query from the ``most`` most exact of its estimates.

    The precision of a marginal grows with its weight (``power`` 1, Gaussian noise) or with its
    square (2, Laplace).
    """
    combined = np.sort(precisions * weights**power, axis=1)[:, -most:]
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / combined.sum(axis=1), dtype=np.float64)


def chosen_weights(
    precisions: NDArray[np.float64],
    separate: NDArray[np.float64],
    bound: NDArray[np.float64],
    importance: NDArray[np.float64],
    power: int,
    most: int,
) -> tuple[Fraction, ...]:
    """Weights with the sum 1 by which no query has a variance above its bound.

    The ``separate`` weights keep the bounds. A marginal that tells two queries three quarters as
    well as each one's own is measured alone:

    >>> three = np.array([[1.0, 0.0, 0.75], [0.0, 1.0, 0.75]])
    >>> chosen = chosen_weights(three, np.array([0.5, 0.5, 0.0]), np.full(2, 2.0), np.ones(2), 1, 4)
    >>> [str(each) for each in chosen]
    ['0', '0', '1']
    """
    candidates = [
        _within(
            precisions,
            separate,
            bound=bound,
            importance=importance / bound ** (loss - 1),
            power=power,
            most=most,
            loss=loss,
        )
        for loss in (1, 2)
    ]

    def mean(weights: tuple[Fraction, ...]) -> float:
        matched_cell = variances(precisions, np.array(weights, dtype=np.float64), power, most)
        return float(importance @ np.log(matched_cell / bound))

    return min(candidates, key=mean)


def _within(
    precisions: NDArray[np.float64],
    separate: NDArray[np.float64],
    bound: NDArray[np.float64],
    importance: NDArray[np.float64],
    power: int,
    most: int,
    loss: int,
) -> tuple[Fraction, ...]:
    """Weights that keep the bounds.

    Queries above their bound get more importance. The separate weights are mixed in until all are
    kept.
    """
    for _ in range(ROUNDS):
        weights = least_variances(precisions, importance, loss)
        ratio = variances(precisions, weights, power, most) / bound
        if np.all(ratio <= 1):
            break
        importance = importance * np.maximum(ratio, 1) ** 0.7
    for index in range(_TRIED, 0, -1):
        mixed = _rounded_to_grain(weights * (index / _TRIED) + separate * (1 - index / _TRIED))
        if np.all(
            variances(precisions, np.array(mixed, dtype=np.float64), power, most)
            <= bound * (1 + 1e-9)
        ):
            return mixed
    return _rounded_to_grain(separate, GRAIN / 2**20)


def _rounded_to_grain(
    weights: NDArray[np.float64], grain: Fraction = GRAIN
) -> tuple[Fraction, ...]:
    """The weights as multiples of the grain with the sum 1.

    The largest takes the rest of rounding.
    """
    rounded = [Fraction(round(weight / float(grain))) * grain for weight in weights]
    largest = max(range(len(rounded)), key=rounded.__getitem__)
    rounded[largest] = 1 - sum(rounded[:largest] + rounded[largest + 1 :], Fraction(0))
    return tuple(rounded)


@dataclass(frozen=True)
class Marginal:
    """A core that a synopsis may measure: its plan at the whole price, its view and its groups.

    ``keys`` and ``measures`` are the indices of its own among those of the synopsis; None for a
    statement's own core.
    """

    plan: CorePlan
    view: StoredView
    groups: int
    keys: frozenset[int] | None = None
    measures: tuple[int, ...] = ()


@dataclass(frozen=True)
class WorkloadQuery:
    """A cell of a statement that a synopsis is bought for.

    It has its variance at the whole price by each marginal. A variance is infinite if the marginal
    does not tell the cell. ``own`` is the variance of a purchase of the statement alone, at the
    whole price.
    """

    statement: int
    variances: tuple[float, ...]
    own: float


@dataclass(frozen=True)
class MeasuredPart:
    """A marginal that is measured, with its part of the price."""

    marginal: Marginal
    share: Fraction


@dataclass(frozen=True)
class ExpectedError:
    """The noise of a statement as a standard deviation, by the synopsis and by a separate purchase.

    The purchase is for an equal part. Both are multiples of the noise of a purchase at the whole
    price: the root of the mean over its cells.
    """

    statement: int
    by_synopsis: float
    separate: float


@dataclass(frozen=True)
class SynopsisPlan:
    """A synopsis before it is charged: the plan that measures its marginals, and what they are."""

    plan: Plan
    parts: tuple[MeasuredPart, ...]
    errors: tuple[ExpectedError, ...]


def matched_cell(
    core: NormalCore, cell: NormalCell, rows: int, view: StoredView
) -> tuple[CellMatch, float] | None:
    """How a view tells a cell, with the variance of one group's part of it; None if it does not.

    A sum from the middle of the bounds is told by the sum and the count, and the other way round.
    """
    direct = match(core, cell, rows, view)
    if direct is not None:
        return direct, scale(direct.cell.noise, direct.cell.step)
    if cell.kind not in ("sum", "centred sum"):
        return None
    other = replace(cell, kind="centred sum" if cell.kind == "sum" else "sum")
    total = match(core, other, rows, view)
    count = match(core, counted(cell.arguments[0], cell.conditions), rows, view)
    if total is None or count is None:
        return None
    grid = quantum(cell.arguments[0])
    shift = float(grid.middle * grid.size)
    noise = scale(total.cell.noise, total.cell.step)
    return total, noise + shift**2 * scale(count.cell.noise, count.cell.step)


def scale(noise: Mechanism, step: Fraction) -> float:
    """The variance of the continuous law of the noise.

    It is above 0, and in proportion to a power of its price.
    """
    return noise.continuous_variance * float(step) ** 2


def with_share(core: CorePlan, share: Fraction, privacy: Privacy, price: Fraction) -> CorePlan:
    """The core at a share of the price, which its cells split as before.

    Its groups need no evidence.
    """
    prices = [_price(cell) for cell in core.cells]
    total = sum(prices, Fraction(0))
    cells = tuple(
        replace(
            cell,
            mechanism=mechanism(
                cell.contribution, core.norm, privacy.neighbours, price, share=share * other / total
            ),
        )
        for cell, other in zip(core.cells, prices, strict=True)
    )
    return replace(core, cells=cells, presence=None)


def _price(cell: MeasuredCell) -> Fraction:
    cost = cell.mechanism.cost
    return cost.rho if cost.epsilon is None else cost.epsilon


def synopsis_plan(
    text: str,
    base: Plan,
    marginals: Sequence[Marginal],
    queries: Sequence[WorkloadQuery],
    separate: Sequence[Fraction],
    privacy: Privacy,
    most: int,
) -> SynopsisPlan:
    """The plan that measures the marginals at the price of ``base``, with parts for the queries.

    Args:
        base: The plan of one of the marginals.
        separate: The parts that the marginals have if each statement is bought for an equal
            part. With queries it guides the choice; without any it is what is measured.
        most: How many estimates of one number an answer combines at most.
    """
    shares = tuple(separate)
    errors = tuple[ExpectedError, ...]()
    if queries:
        precisions = np.array(
            [[1 / variance for variance in query.variances] for query in queries], dtype=np.float64
        )
        statements = [query.statement for query in queries]
        importance = np.array(
            [1 / statements.count(statement) for statement in statements], dtype=np.float64
        )
        power = 1 if isinstance(marginals[0].plan.cells[0].mechanism, Gaussian) else 2
        alone = np.array(separate, dtype=np.float64)
        bound = np.array([query.own for query in queries]) * len(set(statements)) ** power
        shares = chosen_weights(precisions, alone, bound, importance, power=power, most=most)
        errors = _errors(
            queries, precisions, np.array(shares, dtype=np.float64), alone, power=power, most=most
        )
    parts = tuple(
        MeasuredPart(marginal, share)
        for marginal, share in zip(marginals, shares, strict=True)
        if share
    )
    cores = tuple(
        with_share(measured_part.marginal.plan, measured_part.share, privacy, base.price)
        for measured_part in parts
    )
    base_plan = replace(
        base,
        text=text,
        cores=cores,
        public=(),
        columns=(),
        notices=(),
        repriced=None,
        ends=(),
        resampling=None,
        left_out=(),
    )
    return SynopsisPlan(base_plan, parts, errors)


def _errors(
    queries: Sequence[WorkloadQuery],
    precisions: NDArray[np.float64],
    shares: NDArray[np.float64],
    alone: NDArray[np.float64],
    power: int,
    most: int,
) -> tuple[ExpectedError, ...]:
    own_variances = np.array([query.own for query in queries])
    ratios = variances(precisions, shares, power, most) / own_variances
    parts = len({query.statement for query in queries})
    errors = []
    for statement in sorted({query.statement for query in queries}):
        at = [index for index, query in enumerate(queries) if query.statement == statement]
        errors.append(
            ExpectedError(statement, float(np.mean(ratios[at])) ** 0.5, float(parts**power) ** 0.5)
        )
    return tuple(errors)
