"""Where the number of units lies of a group that is shown because it is large; proof in `docs/proofs/selection.md`."""

from __future__ import annotations

from functools import lru_cache

from dpsql.privacy.mechanism import Mechanism


@lru_cache(maxsize=8192)
def shown_interval(noise: Mechanism, threshold: int, shown: int, confidence: float) -> tuple[int, int]:
    """The least and the greatest number of units that explain ``shown``, a noisy count that reached the threshold.

    Among the groups of any one size that are shown it holds that size in at least ``confidence`` of cases.
    """
    half = noise.half_width(confidence)
    low, high = max(shown - half, 1), shown + half
    if low > 1 and _explains(noise, threshold, shown, low - 1, confidence):
        low = 1
    return _last(noise, threshold, shown, low, confidence), _last(noise, threshold, shown, high, confidence)


def _last(noise: Mechanism, threshold: int, shown: int, end: int, confidence: float) -> int:
    """The last number of units from what is shown to the end that explains it."""
    if _explains(noise, threshold, shown, end, confidence):
        return end
    known, beyond = shown, end
    while abs(beyond - known) > 1:
        middle = (known + beyond) // 2
        if _explains(noise, threshold, shown, middle, confidence):
            known = middle
        else:
            beyond = middle
    return known


def _explains(noise: Mechanism, threshold: int, shown: int, units: int, confidence: float) -> bool:
    """Whether less than ``confidence`` of all counts that such a group is shown with are nearer to its size."""
    nearer = abs(shown - units) - 1
    passes = noise.above(threshold - units)
    between = noise.above(max(threshold - units, -nearer)) - noise.above(nearer + 1)
    return passes == 0 or between < confidence * passes
