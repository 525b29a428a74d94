"""Released cores of grouping sets → one released table, in which totals are sums of their parts.

Proved in ``docs/proofs/cube.md``.
"""

from dpsql.release.grouping_sets.released_table import CubeTable, cube_table

__all__ = ["CubeTable", "cube_table"]
