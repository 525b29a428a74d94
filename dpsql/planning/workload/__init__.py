"""Statements that are fixed together before any of them is run, and priced as one block.

See `docs/proofs/workload.md`.
"""

from dpsql.planning.workload.block import Block
from dpsql.planning.workload.offers import Offer, PricedWorkload, price_workload

__all__ = ["Block", "Offer", "PricedWorkload", "price_workload"]
