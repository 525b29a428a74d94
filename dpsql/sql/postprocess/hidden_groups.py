"""Which reads of a released table may read groups that are not shown,
since a group without rows adds 0 there.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import Enum, auto

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.empty_groups import Evident
from dpsql.sql.ir.aggregate import COUNT, SUM, UNITS
from dpsql.sql.ir.core import Core
from dpsql.sql.postprocess.carried_columns import carried
from dpsql.sql.postprocess.group_rows import GroupRows, own_aggregates
from dpsql.sql.postprocess.joined_groups import is_added, joins_by_keys

#: The column of a released table that tells whether a group is shown.
PRESENT = "present"
#: Aggregates that are 0, or NULL, for a group without rows,
#: and that noise leaves as they are on #: the average.
_ZERO_WITHOUT_ROWS = (COUNT, UNITS, SUM)
#: Aggregates that a FILTER keeps from rows that are not shown.
_FILTERED = (exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max)


class Reads(Enum):
    """Which groups of a released table a part of the query reads."""

    SHOWN = auto()
    ALL = auto()
    SUMS_OF_ALL = auto()  #: sums read all groups, and what stands beside them the shown ones


def with_hidden_groups(
    query: exp.Query,
    cores: Sequence[Core],
    evident: Evident,
    plain: Collection[str],
    elsewhere: Collection[int],
) -> tuple[exp.Query, Evident]:
    """The query over tables with their hidden groups, left out of reads that may not use them.

    Tables that are read ``elsewhere``, too, have the groups that are shown, and so have ``plain``
    ones, whose rows are passed on. What is made of several rows of a table with a threshold lacks
    the groups below it.
    """
    changed = query.copy()
    complete = set[int]()
    partial = set[int]()
    scans: dict[int, list[exp.Table]] = {}
    for table in changed.find_all(exp.Table):
        if table.db == "released" and table.name.startswith("core"):
            scans.setdefault(int(table.name.removeprefix("core")), []).append(table)
    for index in sorted(evident.cores & scans.keys()):
        if f"core{index}" in plain or index in dict(evident.nulls):
            continue
        alone = all(_is_alone(table) for table in scans[index])
        reads = [
            _reads(table, cores[index]) if alone and index not in elsewhere else Reads.SHOWN
            for table in scans[index]
        ]
        if any(reading is not Reads.SHOWN for reading in reads):
            complete.add(index)
            for table, reading in zip(scans[index], reads, strict=True):
                if reading is Reads.SHOWN:
                    _select_of(table).where(
                        exp.column(PRESENT, table.alias_or_name, quoted=True), copy=False
                    )
        if any(reading is not Reads.ALL for reading in reads):
            partial.add(index)
    partial |= {
        scan for scan in scans if _is_thresholded(cores[scan]) and f"core{scan}" not in plain
    }
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
    return (
        isinstance(select, exp.Select)
        and not select.args.get("joins")
        and not table.args.get("pivots")
    )


def _combines_many_rows(query: exp.Query) -> bool:
    """Whether the query makes numbers of many rows, or of none if a join finds no partner.

    LAG, and frames of so many ROWS up to this one, make them of a few rows before.
    """
    for total in query.find_all(exp.AggFunc, exp.Window):
        window = total if isinstance(total, exp.Window) else total.parent
        window = window.parent if isinstance(window, exp.Filter) else window
        if not isinstance(window, exp.Window) or not _is_short(window):
            return True
    return any(join.args.get("side") for join in query.find_all(exp.Join)) or any(
        (
            select.parent is not None
            and not isinstance(select.parent, exp.Subquery | exp.SetOperation)
        )
        or (
            isinstance(select.parent, exp.Subquery)
            and not isinstance(select.parent.parent, exp.From | exp.Join)
        )
        for select in query.find_all(exp.Select)
    )


def _is_short(window: exp.Window) -> bool:
    order = window.args.get("order")
    frame = window.args.get("spec")
    if order is None or any(expression.args.get("desc") for expression in order.expressions):
        return False
    if isinstance(window.this, exp.Lag):
        return True
    back = (
        frame is not None
        and frame.args.get("end") in (None, "CURRENT ROW")
        and frame.args.get("kind") == "ROWS"
    )
    return frame is not None and back and frame.args.get("start") not in (None, "UNBOUNDED")


def _reads(table: exp.Table, core: Core) -> Reads:
    """Which groups of the table may be read; filters for the shown ones are put where rows show."""
    select = _select_of(table)
    name = fold(table.alias_or_name)
    keys = {f"k{index}": index for index, _ in enumerate(core.keys)}
    columns = {
        f"a{index}": aggregate.function in _ZERO_WITHOUT_ROWS
        for index, aggregate in enumerate(core.aggregates)
    }
    zeros = frozenset(column for column, is_zero in columns.items() if is_zero)
    others = frozenset(columns) - zeros
    rows: GroupRows | None = GroupRows(
        name, keys, zeros, others, count=len(keys), way=((select, table.alias_or_name),)
    )
    while rows is not None:
        select = rows.way[-1][0]
        if not _reads_shown_parts(select, rows):
            return Reads.SHOWN
        if is_grouped(select):
            return _summed(select, rows)
        if any(window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window)):
            return Reads.ALL if _is_running(select, rows) else Reads.SHOWN
        after = _passed(select, rows)
        if after is None:
            return Reads.SHOWN
        outer = after.way[-1][0]
        join = select.parent.parent if select.parent is not None else None
        if outer.args.get("joins"):
            if isinstance(join, exp.Join) and is_added(outer, join, after):
                return Reads.ALL
            return _summed(outer, after) if joins_by_keys(outer, after) else Reads.SHOWN
        rows = after
    return Reads.SHOWN


def _reads_shown_parts(select: exp.Select, rows: GroupRows) -> bool:
    """Whether rows are chosen by keys alone, without HAVING, QUALIFY or DISTINCT."""
    if select.args.get("distinct") or any(
        select.args.get(clause) is not None for clause in ("having", "qualify")
    ):
        return False
    where = select.args.get("where")
    return rows.is_public(None if where is None else where.this)


def _summed(select: exp.Select, rows: GroupRows) -> Reads:
    """Whether a SELECT with aggregates adds the rows up by their keys; groups need a shown row.

    Aggregates other than the sums read the shown rows.
    """
    group = select.args.get("group")
    if any(window.find_ancestor(exp.Query) is select for window in select.find_all(exp.Window)):
        return Reads.SHOWN
    sums = list[exp.AggFunc]()
    others = list[exp.AggFunc]()
    for aggregate in own_aggregates(select):
        added = (
            isinstance(aggregate, exp.Sum)
            and rows.is_zero(aggregate.this)
            and rows.keeps_by_keys(aggregate)
        )
        (sums if added else others).append(aggregate)
    if not sums or not all(isinstance(other, _FILTERED) for other in others):
        return Reads.SHOWN
    if group is not None:
        if not group.expressions or any(
            group.args.get(clause) for clause in ("rollup", "cube", "grouping_sets", "all")
        ):
            return Reads.SHOWN
        by = [
            select.expressions[int(key.this) - 1].unalias()
            if isinstance(key, exp.Literal) and key.is_int
            else key
            for key in group.expressions
        ]
        if not all(map(rows.is_public, by)):
            return Reads.SHOWN
    is_shown = carried(PRESENT, 0, rows.way)
    for aggregate in others:
        _read_shown_rows(aggregate, is_shown)
    if group is not None:
        select.having(exp.Anonymous(this="bool_or", expressions=[is_shown]), copy=False)
    return Reads.SUMS_OF_ALL if others else Reads.ALL


def _read_shown_rows(total: exp.AggFunc, is_shown: exp.Column) -> None:
    """Let an aggregate read the rows that are shown alone."""
    if isinstance(total.parent, exp.Filter):
        where = total.parent.expression
        where.set("this", exp.and_(where.this, is_shown.copy()))
    else:
        total.replace(exp.Filter(this=total.copy(), expression=exp.Where(this=is_shown.copy())))


def _is_running(select: exp.Select, rows: GroupRows) -> bool:
    """Whether all windows of a SELECT are sums from the first row on, or of all rows.

    If so, the SELECT shows only the rows that are shown.
    """
    for window in select.find_all(exp.Window):
        if window.find_ancestor(exp.Query) is not select:
            continue
        total = window.this
        frame = window.args.get("spec")
        order = window.args.get("order")
        total = total.this if isinstance(total, exp.Filter) else total
        is_cumulative = frame is None or (
            frame.args.get("start") == "UNBOUNDED"
            and frame.args.get("end") in ("CURRENT ROW", "UNBOUNDED")
        )
        by = [
            *(window.args.get("partition_by") or ()),
            *(expression.this for expression in (order.expressions if order else ())),
        ]
        added = (
            isinstance(total, exp.Sum) and rows.is_zero(total.this) and rows.keeps_by_keys(total)
        )
        if (
            not is_cumulative
            or not added
            or not all(map(rows.is_public, by))
            or window.args.get("alias")
        ):
            return False
    select.set("qualify", exp.Qualify(this=carried(PRESENT, 0, rows.way)))
    return True


def _passed(select: exp.Select, rows: GroupRows) -> GroupRows | None:
    """The rows as the SELECT around this one passes them on; None if it does something else."""
    source = select.parent
    around = (
        source.parent
        if isinstance(source, exp.Subquery) and not source.args.get("pivots")
        else None
    )
    if source is None or not isinstance(around, exp.From | exp.Join) or not source.alias_or_name:
        return None
    outer = around.parent
    limited = any(
        node.args.get(name) is not None for node in (select, source) for name in ("limit", "offset")
    )
    if not isinstance(outer, exp.Select) or limited or source.alias_column_names:
        return None
    keys = dict[str, int | None]()
    zeros = set[str]()
    others = set[str]()
    for item in select.expressions:
        if isinstance(item, exp.Star) or item.is_star:
            keys |= rows.keys
            zeros |= rows.zeros
            others |= rows.others
            continue
        name = fold(item.alias_or_name)
        value = item.unalias()
        if rows.is_public(value):
            keys[name] = rows.keys.get(fold(value.name)) if isinstance(value, exp.Column) else None
        elif rows.is_zero(value):
            zeros.add(name)
        else:
            others.add(name)
    way = (*rows.way, (outer, source.alias_or_name))
    return GroupRows(
        fold(source.alias_or_name),
        keys,
        frozenset(zeros),
        frozenset(others),
        count=rows.count,
        way=way,
    )
