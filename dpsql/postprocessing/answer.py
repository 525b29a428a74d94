"""Released rows → the answer: the analyst's own SQL over them, in the sandbox.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from sqlglot import exp

from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.plan import CorePlan, Plan, Stage
from dpsql.planning.result_columns import (
    CellInterval,
    CollectionEnds,
    IntervalEndColumns,
    OutputColumn,
    Resampling,
)
from dpsql.planning.view_matching import VIEW
from dpsql.postprocessing.collection_intervals import (
    with_debiased_intervals,
    without_collection_ends,
)
from dpsql.postprocessing.intervals.end_columns import with_ends
from dpsql.postprocessing.intervals.exact_forms import known_noises
from dpsql.postprocessing.intervals.lineage import columns_of_shown_groups, trace
from dpsql.postprocessing.intervals.resampling import resampled_intervals, resampled_query
from dpsql.postprocessing.intervals.result_intervals import (
    end_types,
    end_values,
    groups_left_open,
    intervals,
    missing_intervals,
    output_columns,
    released_columns,
)
from dpsql.postprocessing.null_statistics import nulls_said
from dpsql.postprocessing.possible_values import column_ranges, shown_within
from dpsql.postprocessing.sandbox import PublicRows, Sandbox, column_types
from dpsql.privacy.measure import FREE, Cost
from dpsql.release.grouping_sets import CubeTable, cube_table
from dpsql.release.hidden_groups import OpenGroups, open_groups, with_hidden_groups
from dpsql.release.released_tables import Released, ReleasedTable
from dpsql.schema import Schema
from dpsql.sql.analysis.grouping_levels import Cube, shapes
from dpsql.sql.binder.bind import Query
from dpsql.sql.binder.sources.derived_tables import ColumnTypes
from dpsql.sql.emit.measurement.key_domain import domain_select
from dpsql.sql.emit.node import aliased
from dpsql.sql.emit.scalar import key
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Expression, columns
from dpsql.sql.postprocess.functions import reads_interval_ends

ResultRows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Price:
    """The ε that was charged for an answer, and whether the answer was taken from stored ones.

    ``cost`` is what the ledger was charged. In a workload ``charged`` is the statement's part of
    what the block was charged, in proportion to the statement's own price, and ``cost`` is free:
    the block has one for all.
    """

    charged: Fraction
    stored: bool = False
    cost: Cost = FREE


#: The price of what reads no private table.
UNCHARGED = Price(Fraction(0))


@dataclass(frozen=True)
class Result:
    """What the analyst gets: rows, their columns' names and types, and intervals of cells.

    ``has_ends`` tells that the ends of intervals are columns of the rows, too (``SET
    dpsql.intervals = on``).
    """

    columns: tuple[OutputColumn, ...]
    rows: list[tuple[object, ...]]
    intervals: list[tuple[CellInterval | None, ...]]
    price: Price = UNCHARGED
    notices: tuple[str, ...] = ()
    has_ends: bool = False


@dataclass(frozen=True)
class DescribedResult:
    """The post-processing SQL as it is run, its result's columns, and the ends that it reads."""

    sql: str
    columns: tuple[OutputColumn, ...]
    ends: tuple[IntervalEndColumns, ...] = ()
    resampling: Resampling | None = None
    collection: tuple[CollectionEnds, ...] | None = None


#: Of how many texts a sandbox remembers the columns.
MOST_DESCRIBED = 1_000


class PostProcessor:
    """One analyst's sandbox, and what is asked of it."""

    def __init__(self, schema: Schema, public_rows: PublicRows) -> None:
        self.schema = schema
        self._sandbox = Sandbox(schema, public_rows)
        self._described: dict[object, DescribedResult] = {}

    def describe(self, query: Query, cores: Sequence[CorePlan]) -> DescribedResult:
        """The SQL of post-processing and its columns, without any row.

        Released tables are empty, public ones unread. The columns follow from the text of
        post-processing, the types of the tables it reads and what is known of the noise of their
        columns. They are remembered under these: what a dashboard filters by stands in the cores,
        so that its statements share few texts. Raises StatementError if the text does not fit its
        tables.
        """
        sql = SANDBOX.write(query.postprocessing)
        tables = shapes(query.cores, query.cubes)
        types = tuple(
            (name, *column_types(shape).items(), *known_noises(shape))
            for name, shape in tables.items()
        )
        key = sql, types, query.probe, query.debiased, query.evident.partial
        with self._sandbox.lock:
            result = self._described.get(key)
            if result is None:
                result = self._described[key] = self._describe(query, tables)
                while len(self._described) > MOST_DESCRIBED:
                    del self._described[next(iter(self._described))]
        assert len(column_ranges(result.columns, tables)) == len(
            result.columns
        )  # what fails there fails before a charge
        return result

    def _describe(self, query: Query, tables: Mapping[str, Core | Cube]) -> DescribedResult:
        public = {name: self._sandbox.public_columns(name) for name in query.public}
        shell = _with_names(query.postprocessing)
        ends = tuple[IntervalEndColumns, ...]()
        if reads_interval_ends(shell):
            shell, ends = with_ends(shell, released_columns(tables), public, tables)
        self._declare(query.public, tables, ends)
        sql = SANDBOX.write(shell)
        described = self._sandbox.describe(sql)
        if query.probe:
            return DescribedResult(
                _no_rows(described),
                tuple(OutputColumn(name, sql_type) for name, sql_type in described),
            )
        traced = trace(shell, released_columns(tables, ends), public)
        columns = output_columns(described, traced, tables)
        columns, end_columns, collection = (
            without_collection_ends(columns) if query.debiased else (columns, (), ())
        )
        resampling = resampled_query(traced, [*columns, *end_columns], tables)
        if resampling is not None and query.evident.partial:
            of_shown_groups = columns_of_shown_groups(
                shell, released_columns(tables, ends), query.evident, public
            )
            of_shown = frozenset(
                index
                for index in resampling.wanted
                if index in of_shown_groups and not columns[index].computed
            )
            resampling = replace(resampling, of_shown=of_shown)
        if resampling is not None or any(column.is_read_off for column in columns):
            sql = SANDBOX.write(traced.query)
        return DescribedResult(
            sql, columns, ends, resampling, collection=collection if query.debiased else None
        )

    def types(
        self, query: exp.Query, shapes: Mapping[str, Core | Cube], public: Collection[str]
    ) -> ColumnTypes:
        """The names and types of the columns of a query over released tables and public ones."""
        with self._sandbox.lock:
            self._declare(public, shapes)
            return self._sandbox.describe(SANDBOX.write(query))

    def derive(self, plan: Plan, stage: Stage, released: Released) -> list[ResultRows]:
        """The rows of the tables that a stage derives from what was released before it."""
        if not stage.derived:
            return []
        with self._sandbox.lock:
            self._fill(plan, released)
            return [self._sandbox.execute(table.sql) for table in stage.derived]

    def run(self, plan: Plan, released: Released) -> Result:
        """Run post-processing over the released rows.

        Errors in it can only speak of what is public already.
        """
        with self._sandbox.lock:
            tables = self._fill(plan, released)
            rows = self._sandbox.execute(plan.postprocessing)
            resampled: Mapping[tuple[int, int], ConfidenceInterval] | None = {}
            left_open = _left_open(plan, released)
            is_complete = not any(
                (number in plan.evident.combined and group.gaps)
                or (number in plan.evident.totals and (group.left_out or group.shown))
                for number, group in left_open.items()
            )
            if plan.resampling is not None:
                resampled = resampled_intervals(
                    self._sandbox, plan.resampling, tables, rows, confidence=plan.confidence
                )
            open_columns = (
                plan.resampling.of_shown
                if plan.resampling is not None and not is_complete
                else frozenset()
            )
            of_all = {
                at: group for at, group in (resampled or {}).items() if at[1] not in open_columns
            }
            cell_intervals = intervals(self._sandbox, plan, tables, rows, resampled=of_all)
        notices = missing_intervals(plan, tables, len(rows), resampled is not None)
        if any(group.left_out for group in left_open.values()) or not is_complete:
            thresholded = all(plan.cores[number].selection is not None for number in left_open)
            notices += (groups_left_open(is_complete or plan.resampling is None, thresholded),)
        notices += nulls_said(plan, tables, rows)
        cell_intervals = with_debiased_intervals(plan, rows, cell_intervals)
        shown_rows = [row[: len(plan.columns)] for row in rows]
        return Result(
            plan.columns, *shown_within(plan, shown_rows, cell_intervals), notices=notices
        )

    def evaluated(
        self, keys: Sequence[tuple[object, ...]], expressions: Sequence[Expression]
    ) -> ResultRows:
        """Expressions over the keys of released groups, group by group.

        The columns of the keys are ``k0``, ``k1`` …
        """
        types_by_name = {
            column.name: column.type for expression in expressions for column in columns(expression)
        }
        types = {
            "row": "BIGINT",
            **{name: SANDBOX.type_name(kind) for name, kind in sorted(types_by_name.items())},
        }
        values: list[list[object]] = [
            list(range(len(keys))),
            *([row_keys[int(name[1:])] for row_keys in keys] for name in sorted(types_by_name)),
        ]
        outputs = [
            aliased(key(SANDBOX, expression), f"e{index}")
            for index, expression in enumerate(expressions)
        ]
        with self._sandbox.lock:
            self._sandbox.create(VIEW, types)
            self._sandbox.insert(VIEW, values, types)
            listed = ", ".join(SANDBOX.write(output) for output in outputs)
            return self._sandbox.execute(
                f'SELECT {listed} FROM released."{VIEW}" AS "{VIEW}" ORDER BY "row"'
            )

    def domain_keys(self, core: Core) -> Sequence[tuple[object, ...]]:
        """All keys of a core whose domain reads no table."""
        with self._sandbox.lock:
            return self._sandbox.execute(SANDBOX.write(domain_select(SANDBOX, core)))

    def interrupt(self) -> None:
        """End what runs in the sandbox; from any thread."""
        self._sandbox.interrupt()

    def clear(self) -> None:
        """Take every released row out of the sandbox."""
        with self._sandbox.lock:
            self._sandbox.clear()

    def close(self) -> None:
        self._sandbox.close()

    def _declare(
        self,
        public: Collection[str],
        shapes: Mapping[str, Core | Cube],
        ends: Sequence[IntervalEndColumns] = (),
    ) -> None:
        for name in public:
            self._sandbox.declare_public(name)
        for name, shape in shapes.items():
            self._sandbox.declare(name, {**column_types(shape), **end_types(name, ends)})

    def _fill(self, plan: Plan, released: Released) -> dict[str, ReleasedTable | CubeTable]:
        """Put what is released so far, and the cubes that are made of it, into the sandbox.

        A kept release may have been paid for by a statement that shows groups without rows where
        this one does not.
        """
        for name in plan.public:
            self._sandbox.fill_public(name)
        all_tables = [
            table.read_by(core) for table, core in zip(released.tables, plan.cores, strict=False)
        ]
        tables: dict[str, ReleasedTable | CubeTable] = {
            f"core{number}": _shown_or_complete(plan, number, table)
            for number, table in enumerate(all_tables)
        }
        for number, cube in enumerate(plan.cubes):
            if cube.last_core < len(all_tables):
                tables[f"cube{number}"] = cube_table(
                    cube, all_tables, plan.confidence, dict(plan.evident.levels[number])
                )
        ends = [end for end in plan.ends if end.table in tables]
        values = end_values(self._sandbox, ends, tables, plan.confidence)
        for name, table in tables.items():
            table_ends = {end: values[end] for end in ends if end.table == name}
            self._sandbox.put(
                name,
                table,
                end_types(name, ends),
                [side for sides in table_ends.values() for side in sides],
            )
        return tables


def _shown_or_complete(plan: Plan, number: int, table: ReleasedTable) -> ReleasedTable:
    """A core's table as the statement reads it.

    It has all groups, those that are shown, or those that were released.
    """
    if number not in plan.evident.cores:
        return table
    complete = (
        with_hidden_groups(table, plan.confidence) if number in plan.evident.complete else None
    )
    return (
        table.present(plan.confidence, dict(plan.evident.nulls).get(number))
        if complete is None
        else complete
    )


def _left_open(plan: Plan, released: Released) -> dict[int, OpenGroups]:
    """What noise leaves open of the groups of some cores.

    These are the cores that the statement reads without groups that are not shown.
    """
    tables = [table.read_by(core) for table, core in zip(released.tables, plan.cores, strict=False)]
    return {
        number: open_groups(tables[number], plan.confidence)
        for number in sorted(plan.evident.partial | plan.evident.complete)
        if number in plan.evident.partial
        or with_hidden_groups(tables[number], plan.confidence) is None
    }


def _with_names(query: exp.Query) -> exp.Query:
    """The query with a name for each subquery in FROM that has none.

    So its columns can be followed.

    >>> import sqlglot
    >>> _with_names(sqlglot.parse_one("SELECT n FROM (SELECT 1 AS n), t")).sql()
    'SELECT n FROM (SELECT 1 AS n) AS "dpsql subquery 0", t'
    """
    if any(
        column.table.lower().startswith("unnamed_subquery") for column in query.find_all(exp.Column)
    ):
        return query  # which is what DuckDB calls such a subquery
    named = query.copy()
    unnamed = [
        subquery
        for subquery in named.find_all(exp.Subquery)
        if isinstance(subquery.parent, (exp.From, exp.Join))
        and isinstance(subquery.this, exp.Query)
        and not subquery.alias_or_name
        and not subquery.args.get("pivots")
    ]
    for index, subquery_ in enumerate(unnamed):
        subquery_.set(
            "alias", exp.TableAlias(this=exp.to_identifier(f"dpsql subquery {index}", quoted=True))
        )
    return named


def _no_rows(described: Sequence[tuple[str, str]]) -> str:
    """A query of no rows with these columns, so that nothing need be released for it."""
    names = [name.replace('"', '""') for name, _ in described]
    items = (
        f'CAST(NULL AS {sql_type}) AS "{name}"'
        for name, (_, sql_type) in zip(names, described, strict=True)
    )
    return f"SELECT {', '.join(items)} WHERE FALSE"
