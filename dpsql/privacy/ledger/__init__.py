"""The durable journal of everything that was charged, shared by connections and processes.

Proved in ``docs/proofs/ledger.md``.
"""

from dpsql.privacy.ledger.entry import Entry, Line
from dpsql.privacy.ledger.journal import Ledger
from dpsql.privacy.ledger.opening import NAMELESS, Names, ledger_path, names_of
from dpsql.privacy.ledger.spent import Spent, Tally
from dpsql.privacy.ledger.stores.layout import Belongs

__all__ = ["NAMELESS", "Belongs", "Entry", "Ledger", "Line", "Names", "Spent", "Tally", "ledger_path", "names_of"]
