"""What DuckDB's optimizer may decide, in every DuckDB that answers or audits a statement.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: Nothing is decided by how many rows there are, which would tell by its time whether there is one more: joins are made
#: in the order in which they are written, each with its right side in memory, and what one side holds does not choose
#: what is read of the other. Nor are comparisons made beforehand: DuckDB 2.0 may take a SUM for smaller than it can be,
#: and leaves out what holds a unit to its limits where a scalar subquery stands in WHERE. DuckDB 1.5 ends in a fault of
#: its own where it turns a window that keeps the first rows into an aggregate without the orders of joins.
CAREFUL: Mapping[str, str] = MappingProxyType(
    {
        "disabled_optimizers": "statistics_propagation,join_order,build_side_probe_side,join_filter_pushdown,"
        "top_n_window_elimination"
    }
)
