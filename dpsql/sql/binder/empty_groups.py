"""Which groups of a statement are shown only if a released count says that they have rows.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sqlglot import exp

from dpsql.sql.analysis.grouping_levels import Cube, GroupingSet, KeyPlaces
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.ir.core import Core, KeyDomain

#: Groups without rows: shown where their keys are listed, all shown (as far as keys are public),
#: or #: none shown.
EmptyGroups: TypeAlias = Literal["auto", "show", "hide"]


#: Places of keys of which one is NULL in a group that needs evidence; None if all groups need it.
NullPlaces: TypeAlias = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Evident:
    """Which groups need evidence that they have rows before they are shown.

    Of each core in ``cores`` only groups with evidence are read. Of a core in ``released`` no other
    group is released either, since no part of the statement shows one. ``levels`` holds, for each
    cube, the grouping sets whose groups need evidence. ``counted`` are the cores that measure a
    count for this alone, and ``asked`` all cores whose counts are read. Of a core in ``nulls``, and
    of a set with places of keys, a group needs evidence only if one of the keys at these places is
    NULL. Later stages read the cores in ``complete`` with the groups that are not shown, and those
    in ``partial``, at least in some query, without them. Of the latter, ``totals`` are those whose
    rows make numbers of many rows. ``combined`` also has those whose rows make numbers of a few
    neighbouring rows.
    """

    cores: frozenset[int] = frozenset()
    released: frozenset[int] = frozenset()
    levels: tuple[tuple[tuple[KeyPlaces, NullPlaces], ...], ...] = ()
    counted: frozenset[int] = frozenset()
    asked: frozenset[int] = frozenset()
    nulls: tuple[tuple[int, tuple[int, ...]], ...] = ()
    complete: frozenset[int] = frozenset()
    partial: frozenset[int] = frozenset()
    combined: frozenset[int] = frozenset()
    totals: frozenset[int] = frozenset()


#: No group needs evidence.
NOTHING_EVIDENT = Evident()


def evident(
    cores: Sequence[Core], cubes: Sequence[Cube], plain: frozenset[str], choice: EmptyGroups
) -> Evident:
    """The groups that need evidence.

    The tables that are ``plain`` are only read row by row (`passed_on`).
    """
    if choice == "show":
        return Evident(levels=((),) * len(cubes))

    def needs_evidence(domain: KeyDomain | None, table: str) -> bool:
        if domain is None or (domain.kept and choice == "auto"):
            return False
        return choice == "hide" or not all(domain.declared) or table not in plain

    def nulls_of(domain: KeyDomain | None) -> tuple[int, ...]:
        """The places of keys whose NULL needs evidence by itself."""
        return (
            ()
            if domain is None
            else tuple(index for index, unlisted in enumerate(domain.nulls) if unlisted)
        )

    in_cubes = {level.core for cube in cubes for level in cube.levels if level.core is not None}
    sole_cores = {
        index
        for index, core in enumerate(cores)
        if index not in in_cubes or f"core{index}" in plain
        if needs_evidence(core.domain, f"core{index}")
    }
    nulls = {
        index: nulls_of(core.domain)
        for index, core in enumerate(cores)
        if (index not in in_cubes or f"core{index}" in plain)
        and index not in sole_cores
        and nulls_of(core.domain)
    }
    levels = []
    counted = sole_cores | nulls.keys()
    asked = sole_cores | nulls.keys()
    for number, cube in enumerate(cubes):
        domains = {level.keys: _domain(level, cube, cores) for level in cube.levels if level.keys}
        null_keys: dict[KeyPlaces, NullPlaces] = {}
        for keys, domain in domains.items():
            if needs_evidence(domain, f"cube{number}"):
                null_keys[keys] = None
            elif nulls_of(domain):
                null_keys[keys] = nulls_of(domain)
        levels.append(tuple(null_keys.items()))
        if null_keys and cube.finest is not None:
            counted.add(cube.finest)
            asked |= {level.core for level in cube.levels if level.core is not None and level.keys}
        elif null_keys:
            measured = {
                level.core
                for level in cube.levels
                if level.keys in null_keys and level.core is not None
            }
            counted |= measured
            asked |= measured
    always = {
        index
        for index in sole_cores - in_cubes
        if choice == "hide"
        or ((domain := cores[index].domain) is not None and not all(domain.declared))
    }
    return Evident(
        frozenset(sole_cores | nulls.keys()),
        frozenset(always),
        tuple(levels),
        frozenset(counted),
        asked=frozenset(asked),
        nulls=tuple(nulls.items()),
    )


def _domain(level: GroupingSet, cube: Cube, cores: Sequence[Core]) -> KeyDomain | None:
    """The domain of a level's keys; None if a threshold chooses them."""
    if level.core is not None:
        return cores[level.core].domain
    assert cube.finest is not None
    all_keys = max((cube_level.keys for cube_level in cube.levels), key=len)
    finest = cores[cube.finest].domain
    assert finest is not None
    places = [all_keys.index(key) for key in level.keys]
    return replace(
        finest,
        declared=tuple(finest.declared[index] for index in places),
        nulls=tuple(finest.nulls[index] for index in places),
    )


def passed_on(postprocessing: exp.Query, read_again: frozenset[str]) -> frozenset[str]:
    """The released tables whose rows are each passed on.

    They pass through subqueries, WHERE, ORDER BY, LIMIT and UNION. No row of the result is made of
    several rows of theirs. ``read_again`` are the tables that a later stage reads.

    >>> import sqlglot
    >>> def of(text): return sorted(passed_on(sqlglot.parse_one(text), frozenset()))
    >>> of("SELECT * FROM (SELECT k0, a0 / 2 FROM released.core0 WHERE a0 > 5) ORDER BY 1 LIMIT 1000")
    ['core0']
    >>> of("SELECT AVG(a0) FROM released.core0 UNION ALL SELECT a0 FROM released.core1")
    ['core1']
    """
    tables = [table for table in postprocessing.find_all(exp.Table) if table.db == "released"]
    others = {table.name for table in tables if not _is_passed_on(table)}
    return frozenset(table.name for table in tables) - others - read_again


def _is_passed_on(table: exp.Table) -> bool:
    node: exp.Expr = table
    while node.parent is not None:
        parent = node.parent
        if isinstance(node, exp.Table | exp.Subquery) and node.args.get("pivots"):
            return False
        if isinstance(parent, exp.Select):
            if parent.args.get("from_") is not node or not _keeps_rows(parent):
                return False
        elif not isinstance(parent, exp.From | exp.Paren | exp.Subquery | exp.Union):
            return False
        node = parent
    return True


def _keeps_rows(select: exp.Select) -> bool:
    """Whether each row of the SELECT is made of exactly one row of its FROM clause."""
    if is_grouped(select) or select.args.get("joins") or select.args.get("qualify") is not None:
        return False
    return not any(
        window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window)
    )
