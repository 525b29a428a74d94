"""What a line from a client is, and the settings of a session."""

from dpsql.session.statement.line import (
    Explain,
    ExplainPrivacy,
    Select,
    Set,
    Show,
    Statement,
    Transaction,
    read,
    with_goal,
)
from dpsql.session.statement.settings import SETTINGS, SHOWN, Choices

__all__ = [
    "SETTINGS",
    "SHOWN",
    "Choices",
    "Explain",
    "ExplainPrivacy",
    "Select",
    "Set",
    "Show",
    "Statement",
    "Transaction",
    "read",
    "with_goal",
]
