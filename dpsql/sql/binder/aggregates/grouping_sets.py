"""ROLLUP, CUBE and GROUPING SETS over one relation: their cores, and how these are put together.

Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsql.sql.analysis.contribution import norm_of
from dpsql.sql.analysis.grouping_levels import Cube, Level, Places, finest_alone, is_additive
from dpsql.sql.analysis.key_domain.domain import key_domain, projected
from dpsql.sql.ir.expression import Expression
from dpsql.sql.ir.relation import Aggregate, Core, KeyDomain, Relation, unit_of

if TYPE_CHECKING:
    from dpsql.sql.binder.bind import Binder


def cube(
    relation: Relation,
    keys: tuple[Expression, ...],
    sets: Sequence[Places],
    aggregates: Sequence[Aggregate],
    binder: Binder,
    keeps: bool = False,
) -> int:
    """The place of the cube among those of the statement; its cores are bound, each set once.

    ``keeps`` tells that an outer join keeps the public rows that the keys are read from.
    """
    asked = tuple(aggregates) or (Aggregate("count", None, None),)
    different = list(dict.fromkeys(sets))
    domains = {
        places: None if domain is None else replace(domain, kept=keeps)
        for places, domain in _domains(relation, keys, different).items()
    }
    finest = max(different, key=len)
    together = domains[finest] is not None and all(set(places) <= set(finest) for places in different)
    alone = together and finest_alone(_sizes(relation, keys, different), norm_of(binder.schema.privacy))
    cores: dict[Places, int | None] = {}
    for places in different:
        wanted = tuple(each for each in asked if places == finest or not alone or not is_additive(each))
        cores[places] = _core(relation, keys, places, wanted, domains[places], binder) if wanted else None
    levels = tuple(Level(places, cores[places]) for places in sets)
    return binder.cube(Cube(keys, asked, levels, cores[finest] if together else None))


def _core(
    relation: Relation,
    keys: tuple[Expression, ...],
    places: Places,
    aggregates: tuple[Aggregate, ...],
    domain: KeyDomain | None,
    binder: Binder,
) -> int:
    unit = unit_of(relation)
    assert unit is not None
    return binder.core(Core(relation, unit, tuple(keys[place] for place in places), aggregates, domain))


def _domains(
    relation: Relation, keys: tuple[Expression, ...], sets: Sequence[Places]
) -> dict[Places, KeyDomain | None]:
    """The domain of each set; where all keys together have one, the others are its projections."""
    whole = max(sets, key=len)
    domain = _domain(relation, keys, whole)
    if domain is None:
        return {places: _domain(relation, keys, places) for places in sets}
    found: dict[Places, KeyDomain | None] = {whole: domain}
    for places in sets:
        if places != whole:
            within = set(places) <= set(whole)
            found[places] = (
                _domain(relation, keys, places)
                if not within
                else projected(domain, [whole.index(place) for place in places])
                if places
                else None
            )
    return found


def _domain(relation: Relation, keys: tuple[Expression, ...], places: Places) -> KeyDomain | None:
    return key_domain(relation, tuple(keys[place] for place in places)) if places else None


def _sizes(relation: Relation, keys: tuple[Expression, ...], sets: Sequence[Places]) -> dict[Places, int | None]:
    """At most how many groups each set has, from the schema; None where public tables say."""
    domains = {places: _domain(relation, keys, places) for places in sets}
    return {places: 1 if not places else None if domain is None else domain.count for places, domain in domains.items()}
