"""Exact samplers over the integers, fed by the operating system's entropy.

Proofs in `docs/proofs/sampling.md`.

No float is ever a sample and no float is ever trusted: a float may only decide what its error bound
lets it decide, and what stays open is settled with as many further random bits and digits as it
takes.
"""

from dpsql.privacy.sampling.categorical import (
    bernoulli_exp,
    exponential,
    permute_and_flip,
    randomized_response,
)
from dpsql.privacy.sampling.discrete_noise import discrete_gaussian, discrete_laplace
from dpsql.privacy.sampling.entropy import OPERATING_SYSTEM, Entropy

__all__ = [
    "OPERATING_SYSTEM",
    "Entropy",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "permute_and_flip",
    "randomized_response",
]
