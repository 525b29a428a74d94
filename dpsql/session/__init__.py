"""One analyst's conversation with a private database, and how one is opened (`docs/proofs/river.md`)."""

from dpsql.session.conversation import Session
from dpsql.session.opened import open_accountant, open_session, statements_paid_for, usual_costs
from dpsql.session.prepared import Prepared

__all__ = ["Prepared", "Session", "open_accountant", "open_session", "statements_paid_for", "usual_costs"]
