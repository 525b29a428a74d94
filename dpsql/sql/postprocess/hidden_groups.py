"""Which reads of a released table may read groups that are not shown, since a group without rows adds 0 there.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.empty_groups import Evident
from dpsql.sql.ir.aggregate import COUNT, SUM, UNITS
from dpsql.sql.ir.core import Core
from dpsql.sql.postprocess.carried_columns import carried
from dpsql.sql.postprocess.group_rows import GroupRows

#: The column of a released table that tells whether a group is shown.
PRESENT = "present"
#: Aggregates that are 0, or NULL, for a group without rows, and that noise leaves as they are on the average.
_ZERO_WITHOUT_ROWS = (COUNT, UNITS, SUM)


def with_hidden_groups(
    query: exp.Query, cores: Sequence[Core], evident: Evident, plain: Collection[str], elsewhere: Collection[int]
) -> tuple[exp.Query, Evident]:
    """The query over tables with their hidden groups, if it may read them; it leaves these out wherever it may not.

    Tables that are read ``elsewhere``, too, have the groups that are shown, and so have ``plain`` ones, whose rows are
    passed on. What is made of several rows of a table with a threshold lacks the groups below it.
    """
    changed, complete, partial = query.copy(), set[int](), set[int]()
    scans: dict[int, list[exp.Table]] = {}
    for table in changed.find_all(exp.Table):
        if table.db == "released" and table.name.startswith("core"):
            scans.setdefault(int(table.name.removeprefix("core")), []).append(table)
    for place in sorted(evident.cores & scans.keys()):
        if f"core{place}" in plain or place in dict(evident.nulls):
            continue
        alone = all(_is_alone(table) for table in scans[place])
        reads = [_reads_hidden(table, cores[place]) if alone and place not in elsewhere else False
                 for table in scans[place]]  # fmt: skip
        if any(reads):
            complete.add(place)
            for table, harmless in zip(scans[place], reads, strict=True):
                if not harmless:
                    _select_of(table).where(exp.column(PRESENT, table.alias_or_name, quoted=True), copy=False)
        if not all(reads):
            partial.add(place)
    partial |= {place for place in scans if _is_thresholded(cores[place]) and f"core{place}" not in plain}
    totals = partial if _combines_many_rows(changed) else set[int]()
    combined = partial if totals or changed.find(exp.Window) is not None else set[int]()
    return changed, replace(
        evident,
        complete=frozenset(complete),
        partial=frozenset(partial),
        combined=frozenset(combined),
        totals=frozenset(totals),
    )


def _is_thresholded(core: Core) -> bool:
    """Whether groups of few units are in no row: nothing that is released tells what they add."""
    return bool(core.keys) and core.domain is None


def _select_of(table: exp.Table) -> exp.Select:
    select = table.find_ancestor(exp.Select)
    assert isinstance(select, exp.Select)
    return select


def _is_alone(table: exp.Table) -> bool:
    """Whether the table is all that its SELECT reads."""
    select = table.parent.parent if isinstance(table.parent, exp.From) else None
    return isinstance(select, exp.Select) and not select.args.get("joins") and not table.args.get("pivots")


def _combines_many_rows(query: exp.Query) -> bool:
    """Whether the query makes numbers of many rows, or of none where a join finds no partner.

    LAG, and frames of so many ROWS up to this one, make them of a few rows before.
    """
    for total in query.find_all(exp.AggFunc, exp.Window):
        window = total if isinstance(total, exp.Window) else total.parent
        window = window.parent if isinstance(window, exp.Filter) else window
        if not isinstance(window, exp.Window) or not _is_short(window):
            return True
    return any(join.args.get("side") for join in query.find_all(exp.Join)) or any(
        (select.parent is not None and not isinstance(select.parent, exp.Subquery | exp.SetOperation))
        or (isinstance(select.parent, exp.Subquery) and not isinstance(select.parent.parent, exp.From | exp.Join))
        for select in query.find_all(exp.Select)
    )  # fmt: skip


def _is_short(window: exp.Window) -> bool:
    order, frame = window.args.get("order"), window.args.get("spec")
    if order is None or any(each.args.get("desc") for each in order.expressions):
        return False
    if isinstance(window.this, exp.Lag):
        return True
    back = frame is not None and frame.args.get("end") in (None, "CURRENT ROW") and frame.args.get("kind") == "ROWS"
    return frame is not None and back and frame.args.get("start") not in (None, "UNBOUNDED")


def _reads_hidden(table: exp.Table, core: Core) -> bool:
    """Whether the table may be read with its hidden groups; filters for the shown ones are put where rows show."""
    select, name = _select_of(table), fold(table.alias_or_name)
    keys = {f"k{place}": place for place, _ in enumerate(core.keys)}
    columns = {f"a{place}": each.function in _ZERO_WITHOUT_ROWS for place, each in enumerate(core.aggregates)}
    zeros = frozenset(column for column, is_zero in columns.items() if is_zero)
    others = frozenset(columns) - zeros
    rows: GroupRows | None = GroupRows(name, keys, zeros, others, len(keys), ((select, table.alias_or_name),))
    while rows is not None:
        select = rows.way[-1][0]
        if not _reads_shown_parts(select, rows):
            return False
        if is_grouped(select):
            return _is_summed(select, rows)
        if any(window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window)):
            return _is_running(select, rows)
        after = _passed(select, rows)
        if after is None:
            return False
        outer, join = after.way[-1][0], select.parent.parent if select.parent is not None else None
        if outer.args.get("joins"):
            if isinstance(join, exp.Join) and _is_added(outer, join, after):
                return True
            return _joins_by_keys(outer, after) and _is_summed(outer, after)
        rows = after
    return False


def _reads_shown_parts(select: exp.Select, rows: GroupRows) -> bool:
    """Whether rows are chosen by keys alone and none are left out for their number or their likeness."""
    if select.args.get("distinct") or any(select.args.get(part) is not None for part in ("having", "qualify")):
        return False
    where = select.args.get("where")
    return rows.is_public(None if where is None else where.this)


def _is_summed(select: exp.Select, rows: GroupRows) -> bool:
    """Whether a SELECT with aggregates adds the rows up, by their keys; it shows groups with a shown part."""
    group = select.args.get("group")
    if any(window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window)):
        return False
    sums = list(_own_aggregates(select))
    if not all(
        isinstance(each, exp.Sum) and rows.is_zero(each.this) and _filter_is_public(each, rows) for each in sums
    ):
        return False
    if group is None:
        return True
    if not group.expressions or any(group.args.get(part) for part in ("rollup", "cube", "grouping_sets", "all")):
        return False
    by = [select.expressions[int(key.this) - 1].unalias() if isinstance(key, exp.Literal) and key.is_int else key
          for key in group.expressions]  # fmt: skip
    if not all(map(rows.is_public, by)):
        return False
    shown = carried(PRESENT, 0, rows.way)
    select.having(exp.Anonymous(this="bool_or", expressions=[shown]), copy=False)
    return True


def _own_aggregates(select: exp.Select) -> Iterator[exp.AggFunc]:
    yield from (each for each in select.find_all(exp.AggFunc) if each.find_ancestor(exp.Query) is select)


def _filter_is_public(total: exp.AggFunc, rows: GroupRows) -> bool:
    parent = total.parent
    return not isinstance(parent, exp.Filter) or rows.is_public(parent.expression.this)


def _is_running(select: exp.Select, rows: GroupRows) -> bool:
    """Whether all windows of a SELECT are sums from the first row on, or of all; it shows the rows that are shown."""
    for window in select.find_all(exp.Window):
        if window.find_ancestor(exp.Query) is not select:
            continue
        total, frame, order = window.this, window.args.get("spec"), window.args.get("order")
        total = total.this if isinstance(total, exp.Filter) else total
        whole = frame is None or (
            frame.args.get("start") == "UNBOUNDED" and frame.args.get("end") in ("CURRENT ROW", "UNBOUNDED")
        )
        by = [*(window.args.get("partition_by") or ()), *(each.this for each in (order.expressions if order else ()))]
        added = isinstance(total, exp.Sum) and rows.is_zero(total.this) and _filter_is_public(total, rows)
        if not whole or not added or not all(map(rows.is_public, by)) or window.args.get("alias"):
            return False
    select.set("qualify", exp.Qualify(this=carried(PRESENT, 0, rows.way)))
    return True


def _passed(select: exp.Select, rows: GroupRows) -> GroupRows | None:
    """The rows as the SELECT around this one has them, which passes them on; None if it does something else."""
    source = select.parent
    around = source.parent if isinstance(source, exp.Subquery) and not source.args.get("pivots") else None
    if source is None or not isinstance(around, exp.From | exp.Join) or not source.alias_or_name:
        return None
    outer = around.parent
    limited = any(part.args.get(name) is not None for part in (select, source) for name in ("limit", "offset"))
    if not isinstance(outer, exp.Select) or limited or source.alias_column_names:
        return None
    keys, zeros, others = dict[str, int | None](), set[str](), set[str]()
    for item in select.expressions:
        if isinstance(item, exp.Star) or item.is_star:
            keys |= rows.keys
            zeros |= rows.zeros
            others |= rows.others
            continue
        name, value = fold(item.alias_or_name), item.unalias()
        if rows.is_public(value):
            keys[name] = rows.keys.get(fold(value.name)) if isinstance(value, exp.Column) else None
        elif rows.is_zero(value):
            zeros.add(name)
        else:
            others.add(name)
    way = (*rows.way, (outer, source.alias_or_name))
    return GroupRows(fold(source.alias_or_name), keys, frozenset(zeros), frozenset(others), rows.count, way)


def _is_added(select: exp.Select, join: exp.Join, rows: GroupRows) -> bool:
    """Whether a LEFT JOIN adds the rows to others by their keys, and what has no partner counts as 0."""
    if str(join.args.get("side")).upper() != "LEFT" or join.args.get("method") or str(join.kind).upper() == "ASOF":
        return False
    using = {fold(each.name) for each in join.args.get("using") or ()}
    matched = {rows.keys.get(name) for name in using}
    condition = join.args.get("on")
    for part in condition.flatten() if isinstance(condition, exp.And) else [condition] if condition else []:
        equal = part.unnest()
        if not isinstance(equal, exp.EQ):
            return False
        sides = [side for side in (equal.this, equal.expression) if isinstance(side, exp.Column) and rows.has(side)]
        if len(sides) != 1 or fold(sides[0].name) not in rows.keys:
            return False
        matched.add(rows.keys[fold(sides[0].name)])
    single = set(range(rows.count)) <= matched
    summed = is_grouped(select) and all(isinstance(each, exp.Sum) for each in _own_aggregates(select))
    if not single and not summed:
        return False
    within = condition or join
    for column in select.find_all(exp.Column):
        inside = column.find_ancestor(exp.Query) is select and column is not within and not _is_in(column, within)
        merged = not column.table and fold(column.name) in using
        if inside and rows.has(column) and not merged and not _counts_as_zero(column, rows, summed):
            return False
    return bool(matched) and not any(_is_bare_star(item, rows) for item in select.expressions)


def _is_bare_star(item: exp.Expr, rows: GroupRows) -> bool:
    return isinstance(item, exp.Star) or (item.is_star and fold(getattr(item, "table", "")) == rows.name)


def _is_in(node: exp.Expr, within: exp.Expr) -> bool:
    ancestor: exp.Expr | None = node
    while ancestor is not None and ancestor is not within:
        ancestor = ancestor.parent
    return ancestor is within


def _joins_by_keys(select: exp.Select, rows: GroupRows) -> bool:
    """Whether a SELECT with aggregates joins the rows to others by their keys alone."""
    joins = select.args.get("joins") or []
    if not is_grouped(select) or any(join.args.get("side") or join.args.get("method") for join in joins):
        return False
    names = {fold(each.name) for join in joins for each in join.args.get("using") or ()}
    return names <= rows.keys.keys() and all(rows.is_public(join.args.get("on")) for join in joins)


def _counts_as_zero(column: exp.Column, rows: GroupRows, summed: bool) -> bool:
    """Whether a column of the joined rows is read as COALESCE(column, 0), or in a sum, which NULL adds nothing to."""
    node: exp.Expr = column
    while node.parent is not None and not isinstance(node, exp.Select):
        node = node.parent
        if isinstance(node, exp.Coalesce):
            return rows.is_zero(node) and any(isinstance(each, exp.Literal) for each in node.expressions)
        if isinstance(node, exp.Sum) and summed:
            return rows.is_zero(node.this) and _filter_is_public(node, rows)
    return False
