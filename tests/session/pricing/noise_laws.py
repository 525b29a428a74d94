"""The law of a weighted sum of one or two noises, from its definition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import special
from seeded_entropy import Seeded

from dpsql.privacy.mechanism import Laplace, Mechanism
from dpsql.privacy.sampling import Entropy


def seeded(seed: int) -> Entropy:
    """Reproducible bytes."""
    return Seeded(seed)


def beyond(parts: Sequence[tuple[Mechanism, Fraction]], half: float) -> float:
    """P(|sum| > half): of two noises by summing over the coarser one,
    whose probabilities are added up one by one.
    """
    if len(parts) == 1:
        ((noise, weight),) = parts
        return float(2 * _above(noise, np.array([half / float(abs(weight))]))[0])
    first, second = sorted(parts, key=lambda part: part[0].standard_deviation)
    places, masses = _masses(first[0])
    moved = places * float(first[1])
    fine = float(abs(second[1]))
    above = _above(second[0], (half - moved) / fine)
    below = _above(second[0], (half + moved) / fine)
    return float(np.sum(masses * (above + below)))


def _masses(noise: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    most = min(int(45 * noise.standard_deviation) + 10, 4_000_000)
    places = np.arange(-most, most + 1, dtype=np.float64)
    if isinstance(noise, Laplace):
        logs = -np.abs(places) / float(noise.scale)
    else:
        logs = -places * places / (2 * float(noise.variance))
    weights = np.exp(np.maximum(logs, -745.0))
    return places, weights / weights.sum()


def _above(noise: Mechanism, bounds: np.ndarray) -> np.ndarray:
    """P(noise > bound) for each bound."""
    first = np.floor(bounds + 1e-9) + 1  # the least integer above
    if isinstance(noise, Laplace):
        rate = float(1 / noise.scale)
        q = np.exp(-rate)
        upper = np.exp(-rate * np.maximum(first, 1)) / (1 + q)
        lower = 1 - np.exp(-rate * np.maximum(1 - first, 1)) / (1 + q)
        return np.where(first >= 1, upper, lower)
    if noise.variance < 10_000:
        places, masses = _masses(noise)
        tails = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
        at = np.clip(first - places[0], 0, len(tails) - 1).astype(np.int64)
        return tails[at]
    sigma = float(noise.variance) ** 0.5
    return 0.5 * special.erfc((first - 0.5) / sigma / 2**0.5)
