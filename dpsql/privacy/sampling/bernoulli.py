"""Coins that fall heads with probability exp(−γ), exactly; proof in `docs/proofs/sampling.md`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.rounding import floor_exp
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy, words

_MARGIN = 2.0**-45  # numpy's exp is within a few units of 2^-53; 256 of them are allowed for
_FLOOR = 2.0**-90


def bernoulli_exp(gammas: Sequence[Fraction], *, _entropy: Entropy = OPERATING_SYSTEM) -> NDArray[np.bool_]:
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

    Where gamma[i] <= 65, |gamma[i] − exact(i)| <= error[i] + 2^-60 and error[i] <= 2^-10 must hold; elsewhere
    exact(i) >= 64 must.
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
    """Whether a uniform number with these first 53 bits lies below exp(−γ), from as many further bits as it takes."""
    bits = 53
    while (threshold := floor_exp(gamma, bits)) == prefix:
        prefix, bits = prefix << 64 | int(words(entropy, 1)[0]), bits + 64
    return prefix < threshold
