"""What to write where DP_CLIP stands inside a SUM: the size first, then the sum of what is clipped at it."""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.clipping import is_clip
from dpsql.schema import Schema, fold

#: The name of the subquery that finds the sizes, and of its columns.
_SIZES, _SIZE = "sizes", "size"


def sizes_first(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """SUM(DP_CLIP(x)) becomes size * SUM(GREATEST(LEAST(x / size, 1), -1)) with the size found before, AVG likewise.

    SUM(LEAST(x, DP_CLIP(x))) means the same, and so does SUM(t) of a subquery's DP_CLIP(x) AS t: its SUM(x) is clipped.
    """
    if not isinstance(tree, exp.Select) or tree.args.get("from_") is None:
        return None
    _totals_clipped(tree)
    values: list[exp.Expr] = []
    for node in list(tree.find_all(exp.Sum, exp.Avg, bfs=False)):
        value = _clipped(node.this)
        if value is None or node.parent_select is not tree:
            continue
        if value not in values:
            values.append(value)
        size = exp.column(f"{_SIZE}{values.index(value) + 1}", table=_SIZES)
        ratio = exp.Div(this=exp.paren(value.copy()) if isinstance(value, exp.Binary) else value.copy(),
                        expression=size)  # fmt: skip
        above = exp.Least(this=ratio, expressions=[exp.Literal.number(1)], ignore_nulls=True)
        node.set("this", exp.Greatest(this=above, expressions=[exp.Literal.number(-1)], ignore_nulls=True))
        whole = node.parent if isinstance(node.parent, exp.Filter) else node
        whole.replace(exp.Mul(this=size.copy(), expression=whole.copy()))
    return _with_sizes(tree, values) if values else None


def _totals_clipped(tree: exp.Select) -> None:
    """A subquery's DP_CLIP becomes the total of its group, which the sums of it around the subquery clip."""
    for subquery in [node for node in tree.find_all(exp.Subquery) if node.parent_select is tree]:
        inner = subquery.this
        for item in inner.expressions if isinstance(inner, exp.Select) and inner.args.get("group") is not None else ():
            clip = item.unalias()
            if not is_clip(clip) or len(clip.expressions) != 1 or not item.alias:
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


def _clipped(argument: exp.Expr | str | None) -> exp.Expr | None:
    """The value of DP_CLIP(x), or of LEAST(x, DP_CLIP(x)); None for anything else."""
    parts = [argument.this, *argument.expressions] if isinstance(argument, exp.Least) else [argument]
    clips = [each for each in parts if isinstance(each, exp.Expr) and is_clip(each) and len(each.expressions) == 1]
    if len(clips) != 1:
        return None
    value: exp.Expr = clips[0].expressions[0]
    return value if all(each in (clips[0], value) for each in parts) else None


def _with_sizes(tree: exp.Select, values: list[exp.Expr]) -> exp.Select:
    """The statement with the sizes of the values in a WITH before it."""
    source = {name: part.copy() if isinstance(part, exp.Expr) else [each.copy() for each in part or ()]
              for name in ("from_", "joins", "where") if (part := tree.args.get(name))}  # fmt: skip
    found = [exp.alias_(exp.Anonymous(this="DP_CLIP", expressions=[value.copy()]), f"{_SIZE}{place}")
             for place, value in enumerate(values, 1)]  # fmt: skip
    told = tree.with_(_SIZES, as_=exp.Select(expressions=found, **source), copy=False)
    told.join(exp.to_table(_SIZES), join_type="cross", copy=False)
    return told.group_by(
        *(exp.column(f"{_SIZE}{place}", table=_SIZES) for place, _ in enumerate(values, 1)), copy=False
    )
