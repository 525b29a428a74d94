"""Columns of a released table that are handed on through SELECTs which nobody wrote them into."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sqlglot import exp

from dpsql.schema import fold


def carried(name: str, index: int, way: Sequence[tuple[exp.Select, str]]) -> exp.Column:
    """A released row's column at the end of the way: each SELECT passes it on, hidden from *."""
    column = exp.column(name, way[0][1], quoted=True)
    for (inner, _), (outer, source) in pairwise(way):
        hidden = f"dpsql {name} {index}"
        if hidden not in inner.named_selects:
            inner.append("expressions", exp.alias_(column, hidden, quoted=True))
            for item in outer.expressions:
                star = item.this if isinstance(item, exp.Column) else item
                if isinstance(star, exp.Star) and fold(item.text("table")) in ("", fold(source)):
                    star.set(
                        "except_",
                        [*(star.args.get("except_") or ()), exp.to_identifier(hidden, quoted=True)],
                    )
        column = exp.column(hidden, source, quoted=True)
    return column
