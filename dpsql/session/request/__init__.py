"""Reads what a client sends: queries, EXPLAIN, SET and SHOW; and the settings that SET changes."""

from dpsql.session.request.client_line import (
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
from dpsql.session.request.statement_settings import SETTINGS, SHOWN, StatementSettings

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
