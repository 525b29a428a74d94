"""What the plainest statement costs at the schema's price, by which ``dpsql budget`` counts what is left.

Proved in ``docs/proofs/accountant.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpsql.planning.sensitivity import mechanism
from dpsql.privacy.measure import Cost
from dpsql.schema import Schema
from dpsql.schema.privacy import Noise
from dpsql.sql.analysis.contribution import Norm, counted_once, norm_of


def count_costs(schema: Schema) -> Mapping[Noise, Cost]:
    """What a count of units costs at the schema's price, by each noise that is allowed.

    The noise that it has where nobody asks for another comes first. By Gaussian noise each statement with declared keys
    costs as much, by Laplace noise another ρ.
    """
    privacy = schema.privacy
    norms: dict[Noise, Norm] = {"gaussian": "l2"} if norm_of(privacy) == "l2" else {}
    norms |= {} if privacy.mechanism == "gaussian" else {"laplace": "l1"}
    return {
        noise: mechanism(counted_once(norm), norm, privacy.neighbours, privacy.query_epsilon, Fraction(1)).cost
        for noise, norm in norms.items()
    }
