"""The durable journal of everything that was charged, shared by connections and processes.

Proved in ``docs/proofs/ledger.md``.
"""

from dpsql.privacy.ledger.entries import Entry, NewEntry
from dpsql.privacy.ledger.journal import Ledger
from dpsql.privacy.ledger.named_releases import NamedRelease, NewRelease, ReleaseKind
from dpsql.privacy.ledger.opening import NAMELESS, DatabaseNames, ledger_path, names_of
from dpsql.privacy.ledger.spent import Spent, WeightTally
from dpsql.privacy.ledger.stores.layout import LedgerIdentity

__all__ = [
    "NAMELESS",
    "DatabaseNames",
    "Entry",
    "Ledger",
    "LedgerIdentity",
    "NamedRelease",
    "NewEntry",
    "NewRelease",
    "ReleaseKind",
    "Spent",
    "WeightTally",
    "ledger_path",
    "names_of",
]
