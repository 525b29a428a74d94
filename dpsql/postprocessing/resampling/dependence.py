"""Which columns of a query depend on released numbers, and whether it computes with noise that is not drawn again.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.scope import alias_columns

#: Names of columns, each with whether it depends on a released number.
Columns: TypeAlias = list[tuple[str, bool]]


def depends(query: exp.Expr, public: Mapping[str, Sequence[str]], names: Sequence[str] = ()) -> tuple[bool, ...] | None:
    """For each column of the query, whether it may depend on a released number; None where they are not known.

    ``public`` holds the columns of the public tables that the query reads; ``names`` are those of its own columns,
    where it shows all columns of a PIVOT.
    """
    found = _columns(query, public)
    if found is None and isinstance(query, exp.Select):
        found = _pivoted(query, public, names)
    return None if found is None else tuple(depending for _, depending in found)


def _columns(query: exp.Expr, public: Mapping[str, Sequence[str]]) -> Columns | None:
    match query:
        case exp.Subquery() if not query.args.get("pivots"):
            return _columns(query.this, public)
        case exp.SetOperation() if not query.args.get("by_name"):
            left, right = _columns(query.this, public), _columns(query.expression, public)
            if left is None or right is None or len(left) != len(right):
                return None
            return [(name, mine or theirs) for (name, mine), (_, theirs) in zip(left, right, strict=True)]
        case exp.Select():
            return _selected(query, public)
        case _:
            return None


def _selected(select: exp.Select, public: Mapping[str, Sequence[str]]) -> Columns | None:
    source = select.args.get("from_")
    nodes = [*([] if source is None else [source.this]), *(join.this for join in select.args.get("joins") or ())]
    sources = {fold(node.alias_or_name): _source(node, public) for node in nodes}
    found: Columns = []
    for place, item in enumerate(select.expressions):
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if not isinstance(star, exp.Star):
            found.append((fold(item.alias_or_name) or f"column{place}", _is_tainted(item, sources)))
            continue
        starred = _starred(star, fold(item.table) if isinstance(item, exp.Column) else "", select, sources)
        if starred is None:
            return None
        found += starred
    return found


def _starred(star: exp.Star, table: str, select: exp.Select, sources: Mapping[str, Columns | None]) -> Columns | None:
    """The columns that a star stands for; None where that is not known."""
    joins = select.args.get("joins") or []
    if any(join.args.get("using") or join.args.get("method") for join in joins):
        return None
    if star.args.get("replace") or star.args.get("rename"):
        return None
    left_out = {fold(each.name) for each in star.args.get("except_") or ()}
    found: Columns = []
    for name, columns in sources.items():
        if table in ("", name):
            if columns is None:
                return None
            found += [each for each in columns if each[0] not in left_out]
    return found


def _pivoted(select: exp.Select, public: Mapping[str, Sequence[str]], names: Sequence[str]) -> Columns | None:
    """The columns of ``SELECT * FROM (…) PIVOT …``: those that it groups by keep their names."""
    source = select.args.get("from_")
    if source is None or select.args.get("joins") or list(select.expressions) != [exp.Star()]:
        return None
    inner = source.this.copy()
    pivots = inner.args.get("pivots") or []
    inner.set("pivots", None)
    columns = _source(inner, public)
    if columns is None or len(pivots) != 1 or pivots[0].args.get("unpivot"):
        return None
    keys = {name for name, depending in columns if not depending}
    return [(name, name not in keys) for name in names]


def _source(node: exp.Expr, public: Mapping[str, Sequence[str]]) -> Columns | None:
    """The columns of a source; None where they are not known, as those of a released table are not by their names."""
    names = alias_columns(node)
    match node:
        case _ if node.args.get("pivots"):
            return None
        case exp.Table() if node.db == "public" and not names:
            known = public.get(fold(node.name))
            return None if known is None else [(fold(name), False) for name in known]
        case exp.Subquery():
            columns = _columns(node.this, public)
            if columns is None or len(names) > len(columns):
                return None
            return [(new, depending) for new, (_, depending) in
                    zip([*names, *(name for name, _ in columns[len(names) :])], columns, strict=True)]  # fmt: skip
        case _:
            return None


def _is_tainted(item: exp.Expr, sources: Mapping[str, Columns | None]) -> bool:
    if item.find(exp.AggFunc, exp.Window, exp.Query, exp.Star, exp.Anonymous) is not None:
        return True
    return any(_of_number(column, sources) for column in item.find_all(exp.Column))


def _of_number(column: exp.Column, sources: Mapping[str, Columns | None]) -> bool:
    """Whether the column depends on a released number; one that nobody knows does."""
    name, table = fold(column.name), fold(column.table)
    if table.startswith(("core", "cube")) and sources.get(table, ()) is None:
        return not name.startswith(("k", "g", "e", "row"))
    known = [depending for source, columns in sources.items() if table in ("", source) and columns is not None
             for own, depending in columns if own == name]  # fmt: skip
    return True if not known else any(known)


def computes_with(query: exp.Query, undrawn: Mapping[str, Collection[str]]) -> bool:
    """Whether one of these columns of released tables is more than shown, or sorted by; where names hide it, it may be.

    >>> import sqlglot
    >>> text = "SELECT {} FROM (SELECT core0.a0 AS h, core0.a1 AS n FROM released.core0 AS core0) AS t"
    >>> queries = [sqlglot.parse_one(text.format(items)) for items in ("h, SUM(n) OVER ()", "SUM(h[1] / n)")]
    >>> [computes_with(query, {"core0": ["a0"]}) for query in queries]
    [False, True]
    """
    if not any(undrawn.values()):
        return False
    names = _names(query, undrawn)
    if any(alias_columns(node) for node in query.find_all(exp.Subquery)) and names:
        return True
    return any(not _is_shown(each) for each in query.find_all(exp.Column) if _is_one(each, undrawn, names))


def _names(query: exp.Query, undrawn: Mapping[str, Collection[str]]) -> set[str]:
    """The names under which subqueries give such a column on."""
    names, before = set[str](), -1
    while before < len(names):
        before = len(names)
        for select in query.find_all(exp.Select):
            for item in select.expressions:
                if isinstance(item.unalias(), exp.Column) and _is_one(item.unalias(), undrawn, names):
                    names.add(fold(item.alias_or_name))
    return names


def _is_one(column: exp.Expr, undrawn: Mapping[str, Collection[str]], names: Collection[str]) -> bool:
    own = undrawn.get(fold(column.text("table")))
    return fold(column.name) in (names if own is None else own)


def _is_shown(column: exp.Column) -> bool:
    """Whether the column is one of its SELECT's as it is, or its rows are sorted by it."""
    item = column.parent if isinstance(column.parent, exp.Alias) else column
    if isinstance(item.parent, exp.Ordered):
        order = item.parent.parent
        return order is not None and isinstance(order.parent, exp.Select) and order.parent.args.get("limit") is None
    return isinstance(item.parent, exp.Select) and item.arg_key == "expressions"
