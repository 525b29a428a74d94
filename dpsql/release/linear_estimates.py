"""Linear combinations of noisy cells of several released tables, with their common noise.

Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanism import Mechanism
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width

#: Weights of a combination are multiples of this, so that sums of noises keep a common step.
WEIGHT = Fraction(1, 64)
#: At most so many estimates of one number are combined.
MOST_COMBINED = 4
#: From so many draws on their sum is drawn from the normal law.
MOST_DRAWN = 64


@dataclass(frozen=True)
class NoiseColumn:
    """One cell of a released table on all of its rows, each with noise of its own, in steps."""

    answer: str
    core: int
    place: int
    noise: Mechanism
    step: Fraction

    @property
    def variance(self) -> float:
        """That of one row's noise, in the unit of the data."""
        spread = float(self.noise.standard_deviation) * float(self.step)
        return spread * spread


@dataclass(frozen=True)
class Part:
    """The noisy cells of some rows of a column, each as often as ``weight`` says."""

    column: NoiseColumn
    weight: Fraction
    rows: tuple[int, ...]


@dataclass(frozen=True)
class LinearEstimate:
    """A linear combination of noisy cells: its value, and which cells it is made of."""

    value: Fraction
    parts: tuple[Part, ...] = ()

    @property
    def variance(self) -> float:
        """The variance of its noise: noises of different cells are independent."""
        return sum(
            float(term.weight) ** 2 * len(term.rows) * term.column.variance for term in self.parts
        )

    def plus(self, other: LinearEstimate, factor: Fraction = Fraction(1)) -> LinearEstimate:
        """The sum with another estimate, which is taken ``factor`` times.

        Cells of both count once, by their sum.
        """
        scaled = [Part(term.column, term.weight * factor, term.rows) for term in other.parts]
        return LinearEstimate(self.value + other.value * factor, _merged([*self.parts, *scaled]))

    def shares_noise(self, other: LinearEstimate) -> bool:
        """Whether both read some cell."""
        mine = {(term.column, row) for term in self.parts for row in term.rows}
        return any((term.column, row) in mine for term in other.parts for row in term.rows)


#: What is known without noise: there are no rows.
NO_ROWS = LinearEstimate(Fraction(0))


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    columns = [term.column for term in parts]
    if len(set(columns)) == len(columns):
        return tuple(parts)
    weights: dict[NoiseColumn, dict[int, Fraction]] = {}
    for term in parts:
        by_row = weights.setdefault(term.column, {})
        for row in term.rows:
            by_row[row] = by_row.get(row, Fraction(0)) + term.weight
    merged: list[Part] = []
    for column, rows in weights.items():
        for weight in sorted({row for row in rows.values() if row}):
            merged.append(
                Part(column, weight, tuple(row for row, other in rows.items() if other == weight))
            )
    return tuple(merged)


def added(estimates: Sequence[LinearEstimate]) -> LinearEstimate:
    """The sum of estimates; cells of several count by the sum of their weights."""
    parts = [term for estimate in estimates for term in estimate.parts]
    return LinearEstimate(
        sum((estimate.value for estimate in estimates), Fraction(0)), _merged(parts)
    )


def best(estimates: Sequence[LinearEstimate]) -> LinearEstimate:
    """The combination of independent unbiased estimates of one number with the least variance.

    The variance is least as far as rounded weights go. Each estimate is weighed by its precision.
    An estimate that shares noise with a better one is left out.

    >>> from dpsql.privacy.mechanism import Gaussian
    >>> def of(value, variance, place):
    ...     column = NoiseColumn("", 0, place, Gaussian(1, Fraction(variance)), Fraction(1))
    ...     return LinearEstimate(Fraction(value), (Part(column, Fraction(1), (0,)),))
    >>> float(best([of(10, 100, 0), of(20, 300, 1)]).value)
    12.5
    """
    chosen: list[LinearEstimate] = []
    for candidate in sorted(estimates, key=lambda estimate: estimate.variance):
        if candidate.variance == 0:
            return candidate
        if len(chosen) < MOST_COMBINED and not any(
            candidate.shares_noise(other) for other in chosen
        ):
            chosen.append(candidate)
    # In parts of the largest.
    precisions = [chosen[0].variance / estimate.variance for estimate in chosen]
    weights = [
        round(Fraction(precision / sum(precisions)) / WEIGHT) * WEIGHT for precision in precisions
    ]
    weights[0] = 1 - sum(weights[1:], Fraction(0))
    combined = NO_ROWS
    for estimate, weight in zip(chosen, weights, strict=True):
        combined = combined.plus(estimate, weight) if weight else combined
    return combined


@dataclass(frozen=True)
class NoiseAtom:
    """The sum of ``times`` independent noises, each ``step`` times an integer.

    It stands in numbers only as a whole.
    """

    noise: Mechanism
    step: Fraction
    times: int

    @property
    def variance(self) -> float:
        """Its variance, in the unit of the data."""
        spread = float(self.noise.standard_deviation) * float(self.step)
        return spread * spread * self.times


@dataclass
class SharedNoise:
    """The noise of a statement's numbers in independent parts.

    Draws of a part are the same wherever it stands.
    """

    atoms: list[NoiseAtom] = field(default_factory=list)
    _drawn: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict)

    def half_width(self, weights: Mapping[int, Fraction], confidence: float) -> float:
        """Half the width of the interval of a sum of parts, by the law of their noise."""
        times: dict[tuple[Mechanism, Fraction], int] = {}
        for index, weight in weights.items():
            atom = self.atoms[index]
            term = atom.noise, abs(weight * atom.step)
            times[term] = times.get(term, 0) + atom.times
        return sum_half_width(
            [NoiseTerm(*term, count) for term, count in times.items()], confidence
        )

    def variance(self, weights: Mapping[int, Fraction]) -> float:
        """The variance of a sum of parts, in the unit of the data."""
        return sum(
            float(weight) ** 2 * self.atoms[atom].variance for atom, weight in weights.items()
        )

    def draws(self, atom: int, count: int) -> NDArray[np.float64]:
        """Draws of one part; the second half has those of the first with the other sign."""
        known = self._drawn.get((atom, count))
        if known is None:
            known = self._drawn[atom, count] = _draws(self.atoms[atom], count)
        return known


def _draws(atom: NoiseAtom, count: int) -> NDArray[np.float64]:
    first = (count + 1) // 2
    if atom.times > MOST_DRAWN:
        spread = float(atom.noise.standard_deviation) * atom.times**0.5
        half = np.random.default_rng().normal(0.0, spread, first)
    else:
        half = (
            atom.noise.sample(first * atom.times)
            .astype(np.float64)
            .reshape(first, atom.times)
            .sum(axis=1)
        )
    return np.concatenate([half, -half])[:count] * float(atom.step)


def shared_noise(
    estimates: Sequence[LinearEstimate],
) -> tuple[SharedNoise, list[Mapping[int, Fraction]]]:
    """The noise of several estimates in independent parts, and each estimate's weights of them.

    Cells that are in the same estimates, as often in each, are one part.
    """
    uses: dict[tuple[NoiseColumn, int], list[tuple[int, Fraction]]] = {}
    for number, estimate in enumerate(estimates):
        for term in estimate.parts:
            for row in term.rows:
                uses.setdefault((term.column, row), []).append((number, term.weight))
    classes: dict[tuple[NoiseColumn, tuple[tuple[int, Fraction], ...]], int] = {}
    noise = SharedNoise()
    weights = [dict[int, Fraction]() for _ in estimates]
    times: dict[int, int] = {}
    for (column, _), use in uses.items():
        name = (column, tuple(use))
        if name not in classes:
            classes[name] = len(classes)
            for number, weight in use:
                weights[number][classes[name]] = weight
        times[classes[name]] = times.get(classes[name], 0) + 1
    for (column, _), atom in classes.items():
        noise.atoms.append(NoiseAtom(column.noise, column.step, times[atom]))
    return noise, list(weights)
