"""Which group keys a core shows whatever the data hold; where that is not known, keys need a threshold.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.query.bounds import is_nullable
from dpsql.query.expression import (
    BOOLEAN,
    Case,
    Column,
    Expression,
    Literal,
    columns,
    conjunction,
    conjuncts,
)
from dpsql.query.relation import Filter, Join, KeyDomain, Relation, Scan
from dpsql.query.stability import sources

#: Integers within bounds are enumerated up to this many; combinations of all keys up to the second number.
MAX_RANGE, MAX_KEYS = 1_000, 100_000


def key_domain(relation: Relation, keys: tuple[Expression, ...]) -> KeyDomain | None:
    """The public domain of the keys, or None where some key can only come from the data.

    A key is public when every column it reads has declared values (or is a boolean, or an integer between close
    bounds) or belongs to a public table, or when its results are the constants of a CASE.
    """
    public = {source.alias: source for source in sources(relation) if isinstance(source, Scan) and source.unit is None}
    values: dict[Column, None] = {}
    literals: list[tuple[int, tuple[Expression, ...]]] = []
    tables: dict[Scan, None] = {}
    for place, key in enumerate(keys):
        read = list(columns(key))
        if all((column.public and column.relation in public) or enumerated(column) for column in read):
            tables.update((public[column.relation], None) for column in read if column.public)
            values.update((column, None) for column in read if not column.public)
            continue
        results = constant_results(key)
        if results is None:
            return None
        literals.append((place, results))
    if _combinations(values, literals) > MAX_KEYS:
        return None
    conditions = [(condition, list(columns(condition))) for condition in _conditions(relation)]
    named = _joined({table.alias for table in tables}, [read for _, read in conditions])
    known = [
        condition
        for condition, read in conditions
        if read and all(column in values or (column.public and column.relation in named) for column in read)
    ]
    joined = tuple(scan for alias, scan in public.items() if alias in named)
    return KeyDomain(tuple(values), tuple(literals), joined, conjunction(known))


def _joined(named: set[str], conditions: list[list[Column]]) -> set[str]:
    """The public tables that keys are read from, with those that conditions on public columns alone join to them.

    ``nation JOIN region ON … WHERE r_name = 'ASIA'`` shows the nations of Asia, and no others.
    """
    while True:
        more = {
            column.relation
            for read in conditions
            if all(column.public for column in read) and any(column.relation in named for column in read)
            for column in read
        }
        if more <= named:
            return named
        named = named | more


def enumerated(column: Column) -> tuple[object, ...] | None:
    """Every value that a column of a private table may show, from the schema alone; None where there are too many."""
    if column.public:
        return None
    if column.domain is not None:
        return column.domain
    if column.type.kind == "integer" and column.bounds is not None:
        low, high = (int(bound) for bound in column.bounds)  # type: ignore[arg-type]
        if high - low < MAX_RANGE:
            return (*range(low, high + 1), *((None,) if column.nullable else ()))
    return None


def constant_results(key: Expression) -> tuple[Expression, ...] | None:
    """The constants that a condition or a CASE over constants can give; None where it can give anything else."""
    if key.type == BOOLEAN and not isinstance(key, Column | Literal):
        truths: tuple[Expression, ...] = (Literal(False, BOOLEAN), Literal(True, BOOLEAN))
        return (*truths, Literal(None, BOOLEAN)) if is_nullable(key) else truths
    if not isinstance(key, Case):
        return None
    results = [value for _, value in key.branches]
    results.append(Literal(None, key.type) if key.default is None else key.default)
    if not all(isinstance(result, Literal) for result in results):
        return None
    return tuple(dict.fromkeys(results))


def _combinations(values: Iterable[Column], literals: Iterable[tuple[int, tuple[Expression, ...]]]) -> int:
    total = 1
    for column in values:
        total *= len(enumerated(column) or ())
    for _, results in literals:
        total *= len(results)
    return total


def _conditions(relation: Relation) -> list[Expression]:
    """The conditions that every row fulfils: those of filters and inner joins, not of outer joins."""
    match relation:
        case Filter(child=child, condition=condition):
            return [*conjuncts(condition), *_conditions(child)]
        case Join(left=left, right=right, kind="inner", condition=condition):
            return [*conjuncts(condition), *_conditions(left), *_conditions(right)]
        case Join(left=left):
            return _conditions(left)
        case _:
            return []
