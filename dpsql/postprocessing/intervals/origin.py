"""What the output columns of one SELECT are made of: expressions over one row of a released table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.sources.ctes import alias_columns


@dataclass(frozen=True)
class Origin:
    """An expression over the columns of one row of a released table; ``row`` is the place of that table's numbers."""

    row: int
    expression: exp.Expr

    @property
    def aggregate(self) -> int | None:
        """The place of the aggregate that the column is, where it is one."""
        name = self.expression.name if isinstance(self.expression, exp.Column) else ""
        return int(name[1:]) if name.startswith("a") else None

    @property
    def is_computed(self) -> bool:
        """Whether some aggregate is read, and the column is not that aggregate itself."""
        read = [column.name for column in self.expression.find_all(exp.Column)]
        return self.aggregate is None and any(name.startswith("a") for name in read)


@dataclass(frozen=True)
class Source:
    """A source of a FROM clause.

    ``names`` are the columns that a star stands for, None where they are not known here; ``columns`` those of them that
    come from released rows; ``numbers`` the columns that number such rows, with the place of each.
    """

    name: str
    names: Sequence[str] | None
    columns: Mapping[str, Origin]
    numbers: tuple[tuple[str, int], ...] = ()


class ReleasedColumns(dict[str, Origin]):
    """The columns of a released table: any that is asked for."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def __missing__(self, name: str) -> Origin:
        return Origin(self._place, exp.column(exp.to_identifier(name, quoted=True)))

    def __contains__(self, name: object) -> bool:
        return True


def output_origins(
    query: exp.Select, sources: Sequence[Source], *, leaving_out: bool = True
) -> tuple[dict[str, Origin | None], tuple[Origin | None, ...] | None]:
    """What each output column comes from, by name and by place; a name that stands twice comes from nowhere.

    Where ``leaving_out``, the stars of the query no longer stand for the numbers of rows.
    """
    found: dict[str, Origin | None] = {}
    ordered: list[Origin | None] = []
    stars = False

    def add(name: str, origin: Origin | None) -> None:
        found[fold(name)] = None if fold(name) in found else origin

    for place, item in enumerate(query.expressions):
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if not isinstance(star, exp.Star):
            ordered.append(origin_of(item.unalias(), sources))
            add(item.alias_or_name or f"column{place}", ordered[-1])
            continue
        table = fold(item.table) if isinstance(item, exp.Column) else ""
        starred = [each for each in sources if not table or fold(each.name) == table]
        plain = not (star.args.get("replace") or star.args.get("rename"))
        if plain and all(each.names is not None for each in starred):
            for source in starred:
                for name in source.names or ():
                    add(name, source.columns.get(fold(name)))
            left_out = {fold(each.name) for each in star.args.get("except_") or ()}
            kept = [name for source in starred for name in source.names or () if fold(name) not in left_out]
            ordered += [starred[0].columns.get(fold(name)) for name in kept]
            stars = stars or len(starred) > 1
        else:
            stars = True
            add("*", None)
        if leaving_out:
            leave_out(star, [number for each in starred for number, _ in each.numbers])
    return found, None if stars else tuple(ordered)


def origin_of(node: exp.Expr, sources: Sequence[Source]) -> Origin | None:
    """The expression over the columns of one released row; None where it reads more, or less."""
    if node.find(exp.Window, exp.Query, exp.AggFunc, exp.Star, exp.Explode) is not None:
        return None
    found: list[Origin | None] = []

    def substituted(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        name = fold(part.name)
        chosen = [each.columns[name] for each in sources
                  if (not part.table or fold(each.name) == fold(part.table)) and name in each.columns]  # fmt: skip
        found.append(chosen[0] if len(chosen) == 1 else None)
        inner = part if found[-1] is None else found[-1].expression
        return inner.copy() if isinstance(inner, exp.Column) else exp.Paren(this=inner.copy())

    expression = node.copy().transform(substituted)
    rows = {None if origin is None else origin.row for origin in found}
    (row,) = rows if len(rows) == 1 else (None,)
    return None if row is None else Origin(row, expression.unnest())


def item_of(query: exp.Select, place: int) -> exp.Expr | None:
    """What the query says of its column; None where that is not known, since a star stands before it."""
    items = query.expressions[: place + 1]
    return items[place] if len(items) > place and not any(item.is_star for item in items) else None


def inside(table: str, name: str, query: exp.Select) -> tuple[exp.Expr, exp.Select] | None:
    """What the column of a subquery is made of, and the subquery; None where none or several may have it."""
    source, joins = query.args.get("from_"), query.args.get("joins") or []
    shared = {fold(each.name) for join in joins for each in join.args.get("using") or ()}
    if fold(name) in shared or any(join.args.get("method") for join in joins):
        return None
    nodes = [*([] if source is None else [source.this]), *(join.this for join in joins)]
    found = []
    for node in nodes:
        if not isinstance(node, exp.Subquery) or (table and fold(node.alias_or_name) != fold(table)):
            continue
        inner = node.this
        if not isinstance(inner, exp.Select) or node.args.get("pivots") or alias_columns(node):
            return None
        found += [(each.unalias(), inner) for each in inner.expressions if fold(each.alias_or_name) == fold(name)]
        if any(isinstance(each, exp.Star) or each.is_star for each in inner.expressions):
            return None
    return found[0] if len(found) == 1 else None


def leave_out(star: exp.Star, names: Sequence[str]) -> None:
    """``* EXCLUDE`` these columns."""
    if names:
        inner = [exp.to_identifier(name, quoted=True) for name in names]
        star.set("except_", [*(star.args.get("except_") or ()), *inner])
