"""The accountants. A new one is a class here, its place in the lists below and its proof.

`THEOREMS` has all of them, in the order in which a workload is offered them; `RULES` has the
filters among them, which an owner may name in the schema. ``docs/proofs/rule.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.privacy.accountants.advanced import AdvancedComposition
from dpsql.privacy.accountants.basic_and_zcdp import Basic, Concentrated, Hybrid
from dpsql.privacy.accountants.composition_rule import CONVERSION_SHARE, CompositionRule, price_for
from dpsql.privacy.accountants.composition_theorem import Theorem
from dpsql.privacy.accountants.renyi import Renyi
from dpsql.privacy.accountants.workloads import LossDistributions, Parallel


def _by_name(*theorems: type[Theorem]) -> Mapping[str, type[Theorem]]:
    return {theorem.name: theorem for theorem in theorems}


THEOREMS = _by_name(
    Hybrid, Basic, Parallel, AdvancedComposition, Concentrated, Renyi, LossDistributions
)
RULES: Mapping[str, type[CompositionRule]] = {
    name: theorem for name, theorem in THEOREMS.items() if issubclass(theorem, CompositionRule)
}
#: What is used where none is named.
DEFAULT: CompositionRule = Hybrid()

__all__ = [
    "CONVERSION_SHARE",
    "DEFAULT",
    "RULES",
    "THEOREMS",
    "CompositionRule",
    "Theorem",
    "price_for",
]
