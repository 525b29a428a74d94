"""Values that an engine computes for each row by itself,
however much alike the rows of a block are.

DuckDB computes a function once for a block of rows that hold one value (a constant vector), or for
each entry of a block's dictionary (a dictionary vector): one row that is unlike the others makes it
compute all of them. So slow functions read *flat* values, which DuckDB holds row by row (a flat
vector). Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Literal, TypeVar

from sqlglot import exp

from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import INNER
from dpsql.sql.emit.duckdb.guarded_calls import cast
from dpsql.sql.emit.total_form import call
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.signature import CallCost
from dpsql.sql.ir.expression import Expression, columns

#: So many quick operations are left to the engine as they are; where a core has more,
#: what they #: read is made flat.
FEW = 100
#: The column of ones, which makes a value flat.
ONE = "its one"
#: How flat values are marked, and the lists that hold them.
_FLAT = "flat"
_HELD = "held"
#: Which operations of the rows that are emitted read flat values; none where no core is emitted.
_READING: ContextVar[Literal["none", "slow", "every"]] = ContextVar("reading", default="none")
Tree = TypeVar("Tree", bound=exp.Expr)
#: What gives one of its arguments by rows, and may so give the same one for all of a block.
_CHOICES = (exp.Column, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Subquery, exp.Exists)
_CONSTANTS = (
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.DataType,
    exp.Interval,
    exp.Var,
    exp.Identifier,
)
_THROUGH = (exp.Paren, exp.Cast, exp.TryCast, exp.Try, exp.Neg, exp.Not)


def emitted_flat(emit: Callable[[], Tree]) -> Tree:
    """What is emitted, with flat values under slow operations,
    and under each if there are many quick ones.
    """
    tree = _emitted(emit, "slow")
    many = sum(1 for _ in tree.find_all(exp.Binary, exp.If)) > FEW
    return _emitted(emit, "every") if many else tree


def _emitted(emit: Callable[[], Tree], reading: Literal["slow", "every"]) -> Tree:
    before = _READING.set(reading)
    try:
        return emit()
    finally:
        _READING.reset(before)


def reads_flat(function: str) -> bool:
    """Whether a function is applied to flat values: one that is slow, or that is one of many."""
    reading = _READING.get()
    return reading == "every" or (
        reading == "slow" and FUNCTIONS[function].cost is not CallCost.QUICK
    )


def flat(emitted: exp.Expr, expression: Expression) -> exp.Expr:
    """The emitted expression as a flat value, which no two rows share;
    unchanged where rows may share it.
    """
    if _READING.get() == "none":
        return emitted
    if all(column.public for column in columns(expression)) or is_flat(emitted):
        return emitted
    return made_flat(emitted)


def made_flat(emitted: exp.Expr) -> exp.Expr:
    """The value as the first of a list of one; `with_opaque_ones` adds the column that has the 1."""
    one_element_list = call("LIST_VALUE")(emitted)
    flat_value = call("LIST_EXTRACT")(one_element_list, node.bare(ONE))
    one_element_list.meta[_HELD] = True
    flat_value.meta[_FLAT] = True
    return flat_value


def with_opaque_ones(tree: exp.Query) -> None:
    """Give sources a column of ones, which the engine cannot know to be alike.

    A value or a condition reads that of a source it is made of. If a join may leave out rows of
    these, it reads that of the first source; if any may be left out, that of all. In a subquery that is
    computed for a row it reads that of the row: an engine computes what it cannot know to be alike
    for each row anew.
    """
    aliases_read: dict[int, tuple[exp.Select, set[str]]] = {}
    for select in list(tree.find_all(exp.Select)):
        if select.args.get("from_") is None:
            continue
        outside = _outside(select)
        reader = select if outside is None else outside
        chosen = _of_row(select, outside) if outside is not None else _of_sources(select)
        aliases_read.setdefault(id(reader), (reader, set()))[1].update(chosen)
    one = _one()
    for select, aliases in aliases_read.values():
        for holder in _holders(select):
            if holder.this.alias in aliases:
                holder.set("this", with_columns(holder.this, select, {ONE: one.copy()}))


def _one() -> exp.Expr:
    """1, plus whether RANDOM() is below 0: it never is, and DuckDB does not know that."""
    below = node.compare(exp.LT, call("RANDOM")(), node.integer(0))
    return node.plus(node.integer(1), cast(below, "int"))


def is_beside(select: exp.Select) -> bool:
    """Whether the SELECT is a subquery in an expression, and not a source."""
    parent = select.parent
    while isinstance(parent, exp.Subquery | exp.SetOperation):
        if isinstance(parent.parent, exp.From | exp.Join):
            return False
        parent = parent.parent
    return parent is not None and not isinstance(parent, exp.CTE)


def _outside(select: exp.Select) -> exp.Select | None:
    """The SELECT for whose rows this one is computed; None if it is computed once."""
    outermost = None
    inner = select
    while (outer := inner.parent_select) is not None:
        if is_beside(inner):
            outermost = outer
        inner = outer
    return outermost if isinstance(outermost, exp.Select) else None


def _holders(select: exp.Select) -> list[exp.Expr]:
    """What holds each source: FROM, and the joins."""
    return [select.args["from_"], *(select.args.get("joins") or [])]


def _of_row(select: exp.Select, outside: exp.Select) -> set[str]:
    """The sources of the SELECT outside whose ones are read in this one."""
    aliases = [holder.this.alias for holder in _holders(outside)]
    missing = may_be_missing(outside)
    complete = [alias for alias in aliases if alias not in missing]
    return set().union(
        *(
            _chosen(clause, complete[:1], aliases, (), asks_first=True)
            for clause in own_parts(select)
        )
    )


def _of_sources(select: exp.Select) -> set[str]:
    """The sources whose ones are read in the SELECT itself."""
    aliases = [holder.this.alias for holder in _holders(select)]
    aliases_read = set[str]()
    product = is_product(select)
    for index, join in enumerate(select.args.get("joins") or [], 1):
        missing = may_be_missing(select, join)
        known = aliases[: index + 1]
        complete = [aliases[index], *(alias for alias in aliases[:index] if alias not in missing)]
        aliases_read |= _chosen(
            join.args.get("on"), complete, aliases, known if product else (), asks_first=False
        )
    missing = may_be_missing(select)
    complete = [alias for alias in aliases if alias not in missing]
    for clause in clauses(select):
        aliases_read |= _chosen(
            clause, complete, aliases, aliases if product else (), asks_first=True
        )
    return aliases_read


def _chosen(
    clause: exp.Expr | None,
    complete: Sequence[str],
    aliases: Sequence[str],
    factors: Sequence[str],
    *,
    asks_first: bool,
) -> set[str]:
    """Mark and return the sources whose ones are read in the clause.

    Of a product the engine hands on one row of some ``factors`` for all pairs of a block, so a
    value reads the ones of all sources. A condition with ``asks_first`` reads those of the first
    source: from those of another the engine would infer that its rows exist.
    """
    if clause is None:
        return set()
    aliases_read = set[str]()
    for other in list(clause.walk(prune=lambda child: isinstance(child, exp.Select))):
        if not isinstance(other, exp.Column) or other.name != ONE or other.table:
            continue
        around = other.parent
        while not (isinstance(around, exp.Case) or is_slow_node(around)):
            around = around.parent  # type: ignore[union-attr]
        tables = [column.table for column in around.find_all(exp.Column)]  # type: ignore[union-attr]
        used = (
            []
            if asks_first and isinstance(around, exp.Case)
            else [alias for alias in complete if alias in tables]
        )
        chosen = used[:1] or list(complete[:1]) or list(aliases)
        if is_slow_node(around):
            chosen = list(dict.fromkeys([*chosen, *factors]))
        aliases_read.update(chosen)
        ones: list[exp.Expr] = [node.column(alias, ONE) for alias in chosen]
        other.replace(ones[0] if len(ones) == 1 else call("GREATEST")(*ones))
    return aliases_read


def may_be_missing(select: exp.Select, until: exp.Join | None = None) -> set[str]:
    """The sources that may have no row in a row of the joins, or of the joins before one of them."""
    before = [select.args["from_"].this.alias]
    missing = set[str]()
    for join in select.args.get("joins") or []:
        if join is until:
            break
        if join.side in ("FULL", "RIGHT"):
            missing.update(before)
        if join.side in ("FULL", "LEFT") and not join.meta.get(INNER):
            missing.add(join.this.alias)
        before.append(join.this.alias)
    return missing


def with_columns(source: exp.Expr, select: exp.Select, more: Mapping[str, exp.Expr]) -> exp.Expr:
    """The source as a subquery of the columns that the SELECT reads of it,
    and of those that are computed.
    """
    alias = source.alias
    names = [column.name for column in _columns(select) if column.table == alias]
    names += [
        column.name
        for expression in more.values()
        for column in expression.find_all(exp.Column)
        if column.table
    ]
    outputs: list[exp.Expr] = [
        node.column(alias, name) for name in dict.fromkeys(names) if name not in more
    ]
    outputs += [node.aliased(expression, name) for name, expression in more.items()]
    return node.subquery(node.select(outputs, source), alias)


def _columns(select: exp.Select) -> Iterator[exp.Column]:
    """The columns that the statement reads, without those that its sources read for themselves."""
    for clause in own_parts(select):
        yield from clause.find_all(exp.Column)


def own_parts(select: exp.Select) -> Iterator[exp.Expr]:
    """All that stands in the SELECT but its sources: its clauses,
    and the conditions of its joins.
    """
    yield from clauses(select)
    yield from (
        join.args["on"]
        for join in select.args.get("joins") or []
        if join.args.get("on") is not None
    )


def clauses(select: exp.Select) -> Iterator[exp.Expr]:
    """All that stands in the SELECT beside its sources and what joins them."""
    for name, value in select.args.items():
        if name not in ("joins", "from_"):
            yield from (
                child
                for child in (value if isinstance(value, list) else [value])
                if isinstance(child, exp.Expr)
            )


def is_product(select: exp.Select) -> bool:
    """Whether some join multiplies rows without an equality of what is joined,
    so that the engine makes each pair.
    """
    return any(
        not _equates(join.args.get("on"), join.this.alias)
        for join in select.args.get("joins") or []
    )


def _equates(on: exp.Expr | None, alias: str) -> bool:
    """Whether the condition compares something of this source alone with something of others."""
    if isinstance(on, exp.And | exp.Paren):
        return any(
            _equates(argument, alias)
            for argument in on.args.values()
            if isinstance(argument, exp.Expr)
        )
    if not isinstance(on, exp.EQ | exp.NullSafeEQ):
        return False
    sides = [
        {column.table for column in side.find_all(exp.Column)} for side in (on.this, on.expression)
    ]
    return all(sides) and {alias} in sides and any(alias not in side for side in sides)


def is_slow_node(emitted: object) -> bool:
    """Whether the node stands under a slow function, which reads nothing but flat values."""
    return isinstance(emitted, exp.Expr) and emitted._meta is not None and _FLAT in emitted._meta


def is_flat_list(emitted: exp.Expr) -> bool:
    """Whether the node is the list of a flat value."""
    return emitted._meta is not None and _HELD in emitted._meta


def is_flat(emitted: exp.Expr) -> bool:
    """Whether the engine computes the expression row by row, or once for all rows there are.

    >>> [is_flat(exp.maybe_parse(each)) for each in ("a", "'x'", "CASE WHEN TRUE THEN 1 END", "f(a)")]
    [False, True, False, False]
    >>> from dpsql.sql.emit.duckdb import DUCKDB
    >>> is_flat(DUCKDB.total_form("lpad", made_flat(exp.column("a")), exp.Literal.number(3)))
    True
    """
    if is_slow_node(emitted):
        return True
    if isinstance(emitted, _CHOICES):
        return False
    if isinstance(emitted, _THROUGH):
        return is_flat(emitted.this)
    parts = [child for child in _parts(emitted) if not _is_constant(child)]
    return not parts or any(map(is_flat, parts))


def _is_constant(emitted: exp.Expr) -> bool:
    return isinstance(emitted, _CONSTANTS) or (
        not isinstance(emitted, _CHOICES)
        and not isinstance(emitted, exp.Anonymous)
        and all(map(_is_constant, _parts(emitted)))
    )


def _parts(emitted: exp.Expr) -> list[exp.Expr]:
    children = (
        child
        for value in emitted.args.values()
        for child in (value if isinstance(value, list) else [value])
    )
    return [child for child in children if isinstance(child, exp.Expr)]
