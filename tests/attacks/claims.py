"""The exact vectors of a plan on two neighbours,
compared with what the plan claims of their difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpsql.engines.duckdb.row_encoding import gathered
from dpsql.planning.estimators.histogram import HistogramMechanism
from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.exponential import TopKPeeling
from dpsql.privacy.mechanism.quantile_choice import QuantileChoices
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.quantile_recursion import QuantileRecursion
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.partition_selection import WHOLE
from dpsql.sql.binder.sources.derived_tables import DerivedQuery
from dpsql.sql.emit.duckdb import DUCKDB

Vectors = dict[tuple[object, ...], tuple[int, ...]]
#: By key and bin.
Histogram = dict[tuple[tuple[object, ...], int], int]
Run = Callable[[str], Sequence[tuple[object, ...]]]


def cells_and_bins(core: CorePlan, run: Run) -> tuple[Vectors, list[Histogram]]:
    """What a database says of a core: the vectors that noise is added to, and the histograms."""
    rows = gathered(run(core.sql), len(core.core.keys), len(core.histograms))
    return _vectors(core, rows), _histograms(core, rows)


def _vectors(core: CorePlan, rows: Sequence[tuple[object, ...]]) -> Vectors:
    """For each key the integers that noise is added to;
    for thresholded keys the number of units is the last.
    """
    width = len(core.core.keys)
    end = width + len(core.cells) + (core.selection is not None)
    found: Vectors = {}
    for row in rows:
        key = _key(row[:width])
        assert key not in found, f"key {key} stands there twice"
        assert all(type(each) is int for each in row[width:end]), (
            f"a cell that is no integer in {row}"
        )
        found[key] = tuple(each for each in row[width:end] if isinstance(each, int))
    return found


def _histograms(core: CorePlan, rows: Sequence[tuple[object, ...]]) -> list[Histogram]:
    """For each histogram, the count that lies in each bin of each key."""
    width, start = (
        len(core.core.keys),
        len(core.core.keys) + len(core.cells) + (core.selection is not None),
    )
    found: list[Histogram] = [{} for _ in core.histograms]
    for row in rows:
        for histogram, listed in zip(found, row[start:], strict=True):
            for place, count in zip(*(listed or ((), ())), strict=True):  # type: ignore[misc]
                assert type(place) is int and type(count) is int and count >= 0
                assert (_key(row[:width]), place) not in histogram, "a bin stands there twice"
                histogram[_key(row[:width]), place] = count
    return found


def _key(row: Sequence[object]) -> tuple[object, ...]:
    return tuple("NaN" if each != each else each for each in row)


def broken_histograms(core: CorePlan, one: list[Histogram], other: list[Histogram]) -> list[str]:
    """What the plan promises of the difference between two neighbours' histograms,
    and does not hold.

    However the bins of a key are put together,
    their counts change by no more than the bins do together.
    """
    broken = []
    for place, (histogram, mine, theirs) in enumerate(
        zip(core.histograms, one, other, strict=True)
    ):
        moved: dict[object, int] = {}
        for key, number in mine.keys() | theirs.keys():
            change = abs(mine.get((key, number), 0) - theirs.get((key, number), 0))
            moved[key] = moved.get(key, 0) + change
        for row, limit, squared in _promised(histogram.mechanism):
            size = (
                sum((row * each) ** 2 for each in moved.values())
                if squared
                else row * sum(moved.values())
            )
            if size > limit:
                broken.append(f"histogram {place}: {size} > {limit}")
    return broken


def _promised(mechanism: HistogramMechanism) -> list[tuple[int, int, bool]]:
    """For each noise and each choice: what a row moves in it, the most that a unit may move,
    and whether squared.
    """
    match mechanism:
        case TreeMechanism(node=Gaussian(l2_squared=limit)):
            return [(1, limit, True)]
        case TreeMechanism(node=Laplace(l1=limit)):
            return [(1, limit, False)]
        case TopKPeeling(each=each):
            return [(1, *_spread(each))]
        case QuantileChoices(quantiles=quantiles):
            trees = [each.around.tree for each in quantiles if each.around is not None]
            return [(each.target.spread, *_spread(each.value)) for each in quantiles] + [
                promised for tree in trees for promised in _promised(tree)
            ]
        case QuantilesWithFallback(
            count=count, choices=QuantileRecursion(first=first, around=around), tree=tree
        ):
            splits = [each for level in first.levels for each in level]
            chosen = [(each.rank.spread, *_spread(each.value)) for each in splits]
            return [*chosen, *_promised(around), *_promised(tree), _noise(count)]
        case QuantilesWithFallback(count=count, choices=QuantileChoices() as choices, tree=tree):
            return [*_promised(choices), *_promised(tree), _noise(count)]
    raise AssertionError


def _noise(noise: Gaussian | Laplace) -> tuple[int, int, bool]:
    return (1, noise.l2_squared, True) if isinstance(noise, Gaussian) else (1, noise.l1, False)


def _spread(choice: Exponential | PermuteAndFlip) -> tuple[int, bool]:
    if isinstance(choice, ConcentratedExponential):
        return choice.spread_squared, True
    return choice.spread, False


#: Values that a derived table may hold, by the kind of its column.
_SAMPLES = {
    "boolean": ("TRUE", "FALSE", "NULL"),
    "integer": ("1", "2", "100"),
    "decimal": ("0", "50.5", "1000"),
    "double": ("0", "50.5", "1000"),
    "text": ("'a'", "'books'", "NULL"),
    "date": ("DATE '2024-01-01'", "NULL", "NULL"),
    "timestamp": ("TIMESTAMP '2024-01-01'", "NULL", "NULL"),
}


def filled(table: DerivedQuery) -> list[str]:
    """SQL that makes a derived table with some rows: a claim holds whatever they are,
    if neighbours have the same.
    """
    names = [f"c{place}" for place in range(len(table.types))]
    rows = zip(*(_SAMPLES[each.kind] for each in table.types), strict=True)
    columns = ", ".join(
        f"{name} {DUCKDB.type_name(each)}" for name, each in zip(names, table.types, strict=True)
    )
    name = f"derived.main.{table.name}"
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    return [f"CREATE OR REPLACE TABLE {name} ({columns})", f"INSERT INTO {name} VALUES {values}"]


def broken_claims(core: CorePlan, one: Vectors, other: Vectors) -> list[str]:
    """What the plan promises of the difference between two neighbours, and does not hold."""
    cells = len(core.cells)
    zeros = (0,) * (cells + (core.selection is not None))
    keys = sorted(set(one) | set(other), key=repr)
    differences = [
        [abs(a - b) for a, b in zip(one.get(key, zeros), other.get(key, zeros), strict=True)]
        for key in keys
    ]
    broken = []
    for place, cell in enumerate(core.cells):
        column = [row[place] for row in differences]
        noise = cell.mechanism
        if isinstance(noise, Gaussian):
            if sum(each**2 for each in column) > noise.l2_squared:
                broken.append(
                    f"cell {place}: L2² {sum(each**2 for each in column)} > {noise.l2_squared}"
                )
        elif sum(column) > noise.l1:
            broken.append(f"cell {place}: L1 {sum(column)} > {noise.l1}")
    if core.selection is None:
        if set(one) != set(other):
            broken.append("the keys differ, and they are not thresholded")
        return broken
    moved, weights = [row[cells] for row in differences], core.selection.weights
    most = 1 if weights is None else WHOLE
    if max(moved, default=0) > most or sum(map(bool, moved)) > core.selection.groups:
        broken.append(
            f"the counts of units move by {moved}, at most {core.selection.groups} may move by {most}"
        )
    noise, squares = core.selection.noise, sum(each**2 for each in moved)
    if squares > noise.l2_squared if isinstance(noise, Gaussian) else sum(moved) > noise.l1:
        broken.append(
            f"the counts of units move by {moved}, which is more than their noise is made for"
        )
    for mine, theirs in ((one, other), (other, one)):
        alone = [row[cells] for key, row in mine.items() if key not in theirs]
        if any(
            each != 1 if weights is None else each > weights.weight(len(alone)) for each in alone
        ):
            broken.append("a key of one neighbour alone has more than one unit")
    return broken


def charged_rho(core: CorePlan) -> Fraction:
    """The zCDP loss of a core, from the noise and the sensitivities alone."""
    noises = [cell.mechanism for cell in core.cells]
    chosen: list[Exponential | PermuteAndFlip] = []
    either = Fraction(0)
    for histogram in core.histograms:
        match histogram.mechanism:
            case TreeMechanism(node=node, levels=levels):
                noises += [node] * levels
            case QuantilesWithFallback(count=count):
                noises.append(count)
                either += _dearer_rho(histogram.mechanism)
            case TopKPeeling(most=most, each=each):
                chosen += [each] * most
            case QuantileChoices(quantiles=quantiles):
                chosen += [each.value for each in quantiles]
                trees = [each.around.tree for each in quantiles if each.around is not None]
                noises += [tree.node for tree in trees for _ in range(tree.levels)]
    if core.selection is not None:
        noises.append(core.selection.noise)
    return sum(map(_chosen_rho, chosen), either) + sum(map(_noise_rho, noises), Fraction(0))


def _noise_rho(noise: Gaussian | Laplace) -> Fraction:
    if isinstance(noise, Gaussian):
        return Fraction(noise.l2_squared) / (2 * noise.variance)
    return Fraction(noise.l1**2) / (2 * noise.scale**2)


def _dearer_rho(either: QuantilesWithFallback) -> Fraction:
    """The loss of the choices or of the tree, whichever is greater: a group has one of them."""
    tree = _noise_rho(either.tree.node) * either.tree.levels
    if isinstance(either.choices, QuantileRecursion):
        levels, around = either.choices.first.levels, either.choices.around
        counted = _noise_rho(around.node) * around.levels
        return max(
            tree, sum((max(_chosen_rho(each.value) for each in level) for level in levels), counted)
        )
    trees = [each.around.tree for each in either.choices.quantiles if each.around is not None]
    choices = sum((_chosen_rho(each.value) for each in either.choices.quantiles), Fraction(0))
    return max(
        tree, choices + sum((_noise_rho(each.node) * each.levels for each in trees), Fraction(0))
    )


def _chosen_rho(choice: Exponential | PermuteAndFlip) -> Fraction:
    if isinstance(choice, ConcentratedExponential):
        return choice.rate**2 * choice.spread_squared / 8
    return (choice.rate * choice.spread) ** 2 / 8
