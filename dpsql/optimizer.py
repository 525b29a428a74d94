"""What DuckDB's optimizer may decide, in every DuckDB that answers or audits a statement."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: Comparisons that statistics decide beforehand are not made: DuckDB 2.0 may take a SUM for smaller than it can be, and
#: leaves out what holds a unit to its limits where a scalar subquery stands in WHERE.
CAREFUL: Mapping[str, str] = MappingProxyType({"disabled_optimizers": "statistics_propagation"})
