"""The durable journal of everything that was charged, shared by connections and processes.

Proved in ``docs/proofs/ledger.md``.
"""

from dpsql.privacy.ledger.entry import Entry, Line
from dpsql.privacy.ledger.journal import Ledger
from dpsql.privacy.ledger.layout import Belongs
from dpsql.privacy.ledger.place import ledger_path, names_of
from dpsql.privacy.ledger.spent import Spent
from dpsql.privacy.ledger.tally import Tally

__all__ = ["Belongs", "Entry", "Ledger", "Line", "Spent", "Tally", "ledger_path", "names_of"]
