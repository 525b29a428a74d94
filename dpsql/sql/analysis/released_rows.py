"""What a core reads of rows that were released before it, and what is then known of its noise.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.ir.aggregate_properties import KnownNoise
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, columns, conjunction, conjuncts
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import Filter, Join, Relation, Scan


def known_after(core: Core) -> KnownNoise:
    """What is known at most of the noise of a core's aggregates, as numbers of SQL's answer.

    Everything if the core reads no number or row that an earlier core released. If these choose
    whole groups alone, the cells of each group are SQL's, but not what is made of several groups.
    Else nothing is known.
    """
    if not _reads_noise(core):
        return KnownNoise.FORM
    if not _shows_chosen_groups_alone(core) or _reads_noise(_without_choice_of_groups(core)):
        return KnownNoise.NOTHING
    return KnownNoise.ENDS


def _reads_noise(core: Core) -> bool:
    relations, _ = everything_in(replace(core, domain=None))
    return any(isinstance(relation, Scan) and relation.noisy for relation in relations)


def _shows_chosen_groups_alone(core: Core) -> bool:
    """Whether no group is shown that released rows may have left out.

    Its keys pass a threshold or are released.
    """
    domain = core.domain
    return bool(core.keys) and (
        domain is None or any(isinstance(table, Scan) and table.noisy for table in domain.tables)
    )


def _without_choice_of_groups(core: Core) -> Core:
    """The core without conditions that choose whole groups and the released rows joined for them.

    Such conditions read what is the same in all rows of a group: keys, what is equal to them, and
    columns of the one released row that has these values. The core stays as it is if anything else
    reads that row.
    """
    conditions = conditions_of(core.relation)
    same = {key for key in core.keys if isinstance(key, ColumnRef)}
    scans = [
        source for source in sources(core.relation) if isinstance(source, Scan) and source.noisy
    ]
    dropped = set[str]()
    size = -1
    while size < len(same):
        size = len(same)
        for condition in conditions:
            pair = _equal_columns(condition)
            same |= pair if pair & same else set()
        for scan in scans:
            names = {column.name for column in same if column.relation == scan.alias}
            if scan.size is not None and scan.size.key is not None and scan.size.key <= names:
                dropped.add(scan.alias)
                same |= {
                    column
                    for condition in conditions
                    for column in columns(condition)
                    if column.relation == scan.alias
                }
    reduced = replace(core, relation=_rest(core.relation, same, dropped))
    _, expressions = everything_in(replace(reduced, keys=()))
    return (
        core
        if any(
            column.relation in dropped
            for expression in expressions
            for column in columns(expression)
        )
        else reduced
    )


def _equal_columns(condition: Expression) -> set[ColumnRef]:
    match condition:
        case Call(function="=", arguments=(ColumnRef() as first, ColumnRef() as second)):
            return {first, second}
        case _:
            return set()


def _rest(relation: Relation, same: set[ColumnRef], dropped: set[str]) -> Relation:
    """The relation without conditions on these columns alone and without these inner sources."""

    def rest(condition: Expression | None) -> Expression | None:
        parts = [] if condition is None else conjuncts(condition)
        return conjunction([conjunct for conjunct in parts if not set(columns(conjunct)) <= same])

    match relation:
        case Filter(child=child, condition=condition):
            child = _rest(child, same, dropped)
            more = rest(condition)
            return child if more is None else Filter(child, more)
        case Join(left=left_side, right=right_side, kind="inner", condition=condition):
            left_side = _rest(left_side, same, dropped)
            right_side = _rest(right_side, same, dropped)
            more = rest(condition)
            for side, other in ((left_side, right_side), (right_side, left_side)):
                if isinstance(side, Scan) and side.alias in dropped:
                    return other if more is None else Filter(other, more)
            return Join(left_side, right_side, "inner", more)
        case Join(left=left_side, kind="left"):
            return replace(relation, left=_rest(left_side, same, dropped))
        case _:
            return relation
