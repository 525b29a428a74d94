"""What a line from a client is, and the settings of a session."""

from dpsql.session.request.line import (
    Explain,
    ExplainPrivacy,
    Request,
    Select,
    Set,
    Show,
    TransactionControl,
    read,
    with_goal,
)
from dpsql.session.request.settings import SETTINGS, SHOWN, StatementSettings

__all__ = [
    "SETTINGS",
    "SHOWN",
    "Explain",
    "ExplainPrivacy",
    "Request",
    "Select",
    "Set",
    "Show",
    "StatementSettings",
    "TransactionControl",
    "read",
    "with_goal",
]
