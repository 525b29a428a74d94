"""DP_INTERVAL_LOW and DP_INTERVAL_HIGH: the ends of intervals as columns of released tables.

An end is known as soon as its row is released, so that the rest of the statement may use it as any
other column. Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from sqlglot import exp

from dpsql.planning.result_columns import IntervalEndColumns, end_type
from dpsql.postprocessing.intervals.dependence import ColumnScope, origin_of
from dpsql.postprocessing.intervals.exact_forms import exact_form
from dpsql.postprocessing.intervals.lineage import Lineage, ReleasedColumns, RowPaths
from dpsql.postprocessing.sandbox import column_types
from dpsql.sql.analysis.grouping_levels import Cube
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.postprocess.carried_columns import carried
from dpsql.sql.postprocess.functions import interval_end


def with_ends(
    shell: exp.Query,
    released: ReleasedColumns,
    public: Mapping[str, Sequence[str]],
    shapes: Mapping[str, Core | Cube],
) -> tuple[exp.Query, tuple[IntervalEndColumns, ...]]:
    """The shell with columns in the place of the calls, and what these columns hold.

    Args:
        shell: the statement over released tables.
        released: the columns of these tables.
        public: the columns of the public tables that the shell reads.
        shapes: what the released tables are.
    """
    query = shell.copy()
    ends_by_expression = dict[tuple[str, str], IntervalEndColumns]()

    def replaced(select: exp.Select, scope: ColumnScope, ways: RowPaths) -> None:
        for call in list(
            select.walk(prune=lambda node: node is not select and isinstance(node, exp.Query))
        ):
            side = interval_end(call)
            if not isinstance(call, exp.Anonymous) or side is None:
                continue
            origin = origin_of(call.expressions[0], scope)
            if origin is None:
                _refuse(call)
            table = lineage.tables[origin.row]
            sql = SANDBOX.write(origin.expression)
            if origin.aggregate is None and exact_form(sql, shapes[table]) is None:
                _refuse(call)
            kinds = column_types(shapes[table])
            kind = "DOUBLE" if origin.aggregate is None else end_type(kinds[f"a{origin.aggregate}"])
            ends = ends_by_expression.setdefault(
                (table, sql),
                IntervalEndColumns(
                    table, sql, len(ends_by_expression), origin.aggregate, type=kind
                ),
            )
            call.replace(carried(ends.columns[side], origin.row, ways[origin.row]))

    lineage = Lineage(released, public, replaced)
    lineage.query(query)
    for call in query.find_all(exp.Anonymous):
        if interval_end(call) is not None:
            _refuse(call)
    return query, tuple(ends_by_expression.values())


def _refuse(call: exp.Anonymous) -> NoReturn:
    refuse(
        "E_FUNC",
        f"{call.name.upper()} takes an aggregate over private rows, a sum, a quotient of sums or a "
        "rounding of these, or a column of a subquery that is one: keys and ends of intervals have no interval; SET "
        "dpsql.intervals = on shows the ends of all other intervals as columns",
        call,
    )
