"""The released table of a cube: the groups of all its levels that have rows.

They have their aggregates and intervals. Everything here is computed from what was released.

Proved in ``docs/proofs/presence.md`` and ``docs/proofs/cube.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.planning.estimators.estimate import (
    CentredSum,
    Estimate,
    SingleCell,
    interval,
    linear,
    simulated,
)
from dpsql.planning.estimators.linear_forms import GAUSSIAN, ConfidenceInterval, LinearForm
from dpsql.planning.estimators.quantiles import QuantileCurves
from dpsql.privacy.sampling import discrete_gaussian
from dpsql.release.combined_tables import CombinedTable
from dpsql.release.grouping_sets.totals import (
    CombinedSums,
    GroupKey,
    LevelGroup,
    LevelSums,
    steps_of,
)
from dpsql.release.noise_addition import sort_key
from dpsql.release.released_tables import ReleasedTable
from dpsql.sql.analysis.grouping_levels import Cube, KeyPlaces, is_additive
from dpsql.sql.binder.empty_groups import NullPlaces

#: No set needs evidence.
NOTHING: Mapping[KeyPlaces, NullPlaces] = MappingProxyType({})


def present_groups(
    cube: Cube,
    tables: Sequence[ReleasedTable],
    groups_by_keys: Mapping[KeyPlaces, list[LevelGroup]],
    evident: Mapping[KeyPlaces, NullPlaces],
    confidence: float,
) -> dict[KeyPlaces, list[LevelGroup]]:
    """The groups of each set without the absent ones of those sets that need evidence.

    A group is present if its own count says so, or if a part of it is present. In a set with places
    of keys, groups without NULL at these are all there. A group is near the threshold if all that
    shows it is.
    """
    present: dict[KeyPlaces, set[Any]] = {}
    sure: dict[KeyPlaces, set[Any]] = {}
    for keys in sorted(groups_by_keys, key=len, reverse=True):
        without_evidence = {
            _identity(group)
            for group in groups_by_keys[keys]
            if not _needs_evidence(group.keys, evident.get(keys, ()))
        }
        with_evidence, near = (
            _with_evidence(cube, tables, keys, confidence) if keys in evident else (set(), set())
        )
        parts = [finer for finer in present if keys in evident and set(keys) < set(finer)]
        present[keys] = (without_evidence | with_evidence).union(
            *(_projected(present[finer], finer, keys) for finer in parts)
        )
        sure[keys] = (without_evidence | (with_evidence - near)).union(
            *(_projected(sure[finer], finer, keys) for finer in parts)
        )
    return {
        keys: [
            replace(group, near=_identity(group) not in sure[keys])
            for group in groups
            if _identity(group) in present[keys]
        ]
        for keys, groups in groups_by_keys.items()
    }


def _needs_evidence(keys: GroupKey, nulls: NullPlaces) -> bool:
    return nulls is None or any(keys[null] is None for null in nulls)


def _with_evidence(
    cube: Cube, tables: Sequence[ReleasedTable], keys: KeyPlaces, confidence: float
) -> tuple[set[Any], set[Any]]:
    """The groups of a set whose own released count tells that they have rows.

    The second set has those it hardly tells of.
    """
    core = next(level.core for level in cube.levels if level.keys == keys)
    if core is None or tables[core].plan.presence is None:
        return set(), set()
    names = [tuple(map(sort_key, name)) for name in tables[core].keys]
    absent = tables[core].absent
    near = tables[core].near(confidence)
    return {name for index, name in enumerate(names) if index not in absent}, {
        names[index] for index in near
    }


def _identity(group: LevelGroup) -> Any:
    return tuple(map(sort_key, group.keys))


def _projected(names: Iterable[Any], finer: KeyPlaces, keys: KeyPlaces) -> set[Any]:
    return {tuple(name[finer.index(key)] for key in keys) for name in names}


@dataclass(frozen=True)
class CubeTable:
    """The released rows of a cube: keys, aggregates and their intervals.

    A key is NULL if the row is a total over it.
    """

    shape: Cube
    tables: tuple[ReleasedTable, ...]
    groups: tuple[tuple[int, LevelGroup], ...]

    @cached_property
    def keys(self) -> tuple[GroupKey, ...]:
        """The keys of each row, those that it is a total over NULL."""
        rows = []
        for level, group in self.groups:
            by_key = dict(zip(self.shape.levels[level].keys, group.keys, strict=True))
            rows.append(tuple(by_key.get(index) for index in range(len(self.shape.keys))))
        return tuple(rows)

    @cached_property
    def totals(self) -> tuple[tuple[int, ...], ...]:
        """For each row and key 1 if the row is a total over the key, else 0."""
        places = range(len(self.shape.keys))
        return tuple(
            tuple(int(index not in self.shape.levels[level].keys) for index in places)
            for level, _ in self.groups
        )

    @cached_property
    def aggregates(self) -> tuple[tuple[object, ...], ...]:
        """The aggregates of each row, in the order of the cube."""
        return tuple(tuple(self._cells(level, group, "aggregates")) for level, group in self.groups)

    @cached_property
    def intervals(self) -> tuple[tuple[ConfidenceInterval | None, ...], ...]:
        """The interval of each aggregate of each row."""
        return tuple(tuple(self._cells(level, group, "intervals")) for level, group in self.groups)

    @cached_property
    def curves(self) -> tuple[tuple[QuantileCurves | None, ...], ...]:
        """The curves of each aggregate of each row that is a quantile or a list of them."""
        return tuple(tuple(self._cells(level, group, "curves")) for level, group in self.groups)

    def draws(self, row: int, count: int, confidence: float) -> list[NDArray[np.float64]]:
        """What each aggregate of a row would be on ``count`` fresh draws of its noise."""
        level, group = self.groups[row]
        measured = (
            None if group.row is None else self._table(level).draws(group.row, count, confidence)
        )
        finest = self._finest
        cells = [
            float(noisy) + _noise(variance, count) * float(step)
            for noisy, variance, step in zip(
                group.cells, group.variances, steps_of(finest), strict=True
            )
        ]
        if group.near and self._evidence >= 0 and group.halves[self._evidence]:
            factor = float(self._lower_halves(group)[self._evidence] / group.halves[self._evidence])
            away = cells[self._evidence] - float(group.cells[self._evidence])
            cells[self._evidence] = cells[self._evidence] + np.where(
                away < 0, away * (factor - 1), 0
            )
        result = []
        for aggregate in self.shape.aggregates:
            if finest is not None and is_additive(aggregate):
                index = finest.plan.core.aggregates.index(aggregate)
                result.append(simulated(finest.plan.arithmetic(index), cells, group.halves))
            else:
                assert measured is not None
                result.append(measured[self._table(level).plan.core.aggregates.index(aggregate)])
        return result

    def form(self, row: int, aggregate: int, confidence: float) -> LinearForm | None:
        """The aggregate as a linear form in the row's noisy cells; None if it is none."""
        level, group = self.groups[row]
        asked = self.shape.aggregates[aggregate]
        finest = self._finest
        if finest is None or not is_additive(asked):
            table = self._table(level)
            return (
                None
                if group.row is None
                else table.form(group.row, table.plan.core.aggregates.index(asked), confidence)
            )
        estimate = finest.plan.arithmetic(finest.plan.core.aggregates.index(asked))
        if not isinstance(estimate, SingleCell | CentredSum):
            return None
        return linear(
            estimate, list(zip(group.cells, self._lower_halves(group), strict=True)), GAUSSIAN
        )

    def coarse_half_width(
        self, row: int, factors: Sequence[tuple[int, Fraction]], confidence: float
    ) -> float | None:
        """None: least squares spreads the sums of a cube, which adds up noises of many cells."""
        return None

    @property
    def _evidence(self) -> int:
        """The cell by which groups are shown; -1 if they do not need evidence."""
        presence = None if self._finest is None else self._finest.plan.presence
        return -1 if presence is None else presence.cell

    def _lower_halves(self, group: LevelGroup) -> Sequence[Fraction]:
        """How far the intervals of a group's cells reach down.

        They reach to 0 if the count showed the group because noise was high.
        """
        if not group.near or self._evidence < 0:
            return group.halves
        cell = self._evidence
        halves = list(group.halves)
        halves[cell] = max(halves[cell], group.cells[cell])
        return halves

    @property
    def _finest(self) -> ReleasedTable | None:
        return None if self.shape.finest is None else self.tables[self.shape.finest]

    def _table(self, level: int) -> ReleasedTable:
        core = self.shape.levels[level].core
        assert core is not None
        return self.tables[core]

    def _cells(self, level: int, group: LevelGroup, of: str) -> Iterator[Any]:
        finest = self._finest
        for aggregate in self.shape.aggregates:
            if finest is not None and is_additive(aggregate):
                index = finest.plan.core.aggregates.index(aggregate)
                if of == "aggregates":
                    yield group.shown[index]
                elif of == "curves" or group.shown[index] is None:
                    yield None
                else:
                    estimate = finest.plan.arithmetic(index)
                    known = interval(estimate, list(zip(group.cells, group.halves, strict=True)))
                    far = interval(
                        estimate, list(zip(group.cells, self._lower_halves(group), strict=True))
                    )
                    yield _with_lower_end(estimate, known, far, self._evidence)
            else:
                assert group.row is not None
                table = self._table(level)
                yield getattr(table, of)[group.row][table.plan.core.aggregates.index(aggregate)]


def cube_table(
    cube: Cube,
    tables: Sequence[ReleasedTable],
    confidence: float,
    evident: Mapping[KeyPlaces, NullPlaces] = NOTHING,
) -> CubeTable:
    """The rows of all levels of the cube, as often as each was asked for.

    Of ``evident`` levels only the present groups.
    """
    groups = {level.keys: _own_groups(cube, level.keys, tables) for level in cube.levels}
    if cube.finest is not None:
        finest = tables[cube.finest]
        sums = CombinedSums if isinstance(finest, CombinedTable) else LevelSums
        groups = sums(cube, tables, finest, confidence).groups(groups)
    if evident:
        groups = present_groups(cube, tables, groups, evident, confidence=confidence)
    rows = [
        (index, group) for index, level in enumerate(cube.levels) for group in groups[level.keys]
    ]
    return CubeTable(cube, tuple(tables), tuple(rows))


def _own_groups(cube: Cube, places: KeyPlaces, tables: Sequence[ReleasedTable]) -> list[LevelGroup]:
    core = next(level.core for level in cube.levels if level.keys == places)
    return (
        []
        if core is None
        else [LevelGroup(keys, row) for row, keys in enumerate(tables[core].keys)]
    )


def _with_lower_end(
    estimate: Estimate,
    known: ConfidenceInterval | None,
    far: ConfidenceInterval | None,
    evidence: int,
) -> ConfidenceInterval | None:
    """The interval with the lower end of the count by which a group is shown.

    An estimate that reads the count gets both ends.
    """
    if known is None or far is None:
        return known
    return min(known[0], far[0]), known[1] if estimate == SingleCell(evidence) else max(
        known[1], far[1]
    )


def _noise(variance: float, count: int) -> NDArray[np.float64]:
    if variance == 0:
        return np.zeros(count)
    half = discrete_gaussian(Fraction(max(variance, 1e-6)), (count + 1) // 2).astype(np.float64)
    return np.concatenate([half, -half])[:count]
