"""The key domain of a core as SQL over enumerated values and public tables alone.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.relation import leaf_source
from dpsql.sql.emit.scalar import engine_type, key, literal_node, native
from dpsql.sql.ir.expression import Expression, Literal, columns
from dpsql.sql.ir.relation import Core, Days, Enumerated, KeyDomain


def domain_select(core: Core) -> exp.Select:
    """Every combination of keys that is shown, each once; it reads no private table."""
    assert core.domain is not None
    parts = _parts(core.domain)
    if len(parts) == 1:
        return _distinct(parts[0], core.domain)
    sources: list[exp.Expr] = []
    outputs: dict[int, exp.Expr] = {}
    for number, part in enumerate(parts):
        sources.append(node.subquery(_distinct(part, core.domain), f"p{number}"))
        outputs |= {place: node.column(f"p{number}", f"k{place}") for place in part.keys}
    joins = [node.join(source) for source in sources[1:]]
    return node.select([outputs[place] for place in sorted(outputs)], sources[0], joins)


def domain_parts(core: Core) -> list[exp.Select]:
    """The parts of the domain that have no source in common, each distinct: its keys are all their combinations."""
    assert core.domain is not None
    return [_distinct(part, core.domain) for part in _parts(core.domain) if part.keys]


@dataclass(frozen=True)
class _Part:
    """Keys and conditions that read the same sources, and no source of other keys."""

    reads: frozenset[str]
    keys: dict[int, Expression]
    conditions: tuple[Expression, ...]

    def with_(self, other: _Part) -> _Part:
        return _Part(self.reads | other.reads, self.keys | other.keys, self.conditions + other.conditions)


def _parts(domain: KeyDomain) -> list[_Part]:
    """The domain in parts that have nothing to do with each other: their combinations are all shown.

    What reads no column is put to a part that does, if there is one.
    """
    single = [_Part(_reads(each), {place: each}, ()) for place, each in enumerate(domain.keys)]
    single += [_Part(_reads(each), {}, (each,)) for each in domain.conditions]
    parts: list[_Part] = []
    for part in single:
        apart = [other for other in parts if not other.reads & part.reads]
        for other in parts:
            if other.reads & part.reads:
                part = other.with_(part)
        parts = [*apart, part]
    constant = [part for part in parts if not part.reads]
    first, *others = [part for part in parts if part.reads] or [_Part(frozenset(), {}, ())]
    for part in constant:
        first = first.with_(part)
    return sorted([first, *others], key=lambda part: min(part.keys, default=len(domain.keys)))


def _reads(expression: Expression) -> frozenset[str]:
    return frozenset(column.relation for column in columns(expression))


def _distinct(part: _Part, domain: KeyDomain) -> exp.Select:
    sources = [_values(each) for each in domain.enumerated if each.column.relation in part.reads]
    sources += [leaf_source(leaf) for leaf in domain.tables if leaf.alias in part.reads]
    if not sources:  # keys that read no column: one combination
        sources.append(node.values([exp.true()], "d"))
    outputs = [node.aliased(key(each), f"k{place}") for place, each in sorted(part.keys.items())]
    condition = node.conjoined([native(each) for each in part.conditions])
    joins = [node.join(source) for source in sources[1:]]
    return node.select(outputs, sources[0], joins, condition, distinct=True)


def _values(enumerated: Enumerated) -> exp.Expr:
    """The values as a relation with one column, in the type of the key where their literals have another."""
    alias, sql_type = enumerated.column.relation, engine_type(enumerated.column.type)
    if isinstance(enumerated.values, Days):
        return node.subquery(_days(enumerated.values, sql_type), alias)
    literals = [literal_node(Literal(value, enumerated.column.type)) for value in enumerated.values]
    sql_type = "double" if enumerated.double else sql_type
    if sql_type != "double" and not sql_type.startswith("decimal"):
        return node.values(literals, alias)
    typed = node.cast(node.column(f"{alias}v", "value"), sql_type)
    return node.subquery(node.select([node.aliased(typed, "value")], node.values(literals, f"{alias}v")), alias)


def _days(days: Days, sql_type: str) -> exp.Select:
    """The days as first + number, the number put together from its decimal digits; NULL behind the last of them."""
    wanted = days.count + days.nullable
    digits = [f"n{place}" for place in range(len(str(wanted - 1)))]
    number: exp.Expr = node.integer(0)
    for place, digit in enumerate(digits):
        part = node.times(node.column(digit, "value"), node.integer(10**place))
        number = part if place == 0 else node.plus(number, part)
    sources = [node.values([node.integer(value) for value in range(10)], digit) for digit in digits]
    first = node.cast(exp.Literal.string(days.first.isoformat()), "date")
    day: exp.Expr = node.cast(node.plus(first, node.cast(number, "integer")), sql_type)
    if days.nullable:
        day = node.case((node.compare(exp.LT, number.copy(), node.integer(days.count)), day))
    few = node.compare(exp.LT, number.copy(), node.integer(wanted))
    return node.select([node.aliased(day, "value")], sources[0], [node.join(each) for each in sources[1:]], few)
