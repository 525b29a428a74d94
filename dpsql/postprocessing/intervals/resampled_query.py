"""Intervals of what several released rows make: the statement is run again on tables whose noise is drawn again.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.errors import PostProcessingFailed, PostProcessingStopped, Refused
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.result_columns import DeferredEnd, OutputColumn, Resampling
from dpsql.postprocessing.intervals.dependence import Dependence, Dependences
from dpsql.postprocessing.intervals.lineage import trace
from dpsql.postprocessing.intervals.resampling import (
    FEWEST,
    SAMPLES,
    AnyReleasedTable,
    chosen_columns,
    interval_of,
    is_number,
    is_resampled,
    percentiles,
    put_samples,
    tails,
)
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.schema import fold
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.emit.sandbox import SANDBOX
from dpsql.sql.ir.core import Core

#: How many rows may be made of all tables and samples, and the most released rows behind a statement.
MOST_MADE = 300_000
MOST_ROWS = MOST_MADE // FEWEST
#: The part of the samples on which a row has to appear.
OFTEN = 0.5
_SAMPLES, _RESULT, _BRANCH = "dpsql samples", "dpsql result", "dpsql branch"


def with_branches(query: exp.Query, public: Mapping[str, Sequence[str]]) -> tuple[exp.Query, int] | None:
    """A UNION ALL that tells of each row which branch it comes from, and of which numbered rows it is made where it is
    made of single ones; with the number of columns that tell it. None of any other query.
    """
    if not _is_union_all(query):
        return None
    copy = query.copy()
    branches = _branches(copy)
    traces = [trace(branch, public) for branch in branches]
    most = max(0 if traced is None else len(traced.tables) for traced in traces)
    for number, (branch, traced) in enumerate(zip(branches, traces, strict=True)):
        whole = branch if traced is None else traced.query
        missing = most - (0 if traced is None else len(traced.tables))
        more = [exp.cast(exp.null(), "bigint")] * missing + [exp.Literal.number(number)]
        for place, each in enumerate(more):
            whole.append("expressions", exp.alias_(each.copy(), f"{_BRANCH} {place}", quoted=True))
        if whole is not branch:
            branch.replace(whole)
    return copy, most + 1


def resampled_query(
    query: exp.Query,
    public: Mapping[str, Sequence[str]],
    columns: Sequence[OutputColumn],
    hidden: int,
    shapes: Mapping[str, Core | Cube],
) -> Resampling | None:
    """How the columns of the query's result that are made of several rows get intervals; None where there are none.

    Args:
        query: gives these columns and then ``hidden`` ones, which tell its rows apart whatever the noise is.
        public: the columns of the public tables that the query reads.
        columns: those of the result.
        hidden: how many columns stand behind them.
        shapes: the released tables that the query reads.
    """
    tables = tuple(dict.fromkeys(node.name for node in query.find_all(exp.Table) if node.db == "released"))
    copy = _unlimited(query.copy())
    chosen = {name: chosen_columns(shapes[name]) for name in tables}
    relation = Dependences(public, chosen).query(copy, [fold(column.name) for column in columns])
    if not tables or relation is None or len(relation.columns) != len(columns) + hidden:
        return None
    depending = [each for _, each in relation.columns]
    numbers = [place for place, column in enumerate(columns)
               if column.aggregate is None and column.computed is None and is_number(column.type)]  # fmt: skip
    wanted = tuple(place for place in numbers if depending[place] is Dependence.SMOOTH)
    without = tuple(place for place in numbers if depending[place] is Dependence.CHOSEN)
    if not wanted and not without:
        return None
    known = tuple(place for place, each in enumerate(depending) if each is Dependence.PUBLIC)
    sql = _on_samples(copy, wanted, known, len(depending), shapes) if wanted else ""
    return Resampling(sql, wanted, known, tables, without)


def with_later(resampling: Resampling | None, later: Sequence[DeferredEnd]) -> Resampling:
    """The same with the ends that are known last; refused where one of them can never be."""
    if resampling is None or any(each.of not in resampling.wanted for each in later):
        raise Refused("E_FUNC", "what DP_INTERVAL_LOW or DP_INTERVAL_HIGH is asked of has no interval: keys, texts and "
                      "what is made of dates have none, nor have ranks, MAX, MIN, conditions and other choices among "
                      "released numbers, nor numbers whose rows nothing but noise tells apart; take an aggregate, and "
                      "give such rows a key")  # fmt: skip
    return replace(resampling, beside=len(later), later=tuple(later))


def resampled_intervals(
    sandbox: Sandbox,
    plan: Resampling,
    tables: Mapping[str, AnyReleasedTable],
    rows: Sequence[Sequence[object]],
    confidence: float,
) -> dict[tuple[int, int], ConfidenceInterval] | None:
    """The intervals of cells of the result, by row and column; None where the statement fails on the samples."""
    samples = min(SAMPLES, MOST_MADE // max(sum(len(tables[name].keys) for name in plan.tables), 1))
    if samples < FEWEST or not rows or not plan.wanted:
        return {}
    types = {"sample": "BIGINT"}
    sandbox.create(_SAMPLES, types)
    sandbox.insert(_SAMPLES, [list(range(samples))], types)
    for name in plan.tables:
        table = tables[name]
        places = [place for place in range(len(table.shape.aggregates)) if is_resampled(table.shape, place)]
        put_samples(sandbox, _sampled(name), table, range(len(table.keys)), places, samples, confidence)
    low, high = tails(confidence)
    try:
        found = sandbox.execute(plan.sql.replace(":low", low).replace(":high", high))
    except (PostProcessingFailed, PostProcessingStopped):
        return None
    width = len(plan.known)
    seen = {_identity(each[:width]): [each[at : at + 3] for at in range(width + 2, len(each), 3)]
            for each in found if each[width] == each[width + 1] >= OFTEN * samples}  # fmt: skip
    varying = [at for at, _ in enumerate(plan.wanted)
               if any(each[width + 2 + 3 * at] != each[width + 3 + 3 * at] for each in found)]  # fmt: skip
    places_of: dict[object, list[int]] = {}
    for number, row in enumerate(rows):
        places_of.setdefault(_identity([row[place] for place in plan.known]), []).append(number)
    intervals = {}
    for identity, numbers in places_of.items():
        for at in varying if len(numbers) == 1 and identity in seen else ():
            column = plan.wanted[at]
            interval = interval_of(rows[numbers[0]][column], *seen[identity][at])
            if interval is not None:
                intervals[numbers[0], column] = interval
    return intervals


def _on_samples(
    query: exp.Query, wanted: Sequence[int], known: Sequence[int], width: int, shapes: Mapping[str, Core | Cube]
) -> str:
    """The query on every sample at once, and of each row that is known the percentiles of its values.

    ``:low`` and ``:high`` stand for the tails.
    """
    for node in list(query.find_all(exp.Table)):
        if node.db == "released":
            alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name, quoted=True))
            node.replace(exp.Subquery(this=_sample_of(node.name, shapes[node.name]), alias=alias.copy()))
    names = ", ".join(f"c{place}" for place in range(width))
    keys = [f"c{place}" for place in known]
    figures = [each for place in wanted for each in percentiles(f"c{place}", ":low", ":high")]
    return (f'SELECT {", ".join([*keys, "count(*)", f"""count(DISTINCT "{_SAMPLES}".sample)""", *figures])} '
            f'FROM released."{_SAMPLES}", LATERAL ({SANDBOX.write(query)}) '
            f'AS "{_RESULT}"({names})' + (f" GROUP BY {', '.join(keys)}" if keys else ""))  # fmt: skip


def _sample_of(name: str, shape: Core | Cube) -> exp.Select:
    """The released table on the sample that the query is run on; what is not drawn again is as it was released."""
    again = [f"a{place}" for place in range(len(shape.aggregates)) if is_resampled(shape, place)]
    star = exp.Star(except_=[exp.to_identifier(each, quoted=True) for each in again])
    own = exp.Column(this=star, table=exp.to_identifier(name, quoted=True))
    values = (_quoted(each, _sampled(name)) for each in again)
    joined = exp.EQ(this=_quoted("row", name), expression=_quoted("row", _sampled(name)))
    same = exp.EQ(this=_quoted("sample", _sampled(name)), expression=_quoted("sample", _SAMPLES))
    select = exp.Select(expressions=[own, *values]).from_(_released(name), copy=False)
    return select.join(_released(_sampled(name)), on=joined, copy=False).where(same, copy=False)


def _unlimited(query: exp.Query) -> exp.Query:
    """The query with the rows that only their noise, or a LIMIT, keeps out of the result."""
    for select in _branches(query) if _is_union_all(query) else [query]:
        for part in ("order", "limit", "offset", "having", "qualify"):
            select.set(part, None)
        if isinstance(select, exp.Select) and not is_grouped(select) and select.find(exp.Window) is None:
            where = select.args.get("where")
            if where is not None and where.find(exp.Query) is None:
                select.set("where", None)
    for part in ("order", "limit", "offset"):
        query.set(part, None)
    return query


def _is_union_all(query: exp.Expr) -> bool:
    match query:
        case exp.Subquery():
            return not query.args.get("alias") and _is_union_all(query.this)
        case exp.Union():
            sides = (query.this, query.expression)
            return (
                not query.args.get("distinct")
                and not query.args.get("by_name")
                and all(isinstance(side.unnest(), exp.Select) or _is_union_all(side) for side in sides)
            )
        case _:
            return False


def _branches(query: exp.Expr) -> list[exp.Select]:
    match query:
        case exp.Select():
            return [query]
        case exp.Subquery():
            return _branches(query.this)
        case exp.Union():
            return [*_branches(query.this), *_branches(query.expression)]
        case _:
            return []


def _identity(values: Sequence[object]) -> object:
    return tuple("NaN" if value != value else value if value.__hash__ is not None else repr(value) for value in values)


def _sampled(name: str) -> str:
    """The name of the table that holds the samples of a released table."""
    return f"{name} samples"


def _released(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True), db=exp.to_identifier("released", quoted=True))


def _quoted(name: str, table: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))
