"""Which groups of grouping sets have rows, by the evidence of each set and of the finer ones.

Everything here is computed from what was released. Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.release.grouping_sets.sums import Group
from dpsql.release.noise import ReleasedTable, rank
from dpsql.sql.analysis.grouping_levels import Cube, Places


def present_groups(
    cube: Cube, tables: Sequence[ReleasedTable], made: Mapping[Places, list[Group]], evident: frozenset[Places]
) -> dict[Places, list[Group]]:
    """The groups of each set without the absent ones of those sets that need evidence.

    A group is present where its own count says so, or where a part of it is present.
    """
    found: dict[Places, set[Any]] = {}
    for keys in sorted(made, key=len, reverse=True):
        own = _with_evidence(cube, tables, keys) if keys in evident else set(map(_identity, made[keys]))
        parts = [(finer, names) for finer, names in found.items() if keys in evident and set(keys) < set(finer)]
        found[keys] = own.union(*({_projected(name, finer, keys) for name in names} for finer, names in parts))
    return {keys: [group for group in groups if _identity(group) in found[keys]] for keys, groups in made.items()}


def _with_evidence(cube: Cube, tables: Sequence[ReleasedTable], keys: Places) -> set[Any]:
    """The groups of a set whose own released count tells that they have rows."""
    core = next(level.core for level in cube.levels if level.keys == keys)
    if core is None or tables[core].plan.presence is None:
        return set()
    table, absent = tables[core], tables[core].absent
    return {tuple(map(rank, name)) for place, name in enumerate(table.keys) if place not in absent}


def _identity(group: Group) -> Any:
    return tuple(map(rank, group.keys))


def _projected(name: Any, finer: Places, keys: Places) -> Any:
    return tuple(name[finer.index(key)] for key in keys)
