"""One analyst's session with a private database: plan, price and answer statements,
within the budget.

Proved in ``docs/proofs/execution.md``.
"""

from dpsql.session.database import ledger_of, open_accountant, open_session, statements_paid_for
from dpsql.session.pricing.noise_choice import count_costs
from dpsql.session.session import Session
from dpsql.session.statement_planner import PreparedStatement

__all__ = [
    "PreparedStatement",
    "Session",
    "count_costs",
    "ledger_of",
    "open_accountant",
    "open_session",
    "statements_paid_for",
]
