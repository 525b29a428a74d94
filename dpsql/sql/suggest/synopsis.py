"""The parts of a statement that a synopsis for it would have: what it joins, its keys,
conditions and measures.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import fold
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parse import parse

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.Is)


@dataclass(frozen=True)
class SynopsisParts:
    """The tables of a statement, in order; its FROM; and its keys,
    conditions and measures as texts.

    A condition is a pair: what it compares with constants, and the whole of it.
    """

    tables: tuple[str, ...]
    source: str
    keys: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    measures: tuple[str, ...]


def synopsis_parts(text: str) -> SynopsisParts | None:
    """The parts of a statement; None if it is no SELECT over joined tables.

    >>> found = synopsis_parts("SELECT p.male, AVG(bmi) FROM patients p WHERE age > 50 GROUP BY 1")
    >>> found.tables, found.keys, found.conditions, found.measures
    (('patients',), ('male',), (('age', 'age > 50'),), ('AVG(bmi)',))
    """
    try:
        select = parse(text).tree
    except DatabaseError:
        return None
    source = select.args.get("from_") or select.args.get("from")
    if (
        not isinstance(select, exp.Select)
        or source is None
        or select.find(exp.Subquery, exp.CTE, exp.Exists)
    ):
        return None
    joins = select.args.get("joins") or []
    tables = [source.this, *(join.this for join in joins)]
    if not all(isinstance(table, exp.Table) for table in tables):
        return None
    where = select.args.get("where")
    rows = " ".join(STATEMENT.write(join).strip() for join in (source, *joins)).replace(" ,", ",")
    aggregates = [
        call for call in select.find_all(exp.AggFunc) if call.find_ancestor(exp.AggFunc) is None
    ]
    return SynopsisParts(
        tuple(sorted(fold(table.name) for table in tables)),
        rows,
        tuple(dict.fromkeys(map(_bare, _keys(select)))),
        tuple(dict.fromkeys(_condition(conjunct) for conjunct in _conjuncts(where.this)))
        if where is not None
        else (),
        measures=tuple(dict.fromkeys(map(_bare, aggregates))),
    )


def _keys(select: exp.Select) -> list[exp.Expr]:
    """What the statement groups by, with names and numbers of columns in full."""
    group = select.args.get("group")
    items = select.expressions
    plain = [item.this if isinstance(item, exp.Alias) else item for item in items]
    if group is None:
        return []
    if group.args.get("all"):
        return [
            expression
            for expression in plain
            if expression.find(exp.AggFunc) is None and not isinstance(expression, exp.Star)
        ]
    named = {item.alias.lower(): item.this for item in items if isinstance(item, exp.Alias)}
    result: list[exp.Expr] = []
    for key in group.expressions:
        if isinstance(key, exp.Literal) and key.name.isdigit() and 1 <= int(key.name) <= len(plain):
            result.append(plain[int(key.name) - 1])
        elif isinstance(key, exp.Column) and not key.table and key.name.lower() in named:
            result.append(named[key.name.lower()])
        else:
            result.append(key)
    return result


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return _conjuncts(condition.this) if isinstance(condition, exp.Paren | exp.Not) else [condition]


def _condition(condition: exp.Expr) -> tuple[str, str]:
    compared = condition.this if isinstance(condition, _COMPARISONS) else condition
    return _bare(compared), _bare(condition)


def _bare(expression: exp.Expr) -> str:
    """The expression without names of tables, which other statements may spell differently."""
    copy = expression.copy()
    for column in [copy] if isinstance(copy, exp.Column) else list(copy.find_all(exp.Column)):
        column.set("table", None)
    return STATEMENT.write(copy)
