"""Moves conditions on keys into their core, so that keys which nobody reads are not released.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import Schema, fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.analysis.key_domain.domain import key_domain
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.binder.query_columns import output_columns, renamed, select_of, source_of, sources
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import BOOLEAN, Call, Expression, conjunction, subqueries
from dpsql.sql.ir.relation import Filter

#: What a condition that is moved may be made of: comparisons of keys with constants, which fail on
#: no value, and are not true of NULL.
_CONDITIONS = (
    exp.And,
    exp.Or,
    exp.Paren,
    exp.Not,
    exp.Between,
    exp.In,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
)
#: The types that constants are cast to beside such keys.
_MOMENTS = frozenset({exp.DType.DATE, exp.DType.TIMESTAMP})


def push_key_conditions(
    postprocessing: exp.Query,
    cores: Sequence[Core],
    cubes: Sequence[Cube],
    derived: Sequence[DerivedQuery],
    schema: Schema,
    sizes: Fanout,
) -> tuple[Core, ...]:
    """Filter each core by the conditions on its keys around every use of it in post-processing.

    A core stays as it is if a later core or a cube reads it, or if some use has no condition.
    """
    of_cubes = {level.core for cube in cubes for level in cube.levels}
    pushed = []
    for index, core in enumerate(cores):
        name = f"core{index}"
        uses = [
            table
            for table in postprocessing.find_all(exp.Table)
            if table.db == "released" and table.name == name
        ]
        elsewhere = index in of_cubes or any(f'"{name}"' in table.sql for table in derived)
        conditions = (
            []
            if elsewhere or not core.keys
            else [_key_conditions(core, demanded(use, schema)) for use in uses]
        )
        known = [condition for condition in conditions if condition is not None]
        pushed.append(
            _with_condition(core, known, sizes) if known and len(known) == len(uses) else core
        )
    return tuple(pushed)


def _with_condition(core: Core, uses: Sequence[Expression], sizes: Fanout) -> Core:
    """The core over those rows whose keys fulfil the conditions of at least one use."""
    condition = uses[0]
    for other in dict.fromkeys(uses[1:]):
        if other != condition:
            condition = Call("or", (condition, other), BOOLEAN)
    relation = Filter(core.relation, condition)
    return replace(core, relation=relation, domain=key_domain(relation, core.keys, sizes))


def _key_conditions(core: Core, conditions: Sequence[exp.Expr]) -> Expression | None:
    """The conditions over keys alone, as a condition of the core's rows; None if there is none."""
    reader = Reader(lambda column: core.keys[int(column.name.removeprefix("k"))])
    known = []
    for condition in conditions:
        if not _compares_keys(condition, core):
            continue
        try:
            known.append(reader.condition(condition))
        except DatabaseError:
            continue  # it stays where it is, which is always right
    return conjunction(list(dict.fromkeys(known))) if known else None


def _compares_keys(node: exp.Expr, core: Core) -> bool:
    """Whether the condition compares keys with constants, and nothing else."""
    match node:
        case exp.Column():
            key = _key(node, core)
            return key is not None and key.type.facts.exact and not any(subqueries(key))
        case exp.Literal():
            return node.is_string or node.name.isdigit()
        case exp.Boolean():
            return True
        case exp.Neg():
            return isinstance(node.this, exp.Literal) and _compares_keys(node.this, core)
        case exp.Cast():
            return isinstance(node.this, exp.Literal) and node.to.this in _MOMENTS
    if not isinstance(node, _CONDITIONS) or node.args.get("query") is not None:
        return False
    return all(_compares_keys(child, core) for child in node.iter_expressions())


def _key(column: exp.Column, core: Core) -> Expression | None:
    """The key that a column of the released table holds; None if it holds an aggregate."""
    keys = {f"k{index}": key for index, key in enumerate(core.keys)}
    return keys.get(column.name)


def demanded(use: exp.Table, schema: Schema) -> list[exp.Expr]:
    """Conditions over a released table that hold for each of its rows that the statement reads.

    >>> from dpsql.sql.emit.syntax import STATEMENT
    >>> def of(sql):
    ...     use = STATEMENT.parse(sql).find(exp.Table)
    ...     return [condition.sql() for condition in demanded(use, None)]
    >>> of("SELECT n FROM (SELECT k0 AS y, a0 AS n FROM core0) AS q WHERE y = 2000 AND n > 3")
    ['k0 = 2000', 'a0 > 3']

    What a window, a LIMIT or an aggregate over all rows would see stays:

    >>> of("SELECT n FROM (SELECT k0 AS y, a0 - LAG(a0) OVER (ORDER BY k0) AS n FROM core0) AS q WHERE y = 2000")
    []
    >>> of("SELECT n FROM (SELECT k0 AS y, a0 AS n FROM core0 ORDER BY a0 LIMIT 3) AS q WHERE y = 2000")
    []

    The condition of a LEFT JOIN is one of its right side, and no other condition is:

    >>> of("SELECT n FROM d LEFT JOIN (SELECT k0 AS y, a0 AS n FROM core0) AS q ON d.y = q.y AND q.y = 2000")
    []
    """
    select = select_of(use)
    if select is None or select.args.get("joins"):
        return []
    return _conditions(select, 0, schema)


def _conditions(select: exp.Select, source_index: int, schema: Schema) -> list[exp.Expr]:
    """Conditions that hold for each row that the statement reads of one source of the SELECT.

    They are over the source's columns.
    """
    joins = select.args.get("joins") or []
    if select.args.get("with_") is not None or not all(map(_is_plain, joins)):
        return []
    source_join = joins[source_index - 1] if source_index else None
    if source_join is not None and source_join.side == "LEFT":
        candidates = _conjuncts(source_join.args.get("on"))
    else:
        inner = [join for join in joins if not join.side]
        candidates = (
            _conjuncts(select.args["where"].this) if select.args.get("where") is not None else []
        )
        candidates += [conjunct for join in inner for conjunct in _conjuncts(join.args.get("on"))]
        candidates += _from_outside(select, schema)
    return [
        condition
        for condition in candidates
        if _names_only(condition, select, source_index, schema)
    ]


def _is_plain(join: exp.Join) -> bool:
    """Whether the join is an inner, a cross or a LEFT one, by a condition or by none."""
    return (
        not join.method
        and join.side in ("", "LEFT")
        and join.kind in ("", "INNER", "CROSS", "OUTER")
        and (not join.args.get("using"))
    )


def _conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return _conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*_conjuncts(condition.this), *_conjuncts(condition.expression)]
    return [condition]


def _names_only(condition: exp.Expr, select: exp.Select, source_index: int, schema: Schema) -> bool:
    """Whether the condition reads the columns of that source of the SELECT, and nothing else."""
    if condition.find(exp.Query) is not None:
        return False
    named = list(condition.find_all(exp.Column))
    return bool(named) and all(
        source_of(column, select, schema) == source_index for column in named
    )


def _from_outside(select: exp.Select, schema: Schema) -> list[exp.Expr]:
    """The outer query's conditions on rows of the SELECT, written over the SELECT's sources."""
    around = select.parent
    outer = (
        None
        if not isinstance(around, exp.Subquery) or around.args.get("pivots")
        else select_of(around)
    )
    if outer is None or not isinstance(around, exp.Subquery) or not _passes_conditions(select):
        return []
    outputs = renamed(around, output_columns(select, schema))
    if outputs is None:
        return []
    source_index = next(index for index, source in enumerate(sources(outer)) if source is around)
    grouped = _grouping(select)
    result = []
    for condition in _conditions(outer, source_index, schema):
        meant = [outputs.get(fold(column.name)) for column in condition.find_all(exp.Column)]
        if all(output is not None and _may_stand_for(output, grouped) for output in meant):
            result.append(_substituted(condition, outputs))
    return result


def _passes_conditions(select: exp.Select) -> bool:
    """Whether an outer condition may be tested before the SELECT.

    It may if each output row depends on its own rows alone.
    """
    distinct = select.args.get("distinct")
    group = select.args.get("group")
    if any(
        select.args.get(clause) is not None for clause in ("limit", "offset", "qualify", "with_")
    ):
        return False
    if distinct is not None and distinct.args.get("on") is not None:
        return False
    if select.find(exp.Window) is not None:
        return False
    plain = group is None or not any(
        value for name, value in group.args.items() if name != "expressions"
    )
    return plain and not (group is None and _aggregates(select))


def _aggregates(select: exp.Select) -> bool:
    """Whether the SELECT makes one row of all its rows."""
    parts = [
        *select.expressions,
        *(select.args[name] for name in ("having",) if select.args.get(name) is not None),
    ]
    return any(
        clause.find(exp.AggFunc, exp.Anonymous, exp.AnonymousAggFunc) is not None
        for clause in parts
    )


def _grouping(select: exp.Select) -> list[exp.Expr] | None:
    """The expressions that the SELECT groups by; None if it does not group.

    Ordinals stand for no expression.
    """
    group = select.args.get("group")
    return (
        None
        if group is None
        else [
            expression
            for expression in group.expressions
            if not isinstance(expression, exp.Literal)
        ]
    )


def _may_stand_for(output: exp.Expr, grouped: Sequence[exp.Expr] | None) -> bool:
    """Whether a condition on the output is a condition on each source row.

    It is if the output is a column and, if there are groups, a key.
    """
    return isinstance(output, exp.Column) and (grouped is None or output in grouped)


def _substituted(condition: exp.Expr, outputs: Mapping[str, exp.Expr | None]) -> exp.Expr:
    def meant(node: exp.Expr) -> exp.Expr:
        output = outputs.get(fold(node.name)) if isinstance(node, exp.Column) else None
        return node if output is None else output.copy()

    return condition.copy().transform(meant)
