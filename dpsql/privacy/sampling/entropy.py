"""Where random bits come from.

Proved in ``docs/proofs/sampling.md``.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Entropy(Protocol):
    """A source of independent uniform bytes; tests substitute a seeded one."""

    def read(self, n: int) -> bytes: ...


class _OperatingSystem:
    """The kernel's generator, asked anew at each call, so that no state can leak."""

    def read(self, n: int) -> bytes:
        return os.urandom(n)


OPERATING_SYSTEM: Entropy = _OperatingSystem()


def read_bytes(entropy: Entropy, n: int) -> bytes:
    """Exactly n bytes; a source that gives fewer stops the release."""
    data = entropy.read(n)
    if len(data) != n:
        raise OSError("the entropy source gave fewer bytes than were asked for")
    return data


def words(entropy: Entropy, n: int) -> NDArray[np.uint64]:
    """n uniform 64-bit words."""
    return np.frombuffer(read_bytes(entropy, 8 * n), dtype="<u8").astype(np.uint64, copy=False)


def signs(entropy: Entropy, n: int) -> NDArray[np.bool_]:
    """n fair coins."""
    return np.frombuffer(read_bytes(entropy, n), dtype=np.uint8) >= 128


def uniform_below(bound: int, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """size uniform integers in [0, bound), by rejection of masked words; bound is at most 2^62."""
    if not 1 <= bound <= 1 << 62:
        raise ValueError(f"a uniform draw needs 1 <= bound <= 2^62, not {bound}")
    mask = np.uint64((1 << (bound - 1).bit_length()) - 1)
    accepted: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        drawn = (words(entropy, 2 * missing + 4) & mask).astype(np.int64)
        accepted.append(drawn[drawn < bound][:missing])
        missing -= len(accepted[-1])
    return np.concatenate(accepted) if accepted else np.empty(0, np.int64)
