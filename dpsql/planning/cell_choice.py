"""Which cells are measured for the aggregates of a core, and how each aggregate is read off them.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/clipping.md``, ``docs/proofs/presence.md``
and ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.planning.cell_list import CellList, ValuePair
from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    MeanEstimate,
    PresenceEstimate,
    SingleCell,
)
from dpsql.planning.estimators.histogram import (
    ClippingBound,
    FrequencyEstimate,
    PresentValues,
    TopValues,
    ValueCounts,
)
from dpsql.planning.estimators.moments import moment
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.contribution import Norm, averages_differ
from dpsql.sql.analysis.quantisation import norm_grid, quantum
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.aggregate_properties import Measure, MomentSums, ResultRule, is_average
from dpsql.sql.ir.core import (
    Aggregate,
    Cell,
    Core,
    CountList,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    RowCount,
    UnitCount,
    UnitNorms,
)
from dpsql.sql.ir.expression import BOOLEAN, Call, Expression, conjunction

#: What a size that few rows exceed gets beside a cell that gets 1:
#: of a sum that is clipped there, #: a quarter of both.
SCAN_WEIGHT = Fraction(1, 3)
#: The part of a core's price that counts units for evidence of its groups,
#: where no aggregate #: counts rows or units.
EVIDENCE_SHARE = Fraction(1, 10)


@dataclass(frozen=True)
class CellChoice:
    """The measured cells of a core, and for each of its aggregates how it is read off them.

    ``counts`` are the places of the cells that count every row or unit of a group. Where
    ``evidence`` is true no aggregate reads the last cell: it is such a count, bought to tell which
    groups have rows.
    """

    cells: tuple[Cell, ...]
    histograms: tuple[CountList, ...]
    estimates: tuple[Estimate | QuantileEstimate | FrequencyEstimate, ...]
    counts: tuple[int, ...] = ()
    evidence: bool = False

    @property
    def bought(self) -> Fraction:
        """The weight of all that the price is split over.

        Cells have their `weights`, each histogram has its `weight`.
        """
        return self._asked + (self._evidence if self.evidence else 0)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The weight of each cell: 1 if an aggregate reads it."""
        asked = len(self.cells) - self.evidence
        return (Fraction(1),) * asked + ((self._evidence,) if self.evidence else ())

    @property
    def _asked(self) -> Fraction:
        cells = Fraction(len(self.cells) - self.evidence)
        return sum((self.weight(index) for index in range(len(self.histograms))), cells)

    @property
    def _evidence(self) -> Fraction:
        return self._asked * EVIDENCE_SHARE / (1 - EVIDENCE_SHARE)

    def weight(self, histogram: int) -> Fraction:
        """What one of the histograms gets beside a cell that gets 1."""
        chosen = self.histograms[histogram]
        is_scan = isinstance(chosen, UnitNorms) or (
            isinstance(chosen, Frequencies) and chosen.sizes
        )
        return SCAN_WEIGHT if is_scan else Fraction(1)

    def asked(self, histogram: int) -> tuple[QuantileEstimate | FrequencyEstimate, ...]:
        """What is read off one of the histograms."""
        histogram_estimates = [
            estimate
            for estimate in self.estimates
            if isinstance(
                estimate, QuantileEstimate | ValueCounts | TopValues | ClippingBound | PresentValues
            )
        ]
        return tuple(
            estimate for estimate in histogram_estimates if estimate.histogram == histogram
        )


def choose_cells(core: Core, norm: Norm, evidence: tuple[Cell, ...] = ()) -> CellChoice:
    """The cells that the aggregates need, each bought once.

    If none of ``evidence`` is needed, its last cell is bought as well. Averages, and statistics of
    moments, have cells of their own if they have limits of their own.
    """
    return _Chooser(core, norm).choice(evidence)


class _Chooser:
    """The cells of one core while they are chosen."""

    def __init__(self, core: Core, norm: Norm) -> None:
        self._core = core
        self._thresholded = bool(core.keys) and core.domain is None
        apart = averages_differ(core, norm)
        averages = [
            aggregate
            for aggregate in core.aggregates
            if apart and is_average(aggregate.function.measure)
        ]
        others = [aggregate for aggregate in core.aggregates if aggregate not in averages]
        self._cells = CellList({cell for aggregate in others for cell in _centred(aggregate)})
        centred = {cell for aggregate in averages for cell in _centred(aggregate)}
        self._averaged = self._cells.of_averages(centred) if apart else self._cells

    def choice(self, evidence_cells: tuple[Cell, ...]) -> CellChoice:
        estimates_ = [self._estimate(aggregate) for aggregate in self._core.aggregates]
        cells = self._cells.cells
        estimates = tuple(
            SingleCell(len(cells)) if estimate is None else estimate for estimate in estimates_
        )
        evidence = bool(evidence_cells) and not any(cell in evidence_cells for cell in cells)
        if evidence:
            cells.append(evidence_cells[-1])
        counts = tuple(index for index, cell in enumerate(cells) if cell in COUNTS)
        return CellChoice(
            tuple(cells), tuple(self._cells.histograms), estimates, counts, evidence=evidence
        )

    def _estimate(
        self, aggregate: Aggregate
    ) -> Estimate | QuantileEstimate | FrequencyEstimate | None:
        """How the aggregate is read off its cells.

        None for the count of units that a threshold has released.
        """
        measure = aggregate.function.measure
        condition = aggregate.condition
        cells = self._averaged if is_average(measure) else self._cells
        match measure:
            case Measure.ROWS:
                return SingleCell(cells.rows(aggregate.argument, condition))
            case Measure.UNITS:
                return (
                    None
                    if self._thresholded and condition is None
                    else SingleCell(cells.index_of(UnitCount(condition)))
                )
            case Measure.DISTINCT:
                return SingleCell(cells.index_of(DistinctCount(_argument(aggregate), condition)))
            case Measure.SUM:
                return _sum(_argument(aggregate), condition, cells)
            case Measure.MEAN:
                argument = _argument(aggregate)
                total = cells.total(argument, condition)
                return _mean(argument, total, cells.rows(argument, condition))
            case Measure.PAIRS:
                return SingleCell(cells.rows(*ValuePair.of(aggregate).counted))
            case Measure.MEAN_OF_X:
                pairs = ValuePair.of(aggregate)
                count = cells.rows(*pairs.counted)
                return _mean(pairs.x, cells.total(pairs.x, pairs.x_where), count)
            case Measure.MEAN_OF_Y:
                pairs = ValuePair.of(aggregate)
                count = cells.rows(*pairs.counted)
                return _mean(pairs.y, cells.total(pairs.y, pairs.y_where), count)
            case MomentSums():
                return moment(measure, aggregate, cells)
            case Measure.EVIDENCE_FOR | Measure.EVIDENCE_AGAINST:
                against = measure is Measure.EVIDENCE_AGAINST
                argument = _argument(aggregate)
                speaks = Call("not", (argument,), BOOLEAN) if against else argument
                where = conjunction([speaks] if condition is None else [condition, speaks])
                return PresenceEstimate(cells.index_of(RowCount(None, where)), against=against)
            case Measure.QUANTILES:
                assert aggregate.ranks is not None
                return QuantileEstimate(
                    cells.histogram(Histogram(_argument(aggregate), condition)), aggregate.ranks
                )
            case Measure.FREQUENCIES | Measure.MOST_FREQUENT:
                index = cells.histogram(
                    Frequencies(_argument(aggregate), aggregate.values, condition)
                )
                if measure is Measure.FREQUENCIES:
                    return ValueCounts(index, aggregate.values)
                return TopValues(index, aggregate.values, aggregate.most)
            case Measure.PRESENT_VALUES:
                assert aggregate.joined is not None
                index = cells.histogram(
                    Frequencies(_argument(aggregate), aggregate.values, condition)
                )
                return PresentValues(index, aggregate.values, aggregate.joined)
            case Measure.SIZE:
                places = tuple(range(len(aggregate.values)))
                index = cells.histogram(
                    Frequencies(_argument(aggregate), places, condition, sizes=True)
                )
                return ClippingBound(index, aggregate.values)
            case Measure.NORM:
                step, _ = norm_grid(_argument(aggregate))
                norms = UnitNorms(
                    _argument(aggregate),
                    aggregate.groups,
                    condition,
                    step,
                    sizes=len(aggregate.values),
                )
                return ClippingBound(cells.histogram(norms), aggregate.values)
            case Measure.NORM_CLIPPED_SUM:
                assert aggregate.other is not None
                clipped = NormClippedSum(_argument(aggregate), condition, aggregate.other)
                return SingleCell(cells.index_of(clipped))
            case _:
                assert_never(measure)


def _argument(aggregate: Aggregate) -> Expression:
    assert aggregate.argument is not None
    return aggregate.argument


def _sum(argument: Expression, condition: Expression | None, cells: CellList) -> Estimate:
    total = cells.total(argument, condition)
    if not cells.is_centred(argument, condition):
        return SingleCell(total)
    grid = quantum(argument)
    return CentredSum(total, cells.rows(argument, condition), grid.middle * grid.size)


def _mean(argument: Expression, total: int, count: int) -> MeanEstimate:
    grid = quantum(argument)
    return MeanEstimate(total, count, grid.middle * grid.size, grid.reach * grid.size)


#: Cells that are above 0 in each group that has a row.
COUNTS: tuple[Cell, ...] = (
    RowCount(None, None),
    RowCount(None, None, averaged=True),
    UnitCount(None),
)


def _centred(aggregate: Aggregate) -> list[tuple[Expression, Expression | None]]:
    """The expressions whose totals are measured from the middle of their bounds.

    Each comes with its condition.
    """
    measure = aggregate.function.measure
    match measure:
        case MomentSums() | Measure.PAIRS | Measure.MEAN_OF_X | Measure.MEAN_OF_Y if (
            aggregate.other is not None
        ):
            pairs = ValuePair.of(aggregate)
            return [(pairs.x, pairs.x_where), (pairs.y, pairs.y_where)]
        case MomentSums() | Measure.MEAN | Measure.PAIRS | Measure.MEAN_OF_X | Measure.MEAN_OF_Y:
            return [(_argument(aggregate), aggregate.condition)]
        case (
            Measure.ROWS
            | Measure.UNITS
            | Measure.DISTINCT
            | Measure.SUM
            | Measure.EVIDENCE_FOR
            | Measure.EVIDENCE_AGAINST
            | Measure.QUANTILES
            | Measure.FREQUENCIES
            | Measure.MOST_FREQUENT
            | Measure.SIZE
            | Measure.PRESENT_VALUES
            | Measure.NORM
            | Measure.NORM_CLIPPED_SUM
        ):
            return []
        case _:
            assert_never(measure)


def aggregate_type(aggregate: Aggregate) -> str:
    """The sandbox's type of a released aggregate: fixed by the plan, whatever the data hold."""
    result = aggregate.function.result
    match result:
        case ResultRule.WHOLE_NUMBER:
            return "BIGINT"
        case ResultRule.TRUTH:
            return "BOOLEAN"
        case ResultRule.DOUBLE:
            return "DOUBLE"
        case ResultRule.SUM:
            return sum_type(_argument(aggregate))
        case ResultRule.QUANTILES:
            assert aggregate.ranks is not None
            value = quantile_type(_argument(aggregate).type, aggregate.ranks.continuous)
            return f"{value}[]" if aggregate.ranks.listed else value
        case ResultRule.COUNT_BY_VALUE:
            return f"MAP({SANDBOX.type_name(_argument(aggregate).type).upper()}, BIGINT)"
        case ResultRule.TEXT:
            return "VARCHAR"
        case ResultRule.VALUE:
            return SANDBOX.type_name(_argument(aggregate).type).upper()
        case ResultRule.LIST_OF_VALUES:
            return SANDBOX.type_name(_argument(aggregate).type).upper() + "[]"
        case ResultRule.SIZE:
            return "BIGINT" if all(isinstance(size, int) for size in aggregate.values) else "DOUBLE"
        case _:
            assert_never(result)


def quantile_type(sql_type: SqlType, continuous: bool) -> str:
    """The type of a quantile of values of the type: the same, or one in which their middles lie."""
    midpoint = sql_type.facts.midpoint if continuous else None
    return (midpoint or sql_type.engine_name).upper()


#: Of values up to this size two thousand million rows add up to 63 bits.
_SUMMED_IN_BIGINT = 2**32


def sum_type(argument: Expression) -> str:
    """The type of a sum over values of the expression.

    For whole numbers it depends on their bounds, never on data.
    """
    sql_type = argument.type
    match sql_type.kind:
        case "integer":
            largest = bounds(argument).magnitude
            return "BIGINT" if largest is not None and largest <= _SUMMED_IN_BIGINT else "HUGEINT"
        case "decimal":
            return f"DECIMAL(38,{sql_type.scale})"
        case _:
            return "DOUBLE"
