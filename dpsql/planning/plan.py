"""The plan: one frozen value that gives a statement's SQL, noise, price and columns.

Proved in ``docs/proofs/presence.md`` and ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from dpsql.errors import StatementError
from dpsql.planning.estimators.estimate import CellNoise, Estimate, SingleCell, cell_weights
from dpsql.planning.estimators.histogram import (
    ClippingBound,
    FrequencyEstimate,
    MeasuredHistogram,
    PresentValues,
    TopValues,
    ValueCounts,
)
from dpsql.planning.estimators.linear_forms import NoiseLaw
from dpsql.planning.estimators.quantiles import QuantileEstimate
from dpsql.planning.result_columns import (
    CollectionEnds,
    IntervalEndColumns,
    OutputColumn,
    Resampling,
)
from dpsql.privacy.measure import FREE, Cost
from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.partition_selection import WHOLE, KeyThreshold, unreached_noise
from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.binder.aggregates.clipping_report import LeftOut
from dpsql.sql.binder.empty_groups import NOTHING_EVIDENT, Evident
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.emit import Dialect, core_sql
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.references import TableRead, tables_measured

#: How often at most an answer has a group without rows that the evidence takes for one with rows.
APPEARS = Fraction(1, 20)
#: A column whose bounds are automatic: its table and its name.
AutomaticColumn: TypeAlias = tuple[str, str]
#: Types of keys whose values have neighbours.
ORDERED_KINDS = frozenset({"integer", "decimal", "double", "date", "timestamp"})


@dataclass(frozen=True)
class GroupPresence:
    """The evidence of groups: one is present if the noisy count in ``cell`` reaches a threshold.

    Noise alone seldom reaches the threshold. ``noise`` is that of the cell. All groups without rows
    together are taken for absent with probability at least 1 − ``chance``. ``released`` tells that
    absent groups are not released; else those who read the table leave them out. ``blocks`` tells
    that some key is ordered, so that blocks of neighbouring groups are evidence, too, and have half
    of the chance.
    """

    cell: int
    noise: Mechanism
    chance: Fraction
    released: bool
    blocks: bool = False

    def threshold(self, candidates: int) -> int:
        """The least count of a group that is present by itself among so many candidates.

        It is in steps of the cell.
        """
        return unreached_noise(
            self.noise, max(candidates, 1), self.chance / 2 if self.blocks else self.chance
        )


@dataclass(frozen=True)
class MeasuredCell:
    """One integer a group: how a unit's contribution to it is bounded, and the noise it gets."""

    contribution: Contribution
    mechanism: Mechanism


@dataclass(frozen=True)
class CorePlan:
    """One core as it is measured: the cells in the order of its columns, and how keys are chosen.

    ``kept_groups`` is the number of groups a unit may stand in where keys are thresholded: where
    they are chosen by weight it may be larger than that of the schema, and cells are held to their
    limits all the same. ``estimates`` says, for each aggregate, how it is read off the cells; the
    number of units that a threshold has released is the cell after the last, and the bins of
    histograms come after that. ``presence`` tells which public keys have rows, where that is asked.
    ``dialect`` is that of the engine that will run the SQL.
    """

    core: Core
    cells: tuple[MeasuredCell, ...]
    histograms: tuple[MeasuredHistogram, ...]
    selection: KeyThreshold | None
    estimates: tuple[Estimate | QuantileEstimate | FrequencyEstimate, ...]
    norm: Norm
    kept_groups: int | None
    dialect: Dialect = field(repr=False, compare=False)
    presence: GroupPresence | None = None

    @cached_property
    def sql(self) -> str:
        """The engine SQL, written when it is first wanted.

        What it does and costs is fixed by the fields.
        """
        contributions = tuple(cell.contribution for cell in self.cells)
        histograms = tuple(histogram.contribution for histogram in self.histograms)
        weighed = self.selection is not None and self.selection.weights is not None
        whole_marker = WHOLE if weighed else None
        return core_sql(
            self.core,
            contributions,
            histograms=histograms,
            norm=self.norm,
            groups=self.kept_groups,
            dialect=self.dialect,
            full_weight=whole_marker,
        )

    @property
    def cost(self) -> Cost:
        """The cost of the core's release: the sum over its cells, histograms and selection."""
        costs = [cell.mechanism.cost for cell in self.cells]
        costs += [histogram.mechanism.cost for histogram in self.histograms]
        return sum(costs, FREE if self.selection is None else self.selection.cost)

    @property
    def tables(self) -> frozenset[str]:
        """The tables of the owner that the engine SQL reads, those of its key domain among them."""
        return frozenset(name for derived, name in self._tables_read if not derived)

    @property
    def derived(self) -> frozenset[str]:
        """The derived tables that the engine SQL reads."""
        return frozenset(name for derived, name in self._tables_read if derived)

    @cached_property
    def _tables_read(self) -> frozenset[TableRead]:
        cells = [cell.contribution.cell for cell in self.cells]
        return tables_measured(
            self.core, [*cells, *(histogram.contribution.cell for histogram in self.histograms)]
        )

    def arithmetic(self, index: int) -> Estimate:
        """How an aggregate is read off cells; quantiles and frequencies are not."""
        estimate = self.estimates[index]
        assert not isinstance(
            estimate, QuantileEstimate | ValueCounts | TopValues | ClippingBound | PresentValues
        )
        return estimate

    def shows_its_group(self, index: int) -> bool:
        """Whether the aggregate is the very count of units by which its group was shown."""
        return self.selection is not None and self.estimates[index] == SingleCell(len(self.cells))

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """The size of one step of each cell, the released number of units included."""
        return tuple(cell.contribution.step for cell in self.cells) + (
            (Fraction(1),) if self.selection else ()
        )

    @property
    def noises(self) -> tuple[Mechanism, ...]:
        """The noise of each cell, that of the released number of units included."""
        return tuple(cell.mechanism for cell in self.cells) + (
            (self.selection.noise,) if self.selection else ()
        )

    @property
    def cell_noise(self) -> CellNoise:
        """The noise of all cells, from which the half-widths of what is read off them are told."""
        return CellNoise(self.noises, self.steps)

    def half_widths(self, confidence: float) -> tuple[Fraction, ...]:
        """Half the width of each cell's interval, in the unit of its data."""
        return self.cell_noise.half_widths(confidence)

    def additive_half_widths(self, confidence: float) -> tuple[float | None, ...]:
        """Half the width of the interval of each aggregate; None if it is no sum of cells.

        It follows the law of the noise.
        """
        weights = map(cell_weights, self.estimates)
        return tuple(
            None if weight is None else self.cell_noise.sum_half_width(weight, confidence)
            for weight in weights
        )

    def coarse_half_width(
        self, factors: Sequence[tuple[int, Fraction]], confidence: float
    ) -> float | None:
        """Half the width of the interval of a sum of aggregates, if some noise has few steps.

        Each aggregate is multiplied by its factor. None if all noises have many steps, so that the
        law of the noise tells it as well, or if an aggregate is no sum of cells.
        """
        weights: dict[int, Fraction] = {}
        for index, factor in factors:
            cell_factors = (
                None if self.shows_its_group(index) else cell_weights(self.estimates[index])
            )
            if cell_factors is None:
                return None
            for cell, weight in cell_factors.items():
                weights[cell] = weights.get(cell, Fraction(0)) + factor * weight
        return self.cell_noise.coarse_half_width(weights, confidence)

    def law(self, confidence: float) -> NoiseLaw:
        """How the noises of the cells add up."""
        return self.cell_noise.law(confidence)


@dataclass(frozen=True)
class Stage:
    """Cores that are read together.

    Also the tables that are derived for them from what was released before.
    """

    derived: tuple[DerivedQuery, ...]
    cores: tuple[CorePlan, ...]


@dataclass(frozen=True)
class Plan:
    """A statement as it will be run and paid for.

    ``cubes`` tells which released tables are put together of cores. ``clamped`` says which values
    are clamped to their bounds, ``evident`` which groups need evidence of their rows. If the result
    has debiased numbers, ``collection`` tells which columns have intervals. ``fixed`` tells whether
    the statement itself names its price. ``pilot`` tells whether its release is to tell the price
    of a better answer (``docs/proofs/accuracy.md``). ``refined`` tells whether it shall be as exact
    as its price buys although earlier answers tell it less exactly. ``unfound`` are columns whose
    bounds are found before it is answered: then ``replanned`` gives the plan that is charged and
    answered.
    """

    text: str
    cores: tuple[CorePlan, ...]
    derived: tuple[DerivedQuery, ...]
    postprocessing: str
    public: tuple[str, ...]
    columns: tuple[OutputColumn, ...]
    price: Fraction
    confidence: float
    cubes: tuple[Cube, ...] = ()
    notices: tuple[str, ...] = ()
    fixed: bool = False
    pilot: bool = False
    refined: bool = False
    repriced: Callable[[Fraction], Plan] | None = field(default=None, repr=False, compare=False)
    ends: tuple[IntervalEndColumns, ...] = ()
    resampling: Resampling | None = None
    collection: tuple[CollectionEnds, ...] | None = None
    left_out: tuple[LeftOut, ...] = ()
    clamped: tuple[str, ...] = ()
    evident: Evident = NOTHING_EVIDENT
    unfound: tuple[AutomaticColumn, ...] = ()
    replanned: Callable[[], Plan] | None = field(default=None, repr=False, compare=False)

    def at(self, price: Fraction) -> Plan:
        """The same statement at another price."""
        assert self.repriced is not None
        return self if price == self.price else self.repriced(price)

    @property
    def cost(self) -> Cost:
        """The statement's cost, read off its cells; nothing if it reads no private table."""
        return sum((core.cost for core in self.cores), FREE)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The cores in their order, cut before a core that needs a later derived table.

        Such a core reads a table derived from a core that is not released yet.
        """
        tables = {table.name: table for table in self.derived}
        starts: list[int] = []
        for index, core in enumerate(self.cores):
            needed = max((tables[name].cores for name in core.derived), default=0)
            if not starts or needed > starts[-1]:
                starts.append(index)
        stages: list[Stage] = []
        for start, end in pairwise([*starts, len(self.cores)]):
            cores = self.cores[start:end]
            derived_before = {table.name for stage in stages for table in stage.derived}
            needed_tables = (
                frozenset[str]().union(*(core.derived for core in cores)) - derived_before
            )
            stages.append(
                Stage(tuple(table for table in self.derived if table.name in needed_tables), cores)
            )
        return tuple(stages)

    def written(self) -> Plan:
        """This plan with its engine SQL written.

        So nothing can fail between the charge and the engine.
        """
        try:
            for core in self.cores:
                assert core.sql
        except RecursionError:
            raise StatementError("E_LIMITS", "the statement is nested too deeply") from None
        return self
