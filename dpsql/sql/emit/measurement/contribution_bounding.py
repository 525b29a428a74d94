"""Contribution bounding: the groups and distinct values that a unit may bring,
and the clipping of its norm.

``contributions``  what each unit adds to each key, where units are counted
``…_suspects``     the units that a look at their rows cannot clear of a norm above a limit
``…_own``          their contributions per key; where rows are summed, beside those of all others together
``…_heavy``        of these, per key, value·factor − value for the units whose norm is above a limit

Proved in ``docs/proofs/contribution.md``, the weights of groups in ``docs/proofs/key_weights.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.analysis.contribution import MOST_NORM, Contribution, Norm
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import HASH_KEY, Dialect
from dpsql.sql.emit.node import number
from dpsql.sql.ir.core import ClampedSum, NormClippedSum, ProductSum, RowCount, UnitCount
from dpsql.sql.ir.expression import DOUBLE, INTEGER


def contributions(dialect: Dialect, keys: list[str], members: list[Member]) -> exp.Select:
    """What each unit adds to each key: the sum of its rows' values; where units are counted,
    the greatest of them.
    """
    groups: list[exp.Expr] = [node.bare(name) for name in ["u", *keys]]
    outputs = list(groups)
    for name, contribution in members:
        total = (
            exp.Max(this=node.bare(name))
            if isinstance(contribution.cell, UnitCount)
            else dialect.sum(node.bare(name))
        )
        value = node.or_zero(total)
        if isinstance(contribution.cell, ClampedSum | ProductSum | NormClippedSum):
            value = squarable(dialect, value)
        outputs.append(node.aliased(value, name))
    return node.select(outputs, node.table("rows"), group=[group.copy() for group in groups])


def crowded(dialect: Dialect, groups: int) -> exp.Query:
    """The units that stand in more groups than they may."""
    many = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(groups))
    return dialect.units_above_limit(node.bare("u"), node.table("contributions"), many)


def kept(dialect: Dialect, keys: list[str], values: list[str], groups: int) -> exp.SetOperation:
    """Each unit's first groups in a total order by keyed hash over unit and keys;
    no other unit has a say.
    """
    names = ["u", *keys, *values]
    free = node.select(
        [node.column("contributions", name) for name in names],
        node.table("contributions"),
        [dialect.look_up(node.column("contributions", "u"), node.table("crowded"))],
        exp.Is(this=node.column("crowded", "u"), expression=exp.null()),
    )
    ranked = node.select(
        [
            *(node.column("contributions", name) for name in names),
            node.aliased(_rank(dialect, "contributions", ["u", *keys]), "place"),
        ],
        node.table("contributions"),
        [dialect.look_up(node.column("contributions", "u"), node.table("crowded"))],
        dialect.is_listed(node.column("crowded", "u"), node.column("contributions", "u")),
    )
    first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(groups))
    cut = node.select(
        [node.column("ranked", name) for name in names],
        node.subquery(ranked, "ranked"),
        where=first,
    )
    return exp.Union(this=free, expression=cut, distinct=False)


def weight(dialect: Dialect, full_weight: int, norm: Norm) -> exp.Expr:
    """The weight of a row's unit by the number of groups in which it is kept;
    those are the rows of one unit.
    """
    unit: list[exp.Expr] = [node.bare("u")]
    groups = exp.Window(this=exp.Count(this=exp.Star()), partition_by=unit)
    if norm == "l1":
        return dialect.quotient(node.integer(full_weight), groups)
    root = node.function("SQRT", dialect.cast(groups, DOUBLE))
    share = exp.Div(this=number(float(full_weight)), expression=root, typed=False, safe=False)
    return dialect.cast(node.function("FLOOR", share), INTEGER)


def pairs(
    dialect: Dialect, keys: list[str], name: str, most: int, *, thresholded: bool
) -> exp.Select:
    """The distinct values that each unit brings to its groups, at most so many,
    in an order by keyed hash.
    """
    parts = ["u", *keys, name]
    joins = []
    if thresholded:
        on = node.conjoined([dialect.equal("rows", "kept", key) for key in ["u", *keys]])
        joins = [node.join(node.table("kept"), on)]
    different = node.select(
        [node.column("rows", column) for column in parts],
        node.table("rows"),
        joins,
        node.not_null(node.column("rows", name)),
        distinct=True,
    )
    rank = node.aliased(_rank(dialect, "different", parts), "place")
    ranked = node.select(
        [*(node.column("different", column) for column in parts), rank],
        node.subquery(different, "different"),
    )
    first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(most))
    return node.select(
        [node.column("ranked", column) for column in parts[1:]],
        node.subquery(ranked, "ranked"),
        where=first,
    )


def _rank(dialect: Dialect, relation: str, parts: list[str]) -> exp.Expr:
    """The place of a row among those of its unit: by keyed hash over unit and keys,
    then by the keys themselves.
    """
    hashed = dialect.hashed(HASH_KEY, [node.column(relation, column) for column in parts])
    order = [
        exp.Ordered(this=expression, nulls_first=True)
        for expression in (hashed, *(node.column(relation, column) for column in parts[1:]))
    ]
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[node.column(relation, "u")],
        order=exp.Order(expressions=order),
    )


#: A column of row values, and how a unit's contribution to it is bounded.
Member: TypeAlias = tuple[str, Contribution]
#: For a column of row values, the column of doubles that are no smaller than their sizes,
#: where #: there is one.
Sizes: TypeAlias = Mapping[str, str]

#: A unit's factor is an integer of 2^20ths.
FACTOR_BITS = 20
#: Doubles are added up where the limit is below so many steps;
#: their sum may lack this share of the #: true one.
MOST_ADDED = 2**32
LOST = 2**-18


def steps(
    dialect: Dialect,
    family: str,
    base: str,
    keys: list[str],
    members: list[Member],
    sizes: Sizes,
    norm: Norm,
) -> dict[str, exp.Query]:
    """The steps that clip the cells of ``members`` by one common factor per unit;
    ``base`` is what is summed.
    """
    chosen = f"{family}_suspects"
    suspects_contributions = f"{family}_own"
    return {
        chosen: _suspects(dialect, base, members, sizes, norm=norm),
        suspects_contributions: _summed(dialect, chosen, keys, members)
        if base == "rows"
        else _own(dialect, base, chosen, keys, members=members),
        f"{family}_heavy": _heavy(dialect, suspects_contributions, keys, members, norm=norm),
    }


def _suspects(
    dialect: Dialect, source: str, members: list[Member], sizes: Sizes, norm: Norm
) -> exp.Query:
    """The units whose row values may exceed a limit: the sum of their sizes does,
    and no norm over groups is larger.

    Where ``sizes`` has a column of doubles that are no smaller, these are added up, and the limit
    is lowered by what their sum may lose. Where rows are counted, the number of rows is compared: a
    unit with few rows is within every limit. A count of units adds the same value in each group, so
    that the plain sum gives its L2 norm.
    """
    above: exp.Expr | None = None
    for name, contribution in members:
        value: exp.Expr = node.bare(name)
        most = (
            contribution.limit // contribution.fine
            if isinstance(contribution.cell, UnitCount) and norm == "l2"
            else max_safe_l1_norm(contribution, norm)
        )
        limit: exp.Expr = node.integer(most)
        if name in sizes:
            value = node.bare(sizes[name])
            limit = number(float(most * contribution.step) * (1 - LOST))
        elif isinstance(contribution.cell, ClampedSum | ProductSum | NormClippedSum):
            value = node.function("ABS", value)
        above = node.either(above, node.compare(exp.GT, dialect.sum(value), limit))
    if source == "rows" and any(_counts_all_rows(member) for _, member in members):
        fewest = min(member.rows for _, member in members)
        above = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(fewest))
    assert above is not None
    return dialect.units_above_limit(node.bare("u"), node.table(source), above)


def _counts_all_rows(contribution: Contribution) -> bool:
    return (
        isinstance(contribution.cell, RowCount)
        and contribution.cell.argument is None
        and contribution.cell.condition is None
    )


def max_safe_l1_norm(contribution: Contribution, norm: Norm) -> int:
    """The sum of the sizes of a unit's values up to which no norm of them exceeds the limit."""
    return contribution.limit if norm == "l1" else isqrt(contribution.limit)


def _heavy(
    dialect: Dialect, contributions_table: str, keys: list[str], members: list[Member], norm: Norm
) -> exp.Select:
    """For each unit above a limit and each key:
    the difference that scaling down by the unit's factor makes.
    """
    outputs: list[exp.Expr] = [node.bare(name) for name in keys]
    for name, contribution in members:
        scaled = dialect.quotient(
            node.times(node.bare(name), node.bare("factor")), node.integer(2**FACTOR_BITS)
        )
        outputs.append(
            node.aliased(
                exp.Sub(this=node.paren(scaled), expression=node.bare(raw(name, contribution))),
                name,
            )
        )
    return node.select(
        outputs,
        node.subquery(_scaled(dialect, contributions_table, keys, members, norm=norm), "scaled"),
    )


def _scaled(
    dialect: Dialect, contributions_table: str, keys: list[str], members: list[Member], norm: Norm
) -> exp.Select:
    """The contributions of the units above a limit, with the factor of the unit beside each."""
    above: exp.Expr | None = None
    for name, contribution in members:
        above = node.either(
            above, node.compare(exp.GT, node.bare(f"n{name[1:]}"), node.integer(contribution.limit))
        )
    norms = node.subquery(_norms(dialect, contributions_table, keys, members, norm=norm), "norms")
    outputs = [
        *map(node.bare, _carried(keys, members)),
        node.aliased(factor(dialect, members, norm), "factor"),
    ]
    return node.select(outputs, norms, where=above)


def _norms(
    dialect: Dialect, contributions_table: str, keys: list[str], members: list[Member], norm: Norm
) -> exp.Select:
    """The contributions of the chosen units per key,
    with the norms of the unit's whole vectors beside each.
    """
    outputs: list[exp.Expr] = [*map(node.bare, _carried(keys, members))]
    for name, _ in members:
        value = dialect.cast(node.bare(name), "wide")
        size = node.function("ABS", value) if norm == "l1" else node.times(value, value.copy())
        over_groups = exp.Window(this=dialect.sum(size), partition_by=[node.bare("u")])
        outputs.append(node.aliased(over_groups, f"n{name[1:]}"))
    return node.select(
        outputs, node.table(contributions_table), where=node.not_null(node.bare("u"))
    )


def _summed(dialect: Dialect, chosen: str, keys: list[str], members: list[Member]) -> exp.Select:
    """Rows added up per key, apart for each suspect, and together for all other units,
    whose unit is NULL there.

    The rows are read once, and in the same way whether or not there is a suspect.
    """
    unit = node.case((node.not_null(node.column(chosen, "u")), node.column("rows", "u")))
    groups: list[exp.Expr] = [*(node.column("rows", name) for name in keys), unit]
    outputs = [*groups[:-1], node.aliased(unit.copy(), "u")]
    for name, contribution in members:
        value = node.or_zero(dialect.sum(node.column("rows", name)))
        outputs.append(
            node.aliased(
                value if raw(name, contribution) == name else squarable(dialect, value), name
            )
        )
        if raw(name, contribution) != name:
            outputs.append(node.aliased(value.copy(), raw(name, contribution)))
    joins = [dialect.look_up(node.column("rows", "u"), node.table(chosen))]
    return node.select(outputs, node.table("rows"), joins, group=[group.copy() for group in groups])


def _own(
    dialect: Dialect, source: str, chosen: str, keys: list[str], members: list[Member]
) -> exp.Select:
    """The suspects' contributions per key: ``v…`` as they are clipped,
    and ``r…`` as they stand in the totals.
    """
    outputs: list[exp.Expr] = [node.column(source, name) for name in ["u", *keys]]
    for name, contribution in members:
        outputs.append(node.column(source, name))
        if raw(name, contribution) != name:
            outputs.append(node.aliased(node.column(source, name), raw(name, contribution)))
    joins = [dialect.look_up(node.column(source, "u"), node.table(chosen))]
    chosen_alone = dialect.is_listed(node.column(chosen, "u"), node.column(source, "u"))
    return node.select(outputs, node.table(source), joins, chosen_alone)


def _carried(keys: list[str], members: list[Member]) -> list[str]:
    """The keys and contributions that go from step to step."""
    return [
        *keys,
        *dict.fromkeys(
            column for name, contribution in members for column in (name, raw(name, contribution))
        ),
    ]


def raw(name: str, contribution: Contribution) -> str:
    """The column that holds a contribution as it stands in the totals:
    counts are never clamped, sums may be.
    """
    return (
        f"r{name[1:]}"
        if isinstance(contribution.cell, ClampedSum | ProductSum | NormClippedSum)
        else name
    )


def factor(dialect: Dialect, members: list[Member], norm: Norm) -> exp.Expr:
    """The smallest limit-to-norm ratio of the unit in 2^20ths, rounded down."""
    norms = {
        name: dialect.greatest(node.bare(f"n{name[1:]}"), node.integer(1)) for name, _ in members
    }
    if norm == "l1":
        ratios = [
            dialect.quotient(
                dialect.cast(node.integer(contribution.limit * 2**FACTOR_BITS), "wide"), norms[name]
            )
            for name, contribution in members
        ]
        return dialect.least(node.integer(2**FACTOR_BITS), *ratios)
    squares = [
        exp.Div(
            this=number(float(contribution.limit)),
            expression=dialect.cast(norms[name], DOUBLE),
            typed=False,
            safe=False,
        )
        for name, contribution in members
    ]
    root = node.function("SQRT", dialect.least(number(1.0), *squares))
    floor = node.function("FLOOR", node.times(root, node.integer(2**FACTOR_BITS)))
    down = exp.Sub(this=dialect.cast(floor, "wide"), expression=node.integer(1))
    # one less than the double says, so that its rounding cannot exceed the true ratio;
    # never below # nothing
    return dialect.greatest(down, node.integer(0))


def squarable(dialect: Dialect, value: exp.Expr) -> exp.Expr:
    """The value, never NULL, within ±2^52: far above every limit,
    and no sum of squares leaves 128 bits.
    """
    least = node.integer(-MOST_NORM)
    most = node.integer(MOST_NORM)
    return dialect.cast(dialect.greatest(least, dialect.least(most, value)), INTEGER)
