"""Exact coins with a bias of exp(−γ), and private choices among candidates.

Proofs in `docs/proofs/sampling.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.rounding import floor_exp
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy, uniform_below, words

_MARGIN = 2.0**-45  # numpy's exp is within a few units of 2^-53; 256 of them are allowed for
_FLOOR = 2.0**-90


def bernoulli_exp(
    gammas: Sequence[Fraction], *, _entropy: Entropy = OPERATING_SYSTEM
) -> NDArray[np.bool_]:
    """One coin per γ >= 0, true with probability exp(−γ)."""
    if any(gamma < 0 for gamma in gammas):
        raise ValueError("a coin exp(−γ) needs γ >= 0")
    nearest = np.array([float(min(gamma, Fraction(1000))) for gamma in gammas], np.float64)
    return coins(nearest, nearest * 2.0**-52, lambda i: gammas[i], _entropy)


def coins(
    gamma: NDArray[np.float64],
    error: NDArray[np.float64],
    exact: Callable[[int], Fraction],
    entropy: Entropy,
) -> NDArray[np.bool_]:
    """One coin per entry, true with probability exp(−exact(i)).

    Where gamma[i] <= 65, |gamma[i] − exact(i)| <= error[i] + 2^-60 and error[i] <= 2^-10 must hold;
    elsewhere exact(i) >= 64 must.
    """
    drawn = words(entropy, len(gamma)) >> np.uint64(11)
    uniform = drawn * 2.0**-53
    chance = np.exp(-gamma)
    relative = _MARGIN + 2 * error
    heads = uniform + 2.0**-53 <= chance * (1 - relative)
    tails = uniform >= chance * (1 + relative) + _FLOOR
    for i in (heads == tails).nonzero()[0]:
        heads[i] = _settle(exact(int(i)), int(drawn[i]), entropy)
    return heads


def _settle(gamma: Fraction, prefix: int, entropy: Entropy) -> bool:
    """Whether a uniform number with these first 53 bits lies below exp(−γ),
    from as many further bits as it takes.
    """
    bits = 53
    while (threshold := floor_exp(gamma, bits)) == prefix:
        prefix = prefix << 64 | int(words(entropy, 1)[0])
        bits = bits + 64
    return prefix < threshold


#: Whole numbers, those of an array of 64 bits among them.
IntegerArray: TypeAlias = Sequence[int] | NDArray[np.int64]


def permute_and_flip(
    utilities: IntegerArray, rate: Fraction, *, _entropy: Entropy = OPERATING_SYSTEM
) -> int:
    """The candidate that a random walk over the permuted candidates stops at,
    flipping exp(−rate·(best − utility)).
    """
    heads = np.flatnonzero(_flip(_gaps(utilities, rate), rate, _entropy))
    return int(heads[uniform_below(len(heads), 1, _entropy)[0]])


def exponential(
    utilities: IntegerArray,
    rate: Fraction,
    widths: IntegerArray | None = None,
    *,
    _entropy: Entropy = OPERATING_SYSTEM,
) -> int:
    """A candidate i with probability ∝ exp(rate·utilities[i]).

    With ``widths``, utilities[i] is that of widths[i] candidates in a row,
    and the place among all of them is drawn.
    """
    gaps = _gaps(utilities, rate)
    wide = np.ones(len(gaps), np.int64) if widths is None else np.asarray(widths, np.int64)
    ends = np.cumsum(wide)
    if len(wide) != len(gaps) or int(wide.min()) < 1 or int(ends[-1]) >= 1 << 40:
        raise ValueError("each utility needs a number of candidates, from 1 to 2^40 of them in all")
    bits = 60 - int(ends[-1]).bit_length()
    gamma = np.minimum(gaps * float(min(rate, Fraction(1000))), 1000.0)
    above = np.floor(wide * 2.0**bits * np.exp(-gamma) * (1 + 2.0**-40)).astype(np.int64) + 1
    sums = np.cumsum(above)
    while True:
        drawn = int(uniform_below(int(sums[-1]), 1, _entropy)[0])
        i = int(np.searchsorted(sums, drawn, "right"))
        below = drawn - (int(sums[i]) - int(above[i]))
        if _lies_below(below, int(wide[i]), int(gaps[i]) * rate, bits, entropy=_entropy):
            return int(ends[i] - 1 - uniform_below(int(wide[i]), 1, _entropy)[0])


def _lies_below(digits: int, weight: int, gamma: Fraction, bits: int, entropy: Entropy) -> bool:
    """Whether a uniform number of [digits, digits + 1) lies below weight·2^bits·exp(−γ)."""
    while (threshold := floor_exp(gamma, bits, weight)) == digits and gamma > 0:
        digits = digits << 64 | int(words(entropy, 1)[0])
        bits = bits + 64
    return digits < threshold


def randomized_response(
    values: Sequence[int], categories: int, truth: Fraction, *, _entropy: Entropy = OPERATING_SYSTEM
) -> list[int]:
    """Each value kept with probability ``truth``, else any of the other categories, independently.

    The denominator of ``truth`` and the number of categories are at most 2^62.
    """
    true = np.asarray(values, np.int64)
    if len(true) and (int(true.min()) < 0 or int(true.max()) >= categories):
        raise ValueError(f"a value is not one of the {categories} categories 0..{categories - 1}")
    truthful = uniform_below(truth.denominator, len(true), _entropy) < truth.numerator
    other = uniform_below(categories - 1, len(true), _entropy)
    return [int(value) for value in np.where(truthful, true, other + (other >= true))]


def _gaps(utilities: IntegerArray, rate: Fraction) -> NDArray[np.int64]:
    if rate <= 0:
        raise ValueError("a rate must be positive")
    if not len(utilities):
        raise ValueError("a choice needs at least one candidate")
    if isinstance(utilities, np.ndarray):
        best = int(utilities.max())
        worst = int(utilities.min())
    else:
        best = max(utilities)
        worst = min(utilities)
    if best - worst >= 1 << 62:
        raise ValueError("utilities must lie within 2^62 of each other")
    if isinstance(utilities, np.ndarray):
        return best - utilities
    return np.array([best - utility for utility in utilities], np.int64)


def _flip(gaps: NDArray[np.int64], rate: Fraction, entropy: Entropy) -> NDArray[np.bool_]:
    """One coin exp(−rate·gap) per gap >= 0."""
    gamma = np.minimum(gaps * float(min(rate, Fraction(1000))), 1000.0)
    return coins(gamma, gamma * 2.0**-50, lambda i: int(gaps[i]) * rate, entropy)
