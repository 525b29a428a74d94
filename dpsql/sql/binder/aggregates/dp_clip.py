"""DP_CLIP, a size that few rows exceed: how it is measured, and how a SUM over it is rewritten.

Proved in ``docs/proofs/clipping.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from math import log

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.analysis.quantisation import RATIO, quantum, sizes
from dpsql.sql.analysis.summand import summand
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.emit.node import number
from dpsql.sql.ir.aggregate import CLIP
from dpsql.sql.ir.core import Aggregate
from dpsql.sql.ir.refusal import only, refuse


def clip_aggregate(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """The size that is asked for, with its FILTER; None for another aggregate."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not is_clip(call):
        return None
    if len(call.expressions) != 1 or isinstance(
        call.expressions[0], exp.Distinct | exp.Star | exp.Order
    ):
        refuse("E_AGG", "DP_CLIP takes one number", call)
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    value = call.expressions[0]
    argument = reader.expression(value)
    if not argument.type.is_numeric:
        refuse("E_TYPE", f"DP_CLIP needs a number, and this is {argument.type}", call)
    grid = quantum(summand(argument, "DP_CLIP", call))
    grid_sizes = sizes(grid.size, grid.largest)
    return Aggregate(
        CLIP,
        reader.expression(_size_index(value, grid.size, len(grid_sizes))),
        condition,
        values=grid_sizes,
    )


def is_clip(call: exp.Expr) -> bool:
    """Whether the node is a call of DP_CLIP."""
    return isinstance(call, exp.Anonymous) and call.name.lower() == "dp_clip"


def _size_index(value: exp.Expr, step: Fraction, count: int) -> exp.Expr:
    """The index of the value among the sizes.

    It is LEAST(CEIL(LN(GREATEST(ABS(x) / step, 1)) / LN(RATIO)), last).
    """
    size = exp.Div(this=exp.Abs(this=value.copy()), expression=number(float(step)))
    above_one = exp.Greatest(this=size, expressions=[number(1.0)])
    rounded_up = exp.Ceil(
        this=exp.Mul(this=exp.Ln(this=above_one), expression=number(1 / log(RATIO)))
    )
    last = exp.Least(this=rounded_up, expressions=[number(float(count - 1))])
    return exp.Cast(this=last, to=exp.DataType.build("INTEGER"))


#: The name of the subquery that finds the sizes, where no other part of the statement has it,
#: and #: of its columns.
_SUBQUERY = "sizes"
_SIZE_COLUMN = "size"


@dataclass(frozen=True)
class _Clipped:
    """A value that is clipped, and the FILTER of the rows whose size counts; None for all rows."""

    value: exp.Expr
    rows: exp.Expr | None


def clipped_to_norms(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Rewrite SUM(DP_CLIP(x)) as DP_CLIP(SUM(x)) if x has a column without bounds.

    So no size is looked for.
    """
    unbounded = {
        name
        for table in schema.tables.values()
        for name, column in table.columns.items()
        if column.bounds is None
    }
    changed = False
    for node in list(tree.find_all(exp.Sum)):
        call = _call(node.this)
        if (
            call is not None
            and call is node.this
            and any(fold(column.name) in unbounded for column in call.find_all(exp.Column))
        ):
            value = call.expressions[0].copy()
            node.replace(exp.Anonymous(this="DP_CLIP", expressions=[exp.Sum(this=value)]))
            changed = True
    return tree if changed else None


def sizes_first(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """Rewrite SUM(DP_CLIP(x)) as size * SUM(GREATEST(LEAST(x / size, 1), -1)).

    The size is found before. AVG is rewritten likewise. SUM(LEAST(x, DP_CLIP(x))) means the same,
    and so does SUM(t) over a subquery with DP_CLIP(x) AS t, which clips SUM(x). The size is that of
    the rows that are added up: a FILTER follows DP_CLIP as it follows SUM.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    _totals_clipped(tree)
    sizes = _free_name(tree)
    clipped_values: list[_Clipped] = []
    for node in list(tree.find_all(exp.Sum, exp.Avg, bfs=False)):
        filtered = node.parent if isinstance(node.parent, exp.Filter) else node
        clipped = _clipped(node.this, filtered.expression if filtered is not node else None)
        if clipped is None or node.parent_select is not tree:
            continue
        if clipped not in clipped_values:
            clipped_values.append(clipped)
        size = exp.column(f"{_SIZE_COLUMN}{clipped_values.index(clipped) + 1}", table=sizes)
        value = clipped.value.copy()
        ratio = exp.Div(
            this=exp.paren(value) if isinstance(value, exp.Binary) else value, expression=size
        )
        above = exp.Least(this=ratio, expressions=[exp.Literal.number(1)], ignore_nulls=True)
        node.set(
            "this",
            exp.Greatest(this=above, expressions=[exp.Literal.number(-1)], ignore_nulls=True),
        )
        product = exp.Mul(this=size.copy(), expression=filtered.copy())
        filtered.replace(
            exp.paren(product) if isinstance(filtered.parent, exp.Binary | exp.Neg) else product
        )
    return _with_sizes(tree, clipped_values, sizes) if clipped_values else None


def _free_name(tree: exp.Expr) -> str:
    """A name that no table, subquery or alias of the statement has."""
    taken = {
        fold(node.alias_or_name)
        for node in tree.find_all(exp.Table, exp.CTE, exp.Subquery, exp.Alias)
    }
    return next(
        name for name in (f"{_SUBQUERY}{number or ''}" for number in count()) if name not in taken
    )


def _totals_clipped(tree: exp.Select) -> None:
    """Rewrite a subquery's DP_CLIP as the total of its group, which the outer sums clip."""
    for subquery in [node for node in tree.find_all(exp.Subquery) if node.parent_select is tree]:
        inner = subquery.this
        for item in (
            inner.expressions
            if isinstance(inner, exp.Select) and inner.args.get("group") is not None
            else ()
        ):
            clip = _call(item.unalias())
            if clip is None or not item.alias:
                continue
            clip.replace(exp.Sum(this=clip.expressions[0].copy()))
            for node in tree.find_all(exp.Sum, exp.Avg):
                column = node.this
                if (
                    node.parent_select is tree
                    and isinstance(column, exp.Column)
                    and fold(column.name) == fold(item.alias)
                ):
                    node.set("this", exp.Anonymous(this="DP_CLIP", expressions=[column.copy()]))


def _call(node: exp.Expr | str | None) -> exp.Expr | None:
    """The DP_CLIP(x) that the node is, with a FILTER or without; None for anything else."""
    call = node.this if isinstance(node, exp.Filter) else node
    return (
        call
        if isinstance(call, exp.Expr) and is_clip(call) and len(call.expressions) == 1
        else None
    )


def _clipped(argument: exp.Expr | str | None, rows: exp.Expr | None) -> _Clipped | None:
    """The value of DP_CLIP(x), or of LEAST(x, DP_CLIP(x)), in a SUM over these rows.

    None for anything else.
    """
    parts = (
        [argument.this, *argument.expressions] if isinstance(argument, exp.Least) else [argument]
    )
    clips = [(factor, call) for factor in parts if (call := _call(factor)) is not None]
    if len(clips) != 1:
        return None
    clip, call = clips[0]
    value: exp.Expr = call.expressions[0]
    if not all(factor in (clip, value) for factor in parts):
        return None
    return _Clipped(value, clip.expression if isinstance(clip, exp.Filter) else rows)


def _with_sizes(tree: exp.Select, clipped_values: list[_Clipped], sizes: str) -> exp.Select:
    """The statement with the sizes of the values in a WITH before it, under that name."""
    source = {
        name: clause.copy()
        if isinstance(clause, exp.Expr)
        else [clipped.copy() for clipped in clause or ()]
        for name in ("from_", "joins", "where")
        if (clause := tree.args.get(name))
    }
    items = [
        exp.alias_(_size(clipped), f"{_SIZE_COLUMN}{index}")
        for index, clipped in enumerate(clipped_values, 1)
    ]
    group = tree.args.get("group")
    if group is not None and group.args.get("all"):
        keys = [
            index
            for index, item in enumerate(tree.expressions, 1)
            if item.find(exp.AggFunc) is None
        ]
        tree.set("group", exp.Group(expressions=[exp.Literal.number(key) for key in keys]))
    sized = tree.with_(sizes, as_=exp.Select(expressions=items, **source), copy=False)
    sized.join(exp.to_table(sizes), join_type="cross", copy=False)
    return sized.group_by(
        *(
            exp.column(f"{_SIZE_COLUMN}{index}", table=sizes)
            for index, _ in enumerate(clipped_values, 1)
        ),
        copy=False,
    )


def _size(clipped: _Clipped) -> exp.Expr:
    call = exp.Anonymous(this="DP_CLIP", expressions=[clipped.value.copy()])
    return call if clipped.rows is None else exp.Filter(this=call, expression=clipped.rows.copy())
