"""Grouping sets: which of them are measured, and which are sums of the finest.

Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpsql.sql.analysis.contribution import Norm
from dpsql.sql.analysis.released_rows import known_after
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import Expression

#: The places of some of the keys, in order.
KeyPlaces = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupingSet:
    """One grouping set: the places of its keys, and the core that measures it, if one does."""

    keys: KeyPlaces
    core: int | None


@dataclass(frozen=True, slots=True)
class Cube:
    """Several grouping sets over one relation, put together into one released table.

    ``levels`` come as often as they were asked for. ``finest`` is the core of the set that holds
    all others and has a public domain; additive aggregates of all levels are then sums of its
    groups, and made consistent where coarser levels are measured as well. If it is None, each
    level is what its own core released. ``known`` is what is known at most of the noise of its
    aggregates (`dpsql.sql.analysis.released_rows`).
    """

    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    levels: tuple[GroupingSet, ...]
    finest: int | None
    known: KnownNoise = field(default=KnownNoise.FORM, compare=False, repr=False)

    @property
    def last_core(self) -> int:
        """The last of the cores that the cube is put together from."""
        return max(level.core for level in self.levels if level.core is not None)


def with_cores(cube: Cube, before: Sequence[Core], after: Sequence[Core]) -> Cube:
    """The cube over rewritten cores, with their keys and aggregates after the rewriting."""
    keys: dict[Expression, Expression] = {}
    aggregates: dict[Aggregate, Aggregate] = {}
    for level in cube.levels:
        if level.core is not None:
            keys |= zip(before[level.core].keys, after[level.core].keys, strict=True)
            aggregates |= zip(
                before[level.core].aggregates, after[level.core].aggregates, strict=True
            )
    cube = replace(
        cube,
        keys=tuple(keys.get(key, key) for key in cube.keys),
        aggregates=tuple(aggregates.get(aggregate, aggregate) for aggregate in cube.aggregates),
    )
    measured = [after[level.core] for level in cube.levels if level.core is not None]
    return replace(cube, known=min(map(known_after, measured)))


def shapes(cores: Sequence[Core], cubes: Sequence[Cube]) -> dict[str, Core | Cube]:
    """What the released tables of a statement have as columns, under their names in the sandbox."""
    named: dict[str, Core | Cube] = {f"core{index}": core for index, core in enumerate(cores)}
    return named | {f"cube{index}": cube for index, cube in enumerate(cubes)}


def noise_known(shape: Core | Cube) -> KnownNoise:
    """What is known at most of the noise of a released table's aggregates."""
    return shape.known if isinstance(shape, Cube) else known_after(shape)


def is_additive(aggregate: Aggregate) -> bool:
    """Whether the aggregate of a group can be read off the cells of its subgroups."""
    return aggregate.function.is_additive


def finest_takes_whole_price(sizes: Mapping[KeyPlaces, int | None], norm: Norm) -> bool:
    """Whether the finest level gets the whole price: the coarsest is then more exact as its sum.

    ``sizes`` are the numbers of groups, None where unknown. With n groups in the finest set to one
    of the coarsest, the sum has n times the variance of one group. With the price split over k sets
    each has k times the variance (k² under Laplace noise), and all sums over finer sets together
    with the coarsest set's own cell have that divided by 1 + Σ 1/nₛ over the finer sets.

    >>> finest_takes_whole_price({(0,): 2, (): 1}, "l1"), finest_takes_whole_price({(0,): 2, (): 1}, "l2")
    (True, False)
    >>> finest_takes_whole_price({(0,): 1, (): 1}, "l2")
    True
    """
    finest = max(sizes, key=len)
    coarsest = min(sizes, key=len)
    if sizes[finest] is None:
        return False
    groups_per_coarsest = {
        keys: (size or MANY) / (sizes[coarsest] or 1) for keys, size in sizes.items()
    }
    split = len(sizes) * (len(sizes) if norm == "l1" else 1)
    finer = sum(
        1 / groups_per_coarsest[keys]
        for keys in sizes
        if keys != coarsest and set(coarsest) <= set(keys)
    )
    return groups_per_coarsest[finest] <= split / (1 + finer)


#: How many groups a set of unknown size is taken to have.
MANY = 10**6
