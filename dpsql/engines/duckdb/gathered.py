"""The rows of a core, gathered from what the engine gives one after the other: bins of histograms come as rows.

A sort, a hash table or a join of DuckDB may spill to disk, and a list may not; so bins are rows until they are here,
where each is 16 bytes. Proved in ``docs/proofs/quantiles.md``.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, TypeAlias

#: The bins of one group in order, and the count of each; None where it has none.
Bins: TypeAlias = "tuple[array[int], array[int]] | None"
#: Behind a row's own columns: which histogram it is about, NULL for none, and a bin of it with its count.
BEHIND: Final = 3
_NAN: Final = object()


def gathered(rows: Iterable[tuple[Any, ...]], keys: int, histograms: int) -> list[tuple[Any, ...]]:
    """Each group's keys and cells, and behind them its histograms.

    A row that tells of a bin begins with the ``keys`` of its group; where that is no group of the core, it is left out.

    >>> gathered([("a", 7, None, None, None), ("a", None, 0, 5, 1), ("a", None, 0, 2, 6)], 1, 1)
    [('a', 7, (array('q', [2, 5]), array('q', [6, 1])))]
    """
    if not histograms:
        return list(rows)
    groups: list[tuple[Any, ...]] = []
    found: list[dict[Hashable, tuple[array[int], array[int]]]] = [{} for _ in range(histograms)]
    for row in rows:
        place, *listed = row[-BEHIND:]
        if place is None:
            groups.append(row[:-BEHIND])
            continue
        bins = found[place].setdefault(_group(row[:keys]), (array("q"), array("q")))
        for column, number in zip(bins, listed, strict=True):
            column.append(number)
    return [(*row, *(_in_order(each.get(_group(row[:keys]))) for each in found)) for row in groups]


def _group(keys: Sequence[Any]) -> tuple[Hashable, ...]:
    """The keys so that NaN equals itself, as it does for GROUP BY."""
    return tuple(_NAN if key != key else key for key in keys)


def _in_order(bins: Bins) -> Bins:
    if bins is None:
        return None
    order = sorted(range(len(bins[0])), key=bins[0].__getitem__)
    return array("q", map(bins[0].__getitem__, order)), array("q", map(bins[1].__getitem__, order))
