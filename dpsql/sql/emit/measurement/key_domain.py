"""The key domain of a core as SQL over enumerated values and public tables alone,
and how many keys it has.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.schema import SqlType
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.relation import leaf_source
from dpsql.sql.emit.scalar import key, literal_node, native
from dpsql.sql.ir.core import Core, Days, Enumerated, KeyDomain
from dpsql.sql.ir.expression import DATE, DOUBLE, ColumnRef, Expression, Literal, columns


def domain_select(dialect: Dialect, core: Core) -> exp.Select:
    """Every combination of keys that is shown, each once; it reads no private table."""
    assert core.domain is not None
    parts = _parts(core.domain)
    if len(parts) == 1:
        return _distinct(dialect, parts[0], core.domain)
    sources: list[exp.Expr] = []
    outputs: dict[int, exp.Expr] = {}
    for number, component in enumerate(parts):
        sources.append(node.subquery(_distinct(dialect, component, core.domain), f"p{number}"))
        outputs |= {index: node.column(f"p{number}", f"k{index}") for index in component.keys}
    joins = [node.join(source) for source in sources[1:]]
    return node.select([outputs[output] for output in sorted(outputs)], sources[0], joins)


def domain_parts(dialect: Dialect, core: Core) -> list[exp.Select]:
    """The parts of the domain that have no source in common, each distinct:
    its keys are all their combinations.
    """
    assert core.domain is not None
    return [
        _distinct(dialect, component, core.domain)
        for component in _parts(core.domain)
        if component.keys
    ]


@dataclass(frozen=True)
class _Part:
    """Keys and conditions that read the same sources, and no source of other keys."""

    reads: frozenset[str]
    keys: dict[int, Expression]
    conditions: tuple[Expression, ...]

    def with_(self, other: _Part) -> _Part:
        return _Part(
            self.reads | other.reads, self.keys | other.keys, self.conditions + other.conditions
        )


def _parts(domain: KeyDomain) -> list[_Part]:
    """The domain as parts that share no source:
    the keys are all combinations of the keys of the parts.

    A condition that reads no column goes to a part that reads one, if there is one.
    """
    single = [
        _Part(_reads(expression), {index: expression}, ())
        for index, expression in enumerate(domain.keys)
    ]
    single += [_Part(_reads(condition), {}, (condition,)) for condition in domain.conditions]
    parts: list[_Part] = []
    for component in single:
        apart = [other for other in parts if not other.reads & component.reads]
        for other in parts:
            if other.reads & component.reads:
                component = other.with_(component)
        parts = [*apart, component]
    constant = [piece for piece in parts if not piece.reads]
    first, *others = [piece for piece in parts if piece.reads] or [_Part(frozenset(), {}, ())]
    for component in constant:
        first = first.with_(component)
    return sorted([first, *others], key=lambda piece: min(piece.keys, default=len(domain.keys)))


def _reads(expression: Expression) -> frozenset[str]:
    return frozenset(column.relation for column in columns(expression))


def _distinct(dialect: Dialect, component: _Part, domain: KeyDomain) -> exp.Select:
    sources = [
        _values(dialect, expression)
        for expression in domain.enumerated
        if expression.column.relation in component.reads
    ]
    sources += [
        leaf_source(dialect, leaf) for leaf in domain.tables if leaf.alias in component.reads
    ]
    if not sources:  # keys that read no column: one combination
        sources.append(dialect.values([[exp.true()]], "d", ["value"]))
    outputs = [
        node.aliased(key(dialect, expression), f"k{index}")
        for index, expression in sorted(component.keys.items())
    ]
    condition = node.conjoined([native(dialect, expression) for expression in component.conditions])
    joins = [node.join(source) for source in sources[1:]]
    return node.select(outputs, sources[0], joins, condition, distinct=True)


def _values(dialect: Dialect, enumerated: Enumerated) -> exp.Expr:
    """The values as a relation with one column,
    in the type of the key where their literals have another.
    """
    alias = enumerated.column.relation
    sql_type = enumerated.column.type
    if isinstance(enumerated.values, Days):
        return node.subquery(_days(dialect, enumerated.values, sql_type), alias)
    literals = [
        [literal_node(dialect, Literal(value, enumerated.column.type))]
        for value in enumerated.values
    ]
    sql_type = DOUBLE if enumerated.double else sql_type
    if not literals:  # no value fulfils the conditions
        none = node.aliased(dialect.cast(exp.null(), sql_type), "value")
        nowhere = node.select(
            [none], dialect.values([[node.integer(0)]], "none", ["row"]), where=exp.false()
        )
        return node.subquery(nowhere, alias)
    if sql_type.kind not in ("double", "decimal"):
        return dialect.values(literals, alias, ["value"])
    typed = dialect.cast(node.column(f"{alias}v", "value"), sql_type)
    values = dialect.values(literals, f"{alias}v", ["value"])
    return node.subquery(node.select([node.aliased(typed, "value")], values), alias)


def _days(dialect: Dialect, days: Days, sql_type: SqlType) -> exp.Select:
    """The days as first + number, the number put together from its decimal digits;
    NULL after the last of them.
    """
    days_needed = days.count + days.nullable
    digits = [f"n{index}" for index in range(len(str(days_needed - 1)))]
    number: exp.Expr = node.integer(0)
    for index, digit in enumerate(digits):
        term = node.times(node.column(digit, "value"), node.integer(10**index))
        number = term if index == 0 else node.plus(number, term)
    sources = [
        dialect.values([[node.integer(value)] for value in range(10)], digit, ["value"])
        for digit in digits
    ]
    first = dialect.cast(exp.Literal.string(days.first.isoformat()), DATE)
    day: exp.Expr = dialect.cast(dialect.days_later(first, number), sql_type)
    if days.nullable:
        day = node.case((node.compare(exp.LT, number.copy(), node.integer(days.count)), day))
    few = node.compare(exp.LT, number.copy(), node.integer(days_needed))
    return node.select(
        [node.aliased(day, "value")], sources[0], [node.join(source) for source in sources[1:]], few
    )


#: A statement shows at most so many keys of public domains;
#: from so many on it is told what that #: means.
MOST_KEYS = 2_000_000
MANY_KEYS = 10_000


@dataclass(frozen=True)
class Counting:
    """Engine SQL whose numbers multiply to that of the keys,
    each with the public tables that it reads.
    """

    queries: tuple[tuple[str, frozenset[str]], ...]


def counting(dialect: Dialect, core: Core) -> Counting | None:
    """The queries that count the keys of the core;
    None if the number is known or follows from earlier cores.
    """
    if core.domain is None or core.domain.count is not None:
        return None
    queries = []
    for subquery in domain_parts(dialect, core):
        tables = list(subquery.find_all(exp.Table))
        if any((table.catalog, table.db) != dialect.source for table in tables):
            return None
        count = node.select([exp.Count(this=exp.Star())], node.subquery(subquery, "part"))
        sql = dialect.write(count)
        queries.append((sql, frozenset(table.name for table in tables)))
    return Counting(tuple(queries))


def require_few_keys(core: Core, count: int) -> None:
    """Refuse a core whose keys are too many to be worth their noise."""
    if count > MOST_KEYS:
        raise StatementError(
            "E_LIMITS",
            f"there are more than {MOST_KEYS:,} combinations of {_names(core)} in public tables, and each is shown "
            "with noise of its own; add a condition on them to WHERE, or group by fewer keys",
        )


def many_keys(core: Core, count: int) -> str | None:
    """A notice of what so many keys cost in noise; None where they are few."""
    if core.domain is None or count < MANY_KEYS:
        return None
    return (
        f"{count:,} combinations of {_names(core)} come from public facts, and each has noise of its own, with rows or "
        "without: the largest and the smallest numbers tell more of noise than of rows; a condition on the keys, or "
        "fewer of them, leaves less of it"
    )


def many_keys_notices(cores: Sequence[Core]) -> tuple[str, ...]:
    """The notices of the cores whose number of keys is known from the statement and the schema."""
    known = [(core, core.domain.count) for core in cores if core.domain is not None]
    notices = [many_keys(core, count) for core, count in known if count is not None]
    return tuple(notice for notice in notices if notice is not None)


def _names(core: Core) -> str:
    names = [expression.name for expression in core.keys if isinstance(expression, ColumnRef)]
    return ", ".join(names) if len(names) == len(core.keys) else "the keys of GROUP BY"
