"""Mechanisms: from one frozen value come the sample, the price and the error bar.

Proofs in `docs/proofs/mechanism.md`.

A mechanism is made from a sensitivity and either its noise (the constructor) or a price
(``for_epsilon``, ``for_rho``, ``analytic`` …), never from both.
"""

from dpsql.privacy.mechanism.exponential import (
    ConcentratedExponential,
    Exponential,
    ExponentialMechanism,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.gaussian import Gaussian
from dpsql.privacy.mechanism.laplace import Laplace
from dpsql.privacy.mechanism.randomized_response import RandomizedResponse
from dpsql.privacy.mechanism.sparse_vector import AboveThreshold

#: Additive integer noise; a closed union.
Mechanism = Laplace | Gaussian

__all__ = [
    "AboveThreshold",
    "ConcentratedExponential",
    "Exponential",
    "ExponentialMechanism",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "PermuteAndFlip",
    "RandomizedResponse",
]
