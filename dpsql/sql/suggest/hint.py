"""What to write instead: the nearest statement that is answered, found by trying it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.schema import Schema, fold
from dpsql.sql.analysis.grouping_levels import shapes
from dpsql.sql.analysis.work.rows import Fanout, no_sizes
from dpsql.sql.binder.aggregates.dp_clip import sizes_first
from dpsql.sql.binder.aggregates.frequencies import frequent_value
from dpsql.sql.binder.bind import bind
from dpsql.sql.binder.sources.derived_tables import Describe
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.aggregate import function_named
from dpsql.sql.ir.refusal import place
from dpsql.sql.parser.googlesql import IS_UNIT
from dpsql.sql.parser.parse import parse
from dpsql.sql.postprocess.functions import reads_interval_ends
from dpsql.sql.suggest.names import averaged_over_units, closest_names, misplaced, renamed
from dpsql.sql.suggest.rewrites import (
    counts_for_exists,
    filters_for_pivot,
    joined_on_the_unit,
    nearest_aggregates,
    quoted_texts,
    values_for_ends,
)

#: Refusals for which another statement about the same rows is a sensible answer.
_REWRITABLE = frozenset(
    "E_RAW E_AGG E_LIMIT E_DISTINCT E_WINDOW E_SETOP E_SUBQ E_JOIN E_BOUNDS E_KEY E_GROUPING E_NESTED E_FUNC E_TYPE "
    "E_SAMPLE E_COLUMN E_TABLE E_PIVOT".split()
)


#: What makes another statement of one, in place; None where it has nothing to change.
Rewrite: TypeAlias = Callable[[exp.Expr, Schema], exp.Expr | None]


def with_hint(
    refusal: DatabaseError, text: str, schema: Schema, describe: Describe, fanout: Fanout = no_sizes
) -> DatabaseError:
    """The refusal with its place and the nearest statement that is answered; any other error as it is.

    A refusal of the statement as a whole has its first character for its place.
    """
    if not isinstance(refusal, Refused | StatementError):
        return refusal
    start = place(text, len(text) - len(text.lstrip()))
    refusal = type(refusal)(
        refusal.code,
        refusal.reason,
        hint=refusal.hint,
        position=refusal.position or start,
        sqlstate=refusal.sqlstate,
    )
    if refusal.code != "E_SHELL" and (refusal.code not in _REWRITABLE or refusal.hint):
        return refusal
    try:
        tree = parse(text).tree
    except DatabaseError:
        return refusal
    if refusal.code == "E_SHELL" and isinstance(refusal, StatementError):
        return _with_names(refusal, tree, schema, describe, fanout)
    for candidate in _candidates(tree, schema, (closest_names,) if refusal.code == "E_TABLE" else _REWRITES):
        try:
            statement = parse(candidate)
            if reads_interval_ends(statement.tree):
                continue
            bind(statement, schema, (), describe, fanout=fanout)
        except (DatabaseError, SqlglotError):
            continue
        return type(refusal)(
            refusal.code, refusal.reason, hint=candidate, position=refusal.position, sqlstate=refusal.sqlstate
        )
    return refusal


def _with_names(
    refusal: StatementError, tree: exp.Expr, schema: Schema, describe: Describe, fanout: Fanout
) -> StatementError:
    """The refusal at the place of its name, with a hint in which a name that exists replaces one that does not."""
    hint, position = None, misplaced(refusal, tree)
    for candidate, place_of_it in renamed(refusal, tree, schema):
        written = STATEMENT.write(candidate)
        try:
            query = bind(parse(written), schema, (), describe, fanout=fanout)
            describe(query.postprocessing, shapes(query.cores, query.cubes), query.public)
        except (DatabaseError, SqlglotError):
            continue
        hint, position = written, place_of_it
        break
    return StatementError(
        refusal.code, refusal.reason, hint=hint, position=position or refusal.position, sqlstate=refusal.sqlstate
    )


def _candidates(tree: exp.Expr, schema: Schema, rewrites: tuple[Rewrite, ...]) -> Iterator[str]:
    """Statements near the refused one, nearest first; behind all rewrites, counts of its tables' rows."""
    for demand in [node for node in tree.find_all(exp.Anonymous) if node.name == IS_UNIT]:
        demand.replace(exp.true())
    for rewrite in rewrites:
        copy = tree.copy()
        changed = rewrite(copy, schema)
        if changed is not None:
            yield STATEMENT.write(changed)
    if rewrites is not _REWRITES:
        return
    for table in tree.find_all(exp.Table):
        declared = schema.table(table.name) if isinstance(table.this, exp.Identifier) else None
        if declared is not None and not declared.public:
            yield f"SELECT COUNT(*) FROM {fold(table.name)}"
    yield f"SELECT COUNT(*) FROM {schema.unit_table}"


def _nearest_for_others(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace aggregates without a private form by the nearest that has one."""
    return nearest_aggregates(tree)


def _grouped_for_frequencies(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace HISTOGRAM(x) by x and COUNT(*), grouped by x."""
    if not isinstance(tree, exp.Select):
        return None
    items: list[exp.Expr] = []
    found: list[exp.Expr] = []
    for item in tree.expressions:
        value = frequent_value(item.unalias())
        items += [item] if value is None else [value.copy(), exp.Count(this=exp.Star())]
        found += [] if value is None or value in found else [value]
    if not found:
        return None
    tree.set("expressions", items)
    return tree.group_by(*found, copy=False)


def _bounded(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Clamp what is added up between 0 and 1000."""
    found = [node for node in tree.find_all(exp.Sum, exp.Avg) if isinstance(node.this, exp.Expr)]
    for node in found:
        if not isinstance(node.this, exp.Distinct | exp.Case):
            ends = {"low": exp.Literal.number(0), "high": exp.Literal.number(1000)}
            inside = exp.Between(
                this=exp.paren(node.this) if isinstance(node.this, exp.Binary) else node.this.copy(), **ends
            )
            node.set("this", exp.Case(ifs=[exp.If(this=inside, true=node.this.copy())]))
    return tree if found else None


def _average_for_others(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Replace MIN, MAX, MEDIAN and the like by AVG of the same value."""
    found = [node for node in tree.find_all(exp.AggFunc) if not _is_of_rows(node)]
    for node in found:
        if isinstance(node.this, exp.Expr) and not isinstance(node.parent, exp.Window | exp.WithinGroup):
            node.replace(exp.Avg(this=node.this.copy()))
    return tree if found else None


def _is_of_rows(node: exp.AggFunc) -> bool:
    """Whether the aggregate is answered, and read off sums over rows."""
    function = function_named(node)
    return function is not None and function.is_additive


def _without_inner_limits(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Remove LIMIT, OFFSET, DISTINCT and samples from subqueries."""
    inner = [select for select in tree.find_all(exp.Select) if select is not tree]
    for select in inner:
        for part in ("limit", "offset", "order", "distinct", "qualify", "sample"):
            select.set(part, None)
    return tree if inner else None


def _count_of_its_rows(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Count the rows of the statement."""
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    kept = {name: tree.args.get(name) for name in ("from_", "joins", "where", "with_")}
    return exp.Select(expressions=[exp.Count(this=exp.Star())], **kept)


def _count_without_conditions(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Count the rows of the statement's tables."""
    counted = _count_of_its_rows(tree, schema)
    if counted is not None:
        counted.set("where", None)
    return counted


_REWRITES: tuple[Rewrite, ...] = (
    sizes_first, values_for_ends, quoted_texts, closest_names, averaged_over_units, counts_for_exists,
    filters_for_pivot, joined_on_the_unit, _grouped_for_frequencies, _bounded, _nearest_for_others, _average_for_others,
    _without_inner_limits, _count_of_its_rows, _count_without_conditions,
)  # fmt: skip
