"""The utilities by which neighbours' choices are made, compared with what the choices claim of their difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsql.privacy.measure import FREE
from dpsql.privacy.mechanism import ConcentratedExponential
from dpsql.privacy.mechanism.peeling import Peeling
from dpsql.privacy.mechanism.ranking import Ranking, exact_utilities
from dpsql.privacy.mechanism.scan import Scan

#: A histogram without rows: no bins, no counts.
NOTHING_LISTED: tuple[list[int], list[int]] = ([], [])


@dataclass
class Tally:
    """How near the observed changes came to the claims, by kind of cell, and how much was tried."""

    trials: int = 0
    statements: int = 0
    answered: int = 0
    ratios: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, ratio: float) -> None:
        self.ratios[kind] = max(self.ratios.get(kind, 0.0), ratio)


def ranks(ranking: Ranking, row: int, left: dict[str, Any], right: dict[str, Any], tally: Tally) -> list[str]:
    """No unit moves any two utilities of a choice further apart, over all groups, than the choice is made for."""
    full = {place for side in (left, right) for listed in side.values() for place in (listed or NOTHING_LISTED)[0]}
    near = {place + step for place in full for step in (-1, 0, 1, 2)} | {0, ranking.bins - 1}
    places = sorted(place for place in near if 0 <= place < ranking.bins)
    spreads: list[list[int]] = []
    for key in left.keys() | right.keys():
        one, other = (exact_utilities(ranking, *(side.get(key) or NOTHING_LISTED), 0.95, row) for side in (left, right))
        found = []
        for (_, here, wide), (_, there, broad) in zip(one, other, strict=True):
            if wide.sum() != broad.sum():
                return ["the number of candidates depends on the data"]
            at = places if wide.sum() == ranking.bins else [*places, *(place + 1 for place in places)]
            change = [int(_at(here, wide, place)) - int(_at(there, broad, place)) for place in at]
            found.append(max(change) - min(change))
        spreads.append(found)
    choices = [choice for choice, _, _ in exact_utilities(ranking, *NOTHING_LISTED, 0.95, row)]
    paid = sum((choice.cost for choice in choices), FREE)
    problems = ["the choices of a rank are not all paid for"] if ranking.cost != paid else []
    for place, choice in enumerate(choices):
        problems += _spread(choice, [found[place] for found in spreads], "rank", tally)
    return problems


def _at(utilities: Any, widths: Any, place: int) -> Any:
    return utilities[int(np.searchsorted(np.cumsum(widths), place, "right"))]


def frequencies(peeling: Peeling, left: dict[str, Any], right: dict[str, Any], tally: Tally) -> list[str]:
    spreads = []
    for key in left.keys() | right.keys():
        one, other = (dict(zip(*(side.get(key) or NOTHING_LISTED), strict=True)) for side in (left, right))
        change = [one.get(place, 0) - other.get(place, 0) for place in range(peeling.values)]
        spreads.append(max(change) - min(change))
    problems = _spread(peeling.each, spreads, "most frequent", tally)
    return problems + (
        ["a choice is not paid for"] if peeling.cost != sum([peeling.each.cost] * peeling.most, FREE) else []
    )


def sizes(scan: Scan, left: dict[str, Any], right: dict[str, Any], tally: Tally) -> list[str]:
    """No unit moves the numbers of rows above any size further than the scan is made for, over all groups.

    Where the scan takes them for monotone, a unit that comes moves none of them down.
    """
    moved, problems = [], []
    for key in left.keys() | right.keys():
        one, other = (dict(zip(*(side.get(key) or NOTHING_LISTED), strict=True)) for side in (left, right))
        above = [
            sum((one.get(place, 0) - other.get(place, 0)) for place in range(size + 1, scan.sizes))
            for size in range(scan.sizes)
        ]
        if scan.monotone and min(above) < 0 < max(above):
            problems.append("sizes: a unit moves the numbers of rows both ways")
        moved.append(max(map(abs, above)))
    observed = sum(each * each for each in moved) if scan.concentrated else sum(moved)
    tally.note("sizes", observed / scan.moved)
    if observed > scan.moved:
        problems.append(f"sizes: a unit moves the numbers of rows by {observed}, claimed is {scan.moved}")
    each = scan.each
    if scan.concentrated:
        paid = scan.moved * each.epsilon**2 / 2 <= scan.cost.rho * each.sensitivity**2
    else:
        paid = scan.cost.epsilon is not None and each.epsilon <= scan.cost.epsilon and each.sensitivity >= scan.moved
    return problems if paid else [*problems, "sizes: a scan is more exact than it is paid for"]


def _spread(choice: Any, spreads: list[int], kind: str, tally: Tally) -> list[str]:
    """Whether the spreads over groups stay within what the choice claims, and its rate within what it costs."""
    if isinstance(choice, ConcentratedExponential):
        observed, claimed = sum(each * each for each in spreads), choice.spread_squared
        charged = choice.rate**2 * choice.spread_squared / 8 <= choice.cost.rho
    else:
        observed, claimed = sum(spreads), choice.spread
        charged = choice.rate * choice.spread <= choice.cost.epsilon
    tally.note(kind, observed / claimed)
    problems = [] if charged else [f"{kind}: a choice is more exact than it is paid for"]
    return problems + (
        [f"{kind}: utilities move apart by {observed}, claimed is {claimed}"] if observed > claimed else []
    )
