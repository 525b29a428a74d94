"""GROUP BY: its keys and grouping sets, and the cores of ROLLUP, CUBE and GROUPING SETS.

Proved in ``docs/proofs/cube.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.analysis.contribution import norm_of
from dpsql.sql.analysis.grouping_levels import (
    Cube,
    GroupingSet,
    KeyPlaces,
    finest_takes_whole_price,
    is_additive,
)
from dpsql.sql.analysis.key_domain.domain import key_domain, projected, with_kept_rows
from dpsql.sql.analysis.key_domain.restriction import within_domain
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.aggregates.aggregate import has_aggregate
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.ir.aggregate import COUNT
from dpsql.sql.ir.core import Aggregate, Core, KeyDomain
from dpsql.sql.ir.expression import ColumnRef, Expression
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Relation, unit_of

#: One statement may ask for this many grouping sets, repeated ones included.
MAX_SETS = 64

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)
#: Where older parsers keep the three kinds.
_PARTS = ("rollup", "cube", "grouping_sets")

Keys = list[exp.Expr]


def group_keys(select: exp.Select, source_from: From) -> Keys:
    """The expressions of a GROUP BY without ROLLUP, CUBE and GROUPING SETS."""
    group = select.args.get("group")
    sets = grouping_sets(select, source_from)
    if len(sets) != 1 or (group is not None and _sets_of(group)):
        refuse(
            "E_GROUPING",
            "ROLLUP, CUBE and GROUPING SETS are not answered in a subquery per unit; write one GROUP "
            "BY there",
            group,
        )
    return sets[0]


def all_keys(select: exp.Select, source_from: From) -> Keys:
    """Every expression that the GROUP BY names, in whatever set."""
    return list(chain.from_iterable(grouping_sets(select, source_from)))


def has_sets(select: exp.Select) -> bool:
    """Whether the GROUP BY has a ROLLUP, a CUBE or GROUPING SETS."""
    group = select.args.get("group")
    return group is not None and bool(_sets_of(group))


def grouping_sets(select: exp.Select, source_from: From) -> list[Keys]:
    """The sets of expressions to group by, with ordinals and aliases replaced by their expressions.

    A plain GROUP BY is one set. Of several parts, such as two ROLLUPs,
    every combination is one set.
    """
    group = select.args.get("group")
    if group is None:
        return [[]]
    if group.args.get("all"):
        return [[item.unalias() for item in select.expressions if not has_aggregate(item)]]
    if any(value for name, value in group.args.items() if name not in ("expressions", *_PARTS)):
        refuse("E_GROUPING", "this form of GROUP BY is not answered; list the keys", group)
    plain = [key for key in group.expressions if not isinstance(key, _SETS)]
    parts = [[[key for node in plain for key in _members(node)]], *map(_expanded, _sets_of(group))]
    count = 1
    for sets in parts:
        count *= len(sets)
        if count > MAX_SETS:
            refuse("E_LIMITS", f"the statement has more than {MAX_SETS} grouping sets", group)
    meant = _SelectItems(select, source_from)
    return [
        [meant.of(key) for key in chain.from_iterable(combined)] for combined in product(*parts)
    ]


def _sets_of(group: exp.Group) -> Keys:
    result: Keys = [key for key in group.expressions if isinstance(key, _SETS)]
    for name in _PARTS:
        result += [
            expression
            for expression in group.args.get(name) or ()
            if isinstance(expression, exp.Expr)
        ]
    return result


def _expanded(element: exp.Expr) -> list[Keys]:
    """The sets that one part of a GROUP BY stands for."""
    members = [_members(expression) for expression in element.expressions]
    match element:
        case exp.GroupingSets():
            nested = [
                _expanded(expression) if isinstance(expression, _SETS) else [_members(expression)]
                for expression in element.expressions
            ]
            return [keys for sets in nested for keys in sets]
        case exp.Rollup() if members:
            return [
                [key for member in members[:end] for key in member]
                for end in range(len(members), -1, -1)
            ]
        case exp.Cube() if members:
            if 2 ** len(members) > MAX_SETS:
                refuse("E_LIMITS", f"the statement has more than {MAX_SETS} grouping sets", element)
            chosen = chain.from_iterable(
                combinations(members, size) for size in range(len(members), -1, -1)
            )
            return [[key for member in combination for key in member] for combination in chosen]
        case _:
            refuse(
                "E_GROUPING",
                "WITH ROLLUP and WITH CUBE are not answered; write GROUP BY ROLLUP (…)",
                element,
            )


def _members(node: exp.Expr) -> Keys:
    """The keys that stand together: those of a list in parentheses, or the one."""
    match node:
        case exp.Tuple():
            return list(node.expressions)
        case exp.Paren():
            return _members(node.this)
        case _:
            return [node]


class _SelectItems:
    """What ordinals and aliases of one SELECT stand for."""

    def __init__(self, select: exp.Select, source_from: From) -> None:
        self._select = select
        self._scope = source_from.scope
        aliased = [item for item in select.expressions if isinstance(item, exp.Alias)]
        self._aliases: dict[str, exp.Expr] = {fold(item.alias): item.this for item in aliased}

    def of(self, key: exp.Expr) -> exp.Expr:
        if isinstance(key, exp.Literal) and not key.is_string:
            position = int(key.this) if key.this.isdigit() else 0
            if not 1 <= position <= len(self._select.expressions):
                refuse("E_KEY", f"GROUP BY {key.this} is not a place in the SELECT list", key)
            item: exp.Expr = self._select.expressions[position - 1]
            return item.this if isinstance(item, exp.Alias) else item
        if isinstance(key, exp.Column) and not key.table and not self._scope.has_column(key.name):
            return self._aliases.get(fold(key.name), key)
        return key


def is_plain_distinct(select: exp.Select) -> bool:
    """Whether the SELECT asks for distinct values: those are keys, which may be released."""
    distinct = select.args.get("distinct")
    return distinct is not None and not distinct.args.get("on") and not select.find(exp.Star)


def has_window(select: exp.Select) -> bool:
    """Whether the SELECT list has a window function."""
    return any(item.find(exp.Window) is not None for item in select.expressions)


def cube(
    relation: Relation,
    keys: tuple[Expression, ...],
    sets: Sequence[KeyPlaces],
    aggregates: Sequence[Aggregate],
    binding: Binding,
    keeps: bool = False,
) -> int:
    """Bind the cores of the grouping sets, each set once, and return the cube's number.

    All of them measure the same rows: those with a key of the domain of all keys together, if there
    is one. ``keeps`` tells that an outer join keeps the public rows that the keys are read from.
    """
    asked = tuple(aggregates) or (Aggregate(COUNT, None, None),)
    different = list(dict.fromkeys(sets))
    domains = {
        places: with_kept_rows(domain, keeps)
        for places, domain in _domains(relation, keys, different, binding.sizes).items()
    }
    finest = max(different, key=len)
    together = domains[finest] is not None and all(
        set(places) <= set(finest) for places in different
    )
    alone = together and finest_takes_whole_price(
        _sizes(relation, keys, different, binding.sizes), norm_of(binding.schema.privacy)
    )
    level_aggregates = {
        places: tuple(
            aggregate
            for aggregate in asked
            if places == finest or not alone or not is_additive(aggregate)
        )
        for places in different
    }
    if sum(map(bool, level_aggregates.values())) > 1:
        relation = within_domain(relation, keys, binding.sizes)
    cores = {
        places: _core(relation, keys, places, measured, domain=domains[places], binding=binding)
        if measured
        else None
        for places, measured in level_aggregates.items()
    }
    levels = tuple(GroupingSet(places, cores[places]) for places in sets)
    return binding.cube(Cube(keys, asked, levels, cores[finest] if together else None))


def _core(
    relation: Relation,
    keys: tuple[Expression, ...],
    places: KeyPlaces,
    aggregates: tuple[Aggregate, ...],
    domain: KeyDomain | None,
    binding: Binding,
) -> int:
    unit = unit_of(relation)
    assert unit is not None
    return binding.core(
        Core(relation, unit, tuple(keys[index] for index in places), aggregates, domain=domain)
    )


def _domains(
    relation: Relation, keys: tuple[Expression, ...], sets: Sequence[KeyPlaces], public: Fanout
) -> dict[KeyPlaces, KeyDomain | None]:
    """The domain of each set; where all keys together have one, the others are its projections."""
    finest = max(sets, key=len)
    domain = _domain(relation, keys, finest, public)
    if domain is None:
        return {places: _domain(relation, keys, places, public) for places in sets}
    result: dict[KeyPlaces, KeyDomain | None] = {finest: domain}
    for places in sets:
        if places == finest:
            continue
        if not set(places) <= set(finest):
            result[places] = _domain(relation, keys, places, public)
        elif places:
            result[places] = projected(domain, [finest.index(index) for index in places])
        else:
            result[places] = None
    return result


def _domain(
    relation: Relation, keys: tuple[Expression, ...], places: KeyPlaces, public: Fanout
) -> KeyDomain | None:
    domain_keys = tuple(keys[index] for index in places)
    return key_domain(relation, domain_keys, public, by_output=True) if places else None


def _sizes(
    relation: Relation, keys: tuple[Expression, ...], sets: Sequence[KeyPlaces], public: Fanout
) -> dict[KeyPlaces, int | None]:
    """At most how many groups each set has, from the schema; None where public tables say."""
    domains = {places: _domain(relation, keys, places, public) for places in sets}
    sizes = {places: None if domain is None else domain.count for places, domain in domains.items()}
    return sizes | {places: 1 for places in sets if not places}


def groups_by_unit(select: exp.Select, source_from: From) -> bool:
    """Whether each group of the SELECT has rows of one unit: some key identifies it."""
    if select.args.get("group") is None:
        return False
    keys = (
        source_from.scope.resolve(key)
        for key in all_keys(select, source_from)
        if isinstance(key, exp.Column)
    )
    return any(isinstance(key, ColumnRef) and key.identifies is not None for key in keys)
