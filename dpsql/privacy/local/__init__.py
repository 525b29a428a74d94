"""Local differential privacy: perturbation by the client, and estimates from the reports.

``from dpsql import local`` is this package. A function perturbs one value; a frozen mechanism
perturbs many, knows its price, and is what a schema's ``collected`` stands for. Proofs in
`docs/proofs/local.md`.
"""

from dpsql.privacy.local.categories import (
    RandomizedCategories,
    UnaryEncoding,
    randomized_response,
    unary_encoding,
)
from dpsql.privacy.local.numbers import LocalLaplace, OneBit, Piecewise, laplace, one_bit, piecewise

#: What a client may do to a value; a closed union.
LocalMechanism = RandomizedCategories | UnaryEncoding | LocalLaplace | Piecewise | OneBit

__all__ = [
    "LocalLaplace",
    "LocalMechanism",
    "OneBit",
    "Piecewise",
    "RandomizedCategories",
    "UnaryEncoding",
    "laplace",
    "one_bit",
    "piecewise",
    "randomized_response",
    "unary_encoding",
]
