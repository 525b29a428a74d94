"""MIN and MAX among released numbers: their intervals end at a bound that no draw reaches (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.postprocessing.intervals.range_of import ends_of
from dpsql.postprocessing.intervals.ties import spans
from dpsql.postprocessing.resampling.columns import Rows
from dpsql.postprocessing.resampling.resamples import Kind, Points


def at_ends(tables: Sequence[Rows]) -> Points:
    """All MIN and all MAX at the lower and at the upper ends of their intervals, all else as it was released."""
    found = []
    for table in tables:
        greatest, columns = ends_of(table.shape), []
        for place in range(len(table.shape.aggregates)):
            values, low, high = spans(table, place)
            ways = (values,) * 4
            if place in greatest:
                ways = (low, high, low, high) if greatest[place] else (low, high, high, low)
            columns.append(np.stack(ways, axis=-1))
        found.append([[column[row] for column in columns] for row in range(len(table.keys))])
    return Points((Kind.END,) * 4, found)
