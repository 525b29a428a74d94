"""Answers that views tell in part: what remains to buy, and how both are put together.

What is bought is decided from plans alone. Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.planning.cells_in_words import cell_in_words
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.view_matching import is_asked_of_views
from dpsql.privacy.measure import Cost, shown
from dpsql.release.linear_estimates import LinearEstimate, NoiseColumn, Part
from dpsql.release.noise_addition import sort_key
from dpsql.release.released_tables import Released, ReleasedTable
from dpsql.session.answer_store.given_answers import CellSources, ViewName
from dpsql.session.answer_store.view_answers import (
    LESS_EXACT,
    FoundCore,
    ViewAnswer,
    assembled,
    entries_said,
    ratio,
)
from dpsql.session.answer_store.view_estimates import EstimatedCore, Estimates, Evaluate
from dpsql.session.answer_store.view_index import ViewIndex
from dpsql.sql.ir.core import Cell, UnitCount, is_averaged
from dpsql.sql.ir.expression import columns

#: The price of a part is told in so many steps of the whole price, rounded up.
STEPS = 10**6


@dataclass(frozen=True)
class PartOfCore:
    """One core with the estimates that views give of its cells, and the cells to buy.

    ``estimated`` is None if all of the core is bought.
    """

    plan: CorePlan
    estimated: EstimatedCore | None = None
    cells: tuple[Estimates | None, ...] = ()
    bought: tuple[int, ...] = ()

    @property
    def is_known_from_then_on(self) -> bool:
        """Whether what is bought of the core is a view afterwards,
        so that the very statement is never bought again.

        Cells of averages are none; so an average is never made of a total that is weighed and one
        that is not.
        """
        cells = (
            self.plan.cells
            if self.estimated is None
            else tuple(self.plan.cells[index] for index in self.bought)
        )
        buys_all_cells = self.estimated is None and not is_asked_of_views(self.plan)
        return not buys_all_cells and not any(is_averaged(cell.contribution.cell) for cell in cells)

    @property
    def rest(self) -> CorePlan | None:
        """The core with the cells that are bought,
        each with the noise that it has in the whole plan; None of none.
        """
        if self.estimated is None:
            return self.plan
        if not self.bought:
            return None
        cells = tuple(self.plan.cells[index] for index in self.bought)
        core = replace(self.plan.core, aggregates=())
        return replace(self.plan, core=core, cells=cells, estimates=(), presence=None)

    def sources(self, rest: ViewName) -> tuple[CellSources, ...]:
        """The views by which each cell is told, the ``rest`` among them."""
        known = {} if self.estimated is None else self.estimated.sources
        places = range(len(self.plan.cells))
        bought = places if self.estimated is None else self.bought
        return tuple(
            CellSources(False, (rest,)) if index in bought else known[index] for index in places
        )

    def with_bought(self, number: int, table: ReleasedTable | None) -> FoundCore | ReleasedTable:
        """All that is known of the core once the rest was released,
        as the core of this number among those bought.
        """
        if self.estimated is None:
            assert table is not None
            return table
        cells = list(self.cells)
        groups = dict(self.estimated.groups)
        if table is not None:
            groups = {tuple(map(sort_key, key)): key for key in table.keys}
            for column, index in enumerate(self.bought):
                cells[index] = _bought(number, column, table, list(groups))
        return FoundCore(self.estimated, tuple(cell for cell in cells if cell is not None), groups)


@dataclass(frozen=True)
class PartAnswer:
    """A plan that views tell in part, and ``rest``, the plan of what is bought."""

    plan: Plan
    rest: Plan
    parts: tuple[PartOfCore, ...]

    def with_bought(self, released: Released, key: str) -> ViewAnswer:
        """The plan's release, from what views tell and from the release of the rest,
        which is kept under a key.
        """
        tables = list(released.tables)
        tables_of_cores = list[FoundCore | ReleasedTable]()
        number = 0
        sources = list[tuple[CellSources, ...]]()
        for core_part in self.parts:
            bought = core_part.rest is not None
            tables_of_cores.append(
                core_part.with_bought(number, tables[number] if bought else None)
            )
            sources.append(core_part.sources((key, number)))
            number += bought
        return assembled(self.plan, tables_of_cores, tuple(sources), self._bought)

    @property
    def said_before(self) -> tuple[str, ...]:
        """What EXPLAIN says of it: what is told by which answers, and what is bought."""
        sources = "; ".join(
            entries_said(
                [core_part.estimated for core_part in self.parts if core_part.estimated is not None]
            )
        )
        known = [
            _named(core_part.plan.cells[index].contribution.cell)
            for core_part in self.parts
            if core_part.estimated is not None
            for index in range(len(core_part.cells))
            if index not in core_part.bought
        ]
        times = max(
            ratio(core_part.plan, index, (cell or {}).values())
            for core_part in self.parts
            for index, cell in enumerate(core_part.cells)
            if index not in core_part.bought
        )
        price = f"ε = {shown(self.rest.price)} of {shown(self.plan.price)}"
        return (
            f"known from earlier answers: {', '.join(dict.fromkeys(known))}; these are {sources}",
            f"bought for {price}: {', '.join(self._bought)}, as exact as in an answer that is bought as a whole",
            f"errors below are those of such an answer; what is known has up to {times:.2g} times its noise",
        )

    @property
    def _bought(self) -> tuple[str, ...]:
        """What is bought, in words."""
        rests = [core_part.rest for core_part in self.parts]
        cells = [
            cell.contribution.cell for rest in rests if rest is not None for cell in rest.cells
        ]
        return tuple(dict.fromkeys(map(_named, cells)))


def part_of_views(
    plan: Plan, index: ViewIndex, version: str, evaluate: Evaluate
) -> PartAnswer | None:
    """The part of the plan that views tell; None if they tell nothing, or nothing exact enough."""
    if plan.cubes or plan.derived:
        return None
    parts = tuple(_part(core, index, version, evaluate) for core in plan.cores)
    if all(core_part.estimated is None for core_part in parts) or not all(
        core_part.is_known_from_then_on for core_part in parts
    ):
        return None
    cores = tuple(core for core_part in parts if (core := core_part.rest) is not None)
    if not cores:
        return None
    rest = replace(plan, cores=cores, repriced=None, left_out=())
    return PartAnswer(plan, replace(rest, price=_price(plan.price, rest.cost, plan.cost)), parts)


def _part(core: CorePlan, index: ViewIndex, version: str, evaluate: Evaluate) -> PartOfCore:
    """What views tell of a core; a cell that they tell much less exactly than its part of the price
    buys is bought.

    Where they tell nothing but the evidence of its groups, it is bought as it stands.
    """
    views = index.views(core, version) if is_asked_of_views(core) else ()
    if not views:
        return PartOfCore(core)
    estimated = EstimatedCore(core, views, index, evaluate)
    cells = tuple(estimated.cells())
    bought = tuple(
        cell_index
        for cell_index, cell in enumerate(cells)
        if cell is None or ratio(core, cell_index, cell.values()) > LESS_EXACT
    )
    known = set(range(len(cells))) - {*bought, _evidence(core)}
    return PartOfCore(core, estimated, cells, bought) if known else PartOfCore(core)


def _evidence(core: CorePlan) -> int | None:
    """The cell that no aggregate reads, which tells which groups have rows."""
    presence = core.presence
    if presence is None or SingleCell(presence.cell) in core.estimates:
        return None
    return (
        presence.cell
        if isinstance(core.cells[presence.cell].contribution.cell, UnitCount)
        else None
    )


def _price(price: Fraction, partial_cost: Cost, cost: Cost) -> Fraction:
    """The price of a part of what a price buys: in proportion to ε, or to the root of ρ,
    rounded up.
    """
    if partial_cost.epsilon is not None and cost.epsilon:
        share = float(partial_cost.epsilon / cost.epsilon)
    else:
        share = math.sqrt(partial_cost.rho / cost.rho)
    return price * min(Fraction(math.ceil(STEPS * share), STEPS), Fraction(1))


def _bought(number: int, index: int, table: ReleasedTable, names: Sequence[object]) -> Estimates:
    """The estimates of a cell that was bought, as one of the table of this number."""
    core = table.plan
    one = Fraction(1)
    column = NoiseColumn(
        "bought", number, index, core.cells[index].mechanism, step=core.steps[index]
    )
    cells = [cell[index] for cell in table.cells]
    return {
        name: LinearEstimate(cells[row], (Part(column, one, (row,)),))
        for row, name in enumerate(names)
    }


def _named(cell: Cell) -> str:
    """A cell in words, with the columns that it reads."""
    argument_columns = [
        column
        for argument in (getattr(cell, name, None) for name in ("argument", "left", "right"))
        if argument is not None
        for column in columns(argument)
    ]
    names = ", ".join(dict.fromkeys(column.name for column in argument_columns))
    return f"{cell_in_words(cell)} ({names})" if names else cell_in_words(cell)
