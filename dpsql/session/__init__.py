"""One analyst's conversation with a private database, and how one is opened (`docs/proofs/execution.md`)."""

from dpsql.session.conversation import Session
from dpsql.session.opening import count_costs, ledger_of, open_accountant, open_session, statements_paid_for
from dpsql.session.prepared import Prepared

__all__ = ["Prepared", "Session", "count_costs", "ledger_of", "open_accountant", "open_session", "statements_paid_for"]
