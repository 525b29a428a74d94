"""Released cores of grouping sets → one released table, in which totals are the sums of their parts.

Everything here is computed from what was released. Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.cells import aggregate_type
from dpsql.estimate import Alone, Average, Interval, Mean, Shifted, average, interval, linear, simulated, value
from dpsql.forms import GAUSSIAN, Form
from dpsql.least_squares import Measured, Spread, consistent, spreads
from dpsql.plan import CorePlan
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.sampling import discrete_gaussian
from dpsql.query.cube import Cube, Places, is_additive
from dpsql.release import ReleasedTable, as_type, rank

Key = tuple[Any, ...]

#: Noise that is all but certain to be 0 has a deviation that is no double; a larger one only makes intervals wider.
LEAST_VARIANCE = 1e-300
#: Up to so many groups of the finest level the spread of each sum is computed, beyond it is bounded.
DENSE = 400


@dataclass(frozen=True)
class Group:
    """One group of one level: its keys, and its row in the released table of the level's own core, if it has one.

    ``cells`` are the sums of the finest level's noisy cells over the group, with the variance (in steps of the cell)
    and the half-width of their noise: where the levels are sums of the finest.
    """

    keys: Key
    row: int | None
    cells: tuple[Fraction, ...] = ()
    variances: tuple[float, ...] = ()
    halves: tuple[Fraction, ...] = ()
    shown: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CubeTable:
    """The released rows of a cube: keys (NULL where the row is a total over one), aggregates and their intervals."""

    shape: Cube
    tables: tuple[ReleasedTable, ...]
    groups: tuple[tuple[int, Group], ...]

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The keys of each row, those that it is a total over NULL."""
        found = []
        for level, group in self.groups:
            own = dict(zip(self.shape.levels[level].keys, group.keys, strict=True))
            found.append(tuple(own.get(place) for place in range(len(self.shape.keys))))
        return tuple(found)

    @cached_property
    def totals(self) -> tuple[tuple[int, ...], ...]:
        """For each row and key 1 where the row is a total over the key, else 0."""
        places = range(len(self.shape.keys))
        return tuple(
            tuple(int(place not in self.shape.levels[level].keys) for place in places) for level, _ in self.groups
        )

    @cached_property
    def aggregates(self) -> tuple[tuple[object, ...], ...]:
        """The aggregates of each row, in the order of the cube."""
        return tuple(tuple(self._cells(level, group, "aggregates")) for level, group in self.groups)

    @cached_property
    def intervals(self) -> tuple[tuple[Interval | None, ...], ...]:
        """The interval of each aggregate of each row."""
        return tuple(tuple(self._cells(level, group, "intervals")) for level, group in self.groups)

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """What each aggregate of a row would be on ``count`` fresh draws of its noise."""
        level, group = self.groups[row]
        own = None if group.row is None else self._table(level).draws(group.row, count, confidence)
        finest = self._finest
        cells = [
            float(noisy) + _noise(variance, count) * float(step)
            for noisy, variance, step in zip(group.cells, group.variances, _steps(finest), strict=True)
        ]
        found = []
        for aggregate in self.shape.aggregates:
            if finest is not None and is_additive(aggregate):
                place = finest.plan.core.aggregates.index(aggregate)
                found.append(simulated(finest.plan.arithmetic(place), cells, group.halves))
            else:
                assert own is not None
                found.append(own[self._table(level).plan.core.aggregates.index(aggregate)])
        return found

    def form(self, row: int, aggregate: int, confidence: float) -> Form | None:
        """The aggregate as a linear form in the row's noisy cells; None where it is none."""
        level, group = self.groups[row]
        asked, finest = self.shape.aggregates[aggregate], self._finest
        if finest is None or not is_additive(asked):
            table = self._table(level)
            return (
                None
                if group.row is None
                else table.form(group.row, table.plan.core.aggregates.index(asked), confidence)
            )
        estimate = finest.plan.arithmetic(finest.plan.core.aggregates.index(asked))
        if not isinstance(estimate, Alone | Shifted):
            return None
        return linear(estimate, list(zip(group.cells, group.halves, strict=True)), GAUSSIAN)

    def average(self, row: int, aggregate: int, confidence: float) -> Average | None:
        """The aggregate as a ratio of two forms in the row's noisy cells, where it is an average."""
        level, group = self.groups[row]
        asked, finest = self.shape.aggregates[aggregate], self._finest
        if finest is None or not is_additive(asked):
            if group.row is None:
                return None
            table = self._table(level)
            return table.average(group.row, table.plan.core.aggregates.index(asked), confidence)
        estimate = finest.plan.arithmetic(finest.plan.core.aggregates.index(asked))
        if not isinstance(estimate, Mean):
            return None
        return average(estimate, list(zip(group.cells, group.halves, strict=True)), GAUSSIAN)

    @property
    def _finest(self) -> ReleasedTable | None:
        return None if self.shape.finest is None else self.tables[self.shape.finest]

    def _table(self, level: int) -> ReleasedTable:
        core = self.shape.levels[level].core
        assert core is not None
        return self.tables[core]

    def _cells(self, level: int, group: Group, of: str) -> Iterator[Any]:
        finest = self._finest
        for aggregate in self.shape.aggregates:
            if finest is not None and is_additive(aggregate):
                place = finest.plan.core.aggregates.index(aggregate)
                if of == "aggregates":
                    yield group.shown[place]
                else:
                    yield interval(finest.plan.arithmetic(place), list(zip(group.cells, group.halves, strict=True)))
            else:
                assert group.row is not None
                table = self._table(level)
                yield getattr(table, of)[group.row][table.plan.core.aggregates.index(aggregate)]


def cube_table(cube: Cube, tables: Sequence[ReleasedTable], confidence: float) -> CubeTable:
    """The rows of all levels of the cube, as often as each was asked for."""
    made = {level.keys: _own_groups(cube, level.keys, tables) for level in cube.levels}
    if cube.finest is not None:
        made = _Sums(cube, tables, tables[cube.finest], confidence).groups(made)
    rows = [(place, group) for place, level in enumerate(cube.levels) for group in made[level.keys]]
    return CubeTable(cube, tuple(tables), tuple(rows))


def _own_groups(cube: Cube, places: Places, tables: Sequence[ReleasedTable]) -> list[Group]:
    core = next(level.core for level in cube.levels if level.keys == places)
    return [] if core is None else [Group(keys, row) for row, keys in enumerate(tables[core].keys)]


class _Sums:
    """The levels of a cube as sums over its finest level."""

    def __init__(self, cube: Cube, tables: Sequence[ReleasedTable], finest: ReleasedTable, confidence: float) -> None:
        self._finest, self._confidence = finest, confidence
        self._plan = finest.plan
        self._cores = {level.keys: level.core for level in cube.levels}
        self._tables = {keys: tables[core] for keys, core in self._cores.items() if core is not None}
        self._whole = max(self._cores, key=len)
        cells = [[row[place] for row in finest.cells] for place in range(len(self._plan.cells))]
        self._steps = _steps(finest)
        self._variances = [cell_variance(self._plan, place, step) for place, step in enumerate(self._steps)]
        self._members = {keys: self._members_of(keys) for keys in self._cores}
        self._measured = [self._measured_levels(place) for place in range(len(cells))]
        self._leaves = [self._consistent(place, column) for place, column in enumerate(cells)]
        self._spreads = [self._spreads_of(place) for place in range(len(cells))]

    def groups(self, own: dict[Places, list[Group]]) -> dict[Places, list[Group]]:
        """Every level's groups with their summed cells and what is shown of them."""
        shown = self._shown_leaves()
        return {keys: self._level(keys, own[keys], shown) for keys in self._cores}

    def _level(self, keys: Places, own: list[Group], shown: list[list[Any] | None]) -> list[Group]:
        names, group_of = self._members[keys]
        rows = {tuple(map(rank, group.keys)): group.row for group in own}
        leaves: list[list[int]] = [[] for _ in names]
        for leaf, group in enumerate(group_of.tolist()):
            leaves[group].append(leaf)
        return [
            self._group(keys, name, rows.get(tuple(map(rank, name))), members, shown)
            for name, members in zip(names, leaves, strict=True)
        ]

    def _group(
        self, keys: Places, name: Key, row: int | None, leaves: list[int], shown: list[list[Any] | None]
    ) -> Group:
        sums = tuple(sum((column[leaf] for leaf in leaves), Fraction(0)) for column in self._leaves)
        spreads = [self._spread_of(keys, place, leaves) for place in range(len(sums))]
        variances = tuple(spread.variance for spread in spreads)
        halves = tuple(self._half_of(place, spread) for place, spread in enumerate(spreads))
        noisy = list(zip(sums, halves, strict=True))
        values: list[Any] = []
        for place in range(len(self._plan.estimates)):
            parts, sql_type = shown[place], aggregate_type(self._plan.core.aggregates[place])
            if not is_additive(self._plan.core.aggregates[place]):
                values.append(None)
            elif parts is None:
                values.append(as_type(value(self._plan.arithmetic(place), noisy), sql_type))
            else:
                values.append(_total([parts[leaf] for leaf in leaves], sql_type))
        return Group(name, row, sums, variances, halves, tuple(values))

    def _members_of(self, keys: Places) -> tuple[list[Key], NDArray[np.int64]]:
        """The groups of a level in the order of their keys, and for each group of the finest level the one it is in."""
        at = [self._whole.index(place) for place in keys]
        found: dict[Key, Key] = {} if keys else {(): ()}
        projected = [tuple(row[place] for place in at) for row in self._finest.keys]
        for name in [*(self._tables[keys].keys if keys in self._tables else ()), *projected]:
            found.setdefault(tuple(map(rank, name)), name)
        order = {name: number for number, name in enumerate(sorted(found))}
        group = np.array([order[tuple(map(rank, name))] for name in projected], dtype=np.int64)
        return [found[name] for name in order], group

    def _measured_levels(self, place: int) -> list[tuple[Places, Measured]]:
        """The coarser levels that measured the same cell for themselves, in steps of the finest."""
        cell, step, levels = self._plan.cells[place].contribution.cell, self._steps[place], []
        for keys, table in self._tables.items():
            cells = [each.contribution.cell for each in table.plan.cells]
            if keys == self._whole or cell not in cells:
                continue
            column = cells.index(cell)
            names, group = self._members[keys]
            known = {tuple(map(rank, name)): row[column] for name, row in zip(table.keys, table.cells, strict=True)}
            numbers = np.array([float(known[tuple(map(rank, name))] / step) for name in names])
            levels.append((keys, Measured(group, numbers, cell_variance(table.plan, column, step))))
        return levels

    def _consistent(self, place: int, column: list[Fraction]) -> list[Fraction]:
        levels = [level for _, level in self._measured[place]]
        if not levels or not column:
            return column
        step = self._steps[place]
        numbers = consistent(np.array([float(each / step) for each in column]), self._variances[place], levels)
        return [Fraction(number) * step for number in numbers.tolist()]

    def _shown_leaves(self) -> list[list[Any] | None]:
        """What is shown of the finest groups for aggregates whose totals are sums of what is shown; else None."""
        shown: list[list[Any] | None] = []
        halves = self._plan.half_widths(self._confidence)[: len(self._leaves)]
        for estimate, aggregate in zip(self._plan.estimates, self._plan.core.aggregates, strict=True):
            if not isinstance(estimate, Alone | Shifted) or not is_additive(aggregate):
                shown.append(None)
                continue
            rows = [list(zip(row, halves, strict=True)) for row in zip(*self._leaves, strict=True)]
            numbers = [value(estimate, row) or Fraction(0) for row in rows]
            shown.append(carried(numbers, aggregate_type(aggregate)))
        return shown

    def _spreads_of(self, place: int) -> Callable[[Sequence[int]], Spread] | None:
        """What tells the spread of sums exactly; None where one level alone was measured, or there are many groups."""
        levels, count = [level for _, level in self._measured[place]], len(self._finest.keys)
        return spreads(count, self._variances[place], levels) if levels and 0 < count <= DENSE else None

    def _spread_of(self, keys: Places, place: int, leaves: list[int]) -> Spread:
        """At most the variance of the group's sum: all levels that were measured tell of it independently."""
        of = self._spreads[place]
        if of is not None and leaves:
            return of(leaves)
        information = 1 / (len(leaves) * self._variances[place]) if leaves else math.inf
        for finer, level in self._measured[place]:
            if leaves and set(keys) <= set(finer):
                information += 1 / (len(set(level.group[leaves].tolist())) * level.variance)
        return Spread(1 / information, min(1.0, self._variances[place] * information))

    def _half_of(self, place: int, spread: Spread) -> Fraction:
        """Half the interval of noise of that spread: the cell's own where nothing else tells of the group."""
        if math.isclose(spread.variance, self._variances[place]):
            return self._plan.half_widths(self._confidence)[place]
        half_width = spread_half_width(spread, self._is_laplace(place), self._confidence)
        return Fraction(half_width) * self._steps[place]

    def _is_laplace(self, place: int) -> bool:
        return isinstance(self._plan.cells[place].mechanism, Laplace)


def carried(numbers: Sequence[Fraction], sql_type: str) -> list[Any]:
    """The numbers in their type, what is rounded off one carried over to the next: sums of neighbours stay near.

    >>> carried([Fraction(1, 2)] * 4, "BIGINT")
    [0, 1, 1, 0]
    """
    if sql_type == "DOUBLE":
        return [float(number) for number in numbers]
    steps = 1 if sql_type == "BIGINT" else 10 ** int(sql_type.rstrip(")").split(",")[1])
    found: list[Any] = []
    whole, before = Fraction(0), 0
    for number in numbers:
        whole += number * steps
        found.append(as_type(Fraction(round(whole) - before, steps), sql_type))
        before = round(whole)
    return found


def _total(parts: Sequence[Any], sql_type: str) -> object:
    if sql_type == "DOUBLE":
        return math.fsum(parts)
    return as_type(sum((Fraction(part) for part in parts), Fraction(0)), sql_type)


def cell_variance(plan: CorePlan, place: int, step: Fraction) -> float:
    """The variance of a cell's noise in steps of that size: the square of the noise itself may be no double."""
    cell = plan.cells[place]
    spread = float(cell.mechanism.standard_deviation) * float(cell.contribution.step / step)
    return max(spread * spread, LEAST_VARIANCE)


def spread_half_width(spread: Spread, laplace: bool, confidence: float) -> float:
    """Half the interval of a sum of noises: the normal one, widened for Laplace noises by their fourth moment."""
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    wider = max(0.0, normal**3 - 3 * normal) / 8 * spread.single if laplace else 0.0
    return (normal + wider) * math.sqrt(spread.variance)


def _noise(variance: float, count: int) -> NDArray[np.float64]:
    if variance == 0:
        return np.zeros(count)
    half = discrete_gaussian(Fraction(max(variance, 1e-6)), (count + 1) // 2).astype(np.float64)
    return np.concatenate([half, -half])[:count]


def _steps(finest: ReleasedTable | None) -> tuple[Fraction, ...]:
    return () if finest is None else finest.plan.steps[: len(finest.plan.cells)]
