"""The levels of a cube as sums over its finest level, from all that the levels measured.

Everything here is computed from what was released. Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.cell_choice import aggregate_type
from dpsql.planning.estimators.columnar_rows import WHOLE_NUMBERS, as_type
from dpsql.planning.estimators.estimate import CentredSum, SingleCell, value
from dpsql.planning.estimators.least_squares import (
    DENSE,
    MeasuredLevel,
    SumVariance,
    cell_variance,
    comparable,
    consistent,
    spread_half_width,
    spreads,
)
from dpsql.privacy.mechanism import Laplace
from dpsql.release.combined_tables import CombinedTable
from dpsql.release.noise_addition import sort_key
from dpsql.release.released_tables import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube, KeyPlaces, is_additive

GroupKey = tuple[Any, ...]


@dataclass(frozen=True)
class LevelGroup:
    """One group of one level: its keys, and its row in the table of the level's own core, if any.

    If the levels are sums of the finest, ``cells`` are the sums of the finest level's noisy cells
    over the group, with the variance (in steps of the cell) and the half-width of their noise. A
    group is ``near`` if it is shown only because a noisy count, its own or that of a part, is not
    much smaller.
    """

    keys: GroupKey
    row: int | None
    cells: tuple[Fraction, ...] = ()
    variances: tuple[float, ...] = ()
    halves: tuple[Fraction, ...] = ()
    shown: tuple[Any, ...] = ()
    near: bool = False


class LevelSums:
    """The levels of a cube as sums over its finest level."""

    def __init__(
        self, cube: Cube, tables: Sequence[ReleasedTable], finest: ReleasedTable, confidence: float
    ) -> None:
        self._finest = finest
        self._confidence = confidence
        self._plan = finest.plan
        self._cores = {level.keys: level.core for level in cube.levels}
        self._tables = {
            keys: tables[core] for keys, core in self._cores.items() if core is not None
        }
        self._whole = max(self._cores, key=len)
        cells = [[row[index] for row in finest.cells] for index in range(len(self._plan.cells))]
        self._steps = steps_of(finest)
        self._variances = [
            cell_variance(self._plan, index, step) for index, step in enumerate(self._steps)
        ]
        self._members = {keys: self._members_of(keys) for keys in self._cores}
        self._measured = [self._measured_levels(index) for index in range(len(cells))]
        for index, measured in enumerate(self._measured):
            self._variances[index], levels = comparable(
                self._variances[index], [level for _, level in measured]
            )
            self._measured[index] = [
                (keys, level) for (keys, _), level in zip(measured, levels, strict=True)
            ]
        self._leaves = [self._consistent(index, column) for index, column in enumerate(cells)]
        self._spreads = [self._spreads_of(index) for index in range(len(cells))]

    def groups(
        self, own_groups: dict[KeyPlaces, list[LevelGroup]]
    ) -> dict[KeyPlaces, list[LevelGroup]]:
        """Every level's groups with their summed cells and what is shown of them."""
        leaf_values = self._shown_leaves()
        return {keys: self._level(keys, own_groups[keys], leaf_values) for keys in self._cores}

    def _level(
        self, keys: KeyPlaces, own_groups: list[LevelGroup], leaf_values: list[list[Any] | None]
    ) -> list[LevelGroup]:
        names, group_of = self._members[keys]
        rows = {tuple(map(sort_key, group.keys)): group.row for group in own_groups}
        leaves: list[list[int]] = [[] for _ in names]
        for leaf, group in enumerate(group_of.tolist()):
            leaves[group].append(leaf)
        return [
            self._group(
                keys, name, rows.get(tuple(map(sort_key, name))), members, leaf_values=leaf_values
            )
            for name, members in zip(names, leaves, strict=True)
        ]

    def _group(
        self,
        keys: KeyPlaces,
        name: GroupKey,
        row: int | None,
        leaves: list[int],
        leaf_values: list[list[Any] | None],
    ) -> LevelGroup:
        sums = tuple(sum((column[leaf] for leaf in leaves), Fraction(0)) for column in self._leaves)
        noises = [self._noise_of(keys, index, leaves) for index in range(len(sums))]
        variances = tuple(variance for variance, _ in noises)
        halves = tuple(half for _, half in noises)
        noisy = list(zip(sums, halves, strict=True))
        values: list[Any] = []
        for index in range(len(self._plan.estimates)):
            parts = leaf_values[index]
            sql_type = aggregate_type(self._plan.core.aggregates[index])
            if not is_additive(self._plan.core.aggregates[index]):
                values.append(None)
            elif parts is None:
                values.append(as_type(value(self._plan.arithmetic(index), noisy), sql_type))
            else:
                values.append(_total([parts[leaf] for leaf in leaves], sql_type))
        return LevelGroup(name, row, sums, variances, halves=halves, shown=tuple(values))

    def _noise_of(self, keys: KeyPlaces, index: int, leaves: list[int]) -> tuple[float, Fraction]:
        """The variance of a group's sum, in steps of its cell, and half its interval's width."""
        spread = self._spread_of(keys, index, leaves)
        return spread.variance, self._half_of(index, spread)

    def _members_of(self, keys: KeyPlaces) -> tuple[list[GroupKey], NDArray[np.int64]]:
        """The groups of a level in the order of their keys.

        Also the index of the group that each group of the finest level is in.
        """
        at = [self._whole.index(key) for key in keys]
        names: dict[GroupKey, GroupKey] = {} if keys else {(): ()}
        projected = [tuple(row[key] for key in at) for row in self._finest.keys]
        for name in [*(self._tables[keys].keys if keys in self._tables else ()), *projected]:
            names.setdefault(tuple(map(sort_key, name)), name)
        order = {name: number for number, name in enumerate(sorted(names))}
        group = np.array([order[tuple(map(sort_key, name))] for name in projected], dtype=np.int64)
        return [names[name] for name in order], group

    def _measured_levels(self, index: int) -> list[tuple[KeyPlaces, MeasuredLevel]]:
        """The coarser levels that measured the same cell for themselves, in steps of the finest."""
        cell = self._plan.cells[index].contribution.cell
        step = self._steps[index]
        levels = []
        for keys, table in self._tables.items():
            cells = [measured.contribution.cell for measured in table.plan.cells]
            if keys == self._whole or cell not in cells:
                continue
            column = cells.index(cell)
            names, group = self._members[keys]
            known = {
                tuple(map(sort_key, name)): row[column]
                for name, row in zip(table.keys, table.cells, strict=True)
            }
            numbers = np.array([float(known[tuple(map(sort_key, name))] / step) for name in names])
            levels.append(
                (keys, MeasuredLevel(group, numbers, cell_variance(table.plan, column, step)))
            )
        return levels

    def _consistent(self, index: int, column: list[Fraction]) -> list[Fraction]:
        levels = [level for _, level in self._measured[index]]
        if not levels or not column:
            return column
        step = self._steps[index]
        numbers = consistent(
            np.array([float(number / step) for number in column]), self._variances[index], levels
        )
        return [Fraction(number) * step for number in numbers.tolist()]

    def _shown_leaves(self) -> list[list[Any] | None]:
        """The shown values of the finest groups for each aggregate.

        None for an aggregate whose totals are no sums of what is shown.
        """
        leaf_values: list[list[Any] | None] = []
        halves = self._plan.half_widths(self._confidence)[: len(self._leaves)]
        for estimate, aggregate in zip(
            self._plan.estimates, self._plan.core.aggregates, strict=True
        ):
            if not isinstance(estimate, SingleCell | CentredSum) or not is_additive(aggregate):
                leaf_values.append(None)
                continue
            rows = [list(zip(row, halves, strict=True)) for row in zip(*self._leaves, strict=True)]
            numbers = [value(estimate, row) or Fraction(0) for row in rows]
            leaf_values.append(carried(numbers, aggregate_type(aggregate)))
        return leaf_values

    def _spreads_of(self, index: int) -> Callable[[Sequence[int]], SumVariance] | None:
        """The function that tells the spread of sums exactly.

        None if only one level was measured, or if there are many groups.
        """
        levels = [level for _, level in self._measured[index]]
        count = len(self._finest.keys)
        return (
            spreads(count, self._variances[index], levels)
            if levels and 0 < count <= DENSE
            else None
        )

    def _spread_of(self, keys: KeyPlaces, index: int, leaves: list[int]) -> SumVariance:
        """At most the variance of the group's sum.

        All levels that were measured tell of it independently.
        """
        of = self._spreads[index]
        if of is not None and leaves:
            return of(leaves)
        information = 1 / (len(leaves) * self._variances[index]) if leaves else math.inf
        for finer, level in self._measured[index]:
            if leaves and set(keys) <= set(finer):
                information += 1 / (len(set(level.group[leaves].tolist())) * level.variance)
        return SumVariance(1 / information, min(1.0, self._variances[index] * information))

    def _half_of(self, index: int, spread: SumVariance) -> Fraction:
        """Half the interval of noise of that spread.

        It is the cell's own if nothing else tells of the group.
        """
        if math.isclose(spread.variance, self._variances[index]):
            return self._plan.half_widths(self._confidence)[index]
        half_width = spread_half_width(spread, self._is_laplace(index), self._confidence)
        return Fraction(half_width) * self._steps[index]

    def _is_laplace(self, index: int) -> bool:
        return isinstance(self._plan.cells[index].mechanism, Laplace)


class CombinedSums(LevelSums):
    """The levels of a cube as sums over a finest level that is made of earlier answers.

    They follow the noise that is in these answers. Coarser levels are those sums and nothing else.
    """

    def _measured_levels(self, index: int) -> list[tuple[KeyPlaces, MeasuredLevel]]:
        return []

    def _noise_of(self, keys: KeyPlaces, index: int, leaves: list[int]) -> tuple[float, Fraction]:
        assert isinstance(self._finest, CombinedTable)
        noise = self._finest.noise
        weights = dict[int, Fraction]()
        for leaf in leaves:
            for atom, weight in self._finest.weights[leaf][index].items():
                weights[atom] = weights.get(atom, Fraction(0)) + weight
        half = Fraction(noise.half_width(weights, self._confidence))
        return noise.variance(weights) / float(self._steps[index]) ** 2, half


def carried(numbers: Sequence[Fraction], sql_type: str) -> list[Any]:
    """The numbers in their type, with rounding remainders carried over to the next.

    So sums of neighbours stay near.

    >>> carried([Fraction(1, 2)] * 4, "BIGINT")
    [0, 1, 1, 0]
    """
    if sql_type == "DOUBLE":
        return [float(number) for number in numbers]
    steps = 1 if sql_type in WHOLE_NUMBERS else 10 ** int(sql_type.rstrip(")").split(",")[1])
    result: list[Any] = []
    running = Fraction(0)
    before = 0
    for number in numbers:
        running += number * steps
        result.append(as_type(Fraction(round(running) - before, steps), sql_type))
        before = round(running)
    return result


def _total(parts: Sequence[Any], sql_type: str) -> object:
    if sql_type == "DOUBLE":
        return math.fsum(parts)
    return as_type(sum((Fraction(number) for number in parts), Fraction(0)), sql_type)


def steps_of(finest: ReleasedTable | None) -> tuple[Fraction, ...]:
    """The steps of the finest level's cells, without that of the number of units."""
    return () if finest is None else finest.plan.steps[: len(finest.plan.cells)]
